/* verify.c -- well-formedness: every fault of a module as a diagnostic at its place.
 *
 * Checked for tensor programs: every variable is defined once, before its use and in its scope;
 * buffers are declared; indices match ranks; block variables are bound by as many values; loops and
 * conditions have integer and bool operands. For graph functions: variables are bound once and
 * before use; dataflow variables stay in their block; no call with effects stands in a dataflow
 * block or in a pure function; operands are in normal form; struct info is there. */
#include "ir/ir.h"

typedef struct Verifier {
  Map scope;    /* variables and buffers in scope now */
  Map defined;  /* all that were ever defined: a second definition is a fault */
  NodeVec open; /* in order of definition, so that a scope can end */
  Map globals;  /* interned names of the module's functions, or empty outside a module */
  bool in_module, in_dataflow, pure;
  int faults;
} Verifier;

static Diag *fault(Verifier *v, Node *at, const char *format, ...) PRINTF_LIKE(3, 4);
static Diag *fault(Verifier *v, Node *at, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *text = str_vformat(format, args);
  va_end(args);
  v->faults++;
  return diag_error(at->span, "%s", text);
}

static const char *name_of(Node *n) {
  const char *name = IS(Var, n)      ? AS(Var, n)->name
                     : IS(Buffer, n) ? AS(Buffer, n)->name
                                     : AS(RelaxVar, n)->name;
  return name ? name : "_";
}

/* ---- scopes ---- */

static void define(Verifier *v, Node *n, Node *at) {
  if (!n) return;
  if (map_has(&v->defined, n)) {
    Diag *d = fault(v, at, "'%s' is defined twice", name_of(n));
    diag_note(d, n->span, "it is defined here");
    return;
  }
  map_set(&v->defined, n, at);
  map_set(&v->scope, n, at);
  vec_push(&v->open, n);
}

static int scope_begin(Verifier *v) { return v->open.len; }
static void scope_end(Verifier *v, int mark) {
  while (v->open.len > mark) map_remove(&v->scope, vec_pop(&v->open));
}

static void need(Verifier *v, Node *n, Node *at) {
  if (map_has(&v->scope, n)) return;
  bool ended = map_has(&v->defined, n);
  Diag *d =
      fault(v, at, ended ? "'%s' is used outside the scope that defines it" : "'%s' is not defined",
            name_of(n));
  if (ended) diag_note(d, n->span, "it is defined here");
  map_set(&v->scope, n, at); /* told once */
}

/* ---- scalar expressions ---- */

static WalkResult check_expr_node(Walker *w, Node *n);

static void check_expr(Verifier *v, Node *n) {
  Walker w = {.enter = check_expr_node, .context = v};
  if (n) walk(&w, n);
}

static void check_exprs(Verifier *v, NodeVec exprs) {
  for each (Node *, e, &exprs) check_expr(v, *e);
}

static void use_buffer(Verifier *v, Node *buffer, int indices, Node *at) {
  Buffer *b = AS(Buffer, buffer);
  if (!map_has(&v->scope,
               buffer)) { /* a view of a pointer needs no declaration, the pointer does */
    if (IS(Var, b->data) && map_has(&v->scope, b->data))
      map_set(&v->scope, buffer, at), map_set(&v->defined, buffer, at), vec_push(&v->open, buffer);
    else need(v, buffer, at);
  }
  if (indices != b->shape.len)
    fault(v, at, "buffer '%s' has %d dimension%s, but %d %s given", name_of(buffer), b->shape.len,
          b->shape.len == 1 ? "" : "s", indices, indices == 1 ? "index is" : "indices are");
}

static void check_global(Verifier *v, Node *n) {
  if (v->in_module && !map_has(&v->globals, str_intern(AS(GlobalVar, n)->name)))
    fault(v, n, "the module has no function '%s'", AS(GlobalVar, n)->name);
}

static WalkResult check_expr_node(Walker *w, Node *n) {
  Verifier *v = w->context;
  switch (n->kind) {
  case NK_Var: need(v, n, n); return WALK_ON;
  case NK_BufferLoad:
    use_buffer(v, AS(BufferLoad, n)->buffer, AS(BufferLoad, n)->indices.len, n);
    return WALK_ON;
  case NK_BufferRegion:
    use_buffer(v, AS(BufferRegion, n)->buffer, AS(BufferRegion, n)->region.len, n);
    return WALK_ON;
  case NK_GlobalVar: check_global(v, n); return WALK_ON;
  case NK_Buffer: return WALK_PRUNE;
  case NK_Let: {
    check_expr(v, AS(Let, n)->value);
    int mark = scope_begin(v);
    define(v, AS(Let, n)->var, n);
    check_expr(v, AS(Let, n)->body);
    scope_end(v, mark);
    return WALK_PRUNE;
  }
  case NK_CommReducer:
  case NK_IndexMap: return WALK_PRUNE;
  default: return WALK_ON;
  }
}

/* ---- statements ---- */

static void check_stmt(Verifier *v, Node *n);

static void define_buffer(Verifier *v, Node *buffer, Node *at) {
  Buffer *b = AS(Buffer, buffer);
  check_exprs(v, b->shape);
  if (IS(Var, b->data) && !map_has(&v->scope, b->data)) define(v, b->data, at);
  for each (Node *, s, &b->strides)
    if (IS(Var, *s) && !map_has(&v->scope, *s)) define(v, *s, at);
  if (IS(Var, b->elem_offset) && !map_has(&v->scope, b->elem_offset)) define(v, b->elem_offset, at);
  define(v, buffer, at);
}

static void check_regions(Verifier *v, NodeVec regions) {
  for each (Node *, r, &regions) check_expr(v, *r);
}

static void check_block(Verifier *v, Block *b, const NodeVec *values) {
  int mark = scope_begin(v);
  for each (Node *, iter, &b->iter_vars) {
    check_expr(v, AS(IterVar, *iter)->dom);
    define(v, AS(IterVar, *iter)->var, *iter);
  }
  if (values && values->len != b->iter_vars.len)
    fault(v, &b->node, "block '%s' has %d variables, but %d values are bound to them", b->name,
          b->iter_vars.len, values->len);
  for each (Node *, a, &b->alloc_buffers) define_buffer(v, *a, &b->node);
  for each (Node *, m, &b->match_buffers) {
    check_expr(v, AS(MatchBufferRegion, *m)->source);
    define_buffer(v, AS(MatchBufferRegion, *m)->buffer, *m);
  }
  check_regions(v, b->reads);
  check_regions(v, b->writes);
  if (b->init) check_stmt(v, b->init);
  check_stmt(v, b->body);
  scope_end(v, mark);
}

static void check_for(Verifier *v, For *f) {
  check_expr(v, f->min);
  check_expr(v, f->extent);
  if (!dtype_is_int(f->extent->dtype))
    fault(v, &f->node, "the extent of a loop must be an integer, found %s",
          dtype_text(f->extent->dtype));
  if ((f->loop_kind == LOOP_THREAD) != (f->thread_tag != NULL))
    fault(v, &f->node, "a loop is bound to a thread exactly if it names one");
  int mark = scope_begin(v);
  define(v, f->var, &f->node);
  check_stmt(v, f->body);
  scope_end(v, mark);
}

static void check_cond(Verifier *v, Node *cond) {
  check_expr(v, cond);
  if (!dtype_is_bool(cond->dtype))
    fault(v, cond, "a condition must be a bool, found %s", dtype_text(cond->dtype));
}

static void with_definition(Verifier *v, Node *defined, Node *body, Node *at) {
  int mark = scope_begin(v);
  if (IS(Buffer, defined)) define_buffer(v, defined, at);
  else if (defined) define(v, defined, at);
  check_stmt(v, body);
  scope_end(v, mark);
}

static void check_attr(Verifier *v, AttrStmt *a) {
  bool thread = IS(IterVar, a->subject);
  if (!thread && node_is_expr(a->subject)) check_expr(v, a->subject);
  if (node_is_expr(a->value)) check_expr(v, a->value);
  bool defines = thread && !map_has(&v->scope, AS(IterVar, a->subject)->var);
  with_definition(v, defines ? AS(IterVar, a->subject)->var : NULL, a->body, &a->node);
}

static void check_stmt(Verifier *v, Node *n) {
  switch (n->kind) {
  case NK_SeqStmt:
    for each (Node *, s, &AS(SeqStmt, n)->stmts) check_stmt(v, *s);
    break;
  case NK_BufferStore: {
    BufferStore *s = AS(BufferStore, n);
    check_exprs(v, s->indices);
    check_expr(v, s->value);
    use_buffer(v, s->buffer, s->indices.len, n);
    DataType elem = AS(Buffer, s->buffer)->elem;
    if (!dtype_equal(dtype_element(elem), dtype_element(s->value->dtype)))
      fault(v, n, "dtypes differ: '%s' holds %s, the value is %s", name_of(s->buffer),
            dtype_text(elem), dtype_text(s->value->dtype));
    break;
  }
  case NK_LetStmt:
    check_expr(v, AS(LetStmt, n)->value);
    with_definition(v, AS(LetStmt, n)->var, AS(LetStmt, n)->body, n);
    break;
  case NK_AttrStmt: check_attr(v, AS(AttrStmt, n)); break;
  case NK_AssertStmt:
    check_cond(v, AS(AssertStmt, n)->cond);
    check_stmt(v, AS(AssertStmt, n)->body);
    break;
  case NK_Allocate:
    check_exprs(v, AS(Allocate, n)->extents);
    with_definition(v, AS(Allocate, n)->var, AS(Allocate, n)->body, n);
    break;
  case NK_AllocateConst:
    with_definition(v, AS(AllocateConst, n)->var, AS(AllocateConst, n)->body, n);
    break;
  case NK_DeclBuffer:
    with_definition(v, AS(DeclBuffer, n)->buffer, AS(DeclBuffer, n)->body, n);
    break;
  case NK_BufferRealize:
    with_definition(v, AS(BufferRealize, n)->buffer, AS(BufferRealize, n)->body, n);
    break;
  case NK_For: check_for(v, AS(For, n)); break;
  case NK_While:
    check_cond(v, AS(While, n)->cond);
    check_stmt(v, AS(While, n)->body);
    break;
  case NK_IfThenElse: {
    check_cond(v, AS(IfThenElse, n)->cond);
    int mark = scope_begin(v);
    check_stmt(v, AS(IfThenElse, n)->then);
    scope_end(v, mark);
    if (AS(IfThenElse, n)->orelse) check_stmt(v, AS(IfThenElse, n)->orelse);
    scope_end(v, mark);
    break;
  }
  case NK_Evaluate: check_expr(v, AS(Evaluate, n)->value); break;
  case NK_Block: check_block(v, AS(Block, n), NULL); break;
  case NK_BlockRealize:
    check_exprs(v, AS(BlockRealize, n)->iter_values);
    check_cond(v, AS(BlockRealize, n)->predicate);
    check_block(v, AS(Block, AS(BlockRealize, n)->block), &AS(BlockRealize, n)->iter_values);
    break;
  default: fault(v, n, "%s is no statement", node_kind_name(n->kind));
  }
}

static WalkResult define_dim(Walker *w, Node *n) {
  Verifier *v = w->context;
  if (IS(Var, n) && !map_has(&v->scope, n)) define(v, n, n);
  return WALK_ON;
}

/* Dims that stand here for the first time are defined here: in the buffers of parameters, in struct
 * info. */
static void define_dims(Verifier *v, Node *n) {
  Walker w = {.enter = define_dim, .context = v};
  if (n) walk(&w, n);
}

static void check_prim_func(Verifier *v, PrimFunc *f) {
  int mark = scope_begin(v);
  for each (Node *, p, &f->params) define(v, *p, &f->node);
  for each (Node *, b, &f->buffers)
    if (*b)
      for each (Node *, d, &AS(Buffer, *b)->shape) define_dims(v, *d);
  for each (Node *, b, &f->buffers)
    if (*b) define_buffer(v, *b, &f->node);
  check_stmt(v, f->body);
  scope_end(v, mark);
}

/* ---- graph functions ---- */

static void check_function(Verifier *v, Function *f);
static void check_seq(Verifier *v, Node *n);

static WalkResult check_graph_node(Walker *w, Node *n) {
  Verifier *v = w->context;
  switch (n->kind) {
  case NK_RelaxVar:
  case NK_Var: need(v, n, n); return WALK_PRUNE;
  case NK_IndexMap: return WALK_PRUNE;
  case NK_GlobalVar: check_global(v, n); return WALK_PRUNE;
  case NK_RelaxCall:
    if (relax_call_has_effects(n) && v->in_dataflow)
      fault(v, n, "a call with effects can't stand in a dataflow block");
    else if (relax_call_has_effects(n) && v->pure)
      fault(v, n,
            "a call with effects can't stand in a pure function; mark it @R.function(pure=False)");
    return WALK_ON;
  case NK_Function: check_function(v, AS(Function, n)); return WALK_PRUNE;
  case NK_RelaxIf: {
    Walker inner = *w;
    walk(&inner, AS(RelaxIf, n)->cond);
    check_seq(v, AS(RelaxIf, n)->then);
    check_seq(v, AS(RelaxIf, n)->orelse);
    return WALK_PRUNE;
  }
  default: return WALK_ON;
  }
}

static void check_graph_expr(Verifier *v, Node *n) {
  Walker w = {.enter = check_graph_node, .context = v};
  walk(&w, n);
}

static void check_binding(Verifier *v, Node *n) {
  Node *value = IS(MatchCast, n) ? AS(MatchCast, n)->value : AS(VarBinding, n)->value;
  Node *var = IS(MatchCast, n) ? AS(MatchCast, n)->var : AS(VarBinding, n)->var;
  bool is_function = IS(Function, value);
  if (is_function) define(v, var, n); /* it may call itself */
  check_graph_expr(v, value);
  if (IS(MatchCast, n)) define_dims(v, AS(MatchCast, n)->sinfo);
  if (!AS(RelaxVar, var)->sinfo) fault(v, n, "'%s' has no struct info", name_of(var));
  if (AS(RelaxVar, var)->is_dataflow && !v->in_dataflow)
    fault(v, n, "'%s' is a dataflow variable, but is bound outside a dataflow block", name_of(var));
  if (!is_function) define(v, var, n);
}

static void check_binding_block(Verifier *v, BindingBlock *b) {
  v->in_dataflow = b->is_dataflow;
  int mark = scope_begin(v);
  for each (Node *, n, &b->bindings) check_binding(v, *n);
  v->in_dataflow = false;
  if (!b->is_dataflow) return;
  NodeVec kept = {0}; /* what the block gives out */
  for (int i = mark; i < v->open.len; i++)
    if (!IS(RelaxVar, v->open.at[i]) || !AS(RelaxVar, v->open.at[i])->is_dataflow)
      vec_push(&kept, v->open.at[i]);
  scope_end(v, mark);
  for each (Node *, n, &kept) map_set(&v->scope, *n, *n), vec_push(&v->open, *n);
}

static void check_seq(Verifier *v, Node *n) {
  int mark = scope_begin(v);
  for each (Node *, b, &AS(SeqExpr, n)->blocks) check_binding_block(v, AS(BindingBlock, *b));
  check_graph_expr(v, AS(SeqExpr, n)->body);
  scope_end(v, mark);
}

static void check_function(Verifier *v, Function *f) {
  int mark = scope_begin(v);
  bool pure = v->pure, in_dataflow = v->in_dataflow;
  v->pure = f->is_pure;
  v->in_dataflow = false;
  for each (Node *, p, &f->params) {
    define_dims(v, AS(RelaxVar, *p)->sinfo);
    define(v, *p, &f->node);
  }
  check_seq(v, f->body);
  v->pure = pure;
  v->in_dataflow = in_dataflow;
  scope_end(v, mark);
}

static void check_top(Verifier *v, Node *n) {
  if (IS(PrimFunc, n)) check_prim_func(v, AS(PrimFunc, n));
  else if (IS(Function, n)) check_function(v, AS(Function, n));
}

bool ir_verify(Node *n) {
  Verifier v = {0};
  if (!IS(IRModule, n)) {
    if (node_family(n->kind) == FAMILY_STMT) check_stmt(&v, n);
    else check_top(&v, n);
    return !v.faults;
  }
  IRModule *m = AS(IRModule, n);
  v.globals = module_index(n);
  v.in_module = true;
  for (int i = 0; i < m->functions.len; i++) {
    Verifier one = {.globals = v.globals, .in_module = true};
    check_top(&one, m->functions.at[i]);
    v.faults += one.faults;
  }
  return !v.faults;
}
