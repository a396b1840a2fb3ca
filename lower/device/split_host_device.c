/* split_host_device.c -- each launch becomes a function for the device; what is left of a tensor
 * program is a function for the host, which calls them.
 *
 * In:  kernels without buffers (after MakePackedAPI), whose launches stand together at the head of
 * what the threads do (after UnifyThreadBinding).
 * Out: functions f_kernel, f_kernel_1, ... with attribute tvms.device: their parameters are the
 * variables that the body takes from around it, the launches stand first in their bodies. Where a
 * launch stood is a call of its function. Constants in device code become arguments, as do
 * elements that the host keeps in memory of its own. */
#include "lower/device/device.h"
#include "passes/tensor/tensor.h"
#include <ctype.h>

typedef struct Split {
  Node *module;
  PrimFunc *f; /* that is being split */
  const char *name;
  NodeVec constants; /* AllocateConst nodes taken out of launches */
} Split;

/* ---- what a launch takes from around it ---- */

typedef struct Free {
  Map bound, seen;
  NodeVec vars;
} Free;

static void bind_defined(Free *f, Node *n) {
  Node *var = NULL;
  switch (n->kind) {
  case NK_For: var = AS(For, n)->var; break;
  case NK_LetStmt: var = AS(LetStmt, n)->var; break;
  case NK_Let: var = AS(Let, n)->var; break;
  case NK_Allocate: var = AS(Allocate, n)->var; break;
  case NK_IterVar: var = AS(IterVar, n)->var; break;
  case NK_AttrStmt:
    if (is_launch(n)) var = AS(IterVar, AS(AttrStmt, n)->subject)->var;
    break;
  case NK_CommReducer:
    for each (Node *, v, &AS(CommReducer, n)->lhs) map_set(&f->bound, *v, *v);
    for each (Node *, v, &AS(CommReducer, n)->rhs) map_set(&f->bound, *v, *v);
    break;
  default: break;
  }
  if (var) map_set(&f->bound, var, var);
}

static WalkResult find_free(Walker *w, Node *n) {
  Free *f = w->context;
  bind_defined(f, n);
  if (IS(Var, n) && !map_has(&f->bound, n) && !map_has(&f->seen, n)) {
    map_set(&f->seen, n, n);
    vec_push(&f->vars, n);
  }
  if (!IS(Buffer, n)) return WALK_ON;
  walk(w, AS(Buffer, n)->data);
  for each (Node *, d, &AS(Buffer, n)->shape) walk(w, *d);
  if (AS(Buffer, n)->elem_offset) walk(w, AS(Buffer, n)->elem_offset);
  return WALK_PRUNE;
}

/* Those that are parameters first, in their order. */
static NodeVec free_vars(PrimFunc *f, Node *launch) {
  Free free = {0};
  Walker w = {.enter = find_free, .context = &free};
  NodeVec out = {0};
  walk(&w, launch);
  for each (Node *, p, &f->params)
    if (map_has(&free.seen, *p)) vec_push(&out, *p), map_remove(&free.seen, *p);
  for each (Node *, v, &free.vars)
    if (map_has(&free.seen, *v)) vec_push(&out, *v);
  return out;
}

static void check_extents(Split *s, Node *launch) {
  Map inside = {0};
  for (Node *n = launch; is_launch(n); n = AS(AttrStmt, n)->body)
    map_set(&inside, AS(IterVar, AS(AttrStmt, n)->subject)->var, n);
  for (Node *n = launch; is_launch(n); n = AS(AttrStmt, n)->body)
    if (mentions_any(AS(AttrStmt, n)->value, &inside))
      error_raisef("LowerError", n->span, "%s: the number of threads of %s depends on a thread",
                   s->name, launch_tag(n));
}

/* ---- what the host keeps ---- */

/* Elements of memory of the host's that a launch reads. */
typedef struct Kept {
  const char *name;
  Map outside; /* pointers to such memory */
  NodeVec loads, vars;
} Kept;

static Node *take_kept(Mutator *m, Node *n) {
  Kept *k = m->context;
  Node *buffer = accessed_buffer(n);
  if (!buffer || !map_has(&k->outside, AS(Buffer, buffer)->data)) return mutate_children(m, n);
  int64_t index;
  if (IS(BufferStore, n) || !expr_is_const_int(AS(BufferLoad, n)->indices.at[0], &index))
    error_raisef("LowerError", n->span,
                 "%s: '%s' lies in memory of the host, of which a kernel can only read elements "
                 "of constant index: allocate it inside the launch",
                 k->name, AS(Buffer, buffer)->name);
  for (int i = 0; i < k->loads.len; i++)
    if (node_equal(k->loads.at[i], n, false, NULL)) return k->vars.at[i];
  vec_push(&k->loads, n);
  vec_push(&k->vars, var_new(AS(Buffer, buffer)->name, n->dtype, n->span));
  return vec_last(&k->vars);
}

static Node *without_kept(Split *s, Node *launch, Kept *k) {
  NodeVec vars = free_vars(s->f, launch);
  k->name = s->name;
  for each (Node *, v, &vars)
    if (dtype_is_handle((*v)->dtype) && AS(Var, *v)->scope && str_same(AS(Var, *v)->scope, "local"))
      map_set(&k->outside, *v, *v);
  if (!k->outside.live) return launch;
  Mutator m = {.rewrite = take_kept, .context = k};
  return mutate(&m, launch);
}

/* ---- functions ---- */

static Node *take_constants(Mutator *m, Node *n) {
  Split *s = m->context;
  if (node_is_expr(n)) return n;
  if (!IS(AllocateConst, n)) return mutate_children(m, n);
  vec_push(&s->constants, n);
  return mutate(m, AS(AllocateConst, n)->body);
}

static const char *kernel_name(Split *s) {
  Str name = {0};
  for (const char *c = s->name; *c; c++)
    str_add_char(&name, isascii((unsigned char)*c) && isalnum((unsigned char)*c) ? *c : '_');
  return module_fresh_name(s->module, str_format("%s_kernel", str_text(&name)));
}

static Node *split_launch(Split *s, Node *launch) {
  Mutator m = {.rewrite = take_constants, .context = s};
  Kept kept = {0};
  launch = without_kept(s, mutate(&m, launch), &kept);
  check_extents(s, launch);
  NodeVec params = free_vars(s->f, launch), none = {0};
  for (int i = 0; i < params.len; i++) vec_push(&none, (Node *)NULL);
  Span span = launch->span;
  Node *attrs = dict_with(dict_new(), "tvms.device", int_imm(INT32, 1, span));
  static const char *const carried[] = {"tir.noalias", "tvms.fp_contract"};
  for (size_t i = 0; i < sizeof carried / sizeof *carried; i++) {
    Node *value = dict_get(s->f->attrs, carried[i]);
    if (value) attrs = dict_with(attrs, carried[i], value);
  }
  Node *made = MAKE(PrimFunc, span, VOID_TYPE, .params = params, .buffers = none,
                    .ret_dtype = VOID_TYPE, .attrs = attrs, .body = launch);
  Node *global = MAKE(GlobalVar, span, VOID_TYPE, .sinfo = sinfo_object(), .name = kernel_name(s));
  s->module = module_with(s->module, global, copy_with_fresh_vars(made));
  Node *call = stmt_evaluate(MAKE(Call, span, VOID_TYPE, .op = global, .args = params), span);
  for (int i = 0; i < kept.loads.len; i++)
    call = MAKE(LetStmt, span, VOID_TYPE, .value = kept.loads.at[i], .var = kept.vars.at[i],
                .body = call);
  return call;
}

static Node *split(Mutator *m, Node *n) {
  if (node_is_expr(n)) return n;
  return is_launch(n) ? split_launch(m->context, n) : mutate_children(m, n);
}

static Node *split_function(Split *s) {
  Mutator m = {.rewrite = split, .context = s};
  PrimFunc f = *s->f;
  f.body = mutate(&m, f.body);
  for (int i = s->constants.len - 1; i >= 0; i--) {
    AllocateConst c = *AS(AllocateConst, s->constants.at[i]);
    c.body = f.body;
    f.body = gc_copy(&c, sizeof c);
  }
  return gc_copy(&f, sizeof f);
}

Node *pass_split_host_device(Node *module, const PassContext *context) {
  (void)context;
  IRModule *m = AS(IRModule, module);
  Split s = {.module = module};
  for (int i = 0; i < m->functions.len; i++) {
    Node *f = m->functions.at[i];
    if (!IS(PrimFunc, f) || is_device_function(f) || !has_launch(AS(PrimFunc, f)->body)) continue;
    s.f = AS(PrimFunc, f);
    s.name = AS(GlobalVar, m->globals.at[i])->name;
    s.constants = (NodeVec){0};
    Node *host = split_function(&s);
    s.module = module_with(s.module, m->globals.at[i], host);
  }
  return s.module;
}
