/* annotate_entry_func.c -- the only tensor program of a module that others may call, or the one
 * named main, is its entry: the attribute "tir.is_entry_func". */
#include "passes/tensor/tensor.h"

Node *pass_annotate_entry_func(Node *n, const PassContext *context) {
  (void)context;
  IRModule *m = AS(IRModule, n);
  Node *only = NULL, *name = NULL;
  int count = 0;
  for (int i = 0; i < m->functions.len; i++) {
    Node *f = m->functions.at[i];
    if (!IS(PrimFunc, f) || !func_symbol(f)) continue;
    bool is_main = str_same(AS(GlobalVar, m->globals.at[i])->name, "main");
    if (dict_get_int(AS(PrimFunc, f)->attrs, "tir.is_entry_func", 0)) return n;
    count = is_main ? 1 : count + 1;
    only = f;
    name = m->globals.at[i];
    if (is_main) break;
  }
  if (count != 1) return n;
  return module_with(n, name, func_with_attr(only, "tir.is_entry_func", int_imm(BOOL, 1, n->span)));
}
