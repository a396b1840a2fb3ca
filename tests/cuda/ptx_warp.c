/* ptx_warp.c -- what the lanes of a warp do together, in the layouts of the PTX ISA. */
#include "ptx_machine.h"
#include "ptx_number.h"
#include <stdlib.h>
#include <string.h>

/* shfl.sync.how.b32 d[|p], a, b, c, mask */
bool warp_shuffle(Machine *m, const Instr *i) {
  const char *how = i->words[2];
  uint64_t *values = calloc((size_t)m->n, sizeof *values);
  int first = i->n - 4;
  for (int t = 0; t < m->n; t++)
    if (m->here[t]) values[t] = get(m, t, &i->operands[first]);
  each_thread(m, i, t) {
    int lane = t % 32, b = (int)get(m, t, &i->operands[first + 1]) & 31;
    int c = (int)get(m, t, &i->operands[first + 2]), segment = c >> 8 & 31, clamp = c & 31;
    int max = (lane & segment) | (clamp & ~segment), min = lane & segment, j;
    if (!strcmp(how, "up")) j = lane - b, j = j >= max ? j : lane;
    else if (!strcmp(how, "down")) j = lane + b, j = j <= max ? j : lane;
    else if (!strcmp(how, "bfly")) j = lane ^ b, j = j <= max ? j : lane;
    else j = min | (b & ~segment), j = j <= max ? j : lane;
    int from = t - lane + j;
    if (from >= m->n || !m->here[from]) machine_fault(m, i, "a lane that is asked is not there");
    else set(m, t, &i->operands[0], values[from]);
  }
  free(values);
  return true;
}

/* ldmatrix.sync.aligned.m8n8.xN[.trans].shared.b16 {d...}, [a]: lane 8 * i + r names row r of
 * matrix i */
bool warp_ldmatrix(Machine *m, const Instr *i) {
  int count = i->n - 1;
  bool turned = instr_has(i, "trans");
  for (int warp = 0; warp < m->n && !m->faulty; warp += 32) {
    if (!m->here[warp]) continue;
    uint16_t all[4][8][8];
    for (int l = 0; l < 8 * count; l++) {
      void *row = address(m, i, warp + l, &i->operands[count], SPACE_SHARED, 16);
      if (!row) return false;
      memcpy(all[l / 8][l % 8], row, 16);
    }
    for (int lane = 0; lane < 32; lane++)
      for (int k = 0; k < count; k++) {
        int r = lane / 4, c = 2 * (lane % 4);
        uint32_t low = turned ? all[k][c][r] : all[k][r][c];
        uint32_t high = turned ? all[k][c + 1][r] : all[k][r][c + 1];
        set(m, warp + lane, &i->operands[k], low | high << 16);
      }
  }
  return true;
}

/* ---- mma ---- */

/* Part `sub` of a register. */
static double element(uint32_t word, const char *type, int sub) {
  return number_of(word >> sub * number_bits(type), type);
}

static int in_word(const char *type) { return 32 / number_bits(type); }

/* mma.sync.aligned.m16n8kK.row.col.d.a.b.c {d}, {a}, {b}, {c} */
bool warp_mma(Machine *m, const Instr *i) {
  int first[5] = {0}, k = atoi(strchr(i->words[3], 'k') + 1);
  const char *ta = i->words[i->n_words - 3], *tb = i->words[i->n_words - 2],
             *tc = i->words[i->n_words - 1];
  for (int o = 1; o < i->n; o++)
    if (i->group[o] != i->group[o - 1]) first[i->group[o]] = o;
  if (strncmp(i->words[3], "m16n8", 5)) return machine_fault(m, i, "the shape is not known");
  int ea = in_word(ta), eb = in_word(tb);
  for (int warp = 0; warp < m->n; warp += 32) {
    if (!m->here[warp]) continue;
    uint64_t out[32][4];
    for (int r = 0; r < 16; r++)
      for (int c = 0; c < 8; c++) {
        int lane_c = r % 8 * 4 + c / 2, reg_c = r / 8 * 2 + c % 2;
        uint32_t word = (uint32_t)get(m, warp + lane_c, &i->operands[first[3] + reg_c]);
        bool is_int = !strcmp(tc, "s32");
        double sum = is_int ? (int32_t)word : element(word, "f32", 0);
        for (int x = 0; x < k; x++) {
          int lane_a = r % 8 * 4 + x / ea % 4, reg_a = r / 8 + 2 * (x / (4 * ea));
          int lane_b = c * 4 + x / eb % 4, reg_b = x / (4 * eb);
          sum +=
              element((uint32_t)get(m, warp + lane_a, &i->operands[first[1] + reg_a]), ta, x % ea) *
              element((uint32_t)get(m, warp + lane_b, &i->operands[first[2] + reg_b]), tb, x % eb);
        }
        float f = (float)sum;
        if (is_int) word = (uint32_t)(int32_t)sum;
        else memcpy(&word, &f, 4);
        out[lane_c][reg_c] = word;
      }
    for (int lane = 0; lane < 32; lane++)
      for (int reg = 0; reg < 4; reg++) set(m, warp + lane, &i->operands[reg], out[lane][reg]);
  }
  return true;
}
