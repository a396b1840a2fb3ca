/* build.c -- the back end's row: WGSL for the device. */
#include "target/device.h"
#include "target/webgpu/webgpu.h"

const Backend backend_webgpu = {.name = "webgpu",
                                .doc = "WGSL for WebGPU, and the host's part through LLVM",
                                .load = device_load,
                                .emit = device_emit,
                                .device_code = wgsl_source,
                                .device_text = EMIT_WGSL};
