/* ir_iter_map.c -- random iteration maps against all steps of their loops: what is claimed to be
 * injective, surjective or the inverse is so. IR_ITER_MAP=1000000 in the environment for a longer
 * run. */
#include "ir/arith/iter_map.h"
#include "tests/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>

static const Span nowhere;
static uint64_t state;

static int below(int n) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (int)((state * 0x2545f4914f6cdd1du) >> 33) % n;
}
static Node *number(int64_t x) { return int_imm(INT32, x, nowhere); }

/* ---- values ---- */

enum { LOOPS = 3, OUTPUTS = 3, SYMBOL = LOOPS, MOST = 1 << 14 };

typedef struct World {
  Node *vars[LOOPS + 1]; /* the last one is a size, n */
  int64_t values[LOOPS + 1];
  Node *min[LOOPS], *extent[LOOPS];
  int loops;
  NodeVec outputs;
  Node *predicate;
  Map extra; /* Var to int64_t *: the inputs of an inverse */
} World;

static int64_t value_of(World *w, Node *e) {
  int64_t x;
  if (expr_is_const_int(e, &x)) return x;
  if (IS(Var, e)) {
    for (int i = 0; i <= LOOPS; i++)
      if (w->vars[i] == e) return w->values[i];
    return *(int64_t *)map_get(&w->extra, e);
  }
  if (IS(Cast, e)) return value_of(w, AS(Cast, e)->value);
  if (IS(Not, e)) return !value_of(w, AS(Not, e)->a);
  int64_t a = value_of(w, ((Binary *)(void *)e)->a), b = value_of(w, ((Binary *)(void *)e)->b);
  int64_t q = b ? a / b - (a % b != 0 && (a < 0) != (b < 0)) : 0;
  switch (e->kind) {
  case NK_Add: return a + b;
  case NK_Sub: return a - b;
  case NK_Mul: return a * b;
  case NK_FloorDiv: return q;
  case NK_FloorMod: return a - q * b;
  case NK_Min: return a < b ? a : b;
  case NK_Max: return a > b ? a : b;
  case NK_LT: return a < b;
  case NK_LE: return a <= b;
  case NK_GT: return a > b;
  case NK_GE: return a >= b;
  case NK_EQ: return a == b;
  case NK_NE: return a != b;
  case NK_And: return a && b;
  case NK_Or: return a || b;
  default: printf("unexpected %s\n", ir_print(e, NULL)); abort();
  }
}

/* ---- random maps ---- */

static Node *factor(World *w) {
  static const int often[] = {1, 2, 2, 3, 4, 4, 6, 8, 12, 5};
  if (below(8) == 0) return w->vars[SYMBOL];
  return number(often[below(sizeof often / sizeof *often)]);
}

static Node *expression(World *w, int depth) {
  Node *leaf = w->vars[below(w->loops)];
  if (!depth || below(6) == 0) return leaf;
  Node *a = expression(w, depth - 1);
  switch (below(7)) {
  case 0: return expr_add(a, expression(w, depth - 1));
  case 1: return expr_sub(a, below(2) ? number(below(9)) : expression(w, depth - 1));
  case 2: return expr_add(expr_mul(a, factor(w)), expression(w, depth - 1));
  case 3: return expr_mul(a, below(4) ? factor(w) : number(-1 - below(3)));
  case 4: return expr_floordiv(a, factor(w));
  case 5: return expr_floormod(a, factor(w));
  default: return expr_add(a, number(below(9) - 4));
  }
}

/* Digits of one variable or of a fused pair, as schedules make them. */
static void structured(World *w) {
  Node *x = w->vars[0], *c = factor(w), *d = factor(w);
  if (w->loops > 1 && below(2)) x = expr_add(expr_mul(x, w->extent[1]), w->vars[1]);
  if (below(4) == 0) x = expr_add(x, number(below(5)));
  vec_push(&w->outputs, expr_floordiv(x, expr_mul(c, d)));
  vec_push(&w->outputs, expr_floormod(expr_floordiv(x, c), d));
  vec_push(&w->outputs, expr_floormod(x, c));
  if (below(3) == 0) { /* two of them as one */
    Node *low = vec_pop(&w->outputs), *high = vec_last(&w->outputs);
    vec_last(&w->outputs) = expr_add(expr_mul(high, c), low);
  }
}

static Node *condition(World *w) {
  static const NodeKind orders[] = {NK_LT, NK_LE, NK_GE, NK_GT};
  Node *e = below(3) ? w->vars[below(w->loops)] : expression(w, 2);
  if (w->loops > 1 && below(2)) e = expr_add(expr_mul(w->vars[0], w->extent[1]), w->vars[1]);
  return expr_binary(orders[below(4)], e, number(below(14)), nowhere);
}

static World new_world(void) {
  static const int extents[] = {1, 2, 3, 4, 4, 5, 6, 8, 12, 16, 7, 24};
  static const char *const names[] = {"i", "j", "k", "n"};
  World w = {.loops = 1 + below(LOOPS)};
  for (int i = 0; i <= LOOPS; i++)
    w.vars[i] =
        MAKE(Var, nowhere, INT32, .name = names[i], .elem = VOID_TYPE, .is_size = i == SYMBOL);
  w.values[SYMBOL] = 1 + below(5);
  for (int i = 0; i < LOOPS; i++) {
    w.min[i] = number(below(5) ? 0 : below(7) - 3);
    w.extent[i] = number(extents[below(sizeof extents / sizeof *extents)]);
    if (below(6) == 0) w.extent[i] = expr_mul(w.vars[SYMBOL], number(1 + below(4)));
  }
  if (below(2)) structured(&w);
  else
    for (int i = 1 + below(OUTPUTS); i > 0; i--) vec_push(&w.outputs, expression(&w, 1 + below(3)));
  if (below(3) == 0) w.predicate = condition(&w);
  if (w.predicate && below(3) == 0) w.predicate = expr_and(w.predicate, condition(&w));
  return w;
}

/* ---- all steps ---- */

typedef struct Seen {
  int64_t at[MOST][OUTPUTS];
  int n;
  int64_t lo[OUTPUTS], hi[OUTPUTS];
} Seen;
static Seen seen;

static void note(World *w) {
  if (w->predicate && !value_of(w, w->predicate)) return;
  for (int i = 0; i < w->outputs.len; i++) {
    int64_t x = value_of(w, w->outputs.at[i]);
    seen.at[seen.n][i] = x;
    if (!seen.n || x < seen.lo[i]) seen.lo[i] = x;
    if (!seen.n || x > seen.hi[i]) seen.hi[i] = x;
  }
  seen.n++;
}

static void run_loops(World *w, int depth, void (*visit)(World *w)) {
  if (depth == w->loops) {
    visit(w);
    return;
  }
  int64_t min = value_of(w, w->min[depth]), n = value_of(w, w->extent[depth]);
  for (int64_t i = 0; i < n; i++) {
    w->values[depth] = min + i;
    run_loops(w, depth + 1, visit);
  }
}

static int compare(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  for (int i = 0; i < OUTPUTS; i++)
    if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
  return 0;
}

static int distinct(void) {
  int n = 0;
  qsort(seen.at, (size_t)seen.n, sizeof *seen.at, compare);
  for (int i = 0; i < seen.n; i++) n += !i || compare(seen.at[i], seen.at[i - 1]) != 0;
  return n;
}

static bool fails(World *w, const char *claim) {
  printf("false claim: %s, n = %lld\n", claim, (long long)w->values[SYMBOL]);
  for (int i = 0; i < w->loops; i++)
    printf("  %s from %s, %s steps\n", AS(Var, w->vars[i])->name, ir_print(w->min[i], NULL),
           ir_print(w->extent[i], NULL));
  for each (Node *, e, &w->outputs) printf("  %s\n", ir_print(*e, NULL));
  if (w->predicate) printf("  where %s\n", ir_print(w->predicate, NULL));
  return false;
}

static Map domain(World *w, Analyzer *facts) {
  Map ranges = {0};
  for (int i = 0; i < w->loops; i++) {
    map_set(&ranges, w->vars[i],
            MAKE(Range, nowhere, VOID_TYPE, .min = w->min[i], .extent = w->extent[i]));
    arith_bind_range(facts, w->vars[i], w->min[i], w->extent[i]);
  }
  return ranges;
}

/* ---- the tests ---- */

static Map found; /* the inverse that is being checked */
static bool inverse_good;

static void check_inverse(World *w) {
  if (w->predicate && !value_of(w, w->predicate)) return;
  int64_t kept[LOOPS], outputs[OUTPUTS];
  Map extra = {0};
  NodeVec ys = *(NodeVec *)map_get(&found, &found);
  for (int i = 0; i < w->outputs.len; i++) {
    outputs[i] = value_of(w, w->outputs.at[i]);
    map_set(&extra, ys.at[i], &outputs[i]);
  }
  for (int i = 0; i < w->loops; i++) kept[i] = w->values[i];
  w->extra = extra;
  for (int i = 0; i < w->loops; i++)
    inverse_good &= value_of(w, map_get(&found, w->vars[i])) == kept[i];
}

static bool inverse_holds(World *w, const IterMap *m) {
  NodeVec ys = {0};
  for (int i = 0; i < w->outputs.len; i++) vec_push(&ys, var_new("y", INT32, nowhere));
  found = (Map){0};
  if (!iter_map_inverse(m, ys, &found)) return true;
  map_set(&found, &found, &ys);
  inverse_good = true;
  run_loops(w, 0, check_inverse);
  return inverse_good;
}

static NodeVec simplified; /* beside the outputs */
static bool simplified_good;
static void check_simplified(World *w) {
  for (int i = 0; i < simplified.len; i++)
    simplified_good &= value_of(w, simplified.at[i]) == value_of(w, w->outputs.at[i]);
}

static bool simplification_holds(World *w, const Map *ranges, Analyzer *facts) {
  simplified = (NodeVec){0};
  simplified_good = true;
  for each (Node *, e, &w->outputs) vec_push(&simplified, iter_simplify(*e, ranges, facts));
  run_loops(w, 0, check_simplified);
  return simplified_good;
}

static int injective, surjective;

static bool map_holds(World *w) {
  Analyzer *facts = arith_new();
  Map ranges = domain(w, facts);
  IterMap m = iter_map_detect(w->outputs, &ranges, w->predicate, facts);
  seen = (Seen){0};
  run_loops(w, 0, note);
  int n = distinct();
  injective += m.injective;
  surjective += m.surjective;
  if (!simplification_holds(w, &ranges, facts)) return fails(w, "simplified is equal");
  if (m.injective && n != seen.n) return fails(w, "injective");
  if (!m.surjective || !seen.n) return true;
  int64_t box = 1;
  for (int i = 0; i < w->outputs.len; i++) {
    Node *least, *count;
    box *= seen.hi[i] - seen.lo[i] + 1;
    if (!iter_sum_range(m.sums.at[i], INT32, &least, &count) || value_of(w, least) != seen.lo[i] ||
        value_of(w, count) != seen.hi[i] - seen.lo[i] + 1)
      return fails(w, "the range of an output");
  }
  if (n != box) return fails(w, "surjective");
  return inverse_holds(w, &m) || fails(w, "the inverse");
}

TEST(iter_maps_hold_for_all_steps) {
  const char *more = getenv("IR_ITER_MAP");
  int runs = more ? atoi(more) : 20000;
  state = 88172645463325252u;
  bool good = true;
  for (int i = 0; i < runs && good; i++) {
    World w = new_world();
    good = map_holds(&w);
  }
  CHECK(good);
  CHECK(injective > runs / 10);
  CHECK(surjective > runs / 10);
}

/* ---- index maps ---- */

typedef struct Element {
  int64_t at[OUTPUTS];
} Element;
static Element *elements;
static int element_count;
static void keep(World *w) {
  for (int i = 0; i < w->outputs.len; i++)
    elements[element_count].at[i] = value_of(w, w->outputs.at[i]);
  element_count++;
}

/* At each place of the new shape: the element there, or padding if no element is. */
static bool place_holds(World *w, const IndexMap *inverse, Node *padding, Element *y) {
  int64_t from[LOOPS];
  w->extra = (Map){0};
  bool filled = false;
  for (int i = 0; i < w->outputs.len; i++) map_set(&w->extra, inverse->inputs.at[i], &y->at[i]);
  for (int i = 0; i < element_count; i++) filled |= !memcmp(&elements[i], y, sizeof *y);
  if ((value_of(w, padding) != 0) == filled) return false;
  for (int i = 0; i < w->loops; i++) from[i] = value_of(w, inverse->outputs.at[i]);
  for (int i = 0; i < w->loops; i++) w->values[i] = from[i];
  for (int i = 0; filled && i < w->outputs.len; i++)
    if (value_of(w, w->outputs.at[i]) != y->at[i]) return false;
  return true;
}

static bool places_hold(World *w, const IndexMap *inverse, Node *padding, NodeVec shape, int dim,
                        Element *y) {
  if (dim == shape.len) return place_holds(w, inverse, padding, y);
  int64_t n = value_of(w, shape.at[dim]);
  for (y->at[dim] = 0; y->at[dim] < n; y->at[dim]++)
    if (!places_hold(w, inverse, padding, shape, dim + 1, y)) return false;
  return true;
}

static int inverses;

static bool index_map_holds(World *w) {
  NodeVec inputs = {0}, shape = {0}, out;
  w->predicate = NULL;
  for (int i = 0; i < w->loops; i++) {
    w->min[i] = number(0);
    vec_push(&inputs, w->vars[i]);
    vec_push(&shape, w->extent[i]);
  }
  Node *map = MAKE(IndexMap, nowhere, VOID_TYPE, .inputs = inputs, .outputs = w->outputs), *padding;
  IndexMap *m = AS(IndexMap, map);
  if (!index_map_shape(m, shape, arith_new(), &out)) return true;
  elements = gc_alloc(sizeof *elements * MOST);
  element_count = 0;
  run_loops(w, 0, keep);
  for (int i = 0; i < element_count; i++)
    for (int k = 0; k < out.len; k++)
      if (elements[i].at[k] < 0 || elements[i].at[k] >= value_of(w, out.at[k]))
        return fails(w, "the shape of an index map");
  Node *inverse = index_map_inverse(m, shape, arith_new(), &padding);
  if (!inverse) return true;
  inverses++;
  Element y = {{0}};
  return places_hold(w, AS(IndexMap, inverse), padding, out, 0, &y) ||
         fails(w, "the inverse of an index map");
}

TEST(inverses_of_index_maps_tell_where_each_element_is) {
  const char *more = getenv("IR_ITER_MAP");
  int runs = more ? atoi(more) / 10 : 2000;
  state = 36243606521u;
  bool good = true;
  for (int i = 0; i < runs && good; i++) {
    World w = new_world();
    good = index_map_holds(&w);
  }
  CHECK(good);
  CHECK(inverses > runs / 10);
}
