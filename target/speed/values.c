/* values.c -- numbers that a thread has: indices, conditions, extents. */
#include "target/speed/count.h"

void value_bind(Values *v, Node *var, int64_t number) {
  int64_t *at = map_get(&v->numbers, var);
  if (at) *at = number;
  else map_set(&v->numbers, var, gc_copy(&number, sizeof number));
}

static bool floor_division(NodeKind kind, int64_t a, int64_t b, int64_t *out) {
  if (b == 0) return false;
  int64_t quotient = a / b - (a % b != 0 && (a < 0) != (b < 0));
  bool truncates = kind == NK_Div || kind == NK_Mod;
  if (truncates) quotient = a / b;
  *out = kind == NK_FloorDiv || kind == NK_Div ? quotient : a - b * quotient;
  return true;
}

static bool binary_value(NodeKind kind, int64_t a, int64_t b, int64_t *out) {
  switch (kind) {
  case NK_Add: return *out = a + b, true;
  case NK_Sub: return *out = a - b, true;
  case NK_Mul: return *out = a * b, true;
  case NK_Min: return *out = a < b ? a : b, true;
  case NK_Max: return *out = a > b ? a : b, true;
  case NK_EQ: return *out = a == b, true;
  case NK_NE: return *out = a != b, true;
  case NK_LT: return *out = a < b, true;
  case NK_LE: return *out = a <= b, true;
  case NK_GT: return *out = a > b, true;
  case NK_GE: return *out = a >= b, true;
  case NK_And: return *out = a && b, true;
  case NK_Or: return *out = a || b, true;
  default: return floor_division(kind, a, b, out);
  }
}

static bool call_value(Values *v, Call *n, int64_t *out) {
  static const char *const names[] = {"shift_left", "shift_right", "bitwise_and", "bitwise_or",
                                      "bitwise_xor"};
  int64_t a, b;
  if (is_intrin_call(&n->node, "if_then_else"))
    return value_of(v, n->args.at[0], &a) && value_of(v, n->args.at[a ? 1 : 2], out);
  for (int i = 0; i < 5; i++) {
    if (!is_intrin_call(&n->node, names[i])) continue;
    if (!value_of(v, n->args.at[0], &a) || !value_of(v, n->args.at[1], &b)) return false;
    if (i < 2 && (b < 0 || b > 62)) return false;
    const int64_t results[] = {i < 2 ? (int64_t)((uint64_t)a << b) : 0, i < 2 ? a >> b : 0, a & b,
                               a | b, a ^ b};
    return *out = results[i], true;
  }
  return false;
}

bool value_of(Values *v, Node *n, int64_t *out) {
  int64_t a, b;
  if (expr_is_const_int(n, out)) return true;
  switch (n->kind) {
  case NK_Var: {
    int64_t *number = map_get(&v->numbers, n);
    Node *let = map_get(&v->lets, n);
    return number ? (*out = *number, true) : let && value_of(v, let, out);
  }
  case NK_Broadcast: return value_of(v, AS(Broadcast, n)->value, out);
  case NK_Ramp: {
    bool known = value_of(v, AS(Ramp, n)->base, &a) && value_of(v, AS(Ramp, n)->stride, &b);
    return *out = known ? a + v->lane * b : 0, known;
  }
  case NK_Cast: return !dtype_is_float(n->dtype) && value_of(v, AS(Cast, n)->value, out);
  case NK_Not: return value_of(v, AS(Not, n)->a, &a) && (*out = !a, true);
  case NK_Select:
    return value_of(v, AS(Select, n)->cond, &a) &&
           value_of(v, a ? AS(Select, n)->then : AS(Select, n)->orelse, out);
  case NK_Call: return call_value(v, AS(Call, n), out);
  default: break;
  }
  if (!node_is_binary(n->kind)) return false;
  Binary *both = (Binary *)(void *)n;
  return value_of(v, both->a, &a) && value_of(v, both->b, &b) && binary_value(n->kind, a, b, out);
}

typedef struct Search {
  Values *values;
  Node *var;
} Search;

static WalkResult find_var(Walker *w, Node *n) {
  Search *s = w->context;
  if (n == s->var) return WALK_STOP;
  Node *let = IS(Var, n) ? map_get(&s->values->lets, n) : NULL;
  return let && value_mentions(s->values, let, s->var) ? WALK_STOP : WALK_ON;
}

bool value_mentions(Values *v, Node *n, Node *var) {
  Search s = {v, var};
  Walker w = {.enter = find_var, .context = &s};
  return !walk(&w, n);
}
