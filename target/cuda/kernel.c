/* kernel.c -- the frame of a kernel: parameters, and shared memory whose size is told at launch. */
#include "target/cuda/cuda.h"
#include "lower/lower.h"

static const char *param_text(CGen *g, PrimFunc *f, Node *param) {
  CVar *v = c_kernel_param(g, f, param);
  v->align = 16; /* launches refuse others */
  if (!dtype_is_handle(param->dtype)) return c_declare(g, param, v);
  bool distinct = dict_get_int(f->attrs, "tir.noalias", 1) != 0;
  return str_format("%s%s%s%s", v->is_const ? "const " : "", c_pointer(g, v->elem),
                    distinct ? "__restrict__ " : "", v->name);
}

/* Arrays at their offsets. */
static void declare_dynamic_shared(CGen *g, PrimFunc *f) {
  DynamicShared shared = lower_dynamic_shared(f);
  if (!shared.nbytes) return;
  c_line(g, "extern __shared__ __align__(%d) uint8_t dynamic_shared[];", LOWER_MOST_ALIGN);
  for (int i = 0; i < shared.vars.len; i++) {
    CVar *v = c_bind(g, shared.vars.at[i]);
    v->align = shared.offsets.at[i] % 16 ? 0 : 16;
    c_line(g, "%s = (%s)(dynamic_shared + %lld);", c_declare(g, shared.vars.at[i], v),
           c_pointer(g, v->elem), (long long)shared.offsets.at[i]);
  }
}

static const char *launch_bounds(PrimFunc *f) {
  int64_t size[3];
  if (!c_block_size(f, size)) return "";
  return str_format("__launch_bounds__(%lld) ", (long long)(size[0] * size[1] * size[2]));
}

static void begin(CGen *g, PrimFunc *f, void *params) {
  for (int i = 0; i < f->params.len; i++)
    str_printf(params, "%s%s", i ? ", " : "", param_text(g, f, f->params.at[i]));
  declare_dynamic_shared(g, f);
}

void cuda_kernel(CGen *g, const char *name, PrimFunc *f) {
  Str params = {0};
  const char *lines = c_kernel(g, name, f, begin, &params);
  str_printf(&g->functions, "\nextern \"C\" __global__ void %s%s(%s) {\n%s}\n", launch_bounds(f),
             name, str_text(&params), lines);
}
