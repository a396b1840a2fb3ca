#!/bin/sh
# test_devices.sh -- modules for devices from the command line: what is written, and what is said where there is no driver.
#   sh tests/tool/test_devices.sh BUILD_FOLDER
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
expect 0 '' "$tvms" build net.tvms --emit opencl -o net.cl
cp net.cl out
also '#pragma OPENCL FP_CONTRACT OFF' '__kernel __attribute__((reqd_work_group_size(8, 16, 1)))' '__local float' 'barrier(CLK_LOCAL_MEM_FENCE);'
absent cl_khr_fp64
expect 0 '' "$tvms" build net.tvms --target opencl -o net.so
expect 0 'target    opencl' "$tvms" inspect net.so
expect 0 '' "$tvms" build net.tvms --target opencl --emit tvms-lowered -o lowered.tvms
cp lowered.tvms out
also 'def matmul_kernel' 'T.launch_thread("blockIdx.y"' '"tvms_device_launch"' 'T.address_of(Module.matmul_kernel)'
expect 0 '' "$tvms" build lowered.tvms --target opencl -o again.cl
expect 0 '' cmp net.cl again.cl
expect 1 'the llvm target writes no OpenCL C: use --target opencl' "$tvms" build net.tvms --target llvm --emit opencl -o net.cl
expect 1 'the opencl target writes no C: use --target c' "$tvms" build net.tvms --target opencl -o net.c
expect 1 "target 'opencl' has no option 'max_threads'; there are" "$tvms" build net.tvms --target 'opencl -max_threads=8' -o net.so

# No loader, no driver: the packages are named, and nothing runs elsewhere.
cat >run.tvms <<'T'
import numpy as np
assert not tvm.opencl(0).exist
np.zeros(3, "float32").to("opencl")
T
expect 1 'there is no OpenCL driver on this machine: install a driver of OpenCL' env OCL_ICD_VENDORS=/nonexistent "$tvms" run run.tvms
also 'pocl-opencl-icd'

expect 0 '' "$tvms" build net.tvms -o net.wgsl
cp net.wgsl out
also '// Made by tvms: WGSL.' '@compute @workgroup_size(8, 16, 1)' 'var<workgroup>' 'workgroupBarrier();'
expect 0 '' "$tvms" build net.tvms --target webgpu -o net.so
expect 0 'target    webgpu' "$tvms" inspect net.so
expect 1 'the opencl target writes no WGSL: use --target webgpu' "$tvms" build net.tvms --target opencl --emit wgsl
sed 's/opencl/webgpu/' run.tvms >run_webgpu.tvms
expect 1 'WebGPU is not installed: there is neither libwgpu_native.so nor libwebgpu_dawn.so' env -u TVMS_WEBGPU_LIBRARY "$tvms" run run_webgpu.tvms
also 'TVMS_WEBGPU_LIBRARY'
expect 1 'TVMS_WEBGPU_LIBRARY names no library: /nonexistent.so: cannot open' env TVMS_WEBGPU_LIBRARY=/nonexistent.so "$tvms" run run_webgpu.tvms
expect 1 'the WebGPU library has no wgpuHasInstanceFeature: it is too old, or none' env TVMS_WEBGPU_LIBRARY=libz.so.1 "$tvms" run run_webgpu.tvms

# ---- the simulated GPU ----
cat >race.tvms <<'T'
import numpy as np
@T.prim_func
def shift(A: T.Buffer((64,), "float32")):
    tx = T.launch_thread("threadIdx.x", 63)
    A[tx] = A[tx + 1]
f = tvm.build(shift)
f(np.ones(64, "float32"))
print("ran")
T
expect 1 'a loop bound to a thread is not supported by the llvm target: sim runs it on a simulated GPU' "$tvms" run race.tvms
expect 0 'ran' "$tvms" run --target sim race.tvms
expect 1 "race.tvms:5:5: error[E0601]: data race: the store of 'A[1]' by thread (1, 0, 0) of block (0, 0, 0), and the load by thread (0, 0, 0) of block (0, 0, 0), with no barrier between" "$tvms" run --sanitize race.tvms
also "race.tvms:5:13: note: the load of 'A' by thread (0, 0, 0) of block (0, 0, 0)" 'help: put T.tvm_storage_sync'
absent 'ran'
expect 1 'race.tvms:5 ' "$tvms" run --sanitize --report race.tvms
expect 1 'error[E0601]' "$tvms" run --sanitize --target 'sim -model=mali' race.tvms
expect 2 '--report is for what --sanitize counts' "$tvms" run --report race.tvms
expect 1 "unknown model 'sm80'; there are sm_70, sm_72, sm_75, sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a, opencl, webgpu, apple, mali; did you mean 'sm_80'?" "$tvms" run --target 'sim -model=sm80' race.tvms
expect 0 'E0601: a data race between threads of a block' "$tvms" explain E0601
expect 0 '' "$tvms" build net.tvms --target 'sim -model=opencl' -o net.so
expect 0 'target    sim -model=opencl' "$tvms" inspect net.so
expect 1 'runs in this process only' "$tvms" build net.tvms --target 'sim -sanitize' -o net.so
expect 1 'the sim target writes no OpenCL C: use --target opencl' "$tvms" build net.tvms --target sim --emit opencl -o net.cl
cat >test_race.tvms <<'T'
import numpy as np
@T.prim_func
def halves(A: T.Buffer((64,), "float32")):
    for bx in T.thread_binding(2, thread="blockIdx.x"):
        A[3] = T.Cast("float32", bx)
def test_halves():
    tvm.build(halves)(np.ones(64, "float32"))
T
expect 0 '1 passed, 0 failed' "$tvms" test --target sim test_race.tvms
expect 1 'error[E0602]: data race between blocks' "$tvms" test --sanitize test_race.tvms
exit $bad
