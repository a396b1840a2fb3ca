/* plugin.c -- what libtvms_llvm.so gives to the program: see target/llvm_loader.c. */
#include "target/llvm/codegen.h"

extern const Backend tvms_llvm_backend;

const Backend tvms_llvm_backend = {.name = "llvm",
                                   .doc = "machine code through LLVM",
                                   .load = jit_load,
                                   .emit = emit_file,
                                   .device_code = ptx_of_module,
                                   .device_text = EMIT_PTX};
