/* specialize.c -- f.specialize({n: 16}): a tensor program with some parameters fixed. */
#include "lang/dialect/node_class.h"

static int param_index(const PrimFunc *f, Node *param) {
  for (int i = 0; i < f->params.len; i++)
    if (f->params.at[i] == param || f->buffers.at[i] == param) return i;
  return -1;
}

static void fix(Map *map, Node *var, Node *value, Span span) {
  Node *known = map_get(map, var);
  value = expr_cast(var->dtype, value, span);
  if (known && !node_equal(known, value, false, NULL))
    raise("ValueError", span, "'%s' would be both %s and %s", AS(Var, var)->name,
          ir_print(known, NULL), ir_print(value, NULL));
  map_set(map, var, value);
}

/* A buffer in the place of a parameter's: its dims fix those that are variables. */
static void fix_dims(Map *map, Buffer *from, Buffer *to, Span span) {
  if (from->shape.len != to->shape.len)
    raise("ValueError", span, "the buffer has %d dims, and the parameter's %d", to->shape.len,
          from->shape.len);
  for (int i = 0; i < from->shape.len; i++) {
    Node *dim = from->shape.at[i], *value = to->shape.at[i];
    if (IS(Var, dim)) fix(map, dim, value, span);
    else if (!node_equal(dim, expr_cast(dim->dtype, value, span), false, NULL))
      raise("ValueError", span, "dim %d of the parameter is %s, not %s", i, ir_print(dim, NULL),
            ir_print(value, NULL));
  }
}

/* Fixed variables by their values, and operators of constants by what they give. */
static Node *fix_and_fold(Mutator *m, Node *n) {
  Node *value = IS(Var, n) ? map_get(m->context, n) : NULL, *out;
  if (value) return value;
  out = mutate_children(m, n);
  if (out == n || !node_is_binary((NodeKind)out->kind)) return out;
  Binary *sides = (Binary *)(void *)out;
  int64_t a, b;
  bool known = expr_is_const_int(sides->a, &a) && expr_is_const_int(sides->b, &b);
  bool divides = IS(FloorDiv, n) || IS(FloorMod, n) || IS(Mod, n);
  if (!known || IS(Div, n) || (divides && !b)) return out;
  return expr_binary((NodeKind)out->kind, sides->a, sides->b, n->span);
}

Value func_specialize(BuiltinCall *call) {
  PrimFunc *f = AS(PrimFunc, call->self.node);
  Span span = call->span;
  Map map = {0};
  if (call->args[0].type != &type_dict)
    raise("TypeError", span, "specialize() takes a dict from parameters to what they are");
  for (int k = 0; k < value_dict_len(call->args[0]); k++) {
    Value key, value;
    value_dict_entry(call->args[0], k, &key, &value);
    int i = key.type == &type_node ? param_index(f, key.node) : -1;
    if (i < 0) raise("ValueError", span, "%s is no parameter of the function", value_repr(key));
    if (value_is_node(value, NK_Buffer) && f->buffers.at[i]) {
      fix_dims(&map, AS(Buffer, f->buffers.at[i]), AS(Buffer, value.node), span);
    } else if (!f->buffers.at[i]) {
      fix(&map, f->params.at[i], to_expr(value, span), span);
    } else {
      raise("TypeError", span, "a parameter of a buffer is fixed by a buffer, found %s",
            value_type_name(value));
    }
  }
  PrimFunc out = *f;
  out.params = out.buffers = (NodeVec){0};
  for (int i = 0; i < f->params.len; i++) {
    if (map_has(&map, f->params.at[i])) continue; /* fixed, also by the dim of a buffer */
    vec_push(&out.params, f->params.at[i]);
    vec_push(&out.buffers, f->buffers.at[i]);
  }
  if (!map.live) return call->self;
  Mutator fixing = {.rewrite = fix_and_fold, .context = &map};
  return value_node(mutate(&fixing, gc_copy(&out, sizeof out)));
}
