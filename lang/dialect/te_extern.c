/* te_extern.c -- te.extern: tensors that a program fills, given as a PrimFunc or as the statement
 * of a function of their buffers. */
#include "lang/dialect/te.h"

#define ARG(i)  call->args[i]
#define SPAN(i) call->spans[i]

/* te.extern(f): what a PrimFunc writes to its parameters, all buffers, as tensors. It reads other
 * tensors of te under the names that they have around its definition. */
static Value of_program(BuiltinCall *call) {
  PrimFunc *f = AS(PrimFunc, ARG(0).node);
  Stage *stage = NEW(Stage, .name = "extern", .program = &f->node, .span = call->span);
  ValueVec out = {0};
  for each (Node *, b, &f->buffers) {
    if (!*b) raise("TypeError", SPAN(0), "te.extern takes a prim_func of buffers only");
    vec_push(&stage->buffers, *b);
    vec_push(&out, te_value(*b, stage));
  }
  te_note_stage(stage);
  if (!out.len) raise("ValueError", SPAN(0), "the prim_func writes nothing: it has no parameters");
  return out.len == 1 ? out.at[0] : value_tuple(out);
}

/* ---- te.extern(shape, inputs, fcompute) ---- */

enum { SHAPE, INPUTS, FCOMPUTE, NAME, DTYPE, IN_BUFFERS, OUT_BUFFERS };

typedef VEC(NodeVec) ShapeVec;

/* One shape, or a list of shapes. */
static ShapeVec shapes_arg(BuiltinCall *call) {
  ShapeVec shapes = {0};
  ValueVec items = items_or_one(ARG(SHAPE));
  Value first = items.len ? items.at[0] : value_none();
  bool many = first.type == &type_tuple || first.type == &type_list;
  if (!many) vec_push(&shapes, to_exprs(ARG(SHAPE), SPAN(SHAPE)));
  for (int i = 0; many && i < items.len; i++) vec_push(&shapes, to_exprs(items.at[i], SPAN(SHAPE)));
  return shapes;
}

/* Given, one for all or one each; else that of the inputs. */
static DataType output_dtype(BuiltinCall *call, int i, const ValueVec *inputs) {
  ValueVec given = items_or_one(ARG(DTYPE));
  if (!value_is_none(ARG(DTYPE)))
    return to_dtype(given.at[given.len > 1 && i < given.len ? i : 0], SPAN(DTYPE));
  if (!inputs->len)
    raise("ValueError", call->span, "te.extern without inputs needs the dtype of its outputs");
  return AS(Buffer, te_of(inputs->at[0])->buffer)->elem;
}

static Value buffers_value(NodeVec buffers) {
  ValueVec out = {0};
  for each (Node *, b, &buffers) vec_push(&out, value_node(*b));
  return value_list(out);
}

/* Buffers that the caller made stand for those of the tensors. */
static NodeVec stand_ins(Value given, NodeVec buffers, Map *meaning, Span span) {
  if (value_is_none(given)) return buffers;
  ValueVec items = items_or_one(given);
  NodeVec out = {0};
  if (items.len != buffers.len)
    raise("ValueError", span, "%d buffers are given for %d tensors", items.len, buffers.len);
  for (int i = 0; i < items.len; i++) {
    if (!value_is_node(items.at[i], NK_Buffer))
      raise("TypeError", span, "expected a buffer, found %s", value_type_name(items.at[i]));
    Buffer *from = AS(Buffer, items.at[i].node), *to = AS(Buffer, buffers.at[i]);
    vec_push(&out, &from->node);
    map_set(meaning, from, to);
    map_set(meaning, from->data, to->data);
    if (from->elem_offset && IS(Var, from->elem_offset))
      map_set(meaning, from->elem_offset, int_imm(from->elem_offset->dtype, 0, span));
  }
  return out;
}

static Node *statement_of(Value v, Span span) {
  bool is_stmt = v.type == &type_node && node_family(v.node->kind) == FAMILY_STMT;
  return is_stmt ? v.node : stmt_evaluate(to_expr(v, span), span);
}

static Value of_function(BuiltinCall *call) {
  ValueVec inputs = items_or_one(ARG(INPUTS)), results = {0};
  ShapeVec shapes = shapes_arg(call);
  const char *name = str_intern(value_as_text(ARG(NAME), "the name", SPAN(NAME)));
  Stage *stage = NEW(Stage, .name = name, .span = call->span);
  for each (Value, v, &inputs) {
    if (v->type != &type_te)
      raise("TypeError", SPAN(INPUTS), "expected tensors of te, found %s", value_type_name(*v));
    vec_push(&stage->inputs, te_of(*v)->buffer);
  }
  for (int i = 0; i < shapes.len; i++) {
    const char *own = shapes.len > 1 ? str_intern(str_format("%s_v%d", name, i)) : name;
    vec_push(&stage->buffers,
             buffer_new(own, output_dtype(call, i, &inputs), shapes.at[i], "global", call->span));
    vec_push(&results, te_value(stage->buffers.at[i], stage));
  }
  Map meaning = {0};
  NodeVec ins = stand_ins(ARG(IN_BUFFERS), stage->inputs, &meaning, SPAN(IN_BUFFERS));
  NodeVec outs = stand_ins(ARG(OUT_BUFFERS), stage->buffers, &meaning, SPAN(OUT_BUFFERS));
  Value args[] = {buffers_value(ins), buffers_value(outs)};
  Value body = value_call_with(ARG(FCOMPUTE), 2, args, call->span);
  stage->program = MAKE(PrimFunc, call->span, VOID_TYPE, .buffers = stage->buffers,
                        .body = substitute(statement_of(body, SPAN(FCOMPUTE)), &meaning));
  te_note_stage(stage);
  return results.len == 1 ? results.at[0] : value_tuple(results);
}

Value te_extern(BuiltinCall *call) {
  if (ARG(0).type == &type_poison) raise(ERROR_POISONED, SPAN(0), "an earlier error");
  if (value_is_node(ARG(0), NK_PrimFunc)) return of_program(call);
  if (value_is_none(ARG(FCOMPUTE)))
    raise("TypeError", SPAN(0), "expected a prim_func, or shapes, inputs and a function; found %s",
          value_type_name(ARG(0)));
  return of_function(call);
}
