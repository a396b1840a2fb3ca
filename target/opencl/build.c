/* build.c -- the back end's row: OpenCL C for the device. */
#include "target/opencl/opencl.h"
#include "target/device.h"

const Backend backend_opencl = {.name = "opencl",
                                .doc = "OpenCL C for devices, and the host's part through LLVM",
                                .load = device_load,
                                .emit = device_emit,
                                .device_code = opencl_source,
                                .device_text = EMIT_OPENCL};
