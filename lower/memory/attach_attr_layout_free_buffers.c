/* attach_attr_layout_free_buffers.c -- private kernels say which operands are constants.
 *
 * In:  kernels, called by graph functions that say where they write. Out: kernels that are given a
 * constant at some place by every call have the attribute layout_free_buffers: the numbers of these
 * parameters. Schedule rules may lay them out anew ahead of time (SplitLayoutRewritePreproc). */
#include "lower/memory/memory.h"

/* For each parameter of a kernel: is it a constant in all calls so far? */
typedef struct Uses {
  Node *global, *kernel;
  bool *is_constant, escapes;
} Uses;

typedef struct AllUses {
  const Node *module;
  Map of; /* interned name to Uses */
} AllUses;

static Uses *uses_of(AllUses *all, Node *global) {
  const char *name = str_intern(AS(GlobalVar, global)->name);
  Uses *u = map_get(&all->of, name);
  if (u) return u;
  Node *kernel = module_find(all->module, name);
  if (!IS(PrimFunc, kernel)) return NULL;
  int n = AS(PrimFunc, kernel)->params.len;
  u = NEW(Uses, .global = global, .kernel = kernel,
          .is_constant = (bool *)(void *)NEW_BYTES(sizeof(bool) * (size_t)(n + 1)),
          .escapes = func_attr(kernel, "global_symbol") != NULL);
  for (int i = 0; i < n; i++) u->is_constant[i] = true;
  map_set(&all->of, name, u);
  return u;
}

static WalkResult note_use(Walker *w, Node *n) {
  AllUses *all = w->context;
  if (IS(GlobalVar, n)) {
    Uses *u = uses_of(all, n);
    if (u) u->escapes = true;
    return WALK_ON;
  }
  bool is_direct = IS(RelaxCall, n) && IS(GlobalVar, AS(RelaxCall, n)->op);
  Uses *u = is_direct ? uses_of(all, AS(RelaxCall, n)->op) : NULL;
  if (!u) return WALK_ON;
  NodeVec args = AS(RelaxCall, n)->args;
  for (int i = 0; i < AS(PrimFunc, u->kernel)->params.len; i++)
    u->is_constant[i] &= i < args.len && IS(Constant, args.at[i]);
  for each (Node *, a, &args) walk(w, *a);
  return WALK_PRUNE;
}

static Node *with_attr(const Uses *u) {
  NodeVec numbers = {0};
  Span span = u->kernel->span;
  for (int i = 0; i < AS(PrimFunc, u->kernel)->params.len; i++)
    if (u->is_constant[i]) vec_push(&numbers, int_imm(INT32, i, span));
  if (u->escapes || !numbers.len) return NULL;
  Node *list = MAKE(Array, span, VOID_TYPE, .items = numbers);
  return func_with_attr(u->kernel, "layout_free_buffers", list);
}

Node *pass_attach_attr_layout_free_buffers(Node *module, const PassContext *context) {
  (void)context;
  AllUses all = {.module = module};
  Walker w = {.enter = note_use, .context = &all};
  for each (Node *, f, &AS(IRModule, module)->functions) walk(&w, *f);
  for (int i = 0; i < all.of.len; i++) {
    Uses *u = all.of.at[i].value;
    Node *marked = with_attr(u);
    if (marked) module = module_with(module, u->global, marked);
  }
  return module;
}
