/* inject_virtual_thread.c -- loops over virtual threads become one thread that does the work of
 * all, statement by statement.
 *
 * In:  flat accesses (after FlattenBuffer); loops bound to "vthread", or AttrStmts
 * "virtual_thread". Out: what does not differ by virtual thread is done once; every other statement
 * runs for each of them before the next statement does, so that barriers between statements keep
 * their meaning. Memory that differs by virtual thread is allocated once, with a part for each. */
#include "passes/tensor/tensor.h"

enum { MAX_COPIES = 16 }; /* beyond it a statement is in a loop over the virtual threads */

typedef struct Threads {
  Node *var;
  int64_t count;
  Map touched; /* what differs by thread: the variable, lets, pointers of allocations */
  Map parts;   /* pointer of such an allocation to the extent of one part */
  Map buffers; /* buffers on them: old to new */
  bool grew;
} Threads;

static bool is_virtual(const char *tag) {
  return tag && (strncmp(tag, "vthread", 7) == 0 || str_same(tag, "cthread"));
}

static bool differs(Threads *t, Node *n) { return mentions_any(n, &t->touched); }

/* ---- what differs by thread ---- */

static void touch(Threads *t, Node *var, Node *by) {
  if (map_has(&t->touched, var) || !differs(t, by)) return;
  map_set(&t->touched, var, var);
  t->grew = true;
}

/* Memory that is mentioned where not all threads come. */
static void touch_mentioned(Threads *t, Node *n, Node *cond) {
  if (!differs(t, cond)) return;
  for each (MapEntry, e, &t->parts) {
    Node *data = (Node *)(uintptr_t)e->key;
    if (mentions_node(n, data)) touch(t, data, cond);
  }
}

static WalkResult find_touched(Walker *w, Node *n) {
  Threads *t = w->context;
  switch (n->kind) {
  case NK_LetStmt: touch(t, AS(LetStmt, n)->var, AS(LetStmt, n)->value); break;
  case NK_Let: touch(t, AS(Let, n)->var, AS(Let, n)->value); break;
  case NK_For:
    touch(t, AS(For, n)->var, AS(For, n)->min);
    touch(t, AS(For, n)->var, AS(For, n)->extent);
    touch_mentioned(t, n, AS(For, n)->extent);
    break;
  case NK_IfThenElse: touch_mentioned(t, n, AS(IfThenElse, n)->cond); break;
  case NK_While: touch_mentioned(t, n, AS(While, n)->cond); break;
  case NK_BufferStore: {
    Node *data = AS(Buffer, AS(BufferStore, n)->buffer)->data;
    if (map_has(&t->parts, data)) touch(t, data, n);
    break;
  }
  case NK_Call: /* an address that is handed over with what differs may be written to */
    if (expr_effect(n) == EFFECT_STATE) touch_mentioned(t, n, n);
    break;
  default: break;
  }
  return WALK_ON;
}

static WalkResult find_allocation(Walker *w, Node *n) {
  Threads *t = w->context;
  if (IS(Allocate, n))
    map_set(&t->parts, AS(Allocate, n)->var, vec_last(&AS(Allocate, n)->extents));
  return WALK_ON;
}

static void find_all_touched(Threads *t, Node *body) {
  Walker allocations = {.enter = find_allocation, .context = t};
  walk(&allocations, body);
  map_set(&t->touched, t->var, t->var);
  Walker w = {.enter = find_touched, .context = t};
  do {
    t->grew = false;
    walk(&w, body);
  } while (t->grew);
}

/* ---- the parts of memory ---- */

static bool has_parts(Threads *t, Node *data) {
  return map_has(&t->parts, data) && map_has(&t->touched, data);
}

static Node *all_parts(Threads *t, Node *extent) {
  return expr_mul(extent, int_imm(extent->dtype, t->count, extent->span));
}

static Node *wide_buffer(Threads *t, Node *buffer) {
  Node *known = map_get(&t->buffers, buffer);
  if (known) return known;
  Buffer b = *AS(Buffer, buffer);
  if (b.shape.len != 1 || b.strides.len || b.elem_offset)
    error_raisef("LowerError", b.node.span,
                 "memory of virtual threads must be flat: run FlattenBuffer first");
  b.shape = NODES(all_parts(t, b.shape.at[0]));
  map_set(&t->buffers, buffer, gc_copy(&b, sizeof b));
  return map_get(&t->buffers, buffer);
}

/* The index in the part of the thread. */
static Node *in_part(Threads *t, Node *data, Node *index) {
  Node *extent = map_get(&t->parts, data);
  DataType scalar = dtype_element(index->dtype);
  Node *offset =
      expr_mul(expr_cast(scalar, t->var, index->span), expr_cast(scalar, extent, index->span));
  if (IS(Ramp, index)) { /* stays a contiguous access */
    Ramp r = *AS(Ramp, index);
    r.base = expr_add(offset, r.base);
    return gc_copy(&r, sizeof r);
  }
  return expr_add(offset, index);
}

static Node *use_parts(Mutator *m, Node *n) {
  Threads *t = m->context;
  if (IS(BufferLoad, n) && has_parts(t, AS(Buffer, AS(BufferLoad, n)->buffer)->data)) {
    BufferLoad l = *AS(BufferLoad, n);
    Node *data = AS(Buffer, l.buffer)->data;
    l.indices = NODES(in_part(t, data, mutate(m, l.indices.at[0])));
    l.predicate = mutate(m, l.predicate);
    l.buffer = wide_buffer(t, l.buffer);
    return gc_copy(&l, sizeof l);
  }
  if (IS(BufferStore, n) && has_parts(t, AS(Buffer, AS(BufferStore, n)->buffer)->data)) {
    BufferStore s = *AS(BufferStore, n);
    Node *data = AS(Buffer, s.buffer)->data;
    s.indices = NODES(in_part(t, data, mutate(m, s.indices.at[0])));
    s.value = mutate(m, s.value);
    s.predicate = mutate(m, s.predicate);
    s.buffer = wide_buffer(t, s.buffer);
    return gc_copy(&s, sizeof s);
  }
  if (IS(Buffer, n)) return n;
  if (IS(Var, n) && has_parts(t, n))
    error_raisef("LowerError", n->span,
                 "the address of '%s' is used as a whole: each virtual thread has its part of it",
                 AS(Var, n)->name);
  return mutate_children(m, n);
}

/* ---- statements ---- */

static WalkResult forget_allocation(Walker *w, Node *n) {
  Threads *t = w->context;
  if (IS(Allocate, n)) map_remove(&t->parts, AS(Allocate, n)->var);
  return WALK_ON;
}

/* The statement for each thread. What it allocates is each copy's own. */
static Node *for_each_thread(Threads *t, Node *n) {
  Walker own = {.enter = forget_allocation, .context = t};
  walk(&own, n);
  Mutator m = {.rewrite = use_parts, .context = t};
  n = mutate(&m, n);
  if (t->count > MAX_COPIES)
    return copy_with_fresh_vars(MAKE(For, n->span, VOID_TYPE,
                                     .min = int_imm(t->var->dtype, 0, n->span),
                                     .extent = int_imm(t->var->dtype, t->count, n->span),
                                     .var = t->var, .loop_kind = LOOP_SERIAL, .body = n));
  NodeVec copies = {0};
  for (int64_t i = 0; i < t->count; i++) {
    Map map = {0};
    map_set(&map, t->var, int_imm(t->var->dtype, i, n->span));
    vec_push(&copies, copy_with_fresh_vars(substitute(n, &map)));
  }
  return stmt_seq(copies, n->span);
}

static Node *with_parts(Mutator *m, Node *n) {
  Threads *t = m->context;
  if (IS(Allocate, n)) {
    Allocate a = *AS(Allocate, n);
    if (!has_parts(t, a.var)) return mutate_children(m, n);
    if (a.extents.len != 1) error_raisef("LowerError", n->span, "run FlattenBuffer first");
    a.extents = NODES(all_parts(t, a.extents.at[0]));
    a.body = mutate(m, a.body);
    return gc_copy(&a, sizeof a);
  }
  DeclBuffer d = *AS(DeclBuffer, n);
  if (has_parts(t, AS(Buffer, d.buffer)->data)) d.buffer = wide_buffer(t, d.buffer);
  d.body = mutate(m, d.body);
  return gc_copy(&d, sizeof d);
}

/* Does the statement itself, without what it holds, differ by thread? */
static bool head_differs(Threads *t, Node *n) {
  switch (n->kind) {
  case NK_For: return differs(t, AS(For, n)->min) || differs(t, AS(For, n)->extent);
  case NK_IfThenElse: return differs(t, AS(IfThenElse, n)->cond);
  case NK_AttrStmt: return differs(t, AS(AttrStmt, n)->value);
  case NK_Allocate:
    for each (Node *, e, &AS(Allocate, n)->extents)
      if (differs(t, *e)) return true;
    return false;
  case NK_SeqStmt:
  case NK_DeclBuffer:
  case NK_AllocateConst: return false;
  default: return true;
  }
}

static Node *inject(Mutator *m, Node *n) {
  Threads *t = m->context;
  if (node_family(n->kind) != FAMILY_STMT) return n;
  bool memory = IS(Allocate, n) || IS(DeclBuffer, n);
  if (!memory && !differs(t, n)) return n;
  if (head_differs(t, n) || stmt_jumps_out(n)) return for_each_thread(t, n);
  return memory ? with_parts(m, n) : mutate_children(m, n);
}

/* ---- loops over virtual threads, inner ones first ---- */

static Node *injected(Node *var, Node *min, Node *extent, Node *body) {
  Threads t = {.var = var};
  if (!expr_is_const_int(extent, &t.count) || t.count < 1)
    error_raisef("LowerError", extent->span,
                 "the number of virtual threads must be a positive constant");
  if (min && !expr_is_zero(min)) {
    Map map = {0};
    map_set(&map, var, expr_add(var, min));
    body = substitute(body, &map);
  }
  find_all_touched(&t, body);
  Mutator m = {.rewrite = inject, .context = &t};
  return mutate(&m, body);
}

static Node *rewrite(Mutator *m, Node *n) {
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  n = mutate_children(m, n);
  if (IS(For, n) && is_virtual(AS(For, n)->thread_tag)) {
    For *f = AS(For, n);
    return injected(f->var, f->min, f->extent, f->body);
  }
  bool attr = IS(AttrStmt, n) && str_same(AS(AttrStmt, n)->key, "virtual_thread") &&
              IS(IterVar, AS(AttrStmt, n)->subject);
  if (!attr) return n;
  AttrStmt *a = AS(AttrStmt, n);
  return injected(AS(IterVar, a->subject)->var, NULL, a->value, a->body);
}

Node *pass_inject_virtual_thread(Node *n, const PassContext *context) {
  (void)context;
  Mutator m = {.rewrite = rewrite};
  return prim_func_with_body(n, mutate(&m, AS(PrimFunc, n)->body));
}
