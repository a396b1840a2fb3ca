/* gconvert.c -- graph values to the runtime's and back: at the entry, and for packed functions. */
#include "target/interp/interp.h"

/* ---- from outside ---- */

static GraphValue import_tuple(TvmsTuple *t, Span span) {
  int n = tvms_tuple_size(t);
  GraphValue *fields = NEW_ARRAY(GraphValue, n + 1);
  interp_check_depth("a tuple", span);
  for (int i = 0; i < n; i++) {
    int type;
    TvmsValue field = tvms_tuple_get(t, i, &type);
    fields[i] = gvalue_import(type, field, false, span);
  }
  return gvalue_tuple(n, fields);
}

GraphValue gvalue_import(int type, TvmsValue v, bool owned, Span span) {
  if (owned && type >= TVMS_TENSOR && v.p) interp_own(v.p);
  switch (type) {
  case TVMS_STR: {
    TvmsValue copy = {.s = v.s ? str_copy_n(v.s, strlen(v.s)) : ""};
    if (owned) tvms_value_release(type, v);
    return (GraphValue){.type = type, .bits = copy};
  }
  case TVMS_DLTENSOR:
  case TVMS_TENSOR:
    if (!v.p) fault(span, "a tensor is NULL");
    memory_note_tensor(v.p, true, NULL);
    return (GraphValue){.type = type, .bits = v};
  case TVMS_TUPLE: return import_tuple(v.p, span);
  default: return (GraphValue){.type = type, .bits = v};
  }
}

/* ---- to outside ---- */

static bool is_constant(const DLTensor *t) {
  Memory *m = memory_find((char *)t->data + t->byte_offset);
  return m && m->is_constant;
}

/* A tensor that the caller may keep and change: a new reference. */
static TvmsTensor *own_tensor(const GraphValue *v, Span span) {
  const DLTensor *t = gvalue_tensor(v);
  bool constant = is_constant(t);
  if (v->type == TVMS_TENSOR && !constant) return tvms_retain(v->bits.p);
  TvmsTensor *view, *copy;
  if (tvms_tensor_view(&view, t)) fault_runtime(span);
  int status = tvms_tensor_copy(&copy, view);
  tvms_release(view);
  if (status) fault_runtime(span);
  return copy;
}

/* Fields are given to the tuple, which holds references of its own. */
static TvmsTuple *give_tuple(Module *m, const GraphTuple *t, Span span) {
  TvmsValue *values = NEW_ARRAY(TvmsValue, t->n + 1);
  int *types = NEW_ARRAY(int, t->n + 1);
  interp_check_depth("a tuple", span);
  for (int i = 0; i < t->n; i++) gvalue_give(m, &t->at[i], &values[i], &types[i], span);
  TvmsTuple *tuple;
  int status = tvms_tuple_new(&tuple, t->n, values, types);
  for (int i = 0; i < t->n; i++) tvms_value_release(types[i], values[i]);
  if (status) fault_runtime(span);
  return tuple;
}

void gvalue_give(Module *m, const GraphValue *v, TvmsValue *out, int *type, Span span) {
  *type = v->type;
  *out = v->bits;
  switch (v->type) {
  case TVMS_STR:
    out->s = tvms_string_copy(v->bits.s);
    if (!out->s) fault_runtime(span);
    return;
  case TVMS_DLTENSOR:
  case TVMS_TENSOR: out->p = own_tensor(v, span), *type = TVMS_TENSOR; return;
  case TVMS_TUPLE: out->p = give_tuple(m, v->tuple, span); return;
  case VALUE_CLOSURE:
    out->p = module_function_object(m, v->closure, span), *type = TVMS_FUNC;
    return;
  default:
    if (v->type > TVMS_TENSOR) tvms_retain(v->bits.p);
  }
}

void gvalue_export(Module *m, const GraphValue *v, TvmsValue *out, int *type, Span span) {
  const DLTensor *t = gvalue_tensor(v);
  bool made = v->type == TVMS_TUPLE || v->type == VALUE_CLOSURE || (t && is_constant(t));
  *type = v->type;
  *out = v->bits;
  if (!made) return;
  gvalue_give(m, v, out, type, span);
  interp_own(out->p);
}
