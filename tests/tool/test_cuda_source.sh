#!/bin/sh
# test_cuda_source.sh -- `--emit cuda`: what is written, and that clang takes it, with declarations in the place of CUDA's headers
# (tests/cuda/include). Without a clang that knows CUDA only the first part is done.
. "$(dirname "$0")/expect.sh"
source=$tests/../..

write_net
expect 0 '' "$tvms" build net.tvms -o net.cu
cp net.cu out
also 'CUDA C++ for sm_80' 'extern "C" __global__ void __launch_bounds__(128) matmul_kernel(' 'asm volatile("mma.sync' '#include <cuda_fp16.h>'
expect 0 'CUDA C++ for sm_90a' "$tvms" build net.tvms --target 'cuda -arch=sm_90a' --emit cuda
expect 1 'the opencl target writes no CUDA C++: use --target cuda' "$tvms" build net.tvms --target opencl --emit cuda
expect 1 'the llvm target writes no CUDA C++: use --target cuda' "$tvms" build net.tvms --target llvm -o net.cu

# ---- the kernels of tests of schedules, and of operators ----
cp "$source/tests/target/cuda.tvms" "$source/tests/target/tensor_cores.tvms" "$source/tests/target/device_vectors.tvms" .
cat >write.tvms <<'T'
import device_vectors
import cuda
import tvm
from tensor_cores import product, schedule

kernels = {
    "scale": cuda.scale,
    "small": cuda.small,
    "products": cuda.products,
    "turn": cuda.turn,
    "exchange": cuda.exchange,
    "count": cuda.count,
    "gemm": schedule(product(128, 128, 128)),
    "gemm_int8": schedule(product(128, 128, 128, "int8", True), "int8", True),
    "gemm_float32": schedule(product(128, 128, 128, "float32", True), "float32", True),
}
for name, kernel in kernels.items():
    with open(name + ".cu", "w") as f:
        f.write(tvm.build(kernel, "cuda").get_source("cuda"))
for name in ("Add", "Sub", "Exch", "Max", "Min"):
    for dtype in ("int32", "uint32", "int64", "float32", "float64"):
        @T.prim_func
        def f(A: T.Buffer((64,), dtype), B: T.Buffer((1,), dtype)):
            for tx in T.thread_binding(64, thread="threadIdx.x"):
                T.evaluate(T.call_extern(dtype, "atomic" + name, T.address_of(B[0]), A[tx]))
        with open(f"atomic{name}_{dtype}.cu", "w") as file:
            file.write(tvm.build(f, "cuda").get_source("cuda"))
for i, f in enumerate(device_vectors.kernels()):
    with open(f"vectors{i}.cu", "w") as file:
        file.write(tvm.build(f, "cuda").get_source("cuda"))
T
expect 0 '' "$tvms" run write.tvms
mkdir ops
expect 0 '0 failed' env OP_DEVICE_CODE="$work/ops" OP_DEVICE_FORM=cuda OP_DEVICE_TARGET=cuda OP_TARGETS=cuda "$tvms" test "$source/tests/op/sort.tvms" "$source/tests/op/unary.tvms"

takes() {
  clang -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -nocudainc -nocudalib -D__CUDACC_RTC__ -Wall -Werror -Wno-unknown-cuda-version \
    -fsyntax-only "-I$source/tests/cuda/include" -include declarations.h "$1" >out 2>&1
}
: >empty.cu
if command -v clang >/dev/null && takes empty.cu; then
  for f in ./*.cu ops/*; do takes "$f" || fail "clang does not take $f"; done
  echo 'float f() { return no_such_function(1); }' >wrong.cu
  takes wrong.cu && fail 'a wrong text is taken'
else
  echo 'skip: there is no clang that knows CUDA'
fi
exit $bad
