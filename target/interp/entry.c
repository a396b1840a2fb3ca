/* entry.c -- where the runtime enters the interpreter: no error passes, and nothing that the call
 * made stays behind. */
#include "target/interp/check.h"
#include <pthread.h>

/* ---- running ---- */

typedef struct Job {
  const Export *e;
  const TvmsValue *args;
  const int *types;
  int n;
  TvmsValue *ret;
  int *ret_type;
  int status;
} Job;

/* A lowered function: the arguments of a TvmsPackedFunc are its own. */
static void run_packed(Job *j, Program *p) {
  size_t n = (size_t)j->n;
  memory_note((void *)(uintptr_t)j->args, n * sizeof *j->args, true, "args");
  memory_note((void *)(uintptr_t)j->types, n * sizeof *j->types, true, "types");
  memory_note(j->ret, sizeof *j->ret, true, "ret");
  memory_note(j->ret_type, sizeof *j->ret_type, true, "ret_type");
  Scalar args[] = {{0},
                   {.p = (void *)(uintptr_t)j->args},
                   {.p = (void *)(uintptr_t)j->types},
                   {.i = j->n},
                   {.p = j->ret},
                   {.p = j->ret_type}};
  j->status = (int)program_call_raw(p, args, 6, p->f->node.span).i;
}

static void run_program(Job *j, Program *p) {
  Scalar v = program_call(p, j->args, j->types, j->n, (Span){0});
  DataType t = p->f->ret_dtype;
  if (dtype_is_void(t)) return;
  if (dtype_is_float(t)) {
    j->ret->f = scalar_to_double(t, v);
    *j->ret_type = TVMS_FLOAT;
    return;
  }
  j->ret->i = v.i;
  *j->ret_type = dtype_is_bool(t) ? TVMS_BOOL : TVMS_INT;
}

static void run_graph(Job *j, const Closure *c) {
  GraphValue *args = NEW_ARRAY(GraphValue, j->n + 1);
  for (int i = 0; i < j->n; i++) args[i] = gvalue_import(j->types[i], j->args[i], false, (Span){0});
  GraphValue v = gframe_call_function(c, args, j->n, (Span){0});
  gvalue_give(j->e->module, &v, j->ret, j->ret_type, c->f->node.span);
}

static void run_job(void *context) {
  Job *j = context;
  const Export *e = j->e;
  if (!e->func) return run_graph(j, e->closure);
  if (IS(Function, e->func)) return run_graph(j, module_graph(e->module, e->name));
  Program *p = module_program(e->module, e->name, (Span){0});
  if (p->is_packed) run_packed(j, p);
  else run_program(j, p);
}

/* ---- errors ---- */

static int set_error(const Error *e) {
  bool internal = str_same(e->kind, ERROR_INTERNAL);
  Location at = source_locate(e->span.lo);
  const char *text = internal ? str_format("internal error: %s", e->text) : e->text;
  if (e->span.hi && at.source)
    text = str_format("%s:%d:%d: %s", at.source->name, at.line, at.column, text);
  return tvms_raise((void *)(uintptr_t)(internal ? "RuntimeError" : e->kind),
                    (void *)(uintptr_t)text);
}

/* ---- threads ---- */

static pthread_t loader;
static bool is_loaded;

void interp_set_thread(void) {
  loader = pthread_self();
  is_loaded = true;
}

/* Threads of others are made known to the collector while they are here. */
static bool is_foreign(void) { return is_loaded && !pthread_equal(loader, pthread_self()); }

static int run_protected(Job *j) {
  Mark mark = interp_mark();
  Error *e = protect(run_job, j);
  interp_release(mark);
  return e ? set_error(e) : j->status;
}

static const DiagVec *faults; /* of the last call that was checked */

const DiagVec *sanitizer_faults(void) {
  const DiagVec *out = faults;
  faults = NULL;
  return out;
}

/* What was found is the call's error, before one that ended it. */
static int give_faults(Checker *c, int status) {
  if (c->counts) traffic_end();
  faults = check_result(c);
  if (!faults) return status;
  Diag *first = faults->at[0];
  return set_error(&(Error){.kind = "RuntimeError", .span = first->span, .text = first->text});
}

static int run_outermost(Job *j) {
  Interp state = {.epoch = 1};
  Checker checker = {.threads = {1, 1, 1}, .grid = {1, 1, 1}};
  const Module *m = j->e->module;
  bool foreign = is_foreign();
  if (foreign) gc_thread_begin();
  interp = &state;
  if (m->checks) {
    state.checker = &checker;
    checker.warp = target_option_int(m->target, "thread_warp_size");
    checker.counts = target_option_int(m->target, "report") != 0;
  }
  int status = run_protected(j);
  if (m->checks) status = give_faults(&checker, status);
  interp = NULL;
  if (foreign) gc_thread_end();
  return status;
}

int interp_entry(void *self, const TvmsValue *args, const int *types, int n, TvmsValue *ret,
                 int *ret_type) {
  Job j = {self, args, types, n, ret, ret_type, 0};
  return interp ? run_protected(&j) : run_outermost(&j);
}
