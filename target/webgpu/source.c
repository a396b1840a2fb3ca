/* source.c -- the whole text: helpers, kernels; and the helpers' table. */
#include "target/webgpu/webgpu.h"

const CHelper wgsl_helpers[] = {
#define HELPER(name, text_name, text) {#name, text_name, text},
#include "target/webgpu/helper.def"
    {NULL, NULL, NULL}};

/* No variable may have the name of these: words of WGSL, reserved ones, and what the text calls. */
static const char *const words[] = {
#define WORD(word) #word,
#include "target/webgpu/word.def"
};

const char *wgsl_source(Node *module, const Target *target) {
  CGen g = {.dialect = &wgsl_dialect, .target = target, .module = module};
  c_take_words(&g, words, sizeof words / sizeof *words);
  c_kernels(&g, wgsl_kernel);
  const char *functions = str_text(&g.functions);
  Str s = {0};
  str_add(&s, "// Made by tvms: WGSL.\n");
  c_add_helpers(&s, &g.helpers, functions);
  str_add(&s, functions);
  return str_text(&s);
}
