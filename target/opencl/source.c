/* source.c -- the whole text: extensions, the types of stdint.h, helpers, kernels. */
#include "target/opencl/opencl.h"

static const char types[] = "typedef char int8_t;\n"
                            "typedef short int16_t;\n"
                            "typedef int int32_t;\n"
                            "typedef long int64_t;\n"
                            "typedef uchar uint8_t;\n"
                            "typedef ushort uint16_t;\n"
                            "typedef uint uint32_t;\n"
                            "typedef ulong uint64_t;\n"
                            "#define INT32_MIN INT_MIN\n"
                            "#define INT64_MIN LONG_MIN\n"
                            "#define INT64_C(x) x##L\n"
                            "#define UINT64_C(x) x##UL\n";

/* No variable may have the name of these. */
static const char *const words[] = {
    "kernel",    "global",     "local",      "constant",  "private",      "generic",
    "pipe",      "half",       "uchar",      "ushort",    "uint",         "ulong",
    "size_t",    "event_t",    "image1d_t",  "image2d_t", "image3d_t",    "sampler_t",
    "read_only", "write_only", "read_write", "barrier",   "get_group_id", "get_local_id",
    "complex",   "imaginary",  "quad",       "vec_step"};

const char *opencl_source(Node *module, const Target *target) {
  CGen g = {.dialect = &opencl_dialect, .target = target, .module = module};
  c_take_words(&g, words, sizeof words / sizeof *words);
  c_take_vector_types(&g);
  c_kernels(&g, opencl_kernel);
  const char *functions = str_text(&g.functions);
  Str helpers = {0}, s = {0};
  c_add_helpers(&helpers, &g.helpers, functions);
  str_add(&s, "/* Made by tvms: OpenCL C 1.2. */\n");
  bool wide = strstr(functions, "double") || strstr(str_text(&helpers), "double");
  if (wide) str_add(&s, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
  str_printf(&s, "#pragma OPENCL FP_CONTRACT OFF\n%s%s%s", types, str_text(&helpers), functions);
  return str_text(&s);
}
