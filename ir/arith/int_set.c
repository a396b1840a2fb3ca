/* int_set.c -- the values of an expression as some of its variables move over theirs, as two ends:
 * how an access inside a loop becomes a region outside it.
 *
 * An expression that is monotone in what moves has its extremes at the ends of what its variables
 * take. An end that is not known is NULL. */
#include "ir/arith/int_set.h"
#include "ir/arith/arith_impl.h"

enum { MAX_DEPTH = 200 }; /* of expressions and of sets that depend on one another */

typedef struct Moving {
  const Map *sets;
  Analyzer *analyzer; /* knows the sets that are constant */
  Map known;          /* Var to its IntSet; while that is looked for, to itself as a symbol */
  int depth;
} Moving;

static WalkResult find_moving(Walker *w, Node *n) {
  return IS(Var, n) && map_has(w->context, n) ? WALK_STOP : WALK_ON;
}

static bool moves(Node *e, const Map *sets) {
  Walker w = {.enter = find_moving, .context = (void *)(uintptr_t)sets};
  return !walk(&w, e);
}

static IntSet set_of(Moving *m, Node *e);

/* ---- of a node, by its kind ---- */

static const IntSet all = {0};

static IntSet turned(IntSet s) { return (IntSet){.min = s.max, .max = s.min}; }

static Node *scaled_sum(Node *sum, Node *end, int64_t k) {
  if (!sum || !end) return NULL;
  Node *factor = int_imm(sum->dtype, k, sum->span);
  return expr_add(sum, expr_mul(expr_cast(sum->dtype, end, sum->span), factor));
}

/* A sum of terms: each at its own end, by the sign of its coefficient. */
static IntSet set_of_linear(Moving *m, Node *e, const Linear *l) {
  Node *start = int_imm(e->dtype, l->constant, e->span);
  IntSet sum = {.min = start, .max = start};
  for (int i = 0; i < l->terms.len; i++) {
    int64_t k = l->coeffs.at[i];
    IntSet term = set_of(m, l->terms.at[i]);
    if (k < 0) term = turned(term);
    sum.min = scaled_sum(sum.min, term.min, k);
    sum.max = scaled_sum(sum.max, term.max, k);
  }
  return sum;
}

/* The ends of a set may move with outer variables. */
static IntSet set_of_var(Moving *m, Node *e) {
  const IntSet *of = map_get(m->sets, e);
  IntSet *known = map_get(&m->known, e);
  if (known) return *known;
  known = NEW(IntSet, .min = e, .max = e);
  map_set(&m->known, e, known);
  Node *min = of->min ? set_of(m, of->min).min : NULL;
  Node *max = of->max ? set_of(m, of->max).max : NULL;
  *known = (IntSet){.min = min ? expr_cast(e->dtype, min, e->span) : NULL,
                    .max = max ? expr_cast(e->dtype, max, e->span) : NULL};
  return *known;
}

static Node *beside(NodeKind kind, Node *x, Node *y) {
  return x ? arith_binary(kind, x, y, y->span) : NULL;
}

/* x op y with x moving and y at rest: in order, or reversed, or neither. */
static IntSet set_beside(Moving *m, NodeKind kind, Node *x, Node *y) {
  ConstBound b = arith_const_bound(m->analyzer, y);
  bool up = kind == NK_Mul ? b.lo >= 0 : b.lo > 0, down = kind == NK_Mul && b.hi <= 0;
  if (!up && !down) return all;
  IntSet s = set_of(m, x);
  s = (IntSet){.min = beside(kind, s.min, y), .max = beside(kind, s.max, y)};
  return down ? turned(s) : s;
}

static IntSet set_of_product(Moving *m, Node *e) {
  Binary *b = as_binary(e);
  if (!moves(b->b, m->sets)) return set_beside(m, NK_Mul, b->a, b->b);
  return moves(b->a, m->sets) ? all : set_beside(m, NK_Mul, b->b, b->a);
}

static IntSet set_of_sum(Moving *m, Node *e) {
  Linear l;
  if (!arith_linear(e, &l) || !linear_fits(&l, e->dtype)) return all;
  bool itself = l.terms.len == 1 && l.terms.at[0] == e;
  return itself ? set_of_product(m, e) : set_of_linear(m, e, &l);
}

/* The remainder of what is not negative by a positive number, which may be a symbol. */
static IntSet set_of_mod(Moving *m, Node *e) {
  Node *divisor = as_binary(e)->b;
  ConstBound size = arith_const_bound(m->analyzer, divisor);
  if (moves(divisor, m->sets) || size.lo <= 0) return all;
  ConstBound b = arith_const_bound(m->analyzer, e);
  if (b.lo < 0) return all;
  if (size.lo < size.hi)
    return (IntSet){.min = int_imm(e->dtype, 0, e->span),
                    .max = expr_sub(divisor, int_imm(e->dtype, 1, e->span))};
  return (IntSet){.min = int_imm(e->dtype, b.lo, e->span), .max = int_imm(e->dtype, b.hi, e->span)};
}

/* The end of a minimum or maximum: of both operands, or of the one that bounds it alone. */
static Node *end_of_either(NodeKind kind, Node *x, Node *y, bool one_is_enough) {
  if (!x || !y) return one_is_enough ? (x ? x : y) : NULL;
  return expr_binary(kind, x, y, x->span);
}

static IntSet set_of_extreme(Moving *m, Node *e) {
  IntSet x = set_of(m, as_binary(e)->a), y = set_of(m, as_binary(e)->b);
  bool least = IS(Min, e);
  return (IntSet){.min = end_of_either(e->kind, x.min, y.min, !least),
                  .max = end_of_either(e->kind, x.max, y.max, least)};
}

static IntSet set_of_choice(Moving *m, Node *x, Node *y) {
  IntSet a = set_of(m, x), b = set_of(m, y);
  return (IntSet){.min = end_of_either(NK_Min, a.min, b.min, false),
                  .max = end_of_either(NK_Max, a.max, b.max, false)};
}

static IntSet set_of_cast(Moving *m, Node *e) {
  Node *value = AS(Cast, e)->value;
  if (!dtype_is_int(value->dtype) || value->dtype.bits > e->dtype.bits) return all;
  IntSet s = set_of(m, value);
  return (IntSet){.min = s.min ? expr_cast(e->dtype, s.min, e->span) : NULL,
                  .max = s.max ? expr_cast(e->dtype, s.max, e->span) : NULL};
}

static IntSet set_of_node(Moving *m, Node *e) {
  switch (e->kind) {
  case NK_Var: return set_of_var(m, e);
  case NK_Add:
  case NK_Sub:
  case NK_Mul: return set_of_sum(m, e);
  case NK_Div: /* truncation too keeps the order */
  case NK_FloorDiv:
    if (moves(as_binary(e)->b, m->sets)) return all;
    return set_beside(m, e->kind, as_binary(e)->a, as_binary(e)->b);
  case NK_Mod:
  case NK_FloorMod: return set_of_mod(m, e);
  case NK_Min:
  case NK_Max: return set_of_extreme(m, e);
  case NK_Select: return set_of_choice(m, AS(Select, e)->then, AS(Select, e)->orelse);
  case NK_Call:
    if (!is_intrin_call(e, "if_then_else")) return all;
    return set_of_choice(m, AS(Call, e)->args.at[1], AS(Call, e)->args.at[2]);
  case NK_Cast: return set_of_cast(m, e);
  default: return all;
  }
}

static IntSet set_of(Moving *m, Node *e) {
  if (!moves(e, m->sets)) return (IntSet){.min = e, .max = e};
  if (m->depth == MAX_DEPTH || !dtype_is_int(e->dtype)) return all;
  m->depth++;
  IntSet s = set_of_node(m, e);
  m->depth--;
  return s;
}

/* ---- the door ---- */

/* Constant ends of what moves may help to simplify the expression first. */
static bool constant_ends(const IntSet *s, int64_t *min, int64_t *max) {
  return s->min && s->max && expr_is_const_int(s->min, min) && expr_is_const_int(s->max, max) &&
         *max > *min;
}

static void assume_sets(Analyzer *a, const Map *sets) {
  int64_t min, max;
  for (int i = 0; i < sets->len; i++) {
    Node *var = (Node *)(uintptr_t)sets->at[i].key;
    const IntSet *s = sets->at[i].value;
    if (!var || !constant_ends(s, &min, &max)) continue;
    arith_enter(a, expr_binary(NK_GE, var, s->min, var->span));
    arith_enter(a, expr_binary(NK_LE, var, s->max, var->span));
  }
}

IntSet arith_int_set_under(Analyzer *facts, Node *e, const Map *sets) {
  if (!dtype_is_int(e->dtype) || e->dtype.lanes != 1 || expr_effect(e) == EFFECT_STATE) return all;
  if (IS(Var, e) && !map_has(sets, e)) return (IntSet){.min = e, .max = e};
  Moving m = {.sets = sets, .analyzer = facts};
  int mark = arith_enter(facts, int_imm(BOOL, 1, e->span));
  assume_sets(facts, sets);
  IntSet s = set_of(&m, arith_simplify(facts, e));
  arith_leave(facts, mark); /* the ends are of symbols */
  bool is_point = s.min == s.max;
  if (s.min) s.min = arith_simplify(facts, s.min);
  if (s.max) s.max = is_point ? s.min : arith_simplify(facts, s.max);
  return s;
}

IntSet arith_int_set(Node *e, const Map *sets) { return arith_int_set_under(arith_new(), e, sets); }

IntSet int_set_of_range(const Range *r) {
  Node *one = int_imm(dtype_element(r->extent->dtype), 1, r->node.span);
  return (IntSet){.min = r->min, .max = expr_sub(expr_add(r->min, r->extent), one)};
}

typedef struct FindMoving {
  const Map *ranges;
  Map *sets;
} FindMoving;

static WalkResult note_moving(Walker *w, Node *n) {
  FindMoving *f = w->context;
  Node *range = IS(Var, n) ? map_get(f->ranges, n) : NULL;
  if (!range || map_has(f->sets, n)) return WALK_ON;
  IntSet s = IS(Range, range) ? int_set_of_range(AS(Range, range)) : all;
  map_set(f->sets, n, gc_copy(&s, sizeof s));
  Walker inner = {.enter = note_moving, .context = f, .once = true}; /* ends of it may move, too */
  if (IS(Range, range)) walk(&inner, range);
  return WALK_ON;
}

/* Only what `e` depends on: of thousands of ranges an index mentions a few. */
bool arith_bounds_under(Analyzer *facts, Node *e, const Map *ranges, Node **least,
                        Node **greatest) {
  Map sets = {0};
  Walker w = {.enter = note_moving, .context = &(FindMoving){ranges, &sets}, .once = true};
  walk(&w, e);
  IntSet s = arith_int_set_under(facts, e, &sets);
  if (!s.min || !s.max) return false;
  *least = s.min;
  *greatest = s.max;
  return true;
}

bool arith_bounds_over(Node *e, const Map *ranges, Node **least, Node **greatest) {
  return arith_bounds_under(arith_new(), e, ranges, least, greatest);
}

/* ---- sets together ---- */

static bool surely_less(Analyzer *a, Node *x, Node *y) {
  return x && y && arith_can_prove(a, expr_binary(NK_LT, x, y, x->span));
}

static Node *end_together(Analyzer *a, NodeKind kind, Node *x, Node *y, bool one_is_enough) {
  Node *end = end_of_either(kind, x, y, one_is_enough);
  return end ? arith_simplify(a, end) : NULL;
}

bool int_set_is_empty(Analyzer *a, IntSet s) { return surely_less(a, s.max, s.min); }

IntSet int_set_union(Analyzer *a, IntSet x, IntSet y) {
  if (int_set_is_empty(a, x)) return y;
  if (int_set_is_empty(a, y)) return x;
  return (IntSet){.min = end_together(a, NK_Min, x.min, y.min, false),
                  .max = end_together(a, NK_Max, x.max, y.max, false)};
}

IntSet int_set_intersection(Analyzer *a, IntSet x, IntSet y) {
  return (IntSet){.min = end_together(a, NK_Max, x.min, y.min, true),
                  .max = end_together(a, NK_Min, x.max, y.max, true)};
}
