/* module_value.c -- modules as values of the language: tvm.IRModule({...}), mod["f"] = func,
 * mod.update_func(gv, func). A script that changes a module changes the one node, which all its
 * names see; passes and back ends never do. */
#include "lang/dialect/node_class.h"
#include "lang/dialect/packed.h"

#define ARG(i)  call->args[i]
#define SPAN(i) call->spans[i]

Node *global_for(const char *name, Node *func) {
  Node *info = IS(PrimFunc, func) ? prim_func_info(AS(PrimFunc, func)) : sinfo_of(func);
  return MAKE(GlobalVar, func->span, VOID_TYPE, .sinfo = info ? info : sinfo_object(),
              .name = str_intern(name));
}

void module_set(Node *m, Node *global, Node *func) {
  Node *old = module_global(m, AS(GlobalVar, global)->name);
  if (old) AS(GlobalVar, old)->sinfo = sinfo_of(global_for(AS(GlobalVar, old)->name, func));
  *AS(IRModule, m) = *AS(IRModule, module_with(m, old ? old : global, func));
}

void module_remove(Node *m, const char *name, Span span) {
  if (!module_find(m, name)) raise("KeyError", span, "the module has no function '%s'", name);
  *AS(IRModule, m) = *AS(IRModule, module_without(m, name));
}

static Node *function_arg(BuiltinCall *call, int i) {
  Value v = ARG(i);
  if (v.type == &type_poison) raise(ERROR_POISONED, SPAN(i), "an earlier error");
  bool is = v.type == &type_node &&
            (IS(PrimFunc, v.node) || IS(Function, v.node) || IS(ExternFunc, v.node));
  if (!is) raise("TypeError", SPAN(i), "expected a function of IR, found %s", value_type_name(v));
  return v.node;
}

/* A module, a function, or a dict of functions by name or GlobalVar. */
static Node *functions_arg(BuiltinCall *call, int i) {
  if (ARG(i).type != &type_dict) return to_module(ARG(i), SPAN(i));
  Node *m = module_new();
  for (int k = 0; k < value_dict_len(ARG(i)); k++) {
    Value key, f;
    value_dict_entry(ARG(i), k, &key, &f);
    value_set_item(value_node(m), key, f, SPAN(i));
  }
  return m;
}

Value tvm_irmodule(BuiltinCall *call) {
  Node *m = value_is_none(ARG(0)) ? module_new() : functions_arg(call, 0);
  if (!value_is_none(ARG(1))) AS(IRModule, m)->attrs = dict_from_value(ARG(1), SPAN(1));
  if (!value_is_none(ARG(2))) AS(IRModule, m)->global_infos = dict_from_value(ARG(2), SPAN(2));
  return value_node(m);
}

Value module_from_expr(BuiltinCall *call) { return value_node(to_module(ARG(0), SPAN(0))); }

/* ---- methods ---- */

static const char *name_arg(BuiltinCall *call, int i) {
  if (value_is_node(ARG(i), NK_GlobalVar)) return AS(GlobalVar, ARG(i).node)->name;
  return value_as_text(ARG(i), "the name of a function", SPAN(i));
}

static Value update_func(BuiltinCall *call) {
  Node *f = function_arg(call, 1);
  bool named = value_is_node(ARG(0), NK_GlobalVar);
  module_set(call->self.node, named ? ARG(0).node : global_for(name_arg(call, 0), f), f);
  return value_none();
}

static Value update(BuiltinCall *call) {
  IRModule *m = AS(IRModule, functions_arg(call, 0));
  for (int i = 0; i < m->functions.len; i++)
    module_set(call->self.node, m->globals.at[i], m->functions.at[i]);
  return value_none();
}

static Value remove_func(BuiltinCall *call) {
  module_remove(call->self.node, name_arg(call, 0), call->span);
  return value_none();
}

static Value get_global_var(BuiltinCall *call) {
  const char *name = name_arg(call, 0);
  Node *g = module_global(call->self.node, name);
  if (!g) raise("ValueError", SPAN(0), "the module has no function '%s'", name);
  return value_node(g);
}

static Value get_global_vars(BuiltinCall *call) {
  ValueVec items = {0};
  for each (Node *, g, &AS(IRModule, call->self.node)->globals) vec_push(&items, value_node(*g));
  return value_list(items);
}

static Value functions_items(BuiltinCall *call) {
  IRModule *m = AS(IRModule, call->self.node);
  ValueVec items = {0};
  for (int i = 0; i < m->functions.len; i++)
    vec_push(&items,
             value_tuple_of(2, value_node(m->globals.at[i]), value_node(m->functions.at[i])));
  return value_list(items);
}

static Value with_module_attr(BuiltinCall *call, Node *value) {
  IRModule m = *AS(IRModule, call->self.node);
  m.attrs = dict_with(m.attrs, attr_key(ARG(0), SPAN(0)), value);
  return value_node(gc_copy(&m, sizeof m));
}
static Value with_attr(BuiltinCall *call) {
  return with_module_attr(call, to_attr(ARG(1), SPAN(1)));
}
static Value with_attrs(BuiltinCall *call) {
  IRModule m = *AS(IRModule, call->self.node);
  Dict *given = AS(Dict, dict_from_value(ARG(0), SPAN(0)));
  for (int i = 0; i < given->keys.len; i++)
    m.attrs = dict_with(m.attrs, given->keys.at[i], given->values.at[i]);
  return value_node(gc_copy(&m, sizeof m));
}
static Value get_attr(BuiltinCall *call) {
  Node *x = dict_get(AS(IRModule, call->self.node)->attrs, attr_key(ARG(0), SPAN(0)));
  return from_attr(x);
}
static Value without_attr(BuiltinCall *call) { return with_module_attr(call, NULL); }

static Value clone(BuiltinCall *call) {
  return value_node(gc_copy(AS(IRModule, call->self.node), sizeof(IRModule)));
}

static const Builtin methods[] = {
    {"update_func", "var, func", update_func, "adds a function, or replaces the one of that name"},
    {"update", "functions", update, "adds the functions of a module or a dict"},
    {"remove", "name", remove_func, "takes a function out"},
    {"get_global_var", "name", get_global_var, "the GlobalVar of a function"},
    {"get_global_vars", "", get_global_vars, "the GlobalVars of all functions"},
    {"functions_items", "", functions_items, "pairs of GlobalVar and function"},
    {"with_attr", "key, value", with_attr, "a copy with one attribute set"},
    {"without_attr", "key", without_attr, "a copy without that attribute"},
    {"with_attrs", "attr_map", with_attrs, "a copy with attributes from a dict"},
    {"get_attr", "attr_key", get_attr, "an attribute, or None"},
    {"clone", "", clone, "another module of the same functions"},
};
enum { METHODS = sizeof methods / sizeof *methods };

Value module_value_attr(Value v, const char *name) {
  Node *global = module_global(v.node, name);
  if (global) return value_node(global);
  IRModule *m = AS(IRModule, v.node);
  if (str_same(name, "attrs")) return m->attrs ? from_attr(m->attrs) : value_dict();
  if (str_same(name, "functions")) {
    Value all = value_dict();
    for (int i = 0; i < m->functions.len; i++)
      value_dict_set(all, value_node(m->globals.at[i]), value_node(m->functions.at[i]),
                     v.node->span);
    return all;
  }
  if (str_same(name, "pyfuncs")) return module_pyfuncs(v.node);
  return builtin_method(methods, METHODS, v, name);
}

void module_value_names(Value v, StrVec *out) {
  for each (Node *, g, &AS(IRModule, v.node)->globals) vec_push(out, AS(GlobalVar, *g)->name);
  vec_push(out, "functions");
  vec_push(out, "pyfuncs");
  builtin_names(methods, METHODS, out);
}
