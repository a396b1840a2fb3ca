/* call.c -- the builtins that only GPUs have: barriers, exchanges within a warp, atomics. */
#include "target/cuda/cuda.h"
#include "target/atomic.h"

static const CText nothing = {"", BINDS_ATOM};

static CText barrier(CGen *g, Call *n) {
  Node *scope = n->args.len ? n->args.at[0] : NULL;
  bool is_warp = IS(StringImm, scope) && str_same(AS(StringImm, scope)->value, "warp");
  c_line(g, is_warp ? "__syncwarp();" : "__syncthreads();");
  return nothing;
}

/* ---- exchanges within a warp ---- */

/* (mask, value, which, width, warp_size) */
static CText shuffle(CGen *g, Call *n, const char *function) {
  int64_t width;
  CText v[3];
  DataType t = n->args.at[1]->dtype;
  if (!expr_is_const_int(n->args.at[3], &width) || width < 1 || width > 32 || width & (width - 1))
    error_raisef("CompileError", n->node.span,
                 "the width of an exchange must be a power of two up to 32, but is %s",
                 ir_print(n->args.at[3], NULL));
  c_operands(g, 3, n->args.at, v);
  v[0] = c_cast(g, v[0], n->args.at[0]->dtype, DTYPE_OF(UINT, 32));
  v[2] = c_cast(g, v[2], n->args.at[2]->dtype, INT32);
  if (IS(IntImm, n->args.at[1])) v[1] = c_int(g, t, AS(IntImm, n->args.at[1])->value, true);
  CText out = c_text(BINDS_ATOM, "%s(%s, %s, %s, %lld)", function, v[0].at,
                     t.bits < 32 ? str_format("(int)%s", c_within(v[1], BINDS_UNARY)) : v[1].at,
                     v[2].at, (long long)width);
  if (t.bits < 32) out = c_text(BINDS_UNARY, "(%s)%s", c_type(g, t), out.at);
  return c_name_it(g, out, t);
}

/* ---- atomics ---- */

static CText as(const char *type, CText v) {
  return c_text(BINDS_UNARY, "(%s)%s", type, c_within(v, BINDS_UNARY));
}

/* What CUDA's functions are declared for: unsigned words, signed where the order counts. */
static const char *word_type(DataType t, AtomicOp op) {
  bool is_signed = t.code == DTYPE_INT && (op == ATOMIC_MAX || op == ATOMIC_MIN);
  return str_format("%s%s", is_signed ? "" : "unsigned ", t.bits == 64 ? "long long" : "int");
}

/* Of integers by unsigned arithmetic, which wraps. */
static CText negative(DataType t, CText v) {
  if (dtype_is_float(t)) return c_text(BINDS_UNARY, "-%s", c_within(v, BINDS_ATOM));
  return c_text(BINDS_ADD, "0 - %s", as(word_type(t, ATOMIC_SUB), v).at);
}

static CText by_words(CGen *g, const Atomic *a, const char *function, const char *at, CText value,
                      CText swapped) {
  DataType t = a->value->dtype, bits = DTYPE_OF(UINT, t.bits);
  const char *type = word_type(t, a->op);
  CText args[] = {value, swapped};
  Str s = {0};
  for (int i = 0; i < (a->swapped ? 2 : 1); i++) {
    if (dtype_is_float(t))
      args[i] = c_text(BINDS_ATOM, "%s(%s)", c_bits_function(g, bits, t), args[i].at);
    str_printf(&s, ", %s", as(type, args[i]).at);
  }
  CText out = c_text(BINDS_ATOM, "%s((%s *)%s%s)", function, type, at, str_text(&s));
  if (!dtype_is_float(t)) return as(c_type(g, t), out);
  return c_text(BINDS_ATOM, "%s(%s)", c_bits_function(g, t, bits), out.at);
}

static CText atomic(CGen *g, Call *n, const Atomic *a) {
  static const char *const functions[] = {
      [ATOMIC_ADD] = "atomicAdd", [ATOMIC_SUB] = "atomicAdd", [ATOMIC_EXCHANGE] = "atomicExch",
      [ATOMIC_AND] = "atomicAnd", [ATOMIC_OR] = "atomicOr",   [ATOMIC_XOR] = "atomicXor",
      [ATOMIC_MAX] = "atomicMax", [ATOMIC_MIN] = "atomicMin", [ATOMIC_CAS] = "atomicCAS"};
  atomic_check(n, a);
  Node *parts[] = {a->pointer, a->value, a->swapped};
  CText v[3] = {0};
  DataType t = a->value->dtype;
  bool is_float = dtype_is_float(t);
  c_operands(g, a->swapped ? 3 : 2, parts, v);
  if (a->swapped) v[2] = c_cast(g, v[2], a->swapped->dtype, t);
  if (a->op == ATOMIC_SUB) v[1] = negative(t, v[1]);
  const char *at = c_within(v[0], BINDS_UNARY), *function = functions[a->op];
  CText old;
  if (is_float && (a->op == ATOMIC_MAX || a->op == ATOMIC_MIN))
    function = c_helper(g, a->op == ATOMIC_MAX ? "atomic_max" : "atomic_min", t, VOID_TYPE);
  bool takes_floats = is_float && a->op != ATOMIC_EXCHANGE && a->op != ATOMIC_CAS &&
                      a->op != ATOMIC_AND && a->op != ATOMIC_OR && a->op != ATOMIC_XOR;
  if (takes_floats)
    old = c_text(BINDS_ATOM, "%s((%s *)%s, %s)", function, c_type(g, t), at, v[1].at);
  else old = by_words(g, a, function, at, v[1], v[2]);
  return c_cast(g, c_name_it(g, old, t), t, n->node.dtype);
}

/* ---- the table ---- */

static const struct {
  const char *name, *function;
} shuffles[] = {{"tvm_warp_shuffle", "__shfl_sync"},
                {"tvm_warp_shuffle_up", "__shfl_up_sync"},
                {"tvm_warp_shuffle_down", "__shfl_down_sync"},
                {"tvm_warp_shuffle_xor", "__shfl_xor_sync"}};

bool cuda_call(CGen *g, Call *n, const char *name, CText *out) {
  Atomic a;
  if (atomic_of(n, &a)) return *out = atomic(g, n, &a), true;
  for (size_t i = 0; i < sizeof shuffles / sizeof *shuffles; i++)
    if (str_same(shuffles[i].name, name)) return *out = shuffle(g, n, shuffles[i].function), true;
  if (str_same(name, "tvm_storage_sync")) return *out = barrier(g, n), true;
  if (str_same(name, "tvm_warp_activemask"))
    return *out = c_text(BINDS_ATOM, "__activemask()"), true;
  if (str_same(name, "thread_return")) return c_line(g, "return;"), *out = nothing, true;
  if (str_same(name, "call_extern") || str_same(name, "call_pure_extern")) atomic_raise_other(n);
  c_refuse_of_hosts(g, n, name);
  return *out = nothing, cuda_ptx_call(g, n, name);
}
