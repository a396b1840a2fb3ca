/* te_map.c -- index maps for operators: where a map puts an element, the shape it makes, and its
 * inverse where its outputs are digits of its inputs. */
#include "lang/dialect/te.h"
#include "ir/arith/arith.h"

#define ARG(i)  call->args[i]
#define SPAN(i) call->spans[i]

static IndexMap *map_arg(BuiltinCall *call) {
  if (!value_is_node(ARG(0), NK_IndexMap))
    raise("TypeError", SPAN(0), "expected an index map, found %s", value_type_name(ARG(0)));
  return AS(IndexMap, ARG(0).node);
}

static NodeVec map_operands(BuiltinCall *call, const IndexMap *m) {
  NodeVec given = to_exprs(ARG(1), SPAN(1));
  if (given.len != m->inputs.len)
    raise("ValueError", call->span, "the index map takes %d indices, %d are given", m->inputs.len,
          given.len);
  return given;
}

static Value exprs_as_tuple(NodeVec v) {
  ValueVec items = {0};
  for each (Node *, n, &v) {
    int64_t i;
    vec_push(&items, expr_is_const_int(*n, &i) ? value_int(i) : value_node(*n));
  }
  return value_tuple(items);
}

/* te.map_arity(map): the numbers of its inputs and outputs. */
static Value te_map_arity(BuiltinCall *call) {
  IndexMap *m = map_arg(call);
  return value_tuple_of(2, value_int(m->inputs.len), value_int(m->outputs.len));
}

/* te.map_index(map, index): the index that the map gives. */
static Value te_map_index(BuiltinCall *call) {
  IndexMap *m = map_arg(call);
  NodeVec given = map_operands(call, m), out = {0};
  Map at = {0};
  for (int i = 0; i < given.len; i++)
    map_set(&at, m->inputs.at[i], expr_cast(m->inputs.at[i]->dtype, given.at[i], call->span));
  for each (Node *, x, &m->outputs) vec_push(&out, substitute(*x, &at));
  return exprs_as_tuple(out);
}

/* te.map_shape(map, shape): one more than the greatest index of each output; None if that can't be
 * told. */
static Value te_map_shape(BuiltinCall *call) {
  IndexMap *m = map_arg(call);
  NodeVec given = map_operands(call, m), out = {0};
  Map ranges = {0};
  Analyzer *facts = arith_new();
  for (int i = 0; i < given.len; i++) {
    DataType t = m->inputs.at[i]->dtype;
    Node *range = MAKE(Range, call->span, VOID_TYPE, .min = int_imm(t, 0, call->span),
                       .extent = expr_cast(t, given.at[i], call->span));
    map_set(&ranges, m->inputs.at[i], range);
    arith_bind_range(facts, m->inputs.at[i], AS(Range, range)->min, AS(Range, range)->extent);
  }
  for each (Node *, x, &m->outputs) {
    Node *least, *greatest;
    ConstBound b = arith_const_bound(facts, *x);
    if (b.hi != ARITH_POS_INF && b.hi < INT64_MAX - 1) greatest = int_imm(INT64, b.hi, call->span);
    else if (!arith_bounds_over(*x, &ranges, &least, &greatest)) return value_none();
    Node *n = expr_add(expr_cast(INT64, greatest, call->span), int_imm(INT64, 1, call->span));
    vec_push(&out, arith_simplify(arith_new(), n));
  }
  return exprs_as_tuple(out);
}

/* x // low % extent of a variable; extent 0: without the modulus. */
typedef struct Digit {
  Node *var;
  int64_t low, extent;
} Digit;

static bool find_digit(Node *e, Digit *d) {
  int64_t c;
  if (IS(Var, e)) return d->var = e, true;
  if (IS(FloorMod, e) && !d->extent && d->low == 1 && expr_is_const_int(AS(FloorMod, e)->b, &c)) {
    d->extent = c;
    return c > 0 && find_digit(AS(FloorMod, e)->a, d);
  }
  if (IS(FloorDiv, e) && expr_is_const_int(AS(FloorDiv, e)->b, &c)) {
    d->low *= c;
    return c > 0 && d->low < INT32_MAX && find_digit(AS(FloorDiv, e)->a, d);
  }
  return false;
}

/* te.map_digits(map): for each output the position of its input, what the input is divided by, and
 * the modulus after that (0: none); None if an output is no such digit. */
static Value te_map_digits(BuiltinCall *call) {
  IndexMap *m = map_arg(call);
  ValueVec out = {0};
  for each (Node *, x, &m->outputs) {
    Digit d = {.low = 1};
    int input = -1;
    Node *e = arith_simplify(arith_new(), *x);
    if (!find_digit(e, &d)) return value_none();
    for (int i = 0; i < m->inputs.len; i++)
      if (m->inputs.at[i] == d.var) input = i;
    if (input < 0) return value_none();
    Value digit = value_tuple_of(3, value_int(input), value_int(d.low), value_int(d.extent));
    vec_push(&out, digit);
  }
  return value_tuple(out);
}

const Builtin te_map_names[] = {
    {"map_arity", "map", te_map_arity, "the numbers of inputs and outputs of an index map"},
    {"map_index", "map, index", te_map_index, "the index that an index map gives"},
    {"map_shape", "map, shape", te_map_shape, "the shape that an index map makes"},
    {"map_digits", "map", te_map_digits, "the outputs of an index map as digits of its inputs"},
};
const int te_map_name_count = sizeof te_map_names / sizeof *te_map_names;
