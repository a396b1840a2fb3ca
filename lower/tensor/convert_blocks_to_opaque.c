/* convert_blocks_to_opaque.c -- block variables are replaced by what they are bound to.
 *
 * In:  blocks without init (after LowerInitBlock).
 * Out: blocks without variables; BlockRealize binds nothing. */
#include "lower/lower_impl.h"

static Node *rewrite(Mutator *m, Node *n) {
  Map *bindings = m->context;
  if (IS(Var, n)) {
    Node *value = map_get(bindings, n);
    return value ? value : n;
  }
  if (!IS(BlockRealize, n)) return mutate_children(m, n);
  BlockRealize r = *AS(BlockRealize, n);
  Block b = *AS(Block, r.block);
  if (b.init)
    error_raisef("LowerError", n->span, "block '%s' still has an init: run LowerInitBlock first",
                 b.name);
  for (int i = 0; i < r.iter_values.len; i++) {
    Node *var = AS(IterVar, b.iter_vars.at[i])->var;
    map_set(bindings, var, expr_cast(var->dtype, mutate(m, r.iter_values.at[i]), n->span));
  }
  b.iter_vars = r.iter_values = (NodeVec){0};
  r.predicate = mutate(m, r.predicate);
  r.block = mutate_children(m, gc_copy(&b, sizeof b));
  return gc_copy(&r, sizeof r);
}

Node *pass_convert_blocks_to_opaque(Node *n, const PassContext *context) {
  (void)context;
  Map bindings = {0};
  Mutator m = {.rewrite = rewrite, .context = &bindings};
  return mutate_children(&m, n);
}
