/* memory.c -- which bytes the interpreted program may touch, and which of them were written.
 *
 * Known ranges stand in two lists of the thread's Interp: by address, for looking up, and in order
 * of making, for giving back. Each byte of the program's own memory has a shadow byte. */
#include "target/interp/interp.h"
#include <inttypes.h>
#include <stdlib.h>

_Thread_local Interp *interp;

/* ---- the list by address ---- */

/* The first range that ends behind `at`. */
static int first_behind(const char *at) {
  int lo = 0, hi = interp->sorted.len;
  while (lo < hi) {
    int mid = (lo + hi) / 2;
    if (interp->sorted.at[mid]->hi > at) hi = mid;
    else lo = mid + 1;
  }
  return lo;
}

Memory *memory_find(const void *at) {
  int i = first_behind(at);
  if (i == interp->sorted.len) return NULL;
  Memory *m = interp->sorted.at[i];
  return m->lo <= (const char *)at ? m : NULL;
}

static void sorted_remove(int i, int n) {
  MemoryVec *v = &interp->sorted;
  memmove(v->at + i, v->at + i + n, sizeof *v->at * (size_t)(v->len - i - n));
  v->len -= n;
  interp->epoch++;
}

static void sorted_add(Memory *m) {
  MemoryVec *v = &interp->sorted;
  int i = first_behind(m->lo);
  vec_push(v, m);
  memmove(v->at + i + 1, v->at + i, sizeof *v->at * (size_t)(v->len - 1 - i));
  v->at[i] = m;
  interp->epoch++;
}

/* ---- making ---- */

static Memory *add(Memory *m) {
  sorted_add(m);
  vec_push(&interp->made, m);
  return m;
}

enum { ALIGN = 64 };

Memory *memory_new(int64_t nbytes, const char *name, Span span) {
  size_t n = nbytes > 0 ? (size_t)nbytes : 1, whole = (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
  char *block = n <= PTRDIFF_MAX - ALIGN ? aligned_alloc(ALIGN, whole) : NULL;
  unsigned char *shadow = block ? calloc(n, 1) : NULL;
  if (!shadow) {
    free(block);
    fault(span, "there is no memory for '%s' (%" PRId64 " bytes)", name ? name : "", nbytes);
  }
  memset(block, 0, n);
  return add(NEW(Memory, .lo = block, .hi = block + n, .end = block + (nbytes > 0 ? nbytes : 0),
                 .shadow = shadow, .block = block, .name = name));
}

/* Ranges of others that overlap: one range stands for them all, and counts as written. */
static Memory *merge(char *lo, char *hi, int first, int n, const char *name) {
  Memory *m = NEW(Memory, .lo = lo, .hi = hi, .end = hi, .name = name);
  for (int i = 0; i < n; i++) {
    Memory *old = interp->sorted.at[first + i];
    if (old->lo < m->lo) m->lo = old->lo;
    if (old->hi > m->hi) m->hi = m->end = old->hi;
    free(old->shadow);
    old->shadow = NULL;
    vec_push(&m->hidden, old);
  }
  sorted_remove(first, n);
  return add(m);
}

Memory *memory_note(void *at, size_t nbytes, bool written, const char *name) {
  char *lo = at, *hi = lo + nbytes;
  if (!lo || !nbytes) return NULL;
  int first = first_behind(lo), n = 0;
  while (first + n < interp->sorted.len && interp->sorted.at[first + n]->lo < hi) n++;
  Memory *old = n ? interp->sorted.at[first] : NULL;
  if (n == 1 && old->lo <= lo && old->hi >= hi) return old;
  if (n) return merge(lo, hi, first, n, name);
  unsigned char *shadow = written ? NULL : calloc(nbytes, 1); /* none: reads are not checked */
  return add(NEW(Memory, .lo = lo, .hi = hi, .end = hi, .shadow = shadow, .name = name));
}

static int64_t tensor_nbytes(const DLTensor *t) {
  int64_t n = (t->dtype.bits * (int64_t)t->dtype.lanes + 7) / 8;
  for (int i = 0; i < t->ndim; i++) n *= t->shape[i];
  return n;
}

void memory_note_tensor(const DLTensor *t, bool written, const char *name) {
  int64_t n = tensor_nbytes(t);
  if (t->device.device_type != kDLCPU || !t->data || n <= 0) return;
  memory_note((char *)t->data + t->byte_offset, (size_t)n, written, name);
}

void memory_unwritten(const DLTensor *t) {
  char *at = (char *)t->data + t->byte_offset;
  int64_t n = tensor_nbytes(t);
  Memory *m = memory_find(at);
  if (m && m->shadow && at + n <= m->hi) memset(m->shadow + (at - m->lo), 0, (size_t)n);
}

void memory_written(const void *at) {
  Memory *m = memory_find(at);
  if (!m) return;
  free(m->shadow);
  m->shadow = NULL;
}

void memory_wrote(const char *at, int nbytes) {
  Memory *m = memory_find(at);
  if (m && m->shadow) memset(m->shadow + (at - m->lo), 1, (size_t)nbytes);
}

/* ---- giving back ---- */

static void drop(Memory *m) {
  int i = first_behind(m->lo);
  bool is_hidden = i == interp->sorted.len || interp->sorted.at[i] != m;
  if (!is_hidden) sorted_remove(i, 1);
  for each (Memory *, old, &m->hidden)
    if ((*old)->lo) sorted_add(*old); /* unless it is gone itself */
  free(m->shadow);
  free(m->touches);
  free(m->block);
  *m = (Memory){.keep = m->keep};
}

void memory_forget(Memory *m) {
  drop(m);
  MemoryVec *v = &interp->made;
  int i = v->len - 1;
  while (i >= 0 && v->at[i] != m) i--;
  if (i < 0) return;
  memmove(v->at + i, v->at + i + 1, sizeof *v->at * (size_t)(v->len - i - 1));
  v->len--;
}

/* From the last one backwards, so that what a merge hid comes back before it is dropped itself. */
void memory_release(int mark) {
  MemoryVec *v = &interp->made, kept = {0};
  while (v->len > mark) {
    Memory *m = vec_pop(v);
    if (m->keep) vec_push(&kept, m);
    else drop(m);
    m->keep = false;
  }
  for (int i = kept.len - 1; i >= 0; i--) vec_push(v, kept.at[i]);
}
