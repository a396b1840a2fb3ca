/* view.c -- buffers at run time: where their elements are, and their own allocations. */
#include "target/interp/interp.h"
#include <inttypes.h>
#include <stdlib.h>

/* ---- compiling ---- */

static bool is_number(Node *n) { return !n || IS(IntImm, n); }

static bool all_numbers(const NodeVec *v) {
  for each (Node *, n, v)
    if (!is_number(*n)) return false;
  return true;
}

static CodeVec compile_ints(Compiler *c, const NodeVec *v) {
  CodeVec out = {0};
  for each (Node *, n, v) vec_push(&out, compile_int(c, *n));
  return out;
}

/* An access of a buffer that nothing declares makes a view of its pointer. */
ViewInfo *compile_view(Compiler *c, Node *buffer, bool declared) {
  ViewInfo *info = map_get(&c->views, buffer);
  if (info) return info;
  Buffer *b = AS(Buffer, buffer);
  int lanes = b->elem.lanes;
  if (lanes < 1) unsupported(c->span, str_format("a buffer of %s", dtype_text(b->elem)));
  if (b->strides.len && b->strides.len != b->shape.len)
    fault(c->span, "buffer '%s' has %d dimensions, but %d strides", b->name, b->shape.len,
          b->strides.len);
  info = NEW(ViewInfo, .buffer = b, .index = c->program->views.len, .is_declared = declared,
             .ndim = b->shape.len, .nbytes = scalar_nbytes(b->elem) * lanes, .memory = -1,
             .data_slot = -1);
  info->is_fixed = all_numbers(&b->shape) && all_numbers(&b->strides) && is_number(b->elem_offset);
  info->data = compile_expr(c, b->data);
  info->dims = compile_ints(c, &b->shape);
  info->strides = compile_ints(c, &b->strides);
  if (b->elem_offset) info->offset = compile_int(c, b->elem_offset);
  vec_push(&c->program->views, info);
  map_set(&c->views, buffer, info);
  return info;
}

ViewInfo *compile_own_buffer(Compiler *c, Node *buffer) {
  Node *data = AS(Buffer, buffer)->data;
  if (!IS(Var, data)) unsupported(c->span, "an allocated buffer over an expression");
  int slot = compile_define(c, data);
  ViewInfo *info = compile_view(c, buffer, true);
  info->data_slot = slot;
  info->memory = c->program->memory_count++;
  note_private(c, buffer_scope(buffer), slot, info->memory);
  return info;
}

/* ---- setting up ---- */

static void set_shape(const ViewInfo *info, Frame *f, View *v) {
  uint64_t stride = 1;
  for (int i = info->ndim - 1; i >= 0; i--) {
    v->dims[i] = code_eval(info->dims.at[i], f).i;
    v->strides[i] = info->strides.len ? code_eval(info->strides.at[i], f).i : (int64_t)stride;
    stride *= (uint64_t)v->dims[i];
  }
}

View *view_bind(const ViewInfo *info, Frame *f) {
  View *v = &f->views[info->index];
  char *data = code_eval(info->data, f).p;
  if (info->is_fixed && v->data == data && v->epoch == interp->epoch) return v;
  set_shape(info, f, v);
  int64_t offset = info->offset ? code_eval(info->offset, f).i : 0;
  v->data = data;
  v->base = data + offset * info->nbytes;
  v->memory = memory_find(data);
  v->epoch = interp->epoch;
  return v;
}

/* ---- allocations ---- */

Memory *frame_memory(Frame *f, int index, int64_t nbytes, const char *name, Span span) {
  Memory *m = f->memories[index];
  if (m && m->end - m->lo == (nbytes > 0 ? nbytes : 0) && m->shadow) {
    memset(m->shadow, 0, (size_t)(m->hi - m->lo));
    race_reset(m);
    return m;
  }
  if (m) memory_forget(m);
  return f->memories[index] = memory_new(nbytes, name, span);
}

/* Elements from the first to the last one, or -1. */
static int64_t extent_of(const ViewInfo *info, const View *v) {
  int64_t last = 0, step;
  for (int i = 0; i < info->ndim; i++) {
    if (v->dims[i] <= 0) return 0;
    bool overflow = __builtin_mul_overflow(v->dims[i] - 1, v->strides[i], &step) ||
                    __builtin_add_overflow(last, step, &last);
    if (overflow || v->strides[i] < 0) return -1;
  }
  return last + 1;
}

void view_allocate(const ViewInfo *info, Frame *f, Span span) {
  View *v = &f->views[info->index];
  set_shape(info, f, v);
  int64_t n = extent_of(info, v), nbytes;
  int64_t offset = info->offset ? code_eval(info->offset, f).i : 0;
  bool bad = n < 0 || offset < 0 || __builtin_add_overflow(n, offset, &n) ||
             __builtin_mul_overflow(n, (int64_t)info->nbytes, &nbytes);
  if (bad) fault(span, "buffer '%s' is too large", info->buffer->name);
  v->memory = frame_memory(f, info->memory, nbytes, info->buffer->name, span);
  v->data = v->memory->lo;
  v->base = v->data + offset * info->nbytes;
  f->slots[info->data_slot].p = v->data;
}
