/* graph.c -- graph functions, their expressions and struct info as text. */
#include "ir/print/print.h"
#include <math.h>

/* ---- struct info ---- */

static void print_tensor_info(Printer *p, TensorStructInfo *t) {
  Str args = {0}, outer = p->out;
  p->out = (Str){0};
  if (IS(ShapeExpr, t->shape)) print_shape(p, AS(ShapeExpr, t->shape)->values, INT64);
  else if (t->shape) str_add(&p->out, name_of(p, t->shape));
  args = p->out;
  p->out = outer;
  str_add(&p->out, "R.Tensor");
  bool ndim = !t->shape && t->ndim >= 0;
  if (!args.len && dtype_is_void(t->elem) && !ndim && !t->vdevice) return;
  str_add_char(&p->out, '(');
  const char *comma = "";
  if (args.len) str_add(&p->out, str_text(&args)), comma = ", ";
  if (!dtype_is_void(t->elem))
    str_printf(&p->out, "%sdtype=\"%s\"", comma, dtype_text(t->elem)), comma = ", ";
  if (ndim) str_printf(&p->out, "%sndim=%d", comma, t->ndim), comma = ", ";
  if (t->vdevice)
    str_printf(&p->out, "%svdevice=\"%s:%d\"", comma, AS(VDevice, t->vdevice)->target,
               AS(VDevice, t->vdevice)->id);
  str_add_char(&p->out, ')');
}

static void print_infos(Printer *p, NodeVec v) {
  for (int i = 0; i < v.len; i++) {
    if (i) str_add(&p->out, ", ");
    print_sinfo(p, v.at[i]);
  }
}

static void print_callable(Printer *p, FuncStructInfo *f) {
  str_add(&p->out, "R.Callable(");
  if (f->known) {
    str_add_char(&p->out, '(');
    print_infos(p, f->params);
    str_add(&p->out, f->params.len == 1 ? ",), " : "), ");
    print_sinfo(p, f->ret);
    str_printf(&p->out, ", %s)", f->is_pure ? "True" : "False");
    return;
  }
  str_add(&p->out, "ret=");
  print_sinfo(p, f->ret ? f->ret : sinfo_object());
  str_printf(&p->out, ", purity=%s)", f->is_pure ? "True" : "False");
}

void print_sinfo(Printer *p, Node *n) {
  switch (n->kind) {
  case NK_ObjectStructInfo: str_add(&p->out, p->options.tvm_style ? "R.Any" : "R.Object"); break;
  case NK_PrimStructInfo: {
    PrimStructInfo *s = AS(PrimStructInfo, n);
    str_printf(&p->out, "R.Prim(\"%s\"", dtype_text(s->elem));
    if (s->value)
      str_printf(&p->out, p->in_signature ? ", value=\"%s\"" : ", value=%s",
                 expr_text(p, s->value));
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

/* ---- constants ---- */

static void print_element(Printer *p, const ConstData *d, int64_t i) {
  const char *at = (const char *)d->bytes + i * dtype_nbytes(d->elem);
  double x;
  if (dtype_is_float(d->elem)) {
    uint32_t bits = 0;
    if (d->elem.bits == 64) memcpy(&x, at, 8);
    else if (d->elem.bits == 32) {
      float f;
      memcpy(&f, at, 4);
      x = (double)f;
    } else
      memcpy(&bits, at, (size_t)dtype_nbytes(d->elem)), x = dtype_float_from_bits(d->elem, bits);
    if (isfinite(x)) return str_add(&p->out, float_text(d->elem, x));
    return str_add(&p->out, isnan(x) ? "float(\"nan\")"
                            : x < 0  ? "float(\"-inf\")"
                                     : "float(\"inf\")");
  }
  int64_t value = 0;
  memcpy(&value, at, (size_t)dtype_nbytes(d->elem));
  if (dtype_is_bool(d->elem)) return str_add(&p->out, value ? "True" : "False");
  value = dtype_wrap_int(d->elem, value);
  if (d->elem.code == DTYPE_UINT) str_printf(&p->out, "%llu", (unsigned long long)value);
  else str_printf(&p->out, "%lld", (long long)value);
}

static void print_nested(Printer *p, const ConstData *d, int axis, int64_t *next) {
  if (axis == d->ndim) return print_element(p, d, (*next)++);
  str_add_char(&p->out, '[');
  for (int64_t i = 0; i < d->shape[axis]; i++) {
    if (i) str_add(&p->out, ", ");
    print_nested(p, d, axis + 1, next);
  }
  str_add_char(&p->out, ']');
}

void print_const_data(Printer *p, const ConstData *d) {
  int64_t next = 0;
  print_nested(p, d, 0, &next);
}

enum { INLINE_ELEMENTS = 64 };

static void print_constant(Printer *p, Constant *c) {
  int64_t n = 1;
  bool empty_axis = false;
  for (int i = 0; i < c->data->ndim; i++)
    n *= c->data->shape[i], empty_axis |= !c->data->shape[i] && i < c->data->ndim - 1;
  if ((n > INLINE_ELEMENTS && !p->options.show_meta) || empty_axis) {
    str_printf(&p->out, "metadata[\"relax.expr.Constant\"][%d]", p->constants++);
    return;
  }
  str_add(&p->out, "R.const(");
  print_const_data(p, c->data);
  str_printf(&p->out, ", \"%s\")", dtype_text(c->data->elem));
}

/* ---- expressions ---- */

static void print_relax_list(Printer *p, NodeVec v) {
  for (int i = 0; i < v.len; i++) {
    if (i) str_add(&p->out, ", ");
    if (IS(None, v.at[i])) str_add(&p->out, "None");
    else print_relax(p, v.at[i]);
  }
}

/* A tuple alone would be read as the list of its fields. */
static void print_out_infos(Printer *p, NodeVec infos) {
  if (infos.len == 1 && !IS(TupleStructInfo, infos.at[0])) return print_sinfo(p, infos.at[0]);
  str_add_char(&p->out, '[');
  print_infos(p, infos);
  str_add_char(&p->out, ']');
}

/* R.call_tir(cls.f, (x,), out_sinfo=..., tir_vars=R.shape([n])): forms whose result type is part of
 * the call. */
static void print_given_result_call(Printer *p, RelaxCall *c, const char *name) {
  const char *out = p->options.tvm_style ? "out_ty" : "out_sinfo";
  bool packed = str_same(name, "call_packed") || str_same(name, "call_pure_packed");
  NodeVec args = c->args;
  str_printf(&p->out, "R.%s(", name);
  Node *first = args.at[0];
  if (IS(ExternFunc, first)) print_quoted(p, AS(ExternFunc, first)->symbol);
  else print_relax(p, first);
  for (int i = 1; i < args.len && (packed || i < 2); i++) {
    str_add(&p->out, ", ");
    print_relax(p, args.at[i]);
  }
  Node *inplace = dict_get(c->attrs, "inplace_indices");
  if (inplace) {
    str_add(&p->out, ", inplace_indices=");
    print_attr(p, inplace);
  }
  if (c->sinfo_args.len) {
    str_printf(&p->out, ", %s=", packed ? p->options.tvm_style ? "ty_args" : "sinfo_args" : out);
    print_out_infos(p, c->sinfo_args);
  }
  if (!packed && args.len > 2) {
    str_add(&p->out, ", tir_vars=");
    print_relax(p, args.at[2]);
  }
  for (int i = 0; c->attrs && !inplace && i < AS(Dict, c->attrs)->keys.len; i++) {
    str_printf(&p->out, ", %s=", AS(Dict, c->attrs)->keys.at[i]);
    print_attr(p, AS(Dict, c->attrs)->values.at[i]);
  }
  str_add_char(&p->out, ')');
}

/* An attribute that equals its default is left out. */
static bool is_default(const OpInfo *info, const char *key, Node *value) {
  for (int i = 0; info && i < info->attrs.len; i++)
    if (str_same(info->attrs.at[i], key))
      return info->attr_defaults.at[i] && node_equal(info->attr_defaults.at[i], value, true, NULL);
  return false;
}

static void print_op_call(Printer *p, RelaxCall *c, const char *name) {
  const OpInfo *info = op_info(AS(Op, c->op)->name);
  str_printf(&p->out, "R.%s(", name);
  print_relax_list(p, c->args);
  Dict *attrs = c->attrs ? AS(Dict, c->attrs) : NULL;
  bool first = !c->args.len;
  for (int i = 0; attrs && i < attrs->keys.len; i++) {
    if (!p->options.tvm_style && is_default(info, attrs->keys.at[i], attrs->values.at[i])) continue;
    str_printf(&p->out, "%s%s=", first ? "" : ", ", attrs->keys.at[i]);
    print_attr(p, attrs->values.at[i]);
    first = false;
  }
  str_add_char(&p->out, ')');
}

static void print_relax_call(Printer *p, RelaxCall *c) {
  if (IS(Op, c->op)) {
    const char *name = AS(Op, c->op)->name;
    if (strncmp(name, "relax.", 6) == 0) name += 6;
    if (strncmp(name, "call_", 5) == 0) return print_given_result_call(p, c, name);
    return print_op_call(p, c, name);
  }
  print_relax(p, c->op);
  str_add_char(&p->out, '(');
  print_relax_list(p, c->args);
  str_add_char(&p->out, ')');
}

void print_relax(Printer *p, Node *n) {
  switch (n->kind) {
  case NK_RelaxVar: str_add(&p->out, name_of(p, n)); break;
  case NK_GlobalVar:
    p->uses_cls = true;
    str_printf(&p->out, "%s%s", p->self ? p->self : "", AS(GlobalVar, n)->name);
    break;
  case NK_Op: str_printf(&p->out, "R.%s", AS(Op, n)->name + 6); break;
  case NK_ExternFunc:
    str_add(&p->out, "R.ExternFunc(");
    print_quoted(p, AS(ExternFunc, n)->symbol);
    str_add_char(&p->out, ')');
    break;
  case NK_Constant: print_constant(p, AS(Constant, n)); break;
  case NK_PrimValue: {
    Node *v = AS(PrimValue, n)->value;
    str_add(&p->out, "R.prim_value(");
    if (IS(IntImm, v) && dtype_equal(v->dtype, INT32))
      str_printf(&p->out, "T.int32(%lld)", (long long)AS(IntImm, v)->value);
    else if (IS(IntImm, v) && dtype_equal(v->dtype, INT64))
      str_printf(&p->out, "%lld", (long long)AS(IntImm, v)->value);
    else if (IS(FloatImm, v)) print_attr(p, v);
    else print_expr(p, v);
    str_add_char(&p->out, ')');
    break;
  }
  case NK_DataTypeImm:
    str_printf(&p->out, "R.dtype(\"%s\")", dtype_text(AS(DataTypeImm, n)->value));
    break;
  case NK_StringValue:
    str_add(&p->out, "R.str(");
    print_quoted(p, AS(StringValue, n)->value);
    str_add_char(&p->out, ')');
    break;
  case NK_ShapeExpr: {
    bool signature = p->in_signature;
    p->in_signature = false;
    str_add(&p->out, "R.shape([");
    for (int i = 0; i < AS(ShapeExpr, n)->values.len; i++) {
      if (i) str_add(&p->out, ", ");
      print_beside(p, AS(ShapeExpr, n)->values.at[i], INT64);
    }
    str_add(&p->out, "])");
    p->in_signature = signature;
    break;
  }
  case NK_Tuple: {
    NodeVec f = AS(Tuple, n)->fields;
    if (!f.len) {
      str_add(&p->out, "R.tuple()");
      break;
    }
    str_add_char(&p->out, '(');
    print_relax_list(p, f);
    str_add(&p->out, f.len == 1 ? ",)" : ")");
    break;
  }
  case NK_TupleGetItem:
    print_relax(p, AS(TupleGetItem, n)->tuple);
    str_printf(&p->out, "[%d]", AS(TupleGetItem, n)->index);
    break;
  case NK_RelaxCall: print_relax_call(p, AS(RelaxCall, n)); break;
  case NK_None: str_add(&p->out, "None"); break;
  default:
    if (node_is_expr(n)) return print_expr(p, n);
    str_printf(&p->out, "<%s>", node_kind_name(n->kind));
  }
}

/* ---- bindings ---- */

static void print_blocks(Printer *p, NodeVec blocks);

static const char *relax_text(Printer *p, Node *n) {
  Str outer = p->out;
  p->out = (Str){0};
  print_relax(p, n);
  const char *text = str_text(&p->out);
  p->out = outer;
  return text;
}

static const char *sinfo_text(Printer *p, Node *n) {
  Str outer = p->out;
  p->out = (Str){0};
  print_sinfo(p, n);
  const char *text = str_text(&p->out);
  p->out = outer;
  return text;
}

static Node *bound_var(Node *binding) {
  return IS(MatchCast, binding) ? AS(MatchCast, binding)->var : AS(VarBinding, binding)->var;
}

/* The binding that ends the arm with its value; NULL if there is none. */
static Node *last_binding(SeqExpr *s) {
  BindingBlock *b = s->blocks.len ? AS(BindingBlock, vec_last(&s->blocks)) : NULL;
  Node *last = b && !b->is_dataflow && b->bindings.len ? vec_last(&b->bindings) : NULL;
  return last && bound_var(last) == s->body ? last : NULL;
}

/* Or a local function, whose def is no assignment. */
static bool is_alias(Node *binding) {
  return IS(VarBinding, binding) && !IS(RelaxCall, AS(VarBinding, binding)->value) &&
         !IS(RelaxIf, AS(VarBinding, binding)->value) &&
         !IS(Tuple, AS(VarBinding, binding)->value) &&
         !IS(TupleGetItem, AS(VarBinding, binding)->value);
}

/* The binding that ends the arm has the name of the result. A last line that only gives this name
 * to something that has one is no binding: one that is gets another name. */
static void print_arm(Printer *p, SeqExpr *s, Node *var, const char *result) {
  int mark = scope_begin(p);
  Node *last = last_binding(s);
  bool binds = last && !is_alias(last);
  p->indent++;
  Node *outer = p->arm_var;
  const char *outer_name = p->arm_name;
  p->arm_var = binds ? bound_var(last) : NULL;
  p->arm_name = result;
  print_blocks(p, s->blocks);
  p->arm_var = outer;
  p->arm_name = outer_name;
  const char *body = relax_text(p, s->body);
  if (!binds || !str_same(body, result)) line(p, "%s = %s", result, body);
  p->indent--;
  scope_end(p, mark);
  map_set(&p->taken, result, var);
}

static void print_if_binding(Printer *p, VarBinding *b) {
  RelaxIf *n = AS(RelaxIf, b->value);
  line(p, "if %s:", relax_text(p, n->cond));
  const char *result = name_define(p, b->var);
  print_arm(p, AS(SeqExpr, n->then), b->var, result);
  line(p, "else:");
  print_arm(p, AS(SeqExpr, n->orelse), b->var, result);
}

static bool annotation_is_plain(Node *value) {
  if (!IS(RelaxCall, value) || !IS(Op, AS(RelaxCall, value)->op)) return false;
  const char *name = AS(Op, AS(RelaxCall, value)->op)->name;
  return strncmp(name, "relax.call_", 11) == 0;
}

/* A call whose result is nothing, and that nobody asks for. */
static bool is_statement(Printer *p, VarBinding *b) {
  Node *info = AS(RelaxVar, b->var)->sinfo;
  bool nothing = IS(TupleStructInfo, info) && !AS(TupleStructInfo, info)->fields.len;
  bool is_output = p->in_dataflow && !AS(RelaxVar, b->var)->is_dataflow;
  return nothing && IS(RelaxCall, b->value) && str_same(AS(RelaxVar, b->var)->name, "_") &&
         !map_has(&p->used, b->var) && !is_output;
}

static WalkResult stop_at_unnamed(Walker *w, Node *n) {
  Printer *p = w->context;
  return IS(Var, n) && !map_has(&p->names, n) ? WALK_STOP : WALK_ON;
}

/* The type of a local function may mention dims that are its own. */
static bool mentions_unnamed(Printer *p, Node *sinfo) {
  Walker w = {.enter = stop_at_unnamed, .context = p};
  return !walk(&w, sinfo);
}

/* Dims that a match_cast names for the first time are declared before it. */
static WalkResult declare_dim(Walker *w, Node *n) {
  Printer *p = w->context;
  if (IS(Var, n)) declare_var(p, n);
  return WALK_ON;
}

static void print_match_cast(Printer *p, MatchCast *m) {
  Walker w = {.enter = declare_dim, .context = p};
  walk(&w, m->sinfo);
  const char *value = relax_text(p, m->value), *info = sinfo_text(p, m->sinfo);
  line(p, "%s = R.match_cast(%s, %s)", name_define(p, m->var), value, info);
}

static void print_var_binding(Printer *p, VarBinding *b) {
  if (IS(RelaxIf, b->value)) return print_if_binding(p, b);
  if (IS(Function, b->value)) {
    const char *name = name_define(p, b->var);
    print_function(p, AS(Function, b->value), name);
    return;
  }
  const char *value = relax_text(p, b->value);
  Node *info = AS(RelaxVar, b->var)->sinfo;
  if (is_statement(p, b)) line(p, "%s", value);
  else if (annotation_is_plain(b->value) || mentions_unnamed(p, info))
    line(p, "%s = %s", name_define(p, b->var), value);
  else {
    const char *type = sinfo_text(p, info);
    line(p, "%s: %s = %s", name_define(p, b->var), type, value);
  }
}

static void print_bindings(Printer *p, NodeVec bindings) {
  for each (Node *, b, &bindings) {
    if (IS(MatchCast, *b)) print_match_cast(p, AS(MatchCast, *b));
    else print_var_binding(p, AS(VarBinding, *b));
  }
}

/* The variables of the block end with it, the dims that it finds do not. */
static void print_dataflow(Printer *p, NodeVec bindings) {
  Walker w = {.enter = declare_dim, .context = p};
  for each (Node *, b, &bindings)
    if (IS(MatchCast, *b)) walk(&w, AS(MatchCast, *b)->sinfo);
  line(p, "with R.dataflow():");
  p->indent++;
  p->in_dataflow = true;
  print_bindings(p, bindings);
  p->in_dataflow = false;
  Str outputs = {0};
  for each (Node *, b, &bindings)
    if (!AS(RelaxVar, bound_var(*b))->is_dataflow)
      str_printf(&outputs, "%s%s", outputs.len ? ", " : "", name_of(p, bound_var(*b)));
  line(p, "R.output(%s)", str_text(&outputs));
  p->indent--;
}

static void print_blocks(Printer *p, NodeVec blocks) {
  for each (Node *, n, &blocks) {
    BindingBlock *b = AS(BindingBlock, *n);
    if (b->is_dataflow) print_dataflow(p, b->bindings);
    else print_bindings(p, b->bindings);
  }
}

/* ---- functions ---- */

static WalkResult name_dims(Walker *w, Node *n) {
  Printer *p = w->context;
  if (IS(Var, n) && !map_has(&p->names, n)) name_define(p, n);
  return WALK_ON;
}

static void print_parameters(Printer *p, Function *f, const char *name) {
  Walker w = {.enter = name_dims, .context = p};
  for each (Node *, v, &f->params) walk(&w, sinfo_of(*v));
  StrVec texts = {0};
  p->in_signature = true;
  for each (Node *, v, &f->params) {
    const char *info = sinfo_text(p, sinfo_of(*v));
    vec_push(&texts, str_format("%s: %s", name_define(p, *v), info));
  }
  print_signature(p, name, texts, sinfo_text(p, f->ret_sinfo));
  p->in_signature = false;
}

typedef struct UsedVars {
  Map vars;
} UsedVars;

static WalkResult note_used(Walker *w, Node *n) {
  if (IS(Var, n)) map_set(&((UsedVars *)w->context)->vars, n, n);
  if (IS(VarBinding, n)) walk(w, AS(RelaxVar, AS(VarBinding, n)->var)->sinfo);
  return WALK_ON;
}

/* Dims of the signature that the body names: n = T.int64(). */
static void print_dim_declarations(Printer *p, Function *f) {
  UsedVars used = {0}, signature = {0};
  Walker body = {.enter = note_used, .context = &used},
         params = {.enter = note_used, .context = &signature};
  walk(&body, f->body);
  for each (Node *, v, &f->params) walk(&params, sinfo_of(*v));
  for (int i = 0; i < signature.vars.len; i++) {
    Node *v = signature.vars.at[i].value;
    if (signature.vars.at[i].key && map_has(&used.vars, v))
      line(p, "%s = T.%s()", name_of(p, v), dtype_text(v->dtype));
  }
}

/* Graph variables that stand somewhere else than where they are bound. */
static WalkResult note_use(Walker *w, Node *n) {
  Printer *p = w->context;
  if (!IS(RelaxVar, n)) return WALK_ON;
  bool met = map_has(&p->bound, n);
  map_set(met ? &p->used : &p->bound, n, n);
  return WALK_PRUNE;
}

void print_function(Printer *p, Function *f, const char *name) {
  int mark = scope_begin(p);
  Walker uses = {.enter = note_use, .context = p};
  if (!p->local) walk(&uses, f->body);
  p->self = p->class_name ? "cls." : "";
  bool is_local = p->local++ > 0, is_private = !func_symbol(&f->node) && !is_local;
  Str flags = {0};
  if (is_private) str_add(&flags, "private=True");
  if (!f->is_pure) str_printf(&flags, "%spure=False", flags.len ? ", " : "");
  if (flags.len) line(p, "@R.function(%s)", str_text(&flags));
  else line(p, "@R.function");
  print_parameters(p, f, name);
  p->indent++;
  Node *attrs = f->attrs;
  if (str_same(dict_get_str(attrs, "global_symbol", ""), name))
    attrs = dict_with(attrs, "global_symbol", NULL);
  if (attrs && AS(Dict, attrs)->keys.len) {
    line_begin(p);
    str_add(&p->out, "R.func_attr(");
    print_attr(p, attrs);
    str_add(&p->out, ")\n");
  }
  print_dim_declarations(p, f);
  /* `cls = Module` stands here if the body names a function of the module. */
  Str head = p->out;
  bool outer_cls = p->uses_cls;
  p->out = (Str){0};
  p->uses_cls = false;
  SeqExpr *body = AS(SeqExpr, f->body);
  print_blocks(p, body->blocks);
  line(p, "return %s", relax_text(p, body->body));
  Str rest = p->out;
  p->out = head;
  if (p->uses_cls && p->class_name && !is_local) line(p, "cls = %s", p->class_name);
  p->uses_cls = is_local ? p->uses_cls || outer_cls : outer_cls;
  str_add(&p->out, str_text(&rest));
  p->indent--;
  p->local--;
  scope_end(p, mark);
  if (!p->local) p->taken = p->suffixes = (Map){0};
}
