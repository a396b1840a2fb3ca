/* build.c -- the back end's row: PTX by the same library as machine code (target/llvm), and CUDA
 * C++ to read or to compile elsewhere. */
#include "target/cuda/cuda.h"
#include "target/device.h"

static const char *ptx(Node *module, const Target *target) {
  return backend_find("llvm")->device_code(module, target);
}

const Backend backend_cuda = {.name = "cuda",
                              .doc = "PTX for NVIDIA GPUs, through LLVM like the host's part",
                              .load = device_load,
                              .emit = device_emit,
                              .device_code = ptx,
                              .device_text = EMIT_PTX,
                              .device_source = cuda_source,
                              .source_text = EMIT_CUDA};
