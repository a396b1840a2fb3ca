/* stmt.c -- compiles statements.
 *
 * A statement whose body is the rest of its scope (a let, an allocation) is one step of a sequence,
 * so chains of them deepen neither the compiler's stack nor the interpreter's. */
#include "target/interp/interp.h"
#include "target/interp/team.h"
#include "target/interp/check.h"
#include "target/lowered.h"
#include "ir/support/interrupt.h"
#include <inttypes.h>

/* ---- sequences ---- */

typedef struct SeqStep {
  Step step;
  StepVec steps;
} SeqStep;

static void team_seq(const Step *s, Team *t) { team_steps(&((const SeqStep *)s)->steps, t); }

static Status run_seq(const Step *s, Frame *f) {
  const SeqStep *n = (const SeqStep *)s;
  for (int i = 0; i < n->steps.len; i++) {
    Status status = step_run(n->steps.at[i], f);
    if (status != GO_ON) return status;
  }
  return GO_ON;
}

/* ---- let ---- */

typedef struct ValueStep {
  Step step;
  const Code *value;
  int slot;
} ValueStep;

static Status run_let(const Step *s, Frame *f) {
  const ValueStep *n = (const ValueStep *)s;
  f->slots[n->slot] = code_eval(n->value, f);
  return GO_ON;
}

static Status run_let_lanes(const Step *s, Frame *f) {
  const ValueStep *n = (const ValueStep *)s;
  n->value->lanes(n->value, f, &f->slots[n->slot]);
  return GO_ON;
}

static const Step *compile_let_stmt(Compiler *c, LetStmt *n) {
  const Code *value = compile_as(c, n->value, n->var->dtype);
  bool is_vector = value->t.lanes > 1;
  return &NEW(ValueStep, .step = {is_vector ? run_let_lanes : run_let, c->span, NULL},
              .value = value, .slot = compile_define(c, n->var))
              ->step;
}

/* ---- allocations and declarations ---- */

typedef struct AllocStep {
  Step step;
  CodeVec extents;
  const ConstData *data;
  const char *name;
  int64_t nbytes; /* of an element */
  int slot, memory;
} AllocStep;

static Status run_allocate(const Step *s, Frame *f) {
  const AllocStep *n = (const AllocStep *)s;
  int64_t nbytes = n->nbytes;
  for each (const Code *, e, &n->extents) {
    int64_t extent = code_eval(*e, f).i;
    if (extent < 0) fault(s->span, "'%s' is allocated with an extent of %" PRId64, n->name, extent);
    if (__builtin_mul_overflow(nbytes, extent, &nbytes))
      fault(s->span, "'%s' is too large", n->name);
  }
  f->slots[n->slot].p = frame_memory(f, n->memory, nbytes, n->name, s->span)->lo;
  return GO_ON;
}

static void share_allocation(const void *context, Frame *f) { run_allocate(context, f); }

static void team_allocate(const Step *s, Team *t) {
  const AllocStep *n = (const AllocStep *)s;
  team_share(t, share_allocation, n, n->slot, n->memory);
}

/* Memory that the threads of a warp share. */
static void team_allocate_warp(const Step *s, Team *t) {
  const AllocStep *n = (const AllocStep *)s;
  int size = interp->checker ? (int)interp->checker->warp : 32;
  for (int from = 0, to; from < t->n; from = to) {
    Team warp = *t;
    for (to = from; to < t->n && t->lanes[to]->id / size == t->lanes[from]->id / size;) to++;
    warp.lanes = t->lanes + from;
    warp.n = to - from;
    team_share(&warp, share_allocation, n, n->slot, n->memory);
  }
}

bool is_shared_scope(const char *scope) { return str_begins(scope, "shared"); }

void note_private(Compiler *c, const char *scope, int slot, int memory) {
  if (str_same(scope, "local")) vec_push(&c->privates, ((Private){slot, memory}));
}

static const char *name_of_var(Node *var) {
  const char *name = AS(Var, var)->name;
  return name ? name : "_";
}

static const Step *compile_allocate(Compiler *c, Allocate *n) {
  AllocStep *step =
      NEW(AllocStep, .step = {run_allocate, c->span, NULL}, .name = name_of_var(n->var));
  step->nbytes = (int64_t)scalar_nbytes(n->elem) * n->elem.lanes;
  for each (Node *, e, &n->extents) vec_push(&step->extents, compile_int(c, *e));
  step->slot = compile_define(c, n->var);
  step->memory = c->program->memory_count++;
  const char *scope = AS(Var, n->var)->scope ? AS(Var, n->var)->scope : "global";
  if (is_shared_scope(scope)) step->step.team = team_allocate;
  if (str_same(scope, "warp")) step->step.team = team_allocate_warp;
  note_private(c, scope, step->slot, step->memory);
  return &step->step;
}

static Status run_allocate_const(const Step *s, Frame *f) {
  const AllocStep *n = (const AllocStep *)s;
  void *bytes = (void *)(uintptr_t)n->data->bytes;
  Memory *m = memory_note(bytes, n->data->nbytes, true, n->name);
  if (m && m->lo == (char *)bytes) m->is_constant = true;
  f->slots[n->slot].p = bytes;
  return GO_ON;
}

static const Step *compile_allocate_const(Compiler *c, AllocateConst *n) {
  return &NEW(AllocStep, .step = {run_allocate_const, c->span, NULL}, .data = n->data,
              .name = name_of_var(n->var), .slot = compile_define(c, n->var))
              ->step;
}

typedef struct ViewStep {
  Step step;
  const ViewInfo *view;
} ViewStep;

static Status run_declare(const Step *s, Frame *f) {
  view_bind(((const ViewStep *)s)->view, f);
  return GO_ON;
}

static const Step *compile_declare(Compiler *c, DeclBuffer *n) {
  return &NEW(ViewStep, .step = {run_declare, c->span, NULL},
              .view = compile_view(c, n->buffer, true))
              ->step;
}

static Status run_realize(const Step *s, Frame *f) {
  view_allocate(((const ViewStep *)s)->view, f, s->span);
  return GO_ON;
}

static const Step *compile_realize(Compiler *c, BufferRealize *n) {
  return &NEW(ViewStep, .step = {run_realize, c->span, NULL},
              .view = compile_own_buffer(c, n->buffer))
              ->step;
}

/* ---- loops ---- */

/* The flag stays up: whoever called raises what the script sees. */
static inline void stop_if_interrupted(Span span) {
  if (__builtin_expect(interrupt_pending, 0)) fault(span, "interrupted");
}

static Status run_for(const Step *s, Frame *f) {
  const LoopStep *n = (const LoopStep *)s;
  int64_t min = code_eval(n->min, f).i, extent = code_eval(n->extent, f).i;
  for (int64_t i = 0; i < extent; i++) {
    stop_if_interrupted(s->span);
    f->slots[n->slot].i = dtype_wrap_int(n->t, min + i);
    Status status = step_run(n->body, f);
    if (status == BREAK) break;
    if (status == RETURN) return RETURN;
  }
  return GO_ON;
}

static void for_team(const Step *s, Team *t) { team_for((const LoopStep *)s, t); }
static void while_team(const Step *s, Team *t) { team_while((const LoopStep *)s, t); }

/* Iterations run one after the other, but those of threads that meet. */
static const Step *compile_for(Compiler *c, For *n) {
  DataType t = n->var->dtype;
  const Step *reduction = compile_reduction(c, n);
  if (reduction) return reduction;
  LoopStep step = {.step = {run_for, c->span, for_team}, .t = t};
  step.min = compile_as(c, n->min, t);
  step.extent = compile_int(c, n->extent);
  step.slot = compile_define(c, n->var);
  int dim = n->loop_kind == LOOP_THREAD ? thread_dim(n->thread_tag) : -1;
  if (dim >= 0 && !c->thread_vars[dim]) return compile_launch(c, n->var, dim, step, n->body, false);
  step.body = compile_stmt(c, n->body);
  return &((LoopStep *)gc_copy(&step, sizeof step))->step;
}

static Status run_while(const Step *s, Frame *f) {
  const LoopStep *n = (const LoopStep *)s;
  while (code_eval(n->extent, f).i) {
    stop_if_interrupted(s->span);
    Status status = step_run(n->body, f);
    if (status == BREAK) break;
    if (status == RETURN) return RETURN;
  }
  return GO_ON;
}

static const Step *compile_while(Compiler *c, While *n) {
  return &NEW(LoopStep, .step = {run_while, c->span, while_team},
              .extent = compile_condition(c, n->cond), .body = compile_stmt(c, n->body))
              ->step;
}

/* ---- attributes ---- */

static Node *thread_var(AttrStmt *n) {
  bool is_extent = str_same(n->key, "thread_extent") || str_same(n->key, "virtual_thread");
  return is_extent && IS(IterVar, n->subject) ? AS(IterVar, n->subject)->var : NULL;
}

/* The blocks of a grid along one axis, one after the other. */
typedef struct BlockStep {
  LoopStep loop;
  int dim;
} BlockStep;

static void enter_block(Checker *c, int dim, int64_t at) {
  c->at[dim] = at;
  c->block = (uint32_t)(c->at[0] + c->grid[0] * (c->at[1] + c->grid[1] * c->at[2]));
  c->copies.len = 0;
  c->groups = (Map){0};
  interp->interval++;
}

static Status run_blocks(const Step *s, Frame *f) {
  const BlockStep *n = (const BlockStep *)s;
  Checker *c = interp->checker;
  int64_t extent = code_eval(n->loop.extent, f).i;
  if (!c) return run_for(s, f);
  c->grid[n->dim] = extent;
  for (int64_t i = 0; i < extent; i++) {
    stop_if_interrupted(s->span);
    f->slots[n->loop.slot].i = dtype_wrap_int(n->loop.t, i);
    enter_block(c, n->dim, i);
    interp->thread = 1; /* a block without threads is one */
    step_run(n->loop.body, f);
    interp->thread = 0;
  }
  return GO_ON;
}

/* Launched inside the threads. */
static void team_blocks(const Step *s, Team *t) {
  const BlockStep *n = (const BlockStep *)s;
  Checker *c = interp->checker;
  int64_t extent = lane_eval(t->lanes[0], n->loop.extent);
  if (!c) {
    team_for(&n->loop, t);
    return;
  }
  c->grid[n->dim] = extent;
  for (int64_t i = 0; i < extent; i++) {
    stop_if_interrupted(s->span);
    for (int k = 0; k < t->n; k++)
      t->lanes[k]->f->slots[n->loop.slot].i = dtype_wrap_int(n->loop.t, i);
    enter_block(c, n->dim, i);
    team_step(n->loop.body, t);
    for (int k = 0; k < t->n; k++) t->lanes[k]->status = GO_ON;
  }
}

static int block_dim(const char *tag) {
  static const char *const tags[] = {"blockIdx.x", "blockIdx.y", "blockIdx.z"};
  for (int i = 0; i < 3; i++)
    if (tag && str_same(tag, tags[i])) return i;
  return -1;
}

/* A thread variable takes each value of its extent; inside its own scope it has one. */
static const Step *compile_threads(Compiler *c, AttrStmt *n, Node *var) {
  LoopStep step = {.step = {run_for, c->span, for_team}, .t = var->dtype};
  step.min = code_constant(var->dtype, scalar_int(0));
  step.extent = compile_int(c, n->value);
  step.slot = compile_define(c, var);
  int dim = thread_dim(AS(IterVar, n->subject)->thread_tag);
  map_set(&c->threads, var, n);
  const Step *launch = NULL;
  if (dim >= 0) launch = compile_launch(c, var, dim, step, n->body, true);
  else step.body = compile_stmt(c, n->body);
  map_remove(&c->threads, var);
  if (launch) return launch;
  int block = block_dim(AS(IterVar, n->subject)->thread_tag);
  if (block < 0) return &((LoopStep *)gc_copy(&step, sizeof step))->step;
  step.step.run = run_blocks;
  step.step.team = team_blocks;
  return &NEW(BlockStep, .loop = step, .dim = block)->loop.step;
}

/* Another variable of the block's threads that runs along with the open one. */
static const Step *compile_thread_again(Compiler *c, Node *var, int dim) {
  const Code *value = compile_as(c, c->thread_vars[dim], var->dtype);
  map_set(&c->thread_dims, var, (void *)(intptr_t)(dim + 1));
  return &NEW(ValueStep, .step = {run_let, c->span, NULL}, .value = value,
              .slot = compile_define(c, var))
              ->step;
}

/* ---- the rest ---- */

typedef struct BranchStep {
  Step step;
  const Code *cond;
  const Step *then, *orelse;
} BranchStep;

static Status run_if(const Step *s, Frame *f) {
  const BranchStep *n = (const BranchStep *)s;
  if (code_eval(n->cond, f).i) return step_run(n->then, f);
  return n->orelse ? step_run(n->orelse, f) : GO_ON;
}

static void team_if(const Step *s, Team *t) {
  const BranchStep *n = (const BranchStep *)s;
  team_branch(n->cond, n->then, n->orelse, t);
}

static const Step *compile_if(Compiler *c, IfThenElse *n) {
  BranchStep *step = NEW(BranchStep, .step = {run_if, c->span, team_if});
  step->cond = compile_condition(c, n->cond);
  step->then = compile_stmt(c, n->then);
  if (n->orelse) step->orelse = compile_stmt(c, n->orelse);
  return &step->step;
}

typedef struct AssertStep {
  Step step;
  const Code *cond;
  const char *kind, *message;
  bool is_bound; /* of an index: InstrumentBoundCheckers */
} AssertStep;

static Status run_assert(const Step *s, Frame *f) {
  const AssertStep *n = (const AssertStep *)s;
  if (code_eval(n->cond, f).i) return GO_ON;
  if (!n->is_bound || !interp->checker) error_raisef(n->kind, s->span, "%s", n->message);
  found_fault(E0605, s->span, (Span){0}, NULL, NULL, "%s, by %s", n->message, thread_here());
  return GO_ON;
}

static const Step *compile_assert(Compiler *c, AssertStmt *n) {
  return &NEW(AssertStep, .step = {run_assert, c->span, NULL},
              .cond = compile_condition(c, n->cond), .kind = lowered_assert_kind(n),
              .message = lowered_assert_text(n),
              .is_bound = n->error_kind && str_same(n->error_kind, "IndexError"))
              ->step;
}

static Status run_evaluate(const Step *s, Frame *f) {
  const Code *value = ((const ValueStep *)s)->value;
  LANES(lanes, value->t.lanes);
  code_lanes(value, f, value->t.lanes, lanes);
  return GO_ON;
}

static Status run_return(const Step *s, Frame *f) {
  f->result = code_eval(((const ValueStep *)s)->value, f);
  return RETURN;
}

static Status run_break(const Step *s, Frame *f) {
  (void)s, (void)f;
  return BREAK;
}
static Status run_continue(const Step *s, Frame *f) {
  (void)s, (void)f;
  return CONTINUE;
}

static const Step *compile_return(Compiler *c, Call *n) {
  if (n->args.len != 1) unsupported(c->span, "T.ret of more than one value");
  DataType t = c->program->is_packed ? INT32 : c->program->f->ret_dtype;
  const Code *value = compile_as(c, n->args.at[0], dtype_is_void(t) ? n->args.at[0]->dtype : t);
  return &NEW(ValueStep, .step = {run_return, c->span, NULL}, .value = value)->step;
}

static const Step *compile_evaluate(Compiler *c, Node *value) {
  if (is_intrin_call(value, "ret")) return compile_return(c, AS(Call, value));
  if (is_intrin_call(value, "break_loop")) return NEW(Step, run_break, c->span, NULL);
  if (is_intrin_call(value, "continue_loop")) return NEW(Step, run_continue, c->span, NULL);
  if (is_intrin_call(value, "tvm_storage_sync")) return compile_barrier(c, AS(Call, value));
  if (is_intrin_call(value, "tvm_thread_allreduce")) return compile_allreduce(c, AS(Call, value));
  return &NEW(ValueStep, .step = {run_evaluate, c->span, NULL}, .value = compile_expr(c, value))
              ->step;
}

/* ---- all ---- */

static const Step *compile_whole(Compiler *c, Node *n) {
  switch (n->kind) {
  case NK_For: return compile_for(c, AS(For, n));
  case NK_While: return compile_while(c, AS(While, n));
  case NK_IfThenElse: return compile_if(c, AS(IfThenElse, n));
  case NK_BufferStore: return compile_store(c, AS(BufferStore, n));
  case NK_Evaluate: return compile_evaluate(c, AS(Evaluate, n)->value);
  case NK_BlockRealize: return compile_block(c, AS(BlockRealize, n));
  default: unsupported(c->span, str_format("%s as a statement", node_kind_name(n->kind)));
  }
}

/* Adds one step; returns what is left to do in its scope, or NULL. */
static Node *compile_step(Compiler *c, Node *n, StepVec *out) {
  Node *rest = NULL;
  const Step *step = NULL;
  int shuffles = c->shuffles.len;
  switch (n->kind) {
  case NK_LetStmt: rest = AS(LetStmt, n)->body, step = compile_let_stmt(c, AS(LetStmt, n)); break;
  case NK_AssertStmt:
    rest = AS(AssertStmt, n)->body, step = compile_assert(c, AS(AssertStmt, n));
    break;
  case NK_Allocate:
    rest = AS(Allocate, n)->body, step = compile_allocate(c, AS(Allocate, n));
    break;
  case NK_AllocateConst:
    rest = AS(AllocateConst, n)->body, step = compile_allocate_const(c, AS(AllocateConst, n));
    break;
  case NK_DeclBuffer:
    rest = AS(DeclBuffer, n)->body, step = compile_declare(c, AS(DeclBuffer, n));
    break;
  case NK_BufferRealize:
    rest = AS(BufferRealize, n)->body, step = compile_realize(c, AS(BufferRealize, n));
    break;
  case NK_AttrStmt: {
    AttrStmt *a = AS(AttrStmt, n);
    Node *var = thread_var(a);
    if (str_same(a->key, "reduce_scope") && IS(CommReducer, a->subject)) c->reducer = a->subject;
    if (!var || map_has(&c->threads, var)) return a->body;
    int dim = thread_dim(AS(IterVar, a->subject)->thread_tag);
    if (dim < 0 || !c->thread_vars[dim]) step = compile_threads(c, a, var);
    else rest = a->body, step = compile_thread_again(c, var, dim);
    break;
  }
  default: step = compile_whole(c, n);
  }
  bool exchanges = IS(LetStmt, n) || IS(BufferStore, n) || IS(Evaluate, n);
  if (exchanges && c->shuffles.len > shuffles) step = compile_exchange(c, step, shuffles);
  c->shuffles.len = shuffles;
  vec_push(out, step);
  return rest;
}

static void compile_steps(Compiler *c, Node *n, StepVec *out) {
  while (n) {
    Span outer = c->span;
    if (IS(SeqStmt, n)) {
      NodeVec stmts = AS(SeqStmt, n)->stmts;
      for (int i = 0; i + 1 < stmts.len; i++) compile_steps(c, stmts.at[i], out);
      n = stmts.len ? vec_last(&stmts) : NULL;
      continue;
    }
    c->span = compile_span(c, n);
    interp_check_depth("a statement", c->span);
    n = compile_step(c, n, out);
    c->span = outer;
  }
}

const Step *compile_stmt(Compiler *c, Node *n) {
  StepVec steps = {0};
  int privates = c->privates.len;
  Node *reducer = c->reducer;
  compile_steps(c, n, &steps);
  c->privates.len = privates;
  c->reducer = reducer;
  if (steps.len == 1) return steps.at[0];
  return &NEW(SeqStep, .step = {run_seq, c->span, team_seq}, .steps = steps)->step;
}
