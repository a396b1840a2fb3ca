/* digits.c -- indices as numbers whose places are digits of loop variables: i * 16 + j, k // 4, k
 * % 4.
 */
#include "ir/arith/arith.h"

static bool loop_extent(const Map *loops, Node *var, int64_t *extent) {
  Node *range = map_get(loops, var);
  return range && expr_is_const_int(AS(Range, range)->extent, extent);
}

/* The term as a digit of a loop whose extent it divides evenly. */
static bool digit_of(Node *term, const Map *loops, LoopDigit *d) {
  int64_t extent, c;
  *d = (LoopDigit){.var = term, .lower = 1};
  if (IS(FloorMod, term) && expr_is_const_int(AS(FloorMod, term)->b, &c)) {
    d->size = c;
    d->var = term = AS(FloorMod, term)->a;
  }
  if (IS(FloorDiv, term) && expr_is_const_int(AS(FloorDiv, term)->b, &c)) {
    d->lower = c;
    d->var = term = AS(FloorDiv, term)->a;
  }
  if (!IS(Var, term) || !loop_extent(loops, term, &extent) || d->lower < 1) return false;
  if (!d->size && extent % d->lower == 0) d->size = extent / d->lower;
  return d->size > 0 && extent % (d->lower * d->size) == 0;
}

/* Digits of one loop take all their values together if none is a part of another one. */
static bool is_apart(const LoopDigit *a, const LoopDigitVec *used) {
  for each (LoopDigit, b, used) {
    if (b->var != a->var) continue;
    const LoopDigit *low = a->lower < b->lower ? a : b, *high = low == a ? b : a;
    if (high->lower % (low->lower * low->size) != 0) return false;
  }
  return true;
}

static WalkResult find_loop(Walker *w, Node *n) {
  return IS(Var, n) && map_has(w->context, n) ? WALK_STOP : WALK_ON;
}
static bool mentions_loop(Node *n, const Map *loops) {
  Walker w = {.enter = find_loop, .context = (void *)(uintptr_t)loops};
  return !walk(&w, n);
}

bool arith_has_no_gaps(Node *index, const Map *loops, LoopDigitVec *used) {
  Linear form = {0};
  if (!arith_linear(index, &form)) return false;
  struct {
    int64_t coeff, size;
  } places[8];
  int n = 0;
  for (int i = 0; i < form.terms.len; i++) {
    if (!mentions_loop(form.terms.at[i], loops)) continue;
    LoopDigit d;
    if (n == 8 || !digit_of(form.terms.at[i], loops, &d) || !is_apart(&d, used)) return false;
    vec_push(used, d);
    int64_t coeff = form.coeffs.at[i] < 0 ? -form.coeffs.at[i] : form.coeffs.at[i];
    int at = n++;
    for (; at && places[at - 1].coeff > coeff; at--) places[at] = places[at - 1];
    places[at].coeff = coeff;
    places[at].size = d.size;
  }
  int64_t reach = 0;
  for (int i = 0; i < n; i++) {
    if (places[i].coeff > reach + 1) return false;
    reach += places[i].coeff * (places[i].size - 1);
  }
  return true;
}

/* The digits of `var` in a sum of terms. */
static void add_digits(Node *value, Node *var, const Map *loops, LoopDigitVec *digits) {
  Linear form = {0};
  if (!arith_linear(value, &form)) return;
  for each (Node *, term, &form.terms) {
    LoopDigit d;
    if (digit_of(*term, loops, &d) && d.var == var && is_apart(&d, digits)) vec_push(digits, d);
  }
}

bool arith_tells_steps_apart(NodeVec values, Node *var, const Map *loops) {
  int64_t extent, product = 1;
  LoopDigitVec digits = {0};
  bool known = loop_extent(loops, var, &extent);
  for each (Node *, v, &values) {
    if (*v == var) return true;
    Linear form = {0};
    if (arith_linear(*v, &form))
      for each (Node *, term, &form.terms)
        if (*term == var) return true;
    if (known) add_digits(*v, var, loops, &digits);
  }
  for each (LoopDigit, d, &digits) product *= d->size;
  return known && product == extent;
}
