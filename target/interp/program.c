/* program.c -- tensor programs: compiled as a whole, called by the packed convention or with
 * pointers.
 *
 * Arguments are checked by the runtime's own functions, in the order in which a compiled entry
 * checks them, so that messages are the same. */
#include "target/interp/check.h"

/* ---- variables ---- */

Span compile_span(Compiler *c, const Node *n) { return n->span.hi ? n->span : c->span; }

static int new_slot(Program *p, Node *var) {
  int slot = p->slot_count, lanes = var->dtype.lanes;
  p->slot_count += lanes > 1 ? lanes : 1;
  map_set(&p->slots, var, (void *)(intptr_t)(slot + 1));
  return slot;
}

static int find_slot(const Program *p, const Node *var) {
  return (int)(intptr_t)map_get(&p->slots, var) - 1;
}

int compile_define(Compiler *c, Node *var) {
  int slot = find_slot(c->program, var);
  return slot >= 0 ? slot : new_slot(c->program, var);
}

int compile_use(Compiler *c, Node *var, Span span) {
  int slot = find_slot(c->program, var);
  if (slot >= 0) return slot;
  const char *name = AS(Var, var)->name ? AS(Var, var)->name : "_";
  if (!c->takes_free) fault(span, "variable '%s' has no value in '%s'", name, c->program->name);
  vec_push(&c->program->given, var);
  return new_slot(c->program, var);
}

/* ---- compiling ---- */

static WalkResult note_var(Walker *w, Node *n) {
  Compiler *c = w->context;
  if (!IS(Var, n) || find_slot(c->program, n) >= 0) return WALK_ON;
  compile_define(c, n);
  vec_push(&c->program->needed, n);
  return WALK_ON;
}

/* Variables of shapes, strides and offsets that are no parameters, in order of appearance. */
static void note_needed(Compiler *c, PrimFunc *f) {
  Walker w = {.enter = note_var, .context = c};
  for each (Node *, n, &f->buffers) {
    if (!*n) continue;
    Buffer *b = AS(Buffer, *n);
    for each (Node *, d, &b->shape) walk(&w, *d);
    for each (Node *, s, &b->strides) walk(&w, *s);
    if (b->elem_offset) walk(&w, b->elem_offset);
  }
}

/* Lowered functions may have no vector of buffers at all. */
static Node *buffer_of(const PrimFunc *f, int i) {
  return i < f->buffers.len ? f->buffers.at[i] : NULL;
}

static void compile_params(Compiler *c, PrimFunc *f) {
  Program *p = c->program;
  for (int i = 0; i < f->params.len; i++) {
    Node *var = f->params.at[i], *buffer = buffer_of(f, i);
    Param param = {.name = AS(Var, var)->name, .t = var->dtype, .slot = compile_define(c, var)};
    if (buffer) {
      param.name = AS(Buffer, buffer)->name;
      Node *data = AS(Buffer, buffer)->data;
      if (!IS(Var, data)) unsupported(f->node.span, "a parameter's buffer over an expression");
      compile_define(c, data);
    }
    if (!param.name) param.name = "_";
    vec_push(&p->params, param);
  }
  note_needed(c, f);
  for (int i = 0; i < f->params.len; i++) {
    Node *buffer = buffer_of(f, i);
    if (!buffer) continue;
    ViewInfo *info = compile_view(c, buffer, true);
    info->data_slot = find_slot(p, AS(Buffer, buffer)->data);
    p->params.at[i].view = info;
  }
}

Program *program_new(Module *m, PrimFunc *f, const char *name, bool takes_free) {
  Program *p = NEW(Program, .module = m, .f = f, .name = name);
  p->is_packed = dict_get_int(f->attrs, "tvms.packed", 0) != 0;
  Compiler c = {.program = p, .takes_free = takes_free, .span = f->node.span};
  compile_params(&c, f);
  p->body = compile_stmt(&c, f->body);
  return p;
}

/* ---- frames ---- */

Frame *program_frame(const Program *p) {
  Frame *f = NEW(Frame, .program = p);
  f->slots = NEW_ARRAY(Scalar, p->slot_count + 1);
  f->views = NEW_ARRAY(View, p->views.len + 1);
  f->memories = NEW_ARRAY(Memory *, p->memory_count + 1);
  int ndim = 0;
  for each (ViewInfo *, v, &p->views) ndim += (*v)->ndim;
  int64_t *dims = (int64_t *)(void *)NEW_BYTES(sizeof(int64_t) * 2 * (size_t)(ndim + 1));
  for (int i = 0; i < p->views.len; i++) {
    int n = p->views.at[i]->ndim;
    f->views[i].dims = dims;
    f->views[i].strides = dims + n;
    dims += 2 * n;
  }
  return f;
}

void program_set(const Program *p, Frame *f, Map *bound, Node *var, int64_t value) {
  f->slots[find_slot(p, var)].i = dtype_wrap_int(var->dtype, value);
  map_set(bound, var, var);
}

/* ---- arguments ---- */

static char *text(const char *s) { return (char *)(uintptr_t)s; }

static void bind_scalar(const Program *p, Frame *f, const TvmsValue *args, const int *types, int i,
                        Span span) {
  const Param *param = &p->params.at[i];
  DataType t = param->t;
  void *a = (void *)(uintptr_t)args, *k = (void *)(uintptr_t)types;
  int type = dtype_is_float(t)    ? TVMS_FLOAT
             : dtype_is_handle(t) ? TVMS_PTR
             : dtype_is_bool(t)   ? TVMS_BOOL
                                  : TVMS_INT;
  if (tvms_arg_type(text(p->name), text(value_phrase(param->name, true)), a, k, i, type))
    fault_runtime(span);
  Scalar *slot = &f->slots[param->slot];
  if (type == TVMS_FLOAT) *slot = scalar_from_double(t, tvms_arg_float(a, k, i));
  else if (type == TVMS_PTR) slot->p = args[i].p;
  else slot->i = dtype_wrap_int(t, tvms_arg_int(a, k, i));
}

/* Strides and offsets of tensors from outside are those of compact ones. */
static void bind_layout(const Program *p, Frame *f, const Param *param, const DLTensor *t,
                        Map *bound) {
  Buffer *b = param->view->buffer;
  int64_t stride = 1;
  for (int axis = b->shape.len - 1; axis >= 0; axis--) {
    Node *given = axis < b->strides.len ? b->strides.at[axis] : NULL;
    if (IS(Var, given) && !map_has(bound, given)) program_set(p, f, bound, given, stride);
    stride *= t->shape[axis];
  }
  if (IS(Var, b->elem_offset) && !map_has(bound, b->elem_offset))
    program_set(p, f, bound, b->elem_offset, 0);
}

static void bind_tensor(const Program *p, Frame *f, const TvmsValue *args, const int *types, int i,
                        Map *bound, Span span) {
  const Param *param = &p->params.at[i];
  Buffer *b = param->view->buffer;
  DataType e = b->elem;
  const DLTensor *t = tvms_arg_tensor(text(p->name), text(param->name), (void *)(uintptr_t)args,
                                      (void *)(uintptr_t)types, i, b->shape.len,
                                      dtype_dlpack_code(e), e.bits, e.lanes);
  if (!t) fault_runtime(span);
  memory_note_tensor(t, true, param->name);
  for (int axis = 0; axis < b->shape.len; axis++) {
    Node *dim = b->shape.at[axis];
    if (IS(Var, dim) && !map_has(bound, dim)) program_set(p, f, bound, dim, t->shape[axis]);
  }
  bind_layout(p, f, param, t, bound);
  Scalar data = {.p = tvms_tensor_address((void *)(uintptr_t)t)};
  f->slots[param->slot] = f->slots[param->view->data_slot] = data;
}

void program_bind(const Program *p, Frame *f, const TvmsValue *args, const int *types, int from,
                  int to, Map *bound, Span span) {
  for (int i = from; i < to; i++) {
    if (p->params.at[i].view) continue;
    bind_scalar(p, f, args, types, i, span);
    map_set(bound, p->f->params.at[i], p->f->params.at[i]);
  }
  for (int i = from; i < to; i++)
    if (p->params.at[i].view) bind_tensor(p, f, args, types, i, bound, span);
}

static void check_needed(const Program *p, const Map *bound, Span span) {
  for each (Node *, v, &p->needed)
    if (!map_has(bound, *v))
      fault(span,
            "'%s' of %s can't be told from the arguments: no buffer has it as a whole dimension",
            AS(Var, *v)->name, p->name);
}

void program_check(const Program *p, Frame *f, const TvmsValue *args, int n, const Map *bound,
                   Span span) {
  check_needed(p, bound, span);
  for (int i = 0; i < n; i++) {
    const Param *param = &p->params.at[i];
    if (!param->view) continue;
    for (int axis = 0; axis < param->view->ndim; axis++) {
      int64_t want = code_eval(param->view->dims.at[axis], f).i;
      if (((DLTensor *)args[i].p)->shape[axis] == want) continue;
      const char *dim = ir_print(param->view->buffer->shape.at[axis], NULL);
      tvms_check_dim(text(p->name), text(value_phrase(param->name, true)), args[i].p, axis, want,
                     text(dim));
      fault_runtime(span);
    }
  }
}

int64_t *program_shape(const Program *p, Frame *f, int param) {
  const ViewInfo *info = p->params.at[param].view;
  int64_t *shape = (int64_t *)(void *)NEW_BYTES(sizeof(int64_t) * (size_t)(info->ndim + 1));
  for (int i = 0; i < info->ndim; i++) shape[i] = code_eval(info->dims.at[i], f).i;
  return shape;
}

/* ---- running ---- */

void program_run(const Program *p, Frame *f) {
  Mark mark = interp_mark();
  interp_check_depth(p->name, p->f->node.span);
  for (int i = 0; i < p->params.len; i++)
    if (p->params.at[i].view) view_bind(p->params.at[i].view, f);
  if (interp->checker) check_launch(p->f);
  step_run(p->body, f);
  interp_release(mark);
}

Scalar program_call(const Program *p, const TvmsValue *args, const int *types, int n, Span span) {
  Frame *f = program_frame(p);
  Map bound = {0};
  if (tvms_arg_count(text(p->name), n, p->params.len)) fault_runtime(span);
  program_bind(p, f, args, types, 0, n, &bound, span);
  program_check(p, f, args, n, &bound, span);
  program_run(p, f);
  return f->result;
}

/* Pointers do not tell shapes: those that are not numbers must be scalar arguments. */
Scalar program_call_raw(const Program *p, const Scalar *args, int n, Span span) {
  Frame *f = program_frame(p);
  Map bound = {0};
  int params = p->params.len, needed = p->needed.len;
  if (n != params && n != params + needed)
    fault(span, "%s takes %d arguments, %d given", p->name, params, n);
  for (int i = 0; i < params; i++) {
    const Param *param = &p->params.at[i];
    f->slots[param->slot] = args[i];
    if (param->view) f->slots[param->view->data_slot] = args[i];
    map_set(&bound, p->f->params.at[i], p->f->params.at[i]);
  }
  for (int i = params; i < n; i++) program_set(p, f, &bound, p->needed.at[i - params], args[i].i);
  check_needed(p, &bound, span);
  program_run(p, f);
  return f->result;
}
