/* purity.c -- does a tensor program change anything that its caller sees?
 *
 * Stores to memory that the program allocates itself are seen by nobody else; where a jump leads
 * to is no effect. */
#include "ir/ir.h"

/* Memory that a statement allocates, for what stands inside it. */
static void note_memory(Map *own, Node *n) {
  if (IS(Allocate, n)) map_set(own, AS(Allocate, n)->var, n);
  if (IS(AllocateConst, n)) map_set(own, AS(AllocateConst, n)->var, n);
  if (IS(Block, n))
    for each (Node *, b, &AS(Block, n)->alloc_buffers) map_set(own, AS(Buffer, *b)->data, *b);
}

/* Jumps, and what only tells something. */
static bool stays_inside(const Node *call) {
  static const char *const names[] = {"ret", "break_loop", "continue_loop", "thread_return",
                                      "assume"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (is_intrin_call(call, names[i])) return true;
  return false;
}

static WalkResult stop_at_effect(Walker *w, Node *n) {
  Map *own = w->context;
  note_memory(own, n);
  if (IS(BufferStore, n))
    return map_has(own, AS(Buffer, AS(BufferStore, n)->buffer)->data) ? WALK_ON : WALK_STOP;
  if (!IS(Call, n) || stays_inside(n)) return WALK_ON;
  const Intrin *in = intrin_of(AS(Call, n)->op);
  return in && in->effect < EFFECT_STATE ? WALK_ON : WALK_STOP;
}

bool prim_func_is_pure(const PrimFunc *f) {
  Map own = {0};
  Walker w = {.enter = stop_at_effect, .context = &own};
  return walk(&w, f->body);
}
