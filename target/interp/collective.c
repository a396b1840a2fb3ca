/* collective.c -- what the threads of a block do together: barriers, reductions, exchanges of
 * values within a warp. */
#include "target/interp/check.h"
#include "target/interp/team.h"
#include <inttypes.h>

/* ---- barriers ---- */

typedef struct BarrierStep {
  Step step;
  const char *scope;
} BarrierStep;

/* The first of the block's threads that is not in the team. */
static int first_missing(const Team *t) {
  int id = 0;
  while (id < t->n && t->lanes[id]->id == id) id++;
  return id;
}

static void team_barrier(const Step *s, Team *t) {
  int64_t all = (int64_t)t->extents[0] * t->extents[1] * t->extents[2];
  const Checker *c = interp->checker;
  if (str_same(((const BarrierStep *)s)->scope, "warp")) {
    for (int k = 0; k < t->n; k++) t->lanes[k]->warp_interval++;
    return;
  }
  if (t->n != all)
    found_fault(E0603, s->span, (Span){0}, NULL,
                "move it to where all threads come, or make the condition the same for all",
                "divergent barrier: %d of the block's %" PRId64 " threads reach it, %s does not",
                t->n, all, thread_text(c ? c->block : 0, first_missing(t)));
  interp->interval++;
}

/* A program without threads has nothing to wait for. */
static Status run_barrier(const Step *s, Frame *f) {
  (void)f;
  if (interp->thread) fault(s->span, "a barrier in a function that threads call");
  return GO_ON;
}

const Step *compile_barrier(Compiler *c, Call *n) {
  c->meetings++;
  const char *scope =
      n->args.len && IS(StringImm, n->args.at[0]) ? AS(StringImm, n->args.at[0])->value : "shared";
  return &NEW(BarrierStep, .step = {run_barrier, c->span, team_barrier}, .scope = scope)->step;
}

/* ---- reductions across threads ---- */

typedef struct Result {
  const Code *address; /* where each thread wants it */
  DataType t;
} Result;

typedef struct AllreduceStep {
  Step step;
  CodeVec sources, identities, combined;
  IntVec lhs, rhs; /* slots of the reducer's variables */
  const Code *cond;
  VEC(Result) results;
  bool reduces[3]; /* along threadIdx.x, ... */
} AllreduceStep;

static bool same_group(const AllreduceStep *n, const Lane *a, const Lane *b) {
  for (int d = 0; d < 3; d++)
    if (!n->reduces[d] && a->at[d] != b->at[d]) return false;
  return true;
}

/* Takes one thread's values in; the reducer's variables are those of `into`. */
static void combine(const AllreduceStep *n, const Lane *into, const Lane *from, Scalar *sum) {
  Scalar next[n->sources.len + 1];
  for (int i = 0; i < n->sources.len; i++) {
    into->f->slots[n->lhs.at[i]] = sum[i];
    into->f->slots[n->rhs.at[i]] = code_eval(n->sources.at[i], from->f);
  }
  for (int i = 0; i < n->sources.len; i++) next[i] = code_eval(n->combined.at[i], into->f);
  memcpy(sum, next, sizeof *sum * (size_t)n->sources.len);
}

static void give_result(const AllreduceStep *n, const Lane *lane, const Scalar *sum) {
  for (int i = 0; i < n->results.len; i++) {
    char *at = code_eval(n->results.at[i].address, lane->f).p;
    scalar_store(n->results.at[i].t)(at, sum[i]);
    memory_wrote(at, scalar_nbytes(n->results.at[i].t));
  }
}

static void team_allreduce(const Step *s, Team *t) {
  const AllreduceStep *n = (const AllreduceStep *)s;
  Scalar sums[t->n * n->sources.len + 1];
  for (int k = 0; k < t->n; k++) {
    Scalar *sum = &sums[k * n->sources.len];
    for (int i = 0; i < n->sources.len; i++)
      sum[i] = code_eval(n->identities.at[i], t->lanes[k]->f);
    for (int j = 0; j < t->n; j++)
      if (same_group(n, t->lanes[k], t->lanes[j]) && code_eval(n->cond, t->lanes[j]->f).i)
        combine(n, t->lanes[k], t->lanes[j], sum);
  }
  for (int k = 0; k < t->n; k++) give_result(n, t->lanes[k], &sums[k * n->sources.len]);
  interp->interval++;
}

static Status run_alone(const Step *s, Frame *f) {
  (void)f;
  fault(s->span, "a reduction across threads, where no threads were launched");
}

static Result compile_result(Compiler *c, Node *n, DataType t) {
  if (!IS(BufferLoad, n)) return (Result){compile_expr(c, n), t};
  return (Result){compile_address(c, AS(BufferLoad, n)),
                  AS(Buffer, AS(BufferLoad, n)->buffer)->elem};
}

/* T.tvm_thread_allreduce(n, source, ..., cond, result, ..., thread, ...) in the scope of a reducer.
 */
const Step *compile_allreduce(Compiler *c, Call *n) {
  AllreduceStep *step = NEW(AllreduceStep, .step = {run_alone, c->span, team_allreduce});
  int64_t size = 0;
  c->meetings++;
  if (!c->reducer) fault(c->span, "T.tvm_thread_allreduce stands in no T.attr of a reducer");
  CommReducer *r = AS(CommReducer, c->reducer);
  bool counted = n->args.len && expr_is_const_int(n->args.at[0], &size);
  if (!counted || size != r->lhs.len || n->args.len < 2 * size + 2)
    fault(c->span, "T.tvm_thread_allreduce of %d values by a reducer of %d", (int)size, r->lhs.len);
  for (int i = 0; i < size; i++) {
    DataType t = r->lhs.at[i]->dtype;
    vec_push(&step->lhs, compile_define(c, r->lhs.at[i]));
    vec_push(&step->rhs, compile_define(c, r->rhs.at[i]));
    vec_push(&step->identities, compile_as(c, r->identity.at[i], t));
    vec_push(&step->sources, compile_as(c, n->args.at[1 + i], t));
    vec_push(&step->results, compile_result(c, n->args.at[2 + size + i], t));
  }
  for (int i = 0; i < size; i++)
    vec_push(&step->combined, compile_as(c, r->results.at[i], r->lhs.at[i]->dtype));
  step->cond = compile_condition(c, n->args.at[1 + size]);
  for (int i = 2 + 2 * (int)size; i < n->args.len; i++) {
    int dim = (int)(intptr_t)map_get(&c->thread_dims, n->args.at[i]);
    if (dim) step->reduces[dim - 1] = true;
  }
  return &step->step;
}

/* ---- exchanges within a warp ---- */

typedef enum { FROM_LANE, FROM_LOWER, FROM_HIGHER, FROM_XOR, ACTIVE_MASK } Exchange;

/* The value is exchanged before the statement runs; `ready` tells that it is in `result`. */
struct ShuffleCode {
  Code code;
  Exchange kind;
  const Code *mask, *value, *which, *width, *warp;
  int own, result, ready; /* slots */
};

static Scalar eval_shuffle(const Code *code, Frame *f) {
  const ShuffleCode *n = (const ShuffleCode *)code;
  if (f->slots[n->ready].i) return f->slots[n->result];
  if (interp->thread)
    fault(code->span, "threads exchange values in stores, lets and calls that stand by themselves, "
                      "not in conditions and extents");
  return n->value ? code_eval(n->value, f) : scalar_int(1);
}

static int64_t source_lane(const ShuffleCode *n, int64_t at, int64_t which, int64_t width) {
  int64_t in = at % width, base = at - in;
  switch (n->kind) {
  case FROM_LOWER: return in >= which ? at - which : at;
  case FROM_HIGHER: return in + which < width ? at + which : at;
  case FROM_XOR: return (in ^ which) < width ? base + (in ^ which) : at;
  default: return base + (which % width + width) % width;
  }
}

static const Lane *find_lane(const Team *t, int64_t id) {
  for (int k = 0; k < t->n; k++)
    if (t->lanes[k]->id == id) return t->lanes[k];
  return NULL;
}

/* Those that the mask names must be there, if they are in the block. */
static void check_mask(const ShuffleCode *n, const Team *t, const Lane *lane, int64_t warp) {
  if (!interp->checker || !n->mask) return;
  uint32_t mask = (uint32_t)code_eval(n->mask, lane->f).i;
  int first = lane->id - lane->id % (int)warp;
  int64_t all = (int64_t)t->extents[0] * t->extents[1] * t->extents[2];
  if (!(mask >> (lane->id - first) & 1))
    found_fault(E0606, n->code.span, (Span){0}, NULL, NULL,
                "%s takes part in an exchange, but the mask 0x%x does not name it",
                thread_text(interp->checker->block, lane->id), mask);
  for (int i = 0; i < warp && i < 32 && first + i < all; i++)
    if (mask >> i & 1 && !find_lane(t, first + i)) {
      found_fault(E0606, n->code.span, (Span){0}, NULL,
                  "let all threads that the mask names come to the exchange, or name others",
                  "%s, which the mask 0x%x of an exchange names, does not come to it",
                  thread_text(interp->checker->block, first + i), mask);
      return;
    }
}

static Scalar exchanged(const ShuffleCode *n, const Team *t, const Lane *lane) {
  int64_t warp = n->warp ? code_eval(n->warp, lane->f).i : 32;
  int64_t width = n->width ? code_eval(n->width, lane->f).i : warp;
  if (warp > 0 && n->kind != ACTIVE_MASK) check_mask(n, t, lane, warp);
  if (warp <= 0 || width <= 0 || width > warp || (width & (width - 1)))
    fault(n->code.span, "a width of %" PRId64 " in a warp of %" PRId64, width, warp);
  int64_t first = lane->id - lane->id % warp;
  if (n->kind == ACTIVE_MASK) {
    uint32_t mask = 0;
    for (int k = 0; k < t->n; k++) {
      int64_t at = t->lanes[k]->id - first;
      if (at >= 0 && at < warp) mask |= (uint32_t)1 << at;
    }
    return scalar_int(mask);
  }
  int64_t from = first + source_lane(n, lane->id - first, code_eval(n->which, lane->f).i, width);
  if (from >= (int64_t)t->extents[0] * t->extents[1] * t->extents[2])
    return lane->f->slots[n->own]; /* beyond the block's last thread */
  const Lane *source = find_lane(t, from);
  if (source) return source->f->slots[n->own];
  found_fault(E0606, n->code.span, (Span){0}, NULL, NULL,
              "%s, whose value is asked for, is not here: it does not come to the exchange",
              thread_text(interp->checker ? interp->checker->block : 0, (int)from));
  return lane->f->slots[n->own];
}

typedef struct ExchangeStep {
  Step step;
  const Step *inner;
  VEC(const ShuffleCode *) shuffles; /* inner ones first */
} ExchangeStep;

static void team_exchange(const Step *s, Team *t) {
  const ExchangeStep *n = (const ExchangeStep *)s;
  for (int i = 0; i < n->shuffles.len; i++) {
    const ShuffleCode *x = n->shuffles.at[i];
    for (int k = 0; k < t->n && x->value; k++) {
      Frame *f = t->lanes[k]->f;
      lane_enter(t->lanes[k]);
      f->slots[x->own] = code_eval(x->value, f);
    }
    for (int k = 0; k < t->n; k++) t->lanes[k]->f->slots[x->result] = exchanged(x, t, t->lanes[k]);
    for (int k = 0; k < t->n; k++) t->lanes[k]->f->slots[x->ready].i = 1;
  }
  team_leave();
  team_step(n->inner, t);
  for (int i = 0; i < n->shuffles.len; i++)
    for (int k = 0; k < t->n; k++) t->lanes[k]->f->slots[n->shuffles.at[i]->ready].i = 0;
}

static Status run_exchange(const Step *s, Frame *f) {
  return step_run(((const ExchangeStep *)s)->inner, f);
}

const Step *compile_exchange(Compiler *c, const Step *inner, int from) {
  ExchangeStep *step = NEW(ExchangeStep, .step = {run_exchange, inner->span, team_exchange});
  step->inner = inner;
  for (int i = from; i < c->shuffles.len; i++) vec_push(&step->shuffles, c->shuffles.at[i]);
  c->shuffles.len = from;
  return &step->step;
}

static int new_slot(Compiler *c) { return c->program->slot_count++; }

static Exchange exchange_named(const char *name) {
  static const char *const names[] = {"tvm_warp_shuffle", "tvm_warp_shuffle_up",
                                      "tvm_warp_shuffle_down", "tvm_warp_shuffle_xor"};
  for (int i = 0; i < 4; i++)
    if (str_same(names[i], name)) return (Exchange)i;
  return ACTIVE_MASK;
}

/* T.tvm_warp_shuffle(mask, value, which, width, warp_size) and its like. */
const Code *compile_warp_call(Compiler *c, Call *n) {
  ShuffleCode *code = NEW(ShuffleCode, .code = {eval_shuffle, NULL, n->node.dtype, c->span});
  code->kind = exchange_named(intrin_of(n->op)->name);
  code->own = new_slot(c);
  code->result = new_slot(c);
  code->ready = new_slot(c);
  if (code->kind != ACTIVE_MASK) {
    if (n->node.dtype.lanes != 1) unsupported(c->span, "an exchange of vectors");
    bool all = is_intrin_call(n->args.at[0], "tvm_warp_activemask");
    if (!all) code->mask = compile_int(c, n->args.at[0]);
    code->value = compile_as(c, n->args.at[1], n->node.dtype);
    code->which = compile_int(c, n->args.at[2]);
    code->width = compile_int(c, n->args.at[3]);
    code->warp = compile_int(c, n->args.at[4]);
  }
  vec_push(&c->shuffles, code);
  c->meetings++;
  return &code->code;
}
