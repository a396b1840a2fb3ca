/* convert_ssa.c -- a variable that is defined in several places becomes one for each of them.
 *
 * Text defines each variable once; a statement that stands twice in a function, as the same node,
 * defines its own twice. */
#include "passes/tensor/tensor.h"

typedef struct Ssa {
  Map defined; /* variables and buffers that have a definition already */
} Ssa;

static Node *defined_by(Node *n) {
  switch (n->kind) {
  case NK_For: return AS(For, n)->var;
  case NK_LetStmt: return AS(LetStmt, n)->var;
  case NK_Let: return AS(Let, n)->var;
  case NK_Allocate: return AS(Allocate, n)->var;
  case NK_AllocateConst: return AS(AllocateConst, n)->var;
  case NK_DeclBuffer: return AS(DeclBuffer, n)->buffer;
  case NK_AttrStmt: /* a thread may be launched several times, one launch after another */
    return is_launch(n) ? AS(IterVar, AS(AttrStmt, n)->subject)->var : NULL;
  default: return NULL;
  }
}

static Node *rewrite(Mutator *m, Node *n) {
  Ssa *s = m->context;
  if (IS(Buffer, n) || IS(Var, n)) return n;
  Node *var = defined_by(n);
  if (var && map_has(&s->defined, var)) {
    n = copy_with_fresh_vars(n);
    var = defined_by(n);
  }
  if (var) map_set(&s->defined, var, n);
  return mutate_children(m, n);
}

Node *pass_convert_ssa(Node *n, const PassContext *context) {
  (void)context;
  Ssa s = {0};
  for each (Node *, p, &AS(PrimFunc, n)->params) map_set(&s.defined, *p, n);
  Mutator m = {.rewrite = rewrite, .context = &s};
  return prim_func_with_body(n, mutate(&m, AS(PrimFunc, n)->body));
}
