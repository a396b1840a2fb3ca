/* ptx_wgmma.c -- products by four warps, whose operands lie in swizzled shared memory. They are
 * done at once: when they are waited for makes no difference here. */
#include "ptx_machine.h"
#include "ptx_number.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Element i along m or n, k, of the matrix that the descriptor tells of. */
static bool element(Machine *m, const Instr *i, uint64_t place, bool turned, const char *type,
                    int at, int k, double *out) {
  static const int widths[] = {16, 128, 64, 32};
  uint64_t begin = (place & 0x3fff) << 4, leading = (place >> 16 & 0x3fff) << 4,
           stride = (place >> 32 & 0x3fff) << 4;
  int width = widths[place >> 62], size = number_bytes(type), wide = width / size;
  int row = turned ? k : at, column = turned ? at : k;
  if (width == 16) return machine_fault(m, i, "the matrix is not swizzled");
  uint64_t address = begin + (uint64_t)(row / 8) * stride + (uint64_t)(row % 8 * width) +
                     (uint64_t)(column / wide) * leading + (uint64_t)(column % wide * size);
  address ^= (address >> 7 & (uint64_t)(width / 16 - 1)) << 4;
  if (address + (uint64_t)size > m->shared_size)
    return machine_fault(m, i, "the matrix lies outside of the block's memory");
  uint64_t bits = 0;
  memcpy(&bits, m->shared + address, (size_t)size);
  *out = number_of(bits, type);
  return true;
}

/* A in registers: as mma has it. */
static double held(Machine *m, const Instr *i, int warp, int first, const char *type, int row,
                   int k) {
  int in = 4 / number_bytes(type), lane = row % 8 * 4 + k / in % 4, reg = row / 8 + 2 * (k / (4 * in));
  uint32_t word = (uint32_t)get(m, warp + lane, &i->operands[first + reg]);
  return number_of(word >> k % in * number_bits(type), type);
}

static bool is_whole(const Machine *m, int group) {
  for (int t = group; t < group + 128; t++)
    if (t >= m->n || !m->here[t]) return false;
  return true;
}

static bool multiply(Machine *m, const Instr *i) {
  int columns, depth, last = i->n;
  const char *td = i->words[5], *type = i->words[6];
  sscanf(i->words[4], "m64n%dk%d", &columns, &depth);
  int regs = columns / 2, a = regs, held_a = i->group[regs] == i->group[regs + 1];
  int b = a + (held_a ? 4 : 1);
  bool is_half = strstr(type, "16") != NULL, is_int = !strcmp(td, "s32");
  bool turned_b = is_half && i->operands[last - 1].value,
       turned_a = is_half && !held_a && i->operands[last - 2].value;
  for (int group = 0; group < m->n; group += 128) {
    bool any = false;
    for (int t = group; t < group + 128 && t < m->n; t++) any |= m->here[t];
    if (!any) continue;
    if (!is_whole(m, group)) return machine_fault(m, i, "not all of the four warps come");
    uint64_t place_a = get(m, group, &i->operands[a]), place_b = get(m, group, &i->operands[b]);
    double *of_b = malloc(sizeof *of_b * (size_t)(columns * depth));
    for (int c = 0; c < columns; c++)
      for (int k = 0; k < depth; k++)
        if (!element(m, i, place_b, turned_b, type, c, k, &of_b[c * depth + k]))
          return free(of_b), false;
    for (int r = 0; r < 64; r++) {
      double of_a[32];
      int warp = group + r / 16 * 32;
      for (int k = 0; k < depth; k++)
        if (held_a) of_a[k] = held(m, i, warp, a, type, r % 16, k);
        else if (!element(m, i, place_a, turned_a, type, r, k, &of_a[k])) return free(of_b), false;
      for (int c = 0; c < columns; c++) {
        int t = warp + r % 8 * 4 + c % 8 / 2, reg = c / 8 * 4 + r % 16 / 8 * 2 + c % 2;
        uint32_t word = (uint32_t)get(m, t, &i->operands[reg]);
        float f;
        memcpy(&f, &word, 4);
        double sum = is_int ? (int32_t)word : (double)f;
        for (int k = 0; k < depth; k++) sum += of_a[k] * of_b[c * depth + k];
        f = (float)sum;
        if (is_int) word = (uint32_t)(int32_t)sum;
        else memcpy(&word, &f, 4);
        set(m, t, &i->operands[reg], word);
      }
    }
    free(of_b);
  }
  return true;
}

/* wgmma.mma_async.sync.aligned.m64nNkK.d.a.b {d}, a, b, p, ...; fence, commit_group, wait_group */
bool warp_wgmma(Machine *m, const Instr *i) {
  return strcmp(i->words[1], "mma_async") || multiply(m, i);
}
