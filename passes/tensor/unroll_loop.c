/* unroll_loop.c -- writes out unrolled loops of constant extent: the body once for each iteration.
 * Where registers gain nothing by that, loops that were to be unrolled become serial ones. */
#include "passes/tensor/tensor.h"

enum { MAX_COPIES = 4096 }; /* of one loop: beyond it the code would only grow */

static WalkResult find_loop(Walker *w, Node *n) {
  (void)w;
  return IS(For, n) || IS(While, n) ? WALK_STOP : WALK_ON;
}

static bool has_loop(Node *n) {
  Walker w = {.enter = find_loop};
  return !walk(&w, n);
}

typedef struct Unroll {
  int64_t auto_max;
  bool is_explicit; /* what is marked as unrolled is written out */
} Unroll;

static bool wants_unrolling(const Unroll *u, For *f, int64_t extent) {
  if (extent > MAX_COPIES) return false;
  return (f->loop_kind == LOOP_UNROLLED && u->is_explicit) ||
         (f->loop_kind == LOOP_SERIAL && extent <= u->auto_max && !has_loop(f->body));
}

static Node *unrolled(For *f, int64_t extent) {
  NodeVec copies = {0};
  for (int64_t i = 0; i < extent; i++) {
    Map map = {0};
    map_set(&map, f->var,
            expr_binary(NK_Add, f->min, int_imm(f->var->dtype, i, f->node.span), f->node.span));
    /* Each copy has its own variables. */
    vec_push(&copies, copy_with_fresh_vars(substitute(f->body, &map)));
  }
  return stmt_seq(copies, f->node.span);
}

static Node *rewrite(Mutator *m, Node *n) {
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  n = mutate_children(m, n);
  if (!IS(For, n)) return n;
  int64_t extent;
  For *f = AS(For, n);
  if (expr_is_const_int(f->extent, &extent) && wants_unrolling(m->context, f, extent))
    return unrolled(f, extent);
  if (f->loop_kind != LOOP_UNROLLED) return n;
  For serial = *f; /* an extent that is not known, or too large */
  serial.loop_kind = LOOP_SERIAL;
  return gc_copy(&serial, sizeof serial);
}

Node *pass_unroll_loop(Node *n, const PassContext *context) {
  Unroll u = {pass_option_int(context, "auto_max_extent"),
              pass_option_int(context, "explicit_unroll") != 0};
  Mutator m = {.rewrite = rewrite, .context = &u};
  return prim_func_with_body(n, mutate(&m, AS(PrimFunc, n)->body));
}
