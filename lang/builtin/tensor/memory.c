/* memory.c -- whose memory a tensor has: views and their bases, flags, scalars, shares_memory. */
#include "lang/builtin/tensor/tensor_impl.h"

bool view_is_compact(const View *v) {
  int64_t want = 1;
  if (!view_size(v)) return true;
  for (int i = v->ndim; i-- > 0; want *= v->shape[i])
    if (v->shape[i] != 1 && v->strides[i] != want) return false;
  return true;
}

static bool is_fortran(const View *v) {
  View turned = *v;
  int order[MAX_DIMS];
  for (int i = 0; i < v->ndim; i++) order[i] = v->ndim - 1 - i;
  view_permute(&turned, order);
  return view_is_compact(&turned);
}

Value tensor_view(const View *v, Span span) {
  TensorObject *owner = tensor_object(v->owner);
  if (owner->is_scalar) return tensor_copied(v, span);
  View part = *v;
  DLTensor dl = {.data = v->data,
                 .ndim = v->ndim,
                 .dtype = {(uint8_t)dtype_dlpack_code(v->dtype), v->dtype.bits, 1},
                 .shape = part.shape,
                 .strides = part.strides};
  TvmsTensor *t;
  if (tvms_tensor_strided(&t, owner->tensor, &dl))
    raise("ValueError", span, "%s", tvms_last_error());
  Value out = value_tensor(t);
  gc_foreign(-(ptrdiff_t)tensor_object(out)->nbytes); /* the owner's */
  tensor_object(out)->nbytes = 0;
  tensor_object(out)->base = owner->base.type ? owner->base : v->owner;
  tensor_object(out)->is_readonly = v->is_readonly;
  return out;
}

Value tensor_as_scalar(Value tensor) {
  tensor_object(tensor)->is_scalar = view_of(tensor).ndim == 0;
  return tensor;
}

void tensor_check_writable(Value tensor, Span span) {
  TensorObject *o = tensor_object(tensor);
  if (o->is_scalar)
    raise("TypeError", span, "'numpy.%s' object does not support item assignment",
          dtype_text(tensor_dtype(tensor)));
  if (o->is_readonly) raise("ValueError", span, "assignment destination is read-only");
}

/* Other elements stay: they may belong to another argument of the call that changed `now`. */
void tensor_take_changes(Value tensor, TvmsTensor *now, TvmsTensor *before) {
  View to = view_of(tensor), new = view_of(value_tensor(tvms_retain(now))),
       old = view_of(value_tensor(tvms_retain(before)));
  const View *views[] = {&to, &new, &old};
  Rows r;
  rows_start(&r, 3, views);
  while (rows_next(&r))
    for (int64_t i = 0; i < r.n; i++) {
      size_t size = (size_t)r.nbytes[0];
      char *from = r.at[1] + i * r.stride[1] * r.nbytes[1];
      if (memcmp(from, r.at[2] + i * r.stride[2] * r.nbytes[2], size) != 0)
        memcpy(r.at[0] + i * r.stride[0] * r.nbytes[0], from, size);
    }
}

/* ---- flags ---- */

static Value flag(Value tensor, const char *name) {
  View v = view_of(tensor);
  if (strcasecmp(name, "c_contiguous") == 0 || strcasecmp(name, "contiguous") == 0)
    return value_bool(view_is_compact(&v));
  if (strcasecmp(name, "f_contiguous") == 0) return value_bool(is_fortran(&v));
  if (strcasecmp(name, "owndata") == 0) return value_bool(!tensor_object(tensor)->base.type);
  if (strcasecmp(name, "writeable") == 0)
    return value_bool(!v.is_readonly && !tensor_object(tensor)->is_scalar);
  if (strcasecmp(name, "aligned") == 0) return value_bool(true);
  return value_absent();
}

static const char *const flag_names[] = {"c_contiguous", "f_contiguous", "owndata", "writeable",
                                         "aligned"};
enum { FLAGS = sizeof flag_names / sizeof *flag_names };

static Value flags_tensor(Value flags) { return *(Value *)flags.object; }
static Value flags_attr(Value v, const char *name, Span span) {
  return (void)span, flag(flags_tensor(v), name);
}
static Value flags_item(Value v, Value index, Span span) {
  Value x = flag(flags_tensor(v), value_as_text(index, "the name of a flag", span));
  if (!x.type) raise("KeyError", span, "Unknown flag");
  return x;
}
static bool flags_set(Value v, const char *name, Value x, Span span) {
  if (strcmp(name, "writeable") != 0) return false;
  Value tensor = flags_tensor(v), base = tensor_object(tensor)->base;
  bool writable = value_truth(x, span);
  if (writable && base.type && tensor_object(base)->is_readonly)
    raise("ValueError", span, "cannot set WRITEABLE flag to True of this array");
  tensor_object(tensor)->is_readonly = !writable;
  return true;
}
static void flags_names(Value v, StrVec *out) {
  (void)v;
  for (int i = 0; i < FLAGS; i++) vec_push(out, flag_names[i]);
}
static void flags_repr(Value v, Str *out) {
  for (int i = 0; i < FLAGS; i++) {
    const char *text = value_repr(flag(flags_tensor(v), flag_names[i]));
    str_add(out, "  ");
    for (const char *c = flag_names[i]; *c; c++)
      str_add_char(out, (char)(*c == '_' ? *c : *c - 32));
    str_printf(out, " : %s\n", text);
  }
}

static const ValueType type_flags = {.name = "flagsobj",
                                     .repr = flags_repr,
                                     .get_attr = flags_attr,
                                     .set_attr = flags_set,
                                     .attr_names = flags_names,
                                     .get_item = flags_item};

Value tensor_flags(Value tensor) { return value_of(&type_flags, gc_copy(&tensor, sizeof tensor)); }

/* ---- shares_memory ---- */

/* The bytes from lo up to hi that the elements lie in. */
static void reach(const View *v, char **lo, char **hi) {
  int64_t low = 0, high = 0;
  for (int i = 0; i < v->ndim; i++) {
    int64_t far = (v->shape[i] - 1) * v->strides[i];
    if (far < 0) low += far;
    else high += far;
  }
  *lo = v->data + low * dtype_nbytes(v->dtype);
  *hi = v->data + (high + 1) * dtype_nbytes(v->dtype);
}

/* Marks (or, without marks to set, looks for) the bytes of v in [lo, hi). */
static bool visit_bytes(const View *v, char *marks, bool set, const char *lo, const char *hi) {
  const View *views[] = {v};
  Rows r;
  rows_start(&r, 1, views);
  while (rows_next(&r))
    for (int64_t i = 0; i < r.n; i++) {
      const char *at = r.at[0] + i * r.stride[0] * r.nbytes[0];
      for (const char *p = at; p < at + r.nbytes[0]; p++) {
        if (p < lo || p >= hi) continue;
        if (set) marks[p - lo] = 1;
        else if (marks[p - lo]) return true;
      }
    }
  return false;
}

static Value np_shares_memory(BuiltinCall *c) {
  View a = view_of(tensor_of(c->args[0], c->spans[0])),
       b = view_of(tensor_of(c->args[1], c->spans[1]));
  char *a_lo, *a_hi, *b_lo, *b_hi;
  if (!view_size(&a) || !view_size(&b)) return value_bool(false);
  reach(&a, &a_lo, &a_hi);
  reach(&b, &b_lo, &b_hi);
  char *lo = a_lo > b_lo ? a_lo : b_lo, *hi = a_hi < b_hi ? a_hi : b_hi;
  bool exact = strcmp(c->builtin->name, "shares_memory") == 0;
  if (lo >= hi || !exact) return value_bool(lo < hi);
  char *marks = NEW_BYTES((size_t)(hi - lo));
  memset(marks, 0, (size_t)(hi - lo));
  visit_bytes(&a, marks, true, lo, hi);
  return value_bool(visit_bytes(&b, marks, false, lo, hi));
}

static const Builtin rows[] = {
    {"shares_memory", "a, b", np_shares_memory, "do two tensors have a byte in common?"},
    {"may_share_memory", "a, b", np_shares_memory, "do the ranges of their bytes overlap?"},
};
const BuiltinRows memory_rows = {rows, sizeof rows / sizeof *rows};
