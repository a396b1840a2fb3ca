/* ir_expr.c -- building scalar expressions: matching of dtypes, folding of constants, errors. */
#include "ir/ir_impl.h"
#include "tests/unit/unit.h"
#include <math.h>

static const Span here = {0};

static DataType type(const char *text) {
  DataType t;
  CHECK(dtype_parse(text, &t));
  return t;
}

static Node *var(const char *dtype) { return var_new("x", type(dtype), here); }

/* ---- errors ---- */

typedef struct Attempt {
  NodeKind kind;
  Node *a, *b;
} Attempt;

static void attempt(void *context) {
  Attempt *t = context;
  expr_binary(t->kind, t->a, t->b, here);
}

static bool raises(NodeKind kind, Node *a, Node *b, const char *error, const char *part) {
  Attempt t = {kind, a, b};
  Error *e = protect(attempt, &t);
  return e && str_same(e->kind, error) && strstr(e->text, part);
}

TEST(expr_operands_without_a_common_dtype_are_refused) {
  Node *p = var("handle"), *f = var("float32"), *i = var("int32");
  Node *s = string_imm("s", here);
  CHECK(raises(NK_Add, p, i, "TypeError", "takes numbers, found handle"));
  CHECK(raises(NK_Add, i, s, "TypeError", "takes numbers, found a string"));
  CHECK(raises(NK_EQ, p, i, "TypeError", "no common dtype for handle and int32"));
  CHECK(raises(NK_EQ, s, s, "TypeError", "a string"));
  CHECK(raises(NK_LT, p, p, "TypeError", "takes numbers, found handle"));
  CHECK(raises(NK_Add, var("float8_e4m3fn"), var("float8_e5m2"), "TypeError", "no common dtype"));
  CHECK(raises(NK_And, f, i, "TypeError", "expected a bool, found float32"));
  CHECK(raises(NK_Div, i, i, "TypeError", "'/' divides floats only"));
  CHECK(raises(NK_Div, int_imm(INT32, 6, here), int_imm(INT32, 3, here), "TypeError", "'/'"));
  CHECK(raises(NK_Add, var("int32x4"), var("int32x8"), "TypeError", "different lanes"));
  CHECK(raises(NK_FloorDiv, i, int_imm(INT32, 0, here), "ZeroDivisionError", "division by zero"));
  CHECK(raises(NK_FloorMod, int_imm(INT32, 1, here), int_imm(INT64, 0, here), "ZeroDivisionError",
               "division"));
  CHECK(raises(NK_Mod, var("int32x4"), int_imm(INT32, 0, here), "ZeroDivisionError", "division"));
  CHECK(expr_binary(NK_EQ, p, var("handle"), here)->kind == NK_EQ);
}

/* ---- matching ---- */

static const struct {
  const char *a, *b, *meet;
} meetings[] = {
    {"int32", "int64", "int64"},
    {"int8", "int32", "int32"},
    {"int32", "uint32", "uint32"},
    {"uint8", "int8", "uint8"},
    {"int64", "uint32", "int64"},
    {"uint64", "int64", "uint64"},
    {"float16", "float32", "float32"},
    {"float64", "float32", "float64"},
    {"float16", "int64", "float16"},
    {"float32", "uint8", "float32"},
    {"bfloat16", "int32", "bfloat16"},
    {"bfloat16", "float16", "float16"},
    {"bfloat16", "float32", "float32"},
    {"bfloat16", "float8_e4m3fn", "bfloat16"},
    {"float8_e5m2", "int32", "float8_e5m2"},
    {"float8_e4m3fn", "float16", "float16"},
    {"bool", "int8", "int32"},
    {"bool", "int64", "int64"},
    {"bool", "float16", "float16"},
    {"int32", "int32", "int32"},
};

TEST(expr_operands_meet_in_one_dtype) {
  for (size_t i = 0; i < sizeof meetings / sizeof *meetings; i++)
    for (int turn = 0; turn < 2; turn++) {
      Node *a = var(meetings[i].a), *b = var(meetings[i].b);
      Node *n = turn ? expr_add(b, a) : expr_add(a, b);
      CHECK(str_same(dtype_text(n->dtype), meetings[i].meet));
      CHECK(dtype_equal(AS(Add, n)->a->dtype, n->dtype));
      CHECK(dtype_equal(AS(Add, n)->b->dtype, n->dtype));
      Node *c = expr_binary(NK_LT, a, b, here);
      CHECK(str_same(dtype_text(AS(LT, c)->a->dtype), meetings[i].meet) && dtype_is_bool(c->dtype));
    }
}

TEST(expr_bools_count_in_arithmetic_and_stay_in_logic) {
  Node *p = var("bool"), *q = var("bool");
  CHECK(dtype_equal(expr_add(p, q)->dtype, INT32));
  CHECK(dtype_equal(expr_binary(NK_Max, p, q, here)->dtype, BOOL));
  CHECK(dtype_equal(AS(EQ, expr_binary(NK_EQ, p, q, here))->a->dtype, BOOL));
  CHECK(dtype_equal(expr_and(p, q)->dtype, BOOL));
  Node *n = expr_and(var("int8"), q);
  CHECK(IS(NE, AS(And, n)->a) && dtype_equal(AS(And, n)->b->dtype, BOOL));
}

TEST(expr_literals_take_the_other_operands_dtype) {
  Node *one = int_imm(INT32, 1, here), *half = float_imm(FLOAT32, 0.5, here);
  static const char *const dtypes[] = {"int8",    "uint8",   "int64",    "uint64",
                                       "float16", "float64", "bfloat16", "float8_e5m2"};
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
    Node *x = var(dtypes[i]);
    CHECK(dtype_equal(expr_add(x, one)->dtype, x->dtype));
    CHECK(dtype_equal(expr_add(one, x)->dtype, x->dtype));
    Node *n = expr_add(x, half);
    CHECK(dtype_equal(n->dtype, dtype_is_float(x->dtype) ? x->dtype : FLOAT32));
  }
  CHECK(dtype_equal(expr_add(var("uint8"), int_imm(INT32, 300, here))->dtype, INT32));
  CHECK(dtype_equal(expr_add(var("uint8"), int_imm(INT32, -1, here))->dtype, INT32));
  CHECK(dtype_equal(expr_add(var("bool"), one)->dtype, INT32));
  CHECK(dtype_equal(expr_add(var("int32"), int_imm(INT64, 1, here))->dtype, INT64));
  CHECK(dtype_equal(expr_add(one, half)->dtype, FLOAT32));
}

TEST(expr_scalars_are_broadcast_to_the_lanes_of_a_vector) {
  Node *v = var("int32x4"), *n = expr_add(v, var("int32"));
  CHECK(n->dtype.lanes == 4 && IS(Broadcast, AS(Add, n)->b));
  n = expr_add(int_imm(INT32, 1, here), v);
  CHECK(n->dtype.lanes == 4 && IS(Broadcast, AS(Add, n)->a));
  n = expr_add(var("float16"), v);
  CHECK(str_same(dtype_text(n->dtype), "float16x4"));
  CHECK(IS(Cast, AS(Add, n)->b) && IS(Broadcast, AS(Add, n)->a));
  n = expr_binary(NK_EQ, var("int32xvscalex4"), int_imm(INT32, 2, here), here);
  CHECK(str_same(dtype_text(n->dtype), "boolxvscalex4"));
}

/* ---- folding ---- */

static uint64_t seed = 7;
static uint64_t random_bits(void) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return seed ^ seed >> 31;
}

/* Often small, near a limit, or any. */
static int64_t random_int(DataType t) {
  int64_t x = (int64_t)random_bits();
  switch (random_bits() % 4) {
  case 0: x = x % 10; break;
  case 1: x = dtype_min_int(t) + (x & 3); break;
  case 2: x = dtype_max_int(t) - (x & 3); break;
  default: x >>= random_bits() % 64; break;
  }
  return dtype_wrap_int(t, x);
}

typedef __int128 Wide;

static Wide widen(DataType t, int64_t x) {
  return t.code == DTYPE_UINT && t.bits == 64 ? (Wide)(uint64_t)x : (Wide)x;
}

/* Result by the definitions; false if it is not a value of the dtype. */
static bool reference(NodeKind kind, DataType t, Wide a, Wide b, Wide *out) {
  Wide q = b ? a / b : 0, r = b ? a % b : 0;
  bool down = r != 0 && (r < 0) != (b < 0);
  switch (kind) {
  case NK_Add: *out = a + b; break;
  case NK_Sub: *out = a - b; break;
  case NK_Mul: *out = (__int128)((unsigned __int128)a * (unsigned __int128)b); break;
  case NK_Div: *out = q; break;
  case NK_Mod: *out = r; break;
  case NK_FloorDiv: *out = q - down; break;
  case NK_FloorMod: *out = down ? r + b : r; break;
  case NK_Min: *out = a < b ? a : b; break;
  case NK_Max: *out = a > b ? a : b; break;
  case NK_EQ: *out = a == b; return true;
  case NK_NE: *out = a != b; return true;
  case NK_LT: *out = a < b; return true;
  case NK_LE: *out = a <= b; return true;
  case NK_GT: *out = a > b; return true;
  case NK_GE: *out = a >= b; return true;
  case NK_And: *out = a && b; return true;
  default: *out = a || b; return true;
  }
  if (kind_divides(kind) && !b) return false;
  Wide size = (Wide)1 << t.bits;
  Wide lo = t.code == DTYPE_INT ? -(size / 2) : 0,
       hi = t.code == DTYPE_INT ? size / 2 - 1 : size - 1;
  return *out >= lo && *out <= hi;
}

TEST(expr_integers_fold_exactly_or_not_at_all) {
  static const char *const dtypes[] = {"int4",  "int8",  "int16",  "int32",
                                       "int64", "uint8", "uint32", "uint64"};
  int faults = 0;
  for (int i = 0; i < 400000; i++) {
    DataType t = type(dtypes[random_bits() % 8]);
    NodeKind kind = NK_Add + random_bits() % (NK_Or - NK_Add + 1);
    int64_t x = random_int(t), y = random_int(t);
    Node *n = fold_binary(kind, int_imm(t, x, here), int_imm(t, y, here), here);
    Wide want;
    bool fits = reference(kind, t, widen(t, x), widen(t, y), &want);
    DataType result = kind_gives_bool(kind) ? BOOL : t;
    bool right = !fits ? !n
                       : n && IS(IntImm, n) && dtype_equal(n->dtype, result) &&
                             widen(result, AS(IntImm, n)->value) == want;
    if (!right) faults++;
  }
  CHECK(faults == 0);
}

static double random_float(DataType t) {
  static const double special[] = {0, -0.0, 1, -1, 0.5, 2, INFINITY, -INFINITY, 1e-45, 65504};
  if (random_bits() % 4 == 0)
    return dtype_round_float(t, special[random_bits() % (sizeof special / sizeof *special)]);
  double x = ldexp((double)(int64_t)random_bits(), (int)(random_bits() % 40) - 80);
  return dtype_round_float(t, x);
}

static bool same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

/* a op b in the dtype, as the machine computes it. */
static double machine(NodeKind kind, DataType t, double a, double b) {
  if (t.bits == 64)
    return kind == NK_Add ? a + b : kind == NK_Sub ? a - b : kind == NK_Mul ? a * b : a / b;
  float x = (float)a, y = (float)b;
  float r = kind == NK_Add ? x + y : kind == NK_Sub ? x - y : kind == NK_Mul ? x * y : x / y;
  return t.bits == 32 ? (double)r : (double)(_Float16)r;
}

TEST(expr_floats_fold_bit_for_bit) {
  static const char *const dtypes[] = {"float16", "float32", "float64"};
  int faults = 0;
  for (int i = 0; i < 300000; i++) {
    DataType t = type(dtypes[random_bits() % 3]);
    NodeKind kind = NK_Add + random_bits() % 4;
    double a = random_float(t), b = random_float(t);
    Node *n = fold_binary(kind, float_imm(t, a, here), float_imm(t, b, here), here);
    double want = machine(kind, t, a, b);
    bool right = isnan(want) ? !n : n && IS(FloatImm, n) && same_bits(AS(FloatImm, n)->value, want);
    if (!right) faults++;
  }
  CHECK(faults == 0);
}

TEST(expr_comparisons_of_floats_fold_with_nan_and_zeros) {
  Node *nan = float_imm(FLOAT32, NAN, here), *zero = float_imm(FLOAT32, 0, here);
  Node *minus = float_imm(FLOAT32, -0.0, here);
  CHECK(expr_is_zero(expr_binary(NK_EQ, nan, nan, here)));
  CHECK(expr_is_one(expr_binary(NK_NE, nan, zero, here)));
  CHECK(expr_is_zero(expr_binary(NK_LE, nan, zero, here)));
  CHECK(expr_is_one(expr_binary(NK_EQ, zero, minus, here)));
  CHECK(IS(Min, expr_binary(NK_Min, zero, minus, here)));
  CHECK(IS(Max, expr_binary(NK_Max, nan, zero, here)));
}

TEST(expr_identities_of_floats_keep_every_bit) {
  Node *x = var("float32");
  CHECK(expr_mul(x, float_imm(FLOAT32, 1, here)) == x);
  CHECK(expr_mul(float_imm(FLOAT32, 1, here), x) == x);
  CHECK(expr_binary(NK_Div, x, float_imm(FLOAT32, 1, here), here) == x);
  CHECK(expr_sub(x, float_imm(FLOAT32, 0, here)) == x);
  CHECK(expr_add(x, float_imm(FLOAT32, -0.0, here)) == x);
  CHECK(IS(Add, expr_add(x, float_imm(FLOAT32, 0, here)))); /* -0.0 + 0.0 is 0.0 */
  CHECK(IS(Sub, expr_sub(x, float_imm(FLOAT32, -0.0, here))));
  CHECK(IS(Sub, expr_sub(float_imm(FLOAT32, 0, here), x)));
  CHECK(IS(Mul, expr_mul(x, float_imm(FLOAT32, 0, here)))); /* NaN * 0 is NaN */
  CHECK(IS(Sub, expr_sub(x, x)));
  CHECK(IS(Div, expr_binary(NK_Div, float_imm(FLOAT32, 0, here), x, here)));
}

TEST(expr_identities_of_integers_fold_where_nothing_is_lost) {
  Node *x = var("int32"), *zero = int_imm(INT32, 0, here), *one = int_imm(INT32, 1, here);
  Node *call = expr_call("call_extern", INT32, NODES(string_imm("f", here)), here);
  CHECK(expr_add(x, zero) == x && expr_add(zero, x) == x && expr_sub(x, zero) == x);
  CHECK(expr_mul(x, one) == x && expr_mul(one, x) == x);
  CHECK(expr_is_zero(expr_mul(x, zero)) && expr_is_zero(expr_mul(zero, x)));
  CHECK(IS(Mul, expr_mul(call, zero)) && IS(FloorMod, expr_floormod(call, one)));
  CHECK(expr_floordiv(x, one) == x && expr_is_zero(expr_floormod(x, one)));
  CHECK(expr_truncdiv(x, one, here) == x);
  CHECK(IS(Sub, expr_sub(zero, x)));
  Node *p = var("bool"), *yes = int_imm(BOOL, 1, here), *no = int_imm(BOOL, 0, here);
  CHECK(expr_and(p, yes) == p && expr_and(yes, p) == p);
  CHECK(expr_is_zero(expr_and(p, no)) && expr_is_zero(expr_and(no, p)));
  CHECK(expr_binary(NK_Or, p, no, here) == p && expr_is_one(expr_binary(NK_Or, p, yes, here)));
}

TEST(expr_an_overflow_stays_for_the_program_to_compute) {
  Node *max = int_imm(INT32, INT32_MAX, here), *min = int_imm(INT32, INT32_MIN, here);
  Node *one = int_imm(INT32, 1, here), *minus = int_imm(INT32, -1, here);
  CHECK(IS(Add, expr_add(max, one)) && IS(Sub, expr_sub(min, one)));
  CHECK(IS(FloorDiv, expr_floordiv(min, minus)) && IS(Mul, expr_neg(min, here)));
  CHECK(IS(Sub, expr_sub(int_imm(UINT8, 0, here), int_imm(UINT8, 1, here))));
  CHECK(IS(Mul, expr_mul(int_imm(INT64, INT64_MAX, here), int_imm(INT64, 2, here))));
}

/* ---- casts ---- */

TEST(expr_casts_of_constants_fold_as_the_machine_converts) {
  int faults = 0;
  for (int i = 0; i < 100000; i++) {
    int64_t v = random_int(INT64);
    Node *n = int_imm(INT64, v, here);
    faults += AS(IntImm, expr_cast(INT32, n, here))->value != (int32_t)v;
    faults += AS(IntImm, expr_cast(UINT8, n, here))->value != (uint8_t)v;
    faults += !same_bits(AS(FloatImm, expr_cast(FLOAT32, n, here))->value, (double)(float)v);
    faults += !same_bits(AS(FloatImm, expr_cast(FLOAT64, n, here))->value, (double)v);
    Node *u = int_imm(DTYPE_OF(UINT, 64), v, here);
    faults +=
        !same_bits(AS(FloatImm, expr_cast(FLOAT32, u, here))->value, (double)(float)(uint64_t)v);
    faults += AS(IntImm, expr_cast(BOOL, n, here))->value != (v != 0);
    Node *h = expr_cast(DTYPE_OF(FLOAT, 16), n, here);
    if (IS(FloatImm, h)) faults += !same_bits(AS(FloatImm, h)->value, (double)(_Float16)v);
  }
  CHECK(faults == 0);
}

TEST(expr_casts_of_floats_to_integers_fold_only_in_range) {
  CHECK(AS(IntImm, expr_cast(INT32, float_imm(FLOAT32, -2.9, here), here))->value == -2);
  CHECK(AS(IntImm, expr_cast(UINT8, float_imm(FLOAT32, 255.5, here), here))->value == 255);
  CHECK(IS(Cast, expr_cast(UINT8, float_imm(FLOAT32, 256, here), here)));
  CHECK(IS(Cast, expr_cast(UINT8, float_imm(FLOAT32, -1, here), here)));
  CHECK(AS(IntImm, expr_cast(UINT8, float_imm(FLOAT32, -0.5, here), here))->value == 0);
  CHECK(IS(Cast, expr_cast(INT32, float_imm(FLOAT32, 0x1p31, here), here)));
  CHECK(AS(IntImm, expr_cast(INT32, float_imm(FLOAT32, -0x1p31, here), here))->value == INT32_MIN);
  CHECK(IS(Cast, expr_cast(INT64, float_imm(FLOAT32, NAN, here), here)));
  CHECK(IS(Cast, expr_cast(INT64, float_imm(FLOAT32, INFINITY, here), here)));
  Node *big = expr_cast(DTYPE_OF(UINT, 64), float_imm(FLOAT32, 0x1p63, here), here);
  CHECK(AS(IntImm, big)->value == INT64_MIN);
  CHECK(AS(IntImm, expr_cast(BOOL, float_imm(FLOAT32, 0.25, here), here))->value == 1);
}

TEST(expr_casts_leave_no_node_where_the_dtype_is_right) {
  Node *x = var("int32");
  CHECK(expr_cast(INT32, x, here) == x);
  Node *wide = expr_cast(type("int64x4"), x, here);
  CHECK(IS(Broadcast, wide) && IS(Cast, AS(Broadcast, wide)->value));
  Node *splat = expr_broadcast(x, 4, here);
  CHECK(IS(Broadcast, expr_cast(type("float32x4"), splat, here)));
}

/* ---- other builders ---- */

TEST(expr_negation_keeps_zeros_and_unsigned) {
  CHECK(signbit(AS(FloatImm, expr_neg(float_imm(FLOAT32, 0, here), here))->value));
  CHECK(AS(IntImm, expr_neg(int_imm(INT32, 5, here), here))->value == -5);
  CHECK(IS(Mul, expr_neg(var("float32"), here)) && IS(Mul, expr_neg(var("int32"), here)));
  CHECK(IS(Sub, expr_neg(var("uint8"), here)));
  CHECK(dtype_equal(expr_neg(var("bool"), here)->dtype, INT32));
  CHECK(expr_neg(var("float32x4"), here)->dtype.lanes == 4);
}

TEST(expr_bits_of_constants_fold) {
  DataType u64 = DTYPE_OF(UINT, 64);
  Node *a = int_imm(u64, -1, here),
       *n = expr_call("shift_right", u64, NODES(a, int_imm(u64, 4, here)), here);
  Node *folded = fold_call(n);
  CHECK(AS(IntImm, folded)->value == 0x0fffffffffffffff);
  n = expr_call("shift_left", INT32, NODES(int_imm(INT32, 1, here), int_imm(INT32, 31, here)),
                here);
  CHECK(AS(IntImm, fold_call(n))->value == INT32_MIN);
  n = expr_call("shift_left", INT32, NODES(int_imm(INT32, 1, here), int_imm(INT32, 32, here)),
                here);
  CHECK(!fold_call(n));
  n = expr_call("shift_right", INT32, NODES(int_imm(INT32, -8, here), int_imm(INT32, 1, here)),
                here);
  CHECK(AS(IntImm, fold_call(n))->value == -4);
}

TEST(expr_effects_are_found_in_shared_parts) {
  Node *e = var("int32");
  for (int i = 0; i < 60; i++) e = expr_add(e, e);
  CHECK(expr_effect(e) == EFFECT_PURE);
  Node *b = buffer_new("A", INT32, NODES(int_imm(INT32, 4, here)), "global", here);
  Node *load = expr_load(b, NODES(int_imm(INT32, 0, here)), here);
  for (int i = 0; i < 60; i++) load = expr_add(load, load);
  CHECK(expr_effect(load) == EFFECT_READ);
}
