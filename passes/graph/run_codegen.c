/* run_codegen.c -- functions with the attribute Codegen are given to their code generators.
 *
 * In:  what MergeCompositeFunctions makes. Out: for each such function the one that its code
 * generator gives: of the same parameters and result, without the attribute, calling external
 * functions or tensor programs. */
#include "passes/passes.h"

Node *(*codegen_hook)(const char *codegen, Node *func);

static Node *generated(Node *func, const char *codegen) {
  Node *out = codegen_hook ? codegen_hook(codegen, func) : NULL;
  const char *why = NULL;
  if (!IS(Function, out))
    error_raisef("ValueError", func->span, "the code generator '%s' must give a graph function",
                 codegen);
  if (sinfo_check(sinfo_of(func), sinfo_of(out), &why) == SINFO_NO)
    error_raisef("ValueError", func->span,
                 "the code generator '%s' gives a function of another type: %s", codegen, why);
  return func_with_attr(out, "Codegen", NULL);
}

Node *pass_run_codegen(Node *module, const PassContext *context) {
  (void)context;
  IRModule *m = AS(IRModule, module);
  Node *out = module;
  for (int i = 0; i < m->functions.len; i++) {
    Node *f = m->functions.at[i], *codegen = func_attr(f, "Codegen");
    if (IS(Function, f) && IS(StringImm, codegen))
      out = module_with(out, m->globals.at[i], generated(f, AS(StringImm, codegen)->value));
  }
  return out;
}
