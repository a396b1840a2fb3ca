/* packed.c -- script values to the runtime's values and back; packed functions as values. */
#include "lang/dialect/packed.h"
#include "lang/builtin/tensor.h"
#include "ir/support/interrupt.h"
#include "ir/support/stack.h"
#include <time.h>

/* ---- arguments ---- */

/* A tensor with strides, which compiled code is given as a compact copy. */
typedef struct Lent {
  Value tensor;
  TvmsTensor *copy, *before; /* before: as the copy was before the call */
} Lent;

/* Values of one call in the runtime's form. Objects made for it are released after. */
typedef struct Marshal {
  VEC(TvmsValue) values;
  IntVec types;
  VEC(void *) made;
  VEC(Lent) lent;
} Marshal;

static void put(Marshal *m, int type, TvmsValue v) {
  vec_push(&m->values, v);
  vec_push(&m->types, type);
}

static void marshal(Marshal *m, Value v, Span span);

static void marshal_tuple(Marshal *m, Value v, Span span) {
  if (stack_is_low())
    raise("RecursionError", span, "the tuple is nested too deeply to be passed to compiled code");
  Marshal inner = {0};
  for each (Value, x, value_items(v)) marshal(&inner, *x, span);
  TvmsTuple *t;
  int status = tvms_tuple_new(&t, inner.values.len, inner.values.at, inner.types.at);
  for each (void *, object, &inner.made) tvms_release(*object);
  for each (Lent, l, &inner.lent) vec_push(&m->lent, *l);
  if (status) raise("RuntimeError", span, "%s", tvms_last_error());
  vec_push(&m->made, (void *)t);
  put(m, TVMS_TUPLE, (TvmsValue){.p = t});
}

static TvmsTensor *compact_copy(TvmsTensor *t, Marshal *m, Span span) {
  TvmsTensor *copy;
  if (tvms_tensor_copy(&copy, t)) raise("RuntimeError", span, "%s", tvms_last_error());
  vec_push(&m->made, (void *)copy);
  return copy;
}

static void marshal_tensor(Marshal *m, Value v, Span span) {
  TvmsTensor *t = value_any_tensor(v, span);
  if (!tvms_tensor_is_compact(t)) {
    Lent lent = {.tensor = v, .copy = compact_copy(t, m, span)};
    vec_push(&m->lent, lent);
    t = lent.copy;
  }
  put(m, TVMS_TENSOR, (TvmsValue){.p = t});
}

/* tvm.runtime.ShapeTuple, the class of shapes as values of the script. */
static Value shape_class(void) { return library_attr("tvm.runtime", "ShapeTuple"); }

static bool is_shape(Value v, Span span) {
  return value_is_node(v, NK_ShapeExpr) ||
         (v.type == &type_instance && value_is_instance(v, shape_class(), span));
}

static void marshal_shape(Marshal *m, Value shape, Span span) {
  VEC(int64_t) dims = {0};
  NodeVec values = shape.type == &type_node ? AS(ShapeExpr, shape.node)->values
                                            : to_exprs(value_plain(shape), span);
  for each (Node *, d, &values) {
    int64_t dim;
    if (!expr_is_const_int(*d, &dim))
      raise("TypeError", span, "a shape argument needs numbers, found '%s'", ir_print(*d, NULL));
    vec_push(&dims, dim);
  }
  TvmsShape *s;
  if (tvms_shape_new(&s, dims.len, dims.at)) raise("RuntimeError", span, "%s", tvms_last_error());
  vec_push(&m->made, (void *)s);
  put(m, TVMS_SHAPE, (TvmsValue){.p = s});
}

void release_handle(void *p) { tvms_release(((Handle *)p)->object); }

static Value value_handle(const ValueType *type, void *object) {
  Handle *h = NEW(Handle, object);
  gc_finalizer(h, release_handle);
  return value_of(type, h);
}
void *handle_object(Value v) { return ((Handle *)v.object)->object; }

const ValueType type_packed;

static void marshal(Marshal *m, Value v, Span span) {
  int64_t i;
  if (value_is_none(v)) return put(m, TVMS_NONE, (TvmsValue){0});
  if (v.type == &type_bool) return put(m, TVMS_BOOL, (TvmsValue){.i = v.boolean});
  if (v.type == &type_int) return put(m, TVMS_INT, (TvmsValue){.i = v.integer});
  if (v.type == &type_float) return put(m, TVMS_FLOAT, (TvmsValue){.f = v.real});
  if (v.type == &type_str) return put(m, TVMS_STR, (TvmsValue){.s = value_text(v)});
  if (v.type == &type_tensor || v.type == &type_device_tensor) return marshal_tensor(m, v, span);
  if (v.type == &type_packed) return put(m, TVMS_FUNC, (TvmsValue){.p = handle_object(v)});
  if (v.type == &type_tuple || v.type == &type_list) return marshal_tuple(m, v, span);
  if (is_shape(v, span)) return marshal_shape(m, v, span);
  if (v.type == &type_node && expr_is_const_int(v.node, &i))
    return put(m, TVMS_INT, (TvmsValue){.i = i});
  if (v.type == &type_node && IS(FloatImm, v.node))
    return put(m, TVMS_FLOAT, (TvmsValue){.f = AS(FloatImm, v.node)->value});
  if (v.type == &type_function || v.type == &type_builtin) {
    TvmsFunc *f = packed_of_value(v, span);
    vec_push(&m->made, (void *)f);
    return put(m, TVMS_FUNC, (TvmsValue){.p = f});
  }
  raise("TypeError", span, "%s can't be passed to compiled code", value_type_name(v));
}

/* ---- results: takes over the reference in an owned value ---- */

static Value unmarshal(int type, TvmsValue v, bool owned) {
  switch (type) {
  case TVMS_INT: return value_int(v.i);
  case TVMS_FLOAT: return value_float(v.f);
  case TVMS_BOOL: return value_bool(v.i != 0);
  case TVMS_STR: {
    Value text = value_str(str_copy_n(v.s, strlen(v.s)));
    if (owned) tvms_value_release(type, v);
    return text;
  }
  case TVMS_TENSOR: return value_tensor(owned ? v.p : tvms_retain(v.p));
  case TVMS_FUNC: return value_packed(owned ? v.p : tvms_retain(v.p));
  case TVMS_MODULE: return value_built_module(owned ? v.p : tvms_retain(v.p));
  case TVMS_SHAPE: {
    ValueVec dims = {0};
    for (int i = 0; i < tvms_shape_ndim(v.p); i++)
      vec_push(&dims, value_int(tvms_shape_dims(v.p)[i]));
    if (owned) tvms_value_release(type, v);
    Value shape = value_tuple(dims);
    return value_call_with(shape_class(), 1, &shape, (Span){0});
  }
  case TVMS_TUPLE: {
    ValueVec items = {0};
    for (int i = 0; i < tvms_tuple_size(v.p); i++) {
      int kind;
      TvmsValue field = tvms_tuple_get(v.p, i, &kind);
      vec_push(&items, unmarshal(kind, field, false));
    }
    if (owned) tvms_value_release(type, v);
    return value_tuple(items);
  }
  default: return value_none();
  }
}

/* ---- packed functions as values ---- */

static void marshal_args(Marshal *m, const ValueVec *args, Span span) {
  for each (Value, v, args) marshal(m, *v, span);
  for each (Lent, l, &m->lent) l->before = compact_copy(l->copy, m, span);
}

static int call_marshalled(TvmsFunc *f, Marshal *m, TvmsValue *ret, int *type) {
  int was = interrupt_outside;
  *ret = (TvmsValue){0};
  *type = TVMS_NONE;
  interrupt_outside = 1;
  int status = tvms_func_call(f, m->values.at, m->types.at, m->values.len, ret, type);
  interrupt_outside = was;
  return status;
}

static void marshal_end(Marshal *m) {
  for each (Lent, l, &m->lent) tensor_take_changes(l->tensor, l->copy, l->before);
  for each (void *, object, &m->made) tvms_release(*object);
}

/* Faults of kernels: reported by themselves if nothing catches them, else a line for each. */
_Noreturn static void raise_faults(const DiagVec *faults, Span span) {
  Str text = {0};
  for each (Diag *, d, faults) {
    Location at = source_locate((*d)->span.lo);
    str_printf(&text, "%s%s:%d: %s: %s", text.len ? "\n" : "", at.source ? at.source->name : "?",
               at.line, code_row((*d)->code)->name, (*d)->text);
    for each (Diag *, n, &(*d)->notes)
      if ((*n)->span.hi) str_printf(&text, " (line %d)", source_locate((*n)->span.lo).line);
  }
  error_raise(NEW(Error, .kind = str_intern("RuntimeError"), .code = faults->at[0]->code,
                  .text = str_text(&text), .span = span, .faults = faults));
}

/* What a script function raised that compiled code called, and the text that it became. */
static Error *raised;
static const char *raised_text;

_Noreturn static void raise_failure(Span span) {
  interrupt_check(span); /* the interpreter stops for it */
  const DiagVec *faults = sanitizer_faults();
  if (faults) raise_faults(faults, span);
  const char *text = tvms_last_error();
  /* The interpreter puts the place before what is said. */
  if (raised && str_ends(text, raised_text)) error_raise(raised);
  raise(str_intern(tvms_last_error_kind()), span, "%s", text);
}

static Value packed_call(Value f, CallArgs *args) {
  if (args->names.len)
    raise("TypeError", args->span, "compiled functions take arguments by position only");
  Marshal m = {0};
  TvmsValue ret;
  int type;
  marshal_args(&m, &args->positional, args->span);
  int status = call_marshalled(handle_object(f), &m, &ret, &type);
  marshal_end(&m);
  if (status) raise_failure(args->span);
  return unmarshal(type, ret, true);
}

/* Devices work on after a call has returned. */
static int wait_for_devices(const Marshal *m) {
  for (int i = 0; i < m->types.len; i++) {
    if (m->types.at[i] != TVMS_TENSOR) continue;
    if (tvms_device_sync(tvms_tensor_dl(m->values.at[i].p)->device)) return -1;
  }
  return 0;
}

/* Seconds of `number` calls, or -1. */
static double time_calls(TvmsFunc *f, Marshal *m, int64_t number) {
  struct timespec begin, end;
  if (wait_for_devices(m)) return -1;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int64_t i = 0; i < number; i++) {
    TvmsValue ret;
    int type;
    if (interrupt_pending || call_marshalled(f, m, &ret, &type)) return -1;
    tvms_value_release(type, ret);
  }
  if (wait_for_devices(m)) return -1;
  clock_gettime(CLOCK_MONOTONIC, &end);
  return (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}

double packed_seconds(Value function, const ValueVec *args, int64_t number, Span span) {
  Marshal m = {0};
  TvmsFunc *f = packed_of_value(function, span);
  marshal_args(&m, args, span);
  double seconds = time_calls(f, &m, number);
  marshal_end(&m);
  tvms_release(f);
  if (seconds < 0) raise_failure(span);
  return seconds;
}

const ValueType type_packed = {.name = "packed function", .call = packed_call};

Value value_packed(TvmsFunc *f) { return value_handle(&type_packed, f); }

/* ---- script functions that compiled code calls ---- */

typedef struct Callback {
  Value function;
  const TvmsValue *args;
  const int *types;
  int n;
  Marshal lent; /* arguments that are memory of the caller */
  Marshal *result;
} Callback;

/* The script may keep what it is given, so it gets a copy, whose changes are taken back. */
static Value lent_argument(Marshal *m, void *dltensor) {
  TvmsTensor *view;
  if (tvms_tensor_view(&view, dltensor)) raise("RuntimeError", (Span){0}, "%s", tvms_last_error());
  Lent l = {.tensor = value_tensor(view)};
  l.copy = compact_copy(view, m, (Span){0});
  l.before = compact_copy(view, m, (Span){0});
  vec_push(&m->lent, l);
  return value_tensor(tvms_retain(l.copy));
}

static void run_callback(void *context) {
  Callback *c = context;
  ValueVec args = {0};
  for (int i = 0; i < c->n; i++)
    vec_push(&args, c->types[i] == TVMS_DLTENSOR ? lent_argument(&c->lent, c->args[i].p)
                                                 : unmarshal(c->types[i], c->args[i], false));
  Value v = value_call_with(c->function, args.len, args.at, (Span){0});
  marshal(c->result, v, (Span){0});
}

/* The result's objects were made for it or are retained: the caller owns one reference. */
static void give_result(Marshal *m, TvmsValue *ret, int *ret_type) {
  *ret = m->values.at[0];
  *ret_type = m->types.at[0];
  if (*ret_type == TVMS_STR) ret->s = tvms_string_copy(ret->s);
  else if (*ret_type >= TVMS_TENSOR && !m->made.len) tvms_retain(ret->p);
}

/* No raise may cross the compiled caller: an exception becomes the call's error. */
static int invoke_callback(void *self, const TvmsValue *args, const int *types, int n,
                           TvmsValue *ret, int *ret_type) {
  Marshal result = {0};
  Callback c = {
      .function = *(Value *)self, .args = args, .types = types, .n = n, .result = &result};
  int was = interrupt_outside;
  interrupt_outside = 0;
  Error *e = eval_protect(run_callback, &c);
  interrupt_outside = was;
  marshal_end(&c.lent);
  if (e) {
    raised = e;
    tvms_set_error("%s: %s", e->kind, e->text);
    raised_text = str_copy_n(tvms_last_error(), strlen(tvms_last_error()));
    return -1;
  }
  give_result(&result, ret, ret_type);
  return 0;
}

TvmsFunc *packed_of_value(Value f, Span span) {
  if (f.type == &type_packed) return tvms_retain(handle_object(f));
  if (!f.type->call) raise("TypeError", span, "expected a function, found %s", value_type_name(f));
  Value *self = gc_copy(&f, sizeof f);
  gc_root(self); /* the registry's memory is not searched */
  TvmsFunc *out;
  if (tvms_func_new(&out, invoke_callback, self, NULL))
    raise("RuntimeError", span, "%s", tvms_last_error());
  return out;
}
