/* access.c -- loads and stores: each index is checked against its dimension, the bytes against the
 * memory that they lie in, and what is read must have been written. A value that only moves into
 * memory of the program itself may not be: what was never written there counts as not written here.
 *
 * A vector index makes a vector access, element by element. A predicate masks lanes: what is masked
 * out is not touched, and a load gives 0 there. */
#include "target/interp/check.h"
#include <inttypes.h>

typedef struct Access {
  const ViewInfo *view;
  CodeVec index;
  int vector;            /* which index is a vector; -1: none */
  int indices;           /* its lanes */
  int elem_lanes;        /* lanes of an element */
  int size;              /* bytes of a lane */
  const Code *predicate; /* or NULL */
  Load *load;
  Store *store;
  const char *doing;
  Span span;
  uint32_t site;
  bool is_private, is_shared; /* where its memory belongs */
} Access;

static const char *name_of(const Access *a) {
  return a->view->buffer->name ? a->view->buffer->name : "_";
}

static Access access_new(Compiler *c, Node *buffer, const NodeVec *indices, Node *predicate,
                         const char *doing) {
  ViewInfo *info = compile_view(c, buffer, false);
  c->meetings += is_shared_scope(buffer_scope(buffer));
  DataType elem = info->buffer->elem;
  Access a = {.view = info,
              .vector = -1,
              .indices = 1,
              .elem_lanes = elem.lanes,
              .size = scalar_nbytes(elem),
              .load = scalar_load(elem),
              .store = scalar_store(elem),
              .doing = doing,
              .span = c->span};
  a.is_shared = is_shared_scope(buffer_scope(buffer));
  a.is_private = str_same(buffer_scope(buffer), "local");
  a.site = site_new((Site){c->span, doing, name_of(&a), false, a.is_shared});
  if (indices->len != info->ndim)
    fault(c->span, "buffer '%s' has %d dimensions, but %d indices are given", info->buffer->name,
          info->ndim, indices->len);
  for (int i = 0; i < indices->len; i++) {
    const Code *index = compile_int(c, indices->at[i]);
    vec_push(&a.index, index);
    if (index->t.lanes == 1) continue;
    if (a.vector >= 0) unsupported(c->span, "an access with two vector indices");
    a.vector = i;
    a.indices = index->t.lanes;
  }
  if (a.indices > INT16_MAX / a.elem_lanes) unsupported(c->span, "an access of that many lanes");
  if (predicate) a.predicate = compile_condition(c, predicate);
  return a;
}

/* ---- faults: noted by a Checker, which goes on; else raised ---- */

/* " by thread ...", where there are threads. */
static const char *by_thread(void) {
  return interp->checker && interp->thread ? str_format(" by %s", thread_here()) : "";
}

static void out_of_bounds(const Access *a, const View *v, int axis, int64_t index) {
  found_fault(E0605, a->span, (Span){0}, NULL, NULL,
              "%s of '%s'%s is out of bounds: index %" PRId64
              " of dimension %d, whose extent is %" PRId64,
              a->doing, name_of(a), by_thread(), index, axis, v->dims[axis]);
}

static void outside_memory(const Access *a, const View *v, const char *at) {
  if (!v->memory) fault(a->span, "%s of '%s': its pointer is null", a->doing, name_of(a));
  const Memory *m = v->memory;
  int64_t from = at - m->lo;
  found_fault(E0605, a->span, (Span){0}, NULL, NULL,
              "%s of '%s'%s is out of bounds: bytes %" PRId64 " to %" PRId64
              " of memory of %" PRId64 " bytes%s%s%s",
              a->doing, name_of(a), by_thread(), from, from + a->size * a->elem_lanes - 1,
              (int64_t)(m->end - m->lo), m->name ? " ('" : "", m->name ? m->name : "",
              m->name ? "')" : "");
}

typedef struct Element {
  const Access *access;
  const Scalar *index;
} Element;

static const char *index_text(const void *context) {
  const Element *e = context;
  Str at = {0};
  for (int i = 0; i < e->access->index.len; i++)
    str_printf(&at, "%s%" PRId64, i ? ", " : "", e->index[i].i);
  return e->access->index.len ? str_text(&at) : "()";
}

static void not_written(const Access *a, const char *at, const Scalar *index) {
  const char *comes = async_pending(at);
  bool is_product = comes && str_same(comes, "product");
  found_fault(E0604, a->span, (Span){0}, NULL,
              is_product ? "put T.ptx_wgmma_wait_group(0) before it"
              : comes    ? "put T.ptx_wait_group(0) and a barrier before it"
                         : NULL,
              "%s of '%s'%s reads element [%s], %s", a->doing, name_of(a), by_thread(),
              index_text(&(Element){a, index}),
              comes ? str_format("whose asynchronous %s was not waited for", comes)
                    : "which was never written");
}

/* ---- one element ---- */

static View *view_of(const Access *a, Frame *f) {
  return a->view->is_declared ? &f->views[a->view->index] : view_bind(a->view, f);
}

/* Where the element is, NULL if nowhere; `last`: the end of a dimension is allowed too, for
 * addresses. */
static char *locate(const Access *a, const View *v, const Scalar *index, bool last) {
  int64_t at = 0;
  for (int i = 0; i < a->index.len; i++) {
    int64_t x = index[i].i;
    if (x < 0 || x >= v->dims[i] + last) {
      out_of_bounds(a, v, i, x);
      return NULL;
    }
    at += x * v->strides[i];
  }
  return v->base + at * a->view->nbytes;
}

static char *checked(const Access *a, const View *v, const Scalar *index) {
  char *at = locate(a, v, index, false);
  const Memory *m = v->memory;
  bool bad = m ? at < m->lo || at + a->view->nbytes > m->end : !v->data;
  if (!at || !bad) return at;
  outside_memory(a, v, at);
  return NULL;
}

static inline bool all_written(const unsigned char *shadow, int n) {
  uint32_t four;
  uint64_t eight;
  switch (n) {
  case 1: return *shadow;
  case 4: return memcpy(&four, shadow, 4), four == 0x01010101u;
  case 8: return memcpy(&eight, shadow, 8), eight == 0x0101010101010101u;
  default: return !memchr(shadow, 0, (size_t)n);
  }
}

static inline void note_access(const Access *a, Memory *m, const char *at, const Scalar *index,
                               bool writes) {
  if (__builtin_expect(!interp->thread, 1) || !m || a->is_private) return;
  race_note(m, at, a->view->nbytes, writes, a->site, index_text, &(Element){a, index});
  if (interp->checker && interp->checker->counts)
    traffic_note(a->site, m, at, a->view->nbytes, a->is_shared);
}

/* NULL: nothing can be read. holes: of the element's lanes, to be set where nothing was written;
 * NULL: that is a fault. */
static const char *to_read(const Access *a, const View *v, const Scalar *index, bool *holes) {
  char *at = checked(a, v, index);
  Memory *m = v->memory;
  if (!at) return NULL;
  note_access(a, m, at, index, false);
  if (!m || !m->shadow) return at;
  const unsigned char *shadow = m->shadow + (at - m->lo);
  if (all_written(shadow, a->view->nbytes)) return at;
  if (!holes || async_pending(at)) return not_written(a, at, index), at;
  for (int j = 0; j < a->elem_lanes; j++) holes[j] = !all_written(shadow + j * a->size, a->size);
  return at;
}

/* Where to store, NULL: nowhere; the bytes that are written there are marked with mark_written().
 */
static char *to_write(const Access *a, const View *v, const Scalar *index) {
  char *at = checked(a, v, index);
  if (!at) return NULL;
  if (v->memory && v->memory->is_constant)
    fault(a->span, "%s of '%s' changes a constant", a->doing, name_of(a));
  note_access(a, v->memory, at, index, true);
  return at;
}

static inline void mark_written(const View *v, const char *at, int n, bool is_hole) {
  Memory *m = v->memory;
  if (m && interp->checker) product_changed(m, at, n);
  if (m && m->shadow) memset(m->shadow + (at - m->lo), !is_hole, (size_t)n);
}

/* ---- loads ---- */

typedef struct LoadCode {
  Code code;
  Access access;
  CastOp *cast; /* to the dtype of the load, or NULL */
  bool moves;   /* its value is only stored */
} LoadCode;

static Scalar finish(const LoadCode *n, Scalar v) {
  return n->cast ? n->cast(n->access.view->buffer->elem, n->code.t, v) : v;
}

static Scalar eval_load(const Code *c, Frame *f) {
  const LoadCode *n = (const LoadCode *)c;
  const Access *a = &n->access;
  Scalar index[a->index.len + 1];
  if (a->predicate && !code_eval(a->predicate, f).i) return (Scalar){0};
  for (int i = 0; i < a->index.len; i++) index[i] = code_eval(a->index.at[i], f);
  const char *at = to_read(a, view_of(a, f), index, n->moves ? f->holes : NULL);
  if (!at) return (Scalar){0};
  Scalar v = a->load(at);
  return n->cast ? finish(n, v) : v;
}

/* The indices of one element, and the values of the index that is a vector. */
typedef struct Indices {
  Scalar *one, *lanes, *mask;
  int64_t row_length, first_row; /* of a vector of whole rows; 0: it is none */
} Indices;

static void eval_indices(const Access *a, Frame *f, Indices *x) {
  for (int i = 0; i < a->index.len; i++) {
    if (i == a->vector) code_lanes(a->index.at[i], f, a->indices, x->lanes);
    else x->one[i] = code_eval(a->index.at[i], f);
  }
  if (a->predicate) code_lanes(a->predicate, f, a->indices * a->elem_lanes, x->mask);
}

/* A vector of whole rows, as wide registers are loaded: indices of the last dimension that go on
 * past it are those of the rows below, if these lie without gaps. */
static void split_rows(const Access *a, const View *v, Indices *x) {
  int last = a->index.len - 1;
  x->row_length = 0;
  if (last < 1 || a->vector != last || x->lanes[0].i != 0) return;
  bool no_gaps = v->strides[last - 1] == v->dims[last] * v->strides[last];
  if (no_gaps && v->dims[last] > 0 && a->indices > v->dims[last] && a->indices % v->dims[last] == 0)
    x->row_length = v->dims[last], x->first_row = x->one[last - 1].i;
}

/* Is any lane of element k to be touched? Sets the index. */
static bool select_element(const Access *a, Indices *x, int k) {
  if (a->vector >= 0) x->one[a->vector] = x->lanes[k];
  if (x->row_length) {
    x->one[a->vector - 1].i = x->first_row + x->lanes[k].i / x->row_length;
    x->one[a->vector].i = x->lanes[k].i % x->row_length;
  }
  if (!a->predicate) return true;
  for (int j = 0; j < a->elem_lanes; j++)
    if (x->mask[k * a->elem_lanes + j].i) return true;
  return false;
}

static bool lane_is_on(const Access *a, const Indices *x, int lane) {
  return !a->predicate || x->mask[lane].i;
}

static void lanes_load(const Code *c, Frame *f, Scalar *out) {
  const LoadCode *n = (const LoadCode *)c;
  const Access *a = &n->access;
  Scalar one[a->index.len + 1];
  LANES(lanes, a->indices);
  LANES(mask, a->predicate ? c->t.lanes : 1);
  Indices x = {.one = one, .lanes = lanes, .mask = mask};
  eval_indices(a, f, &x);
  const View *v = view_of(a, f);
  split_rows(a, v, &x);
  memset(out, 0, sizeof *out * (size_t)c->t.lanes);
  for (int k = 0; k < a->indices; k++) {
    if (!select_element(a, &x, k)) continue;
    const char *at = to_read(a, v, one, n->moves && f->holes ? f->holes + k * a->elem_lanes : NULL);
    for (int j = 0; at && j < a->elem_lanes; j++) {
      int lane = k * a->elem_lanes + j;
      if (lane_is_on(a, &x, lane)) out[lane] = finish(n, a->load(at + j * a->size));
    }
  }
}

const Code *compile_load(Compiler *c, BufferLoad *n) {
  LoadCode *code = NEW(LoadCode, .code = {eval_load, lanes_load, n->node.dtype, c->span});
  code->access = access_new(c, n->buffer, &n->indices, n->predicate, "load");
  int lanes = code->access.indices * code->access.elem_lanes;
  if (lanes != n->node.dtype.lanes)
    fault(c->span, "a load of %s from %d lanes of '%s'", dtype_text(n->node.dtype), lanes,
          name_of(&code->access));
  DataType elem = code->access.view->buffer->elem;
  if (elem.code != n->node.dtype.code || elem.bits != n->node.dtype.bits)
    code->cast = scalar_cast(elem, n->node.dtype);
  return &code->code;
}

static Scalar eval_address(const Code *c, Frame *f) {
  const Access *a = &((const LoadCode *)c)->access;
  Scalar index[a->index.len + 1];
  for (int i = 0; i < a->index.len; i++) index[i] = code_eval(a->index.at[i], f);
  char *at = locate(a, view_of(a, f), index, true);
  return (Scalar){.p = at};
}

const Code *compile_address(Compiler *c, BufferLoad *n) {
  NodeVec indices = {0};
  for each (Node *, i, &n->indices) vec_push(&indices, IS(Ramp, *i) ? AS(Ramp, *i)->base : *i);
  LoadCode *code = NEW(LoadCode, .code = {.eval = eval_address, .t = HANDLE, .span = c->span});
  code->access = access_new(c, n->buffer, &indices, NULL, "address");
  return &code->code;
}

/* ---- stores ---- */

typedef struct StoreStep {
  Step step;
  Access access;
  const Code *value;
  bool moves; /* the value, or parts of it: see let_move() */
} StoreStep;

/* A value of as many lanes that is a load, or a choice of loads, moves, though its dtype changes.
 */
static bool let_move(const Code *value, int lanes) {
  const Code *from[2];
  bool moves = value->eval == eval_load;
  if (value->t.lanes != lanes) return false;
  if (moves) ((LoadCode *)(uintptr_t)value)->moves = true;
  for (int i = code_choices(value, from); i-- > 0;) moves |= let_move(from[i], lanes);
  return moves;
}

/* What others see must have been written: found by a second look at the value. */
static bool can_have_hole(const StoreStep *n, Frame *f, const View *v) {
  if (v->memory && v->memory->block) return true;
  LANES(again, n->value->t.lanes);
  code_lanes(n->value, f, n->value->t.lanes, again);
  return false;
}

static Status run_store(const Step *s, Frame *f) {
  const StoreStep *n = (const StoreStep *)s;
  const Access *a = &n->access;
  Scalar index[a->index.len + 1];
  bool hole = false;
  if (n->moves) f->holes = &hole;
  Scalar v = code_eval(n->value, f);
  f->holes = NULL;
  if (a->predicate && !code_eval(a->predicate, f).i) return GO_ON;
  for (int i = 0; i < a->index.len; i++) index[i] = code_eval(a->index.at[i], f);
  const View *view = view_of(a, f);
  char *at = to_write(a, view, index);
  if (!at) return GO_ON;
  a->store(at, v);
  mark_written(view, at, a->size, hole && can_have_hole(n, f, view));
  return GO_ON;
}

static Status run_store_lanes(const Step *s, Frame *f) {
  const StoreStep *n = (const StoreStep *)s;
  const Access *a = &n->access;
  int lanes = a->indices * a->elem_lanes;
  Scalar one[a->index.len + 1];
  LANES(index, a->indices);
  LANES(mask, a->predicate ? lanes : 1);
  LANES(value, lanes);
  Indices x = {.one = one, .lanes = index, .mask = mask};
  bool holes[lanes];
  memset(holes, 0, sizeof holes);
  if (n->moves) f->holes = holes;
  code_lanes(n->value, f, lanes, value);
  f->holes = NULL;
  eval_indices(a, f, &x);
  const View *v = view_of(a, f);
  split_rows(a, v, &x);
  for (int k = 0; k < a->indices; k++) {
    if (!select_element(a, &x, k)) continue;
    char *at = to_write(a, v, one);
    for (int j = 0; at && j < a->elem_lanes; j++, at += a->size) {
      int lane = k * a->elem_lanes + j;
      if (!lane_is_on(a, &x, lane)) continue;
      a->store(at, value[lane]);
      mark_written(v, at, a->size, holes[lane] && can_have_hole(n, f, v));
    }
  }
  return GO_ON;
}

const Step *compile_store(Compiler *c, BufferStore *n) {
  StoreStep *step = NEW(StoreStep, .step = {run_store, c->span, NULL});
  step->value = compile_as(c, n->value, AS(Buffer, n->buffer)->elem);
  step->access = access_new(c, n->buffer, &n->indices, n->predicate, "store");
  int lanes = step->access.indices * step->access.elem_lanes;
  if (step->value->t.lanes != 1 && step->value->t.lanes != lanes)
    fault(c->span, "a store of %s to %d lanes of '%s'", dtype_text(step->value->t), lanes,
          name_of(&step->access));
  step->moves = let_move(step->value, lanes);
  if (lanes > 1) step->step.run = run_store_lanes;
  return &step->step;
}
