/* index_map_value.c -- index maps as values of the language: made from lambdas, applied to indices
 * and shapes, inverted. */
#include "ir/arith/iter_map.h"
#include "lang/dialect/node_class.h"

#define ARG(i)  call->args[i]
#define SPAN(i) call->spans[i]

/* ---- from lambdas ---- */

/* What stands between the outputs of a map where a physical dimension ends. */
static const char axis_separator[] = "axis_separator";

/* The outputs that a lambda gives, and at which of them physical dimensions end. */
static NodeVec outputs_of(Value result, DataType t, IntVec *separators, Span span) {
  NodeVec out = {0};
  ValueVec items = {0};
  if (result.type == &type_list || result.type == &type_tuple) items = value_to_vec(result, span);
  else vec_push(&items, result);
  for each (Value, v, &items) {
    if (v->type != &type_str) {
      Node *x = to_expr(*v, span);
      vec_push(&out, IS(IntImm, x) && !dtype_is_void(t) ? expr_cast(t, x, span) : x);
      continue;
    }
    if (!str_same(value_text(*v), axis_separator))
      raise("TypeError", span, "an index map gives expressions and IndexMap.AXIS_SEPARATOR");
    vec_push(separators, out.len);
  }
  return out;
}

Node *index_map_from(Value mapping, int ndim, DataType t, IntVec *separators, Span span) {
  if (value_is_node(mapping, NK_IndexMap)) return mapping.node;
  NodeVec inputs = {0};
  ValueVec args = {0};
  int n = function_arity(mapping, ndim);
  if (n < 0 && function_arity(mapping, 0) == 0)
    raise("TypeError", span, "how many indices the map takes is not known; give 'ndim'");
  if (n < 0) raise("TypeError", span, "expected a lambda, found %s", value_type_name(mapping));
  for (int i = 0; i < n; i++) {
    Node *v = var_new(str_intern(str_format("i%d", i)), t, span);
    vec_push(&inputs, v);
    vec_push(&args, value_node(v));
  }
  NodeVec outputs = outputs_of(value_call_with(mapping, n, args.at, span), t, separators, span);
  return MAKE(IndexMap, span, VOID_TYPE, .inputs = inputs, .outputs = outputs);
}

static Node *map_without_separators(Value mapping, int ndim, DataType t, Span span) {
  IntVec separators = {0};
  Node *map = index_map_from(mapping, ndim, t, &separators, span);
  if (separators.len) raise("TypeError", span, "this index map takes no axis separators");
  return map;
}

Value t_index_map(BuiltinCall *call) {
  DataType t = to_dtype(ARG(2), SPAN(2));
  Node *map = map_without_separators(ARG(0), 0, t, SPAN(0));
  if (!value_is_none(ARG(1)))
    AS(IndexMap, map)->inverse =
        map_without_separators(ARG(1), AS(IndexMap, map)->outputs.len, t, SPAN(1));
  return value_node(map);
}

/* mapping_function, ndim, inverse_index_map, index_dtype */
static Node *map_from_args(BuiltinCall *call, IntVec *separators) {
  DataType t = to_dtype(ARG(3), SPAN(3));
  int ndim = value_is_none(ARG(1)) ? -1 : (int)value_as_int(ARG(1), "ndim", SPAN(1));
  Node *map = index_map_from(ARG(0), ndim, t, separators, SPAN(0));
  if (!value_is_none(ARG(2)))
    AS(IndexMap, map)->inverse =
        map_without_separators(ARG(2), AS(IndexMap, map)->outputs.len, t, SPAN(2));
  return map;
}

Value index_map_from_func(BuiltinCall *call) {
  IntVec separators = {0};
  Node *map = map_from_args(call, &separators);
  if (separators.len)
    raise("TypeError", SPAN(0), "the map has axis separators; use from_func_with_separators");
  return value_node(map);
}

Value index_map_from_func_with_separators(BuiltinCall *call) {
  IntVec separators = {0};
  Node *map = map_from_args(call, &separators);
  ValueVec items = {0};
  for each (int, at, &separators) vec_push(&items, value_int(*at));
  return value_tuple_of(2, value_node(map), value_list(items));
}

/* ---- methods ---- */

static IndexMap *self_of(BuiltinCall *call) { return AS(IndexMap, call->self.node); }

static NodeVec operands_of(BuiltinCall *call) {
  NodeVec given = {0};
  ValueVec items = value_to_vec(ARG(0), SPAN(0));
  for each (Value, v, &items) {
    Node *x = value_is_node(*v, NK_Range) ? AS(Range, v->node)->extent : to_expr(*v, SPAN(0));
    vec_push(&given, x);
  }
  if (given.len != self_of(call)->inputs.len)
    raise("ValueError", SPAN(0), "the index map takes %d indices, %d are given",
          self_of(call)->inputs.len, given.len);
  return given;
}

static Value exprs_value(NodeVec v) {
  ValueVec items = {0};
  for each (Node *, n, &v) vec_push(&items, value_node(*n));
  return value_list(items);
}

static Value map_indices(BuiltinCall *call) {
  NodeVec out = {0}, at = index_map_apply(self_of(call), operands_of(call), call->span);
  Analyzer *facts = arith_new();
  for each (Node *, x, &at) vec_push(&out, arith_simplify(facts, *x));
  return exprs_value(out);
}

static Value map_shape(BuiltinCall *call) {
  NodeVec shape;
  if (!index_map_shape(self_of(call), operands_of(call), arith_new(), &shape))
    raise("ValueError", call->span, "the shape that the index map makes is not known");
  return exprs_value(shape);
}

/* The inverse over a shape, and the condition that an element of its domain is padding. */
static Node *inverse_of(BuiltinCall *call, Node **padding) {
  *padding = int_imm(BOOL, 0, call->span);
  if (self_of(call)->inverse) return self_of(call)->inverse;
  Node *inverse = index_map_inverse(self_of(call), operands_of(call), arith_new(), padding);
  if (!inverse)
    raise("ValueError", call->span, "the index map is not known to have an inverse over the shape");
  return inverse;
}

static Value inverse(BuiltinCall *call) {
  Node *padding, *map = inverse_of(call, &padding);
  if (!expr_is_zero(padding))
    raise("ValueError", call->span, "the index map leaves padding over the shape, where %s",
          ir_print(padding, NULL));
  return value_node(map);
}

static Value non_surjective_inverse(BuiltinCall *call) {
  Node *padding, *map = inverse_of(call, &padding);
  return value_tuple_of(2, value_node(map), value_node(padding));
}

static Value is_equivalent_to(BuiltinCall *call) {
  if (!value_is_node(ARG(0), NK_IndexMap))
    raise("TypeError", SPAN(0), "expected an index map, found %s", value_type_name(ARG(0)));
  IndexMap *a = self_of(call), *b = AS(IndexMap, ARG(0).node);
  if (a->inputs.len != b->inputs.len || a->outputs.len != b->outputs.len) return value_bool(false);
  if (a->inputs.len && !dtype_equal(a->inputs.at[0]->dtype, b->inputs.at[0]->dtype))
    b = AS(IndexMap, index_map_of_dtype(b, a->inputs.at[0]->dtype));
  NodeVec other = index_map_apply(b, a->inputs, call->span);
  Analyzer *facts = arith_new();
  for (int i = 0; i < a->outputs.len; i++)
    if (!arith_can_prove_equal(facts, a->outputs.at[i], other.at[i])) return value_bool(false);
  return value_bool(true);
}

static Value map_tensor(BuiltinCall *call) {
  Value args[] = {call->self, ARG(0)};
  return value_call_with(library_attr("tvm.tir.index_map", "map_tensor"), 2, args, call->span);
}

static const Builtin methods[] = {
    {"map_tensor", "arr_src", map_tensor, "a tensor whose elements the map moves"},
    {"map_indices", "indices", map_indices, "where the map puts an element"},
    {"map_shape", "shape", map_shape, "the shape that the map makes of a shape"},
    {"inverse", "shape", inverse, "the inverse of a map that fills the shape it makes"},
    {"non_surjective_inverse", "shape", non_surjective_inverse,
     "the inverse, and the condition that an element is padding"},
    {"is_equivalent_to", "other_map", is_equivalent_to, "do the maps give the same indices?"},
};
enum { METHODS = sizeof methods / sizeof *methods };

Value index_map_attr(Value v, const char *name) {
  return builtin_method(methods, METHODS, v, name);
}
