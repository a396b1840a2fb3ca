/* remove_store_undef.c -- a store of T.undef() stores nothing.
 *
 * In:  T.undef as the value of stores, or of lets that are stored. Anywhere else it is an error:
 * what is computed from it would not be specified either. */
#include "passes/tensor/tensor.h"

typedef struct Undef {
  Map vars; /* of lets that are bound to it */
} Undef;

static bool is_undef(Undef *u, Node *n) {
  return is_intrin_call(n, "undef") || map_has(&u->vars, n);
}

static Node *no_op(Node *n) { return stmt_evaluate(int_imm(INT32, 0, n->span), n->span); }

static Node *rewrite(Mutator *m, Node *n) {
  Undef *u = m->context;
  if (IS(Buffer, n)) return n;
  if (is_undef(u, n))
    error_raisef("LowerError", n->span, "T.undef may only be stored: here its value would be used");
  if (IS(LetStmt, n) && is_undef(u, AS(LetStmt, n)->value)) {
    map_set(&u->vars, AS(LetStmt, n)->var, n);
    return mutate(m, AS(LetStmt, n)->body);
  }
  if (!IS(BufferStore, n) || !is_undef(u, AS(BufferStore, n)->value)) return mutate_children(m, n);
  for each (Node *, i, &AS(BufferStore, n)->indices) mutate(m, *i);
  return no_op(n);
}

Node *pass_remove_store_undef(Node *n, const PassContext *context) {
  (void)context;
  Undef u = {0};
  Mutator m = {.rewrite = rewrite, .context = &u};
  return prim_func_with_body(n, mutate(&m, AS(PrimFunc, n)->body));
}
