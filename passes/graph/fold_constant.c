/* fold_constant.c -- calls whose operands are constants become constants.
 *
 * In:  call_tirs of tensor programs, and operators that have a compute. Out: what the program
 * computes, by the hook; variables of constants are replaced by them. Not: results of more than
 * max_bytes, unless the operands are half as large; what operators make of no tensor (R.zeros),
 * where that is large, and programs without operands; what fails when it runs. */
#include "passes/passes.h"

void (*prepare_programs_hook)(NodeVec programs);
bool (*evaluate_program_hook)(Node *program, NodeVec operands, NodeVec infos, NodeVec *results);

typedef struct Fold {
  const Node *module;
  int64_t max_bytes;
  Map constants; /* RelaxVar to the Constant that it is */
  Map tuples;    /* RelaxVar to a Tuple of constants */
} Fold;

/* ---- what can be computed ---- */

/* Bytes of a tensor of known shape; -1 for another. */
static int64_t bytes_of(Node *info) {
  NodeVec dims;
  int64_t dim, total;
  if (!sinfo_tensor_shape(info, &dims) || dtype_is_void(AS(TensorStructInfo, info)->elem))
    return -1;
  total = dtype_nbytes(AS(TensorStructInfo, info)->elem);
  for each (Node *, d, &dims)
    if (!expr_is_const_int(*d, &dim) || __builtin_mul_overflow(total, dim, &total)) return -1;
  return total;
}

static int64_t bytes_of_all(NodeVec infos) {
  int64_t total = 0;
  for each (Node *, i, &infos) {
    int64_t n = bytes_of(*i);
    if (n < 0 || __builtin_add_overflow(total, n, &total)) return -1;
  }
  return total;
}

/* Adds the constants among operands, those in tuples too; false if others are tensors. */
static bool push_constants(NodeVec args, NodeVec *out) {
  for each (Node *, a, &args) {
    if (IS(Constant, *a)) vec_push(out, *a);
    else if (IS(Tuple, *a)) {
      if (!push_constants(AS(Tuple, *a)->fields, out)) return false;
    } else if (IS(RelaxVar, *a) || IS(RelaxCall, *a) || IS(TupleGetItem, *a)) return false;
  }
  return true;
}

/* What may stand as a constant although it can be told in few words. */
static bool is_small(Node *info) {
  enum { ELEMENTS = 1024 };
  int64_t bytes = IS(TensorStructInfo, info) ? bytes_of(info) : -1;
  return bytes >= 0 && bytes <= ELEMENTS * dtype_nbytes(AS(TensorStructInfo, info)->elem);
}

/* The program that a call runs; its operands, which are constants. NULL if it is another call. */
static Node *program_of(Fold *f, RelaxCall *c, NodeVec *operands) {
  if (c->op == op_get("relax.call_tir")) {
    Node *callee = IS(GlobalVar, c->args.at[0])
                       ? module_find(f->module, AS(GlobalVar, c->args.at[0])->name)
                       : NULL;
    bool plain = IS(PrimFunc, callee) && c->args.len == 2 && IS(Tuple, c->args.at[1]) &&
                 push_constants(NODES(c->args.at[1]), operands) &&
                 operands->len == AS(Tuple, c->args.at[1])->fields.len;
    return plain ? callee : NULL;
  }
  const OpInfo *info = op_info_of(c->op);
  bool known = info && info->is_pure && info->legalize && push_constants(c->args, operands) &&
               (operands->len || is_small(c->sinfo));
  return known ? info->legalize(info, &c->node) : NULL;
}

static Node *folded(Fold *f, RelaxCall *c) {
  NodeVec operands = {0}, inputs = {0}, results = {0}, outs = {0};
  if (!IS(Op, c->op) || !evaluate_program_hook) return NULL;
  if (IS(TupleStructInfo, c->sinfo)) outs = AS(TupleStructInfo, c->sinfo)->fields;
  else vec_push(&outs, c->sinfo);
  int64_t bytes = bytes_of_all(outs);
  if (bytes < 0) return NULL;
  Node *program = program_of(f, c, &operands);
  for each (Node *, o, &operands) vec_push(&inputs, sinfo_of(*o));
  bool is_program = c->op == op_get("relax.call_tir");
  if (!program || (is_program && !operands.len) ||
      (bytes > f->max_bytes && bytes / 2 > bytes_of_all(inputs)) ||
      AS(PrimFunc, program)->params.len != operands.len + outs.len ||
      !evaluate_program_hook(program, operands, outs, &results))
    return NULL;
  if (!IS(TupleStructInfo, c->sinfo)) return results.at[0];
  return MAKE(Tuple, c->node.span, VOID_TYPE, .sinfo = c->sinfo, .fields = results);
}

/* ---- bindings ---- */

static Node *binding(Mutator *m, Node *n) {
  Fold *f = m->context;
  VarBinding b = *AS(VarBinding, n);
  b.value = mutate(m, b.value);
  if (IS(Constant, b.value)) {
    map_set(&f->constants, b.var, b.value);
    return NULL;
  }
  if (IS(Tuple, b.value)) map_set(&f->tuples, b.var, b.value);
  return b.value == AS(VarBinding, n)->value ? n : gc_copy(&b, sizeof b);
}

static Node *rewrite(Mutator *m, Node *n) {
  Fold *f = m->context;
  if (IS(Var, n)) return n;
  if (IS(RelaxVar, n)) return map_has(&f->constants, n) ? map_get(&f->constants, n) : n;
  if (IS(VarBinding, n)) return binding(m, n);
  n = mutate_children(m, n);
  if (IS(TupleGetItem, n)) {
    Node *tuple = map_get(&f->tuples, AS(TupleGetItem, n)->tuple);
    Node *field = tuple ? AS(Tuple, tuple)->fields.at[AS(TupleGetItem, n)->index] : NULL;
    return IS(Constant, field) ? field : n;
  }
  Node *value = IS(RelaxCall, n) ? folded(f, AS(RelaxCall, n)) : NULL;
  return value ? value : n;
}

Node *pass_fold_constant(Node *n, const PassContext *context) {
  Fold f = {.module = context->module, .max_bytes = pass_option_int(context, "max_bytes")};
  Mutator m = {.rewrite = rewrite, .context = &f};
  return mutate_children(&m, n);
}
