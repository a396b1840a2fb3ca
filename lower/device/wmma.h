/* wmma.h -- matrices in memory of the scopes wmma.matrix_a, wmma.matrix_b and wmma.accumulator,
 * which the threads of a warp hold together: what the calls that touch them tell of their shape. */
#ifndef LOWER_DEVICE_WMMA_H
#define LOWER_DEVICE_WMMA_H

#include "lower/device/device.h"

typedef struct WmmaFragment {
  int m, n, k;        /* 0: not known */
  char matrix;        /* 'a', 'b', 'c' */
  const char *layout; /* "row_major" or "col_major": how it is loaded; NULL: it is not */
} WmmaFragment;

/* Pointer variable to its WmmaFragment, of all such memory that a call names. Raises if two calls
 * tell different things. */
void wmma_fragments(const char *kernel, Node *body, Map *out);

static inline int wmma_rows(const WmmaFragment *f) { return f->matrix == 'b' ? f->k : f->m; }
static inline int wmma_columns(const WmmaFragment *f) { return f->matrix == 'a' ? f->k : f->n; }

#endif
