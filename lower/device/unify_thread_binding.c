/* unify_thread_binding.c -- loops bound to threads become launches, one for each axis of a kernel;
 * LiftThreadBinding makes them loops, which stand outside of all others.
 *
 * In:  loops bound to blockIdx and threadIdx, or launches by hand; several may be bound to one
 * axis. Out: around the outermost of each nest a launch (or a bound loop) for every axis in it, in
 * the order in which they are met; loops that share an axis have one variable. Virtual threads stay
 * loops. */
#include "lower/device/device.h"
#include "ir/arith/arith.h"

typedef struct Axis {
  const char *tag;
  Node *var, *extent;
} Axis;

typedef struct Unify {
  VEC(Axis) axes; /* of the nest that is open; none: no thread yet */
  const char *pass;
  bool keeps_loops; /* rather than launches */
} Unify;

static Axis *find_axis(Unify *u, const char *tag) {
  for each (Axis, a, &u->axes)
    if (str_same(a->tag, tag)) return a;
  return NULL;
}

/* The variable that stands for the axis. */
static Node *share(Unify *u, const char *tag, Node *var, Node *extent, Span span) {
  Axis *a = find_axis(u, tag);
  if (!a) {
    Axis made = {tag, var, extent};
    vec_push(&u->axes, made);
    return var;
  }
  Node *less = arith_simplify(arith_new(), expr_sub(a->extent, extent));
  if (!expr_is_zero(less))
    error_raisef("ValueError", span,
                 "%s: two loops of one kernel are bound to %s, but have %s and %s steps", u->pass,
                 tag, ir_print(a->extent, NULL), ir_print(extent, NULL));
  return a->var;
}

static Node *around(const Unify *u, const Axis *a, Node *body) {
  if (!u->keeps_loops) return launch_new(a->tag, a->var, a->extent, body);
  return MAKE(For, body->span, VOID_TYPE, .min = int_imm(a->var->dtype, 0, body->span),
              .extent = a->extent, .var = a->var, .loop_kind = LOOP_THREAD, .thread_tag = a->tag,
              .body = body);
}

static Node *bind(Mutator *m, const char *tag, Node *var, Node *min, Node *extent, Node *body) {
  Unify *u = m->context;
  bool outermost = !u->axes.len;
  Node *shared = share(u, tag, var, extent, body->span), *value = expr_add(shared, min);
  if (value != var) {
    Map map = {0};
    map_set(&map, var, expr_cast(var->dtype, value, var->span));
    body = substitute(body, &map);
  }
  body = mutate(m, body);
  if (!outermost) return body;
  for (int i = u->axes.len - 1; i >= 0; i--) body = around(u, &u->axes.at[i], body);
  u->axes.len = 0;
  return body;
}

static Node *rewrite(Mutator *m, Node *n) {
  if (node_is_expr(n)) return n;
  if (is_launch(n) && launch_axis(launch_tag(n)) >= 0) {
    AttrStmt *a = AS(AttrStmt, n);
    Node *var = AS(IterVar, a->subject)->var;
    return bind(m, launch_tag(n), var, int_imm(var->dtype, 0, n->span), a->value, a->body);
  }
  bool is_bound = IS(For, n) && AS(For, n)->loop_kind == LOOP_THREAD &&
                  launch_axis(AS(For, n)->thread_tag) >= 0;
  if (!is_bound) return mutate_children(m, n);
  For *f = AS(For, n);
  return bind(m, f->thread_tag, f->var, f->min, f->extent, f->body);
}

static Node *unify(Node *n, Unify u) {
  Mutator m = {.rewrite = rewrite, .context = &u};
  return mutate_children(&m, n);
}

Node *pass_unify_thread_binding(Node *n, const PassContext *context) {
  (void)context;
  return unify(n, (Unify){.pass = "UnifyThreadBinding"});
}

Node *pass_lift_thread_binding(Node *n, const PassContext *context) {
  (void)context;
  return unify(n, (Unify){.pass = "LiftThreadBinding", .keeps_loops = true});
}
