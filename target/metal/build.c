/* build.c -- the back end's row: MSL for the device. */
#include "target/device.h"
#include "target/metal/metal.h"

const Backend backend_metal = {.name = "metal",
                               .doc = "MSL for Apple's GPUs, and the host's part through LLVM",
                               .load = device_load,
                               .emit = device_emit,
                               .device_code = metal_source,
                               .device_text = EMIT_METAL};
