/* lower_copy_barriers.c -- barriers that bulk copies of sm_90 arrive at (mbarrier) get memory.
 *
 * In:  T.create_barriers(n), and calls that name a barrier by its number.
 * Out: an array of shared memory for each kernel that has them; the calls have it and the number
 *      behind their own arguments. A wait is told the phase that it waits for, and is followed by a
 *      change to the next: each thread keeps the phases of all barriers as bits of a register.
 *
 * For NVIDIA's GPUs; the simulated one waits with all threads (LowerMatrixInstructions). */
#include "lower/device/device.h"

enum { MOST_BARRIERS = 32 /* bits of the register */ };

typedef struct Barriers {
  const char *kernel;
  int64_t count; /* in the kernel around; 0: none is known */
  Node *memory, *phases;
} Barriers;

static Node *buffer_of(Node *data, DataType elem, int64_t count, Span span) {
  return MAKE(Buffer, span, VOID_TYPE, .name = AS(Var, data)->name, .elem = elem, .data = data,
              .shape = NODES(int_imm(INT32, count, span)), .align = 16, .offset_factor = 1);
}

static Node *phase_bits(Barriers *b, Span span) {
  return expr_load(b->phases, NODES(int_imm(INT32, 0, span)), span);
}

static Node *set_phases(Barriers *b, Node *value, Span span) {
  return stmt_store(b->phases, NODES(int_imm(INT32, 0, span)), value, span);
}

/* (barrier[, phase]) and the memory behind: the number is given to all as where it lies. */
static Node *with_memory(Barriers *b, Call *n, Node *barrier, Node *phase) {
  Call copy = *n;
  copy.args = (NodeVec){0};
  for each (Node *, x, &n->args) vec_push(&copy.args, *x);
  if (phase) vec_push(&copy.args, phase);
  vec_push(&copy.args, b->memory);
  vec_push(&copy.args, barrier);
  return stmt_evaluate(gc_copy(&copy, sizeof copy), n->node.span);
}

static Node *lower_wait(Barriers *b, Call *n, Node *barrier) {
  Span span = n->node.span;
  DataType word = DTYPE_OF(UINT, 32);
  Node *number = expr_cast(word, barrier, span), *one = int_imm(word, 1, span);
  Node *bits = phase_bits(b, span),
       *shifted = expr_call("shift_right", word, NODES(bits, number), span);
  Node *phase = expr_call("bitwise_and", word, NODES(shifted, one), span);
  Node *bit = expr_call("shift_left", word, NODES(one, number), span);
  Node *next = expr_call("bitwise_xor", word, NODES(bits, bit), span);
  return stmt_seq(NODES(with_memory(b, n, barrier, phase), set_phases(b, next, span)), span);
}

static Node *lower_call(Barriers *b, Call *n) {
  static const struct {
    const char *name;
    int barrier; /* which argument is its number */
  } rows[] = {{"ptx_init_barrier_thread_count", 0},
              {"ptx_arrive_barrier", 0},
              {"ptx_arrive_barrier_expect_tx", 0},
              {"ptx_cp_async_barrier", 0},
              {"ptx_wait_barrier", 0},
              {"ptx_cp_async_bulk", 5}};
  Span span = n->node.span;
  if (is_intrin_call(&n->node, "create_barriers"))
    return set_phases(b, int_imm(DTYPE_OF(UINT, 32), 0, span), span);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (!is_intrin_call(&n->node, rows[i].name)) continue;
    Node *barrier = expr_cast(INT32, n->args.at[rows[i].barrier], span);
    int64_t number = 0;
    if (!b->count)
      error_raisef("LowerError", span,
                   "kernel %s: T.%s names a barrier, but there are none: write "
                   "T.create_barriers(n) before it",
                   b->kernel, rows[i].name);
    if (expr_is_const_int(barrier, &number) && (number < 0 || number >= b->count))
      error_raisef("LowerError", span,
                   "kernel %s: there is no barrier %lld: T.create_barriers makes "
                   "%lld",
                   b->kernel, (long long)number, (long long)b->count);
    return is_intrin_call(&n->node, "ptx_wait_barrier") ? lower_wait(b, n, barrier)
                                                        : with_memory(b, n, barrier, NULL);
  }
  return NULL;
}

static WalkResult find_count(Walker *w, Node *n) {
  Barriers *b = w->context;
  if (!is_intrin_call(n, "create_barriers")) return WALK_ON;
  bool known = expr_is_const_int(AS(Call, n)->args.at[0], &b->count) && b->count > 0 &&
               b->count <= MOST_BARRIERS;
  if (!known)
    error_raisef("LowerError", n->span,
                 "kernel %s: T.create_barriers makes 1 to %d barriers, not %s", b->kernel,
                 MOST_BARRIERS, ir_print(AS(Call, n)->args.at[0], NULL));
  return WALK_STOP;
}

static Node *allocate(Node *buffer, Node *body) {
  Buffer *b = AS(Buffer, buffer);
  body = MAKE(DeclBuffer, b->node.span, VOID_TYPE, .buffer = buffer, .body = body);
  return MAKE(Allocate, b->node.span, VOID_TYPE, .extents = b->shape, .elem = b->elem,
              .var = b->data, .body = body);
}

/* The body of a kernel, with the memory around. */
static Node *lower_kernel(Mutator *m, Node *body) {
  Barriers *b = m->context;
  Walker w = {.enter = find_count, .context = b};
  DataType word = DTYPE_OF(UINT, 32), whole = DTYPE_OF(UINT, 64);
  Span span = body->span;
  b->count = 0;
  walk(&w, body);
  if (!b->count) return mutate(m, body);
  b->memory = pointer_var_new("barriers", whole, "shared", span);
  b->phases = buffer_of(pointer_var_new("phases", word, "local", span), word, 1, span);
  body = allocate(b->phases, mutate(m, body));
  return allocate(buffer_of(b->memory, whole, b->count, span), body);
}

static Node *rewrite(Mutator *m, Node *n) {
  if (is_launch(n) && !is_launch(AS(AttrStmt, n)->body)) {
    AttrStmt copy = *AS(AttrStmt, n);
    copy.body = lower_kernel(m, copy.body);
    return copy.body == AS(AttrStmt, n)->body ? n : gc_copy(&copy, sizeof copy);
  }
  Node *value = IS(Evaluate, n) ? AS(Evaluate, n)->value : NULL;
  Node *made = value && IS(Call, value) ? lower_call(m->context, AS(Call, value)) : NULL;
  return made ? made : mutate_children(m, n);
}

Node *pass_lower_copy_barriers(Node *n, const PassContext *context) {
  Barriers b = {.kernel = func_symbol(n) ? func_symbol(n) : "main"};
  Mutator m = {.rewrite = rewrite, .context = &b};
  if (!target_is(context->target, "cuda")) return n;
  return mutate_children(&m, n);
}
