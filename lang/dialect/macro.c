/* macro.c -- @T.macro and @T.inline: functions whose statements are read where they are called. */
#include "lang/dialect/tensor_stmt.h"
#include "lang/value/object.h"

typedef struct Macro {
  FunctionObject *function;
  bool hygienic; /* names of the body are those of its definition; else those of the call */
} Macro;

/* In today's dialect the blocks of a second, third, ... expansion in one function have names of
 * their own: with _1, _2, ... */
static const char *next_suffix(Macro *m) {
  if (!tensor->is_today) return tensor->block_suffix;
  intptr_t before = (intptr_t)map_get(&tensor->expansions, m);
  map_set(&tensor->expansions, m, (void *)(before + 1));
  const char *outer = tensor->block_suffix ? tensor->block_suffix : "";
  return before ? str_format("%s_%d", outer, (int)before) : tensor->block_suffix;
}

/* The statements of the body, with the parameters bound, as one statement. */
static Value macro_call(Value v, CallArgs *args) {
  Macro *m = v.object;
  if (!tensor)
    raise("SyntaxError", args->span, "the macro '%s' can be called in a prim_func only",
          m->function->name);
  Env *around = m->hygienic || !args->env ? m->function->closure : args->env;
  Env *env = env_new(around);
  function_bind(m->function, env, args);
  AstDef *def = AST_AS(Def, m->function->def);
  const char *outer = tensor->block_suffix;
  tensor->block_suffix = next_suffix(m);
  Node *body = tensor_suite(env, &def->body, args->span);
  tensor->block_suffix = outer;
  return value_node(body);
}

static void macro_repr(Value v, Str *out) {
  str_printf(out, "<macro %s>", ((Macro *)v.object)->function->name);
}

static const ValueType type_macro = {
    .name = "macro", .repr = macro_repr, .call = macro_call, .is_method = true};

static void capture(void *context, Ast *node) {
  Env *captured = context;
  ast_each_child(node, capture, captured);
  if (node->kind != AST_KIND_Name) return;
  Value *v = env_find(captured, AST_AS(Name, node)->name);
  if (v) env_set(captured, AST_AS(Name, node)->name, *v);
}

Env *env_captured(Env *env, Ast *definition) {
  Env *captured = env_new(env);
  capture(captured, definition);
  return captured;
}

static Value make_macro(Env *env, Ast *definition, CallArgs *args, const char *decorator) {
  static const char *const keywords[] = {"hygienic"};
  check_decorator_args(decorator, args, 1, keywords);
  if (definition->kind != AST_KIND_Def)
    raise("TypeError", definition->span, "@%s decorates a def", decorator);
  bool hygienic = keyword_flag(args, "hygienic", true);
  if (hygienic) env = env_captured(env, definition);
  Macro *m = NEW(Macro, .function = function_new(env, definition).object, .hygienic = hygienic);
  return value_of(&type_macro, m);
}

static Value decorate_as_macro(Env *env, Ast *definition, CallArgs *args) {
  return make_macro(env, definition, args, "T.macro");
}
static Value decorate_as_inline(Env *env, Ast *definition, CallArgs *args) {
  return make_macro(env, definition, args, "T.inline");
}

const TreeDecorator decorate_macro = {"T.macro", decorate_as_macro, NULL};
const TreeDecorator decorate_inline = {"T.inline", decorate_as_inline, NULL};
