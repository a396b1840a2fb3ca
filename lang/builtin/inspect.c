/* inspect.c -- the module _inspect, which stdlib/module/inspect.tvms takes over: the parameters of
 * functions of the language and of builtins. */
#include "lang/builtin/builtin.h"

/* The names that inspect gives the kinds. */
static const char *kind_name(const Param *p) {
  if (p->positional_only) return "POSITIONAL_ONLY";
  switch (p->kind) {
  case PARAM_KEYWORD_ONLY: return "KEYWORD_ONLY";
  case PARAM_STAR: return "VAR_POSITIONAL";
  case PARAM_DOUBLE_STAR: return "VAR_KEYWORD";
  default: return "POSITIONAL_OR_KEYWORD";
  }
}

/* (name, kind), and a default if there is one. */
static Value describe(const Param *p, Value value) {
  ValueVec out = {0};
  vec_push(&out, value_str(p->name));
  vec_push(&out, value_str(kind_name(p)));
  if (value.type) vec_push(&out, value);
  return value_tuple(out);
}

static Value describe_all(const Signature *s, const Value *defaults) {
  ValueVec out = {0};
  for (int i = 0; i < s->params.len; i++)
    vec_push(&out, describe(&s->params.at[i], defaults ? defaults[i] : s->params.at[i].value));
  return value_list(out);
}

static Value parameters(BuiltinCall *c) {
  Value f = c->args[0];
  if (f.type == &type_function) {
    FunctionObject *function = f.object;
    return describe_all(function_signature(function), function->defaults.at);
  }
  if (f.type == &type_builtin)
    return describe_all(builtin_signature(((BuiltinObject *)f.object)->builtin), NULL);
  raise("TypeError", c->spans[0], "the parameters of %s are not known", value_repr(f));
}

static const Builtin rows[] = {
    {"parameters", "function, /", parameters, "(name, kind[, default]) of each parameter"},
};

Value inspect_load(void) {
  Value ns = value_namespace("_inspect");
  namespace_add_builtins(ns, rows, sizeof rows / sizeof *rows);
  return ns;
}
