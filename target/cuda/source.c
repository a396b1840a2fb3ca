/* source.c -- the whole text: headers, helpers, kernels. */
#include "target/cuda/cuda.h"
#include "passes/passes.h"

/* NVRTC has no headers of C. */
static const char types[] = "#ifdef __CUDACC_RTC__\n"
                            "typedef signed char int8_t;\n"
                            "typedef short int16_t;\n"
                            "typedef int int32_t;\n"
                            "typedef long long int64_t;\n"
                            "typedef unsigned char uint8_t;\n"
                            "typedef unsigned short uint16_t;\n"
                            "typedef unsigned int uint32_t;\n"
                            "typedef unsigned long long uint64_t;\n"
                            "#define INT32_MIN (-2147483647 - 1)\n"
                            "#define INT64_MIN (-9223372036854775807LL - 1)\n"
                            "#define INT64_C(x) x##LL\n"
                            "#define UINT64_C(x) x##ULL\n"
                            "#define INFINITY __int_as_float(0x7f800000)\n"
                            "#define NAN __int_as_float(0x7fffffff)\n"
                            "#else\n"
                            "#include <math.h>\n"
                            "#include <stdint.h>\n"
                            "#endif\n";

/* Of more lanes than CUDA has names for; read and written as one word. */
static const char long_vectors[] = "\ntemplate <typename T, int lanes>\n"
                                   "struct __align__(sizeof(T) * lanes) Lanes {\n"
                                   "  T at[lanes];\n"
                                   "};\n";

/* Of CUDA and of this text: no variable may have the name of these. */
static const char *const words[] = {
    "threadIdx", "blockIdx",       "blockDim",  "gridDim",   "warpSize",  "half",
    "half2",     "dynamic_shared", "Lanes",     "lane_id",   "atomicAdd", "atomicExch",
    "atomicAnd", "atomicOr",       "atomicXor", "atomicMax", "atomicMin", "atomicCAS"};

const char *cuda_source(Node *module, const Target *target) {
  Pipeline scalars = pipeline_parse("ScalarizeVectors(most_bytes=16)", (Span){0});
  CGen g = {.dialect = &cuda_dialect,
            .target = target,
            .module = pipeline_run(&scalars, module, target, NULL)};
  c_take_cpp_words(&g);
  c_take_words(&g, words, sizeof words / sizeof *words);
  c_take_vector_types(&g);
  c_kernels(&g, cuda_kernel);
  const char *functions = str_text(&g.functions), *gpu = target_gpu(target)->name;
  Str helpers = {0}, s = {0};
  c_add_helpers(&helpers, &g.helpers, functions);
  str_printf(&s,
             "/* Made by tvms: CUDA C++ for %s.\n"
             " *     nvcc -arch=%s -cubin FILE.cu\n"
             " * -fmad=false rounds as the PTX of tvms does. */\n%s",
             gpu, gpu, types);
  if (strstr(str_text(&helpers), "__half")) str_add(&s, "#include <cuda_fp16.h>\n");
  if (strstr(functions, "Lanes<")) str_add(&s, long_vectors);
  str_printf(&s, "%s%s", str_text(&helpers), functions);
  return str_text(&s);
}
