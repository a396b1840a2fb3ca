/* graph.c -- graph functions and their expressions as text. Struct info: struct_info.c; constants:
 * constant.c. */
#include "ir/print/print.h"

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

/* Does the type say more than that it is a function? */
static bool extern_has_type(ExternFunc *f) {
  FuncStructInfo *info = IS(FuncStructInfo, f->sinfo) ? AS(FuncStructInfo, f->sinfo) : NULL;
  return info && (info->known || info->is_pure || !IS(ObjectStructInfo, info->ret));
}

void print_extern(Printer *p, ExternFunc *f) {
  str_add(&p->out, "R.ExternFunc(");
  print_quoted(p, f->symbol);
  if (extern_has_type(f)) {
    str_add(&p->out, ", ");
    print_sinfo(p, f->sinfo);
  }
  str_add_char(&p->out, ')');
}

/* Forms of call whose result type is part of the call, as they are written. */
static const struct CallForm {
  const char *name;     /* after "relax." */
  bool operands_follow; /* f, x, y; else f and one tuple */
  bool has_outputs;     /* the types are those of outputs: out_sinfo */
} call_forms[] = {
    {"call_tir", false, true},
    {"call_tir_inplace", false, true},
    {"call_tir_with_grad", false, true},
    {"dist.call_tir_local_view", false, true},
    {"call_dps_packed", false, true},
    {"call_py_func", false, true},
    {"call_packed", true, false},
    {"call_pure_packed", true, false},
    {"call_inplace_packed", true, false},
    {"call_builtin_with_ctx", false, false},
    {"invoke_closure", false, false},
    {"invoke_pure_closure", false, false},
};

/* By the node of the operator, of which there is one. */
static const struct CallForm *find_call_form(const Node *op) {
  static Map forms;
  if (!forms.live)
    for (size_t i = 0; i < sizeof call_forms / sizeof *call_forms; i++)
      map_set(&forms, op_get(str_format("relax.%s", call_forms[i].name)),
              (void *)(uintptr_t)&call_forms[i]);
  return map_get(&forms, op);
}

static bool on_mesh(NodeVec infos) {
  for each (Node *, n, &infos)
    if (IS(TensorStructInfo, *n) && AS(TensorStructInfo, *n)->placement) return true;
  return false;
}

/* R.call_tir(cls.f, (x,), out_sinfo=..., tir_vars=R.shape([n])) */
static void print_call_form(Printer *p, RelaxCall *c, const struct CallForm *form) {
  bool tvm = p->options.tvm_style,
       mesh = str_same(form->name, "call_tir") && on_mesh(c->sinfo_args);
  NodeVec args = c->args;
  str_printf(&p->out, "R.%s%s(", mesh ? "dist." : "", form->name);
  Node *first = args.at[0];
  if (IS(ExternFunc, first) && !extern_has_type(AS(ExternFunc, first)))
    print_quoted(p, AS(ExternFunc, first)->symbol);
  else if (IS(StringValue, first)) print_quoted(p, AS(StringValue, first)->value);
  else print_relax(p, first);
  int operands = form->operands_follow ? args.len : args.len < 2 ? args.len : 2;
  for (int i = 1; i < operands; i++) {
    str_add(&p->out, ", ");
    print_relax(p, args.at[i]);
  }
  Node *inplace = dict_get(c->attrs, "inplace_indices");
  if (inplace) {
    str_add(&p->out, ", inplace_indices=");
    print_attr(p, inplace);
  }
  if (c->sinfo_args.len) {
    const char *types =
        form->has_outputs ? (tvm ? "out_ty" : "out_sinfo") : (tvm ? "ty_args" : "sinfo_args");
    str_printf(&p->out, ", %s=", types);
    print_out_infos(p, c->sinfo_args);
  } else if (form->has_outputs) /* it writes to its operands */
    str_printf(&p->out, ", %s=[]", tvm ? "out_ty" : "out_sinfo");
  Dict *attrs = c->attrs ? AS(Dict, c->attrs) : NULL;
  for (int i = 0; attrs && i < attrs->keys.len; i++) {
    if (str_same(attrs->keys.at[i], "inplace_indices")) continue;
    str_printf(&p->out, ", %s=", attrs->keys.at[i]);
    print_attr(p, attrs->values.at[i]);
  }
  if (operands < args.len) {
    str_add(&p->out, ", tir_vars=");
    print_relax(p, args.at[operands]);
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
  const OpInfo *info = op_info_of(c->op);
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

/* A call that says its type, though its operator infers one. */
static void print_typed_call(Printer *p, RelaxCall *c) {
  str_printf(&p->out, "R.emit_with_ty(\"%s\", (", AS(Op, c->op)->name);
  print_relax_list(p, c->args);
  str_add(&p->out, c->args.len == 1 ? ",), " : "), ");
  print_out_infos(p, c->sinfo_args);
  str_add_char(&p->out, ')');
}

static void print_relax_call(Printer *p, RelaxCall *c) {
  if (IS(Op, c->op)) {
    const char *name = AS(Op, c->op)->name;
    if (strncmp(name, "relax.", 6) == 0) name += 6;
    const struct CallForm *form = c->args.len ? find_call_form(c->op) : NULL;
    if (form) return print_call_form(p, c, form);
    if (c->sinfo_args.len) return print_typed_call(p, c);
    return print_op_call(p, c, name);
  }
  print_relax(p, c->op);
  str_add_char(&p->out, '(');
  print_relax_list(p, c->args);
  str_add_char(&p->out, ')');
}

static void print_op(Printer *p, Op *op) {
  bool builtin = strncmp(op->name, "tir.", 4) == 0;
  str_printf(&p->out, "%s.%s", builtin ? "T" : "R", strchr(op->name, '.') + 1);
}

void print_relax(Printer *p, Node *n) {
  switch (n->kind) {
  case NK_RelaxVar: str_add(&p->out, name_of(p, n)); break;
  case NK_GlobalVar:
    p->uses_cls = true;
    str_printf(&p->out, "%s%s", p->self ? p->self : "", AS(GlobalVar, n)->name);
    break;
  case NK_Op: print_op(p, AS(Op, n)); break;
  case NK_ExternFunc: print_extern(p, AS(ExternFunc, n)); break;
  case NK_Constant: print_constant(p, AS(Constant, n)); break;
  case NK_PrimValue: {
    Node *v = AS(PrimValue, n)->value;
    str_add(&p->out, "R.prim_value(");
    if (IS(IntImm, v) && dtype_equal(v->dtype, INT32))
      str_printf(&p->out, "T.int32(%lld)", (long long)AS(IntImm, v)->value);
    else if (IS(IntImm, v) && dtype_equal(v->dtype, INT64))
      str_printf(&p->out, "%lld", (long long)AS(IntImm, v)->value);
    else print_beside(p, v, FLOAT32);
    str_add_char(&p->out, ')');
    break;
  }
  case NK_MetadataRef:
    str_printf(&p->out, "metadata[\"%s\"][%d]", AS(MetadataRef, n)->type_key,
               AS(MetadataRef, n)->index);
    break;
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

static const char *text_by(Printer *p, void (*print)(Printer *p, Node *n), Node *n) {
  size_t start = text_begin(p);
  print(p, n);
  return text_end(p, start);
}

static const char *relax_text(Printer *p, Node *n) { return text_by(p, print_relax, n); }
static const char *sinfo_text(Printer *p, Node *n) { return text_by(p, print_sinfo, n); }
const char *attr_text(Printer *p, Node *n) { return text_by(p, print_attr, n); }

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
  return IS(RelaxCall, value) && find_call_form(AS(RelaxCall, value)->op);
}

static bool is_unnamed(Node *var) { return str_same(AS(RelaxVar, var)->name, "_"); }

/* A call whose result is nothing, and that nobody asks for. */
static bool is_statement(Printer *p, VarBinding *b) {
  Node *info = AS(RelaxVar, b->var)->sinfo;
  bool nothing = IS(TupleStructInfo, info) && !AS(TupleStructInfo, info)->fields.len;
  bool is_output = p->in_dataflow && !AS(RelaxVar, b->var)->is_dataflow;
  return nothing && IS(RelaxCall, b->value) && is_unnamed(b->var) && !map_has(&p->used, b->var) &&
         !is_output;
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

/* The struct info of a variable where it is bound. Many variables have one. */
static const char *annotation_text(Printer *p, Node *info) {
  const char *text = map_get(&p->info_texts, info);
  if (text) return text;
  p->hides_values = p->options.tvm_style; /* reading infers them from the bound value */
  text = sinfo_text(p, info);
  p->hides_values = false;
  map_set(&p->info_texts, info, (void *)(uintptr_t)text);
  return text;
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
    const char *type = annotation_text(p, info);
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

/* n: R.Prim("int64") is the dim n, too: both have one name. */
static Node *own_dim(Node *param) {
  Node *info = sinfo_of(param);
  Node *dim = IS(PrimStructInfo, info) ? AS(PrimStructInfo, info)->value : NULL;
  return IS(Var, dim) && str_same(name_hint(dim), name_hint(param)) ? dim : NULL;
}

static const char *param_text(Printer *p, Node *param) {
  Node *info = sinfo_of(param);
  PrimStructInfo *scalar = IS(PrimStructInfo, info) ? AS(PrimStructInfo, info) : NULL;
  if (own_dim(param))
    return str_format("%s: R.Prim(\"%s\")", name_of(p, param), dtype_text(scalar->elem));
  if (scalar && !scalar->value && dtype_is_int(scalar->elem))
    return str_format("%s: R.Prim(\"%s\", value=None)", name_define(p, param),
                      dtype_text(scalar->elem));
  const char *text = sinfo_text(p, info);
  return str_format("%s: %s", name_define(p, param), text);
}

static void print_parameters(Printer *p, Function *f, const char *name) {
  Walker w = {.enter = name_dims, .context = p};
  for each (Node *, v, &f->params) {
    Node *dim = own_dim(*v);
    if (dim && !map_has(&p->names, dim)) name_set(p, dim, name_define(p, *v));
    else if (dim) name_define(p, *v);
  }
  for each (Node *, v, &f->params) walk(&w, sinfo_of(*v));
  StrVec texts = {0};
  p->in_signature = true;
  for each (Node *, v, &f->params) vec_push(&texts, param_text(p, *v));
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

/* Does a parameter stand for the dim? */
static bool is_parameter_name(Printer *p, Function *f, Node *dim) {
  for each (Node *, v, &f->params)
    if (str_same(name_of(p, *v), name_of(p, dim))) return true;
  return false;
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
    if (signature.vars.at[i].key && map_has(&used.vars, v) && !is_parameter_name(p, f, v))
      line(p, "%s = T.%s()", name_of(p, v), dtype_text(v->dtype));
  }
}

/* Dims that the function uses and nothing defines. */
static void declare_undefined(Printer *p, Function *f) {
  NodeVec undefined = ir_undefined(&f->node);
  for each (Node *, n, &undefined)
    if (IS(Var, *n)) declare_var(p, *n);
}

/* Unnamed graph variables that stand somewhere else than where they are bound. */
static WalkResult note_use(Walker *w, Node *n) {
  Printer *p = w->context;
  if (!IS(RelaxVar, n))
    return node_is_relax(n) || node_family(n->kind) == FAMILY_PART ? WALK_ON : WALK_PRUNE;
  if (!is_unnamed(n)) return WALK_PRUNE;
  bool met = map_has(&p->bound, n);
  map_set(met ? &p->used : &p->bound, n, n);
  return WALK_PRUNE;
}

void print_function(Printer *p, Function *f, const char *name) {
  int mark = scope_begin(p);
  Walker uses = {.enter = note_use, .context = p};
  if (!p->local) walk(&uses, f->body);
  p->self = p->class_name ? "cls." : "";
  p->in_graph = true;
  bool is_local = p->local++ > 0, is_private = !func_symbol(&f->node) && !is_local;
  Str flags = {0};
  if (is_private) str_add(&flags, "private=True");
  if (!f->is_pure) str_printf(&flags, "%spure=False", flags.len ? ", " : "");
  else if (p->options.unchecked) str_printf(&flags, "%spure=True", flags.len ? ", " : "");
  if (flags.len) line(p, "@R.function(%s)", str_text(&flags));
  else line(p, "@R.function");
  print_parameters(p, f, name);
  p->indent++;
  Node *attrs = f->attrs;
  if (str_same(dict_get_str(attrs, "global_symbol", ""), name))
    attrs = dict_with(attrs, "global_symbol", NULL);
  if (attrs && AS(Dict, attrs)->keys.len) line(p, "R.func_attr(%s)", attr_text(p, attrs));
  print_dim_declarations(p, f);
  if (p->options.unchecked) declare_undefined(p, f);
  /* `cls = Module` stands here if the body names a function of the module. */
  size_t head = p->out.len;
  bool outer_cls = p->uses_cls;
  p->uses_cls = false;
  SeqExpr *body = AS(SeqExpr, f->body);
  print_blocks(p, body->blocks);
  line(p, "return %s", relax_text(p, body->body));
  if (p->uses_cls && p->class_name && !is_local) {
    size_t end = text_begin(p);
    line(p, "cls = %s", p->class_name);
    str_insert(&p->out, head, text_end(p, end));
  }
  p->uses_cls = is_local ? p->uses_cls || outer_cls : outer_cls;
  p->indent--;
  p->local--;
  p->in_graph = is_local;
  scope_end(p, mark);
  if (p->local) return;
  map_clear(&p->taken);
  map_clear(&p->suffixes);
}
