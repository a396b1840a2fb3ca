/* ptx_emulator.c -- runs kernels: the threads of a block step together; those furthest behind go
 * first, so that branches meet again. Memory is looked up at each access, and a fault told. */
#include "ptx_machine.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool machine_fault(Machine *m, const Instr *i, const char *what) {
  if (!m->faulty)
    snprintf(m->why, m->size, "%s: %s: %.*s", m->kernel->name, what, (int)strcspn(i->line, "\n"),
             i->line);
  m->faulty = true;
  return false;
}

/* ---- operands ---- */

static uint64_t special(const Machine *m, int t, int64_t which) {
  const unsigned *b = m->block;
  unsigned x = (unsigned)t % b[0], y = (unsigned)t / b[0] % b[1], z = (unsigned)t / b[0] / b[1];
  switch ((Special)which) {
  case TID_X: return x;
  case TID_Y: return y;
  case TID_Z: return z;
  case CTAID_X: return m->at[0];
  case CTAID_Y: return m->at[1];
  case CTAID_Z: return m->at[2];
  case NTID_X: return b[0];
  case NTID_Y: return b[1];
  case NTID_Z: return b[2];
  case LANEID: return (unsigned)t % 32;
  }
  return 0;
}

uint64_t get(Machine *m, int t, const Operand *o) {
  switch (o->kind) {
  case OPERAND_REG: return m->registers[(size_t)t * (size_t)m->code->registers + (size_t)o->value];
  case OPERAND_SPECIAL: return special(m, t, o->value);
  case OPERAND_SYMBOL:
    if (o->space == SPACE_SHARED && o->value >= INT32_MAX)
      return m->code->shared_bytes + (uint64_t)(o->value - INT32_MAX);
    return (uint64_t)o->value;
  default: return (uint64_t)o->value;
  }
}

void set(Machine *m, int t, const Operand *o, uint64_t value) {
  m->registers[(size_t)t * (size_t)m->code->registers + (size_t)o->value] = value;
}

/* ---- memory ---- */

void *address(Machine *m, const Instr *i, int t, const Operand *o, Space space, size_t nbytes) {
  uint64_t at = get(m, t, o) + (uint64_t)o->offset;
  size_t size = space == SPACE_SHARED ? m->shared_size : m->code->local_bytes;
  char *base = space == SPACE_SHARED ? m->shared : m->local + (size_t)t * m->code->local_bytes;
  if (space == SPACE_PARAM) return m->params[at];
  if (nbytes > 1 && at % nbytes) return machine_fault(m, i, "an address is not aligned"), NULL;
  if (space == SPACE_NONE) {
    void *p = m->memory(at, nbytes);
    if (!p) machine_fault(m, i, "there is no memory at the address");
    return p;
  }
  if (at + nbytes <= size) return base + at;
  return machine_fault(m, i, "an address lies outside of the block's or the thread's memory"), NULL;
}

/* ---- running ---- */

bool is_on(const Machine *m, const Instr *i, int t) {
  if (!m->here[t]) return false;
  if (i->guard < 0) return true;
  bool p = m->registers[(size_t)t * (size_t)m->code->registers + (size_t)i->guard] & 1;
  return p != i->guard_not;
}

/* The threads that are furthest behind and can go on; false: none can. */
static bool choose(Machine *m, int *pc) {
  *pc = m->code->len;
  for (int t = 0; t < m->n; t++)
    if (!m->waits[t] && !m->held[t] && !m->sleeps[t] && m->pc[t] < *pc) *pc = m->pc[t];
  for (int t = 0; t < m->n; t++) m->here[t] = !m->waits[t] && !m->sleeps[t] && m->pc[t] == *pc;
  return *pc < m->code->len;
}

/* Do lanes do it together? */
static bool is_collective(const Instr *i) {
  return i->execute == warp_shuffle || i->execute == warp_ldmatrix || i->execute == warp_mma ||
         i->execute == warp_wmma || i->execute == warp_wgmma;
}

/* Lanes wait where others of their warp are still to come. */
static void hold_parts_of_warps(Machine *m) {
  for (int warp = 0; warp < m->n; warp += 32) {
    bool any = false, all = true;
    for (int t = warp; t < m->n && t < warp + 32; t++) {
      any |= m->here[t];
      all &= m->here[t] || m->pc[t] == m->code->len;
    }
    for (int t = warp; t < m->n && t < warp + 32; t++) {
      if (any && m->here[t]) m->held[t] = !all;
      m->here[t] &= all;
    }
  }
}

/* All that are not done wait at the barrier: they go on. */
static bool pass_barrier(Machine *m) {
  bool any = false;
  for (int t = 0; t < m->n; t++) any |= m->waits[t];
  for (int t = 0; t < m->n; t++) {
    if (m->held[t] && !m->faulty)
      machine_fault(m, &m->code->at[m->pc[t]], "not all lanes of the warp come to it");
    if (m->sleeps[t] && !m->faulty)
      machine_fault(m, &m->code->at[m->pc[t]], "no one ends the phase that it waits for");
    m->waits[t] = false;
  }
  return any;
}

static void run_block(Machine *m) {
  int pc;
  memset(m->pc, 0, sizeof *m->pc * (size_t)m->n);
  memset(m->waits, 0, (size_t)m->n);
  memset(m->held, 0, (size_t)m->n);
  memset(m->sleeps, 0, (size_t)m->n);
  memset(m->shared, 0xff, m->shared_size); /* NaN */
  do
    while (!m->faulty && choose(m, &pc)) {
      const Instr *i = &m->code->at[pc];
      if (is_collective(i)) hold_parts_of_warps(m);
      for (int t = 0; t < m->n; t++)
        if (m->here[t]) m->pc[t]++;
      i->execute(m, i);
    }
  while (!m->faulty && pass_barrier(m));
}

bool ptx_run(PtxKernel *k, const unsigned grid[3], const unsigned block[3], size_t dynamic_shared,
             void **params, PtxMemory *memory, char *why, size_t size) {
  int n = (int)(block[0] * block[1] * block[2]);
  size_t registers = (size_t)k->code->registers;
  Machine m = {.kernel = k, .code = k->code, .n = n, .params = params, .memory = memory};
  m.why = why, m.size = size;
  m.shared_size = k->code->shared_bytes + dynamic_shared;
  memcpy(m.block, block, sizeof m.block);
  m.registers = calloc((size_t)n * registers + 1, sizeof *m.registers);
  m.shared = malloc(m.shared_size + 1);
  m.local = malloc((size_t)n * k->code->local_bytes + 1);
  m.pc = calloc((size_t)n, sizeof *m.pc);
  m.here = calloc((size_t)n, 1);
  m.waits = calloc((size_t)n, 1);
  m.held = calloc((size_t)n, 1);
  m.sleeps = calloc((size_t)n, 1);
  for (m.at[2] = 0; m.at[2] < grid[2] && !m.faulty; m.at[2]++)
    for (m.at[1] = 0; m.at[1] < grid[1] && !m.faulty; m.at[1]++)
      for (m.at[0] = 0; m.at[0] < grid[0] && !m.faulty; m.at[0]++) run_block(&m);
  free(m.registers), free(m.shared), free(m.local), free(m.pc), free(m.here), free(m.waits);
  free(m.held), free(m.sleeps);
  return !m.faulty;
}
