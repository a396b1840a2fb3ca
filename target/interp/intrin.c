/* intrin.c -- the builtins of intrin.def but mathematics and calls: one table from names to
 * functions. What is in no table has no meaning on a CPU. */
#include "target/interp/interp.h"
#include "target/lowered.h"
#include <math.h>

const char *compile_text_arg(Compiler *c, Call *n) {
  if (n->args.len && IS(StringImm, n->args.at[0])) return AS(StringImm, n->args.at[0])->value;
  fault(c->span, "T.%s needs a name as its first argument", AS(Op, n->op)->name + strlen("tir."));
}

/* ---- bits ---- */

static int64_t shift_count(const Code *c, Scalar v) {
  if (v.i >= 0 && v.i < c->t.bits) return v.i;
  fault(c->span, "a shift of %s by %ld: the count must be from 0 to %d", dtype_text(c->t),
        (long)v.i, c->t.bits - 1);
}

static Scalar wrapped(const Code *c, uint64_t v) {
  return scalar_int(dtype_wrap_int(c->t, (int64_t)v));
}
static Scalar shift_left(const Code *c, const Scalar *x) {
  return wrapped(c, (uint64_t)x[0].i << shift_count(c, x[1]));
}
static Scalar shift_right(const Code *c, const Scalar *x) {
  int64_t n = shift_count(c, x[1]);
  return scalar_int(c->t.code == DTYPE_INT ? x[0].i >> n : (int64_t)((uint64_t)x[0].i >> n));
}
static Scalar bit_and(const Code *c, const Scalar *x) {
  return wrapped(c, (uint64_t)(x[0].i & x[1].i));
}
static Scalar bit_or(const Code *c, const Scalar *x) {
  return wrapped(c, (uint64_t)(x[0].i | x[1].i));
}
static Scalar bit_xor(const Code *c, const Scalar *x) {
  return wrapped(c, (uint64_t)(x[0].i ^ x[1].i));
}
static Scalar bit_not(const Code *c, const Scalar *x) {
  return dtype_is_bool(c->t) ? scalar_int(!x[0].i) : wrapped(c, (uint64_t)~x[0].i);
}

static uint64_t low_bits(DataType t, Scalar v) {
  int bits = dtype_is_bool(t) ? 1 : t.bits;
  return bits >= 64 ? (uint64_t)v.i : (uint64_t)v.i & (((uint64_t)1 << bits) - 1);
}
static Scalar popcount(const Code *c, const Scalar *x) {
  return wrapped(c, (uint64_t)__builtin_popcountll(low_bits(lanewise_type(c, 0), x[0])));
}
static Scalar clz(const Code *c, const Scalar *x) {
  DataType t = lanewise_type(c, 0);
  uint64_t v = low_bits(t, x[0]);
  int bits = dtype_is_bool(t) ? 1 : t.bits;
  return scalar_int(v ? __builtin_clzll(v) - (64 - bits) : bits);
}

/* round(x * y * 2 ** (s - q)) in 64 bits; halves are rounded up. */
static Scalar q_multiply_shift(const Code *c, const Scalar *x) {
  int64_t s = x[3].i, left = s > 0 ? s : 0, right = s > 0 ? 0 : -s;
  right = (right + x[2].i) & 63;
  uint64_t product = ((uint64_t)x[0].i << (left & 63)) * (uint64_t)x[1].i;
  uint64_t half = right ? (uint64_t)1 << (right - 1) : 0;
  return wrapped(c, (uint64_t)((int64_t)(product + half) >> right));
}

/* ---- floats ---- */

static bool is_of_float(const Code *c) { return dtype_is_float(lanewise_type(c, 0)); }
static double as_double(const Code *c, const Scalar *x) {
  return scalar_to_double(lanewise_type(c, 0), x[0]);
}
static Scalar is_nan(const Code *c, const Scalar *x) {
  return scalar_int(is_of_float(c) && isnan(as_double(c, x)));
}
static Scalar is_inf(const Code *c, const Scalar *x) {
  return scalar_int(is_of_float(c) && isinf(as_double(c, x)));
}
static Scalar is_finite(const Code *c, const Scalar *x) {
  return scalar_int(!is_of_float(c) || isfinite(as_double(c, x)));
}

/* The exponent is an integer, or a float that holds one. */
static Scalar do_ldexp(const Code *c, const Scalar *x) {
  int n = (int)x[1].i;
  if (c->t.bits == 64) return (Scalar){.d = ldexp(x[0].d, n)};
  return scalar_from_float(c->t, ldexpf(scalar_to_float(c->t, x[0]), n));
}

/* Floats in order of size have their bits in order: the next one is the next number. */
static Scalar small_nextafter(DataType t, Scalar x, Scalar y) {
  float a = scalar_to_float(t, x), b = scalar_to_float(t, y);
  if (isnan(a) || isnan(b)) return scalar_from_float(t, a + b);
  if (a == b) return y;
  int64_t sign = (int64_t)1 << (t.bits - 1);
  if (a == 0) return scalar_int((y.i & sign) | 1);
  return scalar_int(x.i + ((b > a) == (a > 0) ? 1 : -1));
}
static Scalar do_nextafter(const Code *c, const Scalar *x) {
  if (is_small_float(c->t)) return small_nextafter(c->t, x[0], x[1]);
  if (c->t.bits == 64) return (Scalar){.d = nextafter(x[0].d, x[1].d)};
  return (Scalar){.s = nextafterf(x[0].s, x[1].s)};
}

/* ---- conditions and values ---- */

static Scalar likely(const Code *c, const Scalar *x) {
  (void)c;
  return x[0];
}
static Scalar assume(const Code *c, const Scalar *x) {
  if (!x[0].i) fault(c->span, "what T.assume states does not hold");
  return scalar_int(0);
}
/* Of a profile: there is no handler. */
static Scalar mark(const Code *c, const Scalar *x) {
  (void)c, (void)x;
  return (Scalar){.p = NULL};
}
static Scalar is_null(const Code *c, const Scalar *x) {
  (void)c;
  return scalar_int(!x[0].p);
}

/* Same bits; lanes of other widths go by way of memory. */
typedef struct ReinterpretCode {
  Code code;
  const Code *value;
  Store *store;
  Load *load;
} ReinterpretCode;

static void lanes_reinterpret(const Code *c, Frame *f, Scalar *out) {
  const ReinterpretCode *n = (const ReinterpretCode *)c;
  int from = n->value->t.lanes, size = scalar_nbytes(n->value->t);
  LANES(lanes, from);
  char *bytes = NEW_BYTES(from * size);
  code_lanes(n->value, f, from, lanes);
  for (int i = 0; i < from; i++) n->store(bytes + i * size, lanes[i]);
  for (int i = 0; i < c->t.lanes; i++) out[i] = n->load(bytes + i * scalar_nbytes(c->t));
}

static Scalar eval_reinterpret(const Code *c, Frame *f) {
  Scalar v;
  lanes_reinterpret(c, f, &v);
  return v;
}

static const Code *compile_reinterpret(Compiler *c, Call *n) {
  const Code *value = compile_expr(c, n->args.at[0]);
  DataType from = value->t, to = n->node.dtype;
  bool same_size = from.bits * from.lanes == to.bits * to.lanes && from.bits >= 8 && to.bits >= 8;
  if (!same_size || dtype_is_bool(from) || dtype_is_bool(to))
    fault(c->span, "T.reinterpret: %s and %s differ in size", dtype_text(to), dtype_text(from));
  return &NEW(ReinterpretCode, .code = {eval_reinterpret, lanes_reinterpret, to, c->span},
              .value = value, .store = scalar_store(from), .load = scalar_load(to))
              ->code;
}

static const Code *compile_undef(Compiler *c, Call *n) {
  const Code *zero = code_constant(dtype_element(n->node.dtype), (Scalar){0});
  return code_lanewise(n->node.dtype, c->span, likely, 1, &zero);
}

/* ---- pointers ---- */

static const Code *compile_address_of(Compiler *c, Call *n) {
  Node *of = n->args.at[0];
  if (IS(GlobalVar, of)) return compile_expr(c, of);
  if (!IS(BufferLoad, of)) fault(c->span, "T.address_of needs an element of a buffer");
  return compile_address(c, AS(BufferLoad, of));
}

/* It changes nothing, and may name what is behind the end. */
static const Code *compile_prefetch(Compiler *c, Call *n) {
  if (!IS(BufferRegion, n->args.at[0])) fault(c->span, "T.prefetch needs a region of a buffer");
  return code_constant(INT32, (Scalar){0});
}

static Scalar access_ptr(const Code *c, const Scalar *x) {
  (void)c;
  return (Scalar){.p = (char *)x[0].p + x[1].i * x[2].i};
}

/* (a value of the element type, pointer, offset in elements, extent, r/w mask) */
static const Code *compile_access_ptr(Compiler *c, Call *n) {
  Node *pointer = n->args.at[1];
  DataType elem = IS(Var, pointer) ? AS(Var, pointer)->elem : VOID_TYPE;
  if (dtype_is_void(elem)) elem = n->args.at[0]->dtype;
  const Code *args[] = {compile_expr(c, pointer), compile_as(c, n->args.at[2], INT64),
                        code_constant(INT64, scalar_int(scalar_nbytes(elem) * elem.lanes))};
  return code_lanewise(HANDLE, c->span, access_ptr, 3, args);
}

/* Slots on the stack: memory of the frame. */
typedef struct StackCode {
  Code code;
  CodeVec values; /* int64 */
  int64_t nbytes;
  int memory;
} StackCode;

static Scalar eval_stack(const Code *c, Frame *f) {
  const StackCode *n = (const StackCode *)c;
  Memory *m = frame_memory(f, n->memory, n->nbytes, NULL, c->span);
  for (int i = 0; i < n->values.len; i++) {
    int64_t v = code_eval(n->values.at[i], f).i;
    memcpy(m->lo + i * 8, &v, 8);
    memset(m->shadow + i * 8, 1, 8);
  }
  return (Scalar){.p = m->lo};
}

static const Code *compile_stack_alloca(Compiler *c, Call *n) {
  const char *kind = compile_text_arg(c, n);
  int64_t count, nbytes = str_same(kind, "arg_tcode") ? 4 : str_same(kind, "array") ? 48 : 8;
  if (!expr_is_const_int(n->args.at[1], &count) || count < 0 || count > 65536)
    fault(c->span, "T.tvm_stack_alloca needs a constant number");
  return &NEW(StackCode, .code = {.eval = eval_stack, .t = HANDLE, .span = c->span},
              .nbytes = count * nbytes, .memory = c->program->memory_count++)
              ->code;
}

static const Code *compile_stack_shape(Compiler *c, Call *n) {
  StackCode *code = NEW(StackCode, .code = {.eval = eval_stack, .t = HANDLE, .span = c->span},
                        .nbytes = n->args.len * 8, .memory = c->program->memory_count++);
  for each (Node *, a, &n->args) vec_push(&code->values, compile_as(c, *a, INT64));
  return &code->code;
}

static const Code *compile_word(Compiler *c, Node *n) {
  return dtype_is_handle(n->dtype) ? compile_expr(c, n) : compile_as(c, n, INT64);
}

static const Code *compile_stack_array(Compiler *c, Call *n) {
  StackCode *code = NEW(StackCode, .code = {.eval = eval_stack, .t = HANDLE, .span = c->span},
                        .nbytes = 6 * 8, .memory = c->program->memory_count++);
  Node *bytes = expr_mul(expr_cast(INT64, n->args.at[5], c->span),
                         int_imm(INT64, lowered_array_nbytes(n), c->span));
  vec_push(&code->values, compile_word(c, n->args.at[0]));
  vec_push(&code->values, code_constant(INT64, scalar_int(LOWERED_ON_CPU)));
  vec_push(&code->values, code_constant(INT64, scalar_int((int64_t)lowered_array_type(n))));
  vec_push(&code->values, compile_word(c, n->args.at[1]));
  vec_push(&code->values, compile_word(c, n->args.at[2]));
  vec_push(&code->values, compile_word(c, bytes));
  return &code->code;
}

static Scalar eval_throw(const Code *c, Frame *f) {
  (void)f;
  fault_runtime(c->span);
}

static const Code *compile_throw(Compiler *c, Call *n) {
  return &NEW(StackCode, .code = {.eval = eval_throw, .t = n->node.dtype, .span = c->span})->code;
}

static const Code *compile_low(Compiler *c, Call *n) { return compile_part(c, n, 0); }
static const Code *compile_high(Compiler *c, Call *n) {
  return compile_part(c, n, n->node.dtype.lanes);
}

/* ---- the tables ---- */

/* Lane by lane. Operands are cast to the call's dtype, or have it told in `as`. */
typedef enum { AS_RESULT, AS_GIVEN, AS_BOOL, AS_INT64, SECOND_INT64 } Operands;
static const struct {
  const char *name;
  LaneOp *op;
  Operands as;
  bool floats; /* of floats only */
} lane_rows[] = {
    {"shift_left", shift_left, AS_RESULT, false},
    {"shift_right", shift_right, AS_RESULT, false},
    {"bitwise_and", bit_and, AS_RESULT, false},
    {"bitwise_or", bit_or, AS_RESULT, false},
    {"bitwise_xor", bit_xor, AS_RESULT, false},
    {"bitwise_not", bit_not, AS_RESULT, false},
    {"popcount", popcount, AS_GIVEN, false},
    {"clz", clz, AS_GIVEN, false},
    {"q_multiply_shift", q_multiply_shift, AS_INT64, false},
    {"isnan", is_nan, AS_GIVEN, false},
    {"isinf", is_inf, AS_GIVEN, false},
    {"isfinite", is_finite, AS_GIVEN, false},
    {"ldexp", do_ldexp, SECOND_INT64, true},
    {"nextafter", do_nextafter, AS_RESULT, true},
    {"likely", likely, AS_GIVEN, false},
    {"tvm_thread_invariant", likely, AS_GIVEN, false},
    {"assume", assume, AS_BOOL, false},
    {"start_profile_intrinsic", mark, AS_GIVEN, false},
    {"end_profile_intrinsic", mark, AS_GIVEN, false},
    {"isnullptr", is_null, AS_GIVEN, false},
};

static const struct {
  const char *name;
  const Code *(*compile)(Compiler *c, Call *n);
} call_rows[] = {
    {"reinterpret", compile_reinterpret},
    {"undef", compile_undef},
    {"vectorlow", compile_low},
    {"vectorhigh", compile_high},
    {"vectorcombine", compile_low},
    {"address_of", compile_address_of},
    {"prefetch", compile_prefetch},
    {"tvm_access_ptr", compile_access_ptr},
    {"tvm_stack_alloca", compile_stack_alloca},
    {"tvm_stack_make_shape", compile_stack_shape},
    {"tvm_stack_make_array", compile_stack_array},
    {"tvm_throw_last_error", compile_throw},
    {"call_extern", compile_extern},
    {"call_pure_extern", compile_extern},
    {"call_llvm_intrin", compile_llvm_intrin},
    {"call_llvm_pure_intrin", compile_llvm_intrin},
    {"call_packed", compile_packed_call},
    {"call_cpacked", compile_packed_call},
    {"tvm_warp_shuffle", compile_warp_call},
    {"tvm_warp_shuffle_up", compile_warp_call},
    {"tvm_warp_shuffle_down", compile_warp_call},
    {"tvm_warp_shuffle_xor", compile_warp_call},
    {"tvm_warp_activemask", compile_warp_call},
    {"ptx_cp_async", compile_async},
    {"ptx_commit_group", compile_commit},
    {"ptx_wait_group", compile_wait},
    {"ptx_wgmma_fence", compile_fence},
    {"ptx_wgmma_commit_group", compile_commit},
    {"ptx_wgmma_wait_group", compile_wait},
    {"ptx_wgmma_registers", compile_registers},
};

static const Code *compile_operand(Compiler *c, Call *n, int i, Operands as) {
  switch (as) {
  case AS_GIVEN: return compile_expr(c, n->args.at[i]);
  case AS_BOOL: return compile_condition(c, n->args.at[i]);
  case AS_INT64: return compile_as(c, n->args.at[i], INT64);
  case SECOND_INT64: return compile_as(c, n->args.at[i], i ? INT64 : n->node.dtype);
  default: return compile_as(c, n->args.at[i], n->node.dtype);
  }
}

static const Code *compile_lanewise(Compiler *c, Call *n, LaneOp *op, Operands as) {
  const Code *args[4];
  if (n->args.len > 4) unsupported(c->span, "a builtin of more than four operands");
  for (int i = 0; i < n->args.len; i++) args[i] = compile_operand(c, n, i, as);
  DataType t = n->node.dtype;
  if (n->args.len) t.lanes = args[0]->t.lanes > t.lanes ? args[0]->t.lanes : t.lanes;
  return code_lanewise(t, c->span, op, n->args.len, args);
}

static const Code *compile_intrin(Compiler *c, Call *n, const char *name) {
  DataType t = n->node.dtype;
  for (int i = 0; i < (int)(sizeof lane_rows / sizeof *lane_rows); i++) {
    if (!str_same(lane_rows[i].name, name)) continue;
    if (lane_rows[i].floats && !dtype_is_float(t))
      fault(c->span, "T.%s needs a float, but got %s", name, dtype_text(t));
    return compile_lanewise(c, n, lane_rows[i].op, lane_rows[i].as);
  }
  for (int i = 0; i < (int)(sizeof call_rows / sizeof *call_rows); i++)
    if (str_same(call_rows[i].name, name)) return call_rows[i].compile(c, n);
  LaneOp *op = math_op(name, t);
  if (op) return compile_lanewise(c, n, op, AS_RESULT);
  unsupported(c->span, dtype_is_float(t) || !math_op(name, FLOAT32)
                           ? str_format("T.%s", name)
                           : str_format("T.%s of %s", name, dtype_text(t)));
}

const Code *compile_call(Compiler *c, Call *n) {
  if (IS(GlobalVar, n->op)) return compile_program_call(c, n);
  const Intrin *intrin = intrin_of(n->op);
  const char *family = family_name(n->op);
  const Code *atomic = compile_atomic(c, n);
  if (atomic) return atomic;
  if (!intrin) unsupported(c->span, family ? str_format("T.%s", family) : "this callee");
  if (intrin->args >= 0 && n->args.len != intrin->args)
    fault(c->span, "T.%s takes %d arguments, %d given", intrin->name, intrin->args, n->args.len);
  return compile_intrin(c, n, intrin->name);
}
