/* kernel.c -- the frame of a kernel: a buffer for each pointer, in the order of the parameters, and
 * one of the scalars, each in 8 bytes. */
#include "target/metal/metal.h"

typedef struct Kernel {
  const char *scalars; /* the type of the struct */
  Str params, fields;
  int buffers;
} Kernel;

static void add_buffer(CGen *g, Kernel *k, Node *param, CVar *v) {
  str_printf(&k->params, "%s [[buffer(%d)]], ", c_declare(g, param, v), k->buffers++);
}

static void add_scalar(CGen *g, Kernel *k, Node *param, CVar *v) {
  bool is_bool = dtype_is_bool(param->dtype);
  str_printf(&k->fields, "  alignas(8) %s %s;\n", is_bool ? "uint8_t" : c_type(g, param->dtype),
             v->name);
  if (c_is_used(g, param))
    c_line(g, "const %s = given.%s%s;", c_declare(g, param, v), v->name, is_bool ? " != 0" : "");
}

static void declare_shared(CGen *g, CVar *v, int64_t count, void *unused) {
  (void)unused;
  v->align = 16;
  c_line(g, "alignas(16) threadgroup %s %s[%lld];", c_type_in_memory(g, v->elem), v->name,
         (long long)count);
}

static void begin(CGen *g, PrimFunc *f, void *context) {
  Kernel *k = context;
  for each (Node *, p, &f->params) {
    CVar *v = c_kernel_param(g, f, *p);
    if (dtype_is_handle((*p)->dtype)) add_buffer(g, k, *p, v);
    else add_scalar(g, k, *p, v);
  }
  c_check_buffers(g, f, k->buffers);
  if (k->fields.len)
    str_printf(&k->params, "constant %s &given [[buffer(%d)]], ", k->scalars, k->buffers);
  c_each_shared(g, f->body, declare_shared, NULL);
}

/* Blocks of a known size may be compiled for it. */
static const char *block_size(PrimFunc *f) {
  int64_t size[3];
  if (!c_block_size(f, size)) return "";
  return str_format("[[max_total_threads_per_threadgroup(%lld)]] ",
                    (long long)(size[0] * size[1] * size[2]));
}

void metal_kernel(CGen *g, const char *name, PrimFunc *f) {
  Kernel k = {.scalars = c_name(str_format("%s_scalars", name), &g->names, NULL)};
  const char *lines = c_kernel(g, name, f, begin, &k);
  str_add_char(&g->functions, '\n');
  if (k.fields.len)
    str_printf(&g->functions, "struct %s {\n%s};\n", k.scalars, str_text(&k.fields));
  str_printf(&g->functions,
             "%skernel void %s(%suint3 blockIdx [[threadgroup_position_in_grid]], uint3 threadIdx "
             "[[thread_position_in_threadgroup]]) {\n%s}\n",
             block_size(f), name, str_text(&k.params), lines);
}
