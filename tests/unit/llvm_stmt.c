/* llvm_stmt.c -- statements and memory of the llvm back end: loops, vectors, allocations, calls,
 * failures. */
#include "tests/unit/llvm_test.h"
#include <stdio.h>
#include <stdlib.h>

static Node *i32(int64_t value) { return int_imm(INT32, value, NOWHERE); }
static Node *f32(double value) { return float_imm(FLOAT32, value, NOWHERE); }
static Node *seq2(Node *a, Node *b) { return stmt_seq(NODES(a, b), NOWHERE); }
static Node *eval(Node *value) { return stmt_evaluate(value, NOWHERE); }
static Node *plus(Node *a, Node *b) { return raw_binary(NK_Add, a, b); }
static Node *times(Node *a, Node *b) { return raw_binary(NK_Mul, a, b); }

static Node *var(const char *name) { return var_new(name, INT64, NOWHERE); }

static Node *let_stmt(Node *v, Node *value, Node *body) {
  return MAKE(LetStmt, NOWHERE, VOID_TYPE, .var = v, .value = value, .body = body);
}

static Node *if_stmt(Node *cond, Node *then, Node *orelse) {
  return MAKE(IfThenElse, NOWHERE, VOID_TYPE, .cond = cond, .then = then, .orelse = orelse);
}

static Node *allocate(Node *buffer, Node *extent, Node *body) {
  Buffer *b = AS(Buffer, buffer);
  return MAKE(Allocate, NOWHERE, VOID_TYPE, .extents = NODES(extent), .elem = b->elem,
              .var = b->data, .body = body);
}

static Node *local(const char *name, DataType t, Node *size) {
  return buffer_new(name, t, NODES(size), "local", NOWHERE);
}

#define COUNT 1000

static float fa[COUNT], fb[COUNT], fc[COUNT];

static void fill_floats(void) {
  for (int i = 0; i < COUNT; i++) {
    fa[i] = (float)i * 0.5f;
    fb[i] = (float)(COUNT - i);
    fc[i] = -1;
  }
}

/* ---- vectors ---- */

TEST(llvm_vector_add_by_ramps) {
  Case c = case_new();
  Node *A = case_buffer(&c, "a", FLOAT32), *B = case_buffer(&c, "b", FLOAT32);
  Node *C = case_buffer(&c, "c", FLOAT32), *i = var("i"), *base = times(i, i64(8));
  Node *sum = plus(load_vector(A, base, 8), load_vector(B, base, 8));
  c.body =
      loop(LOOP_SERIAL, i, raw_binary(NK_Div, c.n, i64(8)), store_at(C, ramp(base, 1, 8), sum));
  fill_floats();
  CHECK(compile_and_run(&c, "", COUNT, (void *[]){fa, fb, fc}));
  bool good = true;
  for (int i2 = 0; i2 < COUNT; i2++) good = good && fc[i2] == fa[i2] + fb[i2];
  CHECK(good);
}

/* c[8i + k] = a[7 - k + 8i] + a[2k], and every second element is written back shifted. */
TEST(llvm_vectors_with_strides_gather_and_scatter) {
  Case c = case_new();
  Node *A = case_buffer(&c, "a", FLOAT32), *B = case_buffer(&c, "b", FLOAT32);
  Node *i = var("i"), *base = times(i, i64(8));
  Node *back = load_at(A, ramp(plus(base, i64(7)), -1, 8)), *even = load_at(A, ramp(i64(0), 2, 8));
  Node *zero = MAKE(Broadcast, NOWHERE, dtype_with_lanes(INT64, 8), .value = i64(3), .lanes = 8);
  Node *value = plus(plus(back, even), load_at(A, zero));
  c.body = loop(LOOP_SERIAL, i, i64(4), store_at(B, ramp(times(i, i64(16)), 2, 8), value));
  fill_floats();
  CHECK(compile_and_run(&c, "", COUNT, (void *[]){fa, fb}));
  bool good = true;
  for (int x = 0; x < 32; x++) {
    float want = fa[x / 8 * 8 + 7 - x % 8] + fa[x % 8 * 2] + fa[3];
    good = good && fb[x * 2] == want && fb[x * 2 + 1] == (float)(COUNT - x * 2 - 1);
  }
  CHECK(good);
}

static Node *tail_mask(Node *base, Node *n, int lanes) {
  DataType wide = dtype_with_lanes(INT64, lanes);
  Node *limit = MAKE(Broadcast, NOWHERE, wide, .value = n, .lanes = lanes);
  return raw_binary(NK_LT, ramp(base, 1, lanes), limit);
}

TEST(llvm_predicates_mask_the_tail) {
  Case c = case_new();
  Node *A = case_buffer(&c, "a", FLOAT32), *C = case_buffer(&c, "c", FLOAT32);
  Node *i = var("i"), *base = times(i, i64(16)), *at = ramp(base, 1, 16);
  Node *mask = tail_mask(base, c.n, 16);
  DataType t = dtype_with_lanes(FLOAT32, 16);
  Node *value = MAKE(BufferLoad, NOWHERE, t, .buffer = A, .indices = NODES(at), .predicate = mask);
  Node *store = MAKE(BufferStore, NOWHERE, VOID_TYPE, .buffer = C, .indices = NODES(at),
                     .value = value, .predicate = mask);
  c.body = loop(LOOP_SERIAL, i, raw_binary(NK_Div, plus(c.n, i64(15)), i64(16)), store);
  fill_floats();
  CHECK(compile_and_run(&c, "", 37, (void *[]){fa, fc}));
  bool good = true;
  for (int x = 0; x < COUNT; x++) good = good && fc[x] == (x < 37 ? fa[x] : -1);
  CHECK(good);
}

/* Memory of exactly n elements, at its end: a masked lane that touched it would be seen by
 * valgrind. */
TEST(llvm_predicate_of_a_scalar) {
  Case c = case_new();
  Node *A = case_buffer(&c, "a", INT32), *i = var("i");
  Node *mask = raw_binary(NK_LT, i, c.n);
  Node *value =
      MAKE(BufferLoad, NOWHERE, INT32, .buffer = A, .indices = NODES(i), .predicate = mask);
  Node *store = MAKE(BufferStore, NOWHERE, VOID_TYPE, .buffer = A, .indices = NODES(i),
                     .value = plus(value, i32(1)), .predicate = mask);
  c.body = loop(LOOP_SERIAL, i, i64(100000), store);
  int32_t *a = calloc(5, sizeof *a);
  CHECK(compile_and_run(&c, "", 5, (void *[]){a}));
  CHECK(a[0] == 1 && a[4] == 1);
  free(a);
}

TEST(llvm_buffers_of_vectors_and_of_bools) {
  Case c = case_new();
  DataType f32x4 = dtype_with_lanes(FLOAT32, 4);
  Node *A = case_buffer(&c, "a", f32x4), *B = case_buffer(&c, "b", BOOL);
  Node *C = case_buffer(&c, "c", DTYPE_OF(INT, 4)), *i = var("i");
  Node *two = MAKE(Broadcast, NOWHERE, f32x4, .value = f32(2), .lanes = 4);
  Node *doubled = store_at(A, i, times(load_at(A, i), two));
  Node *flip = store_at(B, i, MAKE(Not, NOWHERE, BOOL, .a = load_at(B, i)));
  Node *sum = store_at(C, i, plus(load_at(C, i), int_imm(DTYPE_OF(INT, 4), 3, NOWHERE)));
  Node *low = store_at(A, ramp(i64(0), 1, 2), load_at(A, ramp(i64(1), 1, 2)));
  c.body = seq2(loop(LOOP_SERIAL, i, c.n, stmt_seq(NODES(doubled, flip, sum), NOWHERE)), low);
  float a[16];
  uint8_t b[4] = {0, 1, 0, 255};
  int8_t nibbles[4] = {0, 6, -8, -1};
  for (int k = 0; k < 16; k++) a[k] = (float)k;
  CHECK(compile_and_run(&c, "", 4, (void *[]){a, b, nibbles}));
  CHECK(a[15] == 30 && a[0] == 8 && a[4] == 16 && a[8] == 16);
  CHECK(b[0] == 1 && b[1] == 0 && b[2] == 1 && b[3] == 0);
  CHECK(nibbles[0] == 3 && nibbles[1] == -7 && nibbles[2] == -5 && nibbles[3] == 2);
}

TEST(llvm_vector_pieces) {
  Case c = case_new();
  Node *A = case_buffer(&c, "a", FLOAT32), *C = case_buffer(&c, "c", FLOAT32);
  DataType x4 = dtype_with_lanes(FLOAT32, 4), x8 = dtype_with_lanes(FLOAT32, 8);
  Node *v = load_vector(A, i64(0), 8);
  Node *low = call("vectorlow", x4, NODES(v)), *high = call("vectorhigh", x4, NODES(v));
  Node *swapped = call("vectorcombine", x8, NODES(high, low));
  NodeVec picks = {0};
  for (int k = 0; k < 4; k++) vec_push(&picks, i32(7 - 2 * k));
  Node *shuffled = MAKE(Shuffle, NOWHERE, x4, .vectors = NODES(low, high), .indices = picks);
  c.body =
      seq2(store_at(C, ramp(i64(0), 1, 8), swapped), store_at(C, ramp(i64(8), 1, 4), shuffled));
  fill_floats();
  CHECK(compile_and_run(&c, "", COUNT, (void *[]){fa, fc}));
  CHECK(fc[0] == fa[4] && fc[7] == fa[3] && fc[8] == fa[7] && fc[11] == fa[1]);
}

/* ---- loops ---- */

TEST(llvm_matmul) {
  Case c = case_new();
  Node *A = case_buffer(&c, "a", FLOAT32), *B = case_buffer(&c, "b", FLOAT32);
  Node *C = case_buffer(&c, "c", FLOAT32), *i = var("i"), *j = var("j"), *k = var("k");
  Node *at = plus(times(i, c.n), j);
  Node *product = times(load_at(A, plus(times(i, c.n), k)), load_at(B, plus(times(k, c.n), j)));
  Node *step = store_at(C, at, plus(load_at(C, at), product));
  Node *inner = seq2(store_at(C, at, f32(0)), loop(LOOP_SERIAL, k, c.n, step));
  c.body = loop(LOOP_PARALLEL, i, c.n, loop(LOOP_SERIAL, j, c.n, inner));
  fill_floats();
  CHECK(compile_and_run(&c, "", 30, (void *[]){fa, fb, fc}));
  bool good = true;
  for (int x = 0; x < 30; x++)
    for (int y = 0; y < 30; y++) {
      float sum = 0;
      for (int z = 0; z < 30; z++) sum += fa[x * 30 + z] * fb[z * 30 + y];
      good = good && sum == fc[x * 30 + y];
    }
  CHECK(good);
}

TEST(llvm_loops_that_do_not_run_and_that_start_elsewhere) {
  Case c = case_new();
  Node *C = case_buffer(&c, "c", INT32), *i = var_new("i", INT32, NOWHERE);
  Node *none = loop(LOOP_SERIAL, i, i32(0), store_at(C, i32(0), i32(9)));
  Node *negative = loop(LOOP_UNROLLED, i, i32(-3), store_at(C, i32(1), i32(9)));
  Node *shifted = MAKE(For, NOWHERE, VOID_TYPE, .min = i32(-2), .extent = i32(4), .var = i,
                       .loop_kind = LOOP_UNROLLED, .body = store_at(C, plus(i, i32(4)), i));
  c.body = stmt_seq(NODES(none, negative, shifted), NOWHERE);
  int32_t out[8] = {0};
  CHECK(compile_and_run(&c, "", 8, (void *[]){out}));
  CHECK(out[0] == 0 && out[1] == 0 && out[2] == -2 && out[3] == -1 && out[4] == 0 && out[5] == 1);
}

/* Collatz: while x != 1; counts steps, leaves at 1000. */
TEST(llvm_while_break_continue) {
  Case c = case_new();
  Node *X = case_buffer(&c, "x", INT64), *S = case_buffer(&c, "s", INT64);
  Node *x = load_at(X, i64(0)), *s = load_at(S, i64(0));
  Node *count = store_at(S, i64(0), plus(s, i64(1)));
  Node *odd = raw_binary(NK_EQ, raw_binary(NK_FloorMod, x, i64(2)), i64(1));
  Node *up = seq2(store_at(X, i64(0), plus(times(x, i64(3)), i64(1))),
                  eval(call("continue_loop", VOID_TYPE, (NodeVec){0})));
  Node *half = store_at(X, i64(0), raw_binary(NK_FloorDiv, x, i64(2)));
  Node *stop =
      if_stmt(raw_binary(NK_GE, s, c.n), eval(call("break_loop", VOID_TYPE, (NodeVec){0})), NULL);
  Node *body = stmt_seq(NODES(stop, count, if_stmt(odd, up, NULL), half), NOWHERE);
  c.body = MAKE(While, NOWHERE, VOID_TYPE, .cond = raw_binary(NK_NE, x, i64(1)), .body = body);
  TvmsModule *m = load_module(case_module(&c), "");
  int64_t at = 27, steps = 0;
  CHECK(run_case(m, &c, 1000, (void *[]){&at, &steps}) == 0 && at == 1 && steps == 111);
  at = 27, steps = 0;
  CHECK(run_case(m, &c, 10, (void *[]){&at, &steps}) == 0 && at == 214 && steps == 10);
  tvms_release(m);
}

/* ---- parallel loops ---- */

TEST(llvm_parallel_loops_capture_what_they_use) {
  Case c = case_new();
  Node *A = case_buffer(&c, "a", FLOAT32), *C = case_buffer(&c, "c", FLOAT32);
  Node *i = var_new("i", INT32, NOWHERE), *j = var("j"),
       *scale = var_new("scale", FLOAT32, NOWHERE);
  Node *tmp = local("tmp", FLOAT32, i64(4)), *big = local("big", FLOAT32, c.n);
  Node *fill = loop(LOOP_SERIAL, j, i64(4), store_at(tmp, j, times(load_at(A, i), scale)));
  Node *sum = plus(plus(load_at(tmp, i64(0)), load_at(tmp, i64(3))), load_at(big, i));
  Node *inner = loop(LOOP_PARALLEL, j, i64(1), store_at(C, i, sum));
  Node *body = allocate(tmp, i64(4), seq2(fill, inner));
  Node *extent = MAKE(Cast, NOWHERE, INT32, .value = c.n);
  Node *set = loop(LOOP_SERIAL, i, extent, store_at(big, i, f32(100)));
  Node *all = allocate(big, c.n, seq2(set, loop(LOOP_PARALLEL, i, extent, body)));
  c.body = let_stmt(scale, f32(3), all);
  fill_floats();
  CHECK(compile_and_run(&c, "", COUNT, (void *[]){fa, fc}));
  bool good = true;
  for (int k = 0; k < COUNT; k++) good = good && fc[k] == fa[k] * 3 + fa[k] * 3 + 100;
  CHECK(good);
}

TEST(llvm_parallel_loop_fails_as_a_whole) {
  Case c = case_new();
  Node *C = case_buffer(&c, "c", INT32), *i = var("i");
  Node *cond = raw_binary(NK_NE, i, i64(500));
  Node *check = MAKE(AssertStmt, NOWHERE, VOID_TYPE, .cond = cond,
                     .message = string_imm("iteration 500 is not wanted", NOWHERE),
                     .body = store_at(C, i, i32(1)));
  Node *big = local("big", FLOAT32, c.n);
  c.body = allocate(big, c.n, loop(LOOP_PARALLEL, i, c.n, check));
  TvmsModule *m = load_module(case_module(&c), "");
  int32_t *out = calloc(COUNT, sizeof *out);
  CHECK(run_case(m, &c, 400, (void *[]){out}) == 0 && out[399] == 1);
  CHECK(run_case(m, &c, COUNT, (void *[]){out}) == -1);
  CHECK(strcmp(tvms_last_error(), "iteration 500 is not wanted") == 0);
  tvms_release(m);
  free(out);
}

/* ---- conditions ---- */

/* c[i] = a[i - 1] if there is one else 5, and whether it exists and is positive. */
TEST(llvm_conditions_guard_loads) {
  Case c = case_new();
  Node *A = case_buffer(&c, "a", INT32), *B = case_buffer(&c, "b", BOOL);
  Node *C = case_buffer(&c, "c", INT32), *i = var("i");
  Node *far = raw_binary(NK_Sub, i, i64(1000000000));
  Node *inside = raw_binary(NK_GE, i, i64(1000000000));
  Node *value = call("if_then_else", INT32, NODES(inside, load_at(A, far), i32(5)));
  Node *positive = raw_binary(NK_GT, load_at(A, far), i32(0));
  Node *both = raw_binary(NK_And, inside, positive);
  Node *outside = raw_binary(NK_LT, i, i64(1000000000));
  Node *either = raw_binary(NK_Or, outside, positive);
  Node *any = raw_binary(NK_And, MAKE(Not, NOWHERE, BOOL, .a = both), either);
  c.body = loop(LOOP_SERIAL, i, c.n, seq2(store_at(C, i, value), store_at(B, i, any)));
  int32_t a[10], out[10];
  uint8_t b[10];
  CHECK(compile_and_run(&c, "", 10, (void *[]){a, b, out}));
  bool good = true;
  for (int k = 0; k < 10; k++) good = good && out[k] == 5 && b[k] == 1;
  CHECK(good);
}

TEST(llvm_let_if_else) {
  Case c = case_new();
  Node *C = case_buffer(&c, "c", INT64), *i = var("i"), *x = var("x"), *y = var("y");
  Node *let = MAKE(Let, NOWHERE, INT64, .var = y, .value = times(x, x), .body = plus(y, y));
  Node *small = store_at(C, i, let), *large = store_at(C, i, raw_binary(NK_Sub, i64(0), x));
  Node *branch = if_stmt(raw_binary(NK_LT, x, i64(5)), small, large);
  c.body = loop(LOOP_SERIAL, i, c.n, let_stmt(x, plus(i, i64(1)), branch));
  int64_t out[8];
  CHECK(compile_and_run(&c, "", 8, (void *[]){out}));
  CHECK(out[0] == 2 && out[3] == 32 && out[4] == -5 && out[7] == -8);
}

/* ---- allocations ---- */

TEST(llvm_allocations_on_stack_and_heap) {
  Case c = case_new();
  Node *C = case_buffer(&c, "c", FLOAT64), *i = var("i");
  Node *small = local("small", FLOAT64, i64(10)), *large = local("large", FLOAT64, i64(100000));
  Node *dynamic = local("dynamic", FLOAT64, c.n);
  Node *x = float_imm(FLOAT64, 7, NOWHERE);
  Node *set = stmt_seq(
      NODES(store_at(small, i64(9), x), store_at(large, i64(99999), x), store_at(dynamic, i, x)),
      NOWHERE);
  Node *sum = plus(plus(load_at(small, i64(9)), load_at(large, i64(99999))), load_at(dynamic, i));
  Node *stop = if_stmt(raw_binary(NK_EQ, i, i64(5)),
                       eval(call("continue_loop", VOID_TYPE, (NodeVec){0})), NULL);
  Node *body = stmt_seq(NODES(set, stop, store_at(C, i, sum)), NOWHERE);
  body = allocate(small, i64(10), allocate(large, i64(100000), allocate(dynamic, c.n, body)));
  Node *give_up =
      if_stmt(raw_binary(NK_EQ, i, i64(8)), eval(call("ret", INT32, NODES(i32(0)))), NULL);
  Node *outer = local("outer", FLOAT64, c.n);
  c.body = allocate(outer, c.n, loop(LOOP_SERIAL, i, c.n, seq2(give_up, body)));
  double out[10] = {0};
  CHECK(compile_and_run(&c, "", 10, (void *[]){out}));
  CHECK(out[0] == 21 && out[4] == 21 && out[5] == 0 && out[7] == 21 && out[8] == 0);
}

/* Not under AddressSanitizer, which ends the process where malloc would say no. */
#ifdef __SANITIZE_ADDRESS__
#define LARGEST_FACTOR ((int64_t)1 << 20)
#define EXPECTED       0
#else
#define LARGEST_FACTOR ((int64_t)1 << 50)
#define EXPECTED       -1
#endif

TEST(llvm_allocation_that_fails_is_an_error) {
  Case c = case_new();
  Node *C = case_buffer(&c, "c", FLOAT64);
  Node *huge = local("huge", FLOAT64, times(c.n, i64(LARGEST_FACTOR)));
  Node *use = eval(call("call_extern", HANDLE,
                        NODES(string_imm("test_touch", NOWHERE), AS(Buffer, huge)->data)));
  c.body = allocate(huge, times(c.n, i64(LARGEST_FACTOR)),
                    seq2(use, store_at(C, i64(0), load_at(huge, i64(0)))));
  TvmsModule *m = load_module(case_module(&c), "");
  double out;
  CHECK(run_case(m, &c, 16, (void *[]){&out}) == EXPECTED);
  CHECK(!EXPECTED || strcmp(tvms_last_error(), "k: out of memory") == 0);
  tvms_release(m);
}

TEST(llvm_constants_are_part_of_the_code) {
  Case c = case_new();
  Node *C = case_buffer(&c, "c", FLOAT32), *i = var("i");
  Node *table = local("table", FLOAT32, i64(4));
  static const float values[] = {1.5f, -2, 0, 4};
  static const int64_t shape[] = {4};
  ConstData *data =
      NEW(ConstData, .elem = FLOAT32, .ndim = 1, .shape = shape, .bytes = values, .nbytes = 16);
  c.body = MAKE(AllocateConst, NOWHERE, VOID_TYPE, .data = data, .var = AS(Buffer, table)->data,
                .body = loop(LOOP_SERIAL, i, c.n,
                             store_at(C, i, load_at(table, raw_binary(NK_FloorMod, i, i64(4))))));
  float out[8];
  CHECK(compile_and_run(&c, "", 8, (void *[]){out}));
  CHECK(out[0] == 1.5f && out[5] == -2 && out[7] == 4);
}

/* ---- calls ---- */

double test_mixed_arguments(int8_t a, bool b, double c, float d, uint16_t e, int64_t f,
                            const char *s);
double test_mixed_arguments(int8_t a, bool b, double c, float d, uint16_t e, int64_t f,
                            const char *s) {
  return a + b * 10 + c + (double)d + e + (double)f + (double)strlen(s);
}

void *test_touch(void *p);
void *test_touch(void *p) { return p; }

TEST(llvm_calls_of_c_functions_pass_every_type) {
  Case c = case_new();
  Node *C = case_buffer(&c, "c", FLOAT64);
  Node *value = call(
      "call_extern", FLOAT64,
      NODES(string_imm("test_mixed_arguments", NOWHERE), int_imm(DTYPE_OF(INT, 8), -3, NOWHERE),
            int_imm(BOOL, 1, NOWHERE), float_imm(FLOAT64, 0.5, NOWHERE), f32(0.25),
            int_imm(DTYPE_OF(UINT, 16), 65535, NOWHERE), c.n, string_imm("abcd", NOWHERE)));
  Node *third = call("address_of", HANDLE, NODES(load_at(C, i64(2))));
  Node *first =
      call("tvm_access_ptr", HANDLE,
           NODES(float_imm(FLOAT64, 0, NOWHERE), AS(Buffer, C)->data, i64(0), i64(2), i32(1)));
  Node *copy = eval(
      call("call_extern", HANDLE, NODES(string_imm("memcpy", NOWHERE), third, first, i64(16))));
  c.body = stmt_seq(
      NODES(store_at(C, i64(0), value), store_at(C, i64(1), float_imm(FLOAT64, 7, NOWHERE)), copy),
      NOWHERE);
  double out[4];
  CHECK(compile_and_run(&c, "", 4, (void *[]){out}));
  CHECK(out[0] == -3 + 10 + 0.5 + 0.25 + 65535 + 4 + 4 && out[2] == out[0] && out[3] == 7);
}

TEST(llvm_calls_of_intrinsics_by_name) {
  Case c = case_new();
  Node *C = case_buffer(&c, "c", FLOAT32);
  Node *name = string_imm("llvm.fma", NOWHERE), *full = string_imm("llvm.minnum.f32", NOWHERE);
  Node *fma = call("call_llvm_pure_intrin", FLOAT32, NODES(name, f32(2), f32(3), f32(4)));
  Node *min = call("call_llvm_intrin", FLOAT32, NODES(full, i32(2), f32(2), f32(3)));
  c.body = seq2(store_at(C, i64(0), fma), store_at(C, i64(1), min));
  float out[2];
  if (runs_on("c")) {
    CHECK(compile_raises(&c, "CompileError", "T.call_llvm_pure_intrin is not supported"));
    return;
  }
  CHECK(compile_and_run(&c, "", 2, (void *[]){out}));
  CHECK(out[0] == 10 && out[1] == 2);
}

static int take_mixed(void *self, const TvmsValue *args, const int *types, int n, TvmsValue *ret,
                      int *ret_type) {
  bool good = !self && n == 4 && types[0] == TVMS_INT && types[1] == TVMS_FLOAT &&
              types[2] == TVMS_STR && types[3] == TVMS_PTR;
  if (!good || args[0].i == 13) return tvms_set_error("take_mixed refuses");
  ((int64_t *)args[3].p)[1] = args[0].i + (int64_t)args[1].f + (int64_t)strlen(args[2].s);
  ret->i = 42;
  *ret_type = TVMS_INT;
  return 0;
}

TEST(llvm_kernels_call_packed_functions) {
  TvmsFunc *f = NULL;
  CHECK(tvms_func_new(&f, take_mixed, NULL, NULL) == 0);
  CHECK(tvms_func_register("test.take_mixed", f, 1) == 0);
  tvms_release(f);
  Case c = case_new();
  Node *C = case_buffer(&c, "c", INT64);
  Node *value = call("call_packed", INT32,
                     NODES(string_imm("test.take_mixed", NOWHERE), c.n, f32(2.5),
                           string_imm("abc", NOWHERE), AS(Buffer, C)->data));
  c.body = store_at(C, i64(0), MAKE(Cast, NOWHERE, INT64, .value = value));
  TvmsModule *m = load_module(case_module(&c), "");
  int64_t out[13] = {0};
  CHECK(run_case(m, &c, 2, (void *[]){out}) == 0 && out[0] == 42 && out[1] == 7);
  CHECK(run_case(m, &c, 13, (void *[]){out}) == -1);
  CHECK(strcmp(tvms_last_error(), "take_mixed refuses") == 0);
  tvms_release(m);
  tvms_func_remove("test.take_mixed");
}

/* A kernel that gives back a scalar, and that may fail. */
TEST(llvm_kernels_call_kernels) {
  Case c = case_new();
  Node *C = case_buffer(&c, "c", INT64), *x = var("x"), *i = var("i");
  Node *self = MAKE(GlobalVar, NOWHERE, VOID_TYPE, .name = str_intern("fib"));
  Node *less = raw_binary(NK_Sub, x, i64(1)), *two_less = raw_binary(NK_Sub, x, i64(2));
  Node *a = MAKE(Call, NOWHERE, INT64, .op = self, .args = NODES(less));
  Node *b = MAKE(Call, NOWHERE, INT64, .op = self, .args = NODES(two_less));
  Node *base = if_stmt(raw_binary(NK_LT, x, i64(2)), eval(call("ret", INT64, NODES(x))), NULL);
  Node *body = seq2(base, eval(call("ret", INT64, NODES(plus(a, b)))));
  body = MAKE(AssertStmt, NOWHERE, VOID_TYPE, .cond = raw_binary(NK_LT, x, i64(25)),
              .message = string_imm("too large", NOWHERE), .body = body);
  Node *fib = MAKE(PrimFunc, NOWHERE, VOID_TYPE, .params = NODES(x), .ret_dtype = INT64,
                   .attrs = dict_new(), .body = body);
  Node *value = MAKE(Call, NOWHERE, INT64, .op = self, .args = NODES(i));
  c.body = loop(LOOP_SERIAL, i, c.n, store_at(C, i, value));
  TvmsModule *m = load_module(module_with(case_module(&c), self, fib), "");
  int64_t out[30];
  CHECK(run_case(m, &c, 20, (void *[]){out}) == 0 && out[0] == 0 && out[19] == 4181);
  CHECK(run_case(m, &c, 30, (void *[]){out}) == -1);
  CHECK(strcmp(tvms_last_error(), "too large") == 0);
  tvms_release(m);
}

TEST(llvm_wrong_number_of_arguments) {
  Case c = case_new();
  Node *C = case_buffer(&c, "c", INT64);
  c.body = store_at(C, i64(0), i64(1));
  TvmsModule *m = load_module(case_module(&c), "");
  TvmsFunc *run = NULL;
  TvmsValue ret;
  int type;
  CHECK(tvms_module_function(&run, m, "run") == 0);
  tvms_release(m);
  CHECK(tvms_func_call(run, NULL, NULL, 0, &ret, &type) == -1);
  CHECK(strcmp(tvms_last_error(), "run: 2 arguments expected, 0 given") == 0);
  tvms_release(run);
}

/* ---- what is refused ---- */

static Case refused(Node *stmt) {
  Case c = case_new();
  case_buffer(&c, "c", INT64);
  c.body = stmt;
  return c;
}

TEST(llvm_refuses_what_a_cpu_has_not) {
  Case c = refused(eval(call("tvm_warp_activemask", INT32, (NodeVec){0})));
  CHECK(compile_raises(&c, "CompileError", "T.tvm_warp_activemask is not supported by the"));
  c = refused(loop(LOOP_THREAD, var("tx"), i64(4), eval(i32(0))));
  CHECK(compile_raises(&c, "CompileError", "a loop bound to a thread is not supported"));
  c = refused(eval(MAKE(Call, NOWHERE, INT32, .op = op_get("tir.exp"), .args = NODES(i32(1)))));
  CHECK(compile_raises(&c, "CompileError", "T.exp needs a float, but got int32"));
}

TEST(llvm_refuses_bad_calls) {
  Case c =
      refused(eval(call("call_extern", INT32, NODES(string_imm("no_such_function", NOWHERE)))));
  CHECK(compile_raises(&c, "CompileError",
                       "there is no C function 'no_such_function' in this process"));
  c = refused(
      eval(call("call_extern", INT32, NODES(string_imm("tvms_arg_count", NOWHERE), i32(1)))));
  CHECK(compile_raises(&c, "CompileError", "tvms_arg_count takes 3 arguments, 1 given"));
  c = refused(eval(call("call_llvm_intrin", INT32, NODES(string_imm("llvm.none", NOWHERE)))));
  const char *none = runs_on("c") ? "T.call_llvm_intrin is not supported by the c target"
                                  : "LLVM has no intrinsic 'llvm.none'";
  CHECK(compile_raises(&c, "CompileError", none));
  c = refused(
      eval(call("call_llvm_intrin", INT32, NODES(string_imm("llvm.minnum.f32", NOWHERE), i32(3)))));
  CHECK(compile_raises(&c, "CompileError", "T.call_llvm_intrin"));
  c = refused(eval(call("reinterpret", INT32, NODES(i64(1)))));
  CHECK(compile_raises(&c, "CompileError", "int32 and int64 differ in size"));
}

TEST(llvm_refuses_ways_out_of_parallel_loops) {
  Node *leave = eval(call("break_loop", VOID_TYPE, (NodeVec){0}));
  Case c = refused(loop(LOOP_PARALLEL, var("i"), i64(4), leave));
  CHECK(compile_raises(&c, "CompileError", "T.break_loop can't leave a parallel loop"));
  c = refused(loop(LOOP_PARALLEL, var("i"), i64(4), eval(call("ret", INT32, NODES(i32(0))))));
  CHECK(compile_raises(&c, "CompileError", "a parallel loop can't return from the function"));
  c = refused(eval(call("continue_loop", VOID_TYPE, (NodeVec){0})));
  CHECK(compile_raises(&c, "CompileError", "T.continue_loop outside a loop"));
}
