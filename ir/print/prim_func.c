/* prim_func.c -- the functions around tensor programs: signatures, dims, attributes, the root
 * block. */
#include "ir/print/print.h"

static bool is_plain(Buffer *b) {
  return !b->strides.len && !b->elem_offset && b->align == 64 && b->offset_factor == 1 &&
         !b->auto_broadcast && !b->axis_separators.len && !b->layout && !b->allocated_addr.len &&
         str_same(buffer_scope(&b->node), "global") && IS(Var, b->data);
}

/* Variables that stand as a whole dim of some parameter, or are parameters: text can define them by
 * a quoted dim. */
static Map definable_dims(PrimFunc *f) {
  Map dims = {0};
  for (int i = 0; i < f->params.len; i++) {
    if (!f->buffers.at[i]) map_set(&dims, f->params.at[i], f);
    else if (is_plain(AS(Buffer, f->buffers.at[i])))
      for each (Node *, d, &AS(Buffer, f->buffers.at[i])->shape)
        if (IS(Var, *d)) map_set(&dims, *d, f);
  }
  return dims;
}

typedef struct DimVars {
  NodeVec vars;
  Map seen;
  const Map *definable;
  bool all;
} DimVars;

static WalkResult note_dim_var(Walker *w, Node *n) {
  DimVars *d = w->context;
  if (!IS(Var, n)) return WALK_ON;
  if (!map_has(d->definable, n)) d->all = false;
  if (!map_has(&d->seen, n)) map_set(&d->seen, n, n), vec_push(&d->vars, n);
  return WALK_ON;
}

static DimVars vars_of(NodeVec exprs, const Map *definable) {
  DimVars d = {.definable = definable, .all = true};
  Walker w = {.enter = note_dim_var, .context = &d};
  for each (Node *, e, &exprs) walk(&w, *e);
  return d;
}

/* TVM reads an annotation once the parameters before it are known. */
static bool mentions_later(const DimVars *dims, PrimFunc *f, int i) {
  for (int k = i + 1; k < f->params.len; k++)
    if (map_has(&dims->seen, f->params.at[k])) return true;
  return false;
}

static bool in_annotation(const Printer *p, PrimFunc *f, int i, const Map *definable) {
  Buffer *b = f->buffers.at[i] ? AS(Buffer, f->buffers.at[i]) : NULL;
  if (!b || !is_plain(b)) return false;
  DimVars dims = vars_of(b->shape, definable);
  return dims.all && !(p->options.tvm_style && mentions_later(&dims, f, i));
}

static bool is_marked(PrimFunc *f, const char *attr, int i) {
  Node *indices = dict_get(f->attrs, attr);
  int64_t x;
  if (IS(Array, indices))
    for each (Node *, n, &AS(Array, indices)->items)
      if (expr_is_const_int(*n, &x) && x == i) return true;
  return false;
}

static void note_type_var(Printer *p, const char *name) {
  for each (const char *, known, &p->type_vars)
    if (str_same(*known, name)) return;
  vec_push(&p->type_vars, name);
}

static void print_dims(Printer *p, PrimFunc *f, const Buffer *b, const Map *definable) {
  p->in_signature = true;
  print_shape(p, b->shape, VOID_TYPE);
  p->in_signature = false;
  Map params = {0};
  for each (Node *, x, &f->params) map_set(&params, *x, *x);
  DimVars dims = vars_of(b->shape, definable);
  for each (Node *, v, &dims.vars)
    if (is_type_var(p, *v) && !map_has(&params, *v)) note_type_var(p, name_of(p, *v));
}

static void print_param(Printer *p, PrimFunc *f, int i, const Map *definable) {
  Node *param = f->params.at[i];
  const char *open = is_marked(f, "tirx.optional", i) ? "T.Optional(" : "",
             *close = *open ? ")" : "";
  if (in_annotation(p, f, i, definable)) {
    Buffer *b = AS(Buffer, f->buffers.at[i]);
    str_printf(&p->out, "%s: %sT.Buffer(", name_define(p, &b->node), open);
    print_dims(p, f, b, definable);
    str_printf(&p->out, ", \"%s\")%s", dtype_text(b->elem), close);
    name_set(p, b->data, str_format("%s.data", name_of(p, &b->node)));
    return;
  }
  const char *name = map_has(&p->names, param) ? name_of(p, param) : name_define(p, param);
  const char *size = AS(Var, param)->is_size ? "(is_size_var=True)" : "";
  const char *type = is_marked(f, "tirx.constexpr", i) ? "T.constexpr" : var_type(AS(Var, param));
  str_printf(&p->out, "%s: %s%s%s%s", name, open, type, size, close);
}

static const char *param_text(Printer *p, PrimFunc *f, int i, const Map *definable) {
  size_t start = text_begin(p);
  print_param(p, f, i, definable);
  return text_end(p, start);
}

/* Is this what a dim of a signature is, without a line that says more? */
static bool is_signature_dim(const Printer *p, Node *v) {
  return is_type_var(p, v) || (dtype_equal(v->dtype, INT32) && !AS(Var, v)->is_size);
}

/* Dims that are not parameters: declared where their dtype is not that of a quoted dim, or where no
 * quoted dim is. */
static void print_dim_lines(Printer *p, PrimFunc *f, const Map *definable) {
  Map done = {0};
  for (int i = 0; i < f->params.len; i++)
    if (!f->buffers.at[i]) map_set(&done, f->params.at[i], f);
  for (int i = 0; i < f->params.len; i++) {
    if (!f->buffers.at[i]) continue;
    Buffer *b = AS(Buffer, f->buffers.at[i]);
    bool annotated = in_annotation(p, f, i, definable);
    DimVars d = vars_of(b->shape, definable);
    for each (Node *, v, &d.vars) {
      bool quoted = map_has(definable, *v);
      if (map_has(&done, *v) || (annotated && quoted && is_signature_dim(p, *v))) continue;
      map_set(&done, *v, f);
      const char *name = map_has(&p->names, *v) ? name_of(p, *v) : name_define(p, *v);
      line(p, "%s = T.%s(%s)", name, dtype_text((*v)->dtype),
           AS(Var, *v)->is_size ? "is_size_var=True" : "");
    }
  }
  for (int i = 0; i < f->params.len; i++)
    if (f->buffers.at[i] && !in_annotation(p, f, i, definable))
      print_buffer_line(p, "T.match_buffer", AS(Buffer, f->buffers.at[i]),
                        str_format("%s, ", name_of(p, f->params.at[i])), false);
}

/* Is it there, as True? Then the decorator can say it. */
static bool is_flag(const Node *attrs, const char *key) {
  Node *x = dict_get(attrs, key);
  return x && IS(IntImm, x) && dtype_is_bool(x->dtype) && expr_is_one(x);
}

static void print_func_attrs(Printer *p, Node *attrs, const char *name) {
  if (str_same(dict_get_str(attrs, "global_symbol", ""), name))
    attrs = dict_with(attrs, "global_symbol", NULL);
  static const char *const in_signature[] = {"tirx.jit", "tirx.constexpr", "tirx.optional",
                                             "persistent"};
  for (int i = 0; i < (is_flag(attrs, "persistent") ? 4 : 3); i++)
    attrs = dict_with(attrs, in_signature[i], NULL);
  if (!AS(Dict, attrs)->keys.len) return;
  line_begin(p);
  str_add(&p->out, "T.func_attr(");
  print_attr(p, attrs);
  str_add_char(&p->out, ')');
  line_end(p);
}

static WalkResult stop_at_block(Walker *w, Node *n) {
  (void)w;
  return IS(Block, n) ? WALK_STOP : node_is_expr(n) ? WALK_PRUNE : WALK_ON;
}

static bool has_block(Node *n) {
  Walker w = {.enter = stop_at_block};
  return !walk(&w, n);
}

/* The root block is left out where reading the text puts it back. */
static void print_body(Printer *p, Node *body) {
  Block *root = IS(BlockRealize, body) ? AS(Block, AS(BlockRealize, body)->block) : NULL;
  bool is_root = root && str_same(root->name, "root") && !root->iter_vars.len && !root->reads.len &&
                 !root->writes.len && !root->match_buffers.len && !root->init &&
                 (!root->annotations || !AS(Dict, root->annotations)->keys.len) &&
                 expr_is_one(AS(BlockRealize, body)->predicate);
  bool lone =
      root && IS(BlockRealize, root->body) && !AS(BlockRealize, root->body)->iter_values.len;
  bool implied = is_root && has_block(root->body) && (root->alloc_buffers.len || !lone);
  if (!implied) return print_stmt(p, body, true);
  for each (Node *, a, &root->alloc_buffers)
    print_buffer_line(p, str_format("T.%s", block_word(p, "alloc_buffer")), AS(Buffer, *a), NULL,
                      false);
  print_stmt(p, root->body, true);
}

static WalkResult declare_met(Walker *w, Node *n) {
  Printer *p = w->context;
  if (IS(Var, n)) declare_var(p, n);
  if (!IS(Buffer, n)) return WALK_ON;
  if (map_has(&p->names, n)) return WALK_PRUNE;
  Buffer *b = AS(Buffer, n);
  for each (Node *, d, &b->shape) walk(w, *d);
  for each (Node *, d, &b->strides) walk(w, *d);
  if (b->elem_offset) walk(w, b->elem_offset);
  print_buffer_line(p, "T.Buffer", b, NULL, map_has(&p->names, b->data));
  return WALK_PRUNE;
}

void declare_free(Printer *p, Node *of) {
  Walker w = {.enter = declare_met, .context = p};
  if (node_family(of->kind) != FAMILY_STMT && !node_is_expr(of)) { /* nothing in it is defined */
    walk(&w, of);
    return;
  }
  NodeVec undefined = ir_undefined(of);
  Map pointers = {0}; /* what a buffer that is declared brings */
  for each (Node *, n, &undefined)
    if (IS(Buffer, *n)) map_set(&pointers, AS(Buffer, *n)->data, *n);
  for each (Node *, n, &undefined)
    if (!map_has(&pointers, *n)) walk(&w, *n);
}

/* Lines for what the function uses and nothing defines. */
static void declare_undefined(Printer *p, PrimFunc *f) {
  NodeVec undefined = ir_undefined(&f->node);
  for each (Node *, n, &undefined)
    if (IS(Var, *n)) declare_var(p, *n);
  for each (Node *, n, &undefined)
    if (IS(Buffer, *n) && !map_has(&p->names, *n))
      print_buffer_line(p, "T.Buffer", AS(Buffer, *n), NULL,
                        map_has(&p->names, AS(Buffer, *n)->data));
}

static void print_decorator(Printer *p, PrimFunc *f) {
  Str flags = {0};
  bool jit = dict_get(f->attrs, "tirx.jit") != NULL;
  bool low_level = p->is_today && !has_block(f->body); /* upstream, what has no blocks of its own */
  if (p->options.tvm_style && !jit && !low_level) str_add(&flags, "s_tir=True");
  if (!func_symbol(&f->node)) str_printf(&flags, "%sprivate=True", flags.len ? ", " : "");
  if (is_flag(f->attrs, "persistent"))
    str_printf(&flags, "%spersistent=True", flags.len ? ", " : "");
  const char *decorator = jit ? "@T.jit" : "@T.prim_func";
  if (flags.len) line(p, "%s(%s)", decorator, str_text(&flags));
  else line(p, "%s", decorator);
}

void print_prim_func(Printer *p, PrimFunc *f, const char *name) {
  int mark = scope_begin(p);
  survey_function(p, f);
  p->scalars = (Map){0};
  p->self = p->class_name ? str_format("%s.", p->class_name) : "";
  Map definable = definable_dims(f);
  print_decorator(p, f);
  /* Scalar parameters and dims first: a parameter may mention those that follow it. */
  for (int i = 0; i < definable.len; i++)
    if (definable.at[i].key) name_define(p, (Node *)(uintptr_t)definable.at[i].key);
  StrVec params = {0};
  for (int i = 0; i < f->params.len; i++) vec_push(&params, param_text(p, f, i, &definable));
  bool returns = !dtype_is_void(f->ret_dtype);
  print_signature(p, name, params, returns ? str_format("T.%s", dtype_text(f->ret_dtype)) : NULL);
  p->indent++;
  print_func_attrs(p, f->attrs, name);
  if (p->options.unchecked) declare_undefined(p, f);
  print_dim_lines(p, f, &definable);
  print_body(p, f->body);
  p->indent--;
  scope_end(p, mark);
  p->views = NULL;
}
