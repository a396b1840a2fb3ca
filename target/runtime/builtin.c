/* builtin.c -- packed functions that every program has: operators that act instead of computing.
 *
 * An operator without a compute is the packed function of its name: its operands, then its
 * attributes. */
#include "target/runtime/runtime_impl.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- text that grows ---- */

typedef struct Text {
  char *at; /* NULL after memory ran out: everything that follows is dropped */
  size_t len, cap;
  bool failed;
} Text;

static void add(Text *t, const char *more) {
  size_t n = strlen(more);
  if (t->len + n + 1 > t->cap) {
    size_t cap = (t->len + n + 1) * 2;
    char *at = realloc(t->at, cap);
    if (!at) t->failed = true;
    if (t->failed) return;
    t->at = at;
    t->cap = cap;
  }
  memcpy(t->at + t->len, more, n + 1);
  t->len += n;
}

/* ---- values as text ---- */

double tvms__small_float(DLDataType t, uint32_t bits) {
  int mantissa_bits = t.code == kDLBfloat ? 7 : t.bits == 16 ? 10 : t.code == 10 ? 3 : 2;
  int exponent_bits = t.bits - 1 - mantissa_bits, bias = (1 << (exponent_bits - 1)) - 1;
  int exponent = (int)(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
  double sign = bits >> (t.bits - 1) ? -1 : 1;
  bool finite_only =
      t.code == 10; /* float8_e4m3fn: the largest exponent holds numbers, all ones is NaN */
  if (finite_only && (bits & 0x7f) == 0x7f) return NAN;
  if (!finite_only && exponent == (1 << exponent_bits) - 1) return mantissa ? NAN : sign * INFINITY;
  if (!exponent) return sign * ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * ldexp((double)(mantissa | 1u << mantissa_bits), exponent - bias - mantissa_bits);
}

static void add_float(Text *t, double x, int digits) {
  char text[40];
  for (int d = 1; d <= digits; d++) {
    snprintf(text, sizeof text, "%.*g", d, x);
    if (digits == 9 ? (float)strtod(text, NULL) == (float)x : strtod(text, NULL) == x) break;
  }
  add(t, text);
}

static void add_element(Text *t, DLDataType type, const void *at) {
  char text[40] = "";
  int64_t i = 0;
  uint64_t u = 0;
  float f;
  double d;
  size_t n = (size_t)(type.bits + 7) / 8;
  memcpy(&u, at, n); /* little-endian */
  switch (type.code) {
  case kDLInt:
    i = (int64_t)(u << (64 - type.bits)) >> (64 - type.bits);
    snprintf(text, sizeof text, "%lld", (long long)i);
    break;
  case kDLUInt: snprintf(text, sizeof text, "%llu", (unsigned long long)u); break;
  case kDLBool: snprintf(text, sizeof text, "%s", u & 0xff ? "True" : "False"); break;
  default:
    if (type.bits == 32) return memcpy(&f, at, 4), add_float(t, (double)f, 9);
    if (type.bits == 64 && type.code == kDLFloat) return memcpy(&d, at, 8), add_float(t, d, 17);
    return add_float(t, tvms__small_float(type, (uint32_t)u), 9);
  }
  add(t, text);
}

enum { ELEMENTS_SHOWN = 1000 };

static void add_axis(Text *t, const DLTensor *dl, int axis, const char **at, int64_t *left) {
  if (axis == dl->ndim) {
    if (*left > 0) add_element(t, dl->dtype, *at);
    (*left)--;
    *at += (dl->dtype.bits * dl->dtype.lanes + 7) / 8;
    return;
  }
  add(t, "[");
  for (int64_t i = 0; i < dl->shape[axis]; i++) {
    if (*left <= 0) {
      add(t, i ? " ..." : "...");
      break;
    }
    if (i) add(t, " ");
    add_axis(t, dl, axis + 1, at, left);
  }
  add(t, "]");
}

static void add_value(Text *t, int type, TvmsValue v) {
  char text[SHAPE_TEXT_SIZE];
  switch (type) {
  case TVMS_INT: snprintf(text, sizeof text, "%lld", (long long)v.i); break;
  case TVMS_FLOAT: return add_float(t, v.f, 17);
  case TVMS_BOOL: snprintf(text, sizeof text, "%s", v.i ? "True" : "False"); break;
  case TVMS_STR: return add(t, v.s);
  case TVMS_SHAPE: tvms__shape_text(tvms_shape_ndim(v.p), tvms_shape_dims(v.p), text); break;
  case TVMS_TENSOR:
  case TVMS_DLTENSOR: {
    const DLTensor *dl = v.p; /* a TvmsTensor begins with one */
    int64_t left = ELEMENTS_SHOWN;
    if (!tvms__dl_is_compact(dl)) return add(t, "<tensor with strides>");
    const char *at = (const char *)dl->data + dl->byte_offset;
    return add_axis(t, dl, 0, &at, &left);
  }
  case TVMS_TUPLE:
    add(t, "(");
    for (int i = 0; i < tvms_tuple_size(v.p); i++) {
      int kind;
      TvmsValue field = tvms_tuple_get(v.p, i, &kind);
      if (i) add(t, ", ");
      add_value(t, kind, field);
    }
    return add(t, ")");
  case TVMS_NONE: return add(t, "None");
  default: return add(t, tvms__type_text(type));
  }
  add(t, text);
}

/* The format with each {} replaced by a value; without {} or left over, the values follow,
 * separated by blanks. */
static Text formatted(const char *format, const TvmsValue *values, const int *types, int n) {
  Text t = {0};
  int next = 0;
  add(&t, "");
  for (const char *c = format; *c; c++) {
    char one[2] = {*c, 0};
    if (c[0] == '{' && c[1] == '}' && next < n)
      add_value(&t, types[next], values[next]), next++, c++;
    else add(&t, one);
  }
  for (; next < n; next++) {
    if (t.len) add(&t, " ");
    add_value(&t, types[next], values[next]);
  }
  return t;
}

static const char *format_arg(const TvmsValue *args, const int *types, int n) {
  return n > 0 && types[n - 1] == TVMS_STR ? args[n - 1].s : "";
}

static int say(const char *format, const TvmsValue *values, const int *types, int n) {
  Text t = formatted(format, values, types, n);
  if (t.failed) return free(t.at), tvms__error_no_memory(t.len);
  puts(t.at);
  fflush(stdout);
  free(t.at);
  return 0;
}

/* relax.print(*values, format) */
static int print(void *self, const TvmsValue *args, const int *types, int n, TvmsValue *ret,
                 int *ret_type) {
  (void)self, (void)ret, (void)ret_type;
  return say(format_arg(args, types, n), args, types, n > 0 ? n - 1 : 0);
}

static bool is_true(int type, TvmsValue v) {
  if (type == TVMS_TENSOR || type == TVMS_DLTENSOR) {
    const DLTensor *dl = v.p;
    return *((const unsigned char *)dl->data + dl->byte_offset) != 0;
  }
  return v.i != 0;
}

/* relax.assert_op(condition, *values, format) */
static int assert_op(void *self, const TvmsValue *args, const int *types, int n, TvmsValue *ret,
                     int *ret_type) {
  (void)self, (void)ret, (void)ret_type;
  if (n < 1) return tvms_set_error("assert_op needs a condition");
  if (is_true(types[0], args[0])) return 0;
  Text t = formatted(format_arg(args, types, n), args + 1, types + 1, n > 2 ? n - 2 : 0);
  tvms_set_error("assertion failed%s%s", t.len ? ": " : "", t.len && !t.failed ? t.at : "");
  free(t.at);
  return tvms_raise("AssertionError", (void *)(uintptr_t)tvms_last_error());
}

/* effect.print(state, tensor): the state again, so that what comes after waits */
static int effect_print(void *self, const TvmsValue *args, const int *types, int n, TvmsValue *ret,
                        int *ret_type) {
  (void)self;
  if (n < 1) return tvms_set_error("effect.print takes a state and values");
  if (say("", args + 1, types + 1, n - 1)) return -1;
  *ret = args[0];
  *ret_type = types[0];
  return tvms__value_own(ret_type, ret);
}

static const BuiltinRow own_rows[] = {{"relax.print", print},
                                      {"relax.assert_op", assert_op},
                                      {"effect.print", effect_print},
                                      {NULL, NULL}};
static const BuiltinRow *const tables[] = {own_rows, tvms__operator_rows, tvms__kv_cache_rows};

TvmsFunc *tvms__builtin_find(const char *name) {
  TvmsFunc *f = NULL;
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    for (const BuiltinRow *row = tables[i]; row->name; row++)
      if (strcmp(row->name, name) == 0 && tvms_func_new(&f, row->fn, NULL, NULL)) return NULL;
  return f;
}
