/* work.c -- see work.h.
 *
 * The unit is an operation on a scalar or a short vector: a quarter of a nanosecond where it
 * computes in registers, one where it streams from memory. */
#include "target/work.h"
#include "ir/arith/arith.h"

#define GRAIN            (1 << 16) /* of a part: about 10 microseconds, what waking a thread costs */
#define SHORT_VECTOR     8
#define UNKNOWN_EXTENT   8
#define COST_OF_DIVISION 8
#define COST_OF_CALL     16

typedef struct Work {
  Map inside; /* Var that the loop binds to its Range, or to anything if its values aren't known */
} Work;

static Node *number(int64_t n) { return int_imm(INT64, n, (Span){0}); }

/* At most GRAIN, so that a product of two fits; more changes nothing. */
static Node *clamped(Node *n) { return expr_binary(NK_Min, n, number(GRAIN), n->span); }

static Node *times(Node *a, Node *b) { return expr_mul(clamped(a), clamped(b)); }

/* ---- extents ---- */

static WalkResult find_inside(Walker *w, Node *n) {
  return IS(Var, n) && map_has(w->context, n) ? WALK_STOP : WALK_ON;
}

static bool is_known_before(const Work *w, Node *n) {
  Walker finder = {.enter = find_inside, .context = (void *)(uintptr_t)&w->inside};
  return expr_effect(n) == EFFECT_PURE && walk(&finder, n);
}

/* The largest that an extent can be, as it is known before the loop. */
static Node *largest(const Work *w, Node *extent) {
  Node *least;
  for (int i = 0; i < 4 && !is_known_before(w, extent); i++)
    if (!arith_bounds_over(extent, &w->inside, &least, &extent)) return number(UNKNOWN_EXTENT);
  if (!is_known_before(w, extent)) return number(UNKNOWN_EXTENT);
  return expr_binary(NK_Max, expr_cast(INT64, extent, extent->span), number(0), extent->span);
}

/* ---- expressions ---- */

static int64_t vectors_of(Node *n) {
  return n->dtype.lanes > SHORT_VECTOR ? n->dtype.lanes / SHORT_VECTOR : 1;
}

static int64_t cost_of_node(Node *n) {
  int64_t vectors = vectors_of(n);
  if (IS(Call, n)) {
    const Intrin *intrin = intrin_of(AS(Call, n)->op);
    bool known = intrin && intrin->effect != EFFECT_STATE;
    return known ? COST_OF_CALL * vectors : GRAIN;
  }
  bool divides = IS(Div, n) || IS(FloorDiv, n) || IS(FloorMod, n) || IS(Mod, n);
  if (divides) return COST_OF_DIVISION * vectors;
  return node_is_binary(n->kind) || IS(BufferLoad, n) || IS(Select, n) ? vectors : 0;
}

static WalkResult add_cost(Walker *w, Node *n) {
  int64_t *sum = w->context;
  if (*sum >= GRAIN) return WALK_STOP;
  *sum += cost_of_node(n);
  return IS(Var, n) || IS(BufferLoad, n) ? WALK_PRUNE : WALK_ON; /* indices move by steps */
}

static Node *work_of_expr(Node *n) {
  int64_t sum = 0;
  Walker w = {.enter = add_cost, .context = &sum};
  if (n) walk(&w, n);
  return number(sum);
}

/* ---- statements ---- */

static Node *work_of(Work *w, Node *n);

static Node *work_of_loop(Work *w, For *f) {
  Node *extent = largest(w, f->extent);
  map_set(&w->inside, f->var,
          MAKE(Range, f->node.span, VOID_TYPE, .min = f->min, .extent = f->extent));
  return times(extent, expr_add(work_of(w, f->body), number(1)));
}

static Node *work_of_all(Work *w, const NodeVec *stmts) {
  Node *sum = number(0);
  for each (Node *, s, stmts) sum = expr_add(sum, work_of(w, *s));
  return sum;
}

static Node *work_of_branches(Work *w, IfThenElse *n) {
  Node *then = work_of(w, n->then);
  Node *orelse = n->orelse ? work_of(w, n->orelse) : number(0);
  return expr_add(work_of_expr(n->cond), expr_binary(NK_Max, then, orelse, n->node.span));
}

static Node *work_of(Work *w, Node *n) {
  switch (n->kind) {
  case NK_SeqStmt: return work_of_all(w, &AS(SeqStmt, n)->stmts);
  case NK_For: return work_of_loop(w, AS(For, n));
  case NK_While: return times(number(UNKNOWN_EXTENT), work_of(w, AS(While, n)->body));
  case NK_IfThenElse: return work_of_branches(w, AS(IfThenElse, n));
  case NK_BufferStore: {
    BufferStore *s = AS(BufferStore, n);
    return expr_add(work_of_expr(s->value), number(vectors_of(s->value)));
  }
  case NK_Evaluate: return work_of_expr(AS(Evaluate, n)->value);
  case NK_LetStmt:
    map_set(&w->inside, AS(LetStmt, n)->var, n);
    return expr_add(work_of_expr(AS(LetStmt, n)->value), work_of(w, AS(LetStmt, n)->body));
  default: {
    Node **rest = stmt_rest(n);
    return rest && *rest ? work_of(w, *rest) : number(1);
  }
  }
}

/* ---- loops ---- */

Node *work_grain(For *loop) {
  Work w = {0};
  Range *steps =
      AS(Range, MAKE(Range, loop->node.span, VOID_TYPE, .min = loop->min, .extent = loop->extent));
  map_set(&w.inside, loop->var, steps);
  Node *work = expr_add(work_of(&w, loop->body), number(1));
  work = expr_binary(NK_Max, clamped(work), number(1), loop->node.span);
  return arith_simplify(arith_new(), expr_floordiv(number(GRAIN), work));
}

bool work_is_small(For *loop) {
  int64_t extent, grain;
  return expr_is_const_int(loop->extent, &extent) && expr_is_const_int(work_grain(loop), &grain) &&
         extent / 2 < grain;
}
