/* source.c -- the whole text: the header, helpers, kernels; and the helpers' table. */
#include "target/metal/metal.h"

const CHelper metal_helpers[] = {
#define HELPER(name, text_name, text) {#name, text_name, text},
#include "target/metal/helper.def"
    {NULL, NULL, NULL}};

static const char head[] = "// Made by tvms: MSL. To be compiled without fast mathematics.\n"
                           "#include <metal_stdlib>\n"
                           "using namespace metal;\n"
                           "#pragma clang fp contract(off)\n"
                           "#ifndef INT32_MIN\n"
                           "#define INT32_MIN (-2147483647 - 1)\n"
                           "#endif\n"
                           "#ifndef INT64_MIN\n"
                           "#define INT64_MIN (-9223372036854775807L - 1)\n"
                           "#endif\n"
                           "#ifndef INT64_C\n"
                           "#define INT64_C(x) x##L\n"
                           "#define UINT64_C(x) x##UL\n"
                           "#endif\n";

/* No variable may have the name of these: words of MSL, and functions of the library. */
static const char *const words[] = {
    "kernel",    "device",        "threadgroup", "constant",  "thread",  "vertex",
    "fragment",  "given",         "blockIdx",    "threadIdx", "as_type", "threadgroup_barrier",
    "mem_flags", "metal",         "half",        "uchar",     "ushort",  "uint",
    "ulong",     "size_t",        "texture",     "sampler",   "patch",   "array",
    "bfloat",    "packed_float4", "isinf",       "min",       "max",     "select",
    "clamp",     "mix",           "sign"};

const char *metal_source(Node *module, const Target *target) {
  CGen g = {.dialect = &metal_dialect, .target = target, .module = module};
  c_take_cpp_words(&g);
  c_take_words(&g, words, sizeof words / sizeof *words);
  c_take_vector_types(&g);
  c_kernels(&g, metal_kernel);
  const char *functions = str_text(&g.functions);
  Str s = {0};
  str_add(&s, head);
  c_add_helpers(&s, &g.helpers, functions);
  str_add(&s, functions);
  return str_text(&s);
}
