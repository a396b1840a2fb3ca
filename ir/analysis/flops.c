/* flops.c -- arithmetic is counted along the loops: what a body does, times the loop's extent. */
#include "ir/analysis/flops.h"
#include "ir/support/stack.h"
#include <math.h>

typedef struct Count {
  Node *module;
  const struct Count *caller;
  const Node *func;
  Map values; /* Var to double *: of sizes, and in loops of the step in the middle */
} Count;

static const Flops nothing = {0, 0, true}, unknown = {0, 0, false};

static Flops plus(Flops a, Flops b) {
  return (Flops){a.operations + b.operations, a.multiply_adds + b.multiply_adds,
                 a.known && b.known};
}
static Flops times(Flops a, double n) {
  bool none = a.known && a.operations == 0;
  return none ? nothing : (Flops){a.operations * n, a.multiply_adds * n, a.known && !isnan(n)};
}
static Flops longer(Flops a, Flops b) {
  Flops out = a.operations < b.operations ? b : a;
  out.known = a.known && b.known;
  return out;
}
static Flops some(Node *n, int each) {
  int lanes = n->dtype.lanes;
  return (Flops){each * (double)lanes, 0, lanes > 0}; /* scalable vectors have none that is known */
}

/* ---- numbers that loops and shapes are made of; NaN: not known ---- */

static void bind(Count *c, Node *var, double value) {
  map_set(&c->values, var, gc_copy(&value, sizeof value));
}

static double evaluate(Count *c, Node *n);

static double evaluate_binary(Count *c, Node *n) {
  double a = evaluate(c, ((Binary *)n)->a), b = evaluate(c, ((Binary *)n)->b);
  if (isnan(a) || isnan(b)) return NAN;
  switch (n->kind) {
  case NK_Add: return a + b;
  case NK_Sub: return a - b;
  case NK_Mul: return a * b;
  case NK_FloorDiv: return floor(a / b);
  case NK_FloorMod: return a - b * floor(a / b);
  case NK_Div: return trunc(a / b);
  case NK_Mod: return fmod(a, b);
  case NK_Min: return fmin(a, b);
  case NK_Max: return fmax(a, b);
  default: return NAN;
  }
}

static double evaluate(Count *c, Node *n) {
  int64_t i;
  if (expr_is_const_int(n, &i)) return (double)i;
  if (IS(Cast, n)) return evaluate(c, AS(Cast, n)->value);
  if (IS(Var, n)) {
    double *value = map_get(&c->values, n);
    return value ? *value : NAN;
  }
  return node_is_binary(n->kind) ? evaluate_binary(c, n) : NAN;
}

/* ---- expressions ---- */

static Flops of_expr(Count *c, Node *n);

static Flops of_exprs(Count *c, NodeVec v) {
  Flops sum = nothing;
  for each (Node *, n, &v) sum = plus(sum, of_expr(c, *n));
  return sum;
}

static bool is_product(Node *n) {
  while (IS(Cast, n)) n = AS(Cast, n)->value;
  return IS(Mul, n);
}

static Flops of_binary(Count *c, Node *n) {
  Node *a = ((Binary *)n)->a, *b = ((Binary *)n)->b;
  Flops sum = plus(of_expr(c, a), of_expr(c, b));
  if (n->kind >= NK_EQ && n->kind <= NK_Or) return sum;
  bool is_sum = IS(Add, n) || IS(Sub, n);
  Flops one = some(n, 1);
  if (is_sum && (is_product(a) || is_product(b))) one.multiply_adds = one.operations;
  return plus(sum, one);
}

static Flops of_call(Count *c, Node *n) {
  Call *call = AS(Call, n);
  const Intrin *intrin = intrin_of(call->op);
  if (IS(GlobalVar, call->op) || is_intrin_call(n, "call_extern")) return unknown;
  if (is_intrin_call(n, "if_then_else"))
    return longer(of_expr(c, call->args.at[1]), of_expr(c, call->args.at[2]));
  Flops sum = of_exprs(c, call->args);
  bool is_fma = is_intrin_call(n, "fma");
  Flops own = some(n, is_fma ? 2 : 1);
  if (is_fma) own.multiply_adds = own.operations / 2;
  bool counts = is_fma || (intrin && intrin->takes == TAKES_FLOATS);
  return counts ? plus(sum, own) : sum;
}

static Flops of_expr(Count *c, Node *n) {
  if (stack_is_low()) return unknown;
  switch (n->kind) {
  case NK_Cast: return of_expr(c, AS(Cast, n)->value);
  case NK_Not: return of_expr(c, AS(Not, n)->a);
  case NK_Broadcast: return of_expr(c, AS(Broadcast, n)->value);
  case NK_Shuffle: return of_exprs(c, AS(Shuffle, n)->vectors);
  case NK_Let: return plus(of_expr(c, AS(Let, n)->value), of_expr(c, AS(Let, n)->body));
  case NK_Select: return longer(of_expr(c, AS(Select, n)->then), of_expr(c, AS(Select, n)->orelse));
  case NK_Call: return of_call(c, n);
  default: return node_is_binary(n->kind) ? of_binary(c, n) : nothing;
  }
}

/* ---- statements ---- */

static Flops of_stmt(Count *c, Node *n);

static Flops of_loop(Count *c, For *f) {
  double extent = evaluate(c, f->extent);
  bind(c, f->var, evaluate(c, f->min) + (extent - 1) / 2);
  return times(of_stmt(c, f->body), extent < 0 ? 0 : extent);
}

/* What a block does first is done in one of all steps of its reduction variables. */
static Flops of_block(Count *c, BlockRealize *r) {
  Block *b = AS(Block, r->block);
  double steps = 1;
  for (int i = 0; i < r->iter_values.len; i++) {
    IterVar *v = AS(IterVar, b->iter_vars.at[i]);
    bind(c, v->var, evaluate(c, r->iter_values.at[i]));
    if (v->iter_kind == ITER_REDUCE) steps *= evaluate(c, AS(Range, v->dom)->extent);
  }
  Flops body = of_stmt(c, b->body);
  return b->init ? plus(body, times(of_stmt(c, b->init), 1 / steps)) : body;
}

static Flops of_let(Count *c, LetStmt *n) {
  bind(c, n->var, evaluate(c, n->value));
  return plus(of_expr(c, n->value), of_stmt(c, n->body));
}

static Flops of_if(Count *c, IfThenElse *n) {
  Flops orelse = n->orelse ? of_stmt(c, n->orelse) : nothing;
  return longer(of_stmt(c, n->then), orelse);
}

static Flops of_stmt(Count *c, Node *n) {
  Flops sum = nothing;
  if (stack_is_low()) return unknown;
  switch (n->kind) {
  case NK_For: return of_loop(c, AS(For, n));
  case NK_While: return of_stmt(c, AS(While, n)->body);
  case NK_BlockRealize: return of_block(c, AS(BlockRealize, n));
  case NK_LetStmt: return of_let(c, AS(LetStmt, n));
  case NK_IfThenElse: return of_if(c, AS(IfThenElse, n));
  case NK_BufferStore: return of_expr(c, AS(BufferStore, n)->value);
  case NK_Evaluate: return of_expr(c, AS(Evaluate, n)->value);
  case NK_SeqStmt:
    for each (Node *, s, &AS(SeqStmt, n)->stmts) sum = plus(sum, of_stmt(c, *s));
    return sum;
  default: return stmt_rest(n) ? of_stmt(c, *stmt_rest(n)) : unknown;
  }
}

/* ---- graph functions ---- */

static Flops of_relax(Count *c, Node *n);

/* The callee's variables, by what the caller gives in their places. */
static void bind_dims(Count *callee, NodeVec dims, Count *c, NodeVec given) {
  for (int i = 0; i < dims.len && i < given.len; i++)
    if (IS(Var, dims.at[i])) bind(callee, dims.at[i], evaluate(c, given.at[i]));
}

static bool dims_of(Node *sinfo, NodeVec *dims) {
  if (IS(ShapeStructInfo, sinfo)) return *dims = AS(ShapeStructInfo, sinfo)->values, true;
  return IS(TensorStructInfo, sinfo) && sinfo_tensor_shape(sinfo, dims);
}

/* Struct info of what a tensor program gets from R.call_tir: tensors, results, then scalars. */
static NodeVec program_args(RelaxCall *call) {
  NodeVec out = {0};
  Node *args = call->args.at[1];
  if (IS(Tuple, args))
    for each (Node *, x, &AS(Tuple, args)->fields) vec_push(&out, sinfo_of(*x));
  else if (IS(TupleStructInfo, sinfo_of(args)))
    for each (Node *, x, &AS(TupleStructInfo, sinfo_of(args))->fields) vec_push(&out, *x);
  else vec_push(&out, sinfo_of(args));
  for each (Node *, x, &call->sinfo_args) {
    if (!IS(TupleStructInfo, *x)) vec_push(&out, *x);
    else
      for each (Node *, y, &AS(TupleStructInfo, *x)->fields) vec_push(&out, *y);
  }
  return out;
}

static Flops of_program(Count *c, PrimFunc *f, RelaxCall *call) {
  Count callee = {.module = c->module};
  NodeVec given = program_args(call), dims, scalars = {0};
  for (int i = 0; i < given.len && i < f->params.len; i++)
    if (f->buffers.at[i] && dims_of(given.at[i], &dims))
      bind_dims(&callee, AS(Buffer, f->buffers.at[i])->shape, c, dims);
  for (int i = given.len; i < f->params.len; i++) vec_push(&scalars, f->params.at[i]);
  if (call->args.len > 2 && IS(ShapeExpr, call->args.at[2]))
    bind_dims(&callee, scalars, c, AS(ShapeExpr, call->args.at[2])->values);
  return of_stmt(&callee, f->body);
}

static Flops of_graph_call(Count *c, Function *f, RelaxCall *call) {
  Count callee = {.module = c->module, .caller = c, .func = &f->node};
  NodeVec dims, given;
  for (const Count *k = c; k; k = k->caller)
    if (k->func == &f->node) return unknown; /* it calls itself */
  for (int i = 0; i < f->params.len && i < call->args.len; i++)
    if (dims_of(sinfo_of(f->params.at[i]), &dims) && dims_of(sinfo_of(call->args.at[i]), &given))
      bind_dims(&callee, dims, c, given);
  return of_relax(&callee, f->body);
}

static Flops of_relax_call(Count *c, RelaxCall *call) {
  bool is_program = IS(Op, call->op) && relax_is_call_form(AS(Op, call->op)->name);
  Node *target = is_program ? call->args.at[0] : call->op;
  if (!IS(GlobalVar, target)) {
    const OpInfo *info = op_info_of(call->op);
    return is_program || !info || info->legalize ? unknown : nothing;
  }
  Node *f = module_find(c->module, AS(GlobalVar, target)->name);
  if (IS(PrimFunc, f)) return of_program(c, AS(PrimFunc, f), call);
  return IS(Function, f) ? of_graph_call(c, AS(Function, f), call) : unknown;
}

static Flops of_seq(Count *c, SeqExpr *seq) {
  Flops sum = of_relax(c, seq->body);
  for each (Node *, block, &seq->blocks)
    for each (Node *, b, &AS(BindingBlock, *block)->bindings)
      sum = plus(sum, of_relax(c, IS(VarBinding, *b) ? AS(VarBinding, *b)->value
                                                     : AS(MatchCast, *b)->value));
  return sum;
}

static Flops of_relax(Count *c, Node *n) {
  switch (n->kind) {
  case NK_RelaxCall: return of_relax_call(c, AS(RelaxCall, n));
  case NK_SeqExpr: return of_seq(c, AS(SeqExpr, n));
  case NK_RelaxIf:
    return longer(of_relax(c, AS(RelaxIf, n)->then), of_relax(c, AS(RelaxIf, n)->orelse));
  default: return nothing;
  }
}

Flops flops_of(Node *module, Node *func, const Map *sizes) {
  Count c = {.module = module, .func = func};
  for (int i = 0; i < sizes->len; i++) {
    int64_t value;
    if (sizes->at[i].key && expr_is_const_int(sizes->at[i].value, &value))
      bind(&c, (Node *)(uintptr_t)sizes->at[i].key, (double)value);
  }
  if (IS(PrimFunc, func)) return of_stmt(&c, AS(PrimFunc, func)->body);
  return IS(Function, func) ? of_relax(&c, AS(Function, func)->body) : unknown;
}
