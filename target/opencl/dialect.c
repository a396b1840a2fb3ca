/* dialect.c -- what OpenCL C spells in its own way: address spaces, threads, barriers, bits. */
#include "target/opencl/opencl.h"

static const char *space(const char *scope) {
  if (!scope || !*scope || str_same(scope, "global")) return "__global ";
  return str_begins(scope, "shared") ? "__local " : "__private ";
}

/* as_int, as_uint, as_float, ...: as what the types of stdint.h are there. */
static const char *bits(DataType to, DataType from) {
  (void)from;
  if (to.code == DTYPE_FLOAT && to.bits >= 32) return to.bits == 32 ? "as_float" : "as_double";
  const char *sign = to.code == DTYPE_INT ? "" : "u";
  const char *size = to.bits == 64   ? "long"
                     : to.bits == 32 ? "int"
                     : to.bits == 16 ? "short"
                                     : "char";
  return str_format("as_%s%s", sign, size);
}

/* ---- threads ---- */

static bool attribute(CGen *g, AttrStmt *n) {
  static const char *const axes[] = {"x", "y", "z"};
  if (!str_same(n->key, "thread_extent") || !IS(IterVar, n->subject)) return false;
  IterVar *iter = AS(IterVar, n->subject);
  bool is_block = str_begins(iter->thread_tag, "blockIdx.");
  const char *axis = iter->thread_tag + strlen(is_block ? "blockIdx." : "threadIdx.");
  int64_t extent;
  int number = 0;
  while (number < 2 && !str_same(axis, axes[number])) number++;
  bool known = expr_is_const_int(n->value, &extent);
  range_bind(&g->f->ranges, iter->var, (Range64){0, known ? extent - 1 : INT32_MAX});
  CVar *v = c_bind(g, iter->var);
  if (c_is_used(g, iter->var))
    c_line(g, "const %s = (%s)%s(%d);", c_declare(iter->var, v), c_type(iter->var->dtype),
           is_block ? "get_group_id" : "get_local_id", number);
  return true;
}

/* ---- memory ---- */

/* What threads share was declared at the head of the kernel, where OpenCL wants it. */
static void allocate(CGen *g, Allocate *n) {
  Var *var = AS(Var, n->var);
  DataType elem = dtype_element(n->elem);
  if (var->scope && str_begins(var->scope, "shared")) return;
  int64_t count = n->elem.lanes, extent;
  for each (Node *, e, &n->extents) {
    if (!expr_is_const_int(*e, &extent))
      error_raisef("CompileError", n->node.span,
                   "a thread can't allocate '%s' of %s elements: its size must be a constant",
                   var->name, ir_print(*e, NULL));
    count *= extent;
  }
  CVar *v = c_bind(g, n->var);
  v->elem = elem;
  v->space = "__private ";
  c_line(g, "%s%s[%lld];", c_type_in_memory(elem), str_format(" %s", v->name),
         (long long)(count ? count : 1));
}

/* ---- calls ---- */

static bool is_text(Node *n, const char *text) {
  return IS(StringImm, n) && str_same(AS(StringImm, n)->value, text);
}

/* Threads of a warp of one need not wait for each other. */
static CText barrier(CGen *g, Call *n) {
  Node *scope = n->args.len ? n->args.at[0] : NULL;
  bool is_warp = is_text(scope, "warp");
  if (is_warp && target_option_int(g->target, "thread_warp_size") > 1)
    c_unsupported(g, &n->node, "a barrier of a warp");
  if (!is_warp)
    c_line(g, "barrier(%s);",
           is_text(scope, "global") ? "CLK_GLOBAL_MEM_FENCE" : "CLK_LOCAL_MEM_FENCE");
  return (CText){"", BINDS_ATOM};
}

static bool call(CGen *g, Call *n, const char *name, CText *out) {
  static const char *const of_hosts[] = {"call_extern",      "call_pure_extern",     "call_packed",
                                         "call_cpacked",     "tvm_throw_last_error", "ret",
                                         "tvm_stack_alloca", "tvm_stack_make_shape"};
  if (str_same(name, "tvm_storage_sync")) return *out = barrier(g, n), true;
  if (str_same(name, "tvm_thread_invariant")) return *out = c_expr(g, n->args.at[0]), true;
  for (size_t i = 0; i < sizeof of_hosts / sizeof *of_hosts; i++)
    if (str_same(name, of_hosts[i])) c_unsupported(g, &n->node, str_format("T.%s", name));
  return false;
}

const CDialect opencl_dialect = {.name = "OpenCL C",
                                 .has_overloads = true,
                                 .space = space,
                                 .bits = bits,
                                 .call = call,
                                 .attribute = attribute,
                                 .allocate = allocate};
