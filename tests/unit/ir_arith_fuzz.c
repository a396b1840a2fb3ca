/* ir_arith_fuzz.c -- random expressions: simplified ones have the same values, and bounds and
 * moduli hold at sampled points. IR_ARITH_FUZZ=5000000 in the environment for a longer run. */
#include "ir/arith/arith.h"
#include "tests/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>

static const Span nowhere;
static uint64_t state;

static uint64_t draw(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state * 0x2545f4914f6cdd1du;
}
static int below(int n) { return (int)(draw() >> 33) % n; }
static int64_t between(int64_t lo, int64_t hi) {
  return lo + (int64_t)((draw() >> 1) % (uint64_t)(hi - lo + 1));
}

/* ---- variables ---- */

enum { VARS = 6 };
typedef struct Variable {
  Node *node;
  int64_t lo, hi; /* of the values that are sampled */
  bool is_symbol; /* the analyzer is told no constant range */
  int extent_of;  /* -1, or the symbol n: the range is [0, n) */
  int64_t value;
} Variable;

typedef struct World {
  Variable vars[VARS];
  Node *buffer;
  uint64_t memory; /* seed of the buffer's contents */
  DataType t;
  Analyzer *a;
} World;

static void new_variable(World *w, int i) {
  static const int64_t ends[][2] = {{0, 7},
                                    {0, 3},
                                    {-5, 5},
                                    {0, 0},
                                    {3, 4},
                                    {0, 127},
                                    {-100, -90},
                                    {0, 1023},
                                    {-1, 0},
                                    {2147483600, 2147483647},
                                    {-2147483648, -2147483600},
                                    {-2147483648, 2147483647},
                                    {0, 2147483647},
                                    {1, 16}};
  Variable *v = &w->vars[i];
  *v = (Variable){.extent_of = -1};
  bool is_size = false;
  if (i == 0) v->is_symbol = is_size = true, v->lo = 0, v->hi = 40;
  else if (i == 1) v->is_symbol = true, v->lo = -30, v->hi = 30;
  else if (i == 2) v->is_symbol = true, v->extent_of = 0;
  else {
    int k = below(sizeof ends / sizeof *ends);
    v->lo = ends[k][0], v->hi = ends[k][1];
  }
  v->node =
      MAKE(Var, nowhere, w->t, .name = str_format("v%d", i), .elem = VOID_TYPE, .is_size = is_size);
  if (v->is_symbol && v->extent_of < 0) return;
  if (v->extent_of >= 0)
    arith_bind_range(w->a, v->node, int_imm(w->t, 0, nowhere), w->vars[v->extent_of].node);
  else if (v->hi - v->lo + 1 <= 2147483647)
    arith_bind_range(w->a, v->node, int_imm(w->t, v->lo, nowhere),
                     int_imm(w->t, v->hi - v->lo + 1, nowhere));
  else v->is_symbol = true, v->lo = -60, v->hi = 60; /* a range that no extent of its dtype tells */
}

/* False if there is no value: an empty range. */
static bool sample(World *w) {
  for (int i = 0; i < VARS; i++) {
    Variable *v = &w->vars[i];
    int64_t lo = v->lo, hi = v->hi;
    if (v->extent_of >= 0) lo = 0, hi = w->vars[v->extent_of].value - 1;
    if (hi < lo) return false;
    int edge = below(4);
    v->value = edge == 0 ? lo : edge == 1 ? hi : between(lo, hi);
  }
  w->memory = draw();
  return true;
}

/* ---- values ---- */

typedef struct Value {
  int64_t v;
  bool bad;     /* divided by zero */
  bool assumed; /* arithmetic on symbols, not on data, overflowed: no promise */
} Value;

typedef struct Kinds {
  World *w;
  bool symbol, data;
} Kinds;

static WalkResult find_kinds(Walker *walker, Node *n) {
  Kinds *k = walker->context;
  if (IS(BufferLoad, n)) k->data = true;
  for (int i = 0; i < VARS; i++)
    if (n == k->w->vars[i].node) k->symbol |= k->w->vars[i].is_symbol;
  return WALK_ON;
}

static Kinds kinds_of(World *w, Node *n) {
  Kinds k = {.w = w};
  Walker walker = {.enter = find_kinds, .context = &k};
  walk(&walker, n);
  return k;
}

static bool data_matters; /* it is there after simplification too */

static bool is_assumed(World *w, Node *n) {
  Kinds k = kinds_of(w, n);
  return k.symbol && (!k.data || !data_matters);
}

static __int128 floor_quotient(__int128 a, __int128 b) {
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

static __int128 as_wide(DataType t, int64_t v) {
  return t.code == DTYPE_UINT && t.bits == 64 ? (__int128)(uint64_t)v : v;
}

static Value value_of(World *w, Node *n);

static Value value_of_binary(World *w, Node *n) {
  Binary *b = (Binary *)(void *)n;
  Value x = value_of(w, b->a);
  if (IS(And, n) && !x.bad && !x.v) return x;
  if (IS(Or, n) && !x.bad && x.v) return x;
  Value y = value_of(w, b->b), out = {.bad = x.bad || y.bad, .assumed = x.assumed || y.assumed};
  __int128 p = as_wide(b->a->dtype, x.v), q = as_wide(b->b->dtype, y.v), r = 0;
  bool divides =
      n->kind == NK_Div || n->kind == NK_Mod || n->kind == NK_FloorDiv || n->kind == NK_FloorMod;
  if (out.bad || (divides && !q)) return out.bad = true, out;
  switch (n->kind) {
  case NK_Add: r = p + q; break;
  case NK_Sub: r = p - q; break;
  case NK_Mul: r = (__int128)((unsigned __int128)p * (unsigned __int128)q); break; /* wraps */
  case NK_Div: r = p / q; break;
  case NK_Mod: r = p % q; break;
  case NK_FloorDiv: r = floor_quotient(p, q); break;
  case NK_FloorMod: r = p - floor_quotient(p, q) * q; break;
  case NK_Min: r = p < q ? p : q; break;
  case NK_Max: r = p > q ? p : q; break;
  case NK_EQ: r = p == q; break;
  case NK_NE: r = p != q; break;
  case NK_LT: r = p < q; break;
  case NK_LE: r = p <= q; break;
  case NK_GT: r = p > q; break;
  case NK_GE: r = p >= q; break;
  case NK_And: r = p && q; break;
  case NK_Or: r = p || q; break;
  default: out.bad = true;
  }
  out.v = dtype_wrap_int(n->dtype, (int64_t)r);
  if (as_wide(n->dtype, out.v) != r && n->dtype.code == DTYPE_INT && is_assumed(w, n))
    out.assumed = true;
  return out;
}

static Value value_of_load(World *w, Node *n) {
  Value i = value_of(w, AS(BufferLoad, n)->indices.at[0]);
  uint64_t h = (w->memory ^ (uint64_t)i.v * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  h ^= h >> 29;
  int64_t v = h & 1 ? (int64_t)(h >> 8) : (int64_t)(h >> 60) - 8;
  return (Value){dtype_wrap_int(n->dtype, v), i.bad, i.assumed};
}

static Value value_of_choice(World *w, Node *cond, Node *then, Node *orelse, bool lazy) {
  Value c = value_of(w, cond);
  Value t = value_of(w, then), e = value_of(w, orelse), out = c.v ? t : e;
  out.bad |= c.bad || (!lazy && (t.bad || e.bad));
  out.assumed |= c.assumed || (!lazy && (t.assumed || e.assumed));
  return out;
}

static Value value_of(World *w, Node *n) {
  if (node_is_binary(n->kind)) return value_of_binary(w, n);
  switch (n->kind) {
  case NK_IntImm: return (Value){.v = AS(IntImm, n)->value};
  case NK_Var:
    for (int i = 0; i < VARS; i++)
      if (w->vars[i].node == n) return (Value){.v = w->vars[i].value};
    return (Value){.bad = true};
  case NK_Not: {
    Value x = value_of(w, AS(Not, n)->a);
    x.v = !x.v;
    return x;
  }
  case NK_Cast: {
    Value x = value_of(w, AS(Cast, n)->value);
    x.v = dtype_wrap_int(n->dtype, x.v);
    return x;
  }
  case NK_Select:
    return value_of_choice(w, AS(Select, n)->cond, AS(Select, n)->then, AS(Select, n)->orelse,
                           false);
  case NK_BufferLoad: return value_of_load(w, n);
  default: break;
  }
  if (is_intrin_call(n, "if_then_else")) {
    NodeVec a = AS(Call, n)->args;
    return value_of_choice(w, a.at[0], a.at[1], a.at[2], true);
  }
  return (Value){.bad = true};
}

/* ---- random expressions ---- */

static Node *raw(NodeKind kind, DataType t, Node *a, Node *b) {
  Binary n = {{(uint16_t)kind, t, nowhere}, a, b};
  return gc_copy(&n, sizeof n);
}

static Node *number(DataType t) {
  static const int64_t some[] = {0,   1,    2,     3,          4,         5,          7,
                                 8,   16,   64,    -1,         -2,        -4,         -8,
                                 100, 1024, 65536, 2147483647, 357913942, -2147483648};
  return int_imm(t, some[below(below(3) ? 12 : sizeof some / sizeof *some)], nowhere);
}

static Node *random_int(World *w, DataType t, int depth);

static Node *random_bool(World *w, int depth) {
  int k = depth <= 0 ? 0 : below(10);
  if (k == 8)
    return raw(below(2) ? NK_And : NK_Or, BOOL, random_bool(w, depth - 1),
               random_bool(w, depth - 1));
  if (k == 9) return MAKE(Not, nowhere, BOOL, .a = random_bool(w, depth - 1));
  DataType t = below(8) ? w->t : INT64;
  return raw(NK_EQ + below(6), BOOL, random_int(w, t, depth - 1), random_int(w, t, depth - 1));
}

static Node *leaf(World *w, DataType t) {
  int k = below(10);
  if (k < 3) return number(t);
  if (k == 3 && dtype_equal(t, w->t))
    return MAKE(BufferLoad, nowhere, t, .buffer = w->buffer,
                .indices = NODES(w->vars[below(VARS)].node));
  Node *v = w->vars[below(VARS)].node;
  return dtype_equal(t, w->t) ? v : MAKE(Cast, nowhere, t, .value = v);
}

static Node *random_int(World *w, DataType t, int depth) {
  if (depth <= 0 || !below(6)) return leaf(w, t);
  int k = below(20);
  Node *a = random_int(w, t, depth - 1);
  if (k < 9)
    return raw(k < 4   ? NK_Add
               : k < 6 ? NK_Sub
                       : NK_Mul,
               t, a, k >= 6 && below(4) ? number(t) : random_int(w, t, depth - 1));
  if (k < 15) {
    static const NodeKind kinds[] = {NK_FloorDiv, NK_FloorMod, NK_FloorDiv,
                                     NK_FloorMod, NK_Div,      NK_Mod};
    return raw(kinds[k - 9], t, a, below(5) ? number(t) : random_int(w, t, depth - 2));
  }
  if (k < 17) return raw(k == 15 ? NK_Min : NK_Max, t, a, random_int(w, t, depth - 1));
  if (k == 17)
    return MAKE(Select, nowhere, t, .cond = random_bool(w, depth - 1), .then = a,
                .orelse = random_int(w, t, depth - 1));
  if (k == 18)
    return expr_call("if_then_else", t,
                     NODES(random_bool(w, depth - 1), a, random_int(w, t, depth - 1)), nowhere);
  static const DataType others[] = {{DTYPE_INT, 64, 1}, {DTYPE_INT, 32, 1},  {DTYPE_INT, 8, 1},
                                    {DTYPE_UINT, 8, 1}, {DTYPE_UINT, 32, 1}, {DTYPE_UINT, 64, 1}};
  return MAKE(Cast, nowhere, t, .value = random_int(w, others[below(6)], depth - 1));
}

/* ---- the test ---- */

static int reported;

static Node *assumed; /* the condition that holds, or NULL */

static bool report(World *w, const char *what, Node *e, Node *out, Value x, Value y) {
  if (reported++ < 5) {
    printf("%s: %lld, %lld\n%s\n->\n%s\n", what, (long long)x.v, (long long)y.v, ir_print(e, NULL),
           ir_print(out, NULL));
    if (assumed) printf("where %s\n", ir_print(assumed, NULL));
    for (int i = 0; i < VARS; i++)
      printf("  %s%s in [%lld, %lld] = %lld\n", AS(Var, w->vars[i].node)->name,
             w->vars[i].is_symbol ? " (symbol)" : "", (long long)w->vars[i].lo,
             (long long)w->vars[i].hi, (long long)w->vars[i].value);
  }
  return false;
}

static bool holds(World *w, Node *e, Node *out, Node *cond) {
  ConstBound b = arith_const_bound(w->a, e), bo = arith_const_bound(w->a, out);
  Modular m = arith_modular(w->a, e);
  data_matters = kinds_of(w, out).data;
  for (int i = 0; i < 12; i++) {
    if (!sample(w)) continue;
    if (cond) {
      Value c = value_of(w, cond);
      if (c.bad || c.assumed || !c.v) continue;
    }
    Value x = value_of(w, e), y;
    if (x.bad || x.assumed) continue;
    y = value_of(w, out);
    if (y.bad || x.v != y.v) return report(w, "value", e, out, x, y);
    bool beyond = e->dtype.code == DTYPE_UINT && e->dtype.bits == 64 && x.v < 0;
    if (beyond ? b.hi != ARITH_POS_INF : x.v < b.lo || x.v > b.hi)
      return report(w, "bound", e, out, (Value){.v = b.lo}, (Value){.v = b.hi});
    if (beyond ? bo.hi != ARITH_POS_INF : x.v < bo.lo || x.v > bo.hi)
      return report(w, "bound of simplified", e, out, (Value){.v = bo.lo}, (Value){.v = bo.hi});
    __int128 d = (__int128)x.v - m.base;
    if (m.coeff ? d % m.coeff != 0 : d != 0)
      return report(w, "modular", e, out, (Value){.v = m.coeff}, (Value){.v = m.base});
  }
  return true;
}

static bool check_world(int expressions) {
  World w = {.t = below(4) ? INT32 : INT64, .a = arith_new()};
  w.buffer = buffer_new("B", w.t, NODES(int_imm(INT32, 1, nowhere)), "global", nowhere);
  for (int i = 0; i < VARS; i++) new_variable(&w, i);
  Node *cond = below(2) ? random_bool(&w, 2) : NULL;
  int mark = cond ? arith_enter(w.a, assumed = cond) : (assumed = NULL, 0);
  bool good = true;
  for (int i = 0; i < expressions; i++) {
    Node *e = below(5) ? random_int(&w, w.t, 4) : random_bool(&w, 4);
    Node *out = arith_simplify(w.a, e);
    good &= holds(&w, e, out, cond);
  }
  if (cond) arith_leave(w.a, mark);
  return good;
}

TEST(simplified_expressions_have_the_same_values_and_bounds_hold) {
  const char *wanted = getenv("IR_ARITH_FUZZ"), *seed = getenv("IR_ARITH_SEED");
  enum { EACH = 20 };
  long n = wanted ? atol(wanted) : 100000, bad = 0;
  state = seed ? strtoull(seed, NULL, 10) * 2654435761u + 1 : 88172645463325252u;
  for (long i = 0; i < n / EACH && bad < 20; i++) bad += !check_world(EACH);
  CHECK(bad == 0);
}
