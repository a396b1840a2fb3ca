/* jit.c -- @T.jit: a prim_func with parameters that are known before it is compiled.
 *
 * The text is read once as it stands, with T.constexpr parameters as scalars, so that it can be
 * checked and printed; specialize() reads it again, with what it is given in their place. A text
 * whose signature needs their values is read by specialize() only. */
#include "lang/dialect/tensor_stmt.h"

typedef struct Jit {
  Env *env;
  AstDef *def;
  CallArgs args; /* of the decorator */
  Node *generic; /* NULL: it cannot be read without the values */
} Jit;

Value t_constexpr(BuiltinCall *call) {
  Node *var = MAKE(Var, call->span, INT32, .elem = VOID_TYPE);
  if (!tensor || !tensor->is_jit)
    raise("SyntaxError", call->span, "T.constexpr stands only in the signature of @T.jit");
  map_set(&tensor->constexprs, var, var);
  return value_node(var);
}

/* T.Optional(T.handle): specialize may be given None. */
Value t_optional(BuiltinCall *call) {
  need_tensor("Optional", call->span);
  Value v = call->args[0];
  if (v.type == &type_annotation || v.type == &type_dtype)
    v = value_call_with(v, 0, NULL, call->span);
  if (v.type != &type_node)
    raise("TypeError", call->span, "T.Optional takes a type such as T.handle, found %s",
          value_type_name(v));
  map_set(&tensor->optionals, v.node, v.node);
  return v;
}

static bool is_constexpr(const Ast *annotation) {
  if (!annotation) return false;
  if (annotation->kind == AST_KIND_Attribute)
    return str_same(AST_AS(Attribute, annotation)->name, "constexpr");
  return annotation->kind == AST_KIND_Name && str_same(AST_AS(Name, annotation)->name, "constexpr");
}

static Value jit_specialize(BuiltinCall *call) {
  Jit *j = call->self.object;
  for each (Ast *, p, &j->def->params) {
    AstParam *param = AST_AS(Param, *p);
    bool missing = !j->generic && is_constexpr(param->annotation) &&
                   !value_dict_get(call->args[0], value_str(param->name)).type;
    if (missing)
      raise("TypeError", call->span, "specialize() needs a value for '%s' of '%s'", param->name,
            j->def->name);
  }
  return tensor_function_with(j->env, j->def, &j->args, TENSOR_SPECIALIZED, call->args[0]);
}

static const Builtin methods[] = {
    {"specialize", "**values", jit_specialize, "the prim_func with these parameters fixed"},
};

static Value jit_attr(Value v, const char *name, Span span) {
  (void)span;
  return builtin_method(methods, 1, v, name);
}
static void jit_repr(Value v, Str *out) {
  str_printf(out, "<template %s>", ((Jit *)v.object)->def->name);
}

static const ValueType type_jit = {.name = "jit", .repr = jit_repr, .get_attr = jit_attr};

bool value_is_jit(Value v) { return v.type == &type_jit; }
Node *jit_generic(Value v) { return v.type == &type_jit ? ((Jit *)v.object)->generic : NULL; }

/* ---- does the signature need the values? ---- */

typedef struct Uses {
  const AstVec *params;
  bool found;
} Uses;

static void note_use(void *context, Ast *e) {
  Uses *u = context;
  if (e->kind == AST_KIND_Name)
    for each (Ast *, p, u->params) {
      AstParam *param = AST_AS(Param, *p);
      bool named = param->name && str_same(param->name, AST_AS(Name, e)->name);
      u->found |= named && is_constexpr(param->annotation);
    }
  ast_each_child(e, note_use, u);
}

static bool needs_values(const AstDef *def) {
  Uses uses = {.params = &def->params};
  for each (Ast *, p, &def->params)
    if (AST_AS(Param, *p)->annotation) note_use(&uses, AST_AS(Param, *p)->annotation);
  return uses.found;
}

static Value decorate(Env *env, Ast *definition, CallArgs *args) {
  if (definition->kind != AST_KIND_Def)
    raise("TypeError", definition->span, "@T.jit decorates a def");
  AstDef *def = AST_AS(Def, definition);
  Jit *jit = NEW(Jit, .env = env, .def = def, .args = *args);
  if (!needs_values(def)) {
    Value generic = tensor_function_with(env, def, args, TENSOR_JIT, value_absent());
    if (generic.type != &type_node) return generic;
    jit->generic = generic.node;
  }
  return value_of(&type_jit, jit);
}

const TreeDecorator decorate_jit = {"T.jit", decorate, NULL};
