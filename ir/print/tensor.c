/* tensor.c -- tensor programs as text: statements, blocks, buffers. */
#include "ir/print/print.h"
#include "ir/support/stack.h"

void print_dict_arg(Printer *p, const char *before, Node *dict) {
  if (!dict || !AS(Dict, dict)->keys.len) return;
  str_add(&p->out, before);
  print_attr(p, dict);
}

/* ---- variables ---- */

/* T.int32, T.handle("float32", "global"): the annotation that makes such a variable. */
const char *var_type(const Var *v) {
  DataType t = v->node.dtype;
  if (dtype_is_handle(t) && str_same(v->scope, "tensormap")) return "T.TensorMap()";
  if (!dtype_is_handle(t) || dtype_is_void(v->elem)) return str_format("T.%s", dtype_text(t));
  return str_format("T.handle(\"%s\", \"%s\")", dtype_text(v->elem),
                    v->scope ? v->scope : "global");
}

/* x = T.int32(): a variable that something later binds. */
void declare_var(Printer *p, Node *n) {
  const Var *v = AS(Var, n);
  const char *type = var_type(v), *brackets = v->is_size ? "(is_size_var=True)" : "()";
  if (map_has(&p->names, n)) return;
  line(p, "%s = %s%s", name_define(p, n), type, type[strlen(type) - 1] == ')' ? "" : brackets);
}

static WalkResult declare_let(Walker *w, Node *n) {
  if (node_family(n->kind) == FAMILY_STMT) return WALK_PRUNE;
  if (IS(Let, n)) declare_var(w->context, AS(Let, n)->var);
  if (IS(Reduce, n))
    for each (Node *, axis, &AS(Reduce, n)->axes) declare_var(w->context, AS(IterVar, *axis)->var);
  return WALK_ON;
}

static void declare_lets_below(void *printer, Node *child) {
  Printer *p = printer;
  Walker w = {.enter = declare_let, .context = p, .once = true};
  if (!p->lacks_lets) walk(&w, child);
}

/* The variables of let expressions in this statement, not in the statements inside it. */
static void declare_lets(Printer *p, Node *stmt) {
  if (p->lacks_lets) return;
  if (!IS(SeqStmt, stmt)) node_each_child(stmt, declare_lets_below, p);
  Node *orelse = IS(IfThenElse, stmt) ? AS(IfThenElse, stmt)->orelse : NULL;
  if (IS(IfThenElse, orelse))
    declare_lets(p, orelse); /* an elif has no place for lines before it */
}

/* ---- buffers ---- */

static DataType shape_dtype(const Buffer *b) {
  DataType t = INT32;
  for each (Node *, d, &b->shape)
    if ((*d)->dtype.bits > t.bits) t = (*d)->dtype;
  return t;
}

/* A variable that text can define as a part of the buffer, without a line of its own. */
static bool is_own_part(Printer *p, const Buffer *b, Node *part) {
  return IS(Var, part) && !map_has(&p->names, part) && dtype_equal(part->dtype, shape_dtype(b)) &&
         !AS(Var, part)->is_size;
}

/* Lines for the variables among strides and offset that need one. */
static void declare_parts(Printer *p, Buffer *b) {
  declare_lets_below(p, &b->node);
  for each (Node *, s, &b->strides)
    if (IS(Var, *s) && !is_own_part(p, b, *s)) declare_var(p, *s);
  bool own = is_own_part(p, b, b->elem_offset) && b->offset_factor;
  if (IS(Var, b->elem_offset) && !own) declare_var(p, b->elem_offset);
}

static bool is_fresh(Printer *p, Node *n) { return IS(Var, n) && !map_has(&p->names, n); }

/* Of a fresh variable among strides, another name than those before it have. */
static const char *stride_name(Printer *p, NodeVec strides, int i) {
  const char *name = name_hint(strides.at[i]);
  for (int k = 0; k < i; k++) {
    if (strides.at[k] == strides.at[i]) return stride_name(p, strides, k);
    if (!is_fresh(p, strides.at[k]) || !str_same(stride_name(p, strides, k), name)) continue;
    name = str_format("%s_%d", name, i);
    k = -1;
  }
  return name;
}

/* A variable that no other text defines is defined by its name in quotes. */
static void print_strides(Printer *p, NodeVec strides) {
  str_add(&p->out, ", strides=(");
  for (int i = 0; i < strides.len; i++) {
    Node *s = strides.at[i];
    if (i) str_add(&p->out, ", ");
    if (is_fresh(p, s)) print_quoted(p, stride_name(p, strides, i));
    else print_expr(p, s);
  }
  str_add(&p->out, strides.len == 1 ? ",)" : ")");
}

void print_buffer_args(Printer *p, Buffer *b, bool with_data, bool dtype_always) {
  print_shape(p, b->shape, VOID_TYPE);
  if (dtype_always || !dtype_equal(b->elem, FLOAT32))
    str_printf(&p->out, ", \"%s\"", dtype_text(b->elem));
  if (with_data) str_printf(&p->out, ", data=%s", expr_text(p, b->data));
  if (b->strides.len) print_strides(p, b->strides);
  bool own_offset = IS(Var, b->elem_offset) && !map_has(&p->names, b->elem_offset);
  if (b->elem_offset && !own_offset)
    str_printf(&p->out, ", elem_offset=%s", expr_text(p, b->elem_offset));
  if (!b->elem_offset && b->offset_factor != 1) str_add(&p->out, ", elem_offset=0");
  if (!with_data && !str_same(buffer_scope(&b->node), "global"))
    str_printf(&p->out, ", scope=\"%s\"", buffer_scope(&b->node));
  if (b->align != 64) str_printf(&p->out, ", align=%d", b->align);
  if (b->offset_factor != 1 || own_offset)
    str_printf(&p->out, ", offset_factor=%d", b->offset_factor);
  if (b->auto_broadcast) str_add(&p->out, ", buffer_type=\"auto\"");
  if (b->axis_separators.len) {
    str_add(&p->out, ", axis_separators=[");
    for (int i = 0; i < b->axis_separators.len; i++)
      str_printf(&p->out, "%s%d", i ? ", " : "", b->axis_separators.at[i]);
    str_add_char(&p->out, ']');
  }
  if (b->layout) str_printf(&p->out, ", layout=%s", attr_text(p, b->layout));
  if (b->allocated_addr.len) {
    str_add(&p->out, ", allocated_addr=[");
    print_exprs(p, b->allocated_addr);
    str_add_char(&p->out, ']');
  }
}

static void name_part(Printer *p, Node *part, const char *text) {
  if (IS(Var, part) && !map_has(&p->names, part)) name_set(p, part, text);
}

/* What a buffer defines beside itself is read as attributes of it. */
static void name_parts(Printer *p, Buffer *b, const char *name, bool with_data) {
  name_part(p, b->elem_offset, str_format("%s.elem_offset", name));
  for (int i = 0; i < b->strides.len; i++)
    name_part(p, b->strides.at[i], str_format("%s.strides[%d]", name, i));
  bool defines_data = !with_data && IS(Var, b->data) && !map_has(&p->names, b->data);
  if (!defines_data) return;
  name_set(p, b->data, str_format("%s.data", name));
}

/* A line that defines a buffer: A = T.alloc_buffer(...). */
void print_buffer_line(Printer *p, const char *before, Buffer *b, const char *source,
                       bool with_data) {
  declare_parts(p, b);
  size_t start = text_begin(p);
  if (source) str_add(&p->out, source);
  print_buffer_args(p, b, with_data, false);
  const char *args = text_end(p, start);
  const char *name = name_define(p, &b->node);
  line(p, "%s = %s(%s)", name, before, args);
  name_parts(p, b, name, with_data);
}

/* ---- blocks ---- */

static bool same_regions(NodeVec a, NodeVec b) {
  if (a.len != b.len) return false;
  for (int i = 0; i < a.len; i++) {
    bool same_buffer = AS(BufferRegion, a.at[i])->buffer == AS(BufferRegion, b.at[i])->buffer;
    if (!same_buffer || !node_equal(a.at[i], b.at[i], false, NULL)) return false;
  }
  return true;
}

static void print_regions_line(Printer *p, const char *name, NodeVec regions) {
  line_begin(p);
  str_printf(&p->out, "%s(", name);
  for (int i = 0; i < regions.len; i++) {
    if (i) str_add(&p->out, ", ");
    print_region(p, regions.at[i]);
  }
  str_add_char(&p->out, ')');
  line_end(p);
}

/* begin, end; the end alone if it begins at 0. */
static const char *bounds_text(Printer *p, Node *min, Node *extent) {
  if (expr_is_zero(min)) return expr_text(p, extent);
  size_t start = text_begin(p);
  print_bounds(p, min, extent, ", ");
  return text_end(p, start);
}

/* Does the axis run over exactly the loop it is bound to? Then T.axis.remap says it. */
static bool is_remap(Printer *p, IterVar *v, Node *value) {
  For *loop = IS(Var, value) ? (For *)map_get(&p->loops, value) : NULL;
  if (!loop || v->iter_kind > ITER_REDUCE || !dtype_equal(v->var->dtype, value->dtype))
    return false;
  Range *dom = AS(Range, v->dom);
  return node_equal(dom->min, loop->min, false, NULL) &&
         node_equal(dom->extent, loop->extent, false, NULL);
}

static void print_axis(Printer *p, IterVar *v, Node *value) {
  static const char *const kinds[] = {"spatial", "opaque", "reduce", "scan", "opaque"};
  Range *dom = AS(Range, v->dom);
  const char *args = bounds_text(p, dom->min, dom->extent);
  if (!expr_is_zero(dom->min)) args = str_format("(%s)", args);
  if (value) args = str_format("%s, %s", args, expr_text(p, value));
  line(p, "%s = T.axis.%s(%s)", name_define(p, v->var), kinds[v->iter_kind], args);
}

/* Axes from `first` on that one T.axis.remap can bind. */
static int remap_run(Printer *p, Block *b, NodeVec values, int first) {
  int n = 0;
  while (first + n < b->iter_vars.len && first + n < values.len &&
         is_remap(p, AS(IterVar, b->iter_vars.at[first + n]), values.at[first + n]))
    n++;
  return n;
}

static void print_axes(Printer *p, Block *b, NodeVec values) {
  for (int i = 0; i < b->iter_vars.len;) {
    int run = values.len ? remap_run(p, b, values, i) : 0;
    if (run < 2) {
      print_axis(p, AS(IterVar, b->iter_vars.at[i]), i < values.len ? values.at[i] : NULL);
      i++;
      continue;
    }
    Str names = {0}, kinds = {0}, loops = {0};
    for (int k = i; k < i + run; k++)
      str_printf(&loops, "%s%s", k > i ? ", " : "", name_of(p, values.at[k]));
    for (int k = i; k < i + run; k++) {
      IterVar *v = AS(IterVar, b->iter_vars.at[k]);
      str_printf(&names, "%s%s", k > i ? ", " : "", name_define(p, v->var));
      str_add_char(&kinds, v->iter_kind == ITER_SPATIAL ? 'S' : 'R');
    }
    line(p, "%s = T.axis.remap(\"%s\", [%s])", str_text(&names), str_text(&kinds),
         str_text(&loops));
    i += run;
  }
}

/* What a person would leave out: regions that inference gives too. */
static bool regions_are_inferred(Printer *p, Block *b) {
  if (p->options.tvm_style) return false;
  NodeVec reads = {0}, writes = {0};
  return block_access_regions(&b->node, NULL, &reads, &writes) && same_regions(reads, b->reads) &&
         same_regions(writes, b->writes);
}

static void print_block_body(Printer *p, Block *b, NodeVec values, Node *predicate) {
  declare_lets(p, &b->node);
  print_axes(p, b, values);
  print_views(p);
  if (predicate && !expr_is_one(predicate)) line(p, "T.where(%s)", expr_text(p, predicate));
  if (!regions_are_inferred(p, b)) {
    print_regions_line(p, "T.reads", b->reads);
    print_regions_line(p, "T.writes", b->writes);
  }
  if (b->annotations && AS(Dict, b->annotations)->keys.len) {
    line_begin(p);
    print_dict_arg(p, str_format("T.%s(", block_word(p, "block_attr")), b->annotations);
    str_add_char(&p->out, ')');
    line_end(p);
  }
  for each (Node *, a, &b->alloc_buffers)
    print_buffer_line(p, str_format("T.%s", block_word(p, "alloc_buffer")), AS(Buffer, *a), NULL,
                      false);
  print_views(p);
  for each (Node *, m, &b->match_buffers) {
    size_t start = text_begin(p);
    print_region(p, AS(MatchBufferRegion, *m)->source);
    const char *source = str_format("%s, ", text_end(p, start));
    print_buffer_line(p, "T.match_buffer", AS(Buffer, AS(MatchBufferRegion, *m)->buffer), source,
                      false);
  }
  print_views(p); /* before a suite, which would keep them for itself */
  if (b->init) {
    line(p, "with T.init():");
    print_suite(p, b->init);
  }
  print_stmt(p, b->body, true);
}

/* ---- marks ---- */

static bool is_marked(const Printer *p, const Node *n) {
  for each (Node *, m, &p->options.marked)
    if (*m == n) return true;
  return false;
}

/* A comment that underlines the line before it. */
static void print_mark(Printer *p) {
  size_t end = p->out.len - 1, start = end;
  while (start && p->out.at[start - 1] != '\n') start--;
  line_begin(p);
  str_add(&p->out, "# ");
  for (size_t i = p->out.len - end - 1; start + i < end; i++) str_add(&p->out, "^");
  str_add(&p->out, "\n");
}

static void print_block(Printer *p, Block *b, NodeVec values, Node *predicate, bool no_realize) {
  line_begin(p);
  str_printf(&p->out, "with T.%s(", block_word(p, "block"));
  print_quoted(p, b->name ? b->name : "");
  str_add(&p->out, no_realize ? ", no_realize=True):" : "):");
  line_end(p);
  if (is_marked(p, &b->node)) print_mark(p);
  int mark = scope_begin(p);
  p->indent++;
  print_block_body(p, b, values, predicate);
  p->indent--;
  scope_end(p, mark);
}

/* ---- loops ---- */

static bool is_grid_loop(Node *n) {
  if (!IS(For, n)) return false;
  For *f = AS(For, n);
  bool plain = f->loop_kind == LOOP_SERIAL && expr_is_zero(f->min) && !f->thread_tag &&
               dtype_equal(f->min->dtype, f->extent->dtype);
  return plain && (!f->annotations || !AS(Dict, f->annotations)->keys.len);
}

typedef struct FindVar {
  NodeVec *vars;
  bool found;
} FindVar;

static WalkResult find_var(Walker *w, Node *n) {
  FindVar *f = w->context;
  for each (Node *, v, f->vars) f->found |= *v == n;
  return f->found ? WALK_STOP : WALK_ON;
}

static bool mentions(Node *e, NodeVec *vars) {
  FindVar f = {vars, false};
  Walker w = {.enter = find_var, .context = &f};
  walk(&w, e);
  return f.found;
}

static Node *print_grid(Printer *p, Node *n) {
  NodeVec vars = {0}, loops = {0};
  bool alone = is_marked(p, n);
  while (is_grid_loop(n) && !mentions(AS(For, n)->extent, &vars)) {
    if (vars.len && (alone || is_marked(p, n))) break;
    declare_lets(p, n);
    vec_push(&vars, AS(For, n)->var);
    vec_push(&loops, n);
    n = AS(For, n)->body;
  }
  Str extents = {0}, names = {0};
  for (int i = 0; i < loops.len; i++)
    str_printf(&extents, "%s%s", i ? ", " : "", expr_text(p, AS(For, loops.at[i])->extent));
  for (int i = 0; i < loops.len; i++) {
    map_set(&p->loops, vars.at[i], loops.at[i]);
    str_printf(&names, "%s%s", i ? ", " : "", name_define(p, vars.at[i]));
  }
  line(p, loops.len > 1 ? "for %s in T.grid(%s):" : "for %s in range(%s):", str_text(&names),
       str_text(&extents));
  return n;
}

static void print_loop_header(Printer *p, For *f) {
  static const char *const kinds[] = {"serial", "parallel", "vectorized", "unroll",
                                      "thread_binding"};
  const char *args = bounds_text(p, f->min, f->extent);
  if (f->thread_tag) args = str_format("%s, thread=\"%s\"", args, f->thread_tag);
  map_set(&p->loops, f->var, f);
  line_begin(p);
  str_printf(&p->out, "for %s in T.%s(%s", name_define(p, f->var), kinds[f->loop_kind], args);
  print_dict_arg(p, ", annotations=", f->annotations);
  str_add(&p->out, "):");
  line_end(p);
}

static void print_for(Printer *p, Node *n) {
  int mark = scope_begin(p);
  Node *body;
  if (is_grid_loop(n)) body = print_grid(p, n);
  else {
    print_loop_header(p, AS(For, n));
    body = AS(For, n)->body;
  }
  if (is_marked(p, n)) print_mark(p);
  print_suite(p, body);
  scope_end(p, mark);
}

/* ---- statements that scope over the rest of their suite ---- */

/* A let that is a line of its own, x = v, and no frame. */
static bool let_is_line(const LetStmt *let, bool is_last) {
  return is_last && !IS(StringImm, let->value);
}

/* Does the value alone tell the variable's type? A line takes over that of a pointer variable. */
static bool let_has_plain_type(const LetStmt *let, bool is_last) {
  const Var *v = AS(Var, let->var);
  bool takes = dtype_is_handle(v->node.dtype) && IS(Var, let->value) && let_is_line(let, is_last);
  DataType elem = takes ? AS(Var, let->value)->elem : VOID_TYPE;
  return !v->is_size && dtype_equal(v->node.dtype, let->value->dtype) &&
         dtype_equal(v->elem, elem) &&
         str_same(v->scope, takes ? AS(Var, let->value)->scope : NULL);
}

/* x: T.handle("float32", "global") = p */
static bool let_is_annotated(const LetStmt *let, bool is_last) {
  const Var *v = AS(Var, let->var);
  bool pointer = dtype_is_handle(v->node.dtype) && dtype_is_handle(let->value->dtype);
  return let_is_line(let, is_last) && pointer && !dtype_is_void(v->elem) && v->scope && !v->is_size;
}

static const char *bound_names(Printer *p, NodeVec bound) {
  Str names = {0};
  for (int i = 0; i < bound.len; i++)
    str_printf(&names, "%s%s", i ? ", " : "", name_define(p, bound.at[i]));
  return str_text(&names);
}

/* x = v; in today's dialect x: T.let = v, as x = v can change there. */
static void print_let_line(Printer *p, LetStmt *let, const char *frame) {
  const char *value = let_is_line(let, true) ? expr_text(p, let->value) : frame, *type = "";
  const Var *v = AS(Var, let->var);
  bool annotated = !let_has_plain_type(let, true) && let_is_annotated(let, true);
  bool today = says_today(p) && let_is_line(let, true);
  if (today) type = annotated ? str_format(": T.let[%s]", var_type(v)) : ": T.let";
  else if (annotated) type = str_format(": %s", var_type(v));
  line(p, "%s%s = %s", name_define(p, let->var), type, value);
}

/* A buffer that is allocated and declared by one line names its pointer, its strides and offset. */
static void name_bound_buffer(Printer *p, Node *bound, bool allocates) {
  Buffer *b = AS(Buffer, bound);
  name_parts(p, b, name_of(p, bound), false);
  if (allocates && is_scalar_buffer(b)) map_set(&p->scalars, bound, bound);
}

/* assert c, "message"; with another kind of error, assert c, ("ValueError", ["message"]). */
static void print_assert(Printer *p, AssertStmt *a) {
  const char *cond = expr_text(p, a->cond), *message = expr_text(p, a->message);
  if (a->error_kind || p->options.tvm_style)
    line(p, "assert %s, (\"%s\", [%s])", cond, a->error_kind ? a->error_kind : "RuntimeError",
         message);
  else line(p, "assert %s, %s", cond, message);
}

/* As a line of its own, over the rest of the suite. */
static void print_concise(Printer *p, Node *n, const FrameText *f) {
  if (IS(LetStmt, n) && f->bound.len) return print_let_line(p, AS(LetStmt, n), f->text);
  if (IS(AssertStmt, n)) return print_assert(p, AS(AssertStmt, n));
  if (f->bound.len) line(p, "%s = %s", bound_names(p, f->bound), f->text);
  else line(p, "%s", f->text);
}

static void print_frame(Printer *p, Node *n, const FrameText *f, bool is_last) {
  bool buffer = f->bound.len && IS(Buffer, f->bound.at[0]);
  if (is_last && !f->needs_with) {
    print_concise(p, n, f);
    if (buffer) name_bound_buffer(p, f->bound.at[0], !IS(DeclBuffer, n));
    return print_stmt(p, f->body, true);
  }
  int mark = scope_begin(p);
  const char *names = f->bound.len ? bound_names(p, f->bound) : NULL;
  if (names) line(p, f->bound.len > 1 ? "with %s as (%s):" : "with %s as %s:", f->text, names);
  else line(p, "with %s:", f->text);
  if (buffer) name_bound_buffer(p, f->bound.at[0], !IS(DeclBuffer, n));
  p->indent++;
  print_stmt(p, f->body, true);
  p->indent--;
  scope_end(p, mark);
}

/* Lines for variables that the text of the frame mentions, but nothing defines. */
static void declare_for_frame(Printer *p, Node *n, bool is_last) {
  Node *declared = IS(DeclBuffer, n) ? n : allocated_here(p, n);
  if (declared) declare_parts(p, AS(Buffer, AS(DeclBuffer, declared)->buffer));
  LetStmt *let = IS(LetStmt, n) ? AS(LetStmt, n) : NULL;
  if (let && !let_has_plain_type(let, is_last) && !let_is_annotated(let, is_last))
    declare_var(p, let->var);
  Node *subject = IS(AttrStmt, n) ? AS(AttrStmt, n)->subject : NULL;
  Buffer *b = IS(BufferRealize, n) ? AS(Buffer, AS(BufferRealize, n)->buffer) : NULL;
  if (b && !map_has(&p->names, &b->node) && !map_has(&p->names, b->data))
    print_buffer_line(p, "T.Buffer", b, NULL, false);
  if (IS(IterVar, subject) && !str_same(AS(AttrStmt, n)->key, "thread_extent"))
    declare_var(p, AS(IterVar, subject)->var);
}

/* ---- other statements ---- */

static void print_if(Printer *p, IfThenElse *n, const char *word) {
  line(p, "%s %s:", word, expr_text(p, n->cond));
  print_suite(p, n->then);
  if (IS(IfThenElse, n->orelse)) return print_if(p, AS(IfThenElse, n->orelse), "elif");
  if (!n->orelse) return;
  line(p, "else:");
  print_suite(p, n->orelse);
}

static void print_evaluate(Printer *p, Evaluate *e) {
  if (is_intrin_call(e->value, "ret"))
    return line(p, "return %s", expr_text(p, AS(Call, e->value)->args.at[0]));
  if (is_intrin_call(e->value, "break_loop")) return line(p, "break");
  if (is_intrin_call(e->value, "continue_loop")) return line(p, "continue");
  bool call = IS(Call, e->value);
  line(p, call ? "%s" : "T.evaluate(%s)", expr_text(p, e->value));
}

static void print_store(Printer *p, BufferStore *s) {
  line_begin(p);
  DataType t = dtype_with_lanes(AS(Buffer, s->buffer)->elem, s->value->dtype.lanes);
  if (s->predicate) {
    str_printf(&p->out, "%s.vstore([", name_of(p, s->buffer));
    print_exprs(p, s->indices);
    str_printf(&p->out, "], %s, predicate=%s)", expr_text(p, s->value), expr_text(p, s->predicate));
    return line_end(p);
  }
  print_expr(p, MAKE(BufferLoad, s->node.span, t, .buffer = s->buffer, .indices = s->indices));
  str_add(&p->out, " = ");
  print_beside(p, s->value, t);
  line_end(p);
}

static void print_realize(Printer *p, BlockRealize *r) {
  Block *b = AS(Block, r->block);
  print_block(p, b, r->iter_values, r->predicate, false);
}

static void print_seq(Printer *p, SeqStmt *s, bool is_last) {
  for each (Node *, n, &s->stmts) print_stmt(p, *n, is_last && n == &vec_last(&s->stmts));
}

typedef struct Errand {
  Printer *p;
  Node *n;
  bool is_last;
} Errand;

static void print_errand(void *context) {
  Errand *e = context;
  print_stmt(e->p, e->n, e->is_last);
}

void print_stmt(Printer *p, Node *n, bool is_last) {
  if (stack_is_low()) return stack_run(print_errand, &(Errand){p, n, is_last});
  if (IS(SeqStmt, n)) return print_seq(p, AS(SeqStmt, n), is_last);
  print_views(p);
  declare_lets(p, n);
  declare_for_frame(p, n, is_last);
  FrameText frame = frame_text(p, n);
  if (frame.text) return print_frame(p, n, &frame, is_last);
  switch (n->kind) {
  case NK_For: print_for(p, n); break;
  case NK_While:
    line(p, "while %s:", expr_text(p, AS(While, n)->cond));
    print_suite(p, AS(While, n)->body);
    break;
  case NK_IfThenElse: print_if(p, AS(IfThenElse, n), "if"); break;
  case NK_BufferStore: print_store(p, AS(BufferStore, n)); break;
  case NK_Evaluate: print_evaluate(p, AS(Evaluate, n)); break;
  case NK_BlockRealize: print_realize(p, AS(BlockRealize, n)); break;
  case NK_Block: print_block(p, AS(Block, n), (NodeVec){0}, NULL, true); break;
  default: BUG("no text for the statement %s", node_kind_name(n->kind));
  }
}

void print_suite(Printer *p, Node *n) {
  int mark = scope_begin(p);
  p->indent++;
  print_stmt(p, n, true);
  p->indent--;
  scope_end(p, mark);
}
