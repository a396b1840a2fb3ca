/* devices.c -- a machine with no devices but the CPU: in place of those of target/runtime, which look for libraries, and of
 * device_memory.c, which reserves addresses. */
#include "target/runtime/device.h"
#include <string.h>

static int none(int *n) { return *n = 0, tvms_set_error("there are no devices here"); }

const DeviceApi tvms__cuda = {.name = "cuda", .type = kDLCUDA, .count = none};
const DeviceApi tvms__opencl = {.name = "opencl", .type = kDLOpenCL, .count = none};
const DeviceApi tvms__metal = {.name = "metal", .type = kDLMetal, .count = none};
const DeviceApi tvms__webgpu = {.name = "webgpu", .type = kDLWebGPU, .count = none};

void *tvms__device_alloc(DLDevice device, size_t nbytes) { return (void)nbytes, (void)tvms__device_api(device), NULL; }
void tvms__device_free(void *address) { (void)address; }
bool tvms__device_find(const void *address, DevicePlace *out) { return (void)address, (void)out, false; }
int tvms__bytes_copy(void *to, const void *from, size_t nbytes) { return memmove(to, from, nbytes), 0; }
int tvms__bytes_fill(void *to, int byte, size_t nbytes) { return memset(to, byte, nbytes), 0; }
