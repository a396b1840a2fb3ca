/* call.c -- calls of scalar builtins (intrin.def), and the effects of expressions. */
#include "ir/ir_impl.h"

DataType intrin_result(int rule, NodeVec args) {
  DataType first = args.len ? args.at[0]->dtype : VOID_TYPE;
  switch (rule) {
  case RULE_SAME: return first;
  case RULE_BOOL: return dtype_with_lanes(BOOL, first.lanes);
  case RULE_SECOND: return args.len > 1 ? args.at[1]->dtype : VOID_TYPE;
  case RULE_INT32: return INT32;
  case RULE_UINT32: return DTYPE_OF(UINT, 32);
  case RULE_FLOAT32: return FLOAT32;
  case RULE_HANDLE: return HANDLE;
  default: return VOID_TYPE;
  }
}

DataType intrin_dtype(const Intrin *in, NodeVec args) {
  bool lanewise = in->rule == RULE_INT32 && in->effect == EFFECT_PURE && args.len;
  return lanewise ? dtype_with_lanes(INT32, args.at[0]->dtype.lanes)
                  : intrin_result(in->rule, args);
}

static void check_count(const Intrin *in, NodeVec args, Span span) {
  if (in->args < 0 || args.len == in->args) return;
  error_raise_code(E0324, span, "T.%s takes %d argument%s, %d %s given", in->name, in->args,
                   in->args == 1 ? "" : "s", args.len, args.len == 1 ? "is" : "are");
}

static bool takes(const Intrin *in, const Node *arg) {
  DataType t = arg->dtype;
  bool whole = dtype_is_int(t) || dtype_is_bool(t);
  if (IS(StringImm, arg)) return false;
  return (whole && in->takes != TAKES_FLOATS) || (dtype_is_float(t) && in->takes != TAKES_INTEGERS);
}

static void check_numbers(const Intrin *in, NodeVec args, Span span) {
  static const char *const kinds[] = {"floats", "integers", "numbers"};
  for each (Node *, a, &args) {
    bool power = in->takes == TAKES_FLOATS && a != args.at; /* ldexp(x, 3), pow(x, n) */
    if (takes(in, *a) || (power && dtype_is_int((*a)->dtype))) continue;
    error_raise_code(E0324, span, "T.%s takes %s, found %s", in->name, kinds[in->takes],
                     IS(StringImm, *a) ? "a string" : dtype_text((*a)->dtype));
  }
}

static NodeVec matched(const Intrin *in, NodeVec args, int first, Span span) {
  NodeVec out = {0};
  for each (Node *, a, &args) vec_push(&out, *a);
  for (int i = first + 1; i < out.len; i++) expr_match(in->name, &out.at[first], &out.at[i], span);
  for (int i = first + 1; i < out.len - 1; i++) /* the last one may have widened the first */
    expr_match(in->name, &out.at[first], &out.at[i], span);
  return out;
}

static NodeVec prepare(const Intrin *in, NodeVec args, Span span) {
  if (in->takes != TAKES_ANY) {
    check_numbers(in, args, span);
    bool scales = str_same(in->name, "ldexp"); /* by an integer power of two, which stays one */
    return in->args > 1 && !scales ? matched(in, args, 0, span) : args;
  }
  bool chooses = in->rule == RULE_SECOND && in->effect == EFFECT_PURE;
  if (!chooses) return args;
  args = matched(in, args, 1, span);
  args.at[0] = expr_as_bool(args.at[0], span);
  return args;
}

/* Of whole numbers, rounding changes nothing. */
static bool is_rounding(const char *name) {
  static const char *const names[] = {"floor", "ceil", "trunc", "round", "nearbyint"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (str_same(name, names[i])) return true;
  return false;
}

Node *expr_call(const char *name, DataType t, NodeVec args, Span span) {
  const Intrin *in = intrin_find(name);
  REQUIRE(in, "there is an intrinsic %s", name);
  check_count(in, args, span);
  if (args.len == 1 && dtype_is_int(args.at[0]->dtype) && is_rounding(name)) return args.at[0];
  args = prepare(in, args, span);
  Node *op = op_get(str_format("tir.%s", in->name));
  bool given = in->rule == RULE_GIVEN || in->rule == RULE_LAST;
  return MAKE(Call, span, given ? t : intrin_dtype(in, args), .op = op, .args = args);
}

/* ---- effects ---- */

Effect node_effect(const Node *n) {
  if (IS(BufferLoad, n)) return EFFECT_READ;
  if (!IS(Call, n)) return EFFECT_PURE;
  const Intrin *in = intrin_of(AS(Call, n)->op);
  return in ? in->effect : EFFECT_STATE;
}

static WalkResult join_effect(Walker *w, Node *n) {
  Effect *e = w->context, found = node_effect(n);
  if (found > *e) *e = found;
  return *e == EFFECT_STATE ? WALK_STOP : WALK_ON;
}

Effect expr_effect(Node *n) {
  Effect e = EFFECT_PURE;
  Walker w = {.enter = join_effect, .context = &e, .once = true};
  walk(&w, n);
  return e;
}
