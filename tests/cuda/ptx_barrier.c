/* ptx_barrier.c -- barriers in shared memory (mbarrier), at which threads and bulk copies arrive.
 * How one looks is the hardware's affair: here it is a Barrier. Copies are done at once. */
#include "ptx_machine.h"
#include <string.h>

typedef struct Barrier {
  uint16_t pending, count; /* threads that are to come in this phase, and in each */
  int32_t phased;          /* twice the bytes that are to come, and the parity of the phase */
} Barrier;

/* Memory that was never written is all ones. */
static Barrier *barrier_at(Machine *m, const Instr *i, int t, const Operand *o) {
  Barrier *b = address(m, i, t, o, SPACE_SHARED, sizeof *b);
  if (b && b->count == 0xffff) return machine_fault(m, i, "the barrier is not initialized"), NULL;
  return b;
}

/* Sleepers look again. */
static void end_phase(Machine *m, Barrier *b) {
  if (b->pending || b->phased >> 1) return;
  b->pending = b->count;
  b->phased = !(b->phased & 1);
  memset(m->sleeps, 0, (size_t)m->n);
}

bool barrier_complete(Machine *m, const Instr *i, int t, const Operand *o, size_t nbytes) {
  Barrier *b = barrier_at(m, i, t, o);
  if (!b) return false;
  b->phased -= (int32_t)nbytes * 2;
  end_phase(m, b);
  return true;
}

static bool arrive(Machine *m, const Instr *i, int t, const Operand *o, int32_t expected) {
  Barrier *b = barrier_at(m, i, t, o);
  if (!b) return false;
  if (!b->pending) return machine_fault(m, i, "more threads arrive than the barrier waits for");
  b->phased += expected * 2;
  b->pending--;
  end_phase(m, b);
  return true;
}

/* mbarrier.init [b], n; .arrive state, [b]; .arrive.expect_tx state, [b], bytes;
 * .try_wait.parity p, [b], parity */
bool thread_barrier(Machine *m, const Instr *i) {
  const char *what = i->words[1];
  each_thread(m, i, t) {
    if (!strcmp(what, "init")) {
      uint16_t n = (uint16_t)get(m, t, &i->operands[1]);
      Barrier *b = address(m, i, t, &i->operands[0], SPACE_SHARED, sizeof *b);
      if (!b) return false;
      *b = (Barrier){n, n, 0};
    } else if (!strcmp(what, "arrive")) {
      bool expects = instr_has(i, "expect_tx");
      int32_t bytes = expects ? (int32_t)get(m, t, &i->operands[2]) : 0;
      if (!arrive(m, i, t, &i->operands[1], bytes)) return false;
    } else {
      Barrier *b = barrier_at(m, i, t, &i->operands[1]);
      if (!b) return false;
      bool done = (uint64_t)(b->phased & 1) != (get(m, t, &i->operands[2]) & 1);
      set(m, t, &i->operands[0], done);
      m->sleeps[t] = !done;
    }
  }
  return true;
}
