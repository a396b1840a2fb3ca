/* verify_tensor.c -- well-formedness of scalar expressions, statements and prim_funcs. */
#include "ir/support/stack.h"
#include "ir/verify_impl.h"

static const char *plural(int n) { return n == 1 ? "" : "s"; }

/* ---- dtypes of expressions ---- */

static void check_binary(Verifier *v, Node *n) {
  Binary *b = (Binary *)(void *)n;
  DataType x = b->a->dtype, y = b->b->dtype;
  bool logical = n->kind == NK_And || n->kind == NK_Or;
  if (logical && !(dtype_is_bool(x) && dtype_is_bool(y)))
    verify_fault(v, E0311, n, "the operands of '%s' must be bools, found %s and %s",
                 node_spelling(n->kind), dtype_text(x), dtype_text(y));
  else if (!dtype_equal(x, y))
    verify_fault(v, E0310, n, "the operands of '%s' have different dtypes: %s and %s",
                 node_spelling(n->kind), dtype_text(x), dtype_text(y));
  DataType want = kind_gives_bool(n->kind) ? dtype_with_lanes(BOOL, x.lanes) : x;
  if (dtype_equal(x, y) && !dtype_equal(n->dtype, want))
    verify_fault(v, E0399, n, "'%s' of %s gives %s, not %s", node_spelling(n->kind), dtype_text(x),
                 dtype_text(want), dtype_text(n->dtype));
}

static void check_select(Verifier *v, Select *s) {
  DataType t = s->node.dtype;
  if (!dtype_is_bool(s->cond->dtype))
    verify_fault(v, E0311, &s->node, "the condition of T.Select must be a bool, found %s",
                 dtype_text(s->cond->dtype));
  if (!dtype_equal(s->then->dtype, t) || !dtype_equal(s->orelse->dtype, t))
    verify_fault(v, E0310, &s->node, "the arms of T.Select have different dtypes: %s and %s",
                 dtype_text(s->then->dtype), dtype_text(s->orelse->dtype));
}

static void check_call(Verifier *v, Call *c) {
  if (IS(GlobalVar, c->op)) return;
  const char *name = IS(Op, c->op) ? AS(Op, c->op)->name : node_kind_name(c->op->kind);
  const Intrin *in = intrin_of(c->op);
  if (!in && !family_name(c->op))
    verify_fault(v, E0324, &c->node, "there is no builtin '%s'", name);
  else if (in && in->args >= 0 && c->args.len != in->args)
    verify_fault(v, E0324, &c->node, "T.%s takes %d argument%s, not %d", in->name, in->args,
                 plural(in->args), c->args.len);
}

static void check_indices(Verifier *v, Node *buffer, NodeVec indices) {
  for each (Node *, i, &indices)
    if (!dtype_is_int((*i)->dtype))
      verify_fault(v, E0313, *i, "an index of '%s' must be an integer, found %s",
                   verify_name(buffer), dtype_text((*i)->dtype));
}

/* ---- uses ---- */

static void check_layout(Verifier *v, Node *buffer, Node *at) {
  Buffer *b = AS(Buffer, buffer);
  if (b->strides.len && b->strides.len != b->shape.len)
    verify_fault(v, E0315, at, "buffer '%s' has %d dimension%s, but %d stride%s",
                 verify_name(buffer), b->shape.len, plural(b->shape.len), b->strides.len,
                 plural(b->strides.len));
  if (!dtype_is_handle(b->data->dtype))
    verify_fault(v, E0315, at, "the data of buffer '%s' must be a pointer, found %s",
                 verify_name(buffer), dtype_text(b->data->dtype));
}

/* A view of a pointer needs no declaration; the pointer and what its shape mentions do. */
static void check_view(Verifier *v, Node *buffer, Node *at) {
  Buffer *b = AS(Buffer, buffer);
  map_set(&v->scope, buffer, at);
  map_set(&v->defined, buffer, at);
  vec_push(&v->open, buffer);
  int blocks = v->blocks;
  v->blocks = 0; /* a view of outside the block, perhaps */
  verify_exprs(v, b->shape);
  verify_exprs(v, b->strides);
  verify_expr(v, b->elem_offset);
  v->blocks = blocks;
  check_layout(v, buffer, at);
}

static void use_buffer(Verifier *v, Node *buffer, int indices, Node *at) {
  Buffer *b = AS(Buffer, buffer);
  bool pointer = IS(Var, b->data) && map_has(&v->scope, b->data);
  if (!map_has(&v->scope, buffer) && pointer) check_view(v, buffer, at);
  else verify_need(v, buffer, at);
  if (indices != b->shape.len)
    verify_fault(v, E0312, at, "buffer '%s' has %d dimension%s, but %d %s given",
                 verify_name(buffer), b->shape.len, plural(b->shape.len), indices,
                 indices == 1 ? "index is" : "indices are");
}

/* The expression may stand in several places, each with a scope of its own. */
static void check_let(Verifier *v, Let *n) {
  verify_expr(v, n->value);
  int mark = verify_begin(v);
  if (!map_has(&v->scope, n->var)) map_remove(&v->defined, n->var);
  verify_define(v, n->var, &n->node);
  verify_expr(v, n->body);
  verify_end(v, mark);
}

/* The axes are variables of the expression. */
static void check_reduce(Verifier *v, Reduce *r) {
  int mark = verify_begin(v);
  for each (Node *, axis, &r->axes) {
    verify_expr(v, AS(IterVar, *axis)->dom);
    if (!map_has(&v->scope, AS(IterVar, *axis)->var))
      verify_define(v, AS(IterVar, *axis)->var, *axis);
  }
  verify_exprs(v, r->sources);
  verify_expr(v, r->cond);
  verify_exprs(v, r->init);
  verify_end(v, mark);
}

/* A block with variables of its own depends on them alone, so that it can be moved: a loop around
 * it is seen through the values that its variables are bound to. */
static void check_var(Verifier *v, Node *var) {
  Node *at = v->stmt ? v->stmt : var; /* the span of a variable is that of its definition */
  verify_need(v, var, at);
  int blocks = (int)(intptr_t)map_get(&v->loop_blocks, var) - 1;
  if (blocks < 0 || blocks >= v->blocks) return;
  map_remove(&v->loop_blocks, var); /* told once */
  Diag *d = diag_warning(W0113, at->span, "loop variable '%s' is used inside block '%s'",
                         verify_name(var), v->block);
  if (!d) return;
  diag_note(d, var->span, "the loop is outside of the block");
  diag_help(d, "bind a block variable to it: v%s = T.axis.spatial(extent, %s)", verify_name(var),
            verify_name(var));
}

static WalkResult check_expr_node(Walker *w, Node *n) {
  Verifier *v = w->context;
  if (node_is_binary(n->kind)) {
    check_binary(v, n);
    return WALK_ON;
  }
  switch (n->kind) {
  case NK_Var: check_var(v, n); return WALK_ON;
  case NK_Select: check_select(v, AS(Select, n)); return WALK_ON;
  case NK_Call: check_call(v, AS(Call, n)); return WALK_ON;
  case NK_Not:
    if (!dtype_is_bool(AS(Not, n)->a->dtype))
      verify_fault(v, E0311, n, "'not' takes a bool, found %s", dtype_text(AS(Not, n)->a->dtype));
    return WALK_ON;
  case NK_BufferLoad:
    use_buffer(v, AS(BufferLoad, n)->buffer, AS(BufferLoad, n)->indices.len, n);
    check_indices(v, AS(BufferLoad, n)->buffer, AS(BufferLoad, n)->indices);
    return WALK_ON;
  case NK_BufferRegion:
    use_buffer(v, AS(BufferRegion, n)->buffer, AS(BufferRegion, n)->region.len, n);
    return WALK_ON;
  case NK_GlobalVar: verify_global(v, n); return WALK_ON;
  case NK_Let: check_let(v, AS(Let, n)); return WALK_PRUNE;
  case NK_Reduce: check_reduce(v, AS(Reduce, n)); return WALK_PRUNE;
  case NK_Buffer:
  case NK_CommReducer:
  case NK_IndexMap: return WALK_PRUNE;
  default: return WALK_ON;
  }
}

void verify_expr(Verifier *v, Node *n) {
  Walker w = {.enter = check_expr_node, .context = v, .once = true};
  walk(&w, n);
}

void verify_exprs(Verifier *v, NodeVec exprs) {
  for each (Node *, e, &exprs) verify_expr(v, *e);
}

/* ---- buffers ---- */

/* Its pointer, strides and offset are its own if they are variables that nobody defined. A pointer
 * that is declared with its buffer may be given a value later, by a let. */
static void define_buffer(Verifier *v, Node *buffer, Node *at) {
  Buffer *b = AS(Buffer, buffer);
  verify_exprs(v, b->shape);
  check_layout(v, buffer, at);
  NodeVec parts = NODES(b->data, b->elem_offset);
  for each (Node *, s, &b->strides) vec_push(&parts, *s);
  for each (Node *, p, &parts) {
    if (!IS(Var, *p) || map_has(&v->scope, *p)) verify_expr(v, *p);
    else if (IS(DeclBuffer, at) && *p == b->data) verify_open(v, *p, at);
    else verify_define(v, *p, at);
  }
  verify_define(v, buffer, at);
}

/* ---- statements ---- */

static void check_cond(Verifier *v, Node *cond) {
  verify_expr(v, cond);
  if (!dtype_is_bool(cond->dtype))
    verify_fault(v, E0311, cond, "a condition must be a bool, found %s", dtype_text(cond->dtype));
}

static void check_iter_var(Verifier *v, IterVar *iter) {
  if (!iter->dom) {
    verify_fault(v, E0316, &iter->node, "the block variable '%s' has no domain",
                 verify_name(iter->var));
  } else {
    verify_expr(v, iter->dom);
    if (!dtype_is_int(AS(Range, iter->dom)->extent->dtype))
      verify_fault(v, E0316, &iter->node, "the domain of '%s' must be integers",
                   verify_name(iter->var));
  }
  verify_define(v, iter->var, &iter->node);
}

/* A matched buffer shows the last dimensions of a region, as they are. */
static void check_match(Verifier *v, MatchBufferRegion *m) {
  BufferRegion *r = AS(BufferRegion, m->source);
  Buffer *b = AS(Buffer, m->buffer), *source = AS(Buffer, r->buffer);
  verify_expr(v, m->source);
  if (!dtype_equal(b->elem, source->elem))
    verify_fault(v, E0318, &m->node, "'%s' of %s is matched with a region of '%s', which holds %s",
                 verify_name(m->buffer), dtype_text(b->elem), verify_name(r->buffer),
                 dtype_text(source->elem));
  if (b->shape.len > r->region.len)
    verify_fault(v, E0318, &m->node, "'%s' has %d dimension%s, but is matched with a region of %d",
                 verify_name(m->buffer), b->shape.len, plural(b->shape.len), r->region.len);
  define_buffer(v, m->buffer, &m->node);
}

static void check_block(Verifier *v, Block *b, const NodeVec *values) {
  int mark = verify_begin(v);
  for each (Node *, iter, &b->iter_vars) check_iter_var(v, AS(IterVar, *iter));
  if (values && values->len != b->iter_vars.len)
    verify_fault(v, E0317, &b->node, "block '%s' has %d variable%s, but %d value%s bound to them",
                 b->name, b->iter_vars.len, plural(b->iter_vars.len), values->len,
                 values->len == 1 ? " is" : "s are");
  const char *outer = v->block;
  bool closed = b->iter_vars.len > 0;
  v->blocks += closed;
  if (closed) v->block = b->name;
  for each (Node *, a, &b->alloc_buffers) define_buffer(v, *a, &b->node);
  for each (Node *, m, &b->match_buffers) check_match(v, AS(MatchBufferRegion, *m));
  if (b->init) verify_stmt(v, b->init);
  verify_stmt(v, b->body);
  verify_exprs(v, b->reads); /* after the body: they often repeat its faults, at a worse place */
  verify_exprs(v, b->writes);
  v->blocks -= closed;
  v->block = outer;
  verify_end(v, mark);
}

/* ---- threads ---- */

static bool is_thread_tag(const char *tag) {
  static const char *const axes[] = {"blockIdx.", "threadIdx.", "clusterCtaIdx.", "vthread."};
  for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
    size_t n = strlen(axes[i]);
    if (strncmp(tag, axes[i], n) == 0) return tag[n] >= 'x' && tag[n] <= 'z' && !tag[n + 1];
  }
  return str_same(tag, "vthread") || str_same(tag, "cthread");
}

static void tell_unknown_thread(Verifier *v, For *f) {
  static const char *const tags[] = {"blockIdx.x",  "blockIdx.y",  "blockIdx.z", "threadIdx.x",
                                     "threadIdx.y", "threadIdx.z", "vthread",    "vthread.x",
                                     "vthread.y",   "vthread.z",   "cthread"};
  Diag *d = verify_fault(v, E0320, &f->node, "there is no thread '%s'", f->thread_tag);
  diag_near(d, f->thread_tag, tags, sizeof tags / sizeof *tags);
}

/* Virtual threads may be split further, real ones are what they are. */
static void check_thread(Verifier *v, For *f) {
  int64_t n, outer_n;
  if (!is_thread_tag(f->thread_tag)) return tell_unknown_thread(v, f);
  bool is_virtual = strstr(f->thread_tag, "Idx") == NULL;
  for each (Node *, loop, &v->threads) {
    For *outer = AS(For, *loop);
    if (is_virtual || !str_same(outer->thread_tag, f->thread_tag) ||
        !expr_is_const_int(outer->extent, &outer_n) || !expr_is_const_int(f->extent, &n) ||
        n == outer_n)
      continue;
    Diag *d = verify_fault(v, E0321, &f->node,
                           "'%s' has %ld threads here, but a loop around this one gives it %ld",
                           f->thread_tag, (long)n, (long)outer_n);
    diag_note(d, outer->node.span, "the loop around it");
    return;
  }
}

static void check_for(Verifier *v, For *f) {
  DataType t = f->extent->dtype;
  verify_expr(v, f->min);
  verify_expr(v, f->extent);
  if (!dtype_is_int(t) || t.lanes != 1)
    verify_fault(v, E0319, &f->node, "the extent of a loop must be an integer, found %s",
                 dtype_text(t));
  else if (!dtype_equal(f->min->dtype, t) || !dtype_equal(f->var->dtype, t))
    verify_fault(v, E0319, &f->node, "loop '%s' of %s goes from %s over %s", verify_name(f->var),
                 dtype_text(f->var->dtype), dtype_text(f->min->dtype), dtype_text(t));
  if ((f->loop_kind == LOOP_THREAD) != (f->thread_tag != NULL))
    verify_fault(v, E0399, &f->node, "a loop is bound to a thread exactly if it names one");
  if (f->thread_tag) check_thread(v, f), vec_push(&v->threads, &f->node);
  int mark = verify_begin(v);
  verify_define(v, f->var, &f->node);
  map_set(&v->loop_blocks, f->var, (void *)(intptr_t)(v->blocks + 1));
  v->loops++;
  verify_stmt(v, f->body);
  v->loops--;
  map_remove(&v->loop_blocks, f->var);
  verify_end(v, mark);
  v->threads.len -= f->thread_tag != NULL;
}

static void with_definition(Verifier *v, Node *defined, Node *body, Node *at) {
  int mark = verify_begin(v);
  if (IS(Buffer, defined)) define_buffer(v, defined, at);
  else verify_define(v, defined, at);
  verify_stmt(v, body);
  verify_end(v, mark);
}

static void check_attr(Verifier *v, AttrStmt *a) {
  bool thread = IS(IterVar, a->subject);
  if (!thread && node_is_expr(a->subject)) verify_expr(v, a->subject);
  if (node_is_expr(a->value)) verify_expr(v, a->value);
  bool defines = thread && !map_has(&v->scope, AS(IterVar, a->subject)->var);
  with_definition(v, defines ? AS(IterVar, a->subject)->var : NULL, a->body, &a->node);
}

static void check_let_stmt(Verifier *v, LetStmt *n) {
  verify_expr(v, n->value);
  if (!dtype_equal(n->var->dtype, n->value->dtype))
    verify_fault(v, E0323, &n->node, "'%s' is %s, but its value is %s", verify_name(n->var),
                 dtype_text(n->var->dtype), dtype_text(n->value->dtype));
  with_definition(v, n->var, n->body, &n->node);
}

static void check_store(Verifier *v, BufferStore *s) {
  verify_exprs(v, s->indices);
  verify_expr(v, s->value);
  verify_expr(v, s->predicate);
  use_buffer(v, s->buffer, s->indices.len, &s->node);
  check_indices(v, s->buffer, s->indices);
  DataType elem = AS(Buffer, s->buffer)->elem;
  if (!dtype_equal(dtype_element(elem), dtype_element(s->value->dtype)))
    verify_fault(v, E0314, &s->node, "dtypes differ: '%s' holds %s, the value is %s",
                 verify_name(s->buffer), dtype_text(elem), dtype_text(s->value->dtype));
}

static void check_if(Verifier *v, IfThenElse *n) {
  check_cond(v, n->cond);
  int mark = verify_begin(v);
  verify_stmt(v, n->then);
  verify_end(v, mark);
  if (n->orelse) verify_stmt(v, n->orelse);
  verify_end(v, mark);
}

static void check_while(Verifier *v, While *n) {
  check_cond(v, n->cond);
  v->loops++;
  verify_stmt(v, n->body);
  v->loops--;
}

static void check_evaluate(Verifier *v, Node *n) {
  Node *value = AS(Evaluate, n)->value;
  bool leaves = is_intrin_call(value, "break_loop"),
       goes_on = is_intrin_call(value, "continue_loop");
  if ((leaves || goes_on) && !v->loops)
    verify_fault(v, E0322, n, "'%s' stands outside a loop", leaves ? "break" : "continue");
  verify_expr(v, value);
}

static void check_realize(Verifier *v, BlockRealize *r) {
  verify_exprs(v, r->iter_values);
  check_cond(v, r->predicate);
  check_block(v, AS(Block, r->block), &r->iter_values);
}

static void check_stmt(Verifier *v, Node *n) {
  switch (n->kind) {
  case NK_SeqStmt:
    for each (Node *, s, &AS(SeqStmt, n)->stmts) verify_stmt(v, *s);
    break;
  case NK_BufferStore: check_store(v, AS(BufferStore, n)); break;
  case NK_LetStmt: check_let_stmt(v, AS(LetStmt, n)); break;
  case NK_AttrStmt: check_attr(v, AS(AttrStmt, n)); break;
  case NK_AssertStmt:
    check_cond(v, AS(AssertStmt, n)->cond);
    verify_stmt(v, AS(AssertStmt, n)->body);
    break;
  case NK_Allocate:
    verify_exprs(v, AS(Allocate, n)->extents);
    if (AS(Allocate, n)->cond) check_cond(v, AS(Allocate, n)->cond);
    with_definition(v, AS(Allocate, n)->var, AS(Allocate, n)->body, n);
    break;
  case NK_AllocateConst:
    with_definition(v, AS(AllocateConst, n)->var, AS(AllocateConst, n)->body, n);
    break;
  case NK_DeclBuffer:
    with_definition(v, AS(DeclBuffer, n)->buffer, AS(DeclBuffer, n)->body, n);
    break;
  case NK_ScopeIdDef: {
    int mark = verify_begin(v);
    verify_exprs(v, AS(ScopeIdDef, n)->extents);
    verify_exprs(v, AS(ScopeIdDef, n)->preferred);
    for each (Node *, var, &AS(ScopeIdDef, n)->vars) verify_define(v, *var, n);
    verify_stmt(v, AS(ScopeIdDef, n)->body);
    verify_end(v, mark);
    break;
  }
  case NK_BufferRealize: { /* of a buffer that has memory, or without any */
    Node *buffer = AS(BufferRealize, n)->buffer;
    bool known = map_has(&v->scope, buffer) || map_has(&v->scope, AS(Buffer, buffer)->data);
    with_definition(v, known ? NULL : buffer, AS(BufferRealize, n)->body, n);
    break;
  }
  case NK_For: check_for(v, AS(For, n)); break;
  case NK_While: check_while(v, AS(While, n)); break;
  case NK_IfThenElse: check_if(v, AS(IfThenElse, n)); break;
  case NK_Evaluate: check_evaluate(v, n); break;
  case NK_Block: check_block(v, AS(Block, n), NULL); break;
  case NK_BlockRealize: check_realize(v, AS(BlockRealize, n)); break;
  default: verify_fault(v, E0399, n, "%s is no statement", node_kind_name(n->kind));
  }
}

typedef struct Errand {
  Verifier *v;
  Node *n;
} Errand;

static void stmt_errand(void *context) {
  Errand *e = context;
  check_stmt(e->v, e->n);
}

void verify_stmt(Verifier *v, Node *n) {
  Errand e = {v, n};
  Node *outer = v->stmt;
  v->stmt = n;
  if (stack_is_low()) stack_run(stmt_errand, &e);
  else check_stmt(v, n);
  v->stmt = outer;
}

/* ---- functions ---- */

void verify_prim_func(Verifier *v, PrimFunc *f) {
  int mark = verify_begin(v);
  if (f->params.len != f->buffers.len)
    verify_fault(v, E0399, &f->node,
                 "the function has %d parameters, but %d places for their buffers", f->params.len,
                 f->buffers.len);
  for each (Node *, p, &f->params) verify_define(v, *p, &f->node);
  for each (Node *, b, &f->buffers) verify_defining_dims(v, *b);
  for each (Node *, b, &f->buffers)
    if (*b) define_buffer(v, *b, &f->node);
  verify_stmt(v, f->body);
  verify_end(v, mark);
}
