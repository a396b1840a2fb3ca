#!/bin/sh
# test_speed.sh -- `tvms explain --target cuda`: figures of kernels of which they are known, and what the schedules of products reach.
#   sh tests/tool/test_speed.sh BUILD_FOLDER
gemm=$PWD/tests/cuda/gemm.tvms
. "$(dirname "$0")/expect.sh"

cat >kernels.tvms <<'T'
@I.ir_module
class Kernels:
    @T.prim_func
    def add(A: T.Buffer(("n",), "float32"), B: T.Buffer(("n",), "float32")):
        n = T.int64()
        for bx in T.thread_binding(n // 256, thread="blockIdx.x"):
            for tx in T.thread_binding(256, thread="threadIdx.x"):
                B[bx * 256 + tx] = A[bx * 256 + tx] + 1.0

    @T.prim_func
    def columns(A: T.Buffer((1024, 1024), "float32"), B: T.Buffer((1024, 1024), "float32")):
        for bx in T.thread_binding(1024, thread="blockIdx.x"):
            for tx in T.thread_binding(1024, thread="threadIdx.x"):
                B[bx, tx] = A[tx, bx]

    @T.prim_func
    def through_shared(A: T.Buffer((1024, 1024), "float32"), B: T.Buffer((1024, 1024), "float32")):
        S_data = T.allocate([1024], "float32", "shared")
        S = T.decl_buffer((1024,), data=S_data, scope="shared")
        for by in T.thread_binding(32, thread="blockIdx.y"):
            for bx in T.thread_binding(32, thread="blockIdx.x"):
                for ty in T.thread_binding(32, thread="threadIdx.y"):
                    for tx in T.thread_binding(32, thread="threadIdx.x"):
                        S[ty * 32 + tx] = A[by * 32 + ty, bx * 32 + tx]
                        B[bx * 32 + ty, by * 32 + tx] = S[tx * 32 + ty]

    @T.prim_func
    def gather(I: T.Buffer((65536,), "int32"), A: T.Buffer((65536,), "float32"), B: T.Buffer((65536,), "float32")):
        for bx in T.thread_binding(256, thread="blockIdx.x"):
            for tx in T.thread_binding(256, thread="threadIdx.x"):
                B[bx * 256 + tx] = A[I[bx * 256 + tx]]

    @T.prim_func
    def powers(A: T.Buffer((1024,), "float32")):
        for bx in T.thread_binding(4, thread="blockIdx.x"):
            for tx in T.thread_binding(256, thread="threadIdx.x"):
                for i in range(1000):
                    if tx < 64:
                        A[bx * 256 + tx] = A[bx * 256 + tx] * 0.5 + 1.0

    @T.prim_func
    def rows(A: T.Buffer((1024,), "float32"), B: T.Buffer((64, 1024), "float32")):
        for bx in T.thread_binding(4, thread="blockIdx.x"):
            for tx in T.thread_binding(256, thread="threadIdx.x"):
                for i in range(64):
                    B[i, bx * 256 + tx] = A[bx * 256 + tx]

    @T.prim_func
    def changed_rows(A: T.Buffer((1024,), "float32"), B: T.Buffer((64, 1024), "float32")):
        for bx in T.thread_binding(4, thread="blockIdx.x"):
            for tx in T.thread_binding(256, thread="threadIdx.x"):
                for i in range(64):
                    B[i, bx * 256 + tx] = A[bx * 256 + tx]
                    A[bx * 256 + tx] = 0.0
T

# ---- what is counted ----
expect 0 'add_kernel' "$tvms" explain --target cuda --sizes n=1048576 kernels.tvms -k add
also 'launch      4096 blocks of 256 threads' 'occupancy   100%: 8 blocks an SM, by threads' 'work        1.05 MFLOP, 0% by tensor cores' \
  'memory      8.39 MB at least, 8.39 MB from it; 8.39 MB through the L2 cache, 100% of them wanted' 'limit       5.39 us, by memory' 'bound by memory'
expect 0 'launch      4 blocks of 256 threads; assumed: n = 1024' "$tvms" explain --target cuda kernels.tvms -k add
# A row of threads touches a sector each, of which it wants an eighth; a tile in shared memory mends that, at 32 turns for one.
expect 0 'memory      8.39 MB at least, 8.39 MB from it; 37.7 MB through the L2 cache, 22% of them wanted' "$tvms" explain --target cuda kernels.tvms -k columns
expect 0 '8.39 MB through the L2 cache, 100% of them wanted' "$tvms" explain --target cuda kernels.tvms -k through_shared
also 'shared      4.19 MB loaded, 0% by ldmatrix or 8 bytes and more; conflicts of banks take 94% of 1.08 M turns' '1 barrier a block' '4.10 kB of shared memory a block'
expect 0 "note        where 'A' is touched is not known before it runs: the worst is taken" "$tvms" explain --target cuda kernels.tvms -k gather
# What a loop loads from one place is loaded once, unless the kernel stores there.
expect 0 '266 kB at least, 266 kB from it; 266 kB through the L2 cache' "$tvms" explain --target cuda kernels.tvms -k rows
expect 0 '266 kB at least, 266 kB from it; 328 kB through the L2 cache' "$tvms" explain --target cuda kernels.tvms -k changed_rows
# Threads without work are counted out: 4 blocks, 64 threads, 1000 steps, 2 operations.
expect 0 'work        512 kFLOP' "$tvms" explain --target cuda kernels.tvms -k powers
also 'bound by latencies'
expect 0 '"kernel": "columns_kernel", "chip": "A100", "grid": [1024, 1, 1], "block": [1024, 1, 1]' "$tvms" explain --target cuda --json kernels.tvms -k columns

# A bulk copy: each byte once, by one instruction, in as few turns as there can be.
cat >bulk.tvms <<'T'
@T.prim_func
def main(A: T.Buffer((1024,), "float32"), B: T.Buffer((1024,), "float32")):
    bx = T.launch_thread("blockIdx.x", 8)
    tx = T.launch_thread("threadIdx.x", 64)
    S_data = T.allocate([128], "float32", "shared")
    S = T.decl_buffer((128,), "float32", data=S_data, scope="shared")
    T.create_barriers(1)
    if tx == 0:
        T.ptx_init_barrier_thread_count(0, 1)
    T.tvm_storage_sync("shared")
    if tx == 0:
        T.evaluate(T.ptx_cp_async_bulk("float32", S.data, 0, A.data, bx * 128, 512, 0))
        T.ptx_arrive_barrier_expect_tx(0, 512)
    T.ptx_wait_barrier(0)
    for i in range(2):
        B[bx * 128 + i * 64 + tx] = S[127 - i * 64 - tx]
T
expect 0 '8.19 kB at least, 8.19 kB from it; 8.19 kB through the L2 cache, 100% of them wanted' "$tvms" explain --target 'cuda -arch=sm_90a' bulk.tvms
also 'conflicts of banks take 0% of 64  turns'

# ---- what schedules reach: all by mma, from shared memory by ldmatrix, at 85% of the limit or more ----
for arch in sm_80 sm_90a; do
  expect 0 '' "$tvms" explain --target "cuda -arch=$arch" --json "$gemm"
  awk '{ flops = least = 0
      for (i = 1; i < NF; i++) { if ($i == "\"flops\":") flops = $(i + 1) + 0; if ($i == "\"tensor_flops\":") mma = $(i + 1) + 0
        if ($i == "\"shared_load_bytes\":") loads = $(i + 1) + 0; if ($i == "\"wide_load_bytes\":") wide = $(i + 1) + 0
        if ($i == "\"of_limit\":") part = $(i + 1) + 0 }
      if (mma < 0.99 * flops || wide < loads || part < 0.85) { print $2, mma / flops, wide / loads, part; bad = 1 } }
    END { exit bad || NR != 2 }' out || { echo "FAIL $arch: a product of 4096 x 4096 falls behind"; bad=1; }
done

cat >floats.tvms <<'T'
@I.ir_module
class Floats:
    @R.function
    def main(a: R.Tensor((4096, 1024), "float32"), b: R.Tensor((1024, 1024), "float32"), x: R.Tensor((8, 64, 56, 56), "float32"), w: R.Tensor((64, 64, 3, 3), "float32")):
        with R.dataflow():
            m = R.matmul(a, b)
            t = R.matmul(a, R.permute_dims(b))
            c = R.nn.conv2d(x, w, padding=1)
            s = R.nn.softmax(a)
            R.output(m, t, c, s)
        return m, t, c, s
T
# Of float32: 16 bytes at a time from shared memory, hardly a conflict, two thirds of the limit; rows are read from memory once.
expect 0 '' "$tvms" explain --target cuda --json floats.tvms
awk '{ for (i = 1; i < NF; i++) { if ($i == "\"shared_load_bytes\":") loads = $(i + 1) + 0; if ($i == "\"wide_load_bytes\":") wide = $(i + 1) + 0
      if ($i == "\"shared_turns\":") turns = $(i + 1) + 0; if ($i == "\"bank_conflicts\":") conflicts = $(i + 1) + 0
      if ($i == "\"of_limit\":") part = $(i + 1) + 0 }
    if (part < 0.66 || $2 !~ /softmax/ && (wide < loads || conflicts > 0.1 * turns)) { print $2, wide / loads, conflicts / turns, part; bad = 1 } }
  END { exit bad || NR != 4 }' out || { echo 'FAIL: kernels of float32 fall behind'; bad=1; }

cat >memory.tvms <<'T'
@I.ir_module
class Memory:
    @R.function
    def main(a: R.Tensor((1, 4096), "float16"), b: R.Tensor((4096, 4096), "float16"), s: R.Tensor((4096, 1024), "float32")):
        with R.dataflow():
            m = R.matmul(a, b)
            t = R.permute_dims(b)
            c = R.sum(s, axis=0)
            p = R.cumsum(s, axis=1)
            R.output(m, t, c, p)
        return m, t, c, p
T
# Sums of columns by threads that stand in columns: partial sums of neighbours lie in different banks.
expect 0 'conflicts of banks take 0% of' "$tvms" explain --target cuda memory.tvms -k sum
# One row times a matrix, a transpose: memory is what they wait for. Few columns, or a sum of each row: enough threads are busy.
expect 0 '' "$tvms" explain --target cuda --json memory.tvms
awk '{ for (i = 1; i < NF; i++) if ($i == "\"of_limit\":") part = $(i + 1) + 0
    least = $2 ~ /matmul|permute/ ? 0.9 : $2 ~ /^"sum/ ? 0.5 : 0.1
    if (part < least) { print $2, part; bad = 1 } }
  END { exit bad || NR != 4 }' out || { echo 'FAIL: kernels that memory bounds fall behind'; bad=1; }

# ---- what is refused ----
expect 1 "there is no kernel 'ad'" "$tvms" explain --target cuda kernels.tvms -k ad
also 'add_kernel, columns_kernel'
expect 1 "speeds are known of NVIDIA's GPUs, not of 'sim'" "$tvms" explain --target sim kernels.tvms
expect 2 "--sizes is written \"n=4096,m=8\", not 'n=many'" "$tvms" explain --target cuda --sizes n=many kernels.tvms
expect 2 'which file?' "$tvms" explain --target cuda
exit $bad
