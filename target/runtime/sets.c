/* sets.c -- R.unique and R.nonzero: how many elements their results have is known at run time only.
 *
 * Elements become keys, numbers of 64 bits in the order of the elements, and rows of keys are
 * sorted: equal ones then stand side by side. NaN is the last one and equal to itself, as in numpy;
 * -0 is 0. */
#include "target/runtime/operators.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- keys ---- */

static uint64_t float_key(double x) {
  uint64_t bits;
  if (isnan(x)) return UINT64_MAX;
  if (x == 0) x = 0;
  memcpy(&bits, &x, sizeof bits);
  return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static uint64_t key_of(DLDataType t, const char *at) {
  uint64_t bits = 0;
  float f;
  double d;
  memcpy(&bits, at, (size_t)(t.bits + 7) / 8); /* little-endian */
  if (t.code == kDLUInt || t.code == kDLBool) return bits;
  if (t.code == kDLInt) {
    int unused = 64 - t.bits;
    return (uint64_t)((int64_t)(bits << unused) >> unused) ^ (uint64_t)1 << 63;
  }
  if (t.bits == 64) return memcpy(&d, at, sizeof d), float_key(d);
  if (t.bits == 32) return memcpy(&f, at, sizeof f), float_key((double)f);
  return float_key(tvms__small_float(t, (uint32_t)bits));
}

static bool is_plain(DLDataType t) {
  return t.lanes == 1 && t.bits <= 64 && t.code != kDLComplex && t.code != kDLOpaqueHandle;
}

/* ---- rows ---- */

/* A tensor as rows along an axis: element k of row i is that of the other axes, in their order. */
typedef struct Rows {
  const DLTensor *tensor;
  int64_t count, width, inner; /* rows; elements of one; elements behind the axis */
  uint64_t *keys;              /* row by row */
} Rows;

static int64_t place_of(const Rows *r, int64_t row, int64_t k) {
  return (k / r->inner * r->count + row) * r->inner + k % r->inner;
}

static int make_keys(Rows *r) {
  size_t n = (size_t)(r->count * r->width), element = tvms__dtype_element_bytes(r->tensor->dtype);
  const char *data = tvms__operand_data(r->tensor);
  r->keys = malloc((n + 1) * sizeof *r->keys);
  if (!r->keys) return tvms__error_no_memory(n * sizeof *r->keys);
  for (int64_t i = 0; i < r->count; i++)
    for (int64_t k = 0; k < r->width; k++)
      r->keys[i * r->width + k] =
          key_of(r->tensor->dtype, data + (size_t)place_of(r, i, k) * element);
  return 0;
}

static int compare_rows(const Rows *r, int64_t a, int64_t b) {
  const uint64_t *x = r->keys + a * r->width, *y = r->keys + b * r->width;
  for (int64_t k = 0; k < r->width; k++)
    if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
  return 0;
}

/* Sorts list[0, n) with room for as many; equal ones keep their order. `first` of a number, or, if
 * it is NULL, the rows themselves tell the order. */
static void sort(const Rows *r, const int64_t *first, int64_t *list, int64_t *room, int64_t n) {
  if (n < 2) return;
  int64_t half = n / 2, i = 0, k = half, to = 0;
  sort(r, first, list, room, half);
  sort(r, first, list + half, room, n - half);
  memcpy(room, list, (size_t)n * sizeof *list);
  while (i < half && k < n) {
    bool later = first ? first[room[k]] < first[room[i]] : compare_rows(r, room[k], room[i]) < 0;
    list[to++] = later ? room[k++] : room[i++];
  }
  while (i < half) list[to++] = room[i++];
  while (k < n) list[to++] = room[k++];
}

/* ---- unique ---- */

typedef struct Groups {
  int64_t n;
  int64_t *order, *room; /* of rows: sorted; and space */
  int64_t *group;        /* of each row, in the order of the rows */
  int64_t *first, *size; /* of each group: the row where it is met first, how many rows */
} Groups;

/* Groups in the order of their rows. */
static void find_groups(const Rows *r, Groups *g) {
  for (int64_t i = 0; i < r->count; i++) g->order[i] = i;
  sort(r, NULL, g->order, g->room, r->count);
  for (int64_t i = 0; i < r->count; i++) {
    bool same = i && compare_rows(r, g->order[i - 1], g->order[i]) == 0;
    if (!same) g->first[g->n] = g->order[i], g->size[g->n++] = 0;
    g->group[g->order[i]] = g->n - 1;
    g->size[g->n - 1]++;
  }
}

/* Groups in the order in which they are met. */
static void order_by_first(const Rows *r, Groups *g) {
  int64_t *list = g->order, *number = g->room;
  for (int64_t i = 0; i < g->n; i++) list[i] = i;
  sort(r, g->first, list, g->room, g->n);
  for (int64_t i = 0; i < g->n; i++) number[list[i]] = i;
  for (int64_t i = 0; i < r->count; i++) g->group[i] = number[g->group[i]];
  memcpy(number, g->first, (size_t)g->n * sizeof *number);
  for (int64_t i = 0; i < g->n; i++) g->first[i] = number[list[i]];
  memcpy(number, g->size, (size_t)g->n * sizeof *number);
  for (int64_t i = 0; i < g->n; i++) g->size[i] = number[list[i]];
}

/* The first row of each group. */
static int values_of(const Rows *r, const Groups *g, int axis, bool flat, TvmsTensor **out) {
  int64_t dims[64];
  size_t element = tvms__dtype_element_bytes(r->tensor->dtype);
  for (int i = 0; i < r->tensor->ndim; i++) dims[i] = r->tensor->shape[i];
  dims[axis] = g->n;
  if (tvms_tensor_new(out, flat ? 1 : r->tensor->ndim, dims, r->tensor->dtype)) return -1;
  Rows to = *r;
  to.count = g->n;
  char *at = tvms_tensor_data(*out);
  const char *from = tvms__operand_data(r->tensor);
  for (int64_t i = 0; i < g->n; i++)
    for (int64_t k = 0; k < r->width; k++)
      memcpy(at + (size_t)place_of(&to, i, k) * element,
             from + (size_t)place_of(r, g->first[i], k) * element, element);
  return 0;
}

static int numbers_of(const int64_t *list, int64_t n, TvmsTensor **out) {
  if (tvms_tensor_new(out, 1, &n, (DLDataType){kDLInt, 64, 1})) return -1;
  if (n) memcpy(tvms_tensor_data(*out), list, (size_t)n * sizeof *list);
  return 0;
}

static bool flag(const OperatorCall *c, int i) {
  return i < c->n && (c->types[i] == TVMS_INT || c->types[i] == TVMS_BOOL) && c->args[i].i;
}

static int give_results(OperatorCall *c, const Rows *r, const Groups *g, int axis, bool flat) {
  const int64_t *lists[] = {g->first, g->group, g->size}, sizes[] = {g->n, r->count, g->n};
  TvmsTensor *made[4] = {NULL};
  TvmsValue values[4];
  TvmsTuple *tuple = NULL;
  int types[4], n = 1, status = values_of(r, g, axis, flat, &made[0]);
  for (int i = 0; i < 3 && !status; i++)
    if (flag(c, 2 + i)) status = numbers_of(lists[i], sizes[i], &made[n++]);
  for (int i = 0; i < n; i++) values[i].p = made[i], types[i] = TVMS_TENSOR;
  if (!status && n == 1) {
    *c->ret = values[0];
    *c->ret_type = TVMS_TENSOR;
    return 0;
  }
  if (!status) status = tvms_tuple_new(&tuple, n, values, types);
  for (int i = 0; i < n; i++) tvms_release(made[i]);
  c->ret->p = tuple;
  if (!status) *c->ret_type = TVMS_TUPLE;
  return status;
}

static int unique_of(OperatorCall *c, const DLTensor *t) {
  bool flat = c->n < 6 || c->types[5] == TVMS_NONE;
  int axis = flat ? 0 : tvms__operand_axis(c, 5, t->ndim);
  if (axis < 0) return -1;
  if (!is_plain(t->dtype))
    return tvms_set_error("%s: elements of this dtype have no order", c->name);
  int64_t size = tvms__dl_size(t);
  Rows r = {t, size, 1, 1, NULL};
  if (!flat) {
    r = (Rows){t, t->shape[axis], 1, 1, NULL};
    for (int i = 0; i < t->ndim; i++)
      if (i != axis) r.width *= t->shape[i];
    for (int i = axis + 1; i < t->ndim; i++) r.inner *= t->shape[i];
    if (!r.inner) r.inner = 1; /* there are no elements */
  }
  size_t room = (size_t)r.count + 1;
  int64_t *memory = malloc(5 * room * sizeof *memory);
  Groups g = {0, memory, memory + room, memory + 2 * room, memory + 3 * room, memory + 4 * room};
  int status = memory ? make_keys(&r) : tvms__error_no_memory(5 * room * sizeof *memory);
  if (!status) {
    find_groups(&r, &g);
    if (!flag(c, 1)) order_by_first(&r, &g);
    status = give_results(c, &r, &g, axis, flat);
  }
  free(r.keys);
  free(memory);
  return status;
}

/* ---- nonzero ---- */

static bool is_nonzero(DLDataType t, const char *at) {
  uint64_t bits = 0, sign = (uint64_t)1 << (t.bits - 1);
  memcpy(&bits, at, (size_t)(t.bits + 7) / 8);
  bool has_sign = t.code != kDLInt && t.code != kDLUInt && t.code != kDLBool;
  return has_sign ? (bits & ~sign) != 0 : bits != 0;
}

static int nonzero_of(OperatorCall *c, const DLTensor *t) {
  size_t element = tvms__dtype_element_bytes(t->dtype);
  const char *data = tvms__operand_data(t);
  int64_t size = tvms__dl_size(t), n = 0, column = 0;
  TvmsTensor *out = NULL;
  if (!is_plain(t->dtype))
    return tvms_set_error("%s: elements of this dtype have no zero", c->name);
  for (int64_t i = 0; i < size; i++) n += is_nonzero(t->dtype, data + (size_t)i * element);
  const int64_t dims[] = {t->ndim, n};
  if (tvms_tensor_new(&out, 2, dims, (DLDataType){kDLInt, 64, 1})) return -1;
  int64_t *to = tvms_tensor_data(out);
  for (int64_t i = 0; i < size; i++) {
    int64_t rest = i;
    if (!is_nonzero(t->dtype, data + (size_t)i * element)) continue;
    for (int d = t->ndim - 1; d >= 0; d--)
      to[d * n + column] = rest % t->shape[d], rest /= t->shape[d];
    column++;
  }
  c->ret->p = out;
  *c->ret_type = TVMS_TENSOR;
  return 0;
}

/* ---- the operators ---- */

static int with_operand(OperatorCall *c, int (*use)(OperatorCall *c, const DLTensor *t)) {
  TvmsTensor *own;
  const DLTensor *t = tvms__operand(c, 0, &own);
  int status = t ? use(c, t) : -1;
  tvms_release(own);
  return status;
}

/* (x, sorted, return_index, return_inverse, return_counts, axis); without axis the elements */
int tvms__unique(OperatorCall *c) { return with_operand(c, unique_of); }
int tvms__nonzero(OperatorCall *c) { return with_operand(c, nonzero_of); }
