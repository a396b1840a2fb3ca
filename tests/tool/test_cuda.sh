#!/bin/sh
# test_cuda.sh -- modules for CUDA: what is written, and what is asked of NVIDIA's driver, for which a library stands that
# writes the calls down and runs kernels by an emulator (tests/cuda).
#   sh tests/tool/test_cuda.sh BUILD_FOLDER
. "$(dirname "$0")/expect.sh"

cat >net.tvms <<'T'
@I.ir_module
class Net:
    @R.function
    def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((64, 32), "float32")):
        with R.dataflow():
            y = R.nn.softmax(R.matmul(x, w))
            R.output(y)
        return y
T
cat >add.tvms <<'T'
@T.prim_func
def add(A: T.Buffer(("n",), "float32"), B: T.Buffer(("n",), "float32"), c: T.float32):
    n = T.int64()
    for bx in T.thread_binding((n + 63) // 64, thread="blockIdx.x"):
        for tx in T.thread_binding(64, thread="threadIdx.x"):
            if bx * 64 + tx < n:
                B[bx * 64 + tx] = A[bx * 64 + tx] + c
T

# ---- what is written ----
expect 0 '' "$tvms" build net.tvms --emit ptx -o net.ptx
cp net.ptx out
also '.target sm_80' '.visible .entry matmul_kernel(' '.maxntid 8, 16, 1' 'ld.global' 'st.shared' 'bar.sync' 'fma.rn.f32'
expect 0 '.target sm_90a' "$tvms" build net.tvms --target 'cuda -arch=sm_90a' --emit ptx
expect 0 '' "$tvms" build net.tvms --target cuda -o net.so
expect 0 'target    cuda' "$tvms" inspect net.so
expect 1 "unknown architecture 'sm_12'; there are sm_70, sm_72" "$tvms" build net.tvms --target 'cuda -arch=sm_12' --emit ptx
expect 1 'the cuda target writes no OpenCL C: use --target opencl' "$tvms" build net.tvms --target cuda --emit opencl
expect 1 'the llvm target writes no PTX: use --target cuda' "$tvms" build net.tvms --target llvm --emit ptx
expect 1 'the cuda target writes no C: use --target c' "$tvms" build net.tvms --target cuda -o net.c

# ---- registers, estimated: what is needed at one time, and 6 ----
expect 0 'kernel    matmul_kernel: about ' "$tvms" inspect net.ptx
cat >live.ptx <<'T'
.visible .entry sum(
	.param .u64 sum_param_0
)
{
	.shared .align 4 .b8 memory[64];
	ld.param.u64 	%rd1, [sum_param_0];
	cvta.to.global.u64 	%rd2, %rd1;
	ld.global.v4.f32 	{%f1, %f2, %f3, %f4}, [%rd2];
	add.s64 	%rd3, %rd2, 16;
	mov.u32 	%r1, 0;
	ld.global.f32 	%f9, [%rd3];
$L__BB0_1:
	add.f32 	%f5, %f1, %f2;
	add.f32 	%f6, %f3, %f4;
	add.s32 	%r1, %r1, 1;
	setp.ne.s32 	%p1, %r1, 8;
	@%p1 bra 	$L__BB0_1;
	add.f32 	%f7, %f5, %f6;
	add.f32 	%f8, %f7, %f9;
	st.global.f32 	[%rd3], %f8;
	ret;
}
T
# In the loop: the address (2 words; its sum with 16 is a part of loads), f1 to f4 of the next step, f9, r1, f5, f6.
expect 0 'kernel    sum: about 16 registers, 64 bytes of shared memory, 15 instructions' "$tvms" inspect live.ptx
echo '// nothing' >nothing.ptx
expect 1 "'nothing.ptx': it has no kernel" "$tvms" inspect nothing.ptx

# ---- no driver ----
cat >load.tvms <<'T'
m = tvm.runtime.load_module("net.so")
print("loaded")
T
cat >where.tvms <<'T'
import numpy as np
assert not tvm.cuda(0).exist
np.zeros(3, "float32").to("cuda")
T
if ! ldconfig -p | grep -q 'libcuda\.so\.1'; then
  expect 1 "NVIDIA's driver is not installed: there is no libcuda.so.1: install the driver of the GPU" "$tvms" run where.tvms
  expect 1 "can't load 'net.so', which is for a device: NVIDIA's driver is not installed" "$tvms" run load.tvms
fi

# ---- with the library in its place ----
[ -f "$B/fake_cuda/libcuda.so.1" ] || make -C "$tests/../.." B="$B" "$B/fake_cuda/libcuda.so.1" || exit 1
fake() {
  rm -f calls
  env LD_LIBRARY_PATH="$B/fake_cuda" FAKE_CUDA_LOG=calls "$@"
}
cat >run.tvms <<'T'
import numpy as np
device = tvm.cuda(0)
a = np.arange(12, dtype="int16").reshape(3, 4)
x = a.to(device)
y = tvm.nd.empty((3, 4), "int16", device)
x.copyto(y)
z = x.to(device)
assert np.array_equal(y.numpy(), a) and x.device == device and "on cuda:0" in str(x)
f = tvm.build(add, "cuda")
p, q = np.zeros(100, "float32").to(device), np.zeros(100, "float32").to(device)
f(p, q, 2.5)
f(p, q, 3)
device.sync()
T
cat add.tvms run.tvms >both.tvms
expect 0 '' fake "$tvms" run both.tvms
cp calls out
grep -F '<<<' calls >out
same 'add_kernel<<<(2, 1, 1), (64, 1, 1), 0>>> memory memory 2.5 100
add_kernel<<<(2, 1, 1), (64, 1, 1), 0>>> memory memory 3 100'
cp calls out
[ "$(grep -c cuModuleLoadDataEx calls)" = 1 ] || fail 'a module is loaded once'
[ "$(grep -c cuModuleGetFunction calls)" = 1 ] || fail 'a kernel is looked up once'
absent fails

expect 0 loaded fake "$tvms" run load.tvms
cat >net_run.tvms <<'T'
import numpy as np
main = tvm.runtime.load_module("net.so")["main"]
x, w = np.zeros((10, 64), "float32").to("cuda"), np.zeros((64, 32), "float32").to("cuda")
assert main(x, w).shape == (10, 32)
T
expect 0 '' fake "$tvms" run net_run.tvms
cp calls out
also 'matmul_kernel<<<(1, 1, 1), (8, 16, 1), 0>>> memory memory memory 10'

# Shared memory beyond what every device has is told at launch, after it was asked for.
cat >shared.tvms <<'T'
import numpy as np
@T.prim_func
def turn(A: T.Buffer((16384,), "float32"), B: T.Buffer((16384,), "float32")):
    for bx in T.thread_binding(1, thread="blockIdx.x"):
        S = T.alloc_buffer((16384,), scope="shared")
        for tx in T.thread_binding(1024, thread="threadIdx.x"):
            for i in range(16):
                S[i * 1024 + tx] = A[i * 1024 + tx]
            for i in range(16):
                B[i * 1024 + tx] = S[16383 - i * 1024 - tx]
x = np.zeros(16384, "float32").to("cuda")
tvm.build(turn, "cuda -max_shared_memory_per_block=100000")(x, x.to("cuda"))
T
expect 0 '' fake "$tvms" run shared.tvms
cp calls out
also 'turn_kernel<<<(1, 1, 1), (1024, 1, 1), 65536>>> memory memory' cuFuncSetAttribute

# ---- what fails ----
expect 1 'there is no NVIDIA GPU on this machine' fake env FAKE_CUDA_DEVICES=0 "$tvms" run load.tvms
expect 1 "NVIDIA's driver does not start (CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE)" fake env FAKE_CUDA_FAIL=cuInit:804 "$tvms" run load.tvms
expect 1 'the module was built for sm_80, but cuda:0 (Fake 0) is sm_75: build it for "cuda -arch=sm_75"' fake env FAKE_CUDA_ARCH=75 "$tvms" run both.tvms
expect 1 "can't allocate 4096 bytes (CUDA_ERROR_OUT_OF_MEMORY): 1000 of its 80000 bytes are free" fake env FAKE_CUDA_FAIL=cuMemAlloc_v2:2 "$tvms" run both.tvms
expect 1 "can't load the module (CUDA_ERROR_UNSUPPORTED_PTX_VERSION): the driver is older than the code" fake env FAKE_CUDA_FAIL=cuModuleLoadDataEx:222 "$tvms" run both.tvms
also 'ptxas fatal: planned'
expect 1 "cuda:0: add_kernel failed (CUDA_ERROR_NOT_FOUND)" fake env FAKE_CUDA_FAIL=cuModuleGetFunction:500 "$tvms" run both.tvms
expect 1 "kernel add_kernel: cuda:0 (Fake 0) can't launch it (CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES): a block needs more registers" fake env FAKE_CUDA_FAIL=cuLaunchKernel:701 "$tvms" run both.tvms
for name in cuDeviceGetCount cuDevicePrimaryCtxRetain cuStreamCreate cuMemcpyHtoDAsync_v2 cuMemcpyDtoHAsync_v2 cuMemcpyDtoDAsync_v2 cuStreamSynchronize; do
  expect 1 CUDA_ERROR_ILLEGAL_ADDRESS fake env FAKE_CUDA_FAIL=$name:700 "$tvms" run both.tvms
done
exit $bad
