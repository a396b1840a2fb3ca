#!/bin/sh
# gemm.sh -- matrix products of tvms beside OpenBLAS (libopenblas-dev), with one thread and with two.
#   sh tests/bench/gemm.sh [BUILD_FOLDER]
# Machines are shared and noisy: read the ratios.
B=$(cd "${1:-build}" && pwd)
cd "$(dirname "$0")" || exit 1
work=$B/bench
mkdir -p "$work"
echo '-- matrix products beside OpenBLAS'
echo '#include <cblas.h>' | cc -E - >/dev/null 2>&1 || { echo 'not measured: libopenblas-dev is not installed'; exit 0; }
cc -O3 -march=native -I../../target/runtime -rdynamic -o "$work/gemm" gemm.c "$B/libtvms_runtime.a" -lopenblas -lpthread -ldl -lm || exit 1

for shape in '512 512 512' '1024 1024 1024' '2048 2048 2048' '384 3072 768' '384 768 3072' '127 127 127' '1000 1001 999' '1 1024 1024' '1024 1024 3'; do
  set -- $shape
  sed "s/M, N, K = .*/M, N, K = $1, $2, $3/" gemm.tvms >"$work/gemm.tvms"
  "$B/tvms" build "$work/gemm.tvms" -o "$work/gemm.so" || exit 1
  for threads in 1 2; do
    printf '%d thread(s), ' $threads
    TVMS_NUM_THREADS=$threads OPENBLAS_NUM_THREADS=$threads "$work/gemm" "$work/gemm.so" "$@" || exit 1
  done
done
