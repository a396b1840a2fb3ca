/* merged_program.c -- see merged_program.h.
 *
 * In:  bindings of call_tir and call_tir_inplace, tuples, their fields, and aliases. Out: the
 * bodies one after the other; what one writes for another is a buffer of the root block. Blocks
 * have names of their own. What only unused results need is dropped. Not: where a program's
 * parameters are not compact, a dim can't be told, or programs differ about axis separators. */
#include "passes/graph/merged_program.h"

/* What a variable of the graph is inside the program: a Buffer or a scalar, or fields. */
typedef struct Item {
  Node *leaf; /* NULL: a tuple */
  VEC(struct Item *) fields;
} Item;
typedef VEC(Item *) ItemVec;

typedef struct Merge {
  Node *module;
  Map items;               /* RelaxVar to Item * */
  NodeVec params, buffers; /* the inputs */
  NodeVec dims;            /* scalar parameters for shapes */
  NodeVec allocs, stmts;   /* of the root block */
  Map block_names;         /* interned name to its number of uses */
  Map separated;           /* buffers whose axis separators a program has told */
} Merge;

/* ---- parameters ---- */

static Node *handle_for(Node *buffer) {
  return var_new(str_format("p_%s", AS(Buffer, buffer)->name), HANDLE, buffer->span);
}

static Item *scalar_param(Merge *m, Node *info, const char *name) {
  PrimStructInfo *s = AS(PrimStructInfo, info);
  Node *var = IS(Var, s->value) ? s->value : s->value ? NULL : var_new(name, s->elem, info->span);
  if (!var) return NULL;
  vec_push(&m->params, var);
  vec_push(&m->buffers, (Node *)NULL);
  return NEW(Item, .leaf = var);
}

/* The parameter of that struct info; NULL where no program can take it. */
static Item *add_param(Merge *m, Node *info, const char *name) {
  NodeVec shape;
  switch (info->kind) {
  case NK_TensorStructInfo: {
    DataType elem = AS(TensorStructInfo, info)->elem;
    if (!sinfo_tensor_shape(info, &shape) || dtype_is_void(elem)) return NULL;
    Node *b = buffer_new(name, elem, shape, "global", info->span);
    vec_push(&m->params, handle_for(b));
    vec_push(&m->buffers, b);
    return NEW(Item, .leaf = b);
  }
  case NK_PrimStructInfo: return scalar_param(m, info, name);
  case NK_ShapeStructInfo:
    if (!AS(ShapeStructInfo, info)->known) return NULL;
    for each (Node *, v, &AS(ShapeStructInfo, info)->values) {
      if (!IS(Var, *v)) return NULL;
      vec_push(&m->dims, *v);
    }
    return NEW(Item, .leaf = NULL);
  case NK_TupleStructInfo: {
    Item *tuple = NEW(Item, .leaf = NULL);
    for each (Node *, f, &AS(TupleStructInfo, info)->fields) {
      Item *field = add_param(m, *f, name);
      if (!field) return NULL;
      vec_push(&tuple->fields, field);
    }
    return tuple;
  }
  default: return NULL;
  }
}

/* ---- one program takes its place in the body ---- */

static bool is_compact(const Buffer *b) {
  return !b->strides.len && (!b->elem_offset || expr_is_zero(b->elem_offset)) && !b->layout &&
         str_same(buffer_scope(&b->node), "global");
}

/* A buffer made here has the axis separators that the programs see it with: all the same. */
static bool bind_separators(Merge *m, Buffer *p, Buffer *a) {
  if (!map_has(&m->separated, a)) a->axis_separators = p->axis_separators;
  map_set(&m->separated, a, a);
  IntVec want = p->axis_separators, have = a->axis_separators;
  return want.len == have.len &&
         (!want.len || !memcmp(want.at, have.at, (size_t)want.len * sizeof *want.at));
}

static bool bind_buffer(Merge *m, Map *map, Node *param, Node *actual) {
  if (!IS(Buffer, actual)) return false;
  Buffer *p = AS(Buffer, param), *a = AS(Buffer, actual);
  bool fits = is_compact(p) && p->shape.len == a->shape.len && dtype_equal(p->elem, a->elem) &&
              bind_separators(m, p, a);
  if (!fits) return false;
  map_set(map, param, actual);
  map_set(map, p->data, a->data);
  for (int k = 0; k < p->shape.len; k++) {
    Node *dim = p->shape.at[k];
    if (IS(Var, dim) && !map_has(map, dim))
      map_set(map, dim, expr_cast(dim->dtype, a->shape.at[k], dim->span));
  }
  return true;
}

static bool bind_params(Merge *m, PrimFunc *callee, NodeVec actuals, Map *map) {
  if (actuals.len != callee->params.len) return false;
  for (int i = 0; i < actuals.len; i++) {
    Node *param = callee->params.at[i], *actual = actuals.at[i];
    if (callee->buffers.at[i]) {
      if (!bind_buffer(m, map, callee->buffers.at[i], actual)) return false;
    } else if (node_is_expr(actual))
      map_set(map, param, expr_cast(param->dtype, actual, actual->span));
    else return false;
  }
  return true;
}

static Node *rename_blocks(Mutator *mutator, Node *n) {
  Merge *m = mutator->context;
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  n = mutate_children(mutator, n);
  if (!IS(Block, n)) return n;
  const char *name = str_intern(AS(Block, n)->name);
  if (!map_has(&m->block_names, name)) {
    map_set(&m->block_names, name, m);
    return n;
  }
  Block b = *AS(Block, n);
  for (int k = 1; map_has(&m->block_names, b.name); k++)
    b.name = str_intern(str_format("%s_%d", name, k));
  map_set(&m->block_names, b.name, m);
  return gc_copy(&b, sizeof b);
}

static void add_stmts(Merge *m, Node *s) {
  if (!IS(SeqStmt, s)) vec_push(&m->stmts, s);
  else
    for each (Node *, x, &AS(SeqStmt, s)->stmts) vec_push(&m->stmts, *x);
}

static void add_body(Merge *m, Node *body) {
  Block *root = IS(BlockRealize, body) ? AS(Block, AS(BlockRealize, body)->block) : NULL;
  bool is_root = root && !root->iter_vars.len && !root->match_buffers.len && !root->init &&
                 expr_is_one(AS(BlockRealize, body)->predicate);
  if (is_root)
    for each (Node *, b, &root->alloc_buffers) vec_push(&m->allocs, *b);
  Mutator mutator = {.rewrite = rename_blocks, .context = m};
  add_stmts(m, mutate(&mutator, is_root ? root->body : body));
}

/* ---- bindings ---- */

static Item *item_of(Merge *m, Node *n) {
  switch (n->kind) {
  case NK_RelaxVar: return map_get(&m->items, n);
  case NK_PrimValue: return NEW(Item, .leaf = AS(PrimValue, n)->value);
  case NK_TupleGetItem: {
    Item *tuple = item_of(m, AS(TupleGetItem, n)->tuple);
    int i = AS(TupleGetItem, n)->index;
    return tuple && i < tuple->fields.len ? tuple->fields.at[i] : NULL;
  }
  case NK_Tuple: {
    Item *tuple = NEW(Item, .leaf = NULL);
    for each (Node *, f, &AS(Tuple, n)->fields) {
      Item *field = item_of(m, *f);
      if (!field) return NULL;
      vec_push(&tuple->fields, field);
    }
    return tuple;
  }
  default: return NULL;
  }
}

static bool push_leaves(Item *item, NodeVec *out) {
  if (!item) return false;
  if (item->leaf) vec_push(out, item->leaf);
  for each (Item *, f, &item->fields)
    if (!push_leaves(*f, out)) return false;
  return true;
}

/* The number of the argument that result k overwrites; -1: none. */
static int overwritten(RelaxCall *c, int k) {
  Node *list = dict_get(c->attrs, "inplace_indices");
  int64_t index = -1;
  if (IS(Array, list) && k < AS(Array, list)->items.len)
    expr_is_const_int(AS(Array, list)->items.at[k], &index);
  return (int)index;
}

/* The buffers of the results; those that are new join the arguments and the allocations. */
static bool add_results(Merge *m, RelaxCall *c, const char *name, NodeVec *actuals, ItemVec *out) {
  int inputs = actuals->len;
  for (int k = 0; k < c->sinfo_args.len; k++) {
    TensorStructInfo *t = AS(TensorStructInfo, c->sinfo_args.at[k]);
    int at = overwritten(c, k);
    NodeVec shape;
    if (at >= inputs || !sinfo_tensor_shape(&t->node, &shape)) return false;
    Node *b = at >= 0 ? actuals->at[at] : buffer_new(name, t->elem, shape, "global", c->node.span);
    if (at < 0) {
      vec_push(actuals, b);
      vec_push(&m->allocs, b);
    }
    vec_push(out, NEW(Item, .leaf = b));
  }
  return true;
}

static Item *call_program(Merge *m, RelaxCall *c, const char *name) {
  bool is_tir = c->op == op_get("relax.call_tir") || c->op == op_get("relax.call_tir_inplace");
  Node *callee = is_tir && IS(GlobalVar, c->args.at[0])
                     ? module_find(m->module, AS(GlobalVar, c->args.at[0])->name)
                     : NULL;
  NodeVec actuals = {0};
  ItemVec results = {0};
  if (!IS(PrimFunc, callee) || !push_leaves(item_of(m, c->args.at[1]), &actuals) ||
      !add_results(m, c, name, &actuals, &results))
    return NULL;
  if (c->args.len > 2) {
    if (!IS(ShapeExpr, c->args.at[2])) return NULL;
    for each (Node *, v, &AS(ShapeExpr, c->args.at[2])->values) vec_push(&actuals, *v);
  }
  PrimFunc *f = AS(PrimFunc, copy_with_fresh_vars(callee));
  Map map = {0};
  if (!bind_params(m, f, actuals, &map)) return NULL;
  add_body(m, substitute(f->body, &map));
  if (results.len == 1) return results.at[0];
  Item *tuple = NEW(Item, .leaf = NULL);
  for each (Item *, r, &results) vec_push(&tuple->fields, *r);
  return tuple;
}

static bool add_bindings(Merge *m, SeqExpr *body) {
  for each (Node *, block, &body->blocks)
    for each (Node *, b, &AS(BindingBlock, *block)->bindings) {
      if (!IS(VarBinding, *b)) return false;
      Node *value = AS(VarBinding, *b)->value, *var = AS(VarBinding, *b)->var;
      Item *item = IS(RelaxCall, value)
                       ? call_program(m, AS(RelaxCall, value), AS(RelaxVar, var)->name)
                       : item_of(m, value);
      if (!item) return false;
      map_set(&m->items, var, item);
    }
  return true;
}

/* ---- what nobody reads ---- */

typedef struct Liveness {
  Map live;       /* Buffers and pointers that are mentioned further down, or are results */
  bool is_needed; /* the statement at hand */
} Liveness;

static WalkResult find_need(Walker *w, Node *n) {
  Liveness *l = w->context;
  if (IS(BufferStore, n))
    l->is_needed |= map_has(&l->live, AS(BufferStore, n)->buffer) ||
                    map_has(&l->live, AS(Buffer, AS(BufferStore, n)->buffer)->data);
  if (IS(Call, n)) l->is_needed |= expr_effect(n) == EFFECT_STATE;
  return l->is_needed ? WALK_STOP : WALK_ON;
}

static WalkResult note_mention(Walker *w, Node *n) {
  Liveness *l = w->context;
  if (IS(Buffer, n) || (IS(Var, n) && dtype_is_handle(n->dtype))) map_set(&l->live, n, n);
  return WALK_ON;
}

static NodeVec needed_stmts(NodeVec stmts, NodeVec kept_buffers) {
  Liveness l = {0};
  NodeVec backwards = {0}, out = {0};
  for each (Node *, b, &kept_buffers)
    if (*b) map_set(&l.live, *b, *b);
  for (int i = stmts.len - 1; i >= 0; i--) {
    Walker need = {.enter = find_need, .context = &l},
           mention = {.enter = note_mention, .context = &l};
    l.is_needed = false;
    walk(&need, stmts.at[i]);
    if (!l.is_needed) continue;
    walk(&mention, stmts.at[i]);
    vec_push(&backwards, stmts.at[i]);
  }
  for (int i = backwards.len - 1; i >= 0; i--) vec_push(&out, backwards.at[i]);
  return out;
}

static WalkResult find_use(Walker *w, Node *n) {
  return map_has(w->context, n) ? WALK_STOP : WALK_ON;
}

static bool is_used(NodeVec stmts, Node *buffer) {
  Map keys = {0};
  map_set(&keys, buffer, buffer);
  map_set(&keys, AS(Buffer, buffer)->data, buffer);
  Walker w = {.enter = find_use, .context = &keys};
  for each (Node *, s, &stmts)
    if (!walk(&w, *s)) return true;
  return false;
}

/* ---- the program ---- */

static int index_of(NodeVec v, Node *n) {
  for (int i = 0; i < v.len; i++)
    if (v.at[i] == n) return i;
  return -1;
}

/* Results that are not inputs become parameters. False if two are one buffer. */
static bool add_outputs(Merge *m, NodeVec results, MergedProgram *out) {
  int inputs = m->params.len;
  for (int k = 0; k < results.len; k++) {
    Node *b = results.at[k];
    if (!IS(Buffer, b) || index_of(results, b) != k) return false;
    int at = index_of(m->buffers, b);
    if (at >= inputs) return false;
    vec_push(&out->inplace, at);
    out->overwrites |= at >= 0;
    if (at >= 0) continue;
    vec_push(&m->params, handle_for(b));
    vec_push(&m->buffers, b);
  }
  for each (Node *, v, &m->dims) {
    vec_push(&m->params, *v);
    vec_push(&m->buffers, (Node *)NULL);
  }
  return true;
}

static Node *program_of(Merge *m, Span span) {
  NodeVec stmts = needed_stmts(m->stmts, m->buffers), allocs = {0};
  for each (Node *, b, &m->allocs)
    if (index_of(m->buffers, *b) < 0 && is_used(stmts, *b)) vec_push(&allocs, *b);
  Node *root = MAKE(Block, span, VOID_TYPE, .name = str_intern("root"), .alloc_buffers = allocs,
                    .body = stmt_seq(stmts, span));
  Node *body =
      MAKE(BlockRealize, span, VOID_TYPE, .predicate = int_imm(BOOL, 1, span), .block = root);
  Node *attrs = dict_with(dict_new(), "tir.noalias", int_imm(BOOL, 1, span));
  return copy_with_fresh_vars(MAKE(PrimFunc, span, VOID_TYPE, .params = m->params,
                                   .buffers = m->buffers, .ret_dtype = VOID_TYPE, .attrs = attrs,
                                   .body = body));
}

MergedProgram merged_program(Node *module, Function *f) {
  Merge m = {.module = module};
  MergedProgram out = {0};
  map_set(&m.block_names, str_intern("root"), &m);
  for each (Node *, p, &f->params) {
    Item *item = add_param(&m, sinfo_of(*p), AS(RelaxVar, *p)->name);
    if (!item) return out;
    map_set(&m.items, *p, item);
  }
  NodeVec results = {0};
  SeqExpr *body = AS(SeqExpr, f->body);
  bool merges = add_bindings(&m, body) && push_leaves(item_of(&m, body->body), &results) &&
                results.len && add_outputs(&m, results, &out);
  if (merges) out.func = program_of(&m, f->node.span);
  return out;
}
