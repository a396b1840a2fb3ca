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
also 'def matmul_kernel' 'T.launch_thread("blockIdx.y"' '"tvms_device_launch", 4, 0, T.address_of(Module.matmul_kernel)'
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
exit $bad
