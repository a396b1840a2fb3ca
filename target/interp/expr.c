/* expr.c -- compiles scalar expressions. What works lane by lane is in vector.c. */
#include "target/interp/interp.h"

_Noreturn void unsupported(Span span, const char *what) {
  fault(span, "%s is not supported by the interpreter", what);
}

/* ---- constants and variables ---- */

typedef struct ConstantCode {
  Code code;
  Scalar value;
} ConstantCode;

static Scalar eval_constant(const Code *c, Frame *f) {
  (void)f;
  return ((const ConstantCode *)c)->value;
}

const Code *code_constant(DataType t, Scalar value) {
  return &NEW(ConstantCode, .code = {.eval = eval_constant, .t = t}, .value = value)->code;
}

typedef struct VarCode {
  Code code;
  int slot;
} VarCode;

static Scalar eval_var(const Code *c, Frame *f) { return f->slots[((const VarCode *)c)->slot]; }

static void lanes_var(const Code *c, Frame *f, Scalar *out) {
  memcpy(out, &f->slots[((const VarCode *)c)->slot], sizeof *out * (size_t)c->t.lanes);
}

static const Code *compile_var(Compiler *c, Node *n) {
  int slot = compile_use(c, n, compile_span(c, n));
  return &NEW(VarCode, .code = {eval_var, lanes_var, n->dtype, n->span}, .slot = slot)->code;
}

/* ---- operators ---- */

typedef struct BinaryCode {
  Code code;
  const Code *a, *b;
  BinaryOp *op;
  DataType t; /* of the operands */
} BinaryCode;

static Scalar eval_binary(const Code *c, Frame *f) {
  const BinaryCode *n = (const BinaryCode *)c;
  Scalar a = code_eval(n->a, f);
  return n->op(c, a, code_eval(n->b, f));
}

static void lanes_binary(const Code *c, Frame *f, Scalar *out) {
  const BinaryCode *n = (const BinaryCode *)c;
  int lanes = c->t.lanes;
  LANES(b, lanes);
  code_lanes(n->a, f, lanes, out);
  code_lanes(n->b, f, lanes, b);
  for (int i = 0; i < lanes; i++) out[i] = n->op(c, out[i], b[i]);
}

/* Floats of less than 32 bits, as float32. */
static Scalar eval_small(const Code *c, Frame *f);
static void lanes_small(const Code *c, Frame *f, Scalar *out);

static Scalar small_op(const BinaryCode *n, Scalar a, Scalar b) {
  a.s = scalar_to_float(n->t, a);
  b.s = scalar_to_float(n->t, b);
  Scalar v = n->op(&n->code, a, b);
  return dtype_is_bool(n->code.t) ? v : scalar_from_float(n->t, v.s);
}

static Scalar eval_small(const Code *c, Frame *f) {
  const BinaryCode *n = (const BinaryCode *)c;
  Scalar a = code_eval(n->a, f);
  return small_op(n, a, code_eval(n->b, f));
}

static void lanes_small(const Code *c, Frame *f, Scalar *out) {
  const BinaryCode *n = (const BinaryCode *)c;
  int lanes = c->t.lanes;
  LANES(b, lanes);
  code_lanes(n->a, f, lanes, out);
  code_lanes(n->b, f, lanes, b);
  for (int i = 0; i < lanes; i++) out[i] = small_op(n, out[i], b[i]);
}

/* The second operand is looked at only where the first leaves the answer open. */
static Scalar eval_and(const Code *c, Frame *f) {
  const BinaryCode *n = (const BinaryCode *)c;
  return code_eval(n->a, f).i ? code_eval(n->b, f) : scalar_int(0);
}
static Scalar eval_or(const Code *c, Frame *f) {
  const BinaryCode *n = (const BinaryCode *)c;
  return code_eval(n->a, f).i ? scalar_int(1) : code_eval(n->b, f);
}
static Scalar op_and(const Code *c, Scalar a, Scalar b) {
  (void)c;
  return scalar_int(a.i && b.i);
}
static Scalar op_or(const Code *c, Scalar a, Scalar b) {
  (void)c;
  return scalar_int(a.i || b.i);
}

static const Code *compile_logic(Compiler *c, Node *n, Binary *b) {
  bool is_and = n->kind == NK_And;
  return &NEW(BinaryCode, .code = {is_and ? eval_and : eval_or, lanes_binary, n->dtype, c->span},
              .a = compile_condition(c, b->a), .b = compile_condition(c, b->b),
              .op = is_and ? op_and : op_or)
              ->code;
}

static const Code *compile_binary(Compiler *c, Node *n) {
  Binary *b = (Binary *)(void *)n;
  if (n->kind == NK_And || n->kind == NK_Or) return compile_logic(c, n, b);
  DataType t = b->a->dtype.lanes > 1 ? b->a->dtype : b->b->dtype;
  BinaryOp *op = arith_op(n->kind, t);
  bool has_meaning = op && (dtype_is_float(t) || dtype_is_int(t) || dtype_is_bool(t) ||
                            (n->kind >= NK_EQ && dtype_is_handle(t)));
  if (!has_meaning)
    unsupported(c->span, str_format("'%s' of %s", node_spelling(n->kind), dtype_text(t)));
  const Code *x = compile_as(c, b->a, t), *y = compile_as(c, b->b, t);
  bool small = is_small_float(t);
  return &NEW(BinaryCode,
              .code = {small ? eval_small : eval_binary, small ? lanes_small : lanes_binary,
                       n->dtype, c->span},
              .a = x, .b = y, .op = op, .t = t)
              ->code;
}

/* ---- casts ---- */

typedef struct CastCode {
  Code code;
  const Code *value;
  CastOp *cast;
} CastCode;

static Scalar eval_cast(const Code *c, Frame *f) {
  const CastCode *n = (const CastCode *)c;
  return n->cast(n->value->t, c->t, code_eval(n->value, f));
}

static void lanes_cast(const Code *c, Frame *f, Scalar *out) {
  const CastCode *n = (const CastCode *)c;
  code_lanes(n->value, f, c->t.lanes, out);
  for (int i = 0; i < c->t.lanes; i++) out[i] = n->cast(n->value->t, c->t, out[i]);
}

const Code *code_cast(const Code *value, DataType t) {
  DataType from = value->t;
  if ((from.code == t.code && from.bits == t.bits) || dtype_is_void(t)) return value;
  t.lanes = from.lanes;
  return &NEW(CastCode, .code = {eval_cast, lanes_cast, t, value->span}, .value = value,
              .cast = scalar_cast(from, t))
              ->code;
}

const Code *compile_as(Compiler *c, Node *n, DataType t) {
  return code_cast(compile_expr(c, n), t);
}

/* Integers stand as int64 whatever their width. */
const Code *compile_int(Compiler *c, Node *n) {
  bool is_int = dtype_is_int(n->dtype) || dtype_is_bool(n->dtype);
  return is_int ? compile_expr(c, n) : compile_as(c, n, INT64);
}

const Code *compile_condition(Compiler *c, Node *n) { return compile_as(c, n, BOOL); }

/* ---- choices ---- */

typedef struct ChoiceCode {
  Code code;
  const Code *cond, *then, *orelse;
} ChoiceCode;

/* Both arms are evaluated, so both are checked. */
static Scalar eval_select(const Code *c, Frame *f) {
  const ChoiceCode *n = (const ChoiceCode *)c;
  bool truth = code_eval(n->cond, f).i;
  Scalar then = code_eval(n->then, f), orelse = code_eval(n->orelse, f);
  return truth ? then : orelse;
}

static void lanes_select(const Code *c, Frame *f, Scalar *out) {
  const ChoiceCode *n = (const ChoiceCode *)c;
  int lanes = c->t.lanes;
  LANES(cond, lanes);
  LANES(orelse, lanes);
  code_lanes(n->cond, f, lanes, cond);
  code_lanes(n->then, f, lanes, out);
  code_lanes(n->orelse, f, lanes, orelse);
  for (int i = 0; i < lanes; i++)
    if (!cond[i].i) out[i] = orelse[i];
}

static Scalar eval_if(const Code *c, Frame *f) {
  const ChoiceCode *n = (const ChoiceCode *)c;
  return code_eval(code_eval(n->cond, f).i ? n->then : n->orelse, f);
}

static void lanes_if(const Code *c, Frame *f, Scalar *out) {
  const ChoiceCode *n = (const ChoiceCode *)c;
  if (n->cond->t.lanes > 1) lanes_select(c, f, out);
  else code_lanes(code_eval(n->cond, f).i ? n->then : n->orelse, f, c->t.lanes, out);
}

static const Code *compile_choice(Compiler *c, Node *n, Node *cond, Node *then, Node *orelse,
                                  bool is_lazy) {
  DataType t = n->dtype;
  Span span = c->span;
  return &NEW(ChoiceCode,
              .code = {is_lazy ? eval_if : eval_select, is_lazy ? lanes_if : lanes_select, t, span},
              .cond = compile_condition(c, cond), .then = compile_as(c, then, t),
              .orelse = compile_as(c, orelse, t))
              ->code;
}

int code_choices(const Code *c, const Code **from) {
  const ChoiceCode *n = (const ChoiceCode *)c;
  if (c->eval == eval_cast) return from[0] = ((const CastCode *)c)->value, 1;
  if (c->eval != eval_if || n->cond->t.lanes > 1) return 0;
  from[0] = n->then;
  from[1] = n->orelse;
  return 2;
}

static const Code *compile_if(Compiler *c, Call *n) {
  if (n->args.len != 3) unsupported(c->span, "T.if_then_else without three arguments");
  return compile_choice(c, &n->node, n->args.at[0], n->args.at[1], n->args.at[2], true);
}

static Scalar op_not(const Code *c, const Scalar *x) {
  (void)c;
  return scalar_int(!x[0].i);
}

/* ---- let ---- */

typedef struct LetCode {
  Code code;
  const Code *value, *body;
  int slot, lanes;
} LetCode;

static void set_let(const LetCode *n, Frame *f) {
  if (n->lanes > 1) n->value->lanes(n->value, f, &f->slots[n->slot]);
  else f->slots[n->slot] = code_eval(n->value, f);
}

static Scalar eval_let(const Code *c, Frame *f) {
  const LetCode *n = (const LetCode *)c;
  set_let(n, f);
  return code_eval(n->body, f);
}

static void lanes_let(const Code *c, Frame *f, Scalar *out) {
  const LetCode *n = (const LetCode *)c;
  set_let(n, f);
  n->body->lanes(n->body, f, out);
}

static const Code *compile_let(Compiler *c, Let *n) {
  LetCode *code = NEW(LetCode, .code = {eval_let, lanes_let, n->node.dtype, n->node.span});
  code->value = compile_as(c, n->value, n->var->dtype);
  code->lanes = code->value->t.lanes;
  code->slot = compile_define(c, n->var);
  code->body = compile_expr(c, n->body);
  return &code->code;
}

/* ---- addresses ---- */

typedef struct FunctionCode {
  Code code;
  Module *module;
  const char *name;
} FunctionCode;

static Scalar eval_function(const Code *c, Frame *f) {
  const FunctionCode *n = (const FunctionCode *)c;
  (void)f;
  return (Scalar){.p = module_address(n->module, n->name, c->span)};
}

static const Code *compile_global(Compiler *c, GlobalVar *n) {
  return &NEW(FunctionCode, .code = {eval_function, NULL, HANDLE, c->span},
              .module = c->program->module, .name = n->name)
              ->code;
}

/* ---- all ---- */

static const Code *compile_leaf(Node *n) {
  switch (n->kind) {
  case NK_IntImm: return code_constant(n->dtype, scalar_int(AS(IntImm, n)->value));
  case NK_FloatImm:
    return code_constant(n->dtype, scalar_from_double(n->dtype, AS(FloatImm, n)->value));
  default: return code_constant(HANDLE, (Scalar){.p = (void *)(uintptr_t)AS(StringImm, n)->value});
  }
}

static const Code *compile_kind(Compiler *c, Node *n) {
  if (node_is_binary(n->kind)) return compile_binary(c, n);
  switch (n->kind) {
  case NK_Var: return compile_var(c, n);
  case NK_IntImm:
  case NK_FloatImm:
  case NK_StringImm: return compile_leaf(n);
  case NK_Not: {
    const Code *a = compile_condition(c, AS(Not, n)->a);
    return code_lanewise(n->dtype, c->span, op_not, 1, &a);
  }
  case NK_Select: {
    Select *s = AS(Select, n);
    return compile_choice(c, n, s->cond, s->then, s->orelse, false);
  }
  case NK_Cast: return compile_as(c, AS(Cast, n)->value, n->dtype);
  case NK_Ramp: return compile_ramp(c, AS(Ramp, n));
  case NK_Broadcast: return compile_broadcast(c, AS(Broadcast, n));
  case NK_Shuffle: return compile_shuffle(c, AS(Shuffle, n));
  case NK_BufferLoad: return compile_load(c, AS(BufferLoad, n));
  case NK_Let: return compile_let(c, AS(Let, n));
  case NK_Call:
    return is_intrin_call(n, "if_then_else") ? compile_if(c, AS(Call, n))
                                             : compile_call(c, AS(Call, n));
  case NK_GlobalVar: return compile_global(c, AS(GlobalVar, n));
  default: unsupported(c->span, str_format("%s in an expression", node_kind_name(n->kind)));
  }
}

static void check_lanes(DataType t, Span span) {
  if (t.lanes < 0) unsupported(span, str_format("a scalable vector (%s)", dtype_text(t)));
}

const Code *compile_expr(Compiler *c, Node *n) {
  Span outer = c->span;
  c->span = compile_span(c, n);
  interp_check_depth("an expression", c->span);
  check_lanes(n->dtype, c->span);
  const Code *code = compile_kind(c, n);
  c->span = outer;
  return code;
}
