/* te_func.c -- the stages that some outputs need, as one PrimFunc with a block for each. */
#include "lang/dialect/te.h"
#include "ir/arith/arith.h"

static WalkResult find_loads(Walker *w, Node *n) {
  Needed *needed = w->context;
  if (IS(BufferLoad, n)) {
    Stage *s = te_stage_of(AS(BufferLoad, n)->buffer);
    if (s) te_need_stage(needed, s);
  }
  return WALK_ON;
}

void te_need_stage(Needed *n, Stage *s) {
  if (map_has(&n->seen, s)) return;
  map_set(&n->seen, s, s);
  Walker w = {.enter = find_loads, .context = n};
  for each (Node *, b, &s->bodies) walk(&w, *b);
  if (s->program) walk(&w, AS(PrimFunc, s->program)->body);
  for each (Node *, b, &s->inputs)
    if (te_stage_of(*b)) te_need_stage(n, te_stage_of(*b));
  if (s->recurrence) te_need_recurrence(n, s->recurrence);
  vec_push(&n->order, s);
}

/* out[i] = f(out[i], source) of a reduction; out[i] = identity to start with. */
static void reduction_stores(Stage *s, NodeVec indices, NodeVec *init, NodeVec *update) {
  Reduce *first = AS(Reduce, s->bodies.at[0]);
  CommReducer *r = AS(CommReducer, first->reducer);
  Map map = {0};
  for (int i = 0; i < r->lhs.len; i++) {
    map_set(&map, r->lhs.at[i], expr_load(s->buffers.at[i], indices, s->span));
    map_set(&map, r->rhs.at[i], first->sources.at[i]);
  }
  /* All new values come before the first store, so that a tuple is updated as one. */
  for (int i = 0; i < s->bodies.len; i++) {
    Node *start = first->init.len ? first->init.at[i] : r->identity.at[i];
    Node *value = substitute(r->results.at[i], &map), *old = map_get(&map, r->lhs.at[i]);
    bool always = expr_is_one(first->cond);
    vec_push(init, stmt_store(s->buffers.at[i], indices, start, s->span));
    vec_push(update, always ? value : expr_select(first->cond, value, old, s->span));
  }
}

static Node *stores_of_values(Stage *s, NodeVec indices, NodeVec values) {
  if (values.len == 1) return stmt_store(s->buffers.at[0], indices, values.at[0], s->span);
  NodeVec vars = {0}, stores = {0};
  for (int i = 0; i < values.len; i++) {
    vec_push(&vars, var_new(str_format("v%d", i), values.at[i]->dtype, s->span));
    vec_push(&stores, stmt_store(s->buffers.at[i], indices, vars.at[i], s->span));
  }
  Node *body = stmt_seq(stores, s->span);
  for (int i = values.len - 1; i >= 0; i--)
    body =
        MAKE(LetStmt, s->span, VOID_TYPE, .value = values.at[i], .var = vars.at[i], .body = body);
  return body;
}

/* ---- indices in a simpler form: what reshaping and the like make of them is long ---- */

static Node *simplify_indices(Mutator *m, Node *n) {
  n = mutate_children(m, n);
  if (!IS(BufferLoad, n)) return n;
  NodeVec indices = {0};
  for each (Node *, i, &AS(BufferLoad, n)->indices)
    vec_push(&indices, arith_simplify(m->context, *i));
  return expr_load(AS(BufferLoad, n)->buffer, indices, n->span);
}

/* What a reduction updates keeps the indices of its store. */
static void simplify_bodies(Stage *s) {
  if (!te_in_operator()) return;
  Analyzer *facts = arith_new();
  for each (Node *, a, &s->axes) {
    Range *dom = AS(Range, AS(IterVar, *a)->dom);
    arith_bind_range(facts, AS(IterVar, *a)->var, dom->min, dom->extent);
  }
  Mutator m = {.rewrite = simplify_indices, .context = facts};
  s->bodies = mutate_vec(&m, s->bodies);
}

/* A row of a recurrence comes after the one before. */
static Node *block_axis(IterVar *axis, Node *var, Node *first) {
  IterVar out = *axis;
  out.var = var;
  if (first) {
    Range *dom = AS(Range, axis->dom);
    out.iter_kind = ITER_SCAN;
    out.dom = MAKE(Range, dom->node.span, VOID_TYPE, .min = first,
                   .extent = expr_sub(dom->extent, first));
  }
  return gc_copy(&out, sizeof out);
}

Node *te_stage_block(Stage *s, Node *time, Node *first) {
  simplify_bodies(s);
  NodeVec indices = {0}, iter_vars = {0}, loop_vars = {0}, init = {0}, values = s->bodies;
  Map rename = {0};
  for each (Node *, a, &s->axes) {
    IterVar *axis = AS(IterVar, *a);
    Node *v = var_new(str_format("v_%s", AS(Var, axis->var)->name), axis->var->dtype, s->span);
    map_set(&rename, axis->var, v);
    bool is_time = time && !iter_vars.len;
    vec_push(&iter_vars, block_axis(axis, v, is_time ? first : NULL));
    vec_push(&loop_vars, is_time ? time : axis->var);
    if (axis->iter_kind == ITER_SPATIAL) vec_push(&indices, axis->var);
  }
  if (IS(Reduce, s->bodies.at[0])) {
    values = (NodeVec){0};
    reduction_stores(s, indices, &init, &values);
  }
  Node *body = substitute(stores_of_values(s, indices, values), &rename);
  Node *start = init.len ? substitute(stmt_seq(init, s->span), &rename) : NULL;
  Block *block = AS(Block, MAKE(Block, s->span, VOID_TYPE, .name = s->name, .iter_vars = iter_vars,
                                .init = start, .body = body));
  if (!block_access_regions(&block->node, NULL, &block->reads, &block->writes))
    BUG("the accesses of a compute are not understood");
  Node *stmt = MAKE(BlockRealize, s->span, VOID_TYPE, .iter_values = loop_vars,
                    .predicate = int_imm(BOOL, 1, s->span), .block = &block->node);
  for (int i = s->axes.len - 1; i >= (time ? 1 : 0); i--) {
    Range *dom = AS(Range, AS(IterVar, s->axes.at[i])->dom);
    stmt = MAKE(For, s->span, VOID_TYPE, .min = dom->min, .extent = dom->extent,
                .var = loop_vars.at[i], .loop_kind = LOOP_SERIAL, .body = stmt);
  }
  return stmt;
}

static void add_region(NodeVec *regions, Map *seen, Node *buffer) {
  if (map_has(seen, buffer)) return;
  map_set(seen, buffer, buffer);
  NodeVec ranges = {0};
  for each (Node *, d, &AS(Buffer, buffer)->shape)
    vec_push(&ranges, MAKE(Range, buffer->span, VOID_TYPE,
                           .min = int_imm((*d)->dtype, 0, (*d)->span), .extent = *d));
  vec_push(regions,
           MAKE(BufferRegion, buffer->span, VOID_TYPE, .buffer = buffer, .region = ranges));
}

typedef struct WholeReads {
  Map seen, inside; /* buffers; inside: of the program itself */
  NodeVec reads;
} WholeReads;

static WalkResult note_reads(Walker *w, Node *n) {
  WholeReads *r = w->context;
  if (IS(Block, n))
    for each (Node *, b, &AS(Block, n)->alloc_buffers) map_set(&r->inside, *b, *b);
  if (IS(DeclBuffer, n)) map_set(&r->inside, AS(DeclBuffer, n)->buffer, n);
  if (IS(BufferLoad, n) && !map_has(&r->inside, AS(BufferLoad, n)->buffer))
    add_region(&r->reads, &r->seen, AS(BufferLoad, n)->buffer);
  return WALK_ON;
}

/* The body of an extern stage in a block that reads and writes whole buffers. */
static Node *extern_block(Stage *s) {
  Node *body = AS(PrimFunc, s->program)->body;
  WholeReads r = {0};
  NodeVec writes = {0};
  Map written = {0};
  for each (Node *, b, &s->buffers) {
    map_set(&r.inside, *b, *b);
    add_region(&writes, &written, *b);
  }
  for each (Node *, b, &s->inputs) add_region(&r.reads, &r.seen, *b);
  Walker w = {.enter = note_reads, .context = &r};
  walk(&w, body);
  BlockRealize *root = IS(BlockRealize, body) ? AS(BlockRealize, body) : NULL;
  bool own = root && str_same(AS(Block, root->block)->name, "root");
  NodeVec allocs = {0};
  if (own) allocs = AS(Block, root->block)->alloc_buffers, body = AS(Block, root->block)->body;
  Node *block = MAKE(Block, s->span, VOID_TYPE, .name = s->name, .reads = r.reads, .writes = writes,
                     .alloc_buffers = allocs, .body = body);
  return MAKE(BlockRealize, s->span, VOID_TYPE, .predicate = int_imm(BOOL, 1, s->span),
              .block = block);
}

static void add_param(PrimFunc *f, Node *buffer) {
  vec_push(&f->params, MAKE(Var, f->node.span, HANDLE,
                            .name = str_intern(str_format("%s_handle", AS(Buffer, buffer)->name)),
                            .elem = VOID_TYPE));
  vec_push(&f->buffers, buffer);
}

/* The statement of a stage, whose blocks have a name that no other stage has. */
static Node *stage_stmt(Stage *s, Map *names, NodeVec *allocs) {
  const char *own = s->name;
  for (int i = 1; map_has(names, str_intern(s->name)); i++) s->name = str_format("%s_%d", own, i);
  s->name = str_intern(s->name);
  map_set(names, s->name, s);
  Node *stmt = s->program      ? extern_block(s)
               : s->recurrence ? te_recurrence_stmt(s, allocs)
                               : te_stage_block(s, NULL, NULL);
  s->name = own;
  return stmt;
}

Node *te_prim_func(const char *name, ValueVec inputs, ValueVec outputs, Span span) {
  Needed needed = {0};
  PrimFunc *f = AS(PrimFunc, MAKE(PrimFunc, span, VOID_TYPE, .ret_dtype = VOID_TYPE));
  Map is_param = {0};
  for each (Value, v, &inputs) {
    if (value_is_node(*v, NK_Var)) { /* a scalar */
      vec_push(&f->params, v->node);
      vec_push(&f->buffers, (Node *)NULL);
      continue;
    }
    add_param(f, te_of(*v)->buffer);
    map_set(&is_param, te_of(*v)->buffer, f);
  }
  for each (Value, v, &outputs) {
    if (!te_of(*v)->stage)
      raise("ValueError", span, "'%s' returns one of its operands; compute a copy", name);
    te_need_stage(&needed, te_of(*v)->stage);
    add_param(f, te_of(*v)->buffer);
    map_set(&is_param, te_of(*v)->buffer, f);
  }
  NodeVec stmts = {0}, allocs = {0};
  Map names = {0};
  for each (Stage *, s, &needed.order) {
    vec_push(&stmts, stage_stmt(*s, &names, &allocs));
    for each (Node *, b, &(*s)->buffers)
      if (!map_has(&is_param, *b)) vec_push(&allocs, *b);
  }
  f->body = with_root_block(allocs, true, stmt_seq(stmts, span), span);
  f->attrs = dict_with(dict_new(), "tir.noalias", int_imm(BOOL, 1, span));
  return &f->node;
}
