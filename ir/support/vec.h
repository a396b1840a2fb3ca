/* vec.h -- growable arrays of any type: VEC(T) is a struct {at, len, cap}, zero is empty.
 *
 * The macros evaluate their first argument more than once: pass a plain pointer variable or &name.
 */
#ifndef IR_SUPPORT_VEC_H
#define IR_SUPPORT_VEC_H

#include "ir/support/gc.h"

#define VEC(T)                                                                                     \
  struct {                                                                                         \
    T *at;                                                                                         \
    int len, cap;                                                                                  \
  }

/* Appends x to the vector that v points to. */
#define vec_push(v, x)                                                                             \
  (vec_grow(v, (v)->len + 1, vec_capacity((v)->cap, (v)->len + 1)), (v)->at[(v)->len++] = (x))

/* Makes room for n elements in all; of an empty vector, for just so many. */
#define vec_reserve(v, n) vec_grow(v, n, (v)->cap ? vec_capacity((v)->cap, n) : (n))

#define vec_grow(v, n, capacity)                                                                   \
  ((n) > (v)->cap ? ((v)->at = gc_grow((v)->at, sizeof *(v)->at * (size_t)(capacity)),             \
                     (v)->cap = (capacity), (void)0)                                               \
                  : (void)0)

#define vec_last(v) ((v)->at[(v)->len - 1])
#define vec_pop(v)  ((v)->at[--(v)->len])

/* for each (Node *, p, &vector): p points at each element in turn. */
#define each(T, p, v) (T *p = (v)->at; p < (v)->at + (v)->len; p++)

static inline int vec_capacity(int cap, int n) {
  int twice = cap < 4 ? 4 : cap * 2;
  return twice > n ? twice : n;
}

#endif
