/* kernel.c -- the frame of a kernel: a pointer is two parameters, the buffer and the byte that it
 * begins at, since a buffer may hold several tensors. */
#include "target/opencl/opencl.h"

typedef struct Param {
  Node *node;
  CVar *var;
  const char *given; /* the name under which it comes: of the buffer, of a bool as a byte */
  const char *begin; /* of a pointer */
} Param;
typedef VEC(Param) ParamVec_;

static Param param_new(CGen *g, PrimFunc *f, Node *node) {
  Param p = {.node = node, .var = c_kernel_param(g, f, node)};
  Map *names = &g->f->names;
  bool is_pointer = dtype_is_handle(node->dtype);
  p.given = p.var->name;
  if (is_pointer || dtype_is_bool(node->dtype))
    p.given = c_name(str_format("%s_given", p.var->name), names, &g->names);
  if (is_pointer) p.begin = c_name(str_format("%s_begin", p.var->name), names, &g->names);
  return p;
}

static const char *param_text(CGen *g, const Param *p) {
  if (p->begin) return str_format("__global char *%s, long %s", p->given, p->begin);
  DataType t = p->node->dtype;
  return str_format("%s %s", dtype_is_bool(t) ? "uchar" : c_type(g, t), p->given);
}

/* Variables of their own type from what was given. */
static void write_param(CGen *g, PrimFunc *f, const Param *p) {
  if (!c_is_used(g, p->node)) return;
  if (dtype_is_bool(p->node->dtype)) c_line(g, "const bool %s = %s != 0;", p->var->name, p->given);
  if (!p->begin) return;
  bool distinct = dict_get_int(f->attrs, "tir.noalias", 1) != 0;
  const char *type = c_pointer_to(g, p->var), *constant = p->var->is_const ? "const " : "";
  c_line(g, "%s%s%s%s = (%s%s)(%s + %s);", constant, type, distinct ? "restrict " : "",
         p->var->name, constant, type, p->given, p->begin);
}

/* ---- memory that threads share ---- */

static void declare_shared(CGen *g, CVar *v, int64_t count, void *unused) {
  (void)unused;
  v->align = 64;
  c_line(g, "__local %s %s[%lld] __attribute__((aligned(64)));", c_type_in_memory(g, v->elem),
         v->name, (long long)count);
}

/* ---- the kernel ---- */

/* Blocks of a known size may be compiled for it. */
static const char *block_size(PrimFunc *f) {
  int64_t size[3];
  if (!c_block_size(f, size)) return "";
  return str_format("__attribute__((reqd_work_group_size(%lld, %lld, %lld)))\n", (long long)size[0],
                    (long long)size[1], (long long)size[2]);
}

static void begin(CGen *g, PrimFunc *f, void *params) {
  ParamVec_ given = {0};
  for each (Node *, p, &f->params) vec_push(&given, param_new(g, f, *p));
  for (int i = 0; i < given.len; i++)
    str_printf(params, "%s%s", i ? ", " : "", param_text(g, &given.at[i]));
  for each (Param, p, &given) write_param(g, f, p);
  c_each_shared(g, f->body, declare_shared, NULL);
}

void opencl_kernel(CGen *g, const char *name, PrimFunc *f) {
  Str params = {0};
  const char *lines = c_kernel(g, name, f, begin, &params);
  str_printf(&g->functions, "\n__kernel %svoid %s(%s) {\n%s}\n", block_size(f), name,
             str_text(&params), lines);
}
