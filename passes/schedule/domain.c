/* domain.c -- which values of a block's variables make it touch a part of a buffer: what a block
 * that moves under a loop runs over there. */
#include "passes/schedule/schedule_impl.h"

typedef struct Solve {
  const Block *block;
  Map own;                 /* its variables to their domains */
  Node *lo[MAX_VARIABLES]; /* of each variable: the least and the greatest value; NULL: any */
  Node *hi[MAX_VARIABLES];
  Analyzer *facts;
} Solve;

static bool provably(Solve *s, NodeKind op, Node *a, Node *b) {
  return arith_can_prove(s->facts, expr_binary(op, a, b, a->span));
}

static Node *shifted(Node *e, int64_t by) {
  return by ? expr_add(e, int_imm(e->dtype, by, e->span)) : e;
}

/* The variable takes no other values than these, nor others than its domain has. */
static void tighten(Solve *s, int i, Node *lo, Node *hi) {
  Range *own = AS(Range, AS(IterVar, s->block->iter_vars.at[i])->dom);
  Node *last = shifted(expr_add(own->min, own->extent), -1);
  if (provably(s, NK_LT, lo, own->min)) lo = own->min;
  if (provably(s, NK_GT, hi, last)) hi = last;
  if (!s->lo[i] || provably(s, NK_GE, lo, s->lo[i])) s->lo[i] = lo;
  if (!s->hi[i] || provably(s, NK_LE, hi, s->hi[i])) s->hi[i] = hi;
}

static void narrow(Solve *s, Node *e, Node *lo, Node *hi);

/* A variable, or a quotient of what holds some. */
static void narrow_term(Solve *s, Node *e, Node *lo, Node *hi) {
  int64_t k;
  for (int i = 0; i < s->block->iter_vars.len; i++)
    if (AS(IterVar, s->block->iter_vars.at[i])->var == e) tighten(s, i, lo, hi);
  if (IS(Cast, e) && dtype_is_int(AS(Cast, e)->value->dtype)) {
    Node *of = AS(Cast, e)->value;
    narrow(s, of, expr_cast(of->dtype, lo, e->span), expr_cast(of->dtype, hi, e->span));
  }
  if (!IS(FloorDiv, e) || !expr_is_const_int(AS(FloorDiv, e)->b, &k) || k <= 0) return;
  Node *by = AS(FloorDiv, e)->b;
  narrow(s, AS(FloorDiv, e)->a, expr_mul(lo, by), shifted(expr_mul(hi, by), k - 1));
}

static bool moves(const Solve *s, Node *e) {
  for each (Node *, v, &s->block->iter_vars)
    if (node_mentions(e, AS(IterVar, *v)->var)) return true;
  return false;
}

/* e lies in [lo, hi]: so does each term of it, as far as the others let it. */
static void narrow(Solve *s, Node *e, Node *lo, Node *hi) {
  Linear l;
  if (!arith_linear(e, &l)) return;
  for (int i = 0; i < l.terms.len; i++) {
    Node *term = l.terms.at[i], *least, *most;
    int64_t k = l.coeffs.at[i];
    if (!moves(s, term) || k == INT64_MIN) continue;
    Node *scaled = expr_mul(term, int_imm(term->dtype, k, e->span));
    Node *rest = arith_simplify(s->facts, expr_sub(e, scaled));
    if (!arith_bounds_under(s->facts, rest, &s->own, &least, &most)) continue;
    Node *from = expr_sub(lo, most), *to = expr_sub(hi, least);
    if (k < 0) {
      Node *turned = expr_neg(to, e->span);
      to = expr_neg(from, e->span);
      from = turned;
      k = -k;
    }
    Node *by = int_imm(term->dtype, k, e->span);
    narrow_term(s, term, arith_simplify(s->facts, expr_floordiv(shifted(from, k - 1), by)),
                arith_simplify(s->facts, expr_floordiv(to, by)));
  }
}

/* What a variable runs over by what was found. `inside`: no step more than that may be run. */
static Domain found_domain(Solve *s, int i, bool inside) {
  IterVar *v = AS(IterVar, s->block->iter_vars.at[i]);
  Range *own = AS(Range, v->dom);
  if (!s->lo[i]) return (Domain){0};
  Node *lo = expr_cast(v->var->dtype, s->lo[i], v->node.span);
  Node *hi = expr_cast(v->var->dtype, s->hi[i], v->node.span);
  Node *extent = arith_simplify(s->facts, shifted(expr_sub(hi, lo), 1));
  int64_t n;
  if (expr_is_const_int(extent, &n) && n <= 0) return (Domain){0};
  bool is_whole =
      provably(s, NK_GE, extent, own->extent) && (!inside || provably(s, NK_LE, lo, own->min));
  return is_whole ? (Domain){0} : (Domain){arith_simplify(s->facts, lo), extent, false};
}

/* Is the second one in the first? */
static bool holds(Domain a, Domain b, Analyzer *facts) {
  if (!a.min || !b.min) return !a.min;
  Span span = a.min->span;
  return arith_can_prove(facts, expr_binary(NK_LE, a.min, b.min, span)) &&
         arith_can_prove(
             facts, expr_binary(NK_GE, expr_add(a.min, a.extent), expr_add(b.min, b.extent), span));
}

/* What both ask for, or, inside, what both allow; all of it where they can't be compared. */
static Domain joined(Domain a, Domain b, bool inside, Analyzer *facts) {
  if (holds(a, b, facts)) return inside ? b : a;
  if (holds(b, a, facts)) return inside ? a : b;
  return (Domain){0};
}

static void guard(const Block *b, int i, Domain *d, Analyzer *facts) {
  Range *own = AS(Range, AS(IterVar, b->iter_vars.at[i])->dom);
  if (!d->min) return;
  Node *end = expr_add(own->min, own->extent), *last = expr_add(d->min, d->extent);
  bool below = !arith_can_prove(facts, expr_binary(NK_GE, d->min, own->min, end->span));
  bool above = !arith_can_prove(facts, expr_binary(NK_LE, last, end, end->span));
  d->guarded = below || above;
}

void add_domains(const Block *b, Node *region, const Touched *need, bool inside, bool is_first,
                 Domain *domains, Analyzer *facts) {
  Solve s = {.block = b, .facts = facts};
  NodeVec dims = AS(BufferRegion, region)->region;
  for each (Node *, v, &b->iter_vars) map_set(&s.own, AS(IterVar, *v)->var, AS(IterVar, *v)->dom);
  for (int d = 0; d < dims.len; d++) {
    Range *r = AS(Range, dims.at[d]);
    int64_t n;
    if (!need->lo.at[d] || !expr_is_const_int(r->extent, &n) || n < 1) continue;
    Node *lo = need->lo.at[d], *hi = need->hi.at[d];
    narrow(&s, r->min, inside ? lo : shifted(lo, 1 - n), inside ? shifted(hi, 1 - n) : hi);
  }
  for (int i = 0; i < b->iter_vars.len; i++) {
    Domain found = found_domain(&s, i, inside);
    domains[i] = is_first ? found : joined(domains[i], found, inside, facts);
    guard(b, i, &domains[i], facts);
  }
}
