/* constant.c -- constant tensors as text: their elements, or a reference to the metadata. */
#include "ir/print/print.h"
#include <math.h>

static void print_element(Printer *p, const ConstData *d, int64_t i) {
  const char *at = (const char *)d->bytes + i * dtype_nbytes(d->elem);
  double x;
  if (dtype_is_float(d->elem)) {
    uint32_t bits = 0;
    if (d->elem.bits == 64) memcpy(&x, at, 8);
    else if (d->elem.bits == 32) {
      float f;
      memcpy(&f, at, 4);
      x = (double)f;
    } else
      memcpy(&bits, at, (size_t)dtype_nbytes(d->elem)), x = dtype_float_from_bits(d->elem, bits);
    if (isfinite(x)) return str_add(&p->out, float_text(d->elem, x));
    return str_add(&p->out, isnan(x) ? "float(\"nan\")"
                            : x < 0  ? "float(\"-inf\")"
                                     : "float(\"inf\")");
  }
  int64_t value = 0;
  memcpy(&value, at, (size_t)dtype_nbytes(d->elem));
  if (dtype_is_bool(d->elem)) return str_add(&p->out, value ? "True" : "False");
  value = dtype_wrap_int(d->elem, value);
  if (d->elem.code == DTYPE_UINT) str_printf(&p->out, "%llu", (unsigned long long)value);
  else str_printf(&p->out, "%lld", (long long)value);
}

static void print_nested(Printer *p, const ConstData *d, int axis, int64_t *next) {
  if (axis == d->ndim) return print_element(p, d, (*next)++);
  str_add_char(&p->out, '[');
  for (int64_t i = 0; i < d->shape[axis]; i++) {
    if (i) str_add(&p->out, ", ");
    print_nested(p, d, axis + 1, next);
  }
  str_add_char(&p->out, ']');
}

void print_const_data(Printer *p, const ConstData *d) {
  int64_t next = 0;
  print_nested(p, d, 0, &next);
}

/* Above this many elements a constant goes to the metadata, unless all are to stand in the text. */
enum { INLINE_ELEMENTS = 64 };

static bool stands_inline(Printer *p, const ConstData *d) {
  int64_t n = 1;
  for (int i = 0; i < d->ndim; i++) n *= d->shape[i];
  return p->options.constants == CONSTANTS_INLINE || n <= INLINE_ELEMENTS;
}

/* Nested lists can't tell the axes inside an empty one: (0, 3) is not (0,). */
static bool needs_shape(const ConstData *d) {
  for (int i = 0; i < d->ndim - 1; i++)
    if (!d->shape[i]) return true;
  return false;
}

static int metadata_index(Printer *p, Node *constant) {
  for (int i = 0; i < p->metadata.len; i++)
    if (node_equal(p->metadata.at[i], constant, false, NULL)) return i;
  vec_push(&p->metadata, constant);
  return p->metadata.len - 1;
}

void print_constant(Printer *p, Constant *c) {
  if (!stands_inline(p, c->data)) {
    str_printf(&p->out, "metadata[\"relax.expr.Constant\"][%d]", metadata_index(p, &c->node));
    return;
  }
  bool on_mesh = IS(TensorStructInfo, c->sinfo) && AS(TensorStructInfo, c->sinfo)->placement;
  str_add(&p->out, on_mesh ? "R.dist.const(" : "R.const(");
  print_const_data(p, c->data);
  str_add(&p->out, ", ");
  if (on_mesh) print_sinfo(p, c->sinfo);
  else str_printf(&p->out, "\"%s\"", dtype_text(c->data->elem));
  if (needs_shape(c->data)) {
    str_add(&p->out, ", shape=(");
    for (int i = 0; i < c->data->ndim; i++)
      str_printf(&p->out, "%s%lld", i ? ", " : "", (long long)c->data->shape[i]);
    str_add_char(&p->out, ')');
  }
  str_add_char(&p->out, ')');
}
