/* struct_info.c -- struct info and the places of tensors as text. */
#include "ir/print/print.h"

/* ---- places ---- */

static bool same_kind(const char *a, const char *b) {
  size_t n = strcspn(a, " ");
  return n == strcspn(b, " ") && strncmp(a, b, n) == 0;
}

/* vdevice="cuda:1": the place of the device among those of its kind in the module's global infos.
 * One that is not there stands for itself, and is written in full where its kind is. */
static void print_vdevice_ref(Printer *p, VDevice *d) {
  Node *list = p->module ? dict_get(p->module->global_infos, "vdevice") : NULL;
  int n = (int)strcspn(d->target, " "), nth = 0;
  for (int i = 0; list && i < AS(Array, list)->items.len; i++) {
    Node *other = AS(Array, list)->items.at[i];
    if (!same_kind(AS(VDevice, other)->target, d->target)) continue;
    if (node_equal(other, &d->node, false, NULL))
      return str_printf(&p->out, "\"%.*s:%d\"", n, d->target, nth);
    nth++;
  }
  if (nth || d->target[n] || !n || !str_same(d->scope, "global")) return print_attr(p, &d->node);
  str_printf(&p->out, "\"%s:%d\"", d->target, d->id);
}

void print_ints(Printer *p, const IntVec *v) {
  str_add_char(&p->out, '(');
  for (int i = 0; i < v->len; i++) str_printf(&p->out, "%s%d", i ? ", " : "", v->at[i]);
  str_add(&p->out, v->len == 1 ? ",)" : ")");
}

void print_device_mesh(Printer *p, DeviceMesh *m) {
  str_add(&p->out, "R.device_mesh(");
  print_ints(p, &m->shape);
  str_add(&p->out, ", ");
  if (m->range) {
    str_add(&p->out, "I.Range(");
    print_bounds(p, AS(Range, m->range)->min, AS(Range, m->range)->extent, ", ");
    str_add_char(&p->out, ')');
  } else {
    str_add_char(&p->out, '[');
    for (int i = 0; i < m->ids.len; i++) str_printf(&p->out, "%s%d", i ? ", " : "", m->ids.at[i]);
    str_add_char(&p->out, ']');
  }
  str_add_char(&p->out, ')');
}

/* ---- tensors ---- */

/* The next argument of a call: nothing before the first. */
static Str *next_arg(Printer *p, bool *first) {
  if (!*first) str_add(&p->out, ", ");
  *first = false;
  return &p->out;
}

static void print_tensor_info(Printer *p, TensorStructInfo *t) {
  bool first = true, ndim = !t->shape && t->ndim >= 0;
  str_add(&p->out, t->placement ? "R.DTensor" : "R.Tensor");
  if (!t->shape && dtype_is_void(t->elem) && !ndim && !t->vdevice && !t->placement) return;
  str_add_char(&p->out, '(');
  if (IS(ShapeExpr, t->shape)) {
    next_arg(p, &first);
    print_shape(p, AS(ShapeExpr, t->shape)->values, INT64);
  } else if (t->shape) str_add(next_arg(p, &first), name_of(p, t->shape));
  if (!dtype_is_void(t->elem)) str_printf(next_arg(p, &first), "dtype=\"%s\"", dtype_text(t->elem));
  if (ndim) str_printf(next_arg(p, &first), "ndim=%d", t->ndim);
  if (t->vdevice) {
    str_add(next_arg(p, &first), "vdevice=");
    print_vdevice_ref(p, AS(VDevice, t->vdevice));
  }
  if (t->mesh) {
    str_add(next_arg(p, &first), "device_mesh=");
    print_attr(p, t->mesh);
  }
  if (t->placement) str_printf(next_arg(p, &first), "placement=\"%s\"", t->placement);
  str_add_char(&p->out, ')');
}

/* ---- the other types ---- */

void print_infos(Printer *p, NodeVec v) {
  for (int i = 0; i < v.len; i++) {
    if (i) str_add(&p->out, ", ");
    print_sinfo(p, v.at[i]);
  }
}

static void print_derive_func(Printer *p, FuncStructInfo *f) {
  if (f->derive_func) {
    str_add(&p->out, ", derive_func=");
    print_quoted(p, f->derive_func);
  }
  str_add_char(&p->out, ')');
}

static void print_callable(Printer *p, FuncStructInfo *f) {
  str_add(&p->out, "R.Callable(");
  if (f->known) {
    str_add_char(&p->out, '(');
    print_infos(p, f->params);
    str_add(&p->out, f->params.len == 1 ? ",), " : "), ");
    print_sinfo(p, f->ret);
    str_printf(&p->out, ", %s", f->is_pure ? "True" : "False");
    return print_derive_func(p, f);
  }
  str_add(&p->out, "ret=");
  print_sinfo(p, f->ret ? f->ret : sinfo_object());
  str_printf(&p->out, ", purity=%s", f->is_pure ? "True" : "False");
  print_derive_func(p, f);
}

void print_sinfo(Printer *p, Node *n) {
  switch (n->kind) {
  case NK_ObjectStructInfo: str_add(&p->out, p->options.tvm_style ? "R.Any" : "R.Object"); break;
  case NK_PrimStructInfo: {
    PrimStructInfo *s = AS(PrimStructInfo, n);
    str_printf(&p->out, "R.Prim(\"%s\"", dtype_text(s->elem));
    if (s->value && !p->hides_values) {
      str_add(&p->out, ", value=");
      if (p->in_signature) print_quoted(p, expr_text(p, s->value));
      else print_expr(p, s->value);
    }
    str_add_char(&p->out, ')');
    break;
  }
  case NK_ShapeStructInfo: {
    ShapeStructInfo *s = AS(ShapeStructInfo, n);
    str_add(&p->out, "R.Shape");
    if (s->known) {
      str_add_char(&p->out, '(');
      print_shape(p, s->values, INT64);
      str_add_char(&p->out, ')');
    } else if (s->ndim >= 0) str_printf(&p->out, "(ndim=%d)", s->ndim);
    break;
  }
  case NK_TensorStructInfo: print_tensor_info(p, AS(TensorStructInfo, n)); break;
  case NK_TupleStructInfo:
    str_add(&p->out, "R.Tuple(");
    print_infos(p, AS(TupleStructInfo, n)->fields);
    str_add_char(&p->out, ')');
    break;
  case NK_FuncStructInfo: print_callable(p, AS(FuncStructInfo, n)); break;
  default: BUG("%s is no struct info", node_kind_name(n->kind));
  }
}
