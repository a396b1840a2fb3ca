#!/bin/sh
# gemm_int8.sh -- matrix products of bytes of tvms beside oneDNN (libdnnl-dev), with one thread and with two.
#   sh tests/bench/gemm_int8.sh [BUILD_FOLDER]
# Machines are shared and noisy: read the ratios.
B=$(cd "${1:-build}" && pwd)
cd "$(dirname "$0")" || exit 1
work=$B/bench
mkdir -p "$work"
cc -O3 -march=native -I../../target/runtime -rdynamic -o "$work/gemm_int8" gemm_int8.c "$B/libtvms_runtime.a" -ldnnl -lpthread -ldl -lm || exit 1

for left in uint8 int8; do
  for shape in '512 512 512' '1024 1024 1024' '2048 2048 2048' '384 3072 768' '127 127 127' '1000 1001 999'; do
    set -- $shape
    sed "s/^M, N, K.*/M, N, K, LEFT, RIGHT = $1, $2, $3, \"$left\", \"int8\"/" gemm_int8.tvms >"$work/gemm_int8.tvms"
    "$B/tvms" build "$work/gemm_int8.tvms" -o "$work/gemm_int8.so" || exit 1
    for threads in 1 2; do
      printf '%d thread(s), ' $threads
      TVMS_NUM_THREADS=$threads OMP_NUM_THREADS=$threads "$work/gemm_int8" "$work/gemm_int8.so" "$@" $left || exit 1
    done
  done
done
