/* inject_double_buffer.c -- while a step of a loop reads a buffer, the buffer of the next step is
 * filled.
 *
 * In:  a loop that allocates a buffer and holds AttrStmt(buffer, "double_buffer_scope") around what
 *      fills it; flat accesses (after FlattenBuffer).
 * Out: the buffer is twice as large and stands before the loop. Its first half is filled before the
 *      loop; each step fills the half of the next step, then works on its own; the last step, after
 *      the loop, only works. With split_loop=0 the loop keeps all steps and a branch fills. */
#include "ir/arith/arith.h"
#include "passes/tensor/tensor.h"

typedef struct Doubling {
  For *loop;
  NodeVec wrappers; /* allocations and declarations between the loop and the statements */
  NodeVec stmts;
  Map halves;  /* pointer that is doubled to the extent of one half */
  Map buffers; /* buffers on them: old to new */
  Node *step;  /* counts from 0: which half is used */
} Doubling;

static bool is_filling(Node *n) {
  return IS(AttrStmt, n) && str_same(AS(AttrStmt, n)->key, "double_buffer_scope");
}

static Node *filled_buffer(Node *n) {
  Node *subject = AS(AttrStmt, n)->subject;
  return IS(Buffer, subject) ? AS(Buffer, subject)->data : subject;
}

/* The loop as wrappers, and statements of which some fill buffers of the wrappers. */
static bool find_doubling(For *f, Doubling *d) {
  Node *n = f->body;
  for (; IS(Allocate, n) || IS(DeclBuffer, n); n = *stmt_rest(n)) vec_push(&d->wrappers, n);
  d->stmts = IS(SeqStmt, n) ? AS(SeqStmt, n)->stmts : NODES(n);
  for each (Node *, s, &d->stmts) {
    if (!is_filling(*s)) continue;
    for each (Node *, w, &d->wrappers)
      if (IS(Allocate, *w) && AS(Allocate, *w)->var == filled_buffer(*s) &&
          AS(Allocate, *w)->extents.len == 1)
        map_set(&d->halves, AS(Allocate, *w)->var, AS(Allocate, *w)->extents.at[0]);
  }
  return d->halves.live > 0;
}

/* ---- halves ---- */

static Node *twice(Node *extent) {
  return expr_mul(extent, int_imm(extent->dtype, 2, extent->span));
}

static Node *double_buffer(Doubling *d, Node *buffer) {
  Node *known = map_get(&d->buffers, buffer);
  if (known) return known;
  Buffer b = *AS(Buffer, buffer);
  if (b.shape.len != 1 || b.strides.len || b.elem_offset)
    error_raisef("LowerError", b.node.span,
                 "a double buffer must be flat: run FlattenBuffer first");
  b.shape = NODES(twice(b.shape.at[0]));
  map_set(&d->buffers, buffer, gc_copy(&b, sizeof b));
  return map_get(&d->buffers, buffer);
}

static Node *in_half(Doubling *d, Node *data, Node *index) {
  DataType t = dtype_element(index->dtype);
  Node *half = expr_floormod(d->step, int_imm(d->step->dtype, 2, index->span));
  Node *offset = expr_mul(expr_cast(t, half, index->span),
                          expr_cast(t, map_get(&d->halves, data), index->span));
  if (!IS(Ramp, index)) return expr_add(offset, index);
  Ramp r = *AS(Ramp, index);
  r.base = expr_add(offset, r.base);
  return gc_copy(&r, sizeof r);
}

static Node *use_half(Mutator *m, Node *n) {
  Doubling *d = m->context;
  if (IS(BufferLoad, n) && map_has(&d->halves, AS(Buffer, AS(BufferLoad, n)->buffer)->data)) {
    BufferLoad l = *AS(BufferLoad, n);
    l.indices = NODES(in_half(d, AS(Buffer, l.buffer)->data, mutate(m, l.indices.at[0])));
    l.predicate = mutate(m, l.predicate);
    l.buffer = double_buffer(d, l.buffer);
    return gc_copy(&l, sizeof l);
  }
  if (IS(BufferStore, n) && map_has(&d->halves, AS(Buffer, AS(BufferStore, n)->buffer)->data)) {
    BufferStore s = *AS(BufferStore, n);
    s.indices = NODES(in_half(d, AS(Buffer, s.buffer)->data, mutate(m, s.indices.at[0])));
    s.value = mutate(m, s.value);
    s.predicate = mutate(m, s.predicate);
    s.buffer = double_buffer(d, s.buffer);
    return gc_copy(&s, sizeof s);
  }
  if (IS(Buffer, n)) return n;
  if (IS(Var, n) && map_has(&d->halves, n))
    error_raisef("LowerError", n->span, "the address of the double buffer '%s' is used as a whole",
                 AS(Var, n)->name);
  return mutate_children(m, n);
}

/* A statement as step `at` of the loop does it. */
static Node *at_step(Doubling *d, Node *stmt, Node *at) {
  Map map = {0};
  map_set(&map, d->loop->var, at);
  d->step = expr_sub(d->loop->var, d->loop->min);
  Mutator m = {.rewrite = use_half, .context = d};
  return copy_with_fresh_vars(substitute(mutate(&m, stmt), &map));
}

/* ---- the loop ---- */

static bool fills_double(Doubling *d, Node *n) {
  return is_filling(n) && map_has(&d->halves, filled_buffer(n));
}

static Node *filling(Doubling *d, Node *at) {
  NodeVec out = {0};
  for each (Node *, s, &d->stmts)
    if (fills_double(d, *s)) vec_push(&out, at_step(d, AS(AttrStmt, *s)->body, at));
  return stmt_seq(out, d->loop->node.span);
}

static Node *working(Doubling *d, Node *at) {
  NodeVec out = {0};
  for each (Node *, s, &d->stmts)
    if (!fills_double(d, *s)) vec_push(&out, at_step(d, *s, at));
  return stmt_seq(out, d->loop->node.span);
}

static Node *guarded(Node *cond, Node *body) {
  Analyzer *a = arith_new();
  return arith_can_prove(a, cond)
             ? body
             : MAKE(IfThenElse, body->span, VOID_TYPE, .cond = cond, .then = body);
}

static Node *doubled_loop(Doubling *d, bool split) {
  For f = *d->loop;
  Span s = f.node.span;
  Node *one = int_imm(f.var->dtype, 1, s), *next = expr_add(f.var, one);
  Node *all = expr_add(f.min, f.extent), *last = expr_sub(all, one);
  Node *some = expr_binary(NK_GT, f.extent, int_imm(f.extent->dtype, 0, s), s);
  Node *fill = filling(d, next);
  if (!split) {
    Node *more = expr_binary(NK_LT, next, all, s);
    fill = MAKE(IfThenElse, s, VOID_TYPE, .cond = more, .then = fill);
  }
  f.body = stmt_seq(NODES(fill, working(d, f.var)), s);
  if (split) f.extent = expr_sub(f.extent, one);
  NodeVec parts = NODES(guarded(some, filling(d, f.min)), gc_copy(&f, sizeof f));
  if (split) vec_push(&parts, guarded(some, working(d, last)));
  return stmt_seq(parts, s);
}

static Node *in_wrapper(Doubling *d, Node *wrapper, Node *body) {
  if (IS(DeclBuffer, wrapper)) {
    DeclBuffer w = *AS(DeclBuffer, wrapper);
    if (map_has(&d->halves, AS(Buffer, w.buffer)->data)) w.buffer = double_buffer(d, w.buffer);
    w.body = body;
    return gc_copy(&w, sizeof w);
  }
  Allocate a = *AS(Allocate, wrapper);
  if (map_has(&d->halves, a.var)) a.extents = NODES(twice(a.extents.at[0]));
  a.body = body;
  return gc_copy(&a, sizeof a);
}

static Node *rewrite(Mutator *m, Node *n) {
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  n = mutate_children(m, n);
  Doubling d = {0};
  bool serial = IS(For, n) && (AS(For, n)->loop_kind == LOOP_SERIAL);
  if (!serial || !find_doubling(AS(For, n), &d) || stmt_jumps_out(AS(For, n)->body)) return n;
  d.loop = AS(For, n);
  for each (Node *, w, &d.wrappers) /* they leave the loop */
    for (int i = 0; IS(Allocate, *w) && i < AS(Allocate, *w)->extents.len; i++)
      if (mentions_node(AS(Allocate, *w)->extents.at[i], d.loop->var)) return n;
  Node *out = doubled_loop(&d, *(bool *)m->context);
  for (int i = d.wrappers.len - 1; i >= 0; i--) out = in_wrapper(&d, d.wrappers.at[i], out);
  return out;
}

static Node *drop_marks(Mutator *m, Node *n) {
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  return is_filling(n) ? mutate(m, AS(AttrStmt, n)->body) : mutate_children(m, n);
}

Node *pass_inject_double_buffer(Node *n, const PassContext *context) {
  bool split = pass_option_int(context, "split_loop") != 0;
  Mutator m = {.rewrite = rewrite, .context = &split}, rest = {.rewrite = drop_marks};
  return prim_func_with_body(n, mutate(&rest, mutate(&m, AS(PrimFunc, n)->body)));
}
