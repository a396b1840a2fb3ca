#!/bin/sh
# gpu.sh -- products, convolutions and attention of float16 on an NVIDIA GPU, beside cuBLAS and cuDNN, and beside what
# `tvms explain` says they take. Results first: what is wrong is not measured.
#   sh tests/bench/gpu.sh [BUILD_FOLDER]
# GPU_SIZES=small measures small ones. Without a GPU it says that it is skipped.
B=$(cd "${1:-build}" && pwd)
cd "$(dirname "$0")" || exit 1
work=$B/bench
mkdir -p "$work"
echo '-- float16 on an NVIDIA GPU beside cuBLAS and cuDNN'
"$B/tvms" gpu.tvms check >"$work/gpu.check" 2>&1
status=$?
if [ $status -eq 3 ]; then
  echo 'SKIPPED: there is no NVIDIA GPU, or no driver, on this machine: nothing was measured'
  exit 0
fi
cat "$work/gpu.check"
[ $status -eq 0 ] || { echo 'not measured: results are wrong'; exit 1; }
cc -O2 -o "$work/gpu_peer" gpu_peer.c -ldl || exit 1
arch=$("$work/gpu_peer" arch) || { echo 'not measured: the driver tells no architecture'; exit 1; }

case ${GPU_SIZES:-large} in
small) cases='gemm 64 64 64
conv 1 16 8 16 3
attention 1 32 1 32' ;;
*) cases='gemm 4096 4096 4096
gemm 1024 1024 1024
gemm 8192 1024 4096
gemm 16 4096 4096
conv 32 64 56 64 3
conv 32 256 14 256 3
conv 32 256 14 1024 1
attention 4 1024 16 64
attention 1 4096 32 128' ;;
esac

# The model's time of all kernels of a module, in seconds.
model() {
  "$B/tvms" gpu.tvms module "$@" >"$work/gpu.module.tvms" 2>/dev/null
  "$B/tvms" explain --target "cuda -arch=$arch" --json "$work/gpu.module.tvms" 2>/dev/null |
    sed -n 's/.*"seconds": \([^,]*\),.*/\1/p' | awk '{ s += $1 } END { if (NR) print s; else print "-" }'
}

echo "$arch              tvms ms   TFLOP/s   peer ms   peer / tvms   model / tvms"
echo "$cases" | while read -r kind sizes; do
  ours=$("$B/tvms" gpu.tvms time "$kind" $sizes) || exit 1
  theirs=$("$work/gpu_peer" "$kind" $sizes 2>"$work/gpu.why") || { theirs=-; cat "$work/gpu.why"; }
  echo "$ours $theirs $(model "$kind" $sizes)" | awk -v what="$kind $sizes" '{
    peer = $3 == "-" ? "-" : sprintf("%.3f", 1e3 * $3); ratio = $3 == "-" ? "-" : sprintf("%.2f", $3 / $1)
    told = $4 == "-" ? "-" : sprintf("%.2f", $4 / $1)
    printf "%-24s %9.3f %9.1f %9s %13s %14s\n", what, 1e3 * $1, $2 / $1 / 1e12, peer, ratio, told }'
done
