/* te_scan.c -- te.scan: tensors whose rows follow from the rows before them. */
#include "lang/dialect/te.h"
#include "ir/arith/arith.h"

#define ARG(i)  call->args[i]
#define SPAN(i) call->spans[i]

/* ---- te.scan ---- */

static NodeVec buffers_arg(BuiltinCall *call, int i, const char *what) {
  ValueVec items = {0};
  NodeVec out = {0};
  if (ARG(i).type == &type_list || ARG(i).type == &type_tuple) items = *value_items(ARG(i));
  else vec_push(&items, ARG(i));
  for each (Value, v, &items) {
    if (v->type != &type_te)
      raise("TypeError", SPAN(i), "%s of te.scan is a tensor of te, or a list of them; found %s",
            what, value_type_name(*v));
    vec_push(&out, te_of(*v)->buffer);
  }
  return out;
}

/* "(n, 4) of float32" */
static const char *buffer_text(const Buffer *b) {
  Str s = {0};
  for (int i = 0; i < b->shape.len; i++)
    str_printf(&s, "%s%s", i ? ", " : "(", ir_print(b->shape.at[i], NULL));
  return str_format("%s%s) of %s", str_text(&s),
                    b->shape.len == 1 ? ","
                    : b->shape.len    ? ""
                                      : "(",
                    dtype_text(b->elem));
}

/* Rows of both are alike. */
static void check_rows(BuiltinCall *call, int i, Node *state, Node *other, const char *what) {
  Buffer *a = AS(Buffer, state), *b = AS(Buffer, other);
  bool same = a->shape.len == b->shape.len && dtype_equal(a->elem, b->elem);
  Analyzer *facts = arith_new();
  for (int d = 1; same && d < a->shape.len; d++)
    same = arith_can_prove_equal(facts, a->shape.at[d], b->shape.at[d]);
  if (!same)
    raise("ValueError", SPAN(i),
          "%s '%s' of te.scan has other rows than its state '%s': it is %s, the state %s", what,
          b->name, a->name, buffer_text(b), buffer_text(a));
}

static Node *rows_of(Node *buffer) { return AS(Buffer, buffer)->shape.at[0]; }

static void check_recurrence(BuiltinCall *call, Recurrence *r) {
  if (!r->state.len || r->init.len != r->state.len || r->update.len != r->state.len)
    raise("ValueError", call->span,
          "te.scan takes as many tensors to begin with, updates and states: found %d, %d and %d",
          r->init.len, r->update.len, r->state.len);
  for (int i = 0; i < r->state.len; i++) {
    Node *state = r->state.at[i], *update = r->update.at[i];
    if (te_stage_of(state))
      raise("ValueError", SPAN(2), "the state '%s' of te.scan must be a te.placeholder",
            AS(Buffer, state)->name);
    if (!AS(Buffer, state)->shape.len)
      raise("ValueError", SPAN(2), "the state '%s' of te.scan needs an axis to run along",
            AS(Buffer, state)->name);
    Stage *s = te_stage_of(update);
    if (!s || s->program || s->recurrence)
      raise("ValueError", SPAN(1), "the update '%s' of te.scan must be a te.compute",
            AS(Buffer, update)->name);
    check_rows(call, 0, state, r->init.at[i], "the beginning");
    if (!arith_can_prove_equal(arith_new(), rows_of(r->init.at[i]), rows_of(r->init.at[0])) ||
        !arith_can_prove_equal(arith_new(), rows_of(state), rows_of(r->state.at[0])))
      raise("ValueError", call->span,
            "the results of one te.scan have as many rows, and begin with as many");
    check_rows(call, 1, state, update, "the update");
  }
}

Value te_scan(BuiltinCall *call) {
  Recurrence *r =
      NEW(Recurrence, .init = buffers_arg(call, 0, "the beginning"),
          .update = buffers_arg(call, 1, "the update"), .state = buffers_arg(call, 2, "the state"));
  check_recurrence(call, r);
  const char *name = value_as_text(ARG(4), "the name", SPAN(4));
  Stage *stage = NEW(Stage, .name = str_intern(name), .recurrence = r, .span = call->span);
  ValueVec out = {0};
  for (int i = 0; i < r->state.len; i++) {
    Buffer *state = AS(Buffer, r->state.at[i]);
    const char *own = r->state.len > 1 ? str_format("%s_v%d", name, i) : name;
    vec_push(&stage->buffers,
             buffer_new(str_intern(own), state->elem, state->shape, "global", call->span));
    vec_push(&out, te_value(stage->buffers.at[i], stage));
  }
  te_note_stage(stage);
  return out.len == 1 ? out.at[0] : value_list(out);
}

/* ---- which stages belong to a step: those that read the state ---- */

typedef struct Steps {
  Recurrence *r;
  Map depends;    /* Stage to itself, or to NULL */
  StageVec order; /* of the stages of a step */
} Steps;

static bool depends(Steps *steps, Stage *s);

static bool reads_state(Steps *steps, Node *buffer) {
  for each (Node *, state, &steps->r->state)
    if (*state == buffer) return true;
  Stage *s = te_stage_of(buffer);
  return s && depends(steps, s);
}

typedef struct FindState {
  Steps *steps;
  bool found;
} FindState;

static WalkResult find_state(Walker *w, Node *n) {
  FindState *f = w->context;
  if (IS(BufferLoad, n)) f->found |= reads_state(f->steps, AS(BufferLoad, n)->buffer);
  return WALK_ON;
}

static bool is_update(const Recurrence *r, const Stage *s) {
  for each (Node *, u, &r->update)
    if (te_stage_of(*u) == s) return true;
  return false;
}

/* Every load is looked at, so that `order` has producers first. */
static bool depends(Steps *steps, Stage *s) {
  if (map_has(&steps->depends, s)) return map_get(&steps->depends, s) != NULL;
  FindState f = {steps, is_update(steps->r, s)};
  Walker w = {.enter = find_state, .context = &f};
  for each (Node *, b, &s->bodies) walk(&w, *b);
  map_set(&steps->depends, s, f.found ? s : NULL);
  if (!f.found) return false;
  if (s->program || s->recurrence)
    raise("ValueError", s->span, "'%s' reads the state of a te.scan: it must be a te.compute",
          s->name);
  vec_push(&steps->order, s);
  return true;
}

static Steps steps_of(Recurrence *r) {
  Steps steps = {.r = r};
  for each (Node *, u, &r->update) depends(&steps, te_stage_of(*u));
  return steps;
}

typedef struct Outside {
  Needed *needed;
  Steps *steps;
} Outside;

static WalkResult need_outside(Walker *w, Node *n) {
  Outside *o = w->context;
  Stage *s = IS(BufferLoad, n) ? te_stage_of(AS(BufferLoad, n)->buffer) : NULL;
  if (s && !depends(o->steps, s)) te_need_stage(o->needed, s);
  return WALK_ON;
}

void te_need_recurrence(Needed *n, Recurrence *r) {
  Steps steps = steps_of(r);
  Outside outside = {n, &steps};
  Walker w = {.enter = need_outside, .context = &outside};
  for each (Node *, b, &r->init)
    if (te_stage_of(*b)) te_need_stage(n, te_stage_of(*b));
  for (int i = 0; i < steps.order.len; i++)
    for each (Node *, b, &steps.order.at[i]->bodies) walk(&w, *b);
}

/* ---- statements ---- */

/* out[t, ...] = init[t, ...] */
static Node *begin_stmt(Stage *s, int i) {
  Buffer *init = AS(Buffer, s->recurrence->init.at[i]);
  NodeVec axes = te_axes(init->shape, value_none(), s->span), indices = {0};
  for each (Node *, a, &axes) vec_push(&indices, AS(IterVar, *a)->var);
  Stage copy = {.name = str_format("%s_init", AS(Buffer, s->buffers.at[i])->name),
                .buffers = NODES(s->buffers.at[i]),
                .axes = axes,
                .bodies = NODES(expr_load(&init->node, indices, s->span)),
                .span = s->span};
  return te_stage_block(&copy, NULL, NULL);
}

static Node *in_place_of_state(Mutator *m, Node *n) {
  n = mutate_children(m, n);
  if (!IS(BufferLoad, n)) return n;
  Node *out = map_get(m->context, AS(BufferLoad, n)->buffer);
  return out ? expr_load(out, AS(BufferLoad, n)->indices, n->span) : n;
}

/* The block of one stage of a step; rows of states and updates are those of the results. */
static Node *step_stmt(Stage *s, Map *results, Node *time, Node *first, NodeVec *allocs) {
  Stage step = *s;
  Mutator m = {.rewrite = in_place_of_state, .context = results};
  step.bodies = mutate_vec(&m, s->bodies);
  step.buffers = (NodeVec){0};
  for each (Node *, b, &s->buffers) {
    Node *out = map_get(results, *b);
    vec_push(&step.buffers, out ? out : *b);
    if (!out) vec_push(allocs, *b);
  }
  return te_stage_block(&step, time, first);
}

static void check_step(const Stage *step, Node *extent) {
  Buffer *b = AS(Buffer, step->buffers.at[0]);
  if (b->shape.len && arith_can_prove_equal(arith_new(), b->shape.at[0], extent)) return;
  raise("ValueError", step->span,
        "'%s' is computed in each step of a te.scan: its first axis must be that of the state, %s",
        step->name, ir_print(extent, NULL));
}

Node *te_recurrence_stmt(Stage *s, NodeVec *allocs) {
  Recurrence *r = s->recurrence;
  Steps steps = steps_of(r);
  NodeVec stmts = {0}, body = {0};
  Map results = {0};
  for (int i = 0; i < s->buffers.len; i++) {
    vec_push(&stmts, begin_stmt(s, i));
    map_set(&results, r->state.at[i], s->buffers.at[i]);
    map_set(&results, r->update.at[i], s->buffers.at[i]);
  }
  Node *extent = AS(Buffer, s->buffers.at[0])->shape.at[0];
  Node *first = expr_cast(extent->dtype, AS(Buffer, r->init.at[0])->shape.at[0], s->span);
  Node *time = var_new("t", extent->dtype, s->span);
  for (int i = 0; i < steps.order.len; i++) {
    check_step(steps.order.at[i], extent);
    vec_push(&body, step_stmt(steps.order.at[i], &results, time, first, allocs));
  }
  vec_push(&stmts, MAKE(For, s->span, VOID_TYPE, .min = first, .extent = expr_sub(extent, first),
                        .var = time, .loop_kind = LOOP_SERIAL, .body = stmt_seq(body, s->span)));
  return stmt_seq(stmts, s->span);
}
