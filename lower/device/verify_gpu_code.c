/* verify_gpu_code.c -- refuses launches that are beyond what the target can do.
 *
 * In:  flat programs with their launches in place, before they are split. Out: the same. */
#include "lower/device/device.h"

typedef struct Limits {
  const char *kernel;
  int64_t most_threads, most_shared;
  int64_t shared; /* bytes, of the launch that is open */
} Limits;

static _Noreturn void refuse(const Limits *l, Node *n, const char *what) {
  error_raisef("LowerError", n->span, "kernel %s: %s", l->kernel, what);
}

static WalkResult add_shared(Walker *w, Node *n) {
  Limits *l = w->context;
  if (!IS(Allocate, n)) return node_is_expr(n) ? WALK_PRUNE : WALK_ON;
  Allocate *a = AS(Allocate, n);
  const char *scope = AS(Var, a->var)->scope;
  bool is_shared = scope && str_begins(scope, "shared");
  int64_t nbytes = dtype_nbytes(a->elem), extent;
  for each (Node *, e, &a->extents) {
    bool known = expr_is_const_int(*e, &extent);
    if (!known && is_shared)
      refuse(l, n,
             str_format("the size of shared memory '%s' must be a constant, but is %s",
                        AS(Var, a->var)->name, ir_print(*e, NULL)));
    nbytes = known ? nbytes * extent : 0;
  }
  if (is_shared) l->shared += nbytes;
  return WALK_ON;
}

static void check_launch(Limits *l, Node *launch) {
  int64_t threads = 1, extent;
  for (Node *n = launch; is_launch(n); n = AS(AttrStmt, n)->body) {
    int axis = launch_axis(launch_tag(n));
    if (axis < 0) refuse(l, n, str_format("no thread axis '%s' can be launched", launch_tag(n)));
    if (axis < 3) continue;
    if (!expr_is_const_int(AS(AttrStmt, n)->value, &extent))
      refuse(l, n,
             str_format("the threads of a block along %s must be a constant number, but are %s: "
                        "split the loop, and bind the part of constant size",
                        launch_tag(n), ir_print(AS(AttrStmt, n)->value, NULL)));
    threads *= extent;
  }
  if (threads > l->most_threads)
    refuse(l, launch,
           str_format("a block has %lld threads, but the target has at most %lld: split the loops "
                      "that are bound to threadIdx (or, if the device can do more, build with "
                      "-max_threads_per_block=%lld)",
                      (long long)threads, (long long)l->most_threads, (long long)threads));
  l->shared = 0;
  Walker w = {.enter = add_shared, .context = l};
  walk(&w, launch);
  if (l->shared > l->most_shared)
    refuse(l, launch,
           str_format("a block has %lld bytes of shared memory, but the target has at most %lld: "
                      "choose smaller tiles (or, if the device can do more, build with "
                      "-max_shared_memory_per_block=%lld)",
                      (long long)l->shared, (long long)l->most_shared, (long long)l->shared));
}

static WalkResult find_launches(Walker *w, Node *n) {
  if (!is_launch(n)) return node_is_expr(n) ? WALK_PRUNE : WALK_ON;
  check_launch(w->context, n);
  return WALK_PRUNE;
}

static const char *name_of(const PassContext *context, Node *f) {
  IRModule *m = context->module ? AS(IRModule, context->module) : NULL;
  for (int i = 0; m && i < m->functions.len; i++)
    if (m->functions.at[i] == f) return AS(GlobalVar, m->globals.at[i])->name;
  return func_symbol(f) ? func_symbol(f) : "main";
}

Node *pass_verify_gpu_code(Node *n, const PassContext *context) {
  if (!lower_device(context->target).is_device) return n;
  Limits l = {.kernel = name_of(context, n),
              .most_threads = target_option_int(context->target, "max_threads_per_block"),
              .most_shared = target_option_int(context->target, "max_shared_memory_per_block")};
  Walker w = {.enter = find_launches, .context = &l};
  walk(&w, AS(PrimFunc, n)->body);
  return n;
}
