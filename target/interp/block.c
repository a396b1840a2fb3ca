/* block.c -- blocks: their variables are bound and checked, their buffers made, matched regions set
 * up as views of their sources; the init runs where all reduction variables are at their start. */
#include "target/interp/interp.h"
#include "target/interp/team.h"
#include <inttypes.h>

typedef struct Axis {
  const char *name;
  int slot;
  bool is_reduce;
  const Code *value, *min, *extent;
} Axis;

/* A buffer matched with a region: a view of the source, from the region's start on. */
typedef struct Match {
  const ViewInfo *source, *target;
  CodeVec mins, extents;
  int data_slot, offset_slot; /* variables that matching binds; -1: none */
  IntVec stride_slots;
  Span span;
} Match;

typedef struct BlockStep {
  Step step;
  const char *name;
  const Code *predicate; /* NULL: true */
  VEC(Axis) axes;
  VEC(const ViewInfo *) allocs;
  VEC(Match) matches;
  const Step *init, *body;
} BlockStep;

/* ---- matched regions ---- */

/* The dims that the region has beyond the buffer's are its leading ones, of extent 1. */
static void check_region(const Match *m, Frame *f, int skip) {
  const char *name = m->target->buffer->name;
  for (int i = 0; i < m->mins.len; i++) {
    int64_t extent = code_eval(m->extents.at[i], f).i;
    int64_t want = i < skip ? 1 : code_eval(m->target->dims.at[i - skip], f).i;
    if (extent != want)
      fault(m->span,
            "match_buffer of '%s': extent %" PRId64
            " of dimension %d of the region, expected %" PRId64,
            name, extent, i, want);
  }
}

static void check_match_strides(const Match *m, Frame *f, const View *target) {
  const ViewInfo *info = m->target;
  for (int i = 0; i < info->strides.len; i++) {
    int64_t want = code_eval(info->strides.at[i], f).i;
    if (target->dims[i] > 1 && want != target->strides[i])
      fault(m->span,
            "match_buffer of '%s': stride %" PRId64 " of dimension %d, but the region has %" PRId64,
            info->buffer->name, want, i, target->strides[i]);
  }
}

static void bind_match_vars(const Match *m, Frame *f, const View *source, int64_t offset,
                            const View *target) {
  if (m->data_slot >= 0) f->slots[m->data_slot].p = source->data;
  if (m->offset_slot >= 0) f->slots[m->offset_slot].i = offset;
  for (int i = 0; i < m->stride_slots.len; i++)
    if (m->stride_slots.at[i] >= 0) f->slots[m->stride_slots.at[i]].i = target->strides[i];
  int factor = m->target->buffer->offset_factor;
  if (m->offset_slot >= 0 && factor > 1 && offset % factor)
    fault(m->span, "match_buffer of '%s': offset %" PRId64 " is no multiple of %d",
          m->target->buffer->name, offset, factor);
}

static void run_match(const Match *m, Frame *f) {
  const View *source =
      m->source->is_declared ? &f->views[m->source->index] : view_bind(m->source, f);
  View *target = &f->views[m->target->index];
  int skip = m->mins.len - m->target->ndim;
  int64_t at = 0;
  check_region(m, f, skip);
  for (int i = 0; i < m->mins.len; i++) at += code_eval(m->mins.at[i], f).i * source->strides[i];
  for (int i = 0; i < m->target->ndim; i++) {
    target->dims[i] = code_eval(m->target->dims.at[i], f).i;
    target->strides[i] = source->strides[i + skip];
  }
  target->base = source->base + at * m->source->nbytes;
  target->data = source->data;
  target->memory = source->memory;
  int64_t offset = (target->base - target->data) / m->source->nbytes;
  bind_match_vars(m, f, source, offset, target);
  check_match_strides(m, f, target);
}

static int define_unless_known(Compiler *c, Node *var) {
  if (!IS(Var, var) || map_has(&c->program->slots, var)) return -1;
  return compile_define(c, var);
}

static Match compile_match(Compiler *c, MatchBufferRegion *n) {
  BufferRegion *r = AS(BufferRegion, n->source);
  Buffer *b = AS(Buffer, n->buffer);
  Match m = {.source = compile_view(c, r->buffer, false), .span = c->span};
  for each (Node *, x, &r->region) {
    vec_push(&m.mins, compile_int(c, AS(Range, *x)->min));
    vec_push(&m.extents, compile_int(c, AS(Range, *x)->extent));
  }
  if (m.mins.len != m.source->ndim || b->shape.len > m.mins.len)
    fault(c->span, "match_buffer of '%s': %d dimensions of a region of %d", b->name, b->shape.len,
          m.mins.len);
  m.data_slot = define_unless_known(c, b->data);
  for each (Node *, s, &b->strides) vec_push(&m.stride_slots, define_unless_known(c, *s));
  m.offset_slot = b->elem_offset ? define_unless_known(c, b->elem_offset) : -1;
  m.target = compile_view(c, n->buffer, true);
  if (m.target->nbytes != m.source->nbytes)
    fault(c->span, "match_buffer of '%s': its dtype is %s, the region's %s", b->name,
          dtype_text(b->elem), dtype_text(m.source->buffer->elem));
  return m;
}

/* ---- blocks ---- */

/* Sets the variables. Are all reduction variables at their start? */
static bool bind_axes(const BlockStep *n, Frame *f) {
  bool at_start = true;
  Scalar values[n->axes.len + 1];
  for (int i = 0; i < n->axes.len; i++) values[i] = code_eval(n->axes.at[i].value, f);
  for (int i = 0; i < n->axes.len; i++) {
    const Axis *a = &n->axes.at[i];
    int64_t x = values[i].i, min = code_eval(a->min, f).i, extent = code_eval(a->extent, f).i;
    if (x < min || x - min >= extent)
      fault(n->step.span,
            "block '%s': value %" PRId64 " of '%s' is outside its domain, which is %" PRId64
            " to %" PRId64,
            n->name, x, a->name, min, min + extent - 1);
    if (a->is_reduce && x != min) at_start = false;
    f->slots[a->slot].i = x;
  }
  return at_start;
}

/* Sets up one instance; false: its predicate is. */
static bool enter_block(const BlockStep *n, Frame *f, bool *at_start) {
  interp->blocks++;
  if (n->predicate && !code_eval(n->predicate, f).i) return false;
  *at_start = bind_axes(n, f);
  return true;
}

static void share_view(const void *context, Frame *f) {
  const ViewInfo *info = context;
  view_allocate(info, f, info->buffer->node.span);
}

static void team_allocate(const BlockStep *n, const ViewInfo *info, Team *t) {
  if (is_shared_scope(buffer_scope(&info->buffer->node))) {
    team_share(t, share_view, info, info->data_slot, info->memory);
    for (int k = 1; k < t->n; k++) view_bind(info, t->lanes[k]->f);
    return;
  }
  for (int k = 0; k < t->n; k++) view_allocate(info, t->lanes[k]->f, n->step.span);
}

/* Threads whose predicate holds; those at the start of a reduction run the init first. */
static void team_block(const Step *s, Team *t) {
  const BlockStep *n = (const BlockStep *)s;
  Team in = *t, starting = *t;
  in.lanes = NEW_ARRAY(Lane *, t->n + 1);
  starting.lanes = NEW_ARRAY(Lane *, t->n + 1);
  in.n = starting.n = 0;
  for (int k = 0; k < t->n; k++) {
    bool at_start;
    lane_enter(t->lanes[k]);
    if (!enter_block(n, t->lanes[k]->f, &at_start)) continue;
    in.lanes[in.n++] = t->lanes[k];
    if (at_start) starting.lanes[starting.n++] = t->lanes[k];
  }
  team_leave();
  if (!in.n) return;
  for (int i = 0; i < n->allocs.len; i++) team_allocate(n, n->allocs.at[i], &in);
  for (int i = 0; i < n->matches.len; i++)
    for (int k = 0; k < in.n; k++) run_match(&n->matches.at[i], in.lanes[k]->f);
  if (n->init && starting.n) team_step(n->init, &starting);
  team_step(n->body, &in);
}

static Status run_block(const Step *s, Frame *f) {
  const BlockStep *n = (const BlockStep *)s;
  bool at_start;
  if (!enter_block(n, f, &at_start)) return GO_ON;
  for (int i = 0; i < n->allocs.len; i++) view_allocate(n->allocs.at[i], f, s->span);
  for (int i = 0; i < n->matches.len; i++) run_match(&n->matches.at[i], f);
  if (n->init && at_start) {
    Status status = step_run(n->init, f);
    if (status != GO_ON) return status;
  }
  return step_run(n->body, f);
}

static void compile_axes(Compiler *c, BlockStep *step, BlockRealize *r, Block *b) {
  if (r->iter_values.len != b->iter_vars.len)
    fault(c->span, "block '%s' has %d variables, but %d values are bound to them", b->name,
          b->iter_vars.len, r->iter_values.len);
  for (int i = 0; i < b->iter_vars.len; i++) {
    IterVar *v = AS(IterVar, b->iter_vars.at[i]);
    Axis a = {.name = AS(Var, v->var)->name, .is_reduce = v->iter_kind == ITER_REDUCE};
    a.value = compile_as(c, r->iter_values.at[i], v->var->dtype);
    a.min = compile_int(c, AS(Range, v->dom)->min);
    a.extent = compile_int(c, AS(Range, v->dom)->extent);
    vec_push(&step->axes, a);
  }
  for (int i = 0; i < b->iter_vars.len; i++)
    step->axes.at[i].slot = compile_define(c, AS(IterVar, b->iter_vars.at[i])->var);
}

const Step *compile_block(Compiler *c, BlockRealize *r) {
  Block *b = AS(Block, r->block);
  BlockStep *step =
      NEW(BlockStep, .step = {run_block, c->span, team_block}, .name = b->name ? b->name : "");
  if (!expr_is_one(r->predicate)) step->predicate = compile_condition(c, r->predicate);
  compile_axes(c, step, r, b);
  for each (Node *, a, &b->alloc_buffers) vec_push(&step->allocs, compile_own_buffer(c, *a));
  for each (Node *, m, &b->match_buffers)
    vec_push(&step->matches, compile_match(c, AS(MatchBufferRegion, *m)));
  if (b->init) step->init = compile_stmt(c, b->init);
  step->body = compile_stmt(c, b->body);
  return &step->step;
}
