/* signature.c -- dimensions in the annotations of a function: quoted ("n", "n * 2"), or free names
 * as in the text of 2021, are variables shared over the function. */
#include "lang/dialect/dialect_impl.h"
#include <ctype.h>

typedef struct DimScan {
  Env *env;
  AstDef *def;
  DataType quoted;
  Map *dims;
} DimScan;

static bool is_identifier(const char *text) {
  if (!isalpha((unsigned char)*text) && *text != '_') return false;
  for (const char *c = text; *c; c++)
    if (!isalnum((unsigned char)*c) && *c != '_') return false;
  return true;
}

/* The dtype of `name = T.int64()` or `T.int64(is_size_var=True)` among the first statements of the
 * body. */
static bool body_dtype(AstDef *def, const char *name, DataType *t) {
  for each (Ast *, s, &def->body) {
    if ((*s)->kind != AST_KIND_Assign) continue;
    AstAssign *a = AST_AS(Assign, *s);
    Ast *target = a->targets.at[0], *value = a->value;
    if (a->targets.len != 1 || target->kind != AST_KIND_Name || AST_AS(Name, target)->name != name)
      continue;
    if (value->kind != AST_KIND_Call) continue;
    AstVec *args = &AST_AS(Call, value)->args;
    if (args->len && args->at[0]->kind != AST_KIND_Keyword) continue;
    Ast *func = AST_AS(Call, value)->func;
    if (func->kind == AST_KIND_Attribute && dtype_parse(AST_AS(Attribute, func)->name, t))
      return true;
  }
  return false;
}

/* The name of the dtype in T.int64, T.int64() and R.Prim("int64"); "" in others. */
static const char *scalar_dtype_name(Ast *type) {
  AstCall *call = type->kind == AST_KIND_Call ? AST_AS(Call, type) : NULL;
  if (call) type = call->func;
  if (type->kind != AST_KIND_Attribute) return "";
  const char *name = AST_AS(Attribute, type)->name;
  if (!call || !str_same(name, "Prim")) return name;
  bool given = call->args.len && call->args.at[0]->kind == AST_KIND_Str;
  return given ? AST_AS(Str, call->args.at[0])->text : "";
}

/* The dtype of an integer parameter of that name. */
static bool param_dtype(AstDef *def, const char *name, DataType *t) {
  for each (Ast *, x, &def->params) {
    AstParam *p = AST_AS(Param, *x);
    if (p->name != name || !p->annotation) continue;
    DataType found;
    bool scalar = dtype_parse(scalar_dtype_name(p->annotation), &found) && dtype_is_int(found);
    if (scalar) *t = found;
    return scalar;
  }
  return false;
}

static void declare(DimScan *scan, const char *name, DataType t, Span span) {
  name = str_intern(name);
  if (map_has(scan->dims, name)) return;
  if (!param_dtype(scan->def, name, &t)) body_dtype(scan->def, name, &t);
  Node *var = var_new(name, t, span);
  map_set(scan->dims, name, var);
  env_set(scan->env, name, value_node(var));
}

/* In a compound such as "n * 2", the scalar parameters, which may come later, are declared, and in
 * tensor programs whatever nothing else is called. */
static void declare_names_in(DimScan *scan, const char *text, Span span) {
  char before = ' ';
  for (const char *c = text; *c;) {
    size_t n = 0;
    while (isalnum((unsigned char)c[n]) || c[n] == '_') n++;
    bool is_name = n && !isdigit((unsigned char)*c) && before != '.';
    const char *name = is_name ? str_intern_n(c, n) : NULL;
    DataType t = scan->quoted;
    bool is_open = dtype_equal(t, INT32) && name && !env_find(scan->env, name);
    if (name && (param_dtype(scan->def, name, &t) || is_open)) declare(scan, name, t, span);
    c += n ? n : 1;
    before = c[-1];
  }
}

/* A quoted name is a variable of this function, or of the one it stands in; what the script calls
 * so doesn't count. */
static void declare_quoted(DimScan *scan, Ast *item) {
  const char *text = AST_AS(Str, item)->text;
  if (!is_identifier(text)) return declare_names_in(scan, text, item->span);
  const char *name = str_intern(text);
  Value *known = graph && graph->outer ? env_find(scan->env, name) : NULL;
  bool outer = known && value_is_node(*known, NK_Var);
  if (!outer && !map_has(scan->dims, name)) declare(scan, name, scan->quoted, item->span);
}

const ValueType type_type_var = {.name = "TypeVar"};
bool type_vars_exist;

static Value make_type_var(BuiltinCall *call) {
  type_vars_exist = true;
  return value_of(&type_type_var,
                  (void *)(uintptr_t)value_as_text(call->args[0], "the name", call->span));
}
const Builtin type_var_builtin = {"TypeVar", "name", make_type_var,
                                  "a dimension that signatures declare by its name"};

static void declare_free(DimScan *scan, Ast *item) {
  const char *name = AST_AS(Name, item)->name;
  Value *known = env_find(scan->env, name);
  if (!known || known->type == &type_type_var) declare(scan, name, INT64, item->span);
}

/* Does a call or subscript of this value take a shape first? */
static bool takes_shape(Ast *func) {
  const char *name = func->kind == AST_KIND_Attribute ? AST_AS(Attribute, func)->name
                     : func->kind == AST_KIND_Name    ? AST_AS(Name, func)->name
                                                      : "";
  return str_same(name, "Buffer") || str_same(name, "Tensor") || str_same(name, "Shape") ||
         str_same(name, "DTensor");
}

static void scan_annotation(void *context, Ast *node);

/* Every name inside a dim, such as n of n * 2. */
static void scan_free_names(void *context, Ast *node) {
  if (node->kind == AST_KIND_Name) declare_free(context, node);
  else if (node->kind != AST_KIND_Call && node->kind != AST_KIND_Attribute)
    ast_each_child(node, scan_free_names, context);
}

static void scan_shape(DimScan *scan, Ast *shape) {
  AstVec *items = shape->kind == AST_KIND_Tuple  ? &AST_AS(Tuple, shape)->items
                  : shape->kind == AST_KIND_List ? &AST_AS(List, shape)->items
                                                 : NULL;
  if (!items) {
    if (shape->kind == AST_KIND_Name) declare_free(scan, shape);
    return;
  }
  for each (Ast *, item, items) {
    if ((*item)->kind == AST_KIND_Str) declare_quoted(scan, *item);
    else scan_free_names(scan, *item);
  }
}

static bool holds_dims(const char *keyword) {
  return str_same(keyword, "shape") || str_same(keyword, "strides") ||
         str_same(keyword, "elem_offset");
}

/* The text of R.Prim("float32", value="z"); else NULL. */
static Ast *quoted_value(Ast *node) {
  AstCall *call = node->kind == AST_KIND_Call ? AST_AS(Call, node) : NULL;
  bool is_prim = call && call->func->kind == AST_KIND_Attribute &&
                 str_same(AST_AS(Attribute, call->func)->name, "Prim");
  for (int i = 0; is_prim && i < call->args.len; i++) {
    Ast *arg = call->args.at[i];
    bool is_value = arg->kind == AST_KIND_Keyword && str_same(AST_AS(Keyword, arg)->name, "value");
    if (is_value && AST_AS(Keyword, arg)->value->kind == AST_KIND_Str)
      return AST_AS(Keyword, arg)->value;
  }
  return NULL;
}

/* A name alone is a variable of the dtype that is given with it. */
static void scan_prim(const DimScan *scan, Ast *type, Ast *value) {
  DimScan of_type = *scan;
  DataType t;
  const char *name = scalar_dtype_name(type);
  if (*name && is_identifier(AST_AS(Str, value)->text) && dtype_parse(name, &t)) of_type.quoted = t;
  declare_quoted(&of_type, value);
}

static void scan_annotation(void *context, Ast *node) {
  DimScan *scan = context;
  if (node->kind == AST_KIND_Call && takes_shape(AST_AS(Call, node)->func)) {
    AstCall *call = AST_AS(Call, node);
    if (call->args.len && call->args.at[0]->kind != AST_KIND_Keyword)
      scan_shape(scan, call->args.at[0]);
    for each (Ast *, arg, &call->args)
      if ((*arg)->kind == AST_KIND_Keyword && holds_dims(AST_AS(Keyword, *arg)->name))
        scan_shape(scan, AST_AS(Keyword, *arg)->value);
    return;
  }
  if (node->kind == AST_KIND_Subscript && takes_shape(AST_AS(Subscript, node)->value)) {
    Ast *index = AST_AS(Subscript, node)->index;
    bool has_dtype = index->kind == AST_KIND_Tuple && !AST_AS(Tuple, index)->parenthesized;
    scan_shape(scan, has_dtype ? AST_AS(Tuple, index)->items.at[0] : index);
    return;
  }
  Ast *value = quoted_value(node);
  if (value) {
    scan_prim(scan, node, value);
    return;
  }
  ast_each_child(node, scan_annotation, context);
}

void declare_dims(Env *env, AstDef *def, DataType quoted, Map *dims) {
  DimScan scan = {env, def, quoted, dims};
  for each (Ast *, p, &def->type_params) declare(&scan, AST_AS(Name, *p)->name, INT64, (*p)->span);
  /* Scalar parameters may serve as dims of others. */
  for each (Ast *, p, &def->params)
    if (AST_AS(Param, *p)->annotation) scan_annotation(&scan, AST_AS(Param, *p)->annotation);
  if (def->result) scan_annotation(&scan, def->result);
}

/* ---- quoted dims as expressions ---- */

static Env *dim_env; /* of the annotation being evaluated: to_dim() reads quoted dims in it */

typedef struct DimText {
  const char *text;
  Node *dim;
  Span span;
} DimText;

static void read_dim(void *context) {
  DimText *d = context;
  const Source *source = source_add("<dimension>", d->text, strlen(d->text));
  DiagVec *outer = diag_capture();
  Ast *expression = source ? parse_expression(source) : NULL;
  DiagVec *found = diag_restore(outer);
  if (!expression)
    raise("SyntaxError", d->span, "%s", found->len ? found->at[0]->text : "the text is too long");
  d->dim = to_expr(eval(dim_env, expression), d->span);
}

/* Faults are told where the quotes stand: the text inside is no file that one could open. */
Node *dim_from_text(const char *text, Span span) {
  if (!dim_env)
    raise("TypeError", span, "a dimension in quotes stands only in the annotations of a signature");
  DimText d = {.text = text, .span = span};
  Error *e = eval_protect(read_dim, &d);
  if (!e) return d.dim;
  if (str_same(e->kind, ERROR_INTERNAL) || str_same(e->kind, ERROR_POISONED)) error_raise(e);
  Error told = *e;
  told.span = span;
  told.text = str_format("in the dimension \"%s\": %s", text, e->text);
  error_raise(gc_copy(&told, sizeof told));
}

typedef struct AnnotationCall {
  Env *env;
  Ast *annotation;
  Value result;
} AnnotationCall;

static void run_annotation(void *context) {
  AnnotationCall *call = context;
  call->result = eval(call->env, call->annotation);
}

Value eval_annotation(Env *env, Ast *annotation) {
  Env *outer = dim_env;
  AnnotationCall call = {.env = env, .annotation = annotation};
  dim_env = env;
  Error *e = eval_protect(run_annotation, &call);
  dim_env = outer;
  if (e) error_raise(e);
  return call.result;
}
