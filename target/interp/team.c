/* team.c -- the threads of a block, one step after the other.
 *
 * A launch makes a frame for each thread, and they run in lockstep: a sequence goes on with its
 * next step when all threads are through with this one, and a branch runs with those that take it.
 * So a barrier is reached by all threads at once, or it is an error. Whether more barriers are
 * needed is seen from who touched what since the last one (race.c); before they are put in, where
 * loops are bound to threads, each step is followed by one in effect. Blocks of a grid run one
 * after the other. */
#include "target/interp/team.h"
#include "target/interp/check.h"
#include "ir/support/interrupt.h"
#include <inttypes.h>
#include <stdlib.h>

/* ---- lanes ---- */

Team team_of(const Team *of, Status status) {
  Team out = *of;
  out.n = 0;
  out.lanes = NEW_ARRAY(Lane *, of->n + 1);
  for (int i = 0; i < of->n; i++)
    if (of->lanes[i]->status == status) out.lanes[out.n++] = of->lanes[i];
  return out;
}

void lane_enter(const Lane *lane) {
  interp->thread = lane->is_checked ? lane->id + 1 : 0;
  interp->warp_interval = lane->warp_interval;
}
void team_leave(void) { interp->thread = 0; }

void team_step(const Step *s, Team *t) {
  if (s->team) return s->team(s, t);
  for (int i = 0; i < t->n; i++) {
    lane_enter(t->lanes[i]);
    t->lanes[i]->status = step_run(s, t->lanes[i]->f);
  }
  team_leave();
}

int64_t lane_eval(const Lane *lane, const Code *c) {
  lane_enter(lane);
  int64_t x = code_eval(c, lane->f).i;
  team_leave();
  return x;
}

/* ---- control ---- */

void team_steps(const StepVec *steps, Team *t) {
  Team active = *t;
  for (int i = 0; i < steps->len && active.n; i++) {
    team_step(steps->at[i], &active);
    bool all = true;
    for (int k = 0; k < active.n; k++) all = all && active.lanes[k]->status == GO_ON;
    if (!all) active = team_of(&active, GO_ON);
  }
}

/* Runs the body once more with those that are told to; false: there are none. */
static bool iterate(const Step *body, Team *t, bool *goes_on) {
  Team active = *t;
  active.n = 0;
  active.lanes = NEW_ARRAY(Lane *, t->n + 1);
  for (int i = 0; i < t->n; i++)
    if (goes_on[i]) active.lanes[active.n++] = t->lanes[i];
  if (!active.n) return false;
  if (__builtin_expect(interrupt_pending, 0)) fault(body->span, "interrupted");
  team_step(body, &active);
  for (int i = 0; i < t->n; i++) {
    Status *status = &t->lanes[i]->status;
    if (!goes_on[i]) continue;
    goes_on[i] = *status == GO_ON || *status == CONTINUE;
    if (*status != RETURN) *status = GO_ON;
  }
  return true;
}

void team_for(const LoopStep *n, Team *t) {
  int64_t min[t->n + 1], extent[t->n + 1];
  bool goes_on[t->n + 1];
  for (int k = 0; k < t->n; k++) {
    min[k] = lane_eval(t->lanes[k], n->min);
    extent[k] = lane_eval(t->lanes[k], n->extent);
    goes_on[k] = true;
  }
  for (int64_t i = 0;; i++) {
    for (int k = 0; k < t->n; k++) {
      goes_on[k] = goes_on[k] && i < extent[k];
      if (goes_on[k]) t->lanes[k]->f->slots[n->slot].i = dtype_wrap_int(n->t, min[k] + i);
    }
    if (!iterate(n->body, t, goes_on)) return;
  }
}

void team_while(const LoopStep *n, Team *t) {
  bool goes_on[t->n + 1];
  for (int k = 0; k < t->n; k++) goes_on[k] = true;
  do {
    for (int k = 0; k < t->n; k++) goes_on[k] = goes_on[k] && lane_eval(t->lanes[k], n->extent);
  } while (iterate(n->body, t, goes_on));
}

void team_branch(const Code *cond, const Step *then, const Step *orelse, Team *t) {
  Team taken = *t, other = *t;
  taken.n = other.n = 0;
  taken.lanes = NEW_ARRAY(Lane *, t->n + 1);
  other.lanes = NEW_ARRAY(Lane *, t->n + 1);
  for (int k = 0; k < t->n; k++) {
    Team *side = lane_eval(t->lanes[k], cond) ? &taken : &other;
    side->lanes[side->n++] = t->lanes[k];
  }
  if (taken.n) team_step(then, &taken);
  if (other.n && orelse) team_step(orelse, &other);
}

/* Memory that all threads share is made by the first. */
void team_share(Team *t, void allocate(const void *context, Frame *f), const void *context,
                int slot, int memory) {
  Frame *first = t->lanes[0]->f;
  lane_enter(t->lanes[0]);
  allocate(context, first);
  team_leave();
  for (int k = 1; k < t->n; k++) {
    t->lanes[k]->f->slots[slot] = first->slots[slot];
    t->lanes[k]->f->memories[memory] = first->memories[memory];
  }
}

/* ---- launches ---- */

typedef struct LaunchStep {
  LoopStep loop;
  int dim;             /* 0: threadIdx.x, ... */
  bool checked;        /* are races errors? */
  PrivateVec privates; /* allocated before it, for each thread */
} LaunchStep;

enum { MOST_THREADS = 1 << 16 };

static void copy_views(const Program *p, const Frame *from, Frame *to) {
  for (int i = 0; i < p->views.len; i++) {
    View *v = &to->views[i];
    int64_t *dims = v->dims, *strides = v->strides;
    size_t size = sizeof(int64_t) * (size_t)p->views.at[i]->ndim;
    *v = from->views[i];
    v->dims = dims;
    v->strides = strides;
    if (!size) continue;
    memcpy(dims, from->views[i].dims, size);
    memcpy(strides, from->views[i].strides, size);
  }
}

/* What a thread has for itself, though it was allocated before threads were many. */
static void copy_private(const Private *a, Frame *f, Span span) {
  const Memory *old = f->memories[a->memory];
  if (!old || f->slots[a->slot].p != old->lo) return;
  Memory *own = memory_new(old->end - old->lo, old->name, span);
  memcpy(own->lo, old->lo, (size_t)(old->end - old->lo));
  memcpy(own->shadow, old->shadow, (size_t)(old->end - old->lo));
  f->memories[a->memory] = own;
  f->slots[a->slot].p = own->lo;
  for (int i = 0; i < f->program->views.len; i++) {
    View *v = &f->views[i];
    if (v->data != old->lo) continue;
    v->base = own->lo + (v->base - v->data);
    v->data = own->lo;
    v->memory = own;
  }
}

static Lane *new_lane(const LaunchStep *n, const Lane *from, int64_t at) {
  Lane *lane = NEW(Lane, .status = GO_ON);
  lane->is_checked = n->checked;
  lane->warp_interval = 0;
  memcpy(lane->at, from->at, sizeof lane->at);
  lane->at[n->dim] = (int)at;
  Frame *f = lane->f = program_frame(from->f->program);
  memcpy(f->slots, from->f->slots, sizeof *f->slots * (size_t)f->program->slot_count);
  memcpy(f->memories, from->f->memories, sizeof *f->memories * (size_t)f->program->memory_count);
  copy_views(f->program, from->f, f);
  for each (Private, a, &n->privates) copy_private(a, f, n->loop.step.span);
  f->slots[n->loop.slot].i = dtype_wrap_int(n->loop.t, at);
  return lane;
}

static int by_id(const void *a, const void *b) {
  return (*(Lane *const *)a)->id - (*(Lane *const *)b)->id;
}

static void team_launch(const Step *s, Team *t) {
  const LaunchStep *n = (const LaunchStep *)s;
  int64_t extent = lane_eval(t->lanes[0], n->loop.extent);
  for (int k = 1; k < t->n; k++)
    if (lane_eval(t->lanes[k], n->loop.extent) != extent)
      fault(s->span, "threads launch different numbers of threads");
  if (extent > MOST_THREADS / t->n)
    fault(s->span, "a launch of %" PRId64 " threads; there may be %d in a block", extent * t->n,
          MOST_THREADS);
  if (extent <= 0) return;
  Mark mark = interp_mark();
  Team inner = {.lanes = NEW_ARRAY(Lane *, t->n * (int)extent)};
  memcpy(inner.extents, t->extents, sizeof inner.extents);
  inner.extents[n->dim] = (int)extent;
  for (int64_t i = 0; i < extent; i++)
    for (int k = 0; k < t->n; k++) inner.lanes[inner.n++] = new_lane(n, t->lanes[k], i);
  for (int k = 0; k < inner.n; k++) {
    Lane *lane = inner.lanes[k];
    lane->id = lane->at[0] + inner.extents[0] * (lane->at[1] + inner.extents[1] * lane->at[2]);
  }
  qsort(inner.lanes, (size_t)inner.n, sizeof *inner.lanes, by_id);
  if (interp->checker) memcpy(interp->checker->threads, inner.extents, sizeof inner.extents);
  interp->interval++;
  team_step(n->loop.body, &inner);
  interp->interval++;
  interp_release(mark);
}

/* The first dimension of a block's threads. */
static Status run_launch(const Step *s, Frame *f) {
  Lane root = {.f = f};
  Lane *lanes[] = {&root};
  Team t = {.lanes = lanes, .n = 1, .extents = {1, 1, 1}};
  team_launch(s, &t);
  return GO_ON;
}

int thread_dim(const char *tag) {
  static const char *const tags[] = {"threadIdx.x", "threadIdx.y", "threadIdx.z"};
  for (int i = 0; i < 3; i++)
    if (tag && str_same(tag, tags[i])) return i;
  return -1;
}

const Step *compile_launch(Compiler *c, Node *var, int dim, LoopStep loop, Node *body,
                           bool checked) {
  PrivateVec privates = {0};
  for each (Private, a, &c->privates) vec_push(&privates, *a);
  c->thread_vars[dim] = var;
  map_set(&c->thread_dims, var, (void *)(intptr_t)(dim + 1));
  int meetings = c->meetings;
  loop.body = compile_stmt(c, body);
  c->thread_vars[dim] = NULL;
  if (!checked && c->meetings == meetings) return &((LoopStep *)gc_copy(&loop, sizeof loop))->step;
  loop.step.run = run_launch;
  loop.step.team = team_launch;
  return &NEW(LaunchStep, .loop = loop, .dim = dim, .privates = privates, .checked = checked)
              ->loop.step;
}
