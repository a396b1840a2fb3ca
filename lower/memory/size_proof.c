/* size_proof.c -- x <= y for sizes in symbolic dims: by the analyzer, by what stands for terms of a
 * sum, and by cases. */
#include "lower/memory/size_proof.h"

/* ---- numbers: what does not hold for some sizes need not be proved ---- */

/* Of a variable that is a dim; of one with a definition, what that is. False: not known. */
static bool number_at(SizeFacts *facts, Node *n, int sample, int64_t *out);

static bool number_of_var(SizeFacts *facts, Node *var, int sample, int64_t *out) {
  Node *definition = map_get(&facts->definitions, var);
  Map *known = &facts->numbers[sample];
  int64_t *found = map_get(known, var);
  if (!found) {
    int64_t dims[SIZE_SAMPLES] = {64, 1, 5 + 2 * (known->live % 7)}, value = dims[sample];
    if (definition && !number_at(facts, definition, sample, &value)) return false;
    int64_t bound = memory_upper_bound(facts->f, AS(Var, var)->name);
    if (!definition && bound >= 0 && value > bound) value = bound;
    map_set(known, var, found = gc_copy(&value, sizeof value));
  }
  *out = *found;
  return true;
}

static bool number_at(SizeFacts *facts, Node *n, int sample, int64_t *out) {
  int64_t a, b;
  if (expr_is_const_int(n, out)) return true;
  if (IS(Var, n)) return number_of_var(facts, n, sample, out);
  if (IS(Cast, n)) return number_at(facts, AS(Cast, n)->value, sample, out);
  if (!node_is_binary(n->kind)) return false;
  Binary *x = (Binary *)(void *)n;
  if (!number_at(facts, x->a, sample, &a) || !number_at(facts, x->b, sample, &b)) return false;
  switch (n->kind) {
  case NK_Add: return !__builtin_add_overflow(a, b, out);
  case NK_Sub: return !__builtin_sub_overflow(a, b, out);
  case NK_Mul: return !__builtin_mul_overflow(a, b, out);
  case NK_Max: return *out = a > b ? a : b, true;
  case NK_Min: return *out = a < b ? a : b, true;
  case NK_FloorDiv: return a >= 0 && b > 0 ? (*out = a / b, true) : false;
  case NK_FloorMod: return a >= 0 && b > 0 ? (*out = a % b, true) : false;
  default: return false;
  }
}

static bool is_refuted(SizeFacts *facts, Node *x, Node *y, int sample) {
  int64_t a, b;
  return number_at(facts, x, sample, &a) && number_at(facts, y, sample, &b) && a > b;
}

/* ---- what is surely not larger: x <= y ---- */

enum { PROOF_STEPS = 4000 };

typedef struct Proof {
  SizeFacts *facts;
  int steps;
  NodeVec low, high; /* of the cases that are looked at: low.at[i] <= high.at[i] */
} Proof;

static bool holds_for_samples(Proof *p, Node *x, Node *y) {
  for (int i = 0; i < SIZE_SAMPLES; i++) {
    bool is_of_case = true;
    for (int k = 0; k < p->low.len; k++)
      is_of_case &= !is_refuted(p->facts, p->low.at[k], p->high.at[k], i);
    if (is_of_case && is_refuted(p->facts, x, y, i)) return false;
  }
  return true;
}

/* Is it (z // c) * k with k a multiple of c? Then it is not less than (z - (c - 1)) * (k / c). */
static Node *rounded_least(Node *n) {
  int64_t c, k;
  if (!IS(Mul, n) || !IS(FloorDiv, AS(Mul, n)->a)) return NULL;
  FloorDiv *d = AS(FloorDiv, AS(Mul, n)->a);
  if (!expr_is_const_int(AS(Mul, n)->b, &k) || !expr_is_const_int(d->b, &c)) return NULL;
  if (c <= 0 || k <= 0 || k % c) return NULL;
  return expr_mul(expr_sub(d->a, int_imm(INT64, c - 1, n->span)), int_imm(INT64, k / c, n->span));
}

/* Is it a maximum, or has it a definition? Others stand for it in a proof. */
static bool stands_for_others(SizeFacts *facts, Node *n) {
  return IS(Max, n) || (IS(Var, n) && map_has(&facts->definitions, n));
}

static bool is_rounded(SizeFacts *facts, Node *n) {
  (void)facts;
  return rounded_least(n) != NULL;
}

/* The first such term of a sum. */
static Node *find_term(SizeFacts *facts, Node *y, bool (*is_it)(SizeFacts *facts, Node *n)) {
  if (is_it(facts, y)) return y;
  if (IS(Cast, y)) return find_term(facts, AS(Cast, y)->value, is_it);
  if (!IS(Add, y)) return NULL;
  Node *left = find_term(facts, AS(Add, y)->a, is_it);
  return left ? left : find_term(facts, AS(Add, y)->b, is_it);
}

/* Roundings come last: they are seldom what a proof turns on. */
static Node *term_to_open(SizeFacts *facts, Node *y) {
  Node *term = find_term(facts, y, stands_for_others);
  return term ? term : find_term(facts, y, is_rounded);
}

/* The sum with another in the place of the first such term; the same node if it has none. */
static Node *with_term(Node *y, Node *term, Node *other) {
  if (y == term) return expr_cast(y->dtype, other, y->span);
  if (IS(Cast, y)) {
    Node *value = with_term(AS(Cast, y)->value, term, other);
    return value == AS(Cast, y)->value ? y : expr_cast(y->dtype, value, y->span);
  }
  if (!IS(Add, y)) return y;
  Node *a = with_term(AS(Add, y)->a, term, other);
  if (a != AS(Add, y)->a) return expr_add(a, AS(Add, y)->b);
  Node *b = with_term(AS(Add, y)->b, term, other);
  return b != AS(Add, y)->b ? expr_add(a, b) : y;
}

/* ---- cases: the smaller and the larger of two ---- */

static bool is_choice(const Node *n) { return IS(Min, n) || IS(Max, n); }

/* A minimum or maximum with none inside. */
static Node *find_choice(Node *n) {
  if (IS(Cast, n)) return find_choice(AS(Cast, n)->value);
  if (!node_is_binary(n->kind)) return NULL;
  Binary *x = (Binary *)(void *)n;
  Node *inner = find_choice(x->a);
  if (!inner) inner = find_choice(x->b);
  return inner ? inner : is_choice(n) ? n : NULL;
}

typedef struct Case {
  Node *low, *high;
} Case;

static Node *choose(Mutator *m, Node *n) {
  Case *c = m->context;
  if (!is_choice(n)) return mutate_children(m, n);
  Binary *x = (Binary *)(void *)n;
  bool same = node_equal(x->a, c->low, false, NULL) && node_equal(x->b, c->high, false, NULL);
  bool turned = node_equal(x->a, c->high, false, NULL) && node_equal(x->b, c->low, false, NULL);
  return !same && !turned ? mutate_children(m, n) : IS(Min, n) ? c->low : c->high;
}

/* ---- sums whose factors have a divisor ---- */

static int64_t common_divisor(const Linear *l) {
  int64_t divisor = 0;
  for (int i = 0; i < l->terms.len; i++)
    for (int64_t c = l->coeffs.at[i]; c;) {
      int64_t rest = divisor % c;
      divisor = c;
      c = rest;
    }
  return divisor < 0 ? -divisor : divisor;
}

static int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* x <= y as a sum of terms that is at most a number, both divided by what divides all factors; NULL
 * if nothing does. */
static Node *divided(Node *x, Node *y) {
  Linear l = {0};
  if (!arith_linear(expr_sub(x, y), &l) || l.constant == INT64_MIN) return NULL;
  for each (int64_t, c, &l.coeffs)
    if (*c == INT64_MIN) return NULL;
  int64_t divisor = common_divisor(&l);
  if (divisor <= 1) return NULL;
  Node *sum = int_imm(INT64, 0, x->span);
  for (int i = 0; i < l.terms.len; i++) {
    Node *factor = int_imm(INT64, l.coeffs.at[i] / divisor, x->span);
    sum = expr_add(sum, expr_mul(expr_cast(INT64, l.terms.at[i], x->span), factor));
  }
  return expr_binary(NK_LE, sum, int_imm(INT64, floor_divide(-l.constant, divisor), x->span),
                     x->span);
}

static bool is_proved(Proof *p, Node *x, Node *y) {
  if (arith_can_prove(p->facts->arith, expr_binary(NK_LE, x, y, x->span))) return true;
  Node *smaller = divided(x, y);
  return smaller && arith_can_prove(p->facts->arith, smaller);
}

static bool within(Proof *p, Node *x, Node *y);

static bool within_in_case(Proof *p, Node *x, Node *y, Case c) {
  Mutator m = {.rewrite = choose, .context = &c};
  vec_push(&p->low, c.low);
  vec_push(&p->high, c.high);
  int mark = arith_enter(p->facts->arith, expr_binary(NK_LE, c.low, c.high, x->span));
  bool holds = within(p, mutate(&m, x), mutate(&m, y));
  arith_leave(p->facts->arith, mark);
  p->low.len--;
  p->high.len--;
  return holds;
}

static bool within_by_cases(Proof *p, Node *x, Node *y) {
  Node *choice = find_choice(x);
  if (!choice) choice = find_choice(y);
  if (!choice) return false;
  Binary *of = (Binary *)(void *)choice;
  return within_in_case(p, x, y, (Case){of->a, of->b}) &&
         within_in_case(p, x, y, (Case){of->b, of->a});
}

/* ---- what y is built on: a plan's sizes are the largest of ends, ends begin where others end ----
 */

typedef struct Search {
  Proof *proof;
  Node *x;
  bool by_proof; /* at what has no parts, not only by how it is written */
  Map seen;
} Search;

typedef struct Evaluated {
  bool known[SIZE_SAMPLES], is_natural;
  int64_t value[SIZE_SAMPLES];
} Evaluated;

static bool find_natural(SizeFacts *facts, Node *n) {
  int64_t value;
  if (expr_is_const_int(n, &value)) return value >= 0;
  return arith_can_prove(facts->arith,
                         expr_binary(NK_GE, n, int_imm(n->dtype, 0, n->span), n->span));
}

/* Of a part of the function, which is asked for again and again. */
static Evaluated *evaluated(SizeFacts *facts, Node *n) {
  Evaluated *e = map_get(&facts->evaluated, n);
  if (e) return e;
  e = NEW(Evaluated, .is_natural = find_natural(facts, n));
  for (int i = 0; i < SIZE_SAMPLES; i++) e->known[i] = number_at(facts, n, i, &e->value[i]);
  map_set(&facts->evaluated, n, e);
  return e;
}

static bool is_larger_in_a_sample(const Evaluated *x, const Evaluated *y) {
  for (int i = 0; i < SIZE_SAMPLES; i++)
    if (x->known[i] && y->known[i] && x->value[i] > y->value[i]) return true;
  return false;
}

/* Is there a way from y down to what is not less than x, by arms of maxima, definitions, and sums
 * less what is not negative? Each term is looked at once, so that it does not matter how many build
 * on it. */
static bool rests_on(Search *s, Node *y) {
  SizeFacts *facts = s->proof->facts;
  if (node_equal(s->x, y, false, NULL)) return true;
  if (map_has(&s->seen, y)) return false;
  map_set(&s->seen, y, y);
  if (is_larger_in_a_sample(evaluated(facts, s->x), evaluated(facts, y))) return false;
  if (IS(Max, y)) return rests_on(s, AS(Max, y)->a) || rests_on(s, AS(Max, y)->b);
  Node *definition = IS(Var, y) ? map_get(&facts->definitions, y) : NULL;
  if (definition) return rests_on(s, definition);
  if (s->by_proof && is_proved(s->proof, s->x, y)) return true;
  if (!IS(Add, y)) return false;
  Node *a = AS(Add, y)->a, *b = AS(Add, y)->b;
  return (evaluated(facts, b)->is_natural && rests_on(s, a)) ||
         (evaluated(facts, a)->is_natural && rests_on(s, b));
}

static bool within(Proof *p, Node *x, Node *y) {
  int64_t a, b;
  if (expr_is_const_int(x, &a) && expr_is_const_int(y, &b)) return a <= b;
  if (++p->steps > PROOF_STEPS || !holds_for_samples(p, x, y)) return false;
  if (is_proved(p, x, y)) return true;
  Node *term = term_to_open(p->facts, y);
  if (IS(Max, term)) {
    if (within(p, x, with_term(y, term, AS(Max, term)->a)) ||
        within(p, x, with_term(y, term, AS(Max, term)->b)))
      return true;
  } else if (term) {
    Node *other = IS(Var, term) ? map_get(&p->facts->definitions, term) : rounded_least(term);
    if (within(p, x, with_term(y, term, other))) return true;
  }
  return within_by_cases(p, x, y);
}

bool size_within(SizeFacts *facts, Node *x, Node *y) {
  Proof p = {.facts = facts};
  Search as_written = {.proof = &p, .x = x}, proved = {.proof = &p, .x = x, .by_proof = true};
  if (rests_on(&as_written, y) || rests_on(&proved, y) || within(&p, x, y)) return true;
  Node *most = memory_most(facts->f, facts->arith, x);
  Proof of_most = {.facts = facts};
  return most != x && within(&of_most, most, y);
}
