/* expr.c -- building scalar expressions: dtypes are matched, constants folded, operands checked. */
#include "ir/ir_impl.h"

/* ---- leaves ---- */

Node *int_imm(DataType t, int64_t value, Span span) { return MAKE(IntImm, span, t, .value = dtype_wrap_int(t, value)); }
Node *float_imm(DataType t, double value, Span span) { return MAKE(FloatImm, span, t, .value = dtype_round_float(t, value)); }
Node *string_imm(const char *value, Span span) { return MAKE(StringImm, span, HANDLE, .value = value); }

Node *var_new(const char *name, DataType t, Span span) {
  return MAKE(Var, span, t, .name = str_intern(name), .elem = VOID_TYPE);
}

Node *pointer_var_new(const char *name, DataType elem, const char *scope, Span span) {
  return MAKE(Var, span, HANDLE, .name = name ? str_intern(name) : NULL, .elem = elem, .scope = str_intern(scope));
}

bool expr_is_const_int(const Node *n, int64_t *value) {
  if (!IS(IntImm, n)) return false;
  *value = ((const IntImm *)(const void *)n)->value;
  return true;
}

bool expr_is_zero(const Node *n) {
  int64_t v;
  return expr_is_const_int(n, &v) && v == 0;
}

bool expr_is_one(const Node *n) {
  int64_t v;
  return expr_is_const_int(n, &v) && v == 1;
}

/* ---- matching dtypes ---- */

static bool is_imm(const Node *n) { return IS(IntImm, n) || IS(FloatImm, n); }

static Node *with_lanes(Node *n, int lanes, Span span) {
  if (n->dtype.lanes == lanes) return n;
  return MAKE(Broadcast, span, dtype_with_lanes(n->dtype, lanes), .value = n, .lanes = lanes);
}

static void match_lanes(Node **a, Node **b, Span span) {
  int la = (*a)->dtype.lanes, lb = (*b)->dtype.lanes;
  if (la == lb) return;
  if (la == 1) *a = with_lanes(*a, lb, span);
  else if (lb == 1) *b = with_lanes(*b, la, span);
  else error_raisef("TypeError", span, "vectors of %d and %d lanes do not match", la, lb);
}

static bool is_float8(DataType t) { return t.code == DTYPE_FLOAT8_E4M3 || t.code == DTYPE_FLOAT8_E5M2; }

/* The dtype that two scalars of these dtypes meet in; void if there is none. */
static DataType common_dtype(DataType a, DataType b) {
  a = dtype_element(a), b = dtype_element(b);
  if (dtype_equal(a, b)) return a;
  if (dtype_is_bool(a)) return common_dtype(INT32, b);
  if (dtype_is_bool(b)) return common_dtype(a, INT32);
  bool fa = a.code == DTYPE_FLOAT, fb = b.code == DTYPE_FLOAT;
  if (fa && fb) return a.bits >= b.bits ? a : b;
  if (fa && (dtype_is_int(b) || dtype_is_float(b))) return a;
  if (fb && (dtype_is_int(a) || dtype_is_float(a))) return b;
  if (a.code == DTYPE_BFLOAT && (dtype_is_int(b) || is_float8(b))) return a;
  if (b.code == DTYPE_BFLOAT && (dtype_is_int(a) || is_float8(a))) return b;
  if (is_float8(a) && dtype_is_int(b)) return a;
  if (is_float8(b) && dtype_is_int(a)) return b;
  if (dtype_is_int(a) && dtype_is_int(b)) {
    if (a.bits != b.bits) return a.bits > b.bits ? a : b;
    return a.code == DTYPE_UINT ? a : b;
  }
  return VOID_TYPE;
}

/* The dtype that an immediate takes beside an operand of dtype t; void: it does not adapt. */
static DataType adapted_dtype(const Node *imm, DataType t) {
  t = dtype_element(t);
  if (IS(IntImm, imm) && !dtype_is_bool(imm->dtype) && (dtype_is_int(t) || dtype_is_float(t))) {
    int64_t v = ((const IntImm *)(const void *)imm)->value;
    bool fits = !dtype_is_int(t) || (v >= dtype_min_int(t) && v <= dtype_max_int(t));
    return fits ? t : VOID_TYPE;
  }
  if (IS(FloatImm, imm) && dtype_is_float(t)) return t;
  return VOID_TYPE;
}

static _Noreturn void no_match(const char *what, Node *a, Node *b, Span span) {
  error_raisef("TypeError", span, "%s: no common dtype of %s and %s", what, dtype_text(a->dtype), dtype_text(b->dtype));
}

static void match(const char *what, Node **a, Node **b, Span span) {
  match_lanes(a, b, span);
  if (dtype_equal((*a)->dtype, (*b)->dtype)) return;
  DataType t = VOID_TYPE;
  if (is_imm(*b) && !is_imm(*a)) t = adapted_dtype(*b, (*a)->dtype);
  else if (is_imm(*a) && !is_imm(*b)) t = adapted_dtype(*a, (*b)->dtype);
  if (dtype_is_void(t)) t = common_dtype((*a)->dtype, (*b)->dtype);
  if (dtype_is_void(t)) no_match(what, *a, *b, span);
  t = dtype_with_lanes(t, (*a)->dtype.lanes);
  *a = expr_cast(t, *a, span);
  *b = expr_cast(t, *b, span);
}

/* ---- operators ---- */

static bool gives_bool(NodeKind kind) { return kind >= NK_EQ && kind <= NK_Or; }
static bool divides(NodeKind kind) { return kind == NK_Div || kind == NK_Mod || kind == NK_FloorDiv || kind == NK_FloorMod; }

static void check_operand(NodeKind kind, const Node *n, Span span) {
  bool number = dtype_is_int(n->dtype) || dtype_is_float(n->dtype) || dtype_is_bool(n->dtype);
  bool pointer = dtype_is_handle(n->dtype) && (kind == NK_EQ || kind == NK_NE);
  if (!number && !pointer) error_raisef("TypeError", span, "'%s' takes numbers, found %s", node_spelling(kind), dtype_text(n->dtype));
}

static Node *as_bool(Node *n, Span span) {
  if (dtype_is_bool(n->dtype)) return n;
  if (!dtype_is_int(n->dtype)) error_raisef("TypeError", span, "expected a bool, found %s", dtype_text(n->dtype));
  return expr_binary(NK_NE, n, int_imm(dtype_element(n->dtype), 0, span), span);
}

Node *expr_binary(NodeKind kind, Node *a, Node *b, Span span) {
  check_operand(kind, a, span);
  check_operand(kind, b, span);
  if (kind == NK_And || kind == NK_Or) a = as_bool(a, span), b = as_bool(b, span);
  else if (!gives_bool(kind) && dtype_is_bool(a->dtype) && dtype_is_bool(b->dtype) && kind != NK_Min && kind != NK_Max)
    a = expr_cast(dtype_with_lanes(INT32, a->dtype.lanes), a, span), b = expr_cast(dtype_with_lanes(INT32, b->dtype.lanes), b, span);
  match(node_spelling(kind), &a, &b, span);
  if (kind == NK_Div && !dtype_is_float(a->dtype))
    error_raisef("TypeError", span, "'/' divides floats only; use '//' or T.truncdiv for %s", dtype_text(a->dtype));
  if (divides(kind) && dtype_is_int(a->dtype) && expr_is_zero(b)) error_raisef("ZeroDivisionError", span, "division by zero");
  Node *folded = fold_binary(kind, a, b, span);
  if (folded) return folded;
  DataType t = gives_bool(kind) ? dtype_with_lanes(BOOL, a->dtype.lanes) : a->dtype;
  Binary node = {{(uint16_t)kind, t, span}, a, b};
  return gc_copy(&node, sizeof node);
}

Node *expr_not(Node *a, Span span) {
  a = as_bool(a, span);
  int64_t v;
  if (expr_is_const_int(a, &v)) return int_imm(BOOL, !v, span);
  return MAKE(Not, span, a->dtype, .a = a);
}

Node *expr_neg(Node *a, Span span) {
  if (IS(FloatImm, a)) return float_imm(a->dtype, -AS(FloatImm, a)->value, span);
  if (IS(IntImm, a) && a->dtype.code == DTYPE_INT && AS(IntImm, a)->value > dtype_min_int(a->dtype))
    return int_imm(a->dtype, -AS(IntImm, a)->value, span);
  DataType t = dtype_element(a->dtype);
  if (dtype_is_float(t)) return expr_binary(NK_Mul, a, float_imm(t, -1, span), span); /* 0 - x would lose -0.0 */
  return expr_binary(NK_Sub, int_imm(dtype_is_bool(t) ? INT32 : t, 0, span), a, span);
}

Node *expr_cast(DataType t, Node *value, Span span) {
  if (dtype_equal(value->dtype, t)) return value;
  int from = value->dtype.lanes;
  if (from == 1 && t.lanes != 1) return with_lanes(expr_cast(dtype_element(t), value, span), t.lanes, span);
  if (from != t.lanes) error_raisef("TypeError", span, "%s can't become %s: the lanes differ", dtype_text(value->dtype), dtype_text(t));
  if (IS(StringImm, value) || dtype_is_void(t)) error_raisef("TypeError", span, "%s can't become %s", dtype_text(value->dtype), dtype_text(t));
  Node *folded = fold_cast(t, value, span);
  if (folded) return folded;
  if (IS(Broadcast, value)) return with_lanes(expr_cast(dtype_element(t), AS(Broadcast, value)->value, span), t.lanes, span);
  return MAKE(Cast, span, t, .value = value);
}

Node *expr_select(Node *cond, Node *then, Node *orelse, Span span) {
  cond = as_bool(cond, span);
  match("T.Select", &then, &orelse, span);
  int64_t v;
  if (expr_is_const_int(cond, &v)) return v ? then : orelse;
  if (cond->dtype.lanes != then->dtype.lanes && cond->dtype.lanes != 1) {
    then = with_lanes(then, cond->dtype.lanes, span);
    orelse = with_lanes(orelse, cond->dtype.lanes, span);
  }
  return MAKE(Select, span, then->dtype, .cond = cond, .then = then, .orelse = orelse);
}

/* ---- calls ---- */

static DataType result_dtype(const Intrin *in, DataType given, NodeVec args) {
  DataType first = args.len ? args.at[0]->dtype : VOID_TYPE;
  switch (in->rule) {
  case RULE_SAME: return first;
  case RULE_BOOL: return dtype_with_lanes(BOOL, first.lanes);
  case RULE_SECOND: return args.len > 1 ? args.at[1]->dtype : VOID_TYPE;
  case RULE_GIVEN: return given;
  case RULE_INT32: return dtype_with_lanes(INT32, args.len && in->effect == EFFECT_PURE ? first.lanes : 1);
  case RULE_HANDLE: return HANDLE;
  default: return VOID_TYPE;
  }
}

/* Two operands of one dtype, as exp2(x, y)-like builtins want them. */
static void match_operands(const Intrin *in, NodeVec *args, Span span) {
  if (in->rule != RULE_SAME || in->args < 2 || in->args > 3 || in->effect != EFFECT_PURE) return;
  NodeVec out = {0};
  for each (Node *, n, args) vec_push(&out, *n);
  for (int i = 1; i < out.len; i++) {
    bool exponent = str_same(in->name, "ldexp") && i == 1;
    if (!exponent) match(in->name, &out.at[0], &out.at[i], span);
  }
  *args = out;
}

Node *expr_call(const char *name, DataType t, NodeVec args, Span span) {
  const Intrin *in = intrin_find(name);
  REQUIRE(in, "there is an intrinsic %s", name);
  if (in->args >= 0 && args.len != in->args)
    error_raisef("TypeError", span, "T.%s takes %d argument%s, %d %s given", name, in->args, in->args == 1 ? "" : "s", args.len,
                 args.len == 1 ? "is" : "are");
  match_operands(in, &args, span);
  bool float_only = in->rule == RULE_SAME && in->effect == EFFECT_PURE && in->args == 1 && dtype_is_int(args.at[0]->dtype) &&
                    !str_same(name, "likely") && !str_same(name, "bitwise_not") && !str_same(name, "popcount") && !str_same(name, "fabs");
  if (float_only) error_raisef("TypeError", span, "T.%s takes floats, found %s", name, dtype_text(args.at[0]->dtype));
  return MAKE(Call, span, result_dtype(in, t, args), .op = op_get(str_format("tir.%s", name)), .args = args);
}

/* ---- loads and stores ---- */

static void check_rank(const Buffer *b, NodeVec indices, Span span) {
  if (indices.len == b->shape.len) return;
  error_raisef("IndexError", span, "buffer '%s' has %d dimension%s, but %d %s given", b->name ? b->name : "", b->shape.len,
               b->shape.len == 1 ? "" : "s", indices.len, indices.len == 1 ? "index is" : "indices are");
}

static void check_indices(const Buffer *b, NodeVec indices, Span span) {
  check_rank(b, indices, span);
  for each (Node *, i, &indices)
    if (!dtype_is_int((*i)->dtype)) error_raisef("TypeError", (*i)->span.hi ? (*i)->span : span, "an index must be an integer, found %s", dtype_text((*i)->dtype));
}

/* Lanes of an access: of its elements, times those of a vector index. */
static int access_lanes(const Buffer *b, NodeVec indices) {
  int lanes = b->elem.lanes;
  for each (Node *, i, &indices) lanes *= (*i)->dtype.lanes;
  return lanes;
}

Node *expr_load(Node *buffer, NodeVec indices, Span span) {
  Buffer *b = AS(Buffer, buffer);
  check_indices(b, indices, span);
  return MAKE(BufferLoad, span, dtype_with_lanes(b->elem, access_lanes(b, indices)), .buffer = buffer, .indices = indices);
}

Node *stmt_store(Node *buffer, NodeVec indices, Node *value, Span span) {
  Buffer *b = AS(Buffer, buffer);
  check_indices(b, indices, span);
  int lanes = access_lanes(b, indices);
  if (value->dtype.lanes != lanes)
    error_raisef("TypeError", span, "a value of %d lane%s is stored in %d element%s of '%s'", value->dtype.lanes, value->dtype.lanes == 1 ? "" : "s", lanes,
                 lanes == 1 ? "" : "s", b->name ? b->name : "");
  if (dtype_is_handle(value->dtype) != dtype_is_handle(b->elem))
    error_raisef("TypeError", span, "dtypes differ: '%s' holds %s, the value is %s", b->name ? b->name : "", dtype_text(b->elem), dtype_text(value->dtype));
  value = expr_cast(dtype_with_lanes(b->elem, lanes), value, span);
  return MAKE(BufferStore, span, VOID_TYPE, .buffer = buffer, .indices = indices, .value = value);
}

Node *stmt_evaluate(Node *value, Span span) { return MAKE(Evaluate, span, VOID_TYPE, .value = value); }

Node *stmt_seq(NodeVec stmts, Span span) {
  NodeVec flat = {0};
  for each (Node *, s, &stmts) {
    if (!*s) continue;
    if (!IS(SeqStmt, *s)) vec_push(&flat, *s);
    else
      for each (Node *, inner, &AS(SeqStmt, *s)->stmts) vec_push(&flat, *inner);
  }
  if (flat.len == 1) return flat.at[0];
  if (!flat.len) return stmt_evaluate(int_imm(INT32, 0, span), span);
  return MAKE(SeqStmt, span, VOID_TYPE, .stmts = flat);
}

/* ---- buffers ---- */

Node *buffer_new(const char *name, DataType elem, NodeVec shape, const char *scope, Span span) {
  return MAKE(Buffer, span, VOID_TYPE, .name = name, .elem = elem, .shape = shape, .data = pointer_var_new(name, elem, scope, span), .align = 64,
              .offset_factor = 1);
}

const char *buffer_scope(const Node *buffer) {
  const Node *data = AS(Buffer, buffer)->data;
  const char *scope = IS(Var, data) ? AS(Var, data)->scope : NULL;
  return scope ? scope : "global";
}

/* ---- effects ---- */

static WalkResult join_effect(Walker *w, Node *n) {
  Effect *e = w->context, found = EFFECT_PURE;
  if (IS(BufferLoad, n)) found = EFFECT_READ;
  if (IS(Call, n)) {
    const Intrin *in = intrin_of(AS(Call, n)->op);
    found = in ? in->effect : EFFECT_STATE;
  }
  if (found > *e) *e = found;
  return *e == EFFECT_STATE ? WALK_STOP : WALK_ON;
}

Effect expr_effect(Node *n) {
  Effect e = EFFECT_PURE;
  Walker w = {.enter = join_effect, .context = &e};
  walk(&w, n);
  return e;
}
