/* verify_gpu_code.c -- refuses launches that are beyond what the target can do, and barriers that
 * not all threads of a block come to.
 *
 * In:  flat programs with their launches in place, before they are split. Out: the same.
 * What differs by thread is for agreement.c to say. */
#include "lower/device/device.h"

typedef struct Limits {
  const char *kernel;
  const Target *target;
  const TargetGpu *gpu; /* whose other limits hold; or NULL */
  int64_t most_threads, most_shared;
  Agreement agreement;
  Node *divergent; /* the branch or loop that not all threads come to, or NULL */
} Limits;

static _Noreturn void refuse(const Limits *l, Node *n, const char *what) {
  error_raisef("LowerError", n->span, "kernel %s: %s", l->kernel, what);
}

static void check_scope(Limits *l, Node *n, const char *scope) {
  static const char *const scopes[] = {"", "global", "shared", "shared.dyn", "local"};
  bool has_warps =
      target_is(l->target, "sim") && target_option_int(l->target, "thread_warp_size") > 1;
  for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
    if (!scope || str_same(scope, scopes[i])) return;
  if (has_warps && (str_same(scope, "warp") || str_begins(scope, "wmma."))) return;
  refuse(l, n,
         str_format("'%s' lies in memory of scope '%s', which the target %s lacks: it has global, "
                    "shared%s and local memory",
                    AS(Var, AS(Allocate, n)->var)->name, scope, l->target->kind,
                    has_warps ? ", warp, wmma" : ""));
}

static WalkResult check_allocation(Walker *w, Node *n) {
  Limits *l = w->context;
  if (!IS(Allocate, n)) return node_is_expr(n) ? WALK_PRUNE : WALK_ON;
  Allocate *a = AS(Allocate, n);
  const char *scope = AS(Var, a->var)->scope;
  check_scope(l, n, scope);
  bool is_shared = scope && str_begins(scope, "shared");
  int64_t extent;
  for each (Node *, e, &a->extents)
    if (is_shared && !expr_is_const_int(*e, &extent))
      refuse(l, n,
             str_format("the size of shared memory '%s' must be a constant, but is %s",
                        AS(Var, a->var)->name, ir_print(*e, NULL)));
  return WALK_ON;
}

/* ---- barriers ---- */

/* Why not all threads come to what is in the branch or loop. */
static const char *why_apart(const Limits *l) {
  Node *n = l->divergent, *jump = map_get(&l->agreement.ragged, n);
  if (jump)
    return str_format("loop that some threads of a block leave (line %d): move it out, or let all "
                      "leave it",
                      source_locate(jump->span.lo).line);
  Node *cond = IS(IfThenElse, n) ? AS(IfThenElse, n)->cond
               : IS(For, n)      ? AS(For, n)->extent
                                 : AS(While, n)->cond;
  return str_format("%s that not all threads of a block come to (%s): move it out, or make the "
                    "condition the same for all threads",
                    IS(IfThenElse, n) ? "branch" : "loop", ir_print(cond, NULL));
}

static WalkResult check_barrier(Walker *w, Node *n) {
  Limits *l = w->context;
  if (waits_for_block(n) && l->divergent)
    refuse(l, n, str_format("a barrier stands in a %s", why_apart(l)));
  return WALK_ON;
}

static void check_body(Limits *l, Node *head, Node *a, Node *b) {
  bool diverges = threads_part(&l->agreement, head);
  Node *outer = l->divergent;
  Walker w = {.enter = check_barrier, .context = l};
  if (diverges && !outer) l->divergent = head;
  if (diverges || outer) {
    walk(&w, a);
    if (b) walk(&w, b);
  }
  l->divergent = outer;
}

static WalkResult find_divergence(Walker *w, Node *n) {
  Limits *l = w->context;
  if (node_is_expr(n)) return WALK_PRUNE;
  if (IS(For, n)) check_body(l, n, AS(For, n)->body, NULL);
  if (IS(While, n)) check_body(l, n, AS(While, n)->body, NULL);
  if (IS(IfThenElse, n)) check_body(l, n, AS(IfThenElse, n)->then, AS(IfThenElse, n)->orelse);
  return WALK_ON;
}

/* ---- launches ---- */

/* One axis by itself. */
static void check_axis(Limits *l, Node *n, int axis, int64_t extent) {
  const char *tag = launch_tag(n);
  if (!l->gpu) return;
  if (axis < 3 && extent > l->gpu->grid[axis])
    refuse(l, n,
           str_format("there are %lld blocks along %s, but the target has at most %lld: fuse the "
                      "loops, and bind them to blockIdx.x",
                      (long long)extent, tag, (long long)l->gpu->grid[axis]));
  if (axis >= 3 && extent > l->gpu->block[axis - 3] && extent <= l->most_threads)
    refuse(l, n,
           str_format("a block has %lld threads along %s, but the target has at most %lld: bind "
                      "the loop to threadIdx.x, or split it",
                      (long long)extent, tag, (long long)l->gpu->block[axis - 3]));
}

/* An instruction that the threads of a warp do together. */
static WalkResult find_matrix_instruction(Walker *w, Node *n) {
  static const char *const names[] = {
      "ptx_mma",      "ptx_ldmatrix",  "mma_store",      "tvm_load_matrix_sync",
      "tvm_mma_sync", "ptx_wmma_load", "ptx_wmma_store", "tvm_store_matrix_sync",
      "ptx_wmma_mma", "ptx_wgmma"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (is_intrin_call(n, names[i])) return *(Node **)w->context = n, WALK_STOP;
  return WALK_ON;
}

static WalkResult find_call(Walker *w, Node *n) {
  return is_intrin_call(n, w->context) ? WALK_STOP : WALK_ON;
}

static bool has_call(Node *body, const char *name) {
  Walker w = {.enter = find_call, .context = (void *)(uintptr_t)name};
  return !walk(&w, body);
}

/* Pipelines have their waits. */
static void check_waits(Limits *l, Node *launch) {
  if (has_call(launch, "ptx_wgmma") && !has_call(launch, "ptx_wgmma_wait_group"))
    refuse(l, launch,
           "no one waits for products by T.ptx_wgmma: make their loop a software pipeline, or "
           "write T.ptx_wgmma_fence(), T.ptx_wgmma_commit_group() and T.ptx_wgmma_wait_group(0)");
}

static void check_warps(Limits *l, Node *launch, int64_t threads) {
  Node *call = NULL;
  Walker w = {.enter = find_matrix_instruction, .context = &call};
  int64_t warp = target_option_int(l->target, "thread_warp_size");
  if (warp < 2 || threads % warp == 0 || walk(&w, launch)) return;
  refuse(l, call,
         str_format("the %lld threads of a warp do T.%s together, but a block has %lld threads: "
                    "bind a loop of %lld to threadIdx.x",
                    (long long)warp, intrin_of(AS(Call, call)->op)->name, (long long)threads,
                    (long long)warp));
}

static void check_threads(Limits *l, Node *launch) {
  int64_t threads = 1, extent;
  for (Node *n = launch; is_launch(n); n = AS(AttrStmt, n)->body) {
    int axis = launch_axis(launch_tag(n));
    if (axis < 0) refuse(l, n, str_format("no thread axis '%s' can be launched", launch_tag(n)));
    bool known = expr_is_const_int(AS(AttrStmt, n)->value, &extent);
    if (known) check_axis(l, n, axis, extent);
    if (axis < 3) continue;
    if (!known)
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
  check_warps(l, launch, threads);
  check_waits(l, launch);
}

static void check_shared(Limits *l, Node *launch) {
  int64_t nbytes = shared_bytes(launch);
  if (nbytes > l->most_shared)
    refuse(l, launch,
           str_format("a block has %lld bytes of shared memory, but the target has at most %lld: "
                      "choose smaller tiles, or fewer stages of a pipeline (or, if the device can "
                      "do more, build with -max_shared_memory_per_block=%lld)",
                      (long long)nbytes, (long long)l->most_shared, (long long)nbytes));
}

static void check_launch(Limits *l, Node *launch) {
  check_threads(l, launch);
  Walker w = {.enter = check_allocation, .context = l},
         barriers = {.enter = find_divergence, .context = l};
  walk(&w, launch);
  l->agreement = (Agreement){0};
  agree_in(&l->agreement, launch);
  walk(&barriers, launch);
  check_shared(l, launch);
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
  if (!target_is_gpu(context->target)) return n;
  Limits l = {.kernel = name_of(context, n),
              .target = context->target,
              .most_threads = target_option_int(context->target, "max_threads_per_block"),
              .gpu = target_gpu(context->target),
              .most_shared = target_option_int(context->target, "max_shared_memory_per_block")};
  Walker w = {.enter = find_launches, .context = &l};
  walk(&w, AS(PrimFunc, n)->body);
  return n;
}
