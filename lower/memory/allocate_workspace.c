/* allocate_workspace.c -- scratch memory of kernels becomes an operand, so that it is planned with
 * everything else.
 *
 * In:  flat kernels, called by graph functions that say where they write.
 * Out: a kernel without its large allocations, which are parameters behind the others; before each
 * call R.builtin.alloc_tensor for each of them. What a parallel loop or a thread of a device
 * allocates for itself stays, and so does what lies on the stack of the CPU. */
#include "lower/memory/memory.h"

/* A kernel with parameters in the place of its allocations. */
typedef struct Scratch {
  Node *global;    /* NULL: it has none */
  PrimFunc *f;     /* as it was */
  NodeVec buffers; /* one dimension each */
} Scratch;

typedef struct Workspace {
  Node *module;
  bool on_device;
  Map scratch; /* interned name of a kernel to its Scratch */
} Workspace;

/* ---- kernels ---- */

typedef struct Take {
  Map known;      /* variables that a caller can tell */
  bool on_device; /* small ones, too: the stack is not there */
  NodeVec vars, buffers;
} Take;

static WalkResult stop_at_unknown(Walker *w, Node *n) {
  return IS(Var, n) && !map_has(w->context, n) ? WALK_STOP : WALK_ON;
}

static bool is_large(Allocate *n) {
  int64_t nbytes = dtype_nbytes(n->elem), extent;
  for each (Node *, e, &n->extents)
    if (!expr_is_const_int(*e, &extent) || __builtin_mul_overflow(nbytes, extent, &nbytes))
      return true;
  return nbytes > LOWER_STACK_BUFFER;
}

static bool can_be_operand(Take *t, Allocate *n) {
  const char *scope = AS(Var, n->var)->scope;
  Walker w = {.enter = stop_at_unknown, .context = &t->known};
  for each (Node *, e, &n->extents)
    if (!walk(&w, *e)) return false;
  return (t->on_device || is_large(n)) && (!scope || str_same(scope, "global")) &&
         (!n->cond || expr_is_one(n->cond));
}

static Node *scratch_buffer(Allocate *n) {
  Span span = n->node.span;
  Node *count = int_imm(INT64, n->elem.lanes, span);
  for each (Node *, e, &n->extents) count = expr_mul(count, expr_cast(INT64, *e, span));
  return MAKE(Buffer, span, VOID_TYPE, .name = AS(Var, n->var)->name,
              .elem = dtype_element(n->elem), .data = n->var, .align = MEMORY_ALIGN,
              .shape = NODES(count), .offset_factor = 1);
}

static Node *take_allocations(Mutator *m, Node *n) {
  Take *t = m->context;
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  if (IS(For, n) && AS(For, n)->loop_kind != LOOP_SERIAL) return n;
  if (is_launch(n)) return n;
  if (!IS(Allocate, n) || !can_be_operand(t, AS(Allocate, n))) return mutate_children(m, n);
  vec_push(&t->vars, var_new(AS(Var, AS(Allocate, n)->var)->name, HANDLE, n->span));
  vec_push(&t->buffers, scratch_buffer(AS(Allocate, n)));
  return mutate(m, AS(Allocate, n)->body);
}

static Scratch *scratch_of(Workspace *ws, Node *global) {
  const char *name = str_intern(AS(GlobalVar, global)->name);
  Node *found = module_find(ws->module, name);
  if (!IS(PrimFunc, found)) return NULL;
  Scratch *s = map_get(&ws->scratch, name);
  if (s) return s->global ? s : NULL;
  map_set(&ws->scratch, name, s = NEW(Scratch, .f = AS(PrimFunc, found)));
  Take t = {.on_device = ws->on_device};
  NodeVec known = kernel_params(s->f);
  for each (Node *, v, &known) map_set(&t.known, *v, *v);
  Mutator m = {.rewrite = take_allocations, .context = &t};
  PrimFunc f = *s->f;
  f.body = mutate(&m, f.body);
  if (!t.vars.len) return NULL;
  f.params = f.buffers = (NodeVec){0};
  for (int i = 0; i < s->f->params.len; i++)
    vec_push(&f.params, s->f->params.at[i]), vec_push(&f.buffers, s->f->buffers.at[i]);
  for (int i = 0; i < t.vars.len; i++)
    vec_push(&f.params, t.vars.at[i]), vec_push(&f.buffers, t.buffers.at[i]);
  f.attrs = dict_with(f.attrs, "global_symbol", NULL);
  f.sinfo = NULL;
  s->buffers = t.buffers;
  const char *fresh = module_fresh_name(ws->module, str_format("%s_workspace", name));
  s->global = MAKE(GlobalVar, found->span, VOID_TYPE, .sinfo = sinfo_object(), .name = fresh);
  ws->module = module_with(ws->module, s->global, copy_with_fresh_vars(gc_copy(&f, sizeof f)));
  return s;
}

/* ---- calls ---- */

/* Where the size of the scratch memory can't be told, the kernel allocates it as it did. */
static void rewrite_call(Scratch *s, Node *binding, NodeVec *out) {
  RelaxCall c = *AS(RelaxCall, AS(VarBinding, binding)->value);
  Span span = c.node.span;
  Map bound = {0};
  if (!kernel_call_dims(s->f, c.args, &bound)) return vec_push(out, binding), (void)0;
  NodeVec args = {0};
  for each (Node *, a, &c.args) vec_push(&args, *a);
  for each (Node *, b, &s->buffers) {
    Buffer *buffer = AS(Buffer, *b);
    Node *sinfo = sinfo_tensor(NODES(substitute(buffer->shape.at[0], &bound)), buffer->elem, span);
    Node *var = memory_var(buffer->name, sinfo, span);
    vec_push(out, memory_bind(var, memory_new_tensor(sinfo, span)));
    vec_push(&args, var);
  }
  c.op = s->global;
  c.args = args;
  vec_push(out, memory_bind(AS(VarBinding, binding)->var, gc_copy(&c, sizeof c)));
}

static void rewrite(Bindings *b, NodeVec bindings, NodeVec *out) {
  for each (Node *, n, &bindings) {
    Node *call = IS(VarBinding, *n) ? AS(VarBinding, *n)->value : NULL;
    bool is_direct = IS(RelaxCall, call) && IS(GlobalVar, AS(RelaxCall, call)->op);
    Scratch *s = is_direct ? scratch_of(b->context, AS(RelaxCall, call)->op) : NULL;
    if (s) rewrite_call(s, *n, out);
    else vec_push(out, *n);
  }
}

Node *pass_allocate_workspace(Node *module, const PassContext *context) {
  Workspace ws = {.module = module, .on_device = lower_device(context->target).is_device};
  IRModule *m = AS(IRModule, module);
  for (int i = 0; i < m->functions.len; i++) {
    if (!IS(Function, m->functions.at[i])) continue;
    Bindings b = {rewrite, &ws};
    Node *f = memory_rewrite(&b, m->functions.at[i]);
    if (f != m->functions.at[i]) ws.module = module_with(ws.module, m->globals.at[i], f);
  }
  return ws.module;
}
