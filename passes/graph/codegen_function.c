/* codegen_function.c -- see codegen_function.h. */
#include "passes/graph/codegen_function.h"
#include "passes/graph/group_function.h"

const char *codegen_of(const Node *func) {
  Node *name = func_attr(func, "Composite");
  if (!IS(StringImm, name)) return NULL;
  const char *text = AS(StringImm, name)->value, *dot = strchr(text, '.');
  return str_intern(dot ? str_format("%.*s", (int)(dot - text), text) : text);
}

/* local = a function; var = local(args) */
static void add_local_call(const CompositeCall *c, NodeVec *bindings) {
  Span span = c->func->span;
  Node *func = func_with_attr(c->func, "Primitive", NULL);
  Node *local =
      MAKE(RelaxVar, span, VOID_TYPE, .sinfo = sinfo_of(func), .name = str_intern("composite"));
  Node *call =
      MAKE(RelaxCall, span, VOID_TYPE, .sinfo = sinfo_of(c->var), .op = local, .args = c->args);
  vec_push(bindings,
           MAKE(VarBinding, span, VOID_TYPE, .value = copy_with_fresh_vars(func), .var = local));
  vec_push(bindings, MAKE(VarBinding, span, VOID_TYPE, .value = call, .var = c->var));
}

Node *codegen_call(SharedFunctions *functions, CompositeCallVec calls, NodeVec outputs) {
  const char *codegen = codegen_of(calls.at[0].func);
  NodeVec bindings = {0};
  for each (CompositeCall, c, &calls) add_local_call(c, &bindings);
  Str name = {0}; /* fused_<those of the parts>_<code generator> */
  str_add(&name, "fused");
  for each (CompositeCall, c, &calls)
    str_add(&name, str_begins(c->name, "fused") ? c->name + strlen("fused") : c->name);
  str_printf(&name, "_%s", codegen);
  Node *attrs = dict_with(dict_new(), "Codegen", string_imm(codegen, bindings.at[0]->span));
  return group_call(functions, &(BindingGroup){.bindings = bindings,
                                               .outputs = outputs,
                                               .attrs = attrs,
                                               .name = str_text(&name),
                                               .exported = true});
}
