/* lower_thread_allreduce.c -- reductions across the threads of a block.
 *
 * In:  T.tvm_thread_allreduce in the scope of a T.comm_reducer, in launches whose blocks have a
 * constant number of threads.
 * Out: exchanges within warps where the target has them (warp_allreduce.c). Else through shared
 * memory: each thread puts its values into shared memory; then half of the threads take in those of
 * the other half, until the first has all. Barriers stand between. One before the memory is used
 * again is for ThreadSync to put, which comes later, unless the function has its barriers by hand
 * (tvms.manual_sync). */
#include "lower/device/allreduce.h"

typedef struct Thread {
  Node *var;
  int64_t extent;
  int axis;
  bool reduces; /* along this axis */
} Thread;

typedef struct Lowering {
  Thread threads[LAUNCH_AXES];
  int n;
  NodeVec memory; /* shared buffers of the launch that is open */
  int warp;       /* of the target */
  bool by_hand;   /* the function has its barriers */
} Lowering;

/* ---- reading the call ---- */

static bool parse(Allreduce *a, AttrStmt *attr, Lowering *l) {
  if (!str_same(attr->key, "reduce_scope") || !IS(CommReducer, attr->subject)) return false;
  Node *value = IS(Evaluate, attr->body) ? AS(Evaluate, attr->body)->value : NULL;
  if (!value || !is_intrin_call(value, "tvm_thread_allreduce")) return false;
  NodeVec args = AS(Call, value)->args;
  a->by = AS(CommReducer, attr->subject);
  a->span = value->span;
  int size = a->by->lhs.len;
  if (args.len < 2 + 2 * size)
    error_raisef("LowerError", value->span,
                 "T.tvm_thread_allreduce by a reducer of %d values: %d "
                 "arguments are too few",
                 size, args.len);
  for (int i = 0; i < size; i++) {
    vec_push(&a->sources, args.at[1 + i]);
    vec_push(&a->results, args.at[2 + size + i]);
  }
  a->cond = args.at[1 + size];
  for (int k = 0; k < l->n; k++) l->threads[k].reduces = false;
  for (int i = 2 + 2 * size; i < args.len; i++)
    for (int k = 0; k < l->n; k++)
      if (l->threads[k].var == args.at[i]) l->threads[k].reduces = true;
  return true;
}

/* The number of a thread among those that reduce together, or of its group: x changes fastest. */
static Node *linear(const Lowering *l, bool reduces, int64_t *count, Span span) {
  Node *number = int_imm(INT32, 0, span);
  *count = 1;
  for (int axis = 3; axis < LAUNCH_AXES; axis++)
    for (int k = 0; k < l->n; k++) {
      const Thread *t = &l->threads[k];
      if (t->axis != axis || t->reduces != reduces) continue;
      Node *var = expr_cast(INT32, t->var, span);
      number = expr_add(number, expr_mul(var, int_imm(INT32, *count, span)));
      *count *= t->extent;
    }
  return number;
}

/* ---- building ---- */

Node *allreduce_barrier(Span span) {
  return stmt_evaluate(
      expr_call("tvm_storage_sync", INT32, NODES(string_imm("shared", span)), span), span);
}

void allreduce_end(Allreduce *a, NodeVec *stmts) {
  if (a->by_hand) vec_push(stmts, allreduce_barrier(a->span));
}

Node *allreduce_int(Allreduce *a, int64_t value) { return int_imm(INT32, value, a->span); }

Node *allreduce_source(Allreduce *a, int i) {
  Node *value = expr_cast(a->by->lhs.at[i]->dtype, a->sources.at[i], a->span);
  Node *nothing = expr_cast(value->dtype, a->by->identity.at[i], a->span);
  if (expr_is_one(a->cond)) return value;
  return expr_call("if_then_else", value->dtype, NODES(a->cond, value, nothing), a->span);
}

void allreduce_allocate(Allreduce *a, int64_t count) {
  for (int i = 0; i < a->sources.len; i++)
    vec_push(&a->memory, buffer_new("reduced", a->by->lhs.at[i]->dtype,
                                    NODES(allreduce_int(a, count)), "shared", a->span));
}

/* Neighbours among the threads have neighbouring elements, so that each finds a bank of its own. */
static Node *index_of(Allreduce *a, Node *number) {
  if (a->in_a_row) return expr_add(expr_mul(a->group, allreduce_int(a, a->count)), number);
  return expr_add(expr_mul(number, allreduce_int(a, a->groups)), a->group);
}

static Node *value_at(Allreduce *a, int i, Node *number) {
  return expr_load(a->memory.at[i], NODES(index_of(a, number)), a->span);
}

static Node *put(Allreduce *a, int i, Node *value) {
  return stmt_store(a->memory.at[i], NODES(index_of(a, a->number)), value, a->span);
}

static Node *deposit(Allreduce *a) {
  NodeVec stmts = {0};
  for (int i = 0; i < a->sources.len; i++) vec_push(&stmts, put(a, i, allreduce_source(a, i)));
  return stmt_seq(stmts, a->span);
}

/* Threads below `step` take in the values of those `step` further on. All are read before one is
 * written. */
static Node *halve(Allreduce *a, int64_t step) {
  Map bound = {0};
  NodeVec lets = {0}, stores = {0};
  Node *other = expr_add(a->number, int_imm(INT32, step, a->span));
  for (int i = 0; i < a->sources.len; i++) {
    map_set(&bound, a->by->lhs.at[i], value_at(a, i, a->number));
    map_set(&bound, a->by->rhs.at[i], value_at(a, i, other));
  }
  for (int i = 0; i < a->sources.len; i++) {
    Node *value = substitute(a->by->results.at[i], &bound);
    Node *var = var_new("combined", value->dtype, a->span);
    vec_push(&lets, MAKE(LetStmt, a->span, VOID_TYPE, .value = value, .var = var));
    vec_push(&stores, put(a, i, var));
  }
  Node *body = stmt_seq(stores, a->span);
  for (int i = lets.len - 1; i >= 0; i--) {
    *stmt_rest(lets.at[i]) = body;
    body = lets.at[i];
  }
  Node *cond = expr_binary(NK_LT, a->number, int_imm(INT32, step, a->span), a->span);
  if (2 * step > a->count)
    cond = expr_and(cond, expr_binary(NK_LT, other, int_imm(INT32, a->count, a->span), a->span));
  return MAKE(IfThenElse, a->span, VOID_TYPE, .cond = cond, .then = body);
}

/* To the element or the pointer. */
Node *allreduce_give(Allreduce *a, int i, Node *value) {
  Node *to = a->results.at[i];
  if (IS(BufferLoad, to))
    return stmt_store(AS(BufferLoad, to)->buffer, AS(BufferLoad, to)->indices, value, a->span);
  Node *view = MAKE(Buffer, a->span, VOID_TYPE, .name = "result", .elem = value->dtype, .data = to,
                    .align = dtype_nbytes(value->dtype), .shape = NODES(allreduce_int(a, 1)),
                    .offset_factor = 1);
  return stmt_store(view, NODES(allreduce_int(a, 0)), value, a->span);
}

static Node *through_memory(Allreduce *a) {
  int64_t step = 1;
  allreduce_allocate(a, a->count * a->groups);
  NodeVec stmts = NODES(deposit(a), allreduce_barrier(a->span));
  while (2 * step < a->count) step *= 2;
  for (; step > 0 && a->count > 1; step /= 2) {
    vec_push(&stmts, halve(a, step));
    vec_push(&stmts, allreduce_barrier(a->span));
  }
  for (int i = 0; i < a->results.len; i++)
    vec_push(&stmts, allreduce_give(a, i, value_at(a, i, allreduce_int(a, 0))));
  allreduce_end(a, &stmts);
  return stmt_seq(stmts, a->span);
}

/* Do no threads of other groups stand between those of a group? */
static bool groups_in_a_row(const Lowering *l) {
  bool others = false;
  for (int axis = 3; axis < LAUNCH_AXES; axis++)
    for (int k = 0; k < l->n; k++) {
      const Thread *t = &l->threads[k];
      if (t->axis != axis || t->extent == 1) continue;
      if (t->reduces && others) return false;
      others |= !t->reduces;
    }
  return true;
}

static Node *lower(Lowering *l, Allreduce *a) {
  a->number = linear(l, true, &a->count, a->span);
  a->group = linear(l, false, &a->groups, a->span);
  a->in_a_row = groups_in_a_row(l);
  a->warp = l->warp;
  a->by_hand = l->by_hand;
  Node *body = allreduce_fits_warps(a) ? allreduce_by_warps(a) : through_memory(a);
  for each (Node *, b, &a->memory) vec_push(&l->memory, *b);
  return body;
}

/* ---- the pass ---- */

static Node *with_memory(Lowering *l, Node *body) {
  for (int i = l->memory.len - 1; i >= 0; i--) {
    Buffer *b = AS(Buffer, l->memory.at[i]);
    body = MAKE(DeclBuffer, b->node.span, VOID_TYPE, .buffer = &b->node, .body = body);
    body = MAKE(Allocate, b->node.span, VOID_TYPE, .extents = b->shape, .elem = b->elem,
                .var = b->data, .body = body);
  }
  return body;
}

static Node *enter_launch(Mutator *m, AttrStmt *n) {
  Lowering *l = m->context;
  int axis = launch_axis(launch_tag(&n->node)), before = l->n;
  Thread t = {.var = AS(IterVar, n->subject)->var, .axis = axis};
  if (axis >= 3 && !expr_is_const_int(n->value, &t.extent)) t.extent = 0;
  if (l->n < LAUNCH_AXES) l->threads[l->n++] = t;
  AttrStmt copy = *n;
  copy.body = mutate(m, n->body);
  l->n = before;
  if (!is_launch(n->body)) { /* the last of the head */
    copy.body = with_memory(l, copy.body);
    l->memory = (NodeVec){0};
  }
  return copy.body == n->body ? &n->node : gc_copy(&copy, sizeof copy);
}

static Node *rewrite(Mutator *m, Node *n) {
  Allreduce a = {0};
  if (node_is_expr(n)) return n;
  if (is_launch(n)) return enter_launch(m, AS(AttrStmt, n));
  if (IS(AttrStmt, n) && parse(&a, AS(AttrStmt, n), m->context)) return lower(m->context, &a);
  return mutate_children(m, n);
}

Node *pass_lower_thread_allreduce(Node *n, const PassContext *context) {
  bool is_device = lower_device(context->target).is_device;
  Lowering l = {.warp = is_device ? (int)target_option_int(context->target, "thread_warp_size") : 1,
                .by_hand = dict_get_int(AS(PrimFunc, n)->attrs, "tvms.manual_sync", 0) != 0};
  Mutator m = {.rewrite = rewrite, .context = &l};
  return mutate_children(&m, n);
}
