/* arith_value.c -- the analyzer of symbolic arithmetic for scripts: the module _arith, on which
 * tvm.arith (stdlib/module/tvm/arith.tvms) stands. */
#include "ir/arith/int_set.h"
#include "ir/arith/iter_map.h"
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

/* ---- sets and regions ---- */

static Value end_value(Node *end) { return end ? value_node(end) : value_none(); }
static Value set_value(IntSet s) { return value_tuple_of(2, end_value(s.min), end_value(s.max)); }

static Node *var_of(Value v, Span span) {
  if (!value_is_node(v, NK_Var))
    raise("TypeError", span, "expected a variable, found %s", value_type_text(v));
  return v.node;
}

static Range *range_of(Value v, Span span) {
  if (!value_is_node(v, NK_Range))
    raise("TypeError", span, "expected a Range, found %s", value_type_text(v));
  return AS(Range, v.node);
}

/* Pairs of variables and what they take. */
static const ValueVec *pairs_arg(BuiltinCall *call, int i) { return value_items(ARG(i)); }

static Map loops_arg(BuiltinCall *call, int i) {
  Map loops = {0};
  for each (Value, pair, pairs_arg(call, i)) {
    const ValueVec *parts = value_items(*pair);
    map_set(&loops, var_of(parts->at[0], SPAN(i)), range_of(parts->at[1], SPAN(i)));
  }
  return loops;
}

static Node *end_of(Value v, Span span) { return value_is_none(v) ? NULL : to_expr(v, span); }

/* int_set(expr, [(var, min, max)], analyzer); an end may be None. */
static Value int_set(BuiltinCall *call) {
  Map sets = {0};
  for each (Value, row, pairs_arg(call, 1)) {
    const ValueVec *parts = value_items(*row);
    IntSet s = {end_of(parts->at[1], SPAN(1)), end_of(parts->at[2], SPAN(1))};
    map_set(&sets, var_of(parts->at[0], SPAN(1)), gc_copy(&s, sizeof s));
  }
  return set_value(arith_int_set_under(ARG(2).object, expr_arg(call, 0), &sets));
}

static NodeVec region_arg(BuiltinCall *call, int i) {
  NodeVec region = {0};
  for each (Value, r, value_items(ARG(i))) vec_push(&region, &range_of(*r, SPAN(i))->node);
  return region;
}

static Value box_value(IntSetVec box) {
  ValueVec sets = {0};
  for each (IntSet, s, &box) vec_push(&sets, set_value(*s));
  return value_list(sets);
}

static Value around(BuiltinCall *call) {
  Map loops = loops_arg(call, 1);
  return box_value(region_around(region_arg(call, 0), &loops));
}

/* exact(region, loops, predicate, analyzer) */
static Value exact(BuiltinCall *call) {
  Map loops = loops_arg(call, 1);
  IntSetVec box = {0};
  bool known =
      region_exact(region_arg(call, 0), &loops, condition_arg(call, 2), ARG(3).object, &box);
  return known ? box_value(box) : value_none();
}

/* ---- iteration maps ---- */

static Value sum_value(const IterSum *sum, DataType t);

/* (lower, extent, scale, variable or sum, extent and low of that) */
static Value split_value(const IterSplit *x, DataType t) {
  const IterMark *m = x->source;
  Span none = {0};
  return value_tuple_of(6, value_node(factor_expr(&x->lower, t, none)),
                        value_node(factor_expr(&x->extent, t, none)),
                        value_node(factor_expr(&x->scale, t, none)),
                        m->var ? value_node(m->var) : sum_value(&m->sum, t),
                        value_node(factor_expr(&m->extent, t, none)), value_node(m->low));
}

static Value sum_value(const IterSum *sum, DataType t) {
  ValueVec splits = {0};
  for each (IterSplit, x, &sum->splits) vec_push(&splits, split_value(x, t));
  return value_tuple_of(2, value_node(sum->base), value_list(splits));
}

static NodeVec exprs_arg(BuiltinCall *call, int i) {
  NodeVec exprs = {0};
  for each (Value, v, value_items(ARG(i))) vec_push(&exprs, to_expr(*v, SPAN(i)));
  return exprs;
}

/* iter_map(indices, loops, predicate, analyzer): (injective, surjective, sums) */
static Value iter_map(BuiltinCall *call) {
  NodeVec indices = exprs_arg(call, 0);
  Map loops = loops_arg(call, 1);
  IterMap m = iter_map_detect(indices, &loops, condition_arg(call, 2), ARG(3).object);
  ValueVec sums = {0};
  for (int i = 0; i < m.sums.len; i++)
    vec_push(&sums, m.sums.at[i] ? sum_value(m.sums.at[i], indices.at[i]->dtype) : value_none());
  return value_tuple_of(3, value_bool(m.injective), value_bool(m.surjective), value_list(sums));
}

/* iter_inverse(indices, loops, predicate, analyzer, outputs): [(var, expr)], or None */
static Value iter_inverse(BuiltinCall *call) {
  Map loops = loops_arg(call, 1), values = {0};
  IterMap m = iter_map_detect(exprs_arg(call, 0), &loops, condition_arg(call, 2), ARG(3).object);
  NodeVec outputs = exprs_arg(call, 4);
  if (outputs.len != m.sums.len)
    raise("ValueError", SPAN(4), "the map has %d indices, %d outputs are given", m.sums.len,
          outputs.len);
  if (!iter_map_inverse(&m, outputs, &values)) return value_none();
  ValueVec pairs = {0};
  for (int i = 0; i < values.len; i++) {
    if (!values.at[i].key) continue;
    Node *value = arith_simplify(ARG(3).object, values.at[i].value);
    vec_push(&pairs,
             value_tuple_of(2, value_node((Node *)(uintptr_t)values.at[i].key), value_node(value)));
  }
  return value_list(pairs);
}

static Value iter_simplified(BuiltinCall *call) {
  Map loops = loops_arg(call, 1);
  return value_node(iter_simplify(expr_arg(call, 0), &loops, ARG(2).object));
}

/* access_regions(block, [(pointer, buffer)]): (reads, writes), or None if an access is opaque. */
static Value access_regions(BuiltinCall *call) {
  Map visible = {0};
  NodeVec reads = {0}, writes = {0};
  if (!value_is_node(ARG(0), NK_Block))
    raise("TypeError", SPAN(0), "expected a block, found %s", value_type_text(ARG(0)));
  for each (Value, pair, pairs_arg(call, 1))
    map_set(&visible, value_items(*pair)->at[0].node, value_items(*pair)->at[1].node);
  if (!block_access_regions(ARG(0).node, visible.live ? &visible : NULL, &reads, &writes))
    return value_none();
  ValueVec lists[2] = {{0}, {0}};
  for each (Node *, r, &reads) vec_push(&lists[0], value_node(*r));
  for each (Node *, w, &writes) vec_push(&lists[1], value_node(*w));
  return value_tuple_of(2, value_list(lists[0]), value_list(lists[1]));
}

Value arith_namespace(void) {
  static const Builtin rows[] = {
      {"analyzer", "", new_analyzer, "an analyzer without facts"},
      {"int_set", "expr, sets, analyzer", int_set, "(min, max) of an expression; None: no end"},
      {"around", "region, loops", around, "a box around a region as loops run"},
      {"exact", "region, loops, predicate, analyzer", exact,
       "the box that a region takes, or None"},
      {"iter_map", "indices, loops, predicate, analyzer", iter_map, "indices as sums of digits"},
      {"iter_inverse", "indices, loops, predicate, analyzer, outputs", iter_inverse,
       "loop variables in terms of the indices"},
      {"access_regions", "block, visible", access_regions, "what a block reads and writes"},
      {"iter_simplify", "expr, loops, analyzer", iter_simplified, "simpler by its digits"},
  };
  Value ns = value_namespace("_arith");
  namespace_add_builtins(ns, rows, sizeof rows / sizeof *rows);
  return ns;
}
