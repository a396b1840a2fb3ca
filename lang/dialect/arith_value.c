/* arith_value.c -- the analyzer of symbolic arithmetic for scripts: the module _arith, on which
 * tvm.arith (stdlib/module/tvm/arith.tvms) stands. */
#include "ir/arith/arith.h"
#include "lang/dialect/dialect_impl.h"

#define ARG(i)  call->args[i]
#define SPAN(i) call->spans[i]

static Analyzer *self_of(BuiltinCall *call) { return call->self.object; }
static Node *expr_arg(BuiltinCall *call, int i) { return to_expr(ARG(i), SPAN(i)); }

static Node *condition_arg(BuiltinCall *call, int i) {
  if (ARG(i).type == &type_bool) return int_imm(BOOL, ARG(i).boolean, SPAN(i));
  Node *n = expr_arg(call, i);
  if (!dtype_is_bool(n->dtype))
    raise("TypeError", SPAN(i), "expected a condition, found %s", dtype_text(n->dtype));
  return n;
}

/* The variable is in a Range, or is an expression. */
static Value bind(BuiltinCall *call) {
  if (!value_is_node(ARG(0), NK_Var))
    raise("TypeError", SPAN(0), "expected a variable, found %s", value_type_text(ARG(0)));
  if (value_is_node(ARG(1), NK_Range)) {
    Range *r = AS(Range, ARG(1).node);
    arith_bind_range(self_of(call), ARG(0).node, r->min, r->extent);
  } else {
    Node *x = expr_cast(ARG(0).node->dtype, expr_arg(call, 1), SPAN(1));
    arith_bind_value(self_of(call), ARG(0).node, x);
  }
  return value_none();
}

static Value simplify(BuiltinCall *call) {
  return value_node(arith_simplify(self_of(call), expr_arg(call, 0)));
}
static Value const_bound(BuiltinCall *call) {
  ConstBound b = arith_const_bound(self_of(call), expr_arg(call, 0));
  return value_tuple_of(2, value_int(b.lo), value_int(b.hi));
}
static Value modular(BuiltinCall *call) {
  Modular m = arith_modular(self_of(call), expr_arg(call, 0));
  return value_tuple_of(2, value_int(m.coeff), value_int(m.base));
}
static Value can_prove(BuiltinCall *call) {
  return value_bool(arith_can_prove(self_of(call), condition_arg(call, 0)));
}
static Value can_prove_equal(BuiltinCall *call) {
  NodeVec x = to_operands(2, call->args, call->span);
  return value_bool(arith_can_prove_equal(self_of(call), x.at[0], x.at[1]));
}
static Value enter(BuiltinCall *call) {
  return value_int(arith_enter(self_of(call), condition_arg(call, 0)));
}
static Value leave(BuiltinCall *call) {
  arith_leave(self_of(call), (int)value_as_int(ARG(0), "a mark", SPAN(0)));
  return value_none();
}

static const Builtin analyzer_methods[] = {
    {"bind", "var, value", bind, "the variable is in this Range, or is this expression"},
    {"simplify", "expr", simplify, "an equal expression, simpler where one is known"},
    {"const_bound", "expr", const_bound, "the least and the greatest value"},
    {"modular", "expr", modular, "(coeff, base): the value is coeff * k + base for some k"},
    {"can_prove", "cond", can_prove, "does the condition hold for all values?"},
    {"can_prove_equal", "a, b", can_prove_equal, "are the two equal for all values?"},
    {"enter", "cond", enter, "the condition holds until leave(mark); the mark"},
    {"leave", "mark", leave, "ends what enter began"},
};

static const ValueType type_analyzer = {.name = "analyzer",
                                        .methods = analyzer_methods,
                                        .method_count =
                                            sizeof analyzer_methods / sizeof *analyzer_methods};

static Value new_analyzer(BuiltinCall *call) {
  (void)call;
  return value_of(&type_analyzer, arith_new());
}

Value arith_namespace(void) {
  static const Builtin rows[] = {{"analyzer", "", new_analyzer, "an analyzer without facts"}};
  Value ns = value_namespace("_arith");
  namespace_add_builtins(ns, rows, 1);
  return ns;
}
