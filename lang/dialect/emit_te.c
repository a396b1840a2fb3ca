/* emit_te.c -- calls of tensor programs that are made while the module is read: R.emit_te, and
 * R.call_dps_packed of a plain C function. */
#include "lang/dialect/node_class.h"
#include "lang/dialect/tensor_names.h"

#define ARG(i) call->args[i]

static Node *same_function(const ModuleBuilder *m, Node *program) {
  for (int i = 0; i < m->functions.len; i++)
    if (node_equal(m->functions.at[i], program, false, NULL)) return m->globals.at[i];
  return NULL;
}

static bool name_is_taken(const ModuleBuilder *m, Env *env, const char *name) {
  Value *x = env_find(env, name);
  if (x && value_is_node(*x, NK_GlobalVar)) return true;
  for each (Node *, g, &m->globals)
    if (str_same(AS(GlobalVar, *g)->name, name)) return true;
  return false;
}

/* The GlobalVar of the program, which joins the module under a free name. */
static Node *join_module(ModuleBuilder *m, Env *env, Node *program, const char *hint) {
  Node *global = same_function(m, program);
  if (global) return global;
  const char *name = str_intern(hint);
  for (int n = 1; name_is_taken(m, env, name); n++) name = str_intern(str_format("%s%d", hint, n));
  global = global_for(name, program);
  vec_push(&m->globals, global);
  vec_push(&m->functions, program);
  return global;
}

/* func: "FILE:SYMBOL(float32*, int64, float32*)". The program has a parameter for each argument of
 * the C function, and nothing but the call of it: all that knows tensor programs knows C functions
 * by it. */
Value call_c_function(Value func, NodeVec args, NodeVec outs, Env *env, Span span) {
  ValueVec operands = {0}, infos = {0};
  for each (Node *, a, &args) vec_push(&operands, value_node(*a));
  for each (Node *, o, &outs) vec_push(&infos, value_node(*o));
  Value given[] = {func, value_list(operands), value_list(infos)};
  const char *name = graph && module ? "program" : "call_of_builder";
  Value make = library_attr("tvm.relax.backend.c_function", name);
  Value made = value_call_with(make, 3, given, span);
  if (!graph || !module) return made;
  Value *part = value_items(made)->at;
  Node *global = join_module(module, env, part[0].node, value_text(part[1]));
  Value call_args[] = {value_node(global), part[2], given[2]};
  Value call_tir = value_get_attr(tvm_relax_namespace(), str_intern("call_tir"), span);
  return value_call_with(call_tir, 3, call_args, span);
}

Value r_emit_te(BuiltinCall *call) {
  need_graph("emit_te", call->span);
  ModuleBuilder *m = module;
  if (!m)
    raise_code(E0506, call->span,
               "R.emit_te stands only in a function of a module, which the "
               "tensor program joins");
  Value args[] = {ARG(0), ARG(1), ARG(3), ARG(2)};
  Value builder = library_attr("tvm.relax", "BlockBuilder");
  Value make = value_get_attr(builder, str_intern("_te_program"), call->span);
  Value parts = value_call_with(make, 4, args, call->span);
  Value *part = value_items(parts)->at;
  Node *global = join_module(m, call->env, part[0].node, value_text(part[1]));
  Value operands[] = {value_node(global), part[2], part[3]};
  Value call_tir = value_get_attr(tvm_relax_namespace(), str_intern("call_tir"), call->span);
  return value_call_with(call_tir, 3, operands, call->span);
}
