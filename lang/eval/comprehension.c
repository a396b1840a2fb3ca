/* comprehension.c -- list, set, dict comprehensions and generator expressions.
 *
 * A generator expression is lazy over its first clause: each item of it is taken when asked for,
 * and what the inner clauses make of that item is then computed at once. */
#include "lang/eval/eval_impl.h"

typedef struct Comp {
  AstComprehension *c;
  Env *env;     /* of the targets */
  Value result; /* set or dict; else items */
  ValueVec items;
} Comp;

static void add_element(Comp *k) {
  AstComprehension *c = k->c;
  Value x = eval(k->env, c->element);
  switch (c->display) {
  case AST_SET: set_add(k->result, x, c->element->span); break;
  case AST_DICT: value_dict_set(k->result, x, eval(k->env, c->value), c->element->span); break;
  default: vec_push(&k->items, x);
  }
}

static void run_clauses(Comp *k, int i);

/* With the targets of clause i bound: its conditions, then the clauses inside it. */
static void run_inside(Comp *k, int i) {
  AstCompFor *f = AST_AS(CompFor, k->c->clauses.at[i]);
  for each (Ast *, cond, &f->conds)
    if (!value_truth(eval(k->env, *cond), (*cond)->span)) return;
  if (i + 1 == k->c->clauses.len) add_element(k);
  else run_clauses(k, i + 1);
}

static void bind_here(Binder *b, Ast *name, Value x) { bind_name_here(b->env, name, x); }

static void bind_clause(Comp *k, AstCompFor *f, Value x) {
  Binder b = {.bind = bind_here, .env = k->env};
  if (f->target->kind == AST_KIND_Name) bind_name_here(k->env, f->target, x);
  else bind_target(&b, f->target, x, f->iter->span);
}

static void run_over(Comp *k, int i, Value iterable) {
  AstCompFor *f = AST_AS(CompFor, k->c->clauses.at[i]);
  Value it = value_iter(iterable, f->iter->span);
  for (Value x; (x = value_next(it, f->iter->span)).type;) {
    interrupt_check(f->iter->span);
    bind_clause(k, f, x);
    run_inside(k, i);
  }
}

static void run_clauses(Comp *k, int i) {
  AstCompFor *f = AST_AS(CompFor, k->c->clauses.at[i]);
  run_over(k, i, eval(k->env, f->iter));
}

static Value next_generated(IteratorObject *it, Span span) {
  Comp *k = it->state;
  AstCompFor *f = AST_AS(CompFor, k->c->clauses.at[0]);
  while (it->i >= k->items.len) {
    k->items.len = 0;
    it->i = 0;
    Value x = value_next(it->source, span);
    if (!x.type) return x;
    interrupt_check(f->iter->span);
    bind_clause(k, f, x);
    run_inside(k, 0);
  }
  return k->items.at[it->i++];
}

Value eval_comprehension(Env *env, Ast *e) {
  AstComprehension *c = AST_AS(Comprehension, e);
  AstCompFor *first = AST_AS(CompFor, c->clauses.at[0]);
  Value outer = eval(env, first->iter);
  Comp *k = NEW(Comp, .c = c, .env = env_new(env));
  k->env->is_comprehension = true;
  if (c->display == AST_GENERATOR)
    return value_iterator((IteratorObject){.next = next_generated,
                                           .name = "generator",
                                           .source = value_iter(outer, first->iter->span),
                                           .state = k});
  if (c->display == AST_SET) k->result = value_set();
  if (c->display == AST_DICT) k->result = value_dict();
  run_over(k, 0, outer);
  return k->result.type ? k->result : value_list(k->items);
}
