/* call.c -- builtins that WGSL spells in its own way: bits; and what it lacks. */
#include "target/webgpu/webgpu.h"

/* ---- bits ---- */

/* The arguments, in the dtype of the call. */
static void same(CGen *g, Call *n, CText *out) {
  c_operands(g, n->args.len, n->args.at, out);
  for (int i = 0; i < n->args.len; i++)
    out[i] = c_cast(g, out[i], n->args.at[i]->dtype, n->node.dtype);
}

static CText by_helper(CGen *g, Call *n, const char *helper) {
  CText v[2];
  same(g, n, v);
  return c_text(BINDS_ATOM, "%s(%s)", c_helper(g, helper, n->node.dtype, VOID_TYPE),
                c_join(n->args.len, v));
}

static CText bitwise(CGen *g, Call *n, const char *op) {
  CText v[2];
  same(g, n, v);
  return c_text(BINDS_LOGIC, "%s %s %s", c_within(v[0], BINDS_UNARY), op,
                c_within(v[1], BINDS_UNARY));
}

static CText bitwise_not(CGen *g, Call *n, const char *op) {
  DataType t = n->node.dtype;
  CText v = c_expr(g, n->args.at[0]);
  bool is_bool = dtype_is_bool(t);
  return wgsl_fit(g, t, c_text(BINDS_UNARY, "%s%s", is_bool ? "!" : op, c_within(v, BINDS_UNARY)));
}

static CText count_bits(CGen *g, Call *n, const char *helper) {
  DataType t = n->args.at[0]->dtype, bits = DTYPE_OF(UINT, t.bits);
  CText v = c_cast(g, c_expr(g, n->args.at[0]), t, bits);
  v = c_text(BINDS_ATOM, "%s(%s)", c_helper(g, helper, bits, VOID_TYPE), v.at);
  return c_cast(g, v, INT32, n->node.dtype);
}

/* Small floats are their bits; all of 32 bits are each other's by bitcast. */
static CText reinterpret(CGen *g, Call *n, const char *unused) {
  (void)unused;
  Node *value = n->args.at[0];
  DataType from = value->dtype, to = n->node.dtype;
  if (from.bits != to.bits || dtype_is_bool(from) || dtype_is_bool(to))
    error_raisef("CompileError", n->node.span, "T.reinterpret: %s and %s differ in size",
                 dtype_text(to), dtype_text(from));
  CText v = c_expr(g, value);
  if (!str_same(c_type(g, from), c_type(g, to)))
    v = c_text(BINDS_ATOM, "bitcast<%s>(%s)", c_type(g, to), v.at);
  return wgsl_fit(g, to, v);
}

/* ---- floats ---- */

static CText ldexp_of(CGen *g, Call *n, const char *helper) {
  DataType t = n->node.dtype;
  CText v[2];
  c_operands(g, 2, n->args.at, v);
  v[0] = c_widen(g, c_cast(g, v[0], n->args.at[0]->dtype, t), t);
  v[1] = c_cast(g, v[1], n->args.at[1]->dtype, INT32);
  return c_narrow(
      g, c_text(BINDS_ATOM, "%s(%s)", c_helper(g, helper, FLOAT32, VOID_TYPE), c_join(2, v)), t);
}

/* (x, y, q, s) in int64 */
static CText q_multiply_shift(CGen *g, Call *n, const char *helper) {
  CText v[4];
  c_operands(g, 4, n->args.at, v);
  for (int i = 0; i < 4; i++) v[i] = c_cast(g, v[i], n->args.at[i]->dtype, i < 2 ? INT64 : INT32);
  CText out = c_text(BINDS_ATOM, "%s(%s)", c_helper(g, helper, INT64, VOID_TYPE), c_join(4, v));
  return c_cast(g, out, INT64, n->node.dtype);
}

/* ---- the table ---- */

static CText refuse(CGen *g, Call *n, const char *name) {
  c_unsupported(g, &n->node, str_format("T.%s", name));
}

static const struct {
  const char *name;
  CText (*write)(CGen *g, Call *n, const char *with);
  const char *with;
} calls[] = {{"shift_left", by_helper, "shl"},
             {"shift_right", by_helper, "shr"},
             {"bitwise_and", bitwise, "&"},
             {"bitwise_or", bitwise, "|"},
             {"bitwise_xor", bitwise, "^"},
             {"bitwise_not", bitwise_not, "~"},
             {"popcount", count_bits, "popcount"},
             {"clz", count_bits, "clz"},
             {"reinterpret", reinterpret, ""},
             {"nextafter", by_helper, "nextafter"},
             {"ldexp", ldexp_of, "ldexp"},
             {"q_multiply_shift", q_multiply_shift, "q_multiply_shift"},
             {"address_of", refuse, "address_of"},
             {"tvm_access_ptr", refuse, "tvm_access_ptr"}};

bool wgsl_call(CGen *g, Call *n, const char *name, CText *out) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (str_same(calls[i].name, name)) return *out = calls[i].write(g, n, calls[i].with), true;
  return c_device_call(g, n, name, out);
}
