/* match.c -- matching lines: what both texts begin and end with first, the rest by dynamic
 * programming. */
#include "ir/support/match.h"
#include <stdint.h>

enum { CELLS_MAX = 16 << 20 };

LineVec match_lines(const char *text) {
  LineVec lines = {0};
  while (*text) {
    size_t n = strcspn(text, "\n");
    vec_push(&lines, str_intern_n(text, n));
    text += n + (text[n] == '\n');
  }
  return lines;
}

/* length[i][j], as one array: of the longest common subsequence of the lines from i and j on. */
static int *common_lengths(const char **a, int n, const char **b, int m) {
  int *length = gc_alloc_atomic(sizeof *length * (size_t)(n + 1) * (size_t)(m + 1));
  for (int i = n - 1; i >= 0; i--)
    for (int j = m - 1; j >= 0; j--) {
      int down = length[(i + 1) * (m + 1) + j], right = length[i * (m + 1) + j + 1];
      length[i * (m + 1) + j] = a[i] == b[j]   ? length[(i + 1) * (m + 1) + j + 1] + 1
                                : down > right ? down
                                               : right;
    }
  return length;
}

int *match_find(const LineVec *a, const LineVec *b) {
  int *found = gc_alloc_atomic(sizeof *found * (size_t)(a->len + 1));
  int head = 0, n = a->len, m = b->len;
  for (int i = 0; i < n; i++) found[i] = -1;
  for (; head < n && head < m && a->at[head] == b->at[head]; head++) found[head] = head;
  for (; n > head && m > head && a->at[n - 1] == b->at[m - 1]; n--, m--) found[n - 1] = m - 1;
  if ((int64_t)(n - head + 1) * (m - head + 1) > CELLS_MAX) return found;
  const int *length = common_lengths(a->at + head, n - head, b->at + head, m - head);
  int width = m - head + 1;
  for (int i = head, j = head; i < n && j < m;) {
    const int *cell = length + (i - head) * width + (j - head);
    if (a->at[i] == b->at[j]) found[i++] = j++;
    else if (cell[width] >= cell[1]) i++;
    else j++;
  }
  return found;
}
