/* devices.c -- a program in a browser sees no device but WebGPU's: in place of those of
 * target/runtime, which look for libraries. */
#include "target/runtime/device.h"

static int none(int *n) {
  return *n = 0, tvms_set_error("a program in a browser has no devices but WebGPU's");
}

const DeviceApi tvms__cuda = {.name = "cuda", .type = kDLCUDA, .count = none};
const DeviceApi tvms__opencl = {.name = "opencl", .type = kDLOpenCL, .count = none};
const DeviceApi tvms__metal = {.name = "metal", .type = kDLMetal, .count = none};
