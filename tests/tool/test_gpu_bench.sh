#!/bin/sh
# test_gpu_bench.sh -- tests/bench/gpu.sh without a GPU, and with a library in the place of NVIDIA's driver (tests/cuda): results are
# checked, and each case gets a line.
#   sh tests/tool/test_gpu_bench.sh BUILD_FOLDER
bench=$PWD/tests/bench/gpu.sh
. "$(dirname "$0")/expect.sh"
if "$tvms" -c 'import tvm; print(tvm.cuda(0).exist)' | grep -q True; then
  expect 0 'peer / tvms' env GPU_SIZES=small sh "$bench" "$B"
else
  expect 0 'SKIPPED: there is no NVIDIA GPU, or no driver, on this machine: nothing was measured' sh "$bench" "$B"
fi
[ -f "$B/fake_cuda/libcuda.so.1" ] || exit $bad
fake() { env LD_LIBRARY_PATH="$B/fake_cuda" GPU_SIZES=small "$@"; }
expect 0 'right: gemm 100 72 90' fake sh "$bench" "$B"
also 'right: conv 1 32 14 32 3' 'right: attention 1 64 2 32' 'peer / tvms'
for what in 'gemm 64 64 64' 'conv 1 16 8 16 3' 'attention 1 32 1 32'; do
  grep -Eq "^$what +[0-9.]+ +[0-9.]+ +(-|[0-9.]+) +(-|[0-9.]+) +[0-9.]+$" out || fail "no line of figures for $what"
done
expect 0 'SKIPPED' fake env FAKE_CUDA_DEVICES=0 sh "$bench" "$B"
exit $bad
