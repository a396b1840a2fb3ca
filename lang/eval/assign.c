/* assign.c -- targets: names, tuples with a starred item, subscripts, attributes; and del. */
#include "lang/eval/eval_impl.h"

static void unpack(Binder *b, const AstVec *targets, Value x, Span span) {
  int n = targets->len, star = -1;
  for (int i = 0; i < n; i++) {
    if (targets->at[i]->kind != AST_KIND_Starred) continue;
    if (star >= 0)
      raise("SyntaxError", targets->at[i]->span, "two starred targets in an assignment");
    star = i;
  }
  if (!x.type->iter && !x.type->next)
    raise_code(E0233, span, "cannot unpack non-iterable '%s' object", value_type_text(x));
  Value it = value_iter(x, span);
  ValueVec got = {0};
  for (Value y; (star >= 0 || got.len <= n) && (y = value_next(it, span)).type;) vec_push(&got, y);
  if (star < 0 && got.len > n)
    raise_code(E0234, span, "too many values to unpack (expected %d)", n);
  int rest = got.len - (n - 1); /* of the starred target */
  if (star >= 0 ? rest < 0 : got.len < n)
    raise_code(E0234, span, "not enough values to unpack (expected %s%d, got %d)",
               star >= 0 ? "at least " : "", star >= 0 ? n - 1 : n, got.len);
  for (int i = 0, at = 0; i < n; i++) {
    Ast *t = targets->at[i];
    if (i != star) {
      bind_target(b, t, got.at[at++], span);
      continue;
    }
    ValueVec part = {0};
    for (int j = 0; j < rest; j++) vec_push(&part, got.at[at + j]);
    at += rest;
    bind_target(b, AST_AS(Starred, t)->value, value_list(part), span);
  }
}

void bind_target(Binder *b, Ast *target, Value x, Span span) {
  switch (target->kind) {
  case AST_KIND_Name: b->bind(b, target, x); break;
  case AST_KIND_Tuple: unpack(b, &AST_AS(Tuple, target)->items, x, span); break;
  case AST_KIND_List: unpack(b, &AST_AS(List, target)->items, x, span); break;
  case AST_KIND_Subscript: {
    AstSubscript *s = AST_AS(Subscript, target);
    Value v = eval(b->env, s->value);
    Value index = eval(b->env, s->index);
    Value *item = v.type == &type_list ? item_at_once(v, index) : NULL;
    eval_span = target->span;
    if (item) *item = x;
    else value_set_item(v, index, x, target->span);
    break;
  }
  case AST_KIND_Attribute: {
    AstAttribute *a = AST_AS(Attribute, target);
    value_set_attr(eval(b->env, a->value), a->name, x, target->span);
    break;
  }
  case AST_KIND_Starred:
    raise("SyntaxError", target->span, "a starred target must be in a list or tuple");
  default: raise("SyntaxError", target->span, "cannot assign to this expression");
  }
}

static void bind_in_scope(Binder *b, Ast *name, Value x) { assign_name(b->env, name, x); }

void assign_target(Env *env, Ast *target, Value x, Span span) {
  if (target->kind == AST_KIND_Name) return assign_name(env, target, x);
  Binder b = {.bind = bind_in_scope, .env = env};
  bind_target(&b, target, x, span);
}

/* a, b = x, y: without a tuple in between. */
bool assign_side_by_side(Env *env, const AstVec *targets, const AstVec *values) {
  int n = targets->len;
  if (values->len != n || has_starred(targets) || has_starred(values)) return false;
  Value got[n + 1];
  for (int i = 0; i < n; i++) got[i] = eval(env, values->at[i]);
  for (int i = 0; i < n; i++) assign_target(env, targets->at[i], got[i], values->at[i]->span);
  return true;
}

static Value in_place(AstOp op, Value old, Value x, Span span) {
  Value r = arith_at_once(op, old, x);
  return r.type ? r : value_inplace(op, old, x, span);
}

void aug_assign(Env *env, AstAugAssign *s) {
  Ast *t = s->target;
  Span span = s->ast.span;
  switch (t->kind) {
  case AST_KIND_Name: {
    Value old = eval(env, t);
    assign_name(env, t, in_place(s->op, old, eval(env, s->value), span));
    break;
  }
  case AST_KIND_Subscript: {
    Value v = eval(env, AST_AS(Subscript, t)->value), i = eval(env, AST_AS(Subscript, t)->index);
    Value old = value_get_item(v, i, t->span);
    value_set_item(v, i, in_place(s->op, old, eval(env, s->value), span), t->span);
    break;
  }
  case AST_KIND_Attribute: {
    Value v = eval(env, AST_AS(Attribute, t)->value);
    const char *name = AST_AS(Attribute, t)->name;
    Value old = value_get_attr(v, name, t->span);
    value_set_attr(v, name, in_place(s->op, old, eval(env, s->value), span), t->span);
    break;
  }
  default: raise("SyntaxError", t->span, "cannot assign to this expression with an operator");
  }
}

static void delete_name(Env *env, Ast *target) {
  const char *name = AST_AS(Name, target)->name;
  env_get(env, name, target->span);
  if (!env_remove(env, name))
    raise("NameError", target->span, "name '%s' is not of this scope", name);
}

void delete_target(Env *env, Ast *target) {
  switch (target->kind) {
  case AST_KIND_Name: delete_name(env, target); break;
  case AST_KIND_Attribute: {
    AstAttribute *a = AST_AS(Attribute, target);
    value_del_attr(eval(env, a->value), a->name, target->span);
    break;
  }
  case AST_KIND_Subscript: {
    Value v = eval(env, AST_AS(Subscript, target)->value);
    value_del_item(v, eval(env, AST_AS(Subscript, target)->index), target->span);
    break;
  }
  case AST_KIND_Tuple:
    for each (Ast *, t, &AST_AS(Tuple, target)->items) delete_target(env, *t);
    break;
  case AST_KIND_List:
    for each (Ast *, t, &AST_AS(List, target)->items) delete_target(env, *t);
    break;
  default: raise("SyntaxError", target->span, "cannot delete this expression");
  }
}
