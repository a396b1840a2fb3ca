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

static const char *number(bool is_block, char axis) {
  return str_format("%s(%d)", is_block ? "get_group_id" : "get_local_id", axis - 'x');
}

static bool attribute(CGen *g, AttrStmt *n) { return c_thread(g, n, number); }

/* ---- memory ---- */

/* What threads share was declared at the head of the kernel, where OpenCL wants it. */
static void allocate(CGen *g, Allocate *n) {
  Var *var = AS(Var, n->var);
  DataType elem = dtype_element(n->elem);
  if (var->scope && str_begins(var->scope, "shared")) return;
  int64_t count = c_constant_size(n);
  CVar *v = c_bind(g, n->var);
  v->elem = elem;
  v->space = "__private ";
  c_line(g, "%s%s[%lld];", c_type_in_memory(g, elem), str_format(" %s", v->name), (long long)count);
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
  if (str_same(name, "tvm_storage_sync")) return *out = barrier(g, n), true;
  if (str_same(name, "tvm_thread_invariant")) return *out = c_expr(g, n->args.at[0]), true;
  if (str_same(name, "call_extern") || str_same(name, "call_pure_extern"))
    c_unsupported(g, &n->node, str_format("T.%s", name));
  c_refuse_of_hosts(g, n, name);
  return false;
}

const CDialect opencl_dialect = {.name = "OpenCL C",
                                 .has_overloads = true,
                                 .function = "static inline ",
                                 .space = space,
                                 .bits = bits,
                                 .call = call,
                                 .attribute = attribute,
                                 .allocate = allocate};
