#!/bin/sh
# conv.sh -- convolutions of ResNet-50 and MobileNet at batch 1 beside oneDNN (libdnnl-dev), on one thread; then the
# geometric mean of the ratios. Both have the weights before: oneDNN gets them, and images, in the layouts it likes, and may choose
# its way too; tvms has plain images. First as the rules are, then without the way that multiplies less and rounds more.
#   sh tests/bench/conv.sh [BUILD_FOLDER]
# The times are those that the thread ran: others may want the cores. Machines are noisy all the same: read the ratios.
B=$(cd "${1:-build}" && pwd)
cd "$(dirname "$0")" || exit 1
work=$B/bench
mkdir -p "$work"
cc -O3 -march=native -I../../target/runtime -rdynamic -o "$work/conv" conv.c "$B/libtvms_runtime.a" -ldnnl -lpthread -ldl -lm || exit 1

# channels, size, filters, kernel, stride, groups
layers() {
  cat <<'T'
3 224 64 7 2 1
64 56 64 1 1 1
64 56 64 3 1 1
64 56 256 1 1 1
256 56 128 1 1 1
128 28 128 3 1 1
128 28 512 1 1 1
256 56 512 1 2 1
256 14 256 3 1 1
256 14 1024 1 1 1
512 7 512 3 1 1
2048 7 512 1 1 1
32 112 32 3 1 32
96 112 96 3 2 96
192 28 192 3 1 192
576 14 576 3 1 576
960 7 960 3 1 960
T
}

for target in llvm 'llvm -winograd=0'; do
  echo "-- convolutions beside oneDNN, $target"
  layers | while read -r layer; do
    "$B/tvms" conv.tvms $layer "$target" "$work/conv.so" || exit 1
    TVMS_NUM_THREADS=1 OMP_NUM_THREADS=1 "$work/conv" "$work/conv.so" $layer || exit 1
  done | tee "$work/conv.txt"
  awk '{sum += log($NF); n++} END {printf "geometric mean of the ratios: %.2f\n", exp(sum / n)}' "$work/conv.txt"
done
