/* ir_arith.c -- symbolic arithmetic against plain evaluation: random expressions over variables
 * with ranges and conditions, and what the analyzer says about them.
 *
 * An expression has a value at a point where no part of it that is evaluated leaves its dtype or
 * divides by zero. There the simplified one must have the same value (it may wrap on the way).
 * ARITH_RUNS in the environment: the number of expressions; ARITH_SEED: where to start. */
#include "ir/arith/arith.h"
#include "ir/ir_impl.h"
#include "tests/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>

static const Span here = {0};

static uint64_t seed;
static uint64_t random_bits(void) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return seed ^ seed >> 29;
}
static int below(int n) { return (int)(random_bits() % (uint64_t)n); }
static bool one_in(int n) { return below(n) == 0; }

/* ---- evaluation ---- */

enum { VARS = 5 };
static Node *vars[VARS];
static int64_t point[VARS];

typedef struct Eval {
  bool strict; /* an overflow is a fault; else results wrap */
  bool fault;
} Eval;

static int64_t eval(Eval *e, Node *n);

static int64_t fail(Eval *e) {
  e->fault = true;
  return 0;
}

static int64_t fit(Eval *e, DataType t, __int128 x) {
  if (dtype_is_bool(t)) return x != 0;
  int64_t wrapped = dtype_wrap_int(t, (int64_t)(unsigned __int128)x);
  bool fits =
      t.code == DTYPE_UINT && t.bits == 64 ? x == (__int128)(uint64_t)wrapped : x == wrapped;
  return e->strict && !fits ? fail(e) : wrapped;
}

static __int128 wide(DataType t, int64_t x) {
  return t.code == DTYPE_UINT && t.bits == 64 ? (__int128)(uint64_t)x : (__int128)x;
}

static int64_t eval_binary(Eval *e, Node *n) {
  Binary *b = (Binary *)(void *)n;
  int64_t x = eval(e, b->a);
  if (e->fault) return 0;
  if (n->kind == NK_And && !x) return 0;
  if (n->kind == NK_Or && x) return 1;
  int64_t y = eval(e, b->b);
  if (e->fault) return 0;
  DataType t = b->a->dtype;
  __int128 p = wide(t, x), q = wide(t, y);
  if (kind_divides(n->kind) && !q) return fail(e);
  __int128 quotient = kind_divides(n->kind) ? p / q : 0, rest = kind_divides(n->kind) ? p % q : 0;
  bool down = rest != 0 && (rest < 0) != (q < 0);
  switch (n->kind) {
  case NK_Add: return fit(e, t, p + q);
  case NK_Sub: return fit(e, t, p - q);
  case NK_Mul: return fit(e, t, p * q);
  case NK_Div: return fit(e, t, quotient);
  case NK_Mod: return fit(e, t, rest);
  case NK_FloorDiv: return fit(e, t, quotient - down);
  case NK_FloorMod: return fit(e, t, down ? rest + q : rest);
  case NK_Min: return p < q ? x : y;
  case NK_Max: return p > q ? x : y;
  case NK_EQ: return p == q;
  case NK_NE: return p != q;
  case NK_LT: return p < q;
  case NK_LE: return p <= q;
  case NK_GT: return p > q;
  case NK_GE: return p >= q;
  default: return y != 0; /* And, Or */
  }
}

static int64_t eval(Eval *e, Node *n) {
  if (e->fault) return 0;
  if (node_is_binary(n->kind)) return eval_binary(e, n);
  switch (n->kind) {
  case NK_IntImm: return AS(IntImm, n)->value;
  case NK_Var:
    for (int i = 0; i < VARS; i++)
      if (vars[i] == n) return point[i];
    return fail(e);
  case NK_Not: return !eval(e, AS(Not, n)->a);
  case NK_Cast: {
    Node *value = AS(Cast, n)->value;
    return fit(e, n->dtype, wide(value->dtype, eval(e, value)));
  }
  case NK_Select: {
    int64_t c = eval(e, AS(Select, n)->cond), x = eval(e, AS(Select, n)->then);
    int64_t y = eval(e, AS(Select, n)->orelse);
    return c ? x : y;
  }
  case NK_Call: {
    NodeVec args = AS(Call, n)->args;
    if (is_intrin_call(n, "likely")) return eval(e, args.at[0]);
    int64_t c = eval(e, args.at[0]);
    return eval(e, args.at[c ? 1 : 2]);
  }
  default: return fail(e);
  }
}

/* ---- random variables, ranges, expressions ---- */

/* Near the ends of int64 stand the infinities of bounds: not there. */
static int64_t interesting(DataType t) {
  int64_t most = t.bits == 64 ? INT64_MAX / 2 : dtype_max_int(t);
  static const int64_t small[] = {0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 32, 64, 100, 128, 255, 256, 1024};
  int64_t x = small[below(sizeof small / sizeof *small)];
  switch (below(12)) {
  case 0: x = most - x; break;
  case 1: x = -most - (t.bits != 64) + x; break;
  case 2:
  case 3: x = -x; break;
  case 4: x = (int64_t)(random_bits() >> (2 + below(60))); break;
  default: break;
  }
  return dtype_wrap_int(t, x);
}

/* The range [lo, hi] of each variable, as numbers. A later variable may have an earlier one in its
 * bounds; the numbers then only bound it. */
typedef struct World {
  Analyzer *analyzer;
  DataType t;
  struct {
    Node *min, *extent;
    int64_t value;
    bool is_value;
  } range[VARS];
  NodeVec conds;
} World;

static Node *imm(DataType t, int64_t v) { return int_imm(t, v, here); }

static Node *random_expr(World *w, int depth, int known);

static void choose_range(World *w, int i) {
  DataType t = w->t;
  Node *min = imm(t, one_in(3) ? interesting(t) : 0);
  int64_t lo = AS(IntImm, min)->value, room, n = interesting(t);
  if (n <= 0) n = 1 + below(20);
  if (__builtin_sub_overflow(dtype_max_int(t), lo, &room)) room = dtype_max_int(t);
  if (lo > 0 && n > room) n = room ? room : 1;
  Node *extent = imm(t, n);
  if (i > 0 && one_in(4)) extent = vars[below(i)]; /* a triangle */
  if (i > 0 && one_in(8)) min = random_expr(w, 1, i);
  w->range[i].min = min;
  w->range[i].extent = extent;
  arith_bind_range(w->analyzer, vars[i], min, extent);
}

static Node *random_cond(World *w, int depth, int known);

static World new_world(void) {
  World w = {.analyzer = arith_new(), .t = one_in(4) ? INT64 : INT32};
  for (int i = 0; i < VARS; i++) {
    Var *v = AS(Var, vars[i] = var_new(str_format("v%d", i), w.t, here));
    switch (below(8)) {
    case 0: v->is_size = true; break; /* free otherwise */
    case 1: break;                    /* free */
    default: choose_range(&w, i);
    }
  }
  for (int n = below(3); n > 0; n--) {
    Node *cond = random_cond(&w, 1, VARS);
    vec_push(&w.conds, cond);
    arith_enter(w.analyzer, cond);
  }
  return w;
}

static Node *raw_binary(NodeKind kind, Node *a, Node *b) {
  DataType t = kind_gives_bool(kind) ? BOOL : a->dtype;
  Binary n = {{(uint16_t)kind, t, here}, a, b};
  return gc_copy(&n, sizeof n);
}

static Node *binary(NodeKind kind, Node *a, Node *b) {
  if (one_in(3) || (kind_divides(kind) && expr_is_zero(b))) return raw_binary(kind, a, b);
  return kind == NK_Div ? expr_truncdiv(a, b, here) : expr_binary(kind, a, b, here);
}

static Node *random_cond(World *w, int depth, int known) {
  if (depth > 1 && one_in(4)) {
    Node *a = random_cond(w, depth - 1, known);
    if (one_in(3)) return expr_not(a, here);
    return binary(one_in(2) ? NK_And : NK_Or, a, random_cond(w, depth - 1, known));
  }
  Node *a = random_expr(w, depth, known), *b = random_expr(w, depth - one_in(2), known);
  Node *cond = binary(NK_EQ + below(NK_GE - NK_EQ + 1), a, b);
  return one_in(10) ? expr_call("likely", BOOL, NODES(cond), here) : cond;
}

static Node *random_choice(World *w, int depth, int known) {
  Node *cond = random_cond(w, depth - 1, known);
  Node *a = random_expr(w, depth - 1, known), *b = random_expr(w, depth - 1, known);
  if (one_in(2)) return expr_select(cond, a, b, here);
  return expr_call("if_then_else", w->t, NODES(cond, a, b), here);
}

static Node *random_expr(World *w, int depth, int known) {
  if (depth <= 0 || one_in(8)) {
    return known > 0 && !one_in(4) ? vars[below(known)] : imm(w->t, interesting(w->t));
  }
  static const NodeKind kinds[] = {NK_Add,      NK_Add, NK_Add,      NK_Sub,      NK_Sub,
                                   NK_Mul,      NK_Mul, NK_FloorDiv, NK_FloorDiv, NK_FloorMod,
                                   NK_FloorMod, NK_Div, NK_Mod,      NK_Min,      NK_Max};
  if (one_in(12)) return random_choice(w, depth, known);
  if (one_in(20)) {
    DataType other = w->t.bits == 32 ? INT64 : INT32;
    return expr_cast(w->t, expr_cast(other, random_expr(w, depth - 1, known), here), here);
  }
  NodeKind kind = kinds[below(sizeof kinds / sizeof *kinds)];
  Node *a = random_expr(w, depth - 1, known), *b;
  bool by_const = (kind_divides(kind) && !one_in(4)) || (kind == NK_Mul && !one_in(3));
  if (by_const) {
    int64_t c = interesting(w->t);
    if (!c) c = 4;
    b = imm(w->t, one_in(12) ? c : c == INT64_MIN ? 2 : c < 0 ? -c : c);
    if (AS(IntImm, b)->value == 0) b = imm(w->t, 3);
  } else b = random_expr(w, depth - 1, known);
  if (kind == NK_Mul && one_in(2)) return binary(kind, b, a);
  return binary(kind, a, b);
}

/* ---- points ---- */

/* Of a variable without a known range: such symbols are taken to be far from the ends of int32. */
static int64_t random_value(void) {
  if (one_in(2)) return below(40) - 5;
  int64_t x = below(1000);
  return one_in(3) ? -x : x;
}

/* A point that all ranges and conditions allow; false if none was found soon. */
static bool choose_point(World *w) {
  for (int i = 0; i < VARS; i++) {
    Node *min = w->range[i].min;
    if (!min) {
      point[i] = random_value();
      if (AS(Var, vars[i])->is_size && point[i] < 0) point[i] = -point[i];
      continue;
    }
    Eval e = {.strict = true};
    __int128 lo = eval(&e, min), n = eval(&e, w->range[i].extent), at;
    if (e.fault || n <= 0) return false;
    at = one_in(4) ? n - 1 : one_in(3) ? 0 : (__int128)(random_bits() >> 1) % n;
    if (lo + at > dtype_max_int(w->t)) return false;
    /* min + extent, which the analyzer may speak of, must be a number too */
    if (lo + n > dtype_max_int(w->t)) return false;
    point[i] = (int64_t)(lo + at);
  }
  for each (Node *, c, &w->conds) {
    Eval e = {.strict = true};
    if (!eval(&e, *c) || e.fault) return false;
  }
  return true;
}

/* ---- the claims ---- */

static void show_point(World *w, const char *what, Node *e, Node *simple) {
  printf("  %s (%s): %s\n", what, dtype_text(w->t), ir_print(e, NULL));
  if (simple) printf("  simplified: %s\n", ir_print(simple, NULL));
  for (int i = 0; i < VARS; i++) {
    printf("  v%d = %lld", i, (long long)point[i]);
    if (w->range[i].min)
      printf(" in [%s, + %s)", ir_print(w->range[i].min, NULL), ir_print(w->range[i].extent, NULL));
    printf("%s\n", AS(Var, vars[i])->is_size ? ", a size" : "");
  }
  for each (Node *, c, &w->conds) printf("  if %s\n", ir_print(*c, NULL));
}

static bool modular_holds(Modular m, int64_t x) {
  if (!m.coeff) return x == m.base;
  return ((__int128)x - m.base) % m.coeff == 0;
}

/* What holds for e and other at every point. */
typedef struct Claims {
  Node *e, *simple, *other, *cond;
  ConstBound bound;
  Modular modular;
  bool proved, equal, different;
} Claims;

static const char *broken_claim(Claims *c) {
  Eval strict = {.strict = true}, loose = {.strict = false}, second = {.strict = true},
       third = {.strict = true};
  int64_t x = eval(&strict, c->e);
  if (!strict.fault) {
    int64_t y = eval(&loose, c->simple);
    if (loose.fault || x != y) return "the simplified value differs";
    bool inside = (c->bound.lo == ARITH_NEG_INF || x >= c->bound.lo) &&
                  (c->bound.hi == ARITH_POS_INF || x <= c->bound.hi);
    if (!inside) return "out of its bound";
    if (!modular_holds(c->modular, x)) return "not of its residue";
  }
  int64_t z = eval(&second, c->other);
  if (!strict.fault && !second.fault) {
    if (c->equal && x != z) return "not equal, but proved to be";
    if (c->different && x == z) return "equal, but proved not to be";
  }
  if (c->proved && !eval(&third, c->cond) && !third.fault) return "false, but proved";
  return NULL;
}

static bool check_one(void) {
  World w = new_world();
  int depth = 1 + below(4);
  bool logical = one_in(5);
  Claims c = {.e = logical ? random_cond(&w, depth, VARS) : random_expr(&w, depth, VARS)};
  Node *more = random_expr(&w, depth - 1, VARS);
  c.other = one_in(2) && !logical ? binary(NK_Add, c.e, more)
            : logical             ? random_cond(&w, depth, VARS)
                                  : more;
  c.cond = random_cond(&w, depth, VARS);
  c.simple = arith_simplify(w.analyzer, c.e);
  c.bound = arith_const_bound(w.analyzer, c.e);
  c.modular = arith_modular(w.analyzer, c.e);
  c.proved = arith_can_prove(w.analyzer, c.cond);
  c.equal = arith_can_prove_equal(w.analyzer, c.e, c.other);
  c.different = arith_can_prove_different(w.analyzer, c.e, c.other);
  bool good = dtype_equal(c.e->dtype, c.simple->dtype);
  for (int i = 0; i < 24 && good; i++) {
    if (!choose_point(&w)) continue;
    const char *broken = broken_claim(&c);
    if (!broken) continue;
    show_point(&w, broken, broken[0] == 'f' ? c.cond : c.e, c.simple);
    if (c.equal || c.different) printf("  other: %s\n", ir_print(c.other, NULL));
    good = false;
  }
  return good;
}

TEST(arith_never_says_what_is_not_so) {
  const char *runs = getenv("ARITH_RUNS"), *start = getenv("ARITH_SEED");
  long n = runs ? atol(runs) : 30000;
  uint64_t first = start ? strtoull(start, NULL, 10) : 1;
  int faults = 0;
  for (long i = 0; i < n && faults < 5; i++) {
    seed = (first + (uint64_t)i) * 0x9e3779b97f4a7c15u;
    if (check_one()) continue;
    printf("  ARITH_SEED=%llu ARITH_RUNS=1\n", (unsigned long long)(first + (uint64_t)i));
    faults++;
  }
  CHECK(faults == 0);
}
