/* module.c -- modules as lists of functions by name, and attributes of functions. */
#include "ir/ir.h"

Node *module_new(void) {
  return MAKE(IRModule, (Span){0}, VOID_TYPE, .attrs = dict_new(), .global_infos = dict_new());
}

static IRModule *as_module(const Node *n) { return AS(IRModule, n); }

static const char *name_at(const IRModule *m, int i) {
  return AS(GlobalVar, m->globals.at[i])->name;
}

/* The index of the large module that was asked last: passes ask the same one again and again. The
 * list that it was made of tells whether a module under construction has grown since. */
static int find_in_large(IRModule *m, const char *name) {
  static struct {
    const IRModule *module;
    Node **at;
    int len;
    Map index;
  } last;
  if (last.module != m || last.at != m->globals.at || last.len != m->globals.len) {
    last.module = m;
    last.at = m->globals.at;
    last.len = m->globals.len;
    last.index = module_index(&m->node);
  }
  return (int)(intptr_t)map_get(&last.index, str_intern(name)) - 1;
}

static int find_function(const Node *module, const char *name) {
  enum { LARGE = 16 };
  IRModule *m = as_module(module);
  if (m->globals.len >= LARGE) {
    int i = find_in_large(m, name);
    if (i < 0 || str_same(name_at(m, i), name)) return i;
  }
  for (int i = 0; i < m->globals.len; i++)
    if (str_same(name_at(m, i), name)) return i;
  return -1;
}

Node *module_find(const Node *module, const char *name) {
  int i = find_function(module, name);
  return i < 0 ? NULL : as_module(module)->functions.at[i];
}

Node *module_global(const Node *module, const char *name) {
  int i = find_function(module, name);
  return i < 0 ? NULL : as_module(module)->globals.at[i];
}

/* A module with other functions, everything else the same. */
static Node *with_functions(const Node *module, NodeVec globals, NodeVec functions) {
  IRModule copy = *as_module(module);
  copy.globals = globals;
  copy.functions = functions;
  return gc_copy(&copy, sizeof copy);
}

Node *module_with(const Node *module, Node *global, Node *func) {
  IRModule *m = as_module(module);
  int at = find_function(module, AS(GlobalVar, global)->name);
  NodeVec globals = {0}, functions = {0};
  vec_reserve(&globals, m->globals.len + 1);
  vec_reserve(&functions, m->globals.len + 1);
  for (int i = 0; i < m->globals.len; i++) {
    vec_push(&globals, i == at ? global : m->globals.at[i]);
    vec_push(&functions, i == at ? func : m->functions.at[i]);
  }
  if (at < 0) {
    vec_push(&globals, global);
    vec_push(&functions, func);
  }
  return with_functions(module, globals, functions);
}

Node *module_without(const Node *module, const char *name) {
  IRModule *m = as_module(module);
  NodeVec globals = {0}, functions = {0};
  for (int i = 0; i < m->globals.len; i++) {
    if (str_same(name_at(m, i), name)) continue;
    vec_push(&globals, m->globals.at[i]);
    vec_push(&functions, m->functions.at[i]);
  }
  return with_functions(module, globals, functions);
}

Map module_index(const Node *module) {
  IRModule *m = as_module(module);
  Map index = {0};
  for (int i = 0; i < m->globals.len; i++)
    map_set(&index, str_intern(name_at(m, i)), (void *)(intptr_t)(i + 1));
  return index;
}

static const char *free_name(const Node *module, const char *hint, const char *between) {
  const char *name = str_intern(hint);
  for (int i = 1; find_function(module, name) >= 0; i++)
    name = str_intern(str_format("%s%s%d", hint, between, i));
  return name;
}
const char *module_fresh_name(const Node *module, const char *hint) {
  return free_name(module, hint, "_");
}
const char *module_numbered_name(const Node *module, const char *hint) {
  return free_name(module, hint, "");
}

static Node *attrs_of(const Node *func) {
  if (IS(PrimFunc, func)) return AS(PrimFunc, func)->attrs;
  if (IS(Function, func)) return AS(Function, func)->attrs;
  return NULL;
}

Node *func_attr(const Node *func, const char *key) { return dict_get(attrs_of(func), key); }
const char *func_symbol(const Node *func) {
  return dict_get_str(attrs_of(func), "global_symbol", NULL);
}

Node *func_with_attr(Node *func, const char *key, Node *value) {
  Node *attrs = dict_with(attrs_of(func), key, value);
  if (IS(PrimFunc, func)) {
    PrimFunc copy = *AS(PrimFunc, func);
    copy.attrs = attrs;
    return gc_copy(&copy, sizeof copy);
  }
  Function copy = *AS(Function, func);
  copy.attrs = attrs;
  return gc_copy(&copy, sizeof copy);
}
