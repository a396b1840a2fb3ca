/* ptx_wmma.c -- matrices of wmma. How threads hold them is the hardware's affair: here element e is
 * with lane e % 32, as its (e / 32)th. */
#include "ptx_machine.h"
#include "ptx_number.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 32 * 16 };

static uint64_t bits(double v, const char *type) {
  uint32_t word;
  float f = (float)v;
  _Float16 h = (_Float16)v;
  uint64_t whole;
  if (!strcmp(type, "s32")) return (uint32_t)(int32_t)v;
  if (!strcmp(type, "f64")) return memcpy(&whole, &v, 8), whole;
  if (!strcmp(type, "f16")) {
    uint16_t half;
    memcpy(&half, &h, 2);
    return half;
  }
  memcpy(&word, &f, 4);
  return word;
}

/* The first of the registers of the nth written operand. */
static int first_of(const Instr *i, int n) {
  int o = 0;
  while (i->group[o] != n) o++;
  return o;
}

static int in_register(const char *type) {
  return number_bits(type) > 32 ? 1 : 32 / number_bits(type);
}

static uint64_t held(Machine *m, const Instr *i, int warp, int first, const char *type, int e) {
  int in = in_register(type), slot = e / 32;
  uint64_t word = get(m, warp + e % 32, &i->operands[first + slot / in]);
  return word >> slot % in * number_bits(type) & (~0ull >> (64 - number_bits(type)));
}

static void hold(Machine *m, const Instr *i, int warp, int first, const char *type, int e,
                 uint64_t v) {
  int in = in_register(type), slot = e / 32, shift = slot % in * number_bits(type);
  const Operand *o = &i->operands[first + slot / in];
  uint64_t old = get(m, warp + e % 32, o), mask = (~0ull >> (64 - number_bits(type))) << shift;
  set(m, warp + e % 32, o, (old & ~mask) | v << shift);
}

/* Of the matrix that the instruction names: m x k, k x n or m x n. */
static void size_of(char which, const char *shape, int *rows, int *columns) {
  int m, n, k;
  sscanf(shape, "m%dn%dk%d", &m, &n, &k);
  *rows = which == 'b' ? k : m, *columns = which == 'a' ? k : n;
}

/* wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {r...}, [p], pitch; wmma.store.d likewise, the
 * address first */
static bool transfer(Machine *m, const Instr *i, bool loads) {
  const char *type = i->words[i->n_words - 1], *shape = i->words[6];
  int rows, columns, at = first_of(i, loads ? 1 : 0), regs = first_of(i, loads ? 0 : 1);
  size_t nbytes = (size_t)number_bits(type) / 8;
  bool by_columns = instr_has(i, "col");
  size_of(i->words[2][0], shape, &rows, &columns);
  for (int warp = 0; warp < m->n; warp += 32) {
    if (!m->here[warp]) continue;
    int64_t pitch = (int32_t)get(m, warp, &i->operands[first_of(i, 2)]);
    for (int e = 0; e < rows * columns; e++) {
      int r = e / columns, c = e % columns;
      Operand o = i->operands[at];
      o.offset += (by_columns ? c * pitch + r : r * pitch + c) * (int64_t)nbytes;
      Space space = instr_has(i, "shared") ? SPACE_SHARED : SPACE_NONE;
      void *p = address(m, i, warp, &o, space, nbytes);
      uint64_t v = 0;
      if (!p) return false;
      if (loads) memcpy(&v, p, nbytes), hold(m, i, warp, regs, type, e, v);
      else v = held(m, i, warp, regs, type, e), memcpy(p, &v, nbytes);
    }
  }
  return true;
}

/* wmma.mma.sync.aligned.row.col.shape[.d.a.b.c | .d.c] {d}, {a}, {b}, {c} */
static bool multiply(Machine *m, const Instr *i) {
  int rows, columns, depth, n = i->n_words;
  sscanf(i->words[6], "m%dn%dk%d", &rows, &columns, &depth);
  bool is_half = n == 9;
  const char *td = i->words[7], *tc = i->words[n - 1], *ta = is_half ? "f16" : i->words[8];
  int d = first_of(i, 0), a = first_of(i, 1), b = first_of(i, 2), c = first_of(i, 3);
  for (int warp = 0; warp < m->n; warp += 32) {
    double out[MOST];
    if (!m->here[warp]) continue;
    for (int e = 0; e < rows * columns; e++) {
      out[e] = number_of(held(m, i, warp, c, tc, e), tc);
      for (int k = 0; k < depth; k++)
        out[e] += number_of(held(m, i, warp, a, ta, e / columns * depth + k), ta) *
                  number_of(held(m, i, warp, b, ta, k * columns + e % columns), ta);
    }
    for (int e = 0; e < rows * columns; e++) hold(m, i, warp, d, td, e, bits(out[e], td));
  }
  return true;
}

bool warp_wmma(Machine *m, const Instr *i) {
  if (!strcmp(i->words[1], "mma")) return multiply(m, i);
  return transfer(m, i, !strcmp(i->words[1], "load"));
}
