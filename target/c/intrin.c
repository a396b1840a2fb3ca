/* intrin.c -- the other builtins of intrin.def: one table from names to functions.
 *
 * Mathematics is in math.c. What is in neither table has no meaning in C. */
#include "target/c/c.h"

typedef CText Handler(CGen *g, Call *n);

static const CText nothing = {"", BINDS_ATOM};

/* The arguments, in the dtype of the call. */
static void same(CGen *g, Call *n, CText *out) {
  c_operands(g, n->args.len, n->args.at, out);
  for (int i = 0; i < n->args.len; i++)
    out[i] = c_cast(g, out[i], n->args.at[i]->dtype, n->node.dtype);
}

static const char *text_arg(Call *n) {
  if (n->args.len && IS(StringImm, n->args.at[0])) return AS(StringImm, n->args.at[0])->value;
  error_raisef("CompileError", n->node.span, "T.%s needs a name as its first argument",
               AS(Op, n->op)->name + strlen("tir."));
}

/* ---- bits ---- */

/* An integer of less than 8 bits keeps to its range. */
static CText in_range(CGen *g, DataType t, CText v) {
  return dtype_is_int(t) && t.bits < 8 ? c_fit(g, t, v.at) : v;
}

static CText shift(CGen *g, Call *n, const char *helper) {
  CText v[2];
  same(g, n, v);
  const char *name = c_helper(g, helper, n->node.dtype, VOID_TYPE);
  return in_range(g, n->node.dtype, c_text(BINDS_ATOM, "%s(%s, %s)", name, v[0].at, v[1].at));
}

static CText do_shift_left(CGen *g, Call *n) { return shift(g, n, "shl"); }
static CText do_shift_right(CGen *g, Call *n) { return shift(g, n, "shr"); }

/* Of small types, C makes an int. */
static CText bitwise(CGen *g, Call *n, const char *op) {
  DataType t = n->node.dtype;
  CText v[2];
  same(g, n, v);
  CText out =
      c_text(BINDS_LOGIC, "%s %s %s", c_within(v[0], BINDS_UNARY), op, c_within(v[1], BINDS_UNARY));
  if (t.bits >= 32 || dtype_is_bool(t)) return out;
  return c_text(BINDS_UNARY, "(%s)(%s)", c_type(g, t), out.at);
}

static CText do_and(CGen *g, Call *n) { return bitwise(g, n, "&"); }
static CText do_or(CGen *g, Call *n) { return bitwise(g, n, "|"); }
static CText do_xor(CGen *g, Call *n) { return bitwise(g, n, "^"); }

static CText do_not(CGen *g, Call *n) {
  DataType t = n->node.dtype;
  const char *v = c_within(c_expr(g, n->args.at[0]), BINDS_UNARY);
  if (dtype_is_bool(t)) return c_text(BINDS_UNARY, "!%s", v);
  CText out = c_text(BINDS_UNARY, "~%s", v);
  return t.bits < 32 ? c_fit(g, t, out.at) : out;
}

static CText count_bits(CGen *g, Call *n, const char *helper) {
  DataType t = n->args.at[0]->dtype, bits = DTYPE_OF(UINT, t.bits);
  CText v = c_cast(g, c_expr(g, n->args.at[0]), t, bits);
  return c_text(BINDS_ATOM, "%s(%s)", c_helper(g, helper, bits, VOID_TYPE), v.at);
}

static CText do_popcount(CGen *g, Call *n) {
  return c_cast(g, count_bits(g, n, "popcount"), DTYPE_OF(UINT, n->args.at[0]->dtype.bits),
                n->node.dtype);
}

static CText do_clz(CGen *g, Call *n) {
  return c_cast(g, count_bits(g, n, "clz"), INT32, n->node.dtype);
}

/* Small floats are their bits. */
static bool is_integer_in_c(DataType t) { return !dtype_is_float(t) || t.bits < 32; }

static CText do_reinterpret(CGen *g, Call *n) {
  Node *value = n->args.at[0];
  DataType from = value->dtype, to = n->node.dtype;
  if (IS(StringImm, value) || IS(GlobalVar, value)) from = HANDLE;
  if (from.bits != to.bits || dtype_is_bool(from) || dtype_is_bool(to))
    error_raisef("CompileError", n->node.span, "T.reinterpret: %s and %s differ in size",
                 dtype_text(to), dtype_text(from));
  CText v = c_expr(g, value);
  if (dtype_is_handle(from)) {
    v = c_cast(g, v, from, INT64);
    from = INT64;
  }
  DataType bits = dtype_is_handle(to) ? INT64 : to;
  if (!is_integer_in_c(from) || !is_integer_in_c(bits))
    v = c_text(BINDS_ATOM, "%s(%s)", c_bits_function(g, bits, from), v.at);
  else if (!str_same(c_type(g, from), c_type(g, bits))) v = c_fit(g, bits, v.at);
  return c_cast(g, v, bits, to);
}

static CText do_q_multiply_shift(CGen *g, Call *n) {
  CText v[4];
  c_operands(g, 4, n->args.at, v);
  for (int i = 0; i < 4; i++) v[i] = c_cast(g, v[i], n->args.at[i]->dtype, INT64);
  const char *helper = c_helper(g, "q_multiply_shift", INT64, VOID_TYPE);
  return c_cast(g, c_text(BINDS_ATOM, "%s(%s)", helper, c_join(4, v)), INT64, n->node.dtype);
}

/* ---- floats ---- */

/* An integer is a finite number. */
static CText float_class(CGen *g, Call *n, const char *helper) {
  DataType t = n->args.at[0]->dtype;
  CText v = c_expr(g, n->args.at[0]);
  if (!dtype_is_float(t)) return c_int(g, BOOL, str_same(helper, "isfinite"), true);
  return c_text(BINDS_ATOM, "%s(%s)", c_helper(g, helper, c_compute(t), VOID_TYPE),
                c_widen(g, v, t).at);
}

static CText do_isnan(CGen *g, Call *n) { return float_class(g, n, "isnan"); }
static CText do_isinf(CGen *g, Call *n) { return float_class(g, n, "isinf"); }
static CText do_isfinite(CGen *g, Call *n) { return float_class(g, n, "isfinite"); }

static void check_float(Call *n, const char *name) {
  if (!dtype_is_float(n->node.dtype))
    error_raisef("CompileError", n->node.span, "T.%s needs a float, but got %s", name,
                 dtype_text(n->node.dtype));
}

/* The exponent is an integer, or a float that holds one. */
static CText do_ldexp(CGen *g, Call *n) {
  DataType t = n->node.dtype;
  CText v[2];
  check_float(n, "ldexp");
  c_operands(g, 2, n->args.at, v);
  v[0] = c_widen(g, c_cast(g, v[0], n->args.at[0]->dtype, t), t);
  v[1] = c_cast(g, v[1], n->args.at[1]->dtype, INT32);
  return c_narrow(g, c_text(BINDS_ATOM, "ldexp%s(%s)", c_suffix(g, t), c_join(2, v)), t);
}

static CText do_nextafter(CGen *g, Call *n) {
  DataType t = n->node.dtype;
  CText v[2];
  check_float(n, "nextafter");
  same(g, n, v);
  const char *by = lowered_is_small_float(t) ? c_helper(g, "nextafter", t, VOID_TYPE)
                                             : c_libm(g, "nextafter", t);
  return c_text(BINDS_ATOM, "%s(%s)", by, c_join(2, v));
}

/* ---- conditions ---- */

static CText do_if_then_else(CGen *g, Call *n) {
  CText v = c_choice(g, n->args.at[0], n->args.at[1], n->args.at[2]);
  return dtype_is_void(n->node.dtype) ? nothing : v;
}

static CText do_invariant(CGen *g, Call *n) { return c_expr(g, n->args.at[0]); }
static CText do_likely(CGen *g, Call *n) { return c_condition(g, n->args.at[0]); }

/* C can't be told; the condition is looked at for the sake of what it names. */
static CText do_assume(CGen *g, Call *n) {
  Node *cond = n->args.at[0];
  if (expr_effect(cond) == EFFECT_PURE) c_mark_used(g, cond, c_condition(g, cond));
  return nothing;
}

/* Of a profile: there is no handler. */
static CText do_mark(CGen *g, Call *n) { return (void)g, (void)n, nothing; }

static CText do_undef(CGen *g, Call *n) { return (void)g, c_int(g, n->node.dtype, 0, true); }

/* ---- pointers ---- */

static CText do_isnullptr(CGen *g, Call *n) {
  return c_text(BINDS_COMPARE, "%s == NULL", c_within(c_expr(g, n->args.at[0]), BINDS_ADD));
}

static CText do_address_of(CGen *g, Call *n) {
  Node *of = n->args.at[0];
  if (IS(GlobalVar, of)) return c_expr(g, of);
  if (!IS(BufferLoad, of))
    error_raisef("CompileError", n->node.span, "T.address_of needs an element of a buffer");
  Node *index = AS(BufferLoad, of)->indices.at[0];
  return c_address(g, AS(BufferLoad, of)->buffer, IS(Ramp, index) ? AS(Ramp, index)->base : index);
}

/* Standard C can't ask for it; the indices are looked at for the sake of what they name. */
static CText do_prefetch(CGen *g, Call *n) {
  if (!IS(BufferRegion, n->args.at[0]))
    error_raisef("CompileError", n->node.span, "T.prefetch needs a region of a buffer");
  BufferRegion *r = AS(BufferRegion, n->args.at[0]);
  Node *min = AS(Range, r->region.at[0])->min;
  if (expr_effect(min) == EFFECT_PURE) c_mark_used(g, min, c_expr(g, min));
  return nothing;
}

/* (a value of the element type, pointer, offset in elements, extent, r/w mask) */
static CText do_access_ptr(CGen *g, Call *n) {
  Node *pointer = n->args.at[1];
  DataType elem = IS(Var, pointer) ? AS(Var, pointer)->elem : VOID_TYPE;
  if (dtype_is_void(elem)) elem = n->args.at[0]->dtype;
  if (IS(Var, n->args.at[3])) c_mark_used(g, n->args.at[3], c_expr(g, n->args.at[3]));
  CText at = c_element_pointer(g, pointer, elem, n->args.at[2]);
  return c_text(BINDS_UNARY, "(void *)%s", c_within(at, BINDS_ATOM));
}

/* Slots of 8 bytes (values, dims), 4 bytes (type codes) or of a DLTensor. */
static CText do_stack_alloca(CGen *g, Call *n) {
  const char *kind = text_arg(n);
  int64_t count, nbytes = str_same(kind, "arg_tcode") ? 4 : str_same(kind, "array") ? 48 : 8;
  if (!expr_is_const_int(n->args.at[1], &count) || count < 0 || count > 65536)
    error_raisef("CompileError", n->node.span, "T.tvm_stack_alloca needs a constant number");
  const char *name = c_temporary(g);
  c_line(g, "_Alignas(16) uint8_t %s[%lld];", name, (long long)((count ? count : 1) * nbytes));
  return c_text(BINDS_UNARY, "(void *)%s", name);
}

static CText do_stack_make_shape(CGen *g, Call *n) {
  int count = n->args.len;
  CText *v = NEW_ARRAY(CText, count + 1);
  c_operands(g, count, n->args.at, v);
  for (int i = 0; i < count; i++) v[i] = c_cast(g, v[i], n->args.at[i]->dtype, INT64);
  const char *name = c_temporary(g);
  c_line(g, "int64_t %s[] = {%s};", name, count ? c_join(count, v) : "0");
  return c_text(BINDS_UNARY, "(void *)%s", name);
}

static CText do_stack_make_array(CGen *g, Call *n) {
  CText v[6];
  c_operands(g, 6, n->args.at, v);
  for (int i = 0; i < 6; i++)
    if (!dtype_is_handle(n->args.at[i]->dtype) && i != 4)
      v[i] = c_cast(g, v[i], n->args.at[i]->dtype, INT64);
  const char *name = c_temporary(g);
  c_line(
      g,
      "uint64_t %s[] = {(uintptr_t)%s, %d, UINT64_C(%llu), (uintptr_t)%s, (uintptr_t)%s, %s * %d};",
      name, v[0].at, LOWERED_ON_CPU, (unsigned long long)lowered_array_type(n), v[1].at, v[2].at,
      v[5].at, lowered_array_nbytes(n));
  return c_text(BINDS_UNARY, "(void *)%s", name);
}

/* ---- control ---- */

static CText do_ret(CGen *g, Call *n) { return c_ret(g, n), nothing; }

static CText leave_loop(CGen *g, Call *n, const char *word) {
  if (!g->f->loops.len)
    error_raisef("CompileError", n->node.span, "T.%s_loop outside a loop", word);
  bool splits = g->f->sort == CFUNC_PARALLEL_BODY && g->f->loops.len == 1;
  if (splits && str_same(word, "break"))
    error_raisef("CompileError", n->node.span, "T.break_loop can't leave a parallel loop");
  c_free_heap(g, vec_last(&g->f->loops));
  c_line(g, "%s;", word);
  return nothing;
}

static CText do_break_loop(CGen *g, Call *n) { return leave_loop(g, n, "break"); }
static CText do_continue_loop(CGen *g, Call *n) { return leave_loop(g, n, "continue"); }

static CText do_throw(CGen *g, Call *n) {
  c_fail(g);
  return dtype_is_void(n->node.dtype) ? nothing : c_int(g, n->node.dtype, 0, true);
}

static CText do_call_extern(CGen *g, Call *n) { return c_extern(g, n, text_arg(n)); }
static CText do_call_packed(CGen *g, Call *n) { return c_call_packed(g, n, text_arg(n), false); }
static CText do_call_cpacked(CGen *g, Call *n) { return c_call_packed(g, n, text_arg(n), true); }

static const struct {
  const char *name;
  Handler *handler;
} handlers[] = {
    {"isnan", do_isnan},
    {"isinf", do_isinf},
    {"isfinite", do_isfinite},
    {"isnullptr", do_isnullptr},
    {"nextafter", do_nextafter},
    {"ldexp", do_ldexp},
    {"shift_left", do_shift_left},
    {"shift_right", do_shift_right},
    {"bitwise_and", do_and},
    {"bitwise_or", do_or},
    {"bitwise_xor", do_xor},
    {"bitwise_not", do_not},
    {"popcount", do_popcount},
    {"clz", do_clz},
    {"q_multiply_shift", do_q_multiply_shift},
    {"if_then_else", do_if_then_else},
    {"likely", do_likely},
    {"tvm_thread_invariant", do_invariant},
    {"reinterpret", do_reinterpret},
    {"assume", do_assume},
    {"start_profile_intrinsic", do_mark},
    {"end_profile_intrinsic", do_mark},
    {"undef", do_undef},
    {"ret", do_ret},
    {"break_loop", do_break_loop},
    {"continue_loop", do_continue_loop},
    {"address_of", do_address_of},
    {"prefetch", do_prefetch},
    {"tvm_access_ptr", do_access_ptr},
    {"call_extern", do_call_extern},
    {"call_pure_extern", do_call_extern},
    {"call_packed", do_call_packed},
    {"call_cpacked", do_call_cpacked},
    {"tvm_stack_alloca", do_stack_alloca},
    {"tvm_stack_make_shape", do_stack_make_shape},
    {"tvm_stack_make_array", do_stack_make_array},
    {"tvm_throw_last_error", do_throw},
};

CText c_call(CGen *g, Call *n) {
  if (IS(GlobalVar, n->op)) return c_kernel_call(g, n);
  const Intrin *intrin = intrin_of(n->op);
  CText v;
  bool is_family = !intrin && g->dialect->call && family_name(n->op);
  if (is_family && g->dialect->call(g, n, family_name(n->op), &v)) return v;
  if (!intrin) c_unsupported(g, &n->node, "this callee");
  if (intrin->args >= 0 && n->args.len != intrin->args)
    error_raisef("CompileError", n->node.span, "T.%s takes %d arguments, %d given", intrin->name,
                 intrin->args, n->args.len);
  if (g->dialect->call && g->dialect->call(g, n, intrin->name, &v)) return v;
  for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
    if (str_same(handlers[i].name, intrin->name)) return handlers[i].handler(g, n);
  if (c_math(g, n, intrin->name, &v)) return v;
  c_unsupported(g, &n->node, str_format("T.%s", intrin->name));
}
