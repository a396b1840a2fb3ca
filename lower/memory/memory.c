/* memory.c -- reading and making the bindings that the passes here work on. */
#include "lower/memory/memory.h"

bool is_op_call(const Node *n, const char *name) {
  if (!IS(RelaxCall, n)) return false;
  const Node *op = ((const RelaxCall *)(const void *)n)->op;
  return IS(Op, op) && str_same(((const Op *)(const void *)op)->name, name);
}

bool memory_is_root(const Node *value) {
  return is_op_call(value, "relax.builtin.alloc_tensor") ||
         is_op_call(value, "relax.memory.alloc_tensor");
}

Node *memory_call(const char *op, NodeVec args, Node *sinfo, Span span) {
  return MAKE(RelaxCall, span, VOID_TYPE, .sinfo = sinfo, .op = op_get(op), .args = args);
}

Node *memory_var(const char *name, Node *sinfo, Span span) {
  return MAKE(RelaxVar, span, VOID_TYPE, .sinfo = sinfo, .name = name);
}

Node *memory_bind(Node *var, Node *value) {
  return MAKE(VarBinding, value->span, VOID_TYPE, .value = value, .var = var);
}

Node *memory_shape(NodeVec dims, Span span) {
  Node *info =
      MAKE(ShapeStructInfo, span, VOID_TYPE, .known = true, .values = dims, .ndim = dims.len);
  return MAKE(ShapeExpr, span, VOID_TYPE, .sinfo = info, .values = dims);
}

Node *memory_number(Node *value, Span span) {
  Node *info = MAKE(PrimStructInfo, span, VOID_TYPE, .value = value, .elem = value->dtype);
  return MAKE(PrimValue, span, VOID_TYPE, .sinfo = info, .value = value);
}

static Node *dtype_value(DataType t, Span span) {
  return MAKE(DataTypeImm, span, VOID_TYPE, .sinfo = sinfo_object(), .value = t);
}

Node *memory_view(Node *of, Node *sinfo, Node *byte_offset, Span span) {
  NodeVec dims = {0};
  sinfo_tensor_shape(sinfo, &dims);
  NodeVec args =
      NODES(of, memory_shape(dims, span), dtype_value(AS(TensorStructInfo, sinfo)->elem, span),
            memory_number(byte_offset, span));
  return memory_call("relax.memory.view", args, sinfo, span);
}

int64_t memory_align(const Target *target) {
  int align = lower_device(target).align;
  return align > MEMORY_ALIGN ? align : MEMORY_ALIGN;
}

bool memory_may_begin(const Target *target, Node *byte_offset) {
  int align = lower_device(target).align;
  if (align == 1) return true;
  Modular m = arith_modular(arith_new(), byte_offset);
  return m.coeff % align == 0 && m.base % align == 0;
}

Node *memory_new_tensor(Node *sinfo, Span span) {
  NodeVec dims;
  if (!sinfo_tensor_shape(sinfo, &dims))
    error_raisef("LowerError", span, "the shape of what the call writes is not known");
  NodeVec args =
      NODES(memory_shape(dims, span), dtype_value(AS(TensorStructInfo, sinfo)->elem, span),
            memory_number(int_imm(INT64, 0, span), span),
            MAKE(StringValue, span, VOID_TYPE, .sinfo = sinfo_object(), .value = "global"));
  return memory_call("relax.builtin.alloc_tensor", args, sinfo, span);
}

/* The factors of a product: numbers as one, the others in the order of their names. */
typedef struct Product {
  int64_t number;
  NodeVec factors;
} Product;

static const char *factor_name(const Node *n) {
  return IS(Var, n) ? ((const Var *)(const void *)n)->name : "~";
}

static void add_factors(Product *p, Node *n) {
  int64_t value;
  if (IS(Mul, n)) {
    add_factors(p, AS(Mul, n)->a);
    add_factors(p, AS(Mul, n)->b);
  } else if (expr_is_const_int(n, &value) && !__builtin_mul_overflow(p->number, value, &value))
    p->number = value;
  else {
    vec_push(&p->factors, n);
    for (int i = p->factors.len - 1;
         i > 0 && strcmp(factor_name(p->factors.at[i - 1]), factor_name(n)) > 0; i--) {
      p->factors.at[i] = p->factors.at[i - 1];
      p->factors.at[i - 1] = n;
    }
  }
}

/* Is it, as it is written, not surely a size? Dims that have names are. */
static bool may_be_negative(Node *n) {
  int64_t value;
  if (expr_is_const_int(n, &value)) return value < 0;
  if (IS(Var, n)) return false;
  if (IS(Cast, n)) return may_be_negative(AS(Cast, n)->value);
  if (IS(Sub, n) || !node_is_binary(n->kind)) return true;
  Binary *x = (Binary *)(void *)n;
  if (IS(Max, n)) return may_be_negative(x->a) && may_be_negative(x->b);
  return may_be_negative(x->a) || may_be_negative(x->b);
}

/* A dim that comes out negative, that of a window wider than what it moves over, is as good as 0.
 */
static Node *dim_size(Node *dim) {
  Node *size = expr_cast(INT64, dim, dim->span);
  if (!may_be_negative(size)) return size;
  return expr_binary(NK_Max, size, int_imm(INT64, 0, dim->span), dim->span);
}

Node *memory_nbytes(Node *sinfo) {
  NodeVec dims = {0};
  sinfo_tensor_shape(sinfo, &dims);
  Product p = {.number = dtype_nbytes(AS(TensorStructInfo, sinfo)->elem)};
  for each (Node *, d, &dims) add_factors(&p, dim_size(*d));
  Node *n = NULL;
  for each (Node *, f, &p.factors) n = n ? expr_mul(n, *f) : *f;
  Node *number = int_imm(INT64, p.number, sinfo->span);
  return n ? expr_mul(n, number) : number;
}

int64_t memory_typical(const Map *dims, Analyzer *a, Node *n) {
  Map typical = {0};
  for (int i = 0; i < dims->len; i++) {
    Node *var = (Node *)(uintptr_t)dims->at[i].key;
    if (var) map_set(&typical, var, int_imm(var->dtype, MEMORY_TYPICAL_DIM, var->span));
  }
  int64_t value;
  return expr_is_const_int(arith_simplify(a, substitute(n, &typical)), &value) ? value : -1;
}

Node *memory_function(Node *function, NodeVec blocks) {
  Function f = *AS(Function, function);
  SeqExpr body = *AS(SeqExpr, f.body);
  body.blocks = blocks_normal(blocks);
  f.body = gc_copy(&body, sizeof body);
  return gc_copy(&f, sizeof f);
}

static Node *rewrite_seq(Bindings *b, Node *seq);

static Node *rewrite_arms(Bindings *b, Node *n) {
  if (!IS(VarBinding, n) || !IS(RelaxIf, AS(VarBinding, n)->value)) return n;
  RelaxIf i = *AS(RelaxIf, AS(VarBinding, n)->value);
  Node *then = rewrite_seq(b, i.then), *orelse = rewrite_seq(b, i.orelse);
  if (then == i.then && orelse == i.orelse) return n;
  i.then = then;
  i.orelse = orelse;
  return memory_bind(AS(VarBinding, n)->var, gc_copy(&i, sizeof i));
}

static bool same_bindings(NodeVec a, NodeVec b) {
  return a.len == b.len && (!a.len || memcmp(a.at, b.at, sizeof *a.at * (size_t)a.len) == 0);
}

static Node *rewrite_seq(Bindings *b, Node *seq) {
  SeqExpr s = *AS(SeqExpr, seq);
  NodeVec blocks = {0};
  bool changed = false;
  for each (Node *, n, &s.blocks) {
    BindingBlock block = *AS(BindingBlock, *n);
    NodeVec inner = {0}, out = {0};
    for each (Node *, x, &block.bindings) vec_push(&inner, rewrite_arms(b, *x));
    b->rewrite(b, inner, &out);
    bool same = same_bindings(out, block.bindings);
    block.bindings = out;
    vec_push(&blocks, same ? *n : gc_copy(&block, sizeof block));
    changed |= !same;
  }
  if (!changed) return seq;
  s.blocks = blocks_normal(blocks);
  return gc_copy(&s, sizeof s);
}

Node *memory_rewrite(Bindings *b, Node *function) {
  Function f = *AS(Function, function);
  Node *body = rewrite_seq(b, f.body);
  if (body == f.body) return function;
  f.body = body;
  return gc_copy(&f, sizeof f);
}

int64_t memory_upper_bound(Function *f, const char *var) {
  Node *bounds = dict_get(f->attrs, "tir_var_upper_bound");
  int64_t value;
  if (!IS(Dict, bounds) || !expr_is_const_int(dict_get(bounds, str_intern(var)), &value)) return -1;
  return value < 0 ? 0 : value;
}

static void enter_bounds(Function *f, Analyzer *a, Node *sinfo) {
  NodeVec dims = {0};
  sinfo_tensor_shape(sinfo, &dims);
  if (IS(ShapeStructInfo, sinfo)) dims = AS(ShapeStructInfo, sinfo)->values;
  if (IS(TupleStructInfo, sinfo))
    for each (Node *, x, &AS(TupleStructInfo, sinfo)->fields) enter_bounds(f, a, *x);
  for each (Node *, d, &dims) {
    if (!IS(Var, *d)) continue;
    int64_t bound = memory_upper_bound(f, AS(Var, *d)->name);
    Span span = (*d)->span;
    arith_enter(a, expr_binary(NK_GE, *d, int_imm((*d)->dtype, 0, span), span));
    if (bound >= 0) arith_enter(a, expr_binary(NK_LE, *d, int_imm((*d)->dtype, bound, span), span));
  }
}

/* Dims that a match_cast tells are no less than 0, either. */
static WalkResult enter_cast(Walker *w, Node *n) {
  NodeVec dims = {0};
  if (!IS(MatchCast, n)) return WALK_ON;
  Node *sinfo = AS(MatchCast, n)->sinfo;
  if (!sinfo_tensor_shape(sinfo, &dims) && IS(ShapeStructInfo, sinfo))
    dims = AS(ShapeStructInfo, sinfo)->values;
  for each (Node *, d, &dims)
    if (IS(Var, *d))
      arith_enter(w->context, expr_binary(NK_GE, *d, int_imm((*d)->dtype, 0, n->span), n->span));
  return WALK_ON;
}

Analyzer *memory_analyzer(Function *f) {
  Analyzer *a = arith_new();
  for each (Node *, p, &f->params) enter_bounds(f, a, sinfo_of(*p));
  Walker w = {.enter = enter_cast, .context = a};
  walk(&w, f->body);
  return a;
}

static bool is_natural(Analyzer *a, Node *n) {
  return arith_can_prove(a, expr_binary(NK_GE, n, int_imm(n->dtype, 0, n->span), n->span));
}

/* Does no larger variable make it smaller? */
static bool grows(Analyzer *a, Node *n) {
  int64_t by;
  if (IS(IntImm, n) || IS(Var, n)) return true;
  if (IS(Cast, n)) return grows(a, AS(Cast, n)->value);
  if (!node_is_binary(n->kind)) return false;
  Binary *x = (Binary *)(void *)n;
  if (!grows(a, x->a)) return false;
  switch (n->kind) {
  case NK_Add:
  case NK_Max:
  case NK_Min: return grows(a, x->b);
  case NK_Sub: return IS(IntImm, x->b);
  case NK_FloorDiv: return expr_is_const_int(x->b, &by) && by > 0;
  case NK_Mul: return grows(a, x->b) && is_natural(a, x->a) && is_natural(a, x->b);
  default: return false;
  }
}

typedef struct Bounded {
  Function *f;
  Map values; /* variables with an upper bound, to it */
} Bounded;

static WalkResult note_bounded(Walker *w, Node *n) {
  Bounded *b = w->context;
  int64_t bound = IS(Var, n) ? memory_upper_bound(b->f, AS(Var, n)->name) : -1;
  if (bound >= 0) map_set(&b->values, n, int_imm(n->dtype, bound, n->span));
  return WALK_ON;
}

Node *memory_most(Function *f, Analyzer *a, Node *n) {
  Bounded bounded = {.f = f};
  Walker w = {.enter = note_bounded, .context = &bounded};
  walk(&w, n);
  return bounded.values.live && grows(a, n) ? substitute(n, &bounded.values) : n;
}
