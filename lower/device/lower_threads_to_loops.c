/* lower_threads_to_loops.c -- functions for a device become functions for the CPU: a parallel loop
 * over the blocks of the grid, in it loops over the threads of a block.
 *
 * In:  functions with attribute tvms.device (after SplitHostDevice).
 * Out: kernels without launches. All threads run up to a barrier, one after the other, and then
 * from there on: statements between barriers are in a loop over the threads each, loops and
 * branches that hold barriers stand around such loops, and what a thread keeps over a barrier (its
 * local memory, the values of lets) lies in arrays with a place for each thread. This is how CPUs
 * run OpenCL: Stratton et al., MCUDA (2008).
 * A branch that only some threads take may hold exchanges within a warp: an array tells which.
 * See: lower_exchange.c; tests/lower/lower_threads_to_loops.tvms. */
#include "lower/device/threads.h"
#include "passes/tensor/tensor.h"

/* ---- threads ---- */

static Node *number_of(const Threads *t, Node *const vars[3], Span span) {
  Node *number = int_imm(INT32, 0, span);
  int64_t before = 1;
  for (int d = 0; d < 3; d++) {
    if (!vars[d]) continue;
    Node *var = expr_cast(INT32, vars[d], span);
    number = expr_add(number, expr_mul(var, int_imm(INT32, before, span)));
    before *= t->extents[d];
  }
  return number;
}

Node *thread_number(const Threads *t, Span span) { return number_of(t, t->vars, span); }

Node *thread_array(Threads *t, const char *name, DataType elem, Span span) {
  Node *array = buffer_new(name, elem, NODES(int_imm(INT32, t->count, span)), "global", span);
  vec_push(&t->memory, array);
  return array;
}

Node *thread_place(const Threads *t, Node *array, Span span) {
  return expr_load(array, NODES(thread_number(t, span)), span);
}

Node *each_thread(Threads *t, Node *stmt) {
  Map fresh = {0};
  Node *loops[3] = {NULL};
  Span span = stmt->span;
  if (t->active)
    stmt =
        MAKE(IfThenElse, span, VOID_TYPE, .cond = thread_place(t, t->active, span), .then = stmt);
  for (int d = 0; d < 3; d++) {
    if (!t->vars[d]) continue;
    DataType type = t->vars[d]->dtype;
    Node *zero = int_imm(type, 0, span), *extent = int_imm(type, t->extents[d], span);
    Node *var = t->extents[d] == 1 ? zero : var_new(AS(Var, t->vars[d])->name, type, span);
    map_set(&fresh, t->vars[d], var);
    map_set(&fresh, t->owners[d], var);
    if (t->extents[d] != 1)
      loops[d] = MAKE(For, span, VOID_TYPE, .min = zero, .extent = extent, .var = var,
                      .loop_kind = LOOP_SERIAL);
  }
  stmt = substitute(stmt, &fresh);
  for (int d = 0; d < 3; d++) {
    if (!loops[d]) continue;
    AS(For, loops[d])->body = stmt;
    stmt = loops[d];
  }
  return stmt;
}

/* What all threads have the same, as the first one has it. */
static Node *of_first(const Threads *t, Node *n) {
  Map zeros = {0};
  for (int d = 0; d < 3; d++)
    if (t->vars[d]) {
      map_set(&zeros, t->vars[d], int_imm(t->vars[d]->dtype, 0, n->span));
      map_set(&zeros, t->owners[d], int_imm(t->vars[d]->dtype, 0, n->span));
    }
  return substitute(n, &zeros);
}

/* ---- where threads meet: all of a block, or those of a warp ---- */

static WalkResult find_barrier(Walker *w, Node *n) {
  (void)w;
  return waits_for_block(n) ? WALK_STOP : WALK_ON;
}

/* By itself: there the loops over threads end. */
static bool is_barrier(Node *n) {
  return IS(Evaluate, n) && is_intrin_call(AS(Evaluate, n)->value, "tvm_storage_sync");
}

static bool has_barrier(Node *n) {
  Walker w = {.enter = find_barrier};
  return n && !walk(&w, n);
}

static bool meets(Node *n) { return has_barrier(n) || has_exchange(n) || stmt_jumps_out(n); }

/* Not all threads come there: exchanges may be in a branch, nothing may be in a loop. */
static void check_divergence(Threads *t, Node *n, Node *cond, Node *body) {
  bool is_loop = !IS(IfThenElse, n);
  if (!may_differ(&t->agreement, cond)) return;
  if (has_barrier(body) || (!is_loop && !stmt_jumps_out(body))) return;
  error_raisef("LowerError", n->span,
               "kernel %s: threads of a block leave a loop at different times (%s), but %s in it: "
               "let all threads run it as often, and put what they do under a condition",
               t->kernel, ir_print(cond, NULL),
               has_exchange(body) ? "exchange values" : "wait for each other");
}

/* ---- what a thread keeps ---- */

/* Memory that each thread, or each warp, has for itself: a part of an array. */
typedef struct Private {
  Threads *threads;
  Node *data, *whole; /* pointers, before and after */
  int64_t nbytes;     /* of a part */
  bool of_warp;
} Private;

static Node *first_of_part(Private *p, DataType elem, Span span) {
  Node *part = number_of(p->threads, p->threads->owners, span);
  int64_t warp = target_option_int(p->threads->target, "thread_warp_size");
  if (p->of_warp) part = expr_floordiv(part, int_imm(INT32, warp, span));
  return expr_mul(part, int_imm(INT32, p->nbytes / dtype_nbytes(elem), span));
}

static Node *moved_index(Private *p, Node *index, DataType elem) {
  Node *first = first_of_part(p, elem, index->span);
  if (!IS(Ramp, index)) return expr_add(expr_cast(index->dtype, first, index->span), index);
  Ramp ramp = *AS(Ramp, index);
  ramp.base = expr_add(expr_cast(ramp.base->dtype, first, index->span), ramp.base);
  return gc_copy(&ramp, sizeof ramp);
}

static Node *whole_buffer(Private *p, Node *n) {
  Buffer b = *AS(Buffer, n);
  int64_t parts = p->threads->count;
  b.data = p->whole;
  b.shape = NODES(int_imm(INT32, parts * p->nbytes / dtype_nbytes(b.elem), n->span));
  return gc_copy(&b, sizeof b);
}

/* The pointer by itself, as an argument. */
static Node *address_of_part(Private *p, Span span) {
  Node *bytes = MAKE(Buffer, span, VOID_TYPE, .name = AS(Var, p->whole)->name, .elem = UINT8,
                     .data = p->whole, .align = 1, .offset_factor = 1,
                     .shape = NODES(int_imm(INT32, p->threads->count * p->nbytes, span)));
  Node *first = expr_load(bytes, NODES(first_of_part(p, UINT8, span)), span);
  return expr_call("address_of", HANDLE, NODES(first), span);
}

static bool is_of(Private *p, Node *buffer) { return AS(Buffer, buffer)->data == p->data; }

static Node *take_part(Mutator *m, Node *n) {
  Private *p = m->context;
  if (IS(Buffer, n)) return is_of(p, n) ? whole_buffer(p, n) : n;
  if (IS(BufferLoad, n) && is_of(p, AS(BufferLoad, n)->buffer)) {
    BufferLoad load = *AS(BufferLoad, mutate_children(m, n));
    load.indices = NODES(moved_index(p, load.indices.at[0], AS(Buffer, load.buffer)->elem));
    return gc_copy(&load, sizeof load);
  }
  if (IS(BufferStore, n) && is_of(p, AS(BufferStore, n)->buffer)) {
    BufferStore store = *AS(BufferStore, mutate_children(m, n));
    store.indices = NODES(moved_index(p, store.indices.at[0], AS(Buffer, store.buffer)->elem));
    return gc_copy(&store, sizeof store);
  }
  if (n == p->data) return address_of_part(p, n->span);
  return mutate_children(m, n);
}

/* A size that elements of all sizes fit into. */
static int64_t rounded(int64_t nbytes) {
  int64_t unit = 1;
  while (unit < 64 && unit * 2 <= nbytes) unit *= 2;
  return (nbytes + unit - 1) / unit * unit;
}

static Node *transform(Threads *t, Node *n);

static Node *transform_allocate(Threads *t, Allocate *a) {
  const char *scope = AS(Var, a->var)->scope;
  bool of_warp = scope && str_same(scope, "warp");
  Allocate copy = *a;
  if (!scope || !(of_warp || str_same(scope, "local"))) {
    copy.body = transform(t, a->body);
    return gc_copy(&copy, sizeof copy);
  }
  int64_t count = 1, extent;
  for each (Node *, e, &a->extents) {
    if (!expr_is_const_int(*e, &extent))
      error_raisef("LowerError", a->node.span,
                   "kernel %s: a thread can't allocate '%s' of %s elements: its size must be a "
                   "constant",
                   t->kernel, AS(Var, a->var)->name, ir_print(*e, NULL));
    count *= extent;
  }
  Private p = {t, a->var, NULL, rounded(dtype_nbytes(a->elem) * (count ? count : 1)), of_warp};
  Span span = a->node.span;
  p.whole = pointer_var_new(AS(Var, a->var)->name, AS(Var, a->var)->elem, "local", span);
  Mutator m = {.rewrite = take_part, .context = &p};
  if (map_has(&t->agreement.agreed, a->var)) map_set(&t->agreement.agreed, p.whole, a);
  copy.var = p.whole;
  copy.extents = NODES(int_imm(INT32, t->count * p.nbytes / dtype_nbytes(a->elem), span));
  copy.body = transform(t, mutate(&m, a->body));
  return gc_copy(&copy, sizeof copy);
}

enum { SMALL = 12 }; /* nodes of a value that is computed again rather than kept */

static WalkResult count_nodes(Walker *w, Node *n) {
  (void)n;
  return ++*(int *)w->context > SMALL ? WALK_STOP : WALK_ON;
}

static bool is_small(Node *n) {
  int count = 0;
  Walker w = {.enter = count_nodes, .context = &count};
  return expr_effect(n) == EFFECT_PURE && walk(&w, n);
}

static Node *transform_let(Threads *t, LetStmt *n) {
  NodeVec stmts = {0};
  LetStmt let = *n;
  Map kept = {0};
  Span span = n->node.span;
  let.value = lower_exchanges(t, n->value, &stmts);
  if (!may_differ(&t->agreement, n->value) && !t->active && !stmts.len) {
    let.value = of_first(t, let.value);
    let.body = transform(t, n->body);
    return gc_copy(&let, sizeof let);
  }
  map_set(&t->agreement.differs, n->var, n);
  if (is_small(let.value)) {
    map_set(&kept, n->var, expr_cast(n->var->dtype, let.value, span));
  } else {
    Node *array = thread_array(t, AS(Var, n->var)->name, n->var->dtype, span);
    vec_push(&stmts,
             each_thread(t, stmt_store(array, NODES(thread_number(t, span)), let.value, span)));
    map_set(&kept, n->var, thread_place(t, array, span));
  }
  vec_push(&stmts, transform(t, substitute(n->body, &kept)));
  return stmt_seq(stmts, span);
}

/* ---- control ---- */

static Node *transform_seq(Threads *t, SeqStmt *n) {
  NodeVec out = {0}, run = {0};
  for (int i = 0; i <= n->stmts.len; i++) {
    Node *s = i < n->stmts.len ? n->stmts.at[i] : NULL;
    if (s && !meets(s)) {
      vec_push(&run, s);
      continue;
    }
    if (run.len) vec_push(&out, each_thread(t, stmt_seq(run, n->node.span)));
    run = (NodeVec){0};
    if (s && !is_barrier(s)) vec_push(&out, transform(t, s));
  }
  return stmt_seq(out, n->node.span);
}

static Node *transform_for(Threads *t, For *n) {
  For loop = *n;
  check_divergence(t, &n->node, n->min, n->body);
  check_divergence(t, &n->node, n->extent, n->body);
  loop.min = of_first(t, n->min);
  loop.extent = of_first(t, n->extent);
  loop.body = transform(t, n->body);
  return gc_copy(&loop, sizeof loop);
}

static Node *transform_while(Threads *t, While *n) {
  While loop = *n;
  check_divergence(t, &n->node, n->cond, n->body);
  loop.cond = of_first(t, n->cond);
  loop.body = transform(t, n->body);
  return gc_copy(&loop, sizeof loop);
}

/* The threads that are active and for which the condition is so. */
static Node *flags(Threads *t, Node *cond, NodeVec *before) {
  Span span = cond->span;
  Node *array = thread_array(t, "active", BOOL, span), *outer = t->active;
  Node *at = thread_number(t, span);
  t->active = NULL; /* all flags are set */
  if (outer) {
    Node *no = int_imm(BOOL, 0, span);
    cond = expr_call("if_then_else", BOOL, NODES(thread_place(t, outer, span), cond, no), span);
  }
  vec_push(before, each_thread(t, stmt_store(array, NODES(at), cond, span)));
  t->active = outer;
  return array;
}

/* With these threads alone. */
static Node *transform_some(Threads *t, Node *active, Node *body) {
  Node *outer = t->active;
  t->active = active;
  Node *out = transform(t, body);
  t->active = outer;
  return out;
}

/* Who goes which way is settled before anybody goes. */
static Node *transform_divergent(Threads *t, IfThenElse *n) {
  NodeVec out = {0};
  Node *taken = flags(t, n->cond, &out), *other = NULL;
  Span span = n->node.span;
  if (n->orelse) other = flags(t, expr_not(thread_place(t, taken, span), span), &out);
  vec_push(&out, transform_some(t, taken, n->then));
  if (n->orelse) vec_push(&out, transform_some(t, other, n->orelse));
  return stmt_seq(out, span);
}

static Node *transform_if(Threads *t, IfThenElse *n) {
  Node *both = n->orelse ? stmt_seq(NODES(n->then, n->orelse), n->node.span) : n->then;
  check_divergence(t, &n->node, n->cond, both);
  if (has_exchange(n->cond))
    error_raisef("LowerError", n->cond->span,
                 "kernel %s: threads exchange values in stores, lets and calls that stand by "
                 "themselves, not in conditions: put the value into a variable first",
                 t->kernel);
  if (may_differ(&t->agreement, n->cond) && !has_barrier(both)) return transform_divergent(t, n);
  IfThenElse branch = *n;
  branch.cond = of_first(t, n->cond);
  branch.then = transform(t, n->then);
  if (n->orelse) branch.orelse = transform(t, n->orelse);
  return gc_copy(&branch, sizeof branch);
}

static Node *transform_assert(Threads *t, AssertStmt *n) {
  AssertStmt alone = *n;
  alone.body = stmt_evaluate(int_imm(INT32, 0, n->node.span), n->node.span);
  return stmt_seq(NODES(each_thread(t, gc_copy(&alone, sizeof alone)), transform(t, n->body)),
                  n->node.span);
}

/* A store, or a call by itself. */
static Node *transform_leaf(Threads *t, Node *n) {
  NodeVec out = {0};
  if (!has_exchange(n)) return n; /* a jump */
  Node *rest = lower_exchanges(t, n, &out);
  vec_push(&out, each_thread(t, rest));
  return stmt_seq(out, n->span);
}

static Node *transform(Threads *t, Node *n) {
  if (!meets(n)) return each_thread(t, n);
  switch (n->kind) {
  case NK_SeqStmt: return transform_seq(t, AS(SeqStmt, n));
  case NK_LetStmt: return transform_let(t, AS(LetStmt, n));
  case NK_Allocate: return transform_allocate(t, AS(Allocate, n));
  case NK_For: return transform_for(t, AS(For, n));
  case NK_While: return transform_while(t, AS(While, n));
  case NK_IfThenElse: return transform_if(t, AS(IfThenElse, n));
  case NK_AssertStmt: return transform_assert(t, AS(AssertStmt, n));
  case NK_AttrStmt: return transform(t, AS(AttrStmt, n)->body);
  case NK_DeclBuffer: {
    DeclBuffer decl = *AS(DeclBuffer, n);
    decl.body = transform(t, decl.body);
    return gc_copy(&decl, sizeof decl);
  }
  default: break;
  }
  if (is_barrier(n)) return stmt_seq((NodeVec){0}, n->span);
  return transform_leaf(t, n);
}

/* ---- the function ---- */

/* The launches at the head; blocks[i]: variable and extent of blockIdx. */
static Node *take_launches(Threads *t, Node *n, AttrStmt *blocks[3]) {
  for (; is_launch(n); n = AS(AttrStmt, n)->body) {
    AttrStmt *a = AS(AttrStmt, n);
    int axis = launch_axis(launch_tag(n));
    if (axis < 3) {
      blocks[axis] = a;
      continue;
    }
    Node *var = AS(IterVar, a->subject)->var;
    t->vars[axis - 3] = var;
    t->owners[axis - 3] = var_new(AS(Var, var)->name, var->dtype, n->span);
    map_set(&t->agreement.differs, var, a);
    if (!expr_is_const_int(a->value, &t->extents[axis - 3]))
      error_raisef("LowerError", n->span, "kernel %s: the threads along %s are no constant number",
                   t->kernel, launch_tag(n));
    t->count *= t->extents[axis - 3];
  }
  return n;
}

static Node *with_memory(Threads *t, Node *body) {
  for (int i = t->memory.len - 1; i >= 0; i--) {
    Buffer *b = AS(Buffer, t->memory.at[i]);
    body = MAKE(DeclBuffer, b->node.span, VOID_TYPE, .buffer = &b->node, .body = body);
    body = MAKE(Allocate, b->node.span, VOID_TYPE, .extents = b->shape, .elem = b->elem,
                .var = b->data, .body = body);
  }
  return body;
}

/* for block in T.parallel(x * y * z): with the variables of blockIdx. */
static Node *each_block(AttrStmt *blocks[3], Node *body, Span span) {
  Node *var = var_new("block", INT64, span), *count = int_imm(INT64, 1, span), *rest = var;
  Node *values[3] = {NULL};
  int last = blocks[2] ? 2 : blocks[1] ? 1 : 0;
  for (int i = 0; i < 3; i++) {
    if (!blocks[i]) continue;
    Node *extent = expr_cast(INT64, blocks[i]->value, span);
    values[i] = i == last ? rest : expr_floormod(rest, extent);
    rest = expr_floordiv(rest, extent);
    count = expr_mul(count, extent);
  }
  for (int i = 0; i < 3; i++) {
    if (!blocks[i]) continue;
    Node *block = AS(IterVar, blocks[i]->subject)->var;
    body = MAKE(LetStmt, span, VOID_TYPE, .var = block,
                .value = expr_cast(block->dtype, values[i], span), .body = body);
  }
  return MAKE(For, span, VOID_TYPE, .min = int_imm(INT64, 0, span), .extent = count, .var = var,
              .loop_kind = LOOP_PARALLEL, .body = body);
}

static const char *name_of(const PassContext *context, Node *f) {
  IRModule *m = AS(IRModule, context->module);
  for (int i = 0; i < m->functions.len; i++)
    if (m->functions.at[i] == f) return AS(GlobalVar, m->globals.at[i])->name;
  return "kernel";
}

Node *pass_lower_threads_to_loops(Node *n, const PassContext *context) {
  if (!is_device_function(n)) return n;
  Threads t = {
      .kernel = name_of(context, n), .target = context->target, .extents = {1, 1, 1}, .count = 1};
  AttrStmt *blocks[3] = {NULL};
  PrimFunc f = *AS(PrimFunc, n);
  agree_in(&t.agreement, f.body);
  Node *body = take_launches(&t, f.body, blocks);
  body = with_memory(&t, transform(&t, body));
  f.body = each_block(blocks, body, n->span);
  f.attrs = dict_with(f.attrs, "tvms.device", NULL);
  return gc_copy(&f, sizeof f);
}
