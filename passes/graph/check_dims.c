/* check_dims.c -- what operators take for granted of symbolic dims is checked when they run.
 *
 * In:  calls of operators whose rules could not tell that two dims are equal, and went on as if:
 *      the inner dims of a product, the numbers of elements of a reshape.
 * Out: before the call a match_cast of these dims, once in a function for the same ones.
 *
 * After it dims that differ are an error; without it programs would read beyond their operands. */
#include "passes/passes.h"

typedef struct CheckDims {
  NodeVec found, expected; /* that are checked already, in the blocks around */
} CheckDims;

static Node *shape_info(NodeVec values, Span span) {
  return MAKE(ShapeStructInfo, span, VOID_TYPE, .known = true, .values = values,
              .ndim = values.len);
}

static bool is_checked(const CheckDims *c, Node *found, Node *expected) {
  for (int i = 0; i < c->found.len; i++)
    if (node_equal(c->found.at[i], found, false, NULL) &&
        node_equal(c->expected.at[i], expected, false, NULL))
      return true;
  return false;
}

static WalkResult find_var(Walker *w, Node *n) {
  (void)w;
  return IS(Var, n) ? WALK_STOP : WALK_ON;
}

static bool has_dims(NodeVec args) {
  Walker w = {.enter = find_var};
  for each (Node *, a, &args) {
    if (IS(RelaxVar, *a) || IS(TupleGetItem, *a)) {
      if (!walk(&w, sinfo_of(*a))) return true;
    } else if (!walk(&w, *a)) return true;
    if (IS(Tuple, *a) && has_dims(AS(Tuple, *a)->fields)) return true;
  }
  return false;
}

/* The match_cast for what the call takes for granted; NULL if there is nothing to check. */
static Node *check_of(CheckDims *c, VarBinding *b, bool in_dataflow) {
  RelaxCall *call = AS(RelaxCall, b->value);
  const OpInfo *info = IS(Op, call->op) ? op_info_of(call->op) : NULL;
  bool asks = info && info->assumed && has_dims(call->args);
  NodeVec pairs = asks ? info->assumed(info, &call->node) : (NodeVec){0};
  NodeVec found = {0}, expected = {0};
  Span span = b->node.span;
  for (int i = 0; i < pairs.len; i += 2) {
    if (is_checked(c, pairs.at[i], pairs.at[i + 1])) continue;
    vec_push(&found, pairs.at[i]), vec_push(&expected, pairs.at[i + 1]);
    vec_push(&c->found, pairs.at[i]), vec_push(&c->expected, pairs.at[i + 1]);
  }
  if (!found.len) return NULL;
  const char *dot = strrchr(info->name, '.'), *of = AS(RelaxVar, b->var)->name;
  Node *to = shape_info(expected, span);
  const char *name = str_intern(str_format("%s_%s", dot + 1, of));
  return MAKE(
      MatchCast, span, VOID_TYPE, .sinfo = to,
      .value = MAKE(ShapeExpr, span, VOID_TYPE, .sinfo = shape_info(found, span), .values = found),
      .var =
          MAKE(RelaxVar, span, VOID_TYPE, .sinfo = to, .name = name, .is_dataflow = in_dataflow));
}

static Node *check_block(CheckDims *c, BindingBlock *block) {
  NodeVec bindings = {0};
  bool changes = false;
  for each (Node *, n, &block->bindings) {
    bool calls = IS(VarBinding, *n) && IS(RelaxCall, AS(VarBinding, *n)->value);
    Node *check = calls ? check_of(c, AS(VarBinding, *n), block->is_dataflow) : NULL;
    if (check) vec_push(&bindings, check), changes = true;
    vec_push(&bindings, *n);
  }
  if (!changes) return &block->node;
  BindingBlock *made = gc_copy(block, sizeof *block);
  made->bindings = bindings;
  return &made->node;
}

static bool function_has_dims(Function *f) {
  Walker w = {.enter = find_var};
  return has_dims(f->params) || !walk(&w, f->body);
}

/* What a branch checks holds in it alone. */
static Node *rewrite(Mutator *m, Node *n) {
  CheckDims *c = m->context;
  if (IS(Var, n) || IS(RelaxVar, n) || IS(PrimFunc, n)) return n;
  if (IS(Function, n))
    return function_has_dims(AS(Function, n)) ? mutate_children(m, pass_normalize(n, NULL)) : n;
  if (!IS(SeqExpr, n)) {
    n = mutate_children(m, n);
    return IS(BindingBlock, n) ? check_block(c, AS(BindingBlock, n)) : n;
  }
  int mark = c->found.len;
  n = mutate_children(m, n);
  c->found.len = c->expected.len = mark;
  return n;
}

Node *pass_check_dims(Node *n, const PassContext *context) {
  (void)context;
  CheckDims c = {.found = {0}};
  Mutator m = {.rewrite = rewrite, .context = &c};
  return mutate(&m, n);
}
