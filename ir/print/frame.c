/* frame.c -- statements that scope over the rest of their suite as the calls that make them:
 * T.allocate(...), T.launch_thread(...), T.cta_id(...), and what each binds. */
#include "ir/print/print.h"

/* A region that lives for the rest of the suite, of the time before buffers were allocated. */
static void realize_text(Printer *p, BufferRealize *r, FrameText *f) {
  f->body = r->body;
  Node *region =
      MAKE(BufferRegion, r->node.span, VOID_TYPE, .buffer = r->buffer, .region = r->bounds);
  str_add(&p->out, "T.realize(");
  print_region(p, region);
  str_add(&p->out, ", \"\"");
  if (r->cond) str_printf(&p->out, ", %s", expr_text(p, r->cond));
  str_add_char(&p->out, ')');
}

static void let_text(Printer *p, LetStmt *let, FrameText *f) {
  f->body = let->body;
  str_printf(&p->out, "T.LetStmt(%s", expr_text(p, let->value));
  if (map_has(&p->names, let->var)) str_printf(&p->out, ", var=%s", name_of(p, let->var));
  else f->bound = NODES(let->var);
  str_add_char(&p->out, ')');
}

static bool keys_are_names(Node *dict) {
  for each (const char *, key, &AS(Dict, dict)->keys)
    if (!is_identifier(*key)) return false;
  return true;
}

/* T.hint("message", key=value), T.attr({"key": value}) */
static bool hint_text(Printer *p, AttrStmt *a) {
  bool hint = IS(StringImm, a->subject) && str_same(a->key, "hint") && IS(Dict, a->value);
  if (!hint) return false;
  const char *message = AS(StringImm, a->subject)->value;
  bool spelled = *message && keys_are_names(a->value);
  if (*message && !spelled) return false;
  str_add(&p->out, *message ? "T.hint(" : "T.attr(");
  if (*message) {
    print_quoted(p, message);
    print_keywords(p, AS(Dict, a->value), false);
  } else {
    print_attr(p, a->value);
  }
  str_add_char(&p->out, ')');
  return true;
}

static void attr_frame_text(Printer *p, AttrStmt *a, FrameText *f) {
  f->body = a->body;
  if (IS(Call, a->subject) && str_same(a->key, "with")) {
    print_expr(p, a->subject);
    f->needs_with = true;
    return;
  }
  if (is_launch(&a->node)) {
    f->bound = NODES(AS(IterVar, a->subject)->var);
    const char *thread = str_format("\"%s\"", AS(IterVar, a->subject)->thread_tag);
    DataType t = AS(IterVar, a->subject)->var->dtype;
    if (!dtype_equal(t, a->value->dtype)) /* which it has by itself */
      thread = str_format("T.env_thread(%s, \"%s\")", thread, dtype_text(t));
    str_printf(&p->out, "T.launch_thread(%s, %s)", thread, expr_text(p, a->value));
    return;
  }
  if (hint_text(p, a)) return;
  str_add(&p->out, "T.attr(");
  print_attr(p, a->subject);
  str_add(&p->out, ", ");
  print_quoted(p, a->key);
  str_add(&p->out, ", ");
  print_attr(p, a->value);
  str_add_char(&p->out, ')');
}

/* T.local_scalar("int32"), T.decl_buffer((4,), scope="local"): memory and the buffer over it. */
static void allocation_text(Printer *p, Allocate *a, Buffer *b) {
  if (is_scalar_buffer(b))
    return str_printf(&p->out, "T.local_scalar(\"%s\")", dtype_text(b->elem));
  str_add(&p->out, p->options.tvm_style ? "T.alloc_buffer(" : "T.decl_buffer(");
  print_buffer_args(p, b, false, false);
  print_dict_arg(p, ", annotations=", a->annotations);
  str_add_char(&p->out, ')');
}

static void allocate_text(Printer *p, Node *n, FrameText *f) {
  Allocate *a = AS(Allocate, n);
  Node *declared = allocated_here(p, n);
  if (declared) {
    f->bound = NODES(AS(DeclBuffer, declared)->buffer);
    f->body = AS(DeclBuffer, declared)->body;
    return allocation_text(p, a, AS(Buffer, f->bound.at[0]));
  }
  f->bound = NODES(a->var);
  f->body = a->body;
  str_add(&p->out, "T.allocate([");
  print_exprs(p, a->extents);
  str_printf(&p->out, "], \"%s\", \"%s\"", dtype_text(a->elem),
             AS(Var, a->var)->scope ? AS(Var, a->var)->scope : "global");
  if (a->cond) str_printf(&p->out, ", condition=%s", expr_text(p, a->cond));
  print_dict_arg(p, ", annotations=", a->annotations);
  str_add_char(&p->out, ')');
}

static void allocate_const_text(Printer *p, AllocateConst *a, FrameText *f) {
  const ConstData *d = a->data;
  f->bound = NODES(a->var);
  f->body = a->body;
  str_add(&p->out, "T.allocate_const(");
  print_const_data(p, d);
  str_printf(&p->out, ", \"%s\", [", dtype_text(d->elem));
  for (int i = 0; i < d->ndim; i++)
    str_printf(&p->out, "%s%lld", i ? ", " : "", (long long)d->shape[i]);
  str_add_char(&p->out, ']');
  print_dict_arg(p, ", annotations=", a->annotations);
  str_add_char(&p->out, ')');
}

static void decl_text(Printer *p, DeclBuffer *d, FrameText *f) {
  f->bound = NODES(d->buffer);
  f->body = d->body;
  Node *data = AS(Buffer, d->buffer)->data;
  bool has_data = !IS(Var, data) || map_has(&p->names, data); /* else it is of outside */
  str_add(&p->out, has_data ? "T.decl_buffer(" : "T.Buffer(");
  print_buffer_args(p, AS(Buffer, d->buffer), has_data, false);
  str_add_char(&p->out, ')');
}

static void print_extents(Printer *p, const char *before, NodeVec extents) {
  if (!extents.len) return;
  str_add(&p->out, before);
  str_add_char(&p->out, '[');
  print_exprs(p, extents);
  str_add_char(&p->out, ']');
}

/* T.cta_id([4, 2]) */
static void scope_id_text(Printer *p, ScopeIdDef *s, FrameText *f) {
  f->bound = s->vars;
  f->body = s->body;
  str_printf(&p->out, "T.%s(", s->scope);
  print_extents(p, "", s->extents);
  for each (const char *, scope, &s->between) str_printf(&p->out, ", \"%s\"", *scope);
  print_extents(p, s->extents.len ? ", preferred=" : "preferred=", s->preferred);
  DataType t = s->vars.at[0]->dtype;
  bool first = !s->extents.len && !s->preferred.len;
  if (!dtype_equal(t, INT32))
    str_printf(&p->out, "%sdtype=\"%s\"", first ? "" : ", ", dtype_text(t));
  str_add_char(&p->out, ')');
}

FrameText frame_text(Printer *p, Node *n) {
  FrameText f = {0};
  size_t start = text_begin(p);
  switch (n->kind) {
  case NK_LetStmt: let_text(p, AS(LetStmt, n), &f); break;
  case NK_AttrStmt: attr_frame_text(p, AS(AttrStmt, n), &f); break;
  case NK_AssertStmt:
    f.body = AS(AssertStmt, n)->body;
    str_printf(&p->out, "T.Assert(%s, ", expr_text(p, AS(AssertStmt, n)->cond));
    str_add(&p->out, expr_text(p, AS(AssertStmt, n)->message));
    if (AS(AssertStmt, n)->error_kind)
      str_printf(&p->out, ", error_kind=\"%s\"", AS(AssertStmt, n)->error_kind);
    str_add_char(&p->out, ')');
    break;
  case NK_Allocate: allocate_text(p, n, &f); break;
  case NK_AllocateConst: allocate_const_text(p, AS(AllocateConst, n), &f); break;
  case NK_DeclBuffer: decl_text(p, AS(DeclBuffer, n), &f); break;
  case NK_ScopeIdDef: scope_id_text(p, AS(ScopeIdDef, n), &f); break;
  case NK_BufferRealize: realize_text(p, AS(BufferRealize, n), &f); break;
  default: break;
  }
  bool any = p->out.len > start;
  const char *text = text_end(p, start);
  f.text = any ? text : NULL;
  return f;
}
