/* call_tir_rewrite.c -- calls in destination-passing style are told where to write.
 *
 * In:  y = R.call_tir(cls.f, (x,), out_sinfo=...), R.call_tir_inplace, R.call_dps_packed.
 * Out: y = R.builtin.alloc_tensor(...); cls.f(x, y). Symbolic variables that a call hands over come
 * behind the outputs. Dataflow blocks become plain ones: these calls have effects, which nobody
 * sees from outside. */
#include "lower/memory/memory.h"

Node *pass_to_non_dataflow(Node *n, const PassContext *context);

static Node *nothing(Span span) { return sinfo_tuple((NodeVec){0}, span); }

/* Operands one by one: the fields of a tuple, known or of a variable. */
static NodeVec operands_of(Node *args) {
  if (IS(Tuple, args)) return AS(Tuple, args)->fields;
  Node *info = sinfo_of(args);
  if (!IS(TupleStructInfo, info)) return NODES(args);
  NodeVec out = {0};
  NodeVec fields = AS(TupleStructInfo, info)->fields;
  for (int i = 0; i < fields.len; i++)
    vec_push(&out, MAKE(TupleGetItem, args->span, VOID_TYPE, .sinfo = fields.at[i], .tuple = args,
                        .index = i));
  return out;
}

typedef struct Rewrite {
  RelaxCall *call;
  RelaxVar *var;
  NodeVec operands, written; /* what the call takes; what it writes */
  NodeVec *out;
} Rewrite;

/* Output i as a binding of its own: of the variable itself if it is the only one. */
static void add_output(Rewrite *r, int i) {
  Node *sinfo = r->call->sinfo_args.at[i];
  Span span = r->call->node.span;
  Node *var = r->call->sinfo_args.len == 1
                  ? &r->var->node
                  : memory_var(str_format("%s_%d", r->var->name, i), sinfo, span);
  vec_push(r->out, memory_bind(var, memory_new_tensor(sinfo, span)));
  vec_push(&r->operands, var);
  vec_push(&r->written, var);
}

static void add_outputs(Rewrite *r) {
  Node *attr = dict_get(r->call->attrs, "inplace_indices");
  int given = r->operands.len;
  for (int i = 0; i < r->call->sinfo_args.len; i++) {
    int64_t at = -1;
    if (IS(Array, attr) && i < AS(Array, attr)->items.len)
      expr_is_const_int(AS(Array, attr)->items.at[i], &at);
    if (at >= given)
      error_raisef("LowerError", r->call->node.span, "there is no operand %d to overwrite",
                   (int)at);
    if (at < 0) add_output(r, i);
    else vec_push(&r->written, r->operands.at[at]);
  }
}

static Node *tuple_of(NodeVec fields, Span span) {
  NodeVec infos = {0};
  for each (Node *, f, &fields) vec_push(&infos, sinfo_of(*f));
  return MAKE(Tuple, span, VOID_TYPE, .sinfo = sinfo_tuple(infos, span), .fields = fields);
}

/* The call itself: of a kernel by its name, of a packed function with nothing more to write. */
static Node *direct_call(Rewrite *r) {
  RelaxCall *c = r->call;
  Span span = c->node.span;
  if (is_op_call(&c->node, "relax.call_dps_packed"))
    return memory_call("relax.call_dps_packed", NODES(c->args.at[0], tuple_of(r->operands, span)),
                       sinfo_object(), span);
  if (c->args.len > 2)
    for each (Node *, v, &AS(ShapeExpr, c->args.at[2])->values)
      vec_push(&r->operands, memory_number(*v, span));
  return MAKE(RelaxCall, span, VOID_TYPE, .sinfo = nothing(span), .op = c->args.at[0],
              .args = r->operands);
}

static void rewrite_call(Node *binding, NodeVec *out) {
  RelaxCall *c = AS(RelaxCall, AS(VarBinding, binding)->value);
  Rewrite r = {.call = c, .var = AS(RelaxVar, AS(VarBinding, binding)->var), .out = out};
  NodeVec given = operands_of(c->args.at[1]);
  for each (Node *, g, &given) {
    Node *operand = *g;
    if (IS(TupleGetItem, operand)) { /* operands are leaves */
      Node *var =
          memory_var(str_format("%s_operand", r.var->name), sinfo_of(operand), operand->span);
      vec_push(out, memory_bind(var, operand));
      operand = var;
    }
    vec_push(&r.operands, operand);
  }
  add_outputs(&r);
  Node *call = direct_call(&r);
  vec_push(out, memory_bind(memory_var("_", AS(RelaxCall, call)->sinfo, call->span), call));
  if (r.written.len == 1 && r.written.at[0] == &r.var->node) return;
  Node *value = r.written.len == 1 ? r.written.at[0] : tuple_of(r.written, c->node.span);
  vec_push(out, memory_bind(&r.var->node, value));
}

static bool writes_outputs(Node *n) {
  return is_op_call(n, "relax.call_tir") || is_op_call(n, "relax.call_tir_with_grad") ||
         is_op_call(n, "relax.call_tir_inplace") ||
         (is_op_call(n, "relax.call_dps_packed") && AS(RelaxCall, n)->sinfo_args.len);
}

static void rewrite(Bindings *b, NodeVec bindings, NodeVec *out) {
  (void)b;
  for each (Node *, n, &bindings)
    if (IS(VarBinding, *n) && writes_outputs(AS(VarBinding, *n)->value)) rewrite_call(*n, out);
    else vec_push(out, *n);
}

Node *pass_call_tir_rewrite(Node *function, const PassContext *context) {
  Bindings b = {.rewrite = rewrite};
  Node *plain = pass_to_non_dataflow(function, context), *out = memory_rewrite(&b, plain);
  if (out == plain) return plain;
  return func_with_attr(out, "relax.force_pure", int_imm(BOOL, 1, function->span));
}
