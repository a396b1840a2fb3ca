/* ir_sinfo.c -- struct info: what belongs to what, what covers both, results of calls. */
#include "ir/ir.h"
#include "tests/unit/unit.h"

static const Span here;

static Node *num(int64_t v) { return int_imm(INT64, v, here); }
static Node *dim(const char *name) { return var_new(name, INT64, here); }
static Node *tensor(NodeVec shape) { return sinfo_tensor(shape, FLOAT32, here); }
static Node *unknown(int ndim) { return sinfo_tensor_unknown(FLOAT32, ndim, here); }
static Node *shape(NodeVec dims) {
  return MAKE(ShapeStructInfo, here, VOID_TYPE, .known = true, .values = dims, .ndim = dims.len);
}
static Node *prim(DataType t, Node *value) {
  return MAKE(PrimStructInfo, here, VOID_TYPE, .elem = t, .value = value);
}
static Node *func(NodeVec params, Node *ret, bool pure) {
  return MAKE(FuncStructInfo, here, VOID_TYPE, .known = true, .params = params, .ret = ret,
              .is_pure = pure);
}

static bool says(Node *base, Node *derived, const char *text) {
  const char *why = NULL;
  return sinfo_check(base, derived, &why) == SINFO_NO && str_same(why, text);
}

TEST(sinfo_tensors_belong_to_what_tells_less) {
  Node *n = dim("n"), *m = dim("m"), *t = tensor(NODES(n, num(4)));
  CHECK(sinfo_check(sinfo_object(), t, NULL) == SINFO_YES);
  CHECK(sinfo_check(t, sinfo_object(), NULL) == SINFO_MAYBE);
  CHECK(sinfo_check(unknown(-1), t, NULL) == SINFO_YES);
  CHECK(sinfo_check(unknown(2), t, NULL) == SINFO_YES);
  CHECK(sinfo_check(t, unknown(2), NULL) == SINFO_MAYBE);
  CHECK(sinfo_check(t, unknown(-1), NULL) == SINFO_MAYBE);
  CHECK(sinfo_check(t, tensor(NODES(n, num(4))), NULL) == SINFO_YES);
  CHECK(sinfo_check(t, tensor(NODES(m, num(4))), NULL) == SINFO_MAYBE);
  CHECK(says(unknown(3), t, "the rank is 2, not 3"));
  CHECK(says(t, tensor(NODES(n, num(5))), "dimension 1 is 5, not 4") ||
        says(t, tensor(NODES(n, num(5))), "dimension 1 is 5, not 4"));
  CHECK(sinfo_check(t, tensor(NODES(expr_add(n, num(1)), num(4))), NULL) == SINFO_NO);
  CHECK(says(sinfo_tensor(NODES(n), INT32, here), tensor(NODES(n)),
             "the dtype is float32, not int32"));
}

TEST(sinfo_of_other_kinds_is_compared) {
  Node *n = dim("n"), *m = dim("m");
  CHECK(sinfo_check(shape(NODES(n)), shape(NODES(n)), NULL) == SINFO_YES);
  CHECK(sinfo_check(shape(NODES(n)), shape(NODES(m)), NULL) == SINFO_MAYBE);
  CHECK(says(shape(NODES(n)), shape(NODES(n, m)), "the rank is 2, not 1"));
  CHECK(sinfo_check(prim(INT64, NULL), prim(INT64, n), NULL) == SINFO_YES);
  CHECK(sinfo_check(prim(INT64, n), prim(INT64, expr_add(n, num(2))), NULL) == SINFO_NO);
  CHECK(says(prim(INT64, NULL), prim(INT32, NULL), "the dtype is int32, not int64"));
  CHECK(says(sinfo_tuple(NODES(tensor(NODES(n)), unknown(1)), here),
             sinfo_tuple(NODES(tensor(NODES(n)), unknown(2)), here),
             "field 1: the rank is 2, not 1"));
  CHECK(says(tensor(NODES(n)), shape(NODES(n)), "it is R.Shape, not R.Tensor"));
  Node *f = func(NODES(tensor(NODES(n))), tensor(NODES(n)), true);
  Node *g = func(NODES(tensor(NODES(m))), tensor(NODES(m)), true);
  CHECK(sinfo_check(f, g, NULL) == SINFO_YES); /* the dims are bound in them */
  CHECK(
      says(f, func(NODES(tensor(NODES(m))), tensor(NODES(m)), false), "the function has effects"));
}

TEST(sinfo_join_covers_both) {
  Node *n = dim("n"), *m = dim("m");
  Node *a = tensor(NODES(n, num(4))), *b = tensor(NODES(m, num(4)));
  Node *j = sinfo_join(a, b);
  CHECK(IS(TensorStructInfo, j) && !AS(TensorStructInfo, j)->shape &&
        AS(TensorStructInfo, j)->ndim == 2);
  CHECK(sinfo_check(j, a, NULL) == SINFO_YES && sinfo_check(j, b, NULL) == SINFO_YES);
  CHECK(sinfo_join(a, tensor(NODES(n, num(4)))) == a);
  CHECK(AS(TensorStructInfo, sinfo_join(a, unknown(3)))->ndim == -1);
  CHECK(dtype_is_void(
      AS(TensorStructInfo, sinfo_join(a, sinfo_tensor(NODES(n, num(4)), INT32, here)))->elem));
  CHECK(IS(ObjectStructInfo, sinfo_join(a, shape(NODES(n)))));
  CHECK(IS(TupleStructInfo, sinfo_join(sinfo_tuple(NODES(a), here), sinfo_tuple(NODES(b), here))));
  CHECK(IS(ObjectStructInfo,
           sinfo_join(sinfo_tuple(NODES(a), here), sinfo_tuple(NODES(a, b), here))));
  CHECK(!AS(PrimStructInfo, sinfo_join(prim(INT64, n), prim(INT64, m)))->value);
}

TEST(sinfo_erases_what_is_not_known_outside) {
  Node *n = dim("n"), *m = dim("m");
  Map known = {0};
  map_set(&known, n, n);
  Node *t = tensor(NODES(n, num(4)));
  CHECK(sinfo_erase_vars(t, &known) == t);
  Node *e = sinfo_erase_vars(tensor(NODES(n, m)), &known);
  CHECK(!AS(TensorStructInfo, e)->shape && AS(TensorStructInfo, e)->ndim == 2);
  CHECK(!AS(ShapeStructInfo, sinfo_erase_vars(shape(NODES(m)), &known))->known);
  CHECK(!AS(PrimStructInfo, sinfo_erase_vars(prim(INT64, m), &known))->value);
  Node *f = func(NODES(tensor(NODES(m))), tensor(NODES(m)), true);
  CHECK(sinfo_erase_vars(f, &known) == f);
  Node *s = MAKE(RelaxVar, here, VOID_TYPE, .sinfo = shape(NODES(n, num(2))), .name = "s");
  Node *by_var = MAKE(TensorStructInfo, here, VOID_TYPE, .shape = s, .elem = FLOAT32, .ndim = 2);
  CHECK(node_equal(sinfo_erase_vars(by_var, &known), tensor(NODES(n, num(2))), false, NULL));
}

TEST(sinfo_of_a_call_takes_dims_from_the_arguments) {
  Node *n = dim("n"), *m = dim("m"), *k = dim("k"), *c = dim("c");
  Node *f = func(NODES(tensor(NODES(n, m)), tensor(NODES(m, k))),
                 tensor(NODES(n, expr_mul(k, num(2)))), true);
  Node *out =
      sinfo_of_call_result(f, NODES(tensor(NODES(c, num(3))), tensor(NODES(num(3), num(5)))), here);
  CHECK(node_equal(out, tensor(NODES(c, num(10))), false, NULL));
  out = sinfo_of_call_result(f, NODES(tensor(NODES(c, num(3))), unknown(2)), here);
  CHECK(IS(TensorStructInfo, out) && !AS(TensorStructInfo, out)->shape &&
        AS(TensorStructInfo, out)->ndim == 2);
  /* A compound dim may stand before the one that defines it. */
  Node *g =
      func(NODES(tensor(NODES(expr_add(n, num(1)))), shape(NODES(n))), tensor(NODES(n)), true);
  out = sinfo_of_call_result(g, NODES(tensor(NODES(num(8))), shape(NODES(num(7)))), here);
  CHECK(node_equal(out, tensor(NODES(num(7))), false, NULL));
  /* Recursion: the callee's n is the caller's n - 1. */
  Node *h = func(NODES(tensor(NODES(n))), tensor(NODES(expr_add(n, num(1)))), true);
  out = sinfo_of_call_result(h, NODES(tensor(NODES(expr_sub(n, num(1))))), here);
  CHECK(node_equal(out, tensor(NODES(n)), false, NULL));
}

typedef struct BadCall {
  Node *func;
  NodeVec args;
} BadCall;

static void call_badly(void *context) {
  BadCall *b = context;
  sinfo_of_call_result(b->func, b->args, here);
}

static bool raises(Node *f, NodeVec args, const char *part) {
  BadCall b = {f, args};
  Error *e = protect(call_badly, &b);
  return e && str_same(e->kind, "TypeError") && strstr(e->text, part);
}

TEST(sinfo_of_a_call_refuses_arguments_that_do_not_fit) {
  Node *n = dim("n"), *f = func(NODES(tensor(NODES(n)), tensor(NODES(n))), tensor(NODES(n)), true);
  CHECK(raises(f, NODES(tensor(NODES(num(3)))), "takes 2 arguments, 1 is given"));
  CHECK(raises(f, NODES(tensor(NODES(num(3))), tensor(NODES(num(4)))), "dimension 0 is"));
  CHECK(raises(f, NODES(tensor(NODES(num(3))), tensor(NODES(num(3), num(3)))),
               "argument 2 is R.Tensor"));
  CHECK(
      raises(f, NODES(tensor(NODES(num(3))), shape(NODES(num(3)))), "it is R.Shape, not R.Tensor"));
  CHECK(raises(f, NODES(sinfo_tensor(NODES(n), INT32, here), tensor(NODES(n))),
               "the dtype is int32"));
}

static Node *call(Node *op, NodeVec args, NodeVec given) {
  return MAKE(RelaxCall, here, VOID_TYPE, .op = op, .args = args, .sinfo_args = given);
}

TEST(sinfo_of_call_forms_is_what_they_give) {
  Node *t = tensor(NODES(num(2))), *op = op_get("relax.call_tir");
  CHECK(sinfo_infer_call(call(op, (NodeVec){0}, NODES(t))) == t);
  CHECK(IS(TupleStructInfo, sinfo_infer_call(call(op, (NodeVec){0}, NODES(t, t)))));
  CHECK(IS(ObjectStructInfo,
           sinfo_infer_call(call(op_get("relax.call_packed"), (NodeVec){0}, (NodeVec){0}))));
  CHECK(relax_call_has_effects(call(op_get("relax.call_packed"), (NodeVec){0}, (NodeVec){0})));
  CHECK(!relax_call_has_effects(call(op, (NodeVec){0}, NODES(t))));
  Node *x = MAKE(RelaxVar, here, VOID_TYPE, .sinfo = t, .name = "x");
  Node *g = MAKE(GlobalVar, here, VOID_TYPE, .name = "g", .sinfo = func(NODES(t), t, true));
  CHECK(sinfo_infer_call(call(g, NODES(x), (NodeVec){0})) == t);
}
