/* ir_equal.c -- structural equality and hash: names don't count, bound variables stand for each
 * other, shared parts are cheap. */
#include "ir/ir.h"
#include "tests/unit/unit.h"

static const Span here = {0};

static Node *imm(int64_t v) { return int_imm(INT32, v, here); }
static Node *ivar(const char *name) { return var_new(name, INT32, here); }

static bool same(Node *a, Node *b) {
  bool equal = node_equal(a, b, false, NULL);
  const char *why = NULL;
  if (equal != node_equal(a, b, false, &why) || equal == (why != NULL)) CHECK(false);
  if (equal != node_equal(b, a, false, NULL)) CHECK(false);
  if (equal && node_hash(a) != node_hash(b)) CHECK(false);
  return equal;
}

static bool same_renamed(Node *a, Node *b) {
  bool equal = node_equal(a, b, true, NULL);
  if (equal && node_hash(a) != node_hash(b)) CHECK(false);
  return equal && node_equal(b, a, true, NULL);
}

static const char *why(Node *a, Node *b) {
  const char *text = "equal";
  node_equal(a, b, false, &text);
  return text;
}

static bool differs_at(Node *a, Node *b, const char *path) {
  const char *text = why(a, b);
  bool right = strncmp(text, path, strlen(path)) == 0;
  if (!right) printf("  the path is %s\n", text);
  return right;
}

static Node *buffer(const char *name, Node *extent) {
  return buffer_new(name, FLOAT32, NODES(extent), "global", here);
}

static Node *for_loop(Node *var, Node *extent, Node *body) {
  return MAKE(For, here, VOID_TYPE, .min = imm(0), .extent = extent, .var = var, .body = body);
}

/* def f(A: T.Buffer((n,), "float32")): for i in range(n): A[i] = A[i] + k */
static Node *prim_func(const char *a, const char *i, const char *n, double k) {
  Node *dim = ivar(n), *A = buffer(a, dim), *var = ivar(i);
  Node *value = expr_add(expr_load(A, NODES(var), here), float_imm(FLOAT32, k, here));
  Node *loop = for_loop(var, dim, stmt_store(A, NODES(var), value, here));
  return MAKE(PrimFunc, here, VOID_TYPE, .params = NODES(var_new(a, HANDLE, here)),
              .buffers = NODES(A), .ret_dtype = VOID_TYPE, .attrs = dict_new(), .body = loop);
}

TEST(equal_scalars_are_compared_by_kind_dtype_and_value) {
  CHECK(same(imm(1), imm(1)) && !same(imm(1), imm(2)));
  CHECK(!same(imm(1), int_imm(INT64, 1, here)));
  CHECK(!same(float_imm(FLOAT32, 0, here), float_imm(FLOAT32, -0.0, here)));
  CHECK(same(float_imm(FLOAT32, __builtin_nan(""), here),
             float_imm(FLOAT32, -__builtin_nan("1"), here)));
  CHECK(same(string_imm("a", here), string_imm("a", here)));
  CHECK(!same(string_imm("a", here), string_imm("b", here)));
  CHECK(node_equal(NULL, NULL, false, NULL) && !node_equal(NULL, imm(1), false, NULL));
  CHECK(differs_at(imm(1), int_imm(INT64, 1, here), "1 of int32 and "));
}

TEST(equal_free_variables_are_only_themselves) {
  Node *x = ivar("x"), *y = ivar("x");
  CHECK(same(expr_add(x, imm(1)), expr_add(x, imm(1))));
  CHECK(!same(expr_add(x, imm(1)), expr_add(y, imm(1))));
  CHECK(same_renamed(expr_add(x, imm(1)), expr_add(y, imm(1))));
  CHECK(!same_renamed(expr_add(x, x), expr_add(x, y)));
  CHECK(!same_renamed(expr_add(x, y), expr_add(x, x)));
  CHECK(same_renamed(expr_add(x, y), expr_add(y, x)));
  CHECK(!same_renamed(x, var_new("x", INT64, here)));
}

TEST(equal_free_buffers_of_one_form_are_not_the_same) {
  Node *A = buffer("A", imm(8)), *B = buffer("A", imm(8)), *i = ivar("i");
  CHECK(!same(expr_load(A, NODES(i), here), expr_load(B, NODES(i), here)));
  CHECK(same(expr_load(A, NODES(i), here), expr_load(A, NODES(i), here)));
  CHECK(same_renamed(expr_load(A, NODES(i), here), expr_load(B, NODES(i), here)));
  /* Two declarations of one view of a pointer are. */
  Node *copy = gc_copy(A, sizeof(Buffer));
  CHECK(same(expr_load(A, NODES(i), here), expr_load(copy, NODES(i), here)));
}

TEST(equal_functions_may_name_their_variables_as_they_like) {
  Node *f = prim_func("A", "i", "n", 1), *g = prim_func("Buf", "k", "m", 1);
  CHECK(same(f, g) && same_renamed(f, g));
  CHECK(!same(f, prim_func("A", "i", "n", 2)));
  CHECK(differs_at(f, prim_func("A", "i", "n", 2), "body.body.value.b.value: "));
  CHECK(same(f, copy_with_fresh_vars(f)));
}

TEST(equal_bound_variables_pair_one_to_one) {
  /* for i: for j: A[i] = B[j]   against   for i: for j: A[i] = B[i] */
  Node *A = buffer("A", imm(8)), *B = buffer("B", imm(8));
  Node *i = ivar("i"), *j = ivar("j"), *p = ivar("i"), *q = ivar("j");
  Node *x = for_loop(
      i, imm(8), for_loop(j, imm(8), stmt_store(A, NODES(i), expr_load(B, NODES(j), here), here)));
  Node *y = for_loop(
      p, imm(8), for_loop(q, imm(8), stmt_store(A, NODES(p), expr_load(B, NODES(p), here), here)));
  Node *z = for_loop(
      p, imm(8), for_loop(q, imm(8), stmt_store(A, NODES(p), expr_load(B, NODES(q), here), here)));
  CHECK(!same(x, y) && !same_renamed(x, y) && same(x, z));
  CHECK(differs_at(x, y, "body.body.value.indices[0]: "));
}

TEST(equal_a_bound_variable_is_not_a_free_one) {
  Node *A = buffer("A", imm(8)), *i = ivar("i"), *j = ivar("j");
  Node *bound = for_loop(i, imm(8), stmt_store(A, NODES(i), expr_load(A, NODES(i), here), here));
  Node *free = for_loop(j, imm(8), stmt_store(A, NODES(j), expr_load(A, NODES(i), here), here));
  CHECK(!same(bound, free) && !same_renamed(bound, free));
  CHECK(!same(free, bound));
}

TEST(equal_one_variable_may_be_bound_twice_in_scopes_apart) {
  Node *A = buffer("A", imm(8)), *i = ivar("i"), *j = ivar("j"), *k = ivar("k");
  Node *once = for_loop(i, imm(8), stmt_store(A, NODES(i), expr_load(A, NODES(i), here), here));
  Node *first = for_loop(j, imm(8), stmt_store(A, NODES(j), expr_load(A, NODES(j), here), here));
  Node *other = for_loop(k, imm(8), stmt_store(A, NODES(k), expr_load(A, NODES(k), here), here));
  CHECK(same(stmt_seq(NODES(once, once), here), stmt_seq(NODES(first, other), here)));
  CHECK(same(stmt_seq(NODES(once, once), here), stmt_seq(NODES(first, first), here)));
}

TEST(equal_a_shared_large_part_is_compared_under_each_binding) {
  /* large(i) stands under two loops over i; on the other side under loops over j and k, but the
   * second one still mentions j. */
  Node *A = buffer("A", imm(8)), *i = ivar("i"), *j = ivar("j"), *k = ivar("k");
  Node *large_i = expr_load(A, NODES(i), here), *large_j = expr_load(A, NODES(j), here);
  for (int n = 0; n < 20; n++) {
    large_i = expr_add(large_i, expr_load(A, NODES(i), here));
    large_j = expr_add(large_j, expr_load(A, NODES(j), here));
  }
  Node *once = for_loop(i, imm(8), stmt_store(A, NODES(i), large_i, here));
  Node *right = for_loop(j, imm(8), stmt_store(A, NODES(j), large_j, here));
  Node *wrong = for_loop(k, imm(8), stmt_store(A, NODES(k), large_j, here));
  CHECK(!same(stmt_seq(NODES(once, once), here), stmt_seq(NODES(right, wrong), here)));
  CHECK(same(stmt_seq(NODES(once, once), here), stmt_seq(NODES(right, right), here)));
}

TEST(equal_shared_parts_are_not_compared_exponentially) {
  Node *x = ivar("x"), *a = x, *b = x, *c = x;
  for (int i = 0; i < 100; i++) {
    a = expr_add(a, a);
    b = expr_add(b, b);
    c = MAKE(Add, here, INT32, .a = c, .b = i == 50 ? x : c);
  }
  CHECK(same(a, b) && !same(a, c));
  Node *f = for_loop(ivar("i"), a, stmt_evaluate(a, here)),
       *g = for_loop(ivar("j"), b, stmt_evaluate(b, here));
  CHECK(same(f, g));
}

TEST(equal_hash_does_not_see_how_parts_are_shared) {
  Node *x = ivar("x"), *shared = x, *v = ivar("v");
  for (int i = 0; i < 6; i++) shared = expr_add(shared, shared);
  Node *tree[64];
  for (int i = 0; i < 64; i++) tree[i] = x;
  for (int n = 64; n > 1; n /= 2)
    for (int i = 0; i < n / 2; i++)
      tree[i] = MAKE(Add, here, INT32, .a = tree[2 * i], .b = tree[2 * i + 1]);
  CHECK(same(shared, tree[0]));
  /* A part that binds, shared and not. */
  Node *let = MAKE(Let, here, INT32, .value = shared, .var = v, .body = expr_mul(v, v));
  Node *copy = copy_with_fresh_vars(let);
  CHECK(same(expr_add(let, let), expr_add(let, copy)));
  CHECK(same(expr_add(let, let), expr_add(copy, let)));
}

TEST(equal_dictionaries_have_no_order) {
  Node *a = dict_with(dict_with(dict_new(), "x", imm(1)), "y", imm(2));
  Node *b = dict_with(dict_with(dict_new(), "y", imm(2)), "x", imm(1));
  CHECK(same(a, b) && !same(a, dict_with(b, "y", imm(3))));
  CHECK(!same(a, dict_with(a, "z", imm(3))) && !same(dict_with(a, "z", imm(3)), a));
  CHECK(differs_at(a, dict_with(b, "y", imm(3)), "[\"y\"].value: 2 and 3"));
  CHECK(differs_at(a, dict_with(a, "y", NULL), "key \"y\" and no such key"));
  Node *f = MAKE(For, here, VOID_TYPE, .min = imm(0), .extent = imm(1), .var = ivar("i"),
                 .body = stmt_evaluate(imm(0), here));
  For *g = gc_copy(f, sizeof(For));
  g->annotations = dict_new();
  CHECK(same(f, &g->node));
}

/* ---- graph level ---- */

static Node *tensor(Node *dim) { return sinfo_tensor(NODES(dim), FLOAT32, here); }

static Node *relax_var(const char *name, Node *sinfo) {
  return MAKE(RelaxVar, here, VOID_TYPE, .sinfo = sinfo, .name = name);
}

static Node *call(const char *op, Node *arg, Node *sinfo) {
  return MAKE(RelaxCall, here, VOID_TYPE, .sinfo = sinfo, .op = op_get(op), .args = NODES(arg));
}

/* def main(x: R.Tensor((n,))): m defined by match_cast; y: R.Tensor((m,)) = op(x) */
static Node *function(const char *suffix, const char *op, bool use_match) {
  Node *n = var_new(str_format("n%s", suffix), INT64, here), *m = var_new("m", INT64, here);
  Node *x = relax_var(str_format("x%s", suffix), tensor(n)), *info = tensor(m);
  Node *cast = relax_var("c", info), *y = relax_var("y", tensor(use_match ? m : n));
  Node *match = MAKE(MatchCast, here, VOID_TYPE, .value = x, .var = cast, .sinfo = info);
  Node *bind = MAKE(VarBinding, here, VOID_TYPE, .value = call(op, cast, sinfo_of(y)), .var = y);
  Node *block = MAKE(BindingBlock, here, VOID_TYPE, .bindings = NODES(match, bind));
  Node *seq =
      MAKE(SeqExpr, here, VOID_TYPE, .sinfo = sinfo_of(y), .blocks = NODES(block), .body = y);
  return MAKE(Function, here, VOID_TYPE, .params = NODES(x), .ret_sinfo = sinfo_object(),
              .is_pure = true, .attrs = dict_new(), .body = seq);
}

TEST(equal_graph_functions_define_their_dims) {
  Node *f = function("", "relax.exp", true), *g = function("_1", "relax.exp", true);
  CHECK(same(f, g) && same_renamed(f, g) && same(f, copy_with_fresh_vars(f)));
  CHECK(!same(f, function("", "relax.log", true)));
  CHECK(!same(f, function("", "relax.exp", false)));
  CHECK(differs_at(f, function("", "relax.log", true), "body.blocks[0].bindings[1].value.op"));
}

static Node *module_of(int n, ...) {
  Node *m = module_new();
  va_list args;
  va_start(args, n);
  for (int i = 0; i < n; i++) {
    const char *name = va_arg(args, const char *);
    Node *f = va_arg(args, Node *);
    m = module_with(m, MAKE(GlobalVar, here, VOID_TYPE, .name = name), f);
  }
  va_end(args);
  return m;
}

TEST(equal_modules_match_functions_by_name) {
  Node *f = prim_func("A", "i", "n", 1), *g = function("", "relax.exp", true);
  Node *a = module_of(2, "f", f, "g", g),
       *b = module_of(2, "g", copy_with_fresh_vars(g), "f", prim_func("B", "j", "n", 1));
  CHECK(same(a, b));
  CHECK(!same(a, module_of(2, "f", f, "h", g)));
  CHECK(!same(a, module_of(1, "f", f)) && !same(module_of(1, "f", f), a));
  CHECK(differs_at(a, module_of(1, "f", f), "function 'g' and no such function"));
  CHECK(differs_at(module_of(1, "f", f), a, "no such function and function 'g'"));
  CHECK(differs_at(a, module_of(2, "f", prim_func("A", "i", "n", 2), "g", g),
                   "functions[\"f\"].body.body.value.b.value: 1.0 and 2.0"));
}

TEST(equal_functions_share_no_variables) {
  /* The same variable in two functions: paired anew in each. */
  Node *f = prim_func("A", "i", "n", 1), *g = prim_func("A", "i", "n", 1);
  CHECK(same(module_of(2, "f", f, "g", f), module_of(2, "f", f, "g", g)));
  CHECK(same(module_of(2, "f", f, "g", g), module_of(2, "f", f, "g", f)));
}

TEST(equal_constants_are_compared_by_their_numbers) {
  static const float one[] = {1, 2}, two[] = {1, 3};
  static const int64_t shape[] = {2}, other[] = {1, 2};
  Node *a = MAKE(Constant, here, VOID_TYPE, .data = NEW(ConstData, FLOAT32, 1, shape, one, 8));
  Node *b = MAKE(Constant, here, VOID_TYPE, .data = NEW(ConstData, FLOAT32, 1, shape, two, 8));
  Node *c = MAKE(Constant, here, VOID_TYPE, .data = NEW(ConstData, FLOAT32, 2, other, one, 8));
  Node *d = MAKE(Constant, here, VOID_TYPE, .data = NEW(ConstData, FLOAT32, 1, shape, one, 8));
  CHECK(same(a, d) && !same(a, b) && !same(a, c));
}

TEST(equal_deep_nests_and_long_sequences_are_no_problem) {
  enum { DEPTH = 20000, LENGTH = 100000 };
  Node *A = buffer("A", imm(8)), *trees[2];
  for (int side = 0; side < 2; side++) {
    Node *body = stmt_evaluate(imm(0), here), *v = ivar("v");
    for (int i = 0; i < DEPTH; i++) {
      Node *outer = ivar("w");
      body =
          MAKE(LetStmt, here, VOID_TYPE, .value = expr_add(outer, imm(1)), .var = v, .body = body);
      v = outer;
    }
    trees[side] = for_loop(v, imm(8), body);
  }
  CHECK(same(trees[0], trees[1]));
  NodeVec stmts = {0};
  for (int i = 0; i < LENGTH; i++)
    vec_push(&stmts, stmt_store(A, NODES(imm(i % 8)), float_imm(FLOAT32, i, here), here));
  Node *seq = stmt_seq(stmts, here);
  CHECK(same(seq, stmt_seq(stmts, here)));
  Node *sum = imm(1), *other = imm(1);
  for (int i = 0; i < LENGTH; i++) sum = MAKE(Add, here, INT32, .a = sum, .b = imm(i));
  for (int i = 0; i < LENGTH; i++) other = MAKE(Add, here, INT32, .a = other, .b = imm(i));
  CHECK(same(sum, other));
}
