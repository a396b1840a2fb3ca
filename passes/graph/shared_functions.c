/* shared_functions.c -- see shared_functions.h. */
#include "passes/graph/shared_functions.h"

static Node *info_of(Node *func) {
  Node *info = IS(Function, func) ? sinfo_of(func) : NULL;
  return info ? info : sinfo_object();
}

static NodeVec *with_hash(SharedFunctions *s, Node *func) {
  const void *key = (const void *)(uintptr_t)(node_hash(func) | 1);
  NodeVec *same = map_get(&s->by_hash, key);
  if (!same) map_set(&s->by_hash, key, same = NEW(NodeVec, 0));
  return same;
}

SharedFunctions shared_functions_of(Node *module) {
  IRModule *m = AS(IRModule, module);
  SharedFunctions s = {.module = module, .underscore = true};
  for (int i = 0; i < m->functions.len; i++)
    if (!func_symbol(m->functions.at[i]))
      vec_push(with_hash(&s, m->functions.at[i]), m->globals.at[i]);
  return s;
}

/* A function of the module, as it was when it was added. */
static Node *as_added(SharedFunctions *s, Node *global) {
  Node *f = module_find(s->module, AS(GlobalVar, global)->name);
  return func_symbol(f) ? func_with_attr(f, "global_symbol", NULL) : f;
}

Node *shared_function(SharedFunctions *s, Node *func, const char *hint) {
  NodeVec *same = with_hash(s, func);
  for each (Node *, g, same)
    if (node_equal(as_added(s, *g), func, true, NULL)) return *g;
  const char *name =
      s->underscore ? module_fresh_name(s->module, hint) : module_numbered_name(s->module, hint);
  Node *global = MAKE(GlobalVar, func->span, VOID_TYPE, .sinfo = info_of(func), .name = name);
  s->module = module_with(s->module, global, func);
  vec_push(same, global);
  return global;
}

void shared_function_export(SharedFunctions *s, Node *global) {
  const char *name = AS(GlobalVar, global)->name;
  Node *f = module_find(s->module, name);
  if (func_symbol(f)) return;
  f = func_with_attr(f, "global_symbol", string_imm(name, f->span));
  s->module = module_with(s->module, global, f);
}
