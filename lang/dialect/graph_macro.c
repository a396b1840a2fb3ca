/* graph_macro.c -- @R.macro: a function whose statements are read where it is called. Its bindings
 * join those of the graph function that calls it, and the call's value is what it returns. */
#include "lang/dialect/graph_stmt.h"
#include "lang/value/object.h"

typedef struct GraphMacro {
  FunctionObject *function;
  bool hygienic; /* names of the body are those of its definition; else those of the call */
} GraphMacro;

static Value macro_call(Value v, CallArgs *args) {
  GraphMacro *m = v.object;
  if (!graph)
    raise("SyntaxError", args->span, "the macro '%s' can be called in a graph function only",
          m->function->name);
  Env *env = env_new(m->hygienic || !args->env ? m->function->closure : args->env);
  function_bind(m->function, env, args);
  Node *outer = graph->result,
       *value = graph_body(env, &AST_AS(Def, m->function->def)->body, args->span);
  graph->result = outer;
  return value_node(value);
}

static void macro_repr(Value v, Str *out) {
  str_printf(out, "<macro %s>", ((GraphMacro *)v.object)->function->name);
}

static const ValueType type_graph_macro = {
    .name = "graph macro", .repr = macro_repr, .call = macro_call, .is_method = true};

static Value decorate(Env *env, Ast *definition, CallArgs *args) {
  static const char *const keywords[] = {"hygienic"};
  check_decorator_args("R.macro", args, 1, keywords);
  if (definition->kind != AST_KIND_Def)
    raise("TypeError", definition->span, "@R.macro decorates a def");
  bool hygienic = keyword_flag(args, "hygienic", true);
  if (hygienic) env = env_captured(env, definition);
  GraphMacro *m =
      NEW(GraphMacro, .function = function_new(env, definition).object, .hygienic = hygienic);
  return value_of(&type_graph_macro, m);
}

const TreeDecorator decorate_graph_macro = {"R.macro", decorate, NULL};
