/* pipeline.c -- pipelines as text: "FuseOps(max_depth=8), FuseTIR", read by the language's grammar.
 */
#include "passes/passes.h"
#include "parser/parser.h"
#include <stdlib.h>

/* Spans inside the text; faults of a named pipeline or a pass name are reported there. */
static _Noreturn void unknown_pass(const char *name, Span span) {
  const char *why = pass_absent(name);
  if (why) error_raisef("PipelineError", span, "there is no pass '%s': %s", name, why);
  StrVec names = {0};
  for (int i = 0; pass_at(i); i++) vec_push(&names, pass_at(i)->name);
  for (int i = 0; pipeline_at(i); i++) vec_push(&names, pipeline_at(i)->name);
  const char *near = str_near(name, names.at, names.len);
  if (near)
    error_raisef("PipelineError", span, "there is no pass '%s'; did you mean '%s'?", name, near);
  Str all = {0};
  for (int i = 0; i < names.len; i++) str_printf(&all, "%s%s", i ? ", " : "", names.at[i]);
  error_raisef("PipelineError", span, "there is no pass '%s'; there are: %s", name, str_text(&all));
}

static const PassOption *find_option(const Pass *p, const char *name, Span span) {
  StrVec names = {0};
  for (int i = 0; i < p->option_count; i++) {
    if (str_same(p->options[i].name, name)) return &p->options[i];
    vec_push(&names, p->options[i].name);
  }
  Str all = {0};
  for (int i = 0; i < names.len; i++)
    str_printf(&all, "%s%s", i ? ", " : "; it has: ", names.at[i]);
  error_raisef("PipelineError", span, "%s has no option '%s'%s", p->name, name, str_text(&all));
}

/* ---- literals as text that reads back the same ---- */

static bool add_literal(Str *s, Ast *value);

static bool add_items(Str *s, AstVec items, const char *brackets) {
  str_add_char(s, brackets[0]);
  for (int i = 0; i < items.len; i++) {
    if (i) str_add(s, ", ");
    if (!add_literal(s, items.at[i])) return false;
  }
  if (*brackets == '(' && items.len == 1) str_add_char(s, ',');
  str_add_char(s, brackets[1]);
  return true;
}

static bool add_dict(Str *s, AstDict *d) {
  str_add_char(s, '{');
  for (int i = 0; i < d->keys.len; i++) {
    if (i) str_add(s, ", ");
    if (!d->keys.at[i] || !add_literal(s, d->keys.at[i])) return false;
    str_add(s, ": ");
    if (!add_literal(s, d->values.at[i])) return false;
  }
  str_add_char(s, '}');
  return true;
}

static bool add_literal(Str *s, Ast *value) {
  switch (value->kind) {
  case AST_KIND_Unary: {
    Ast *number = AST_AS(Unary, value)->operand;
    str_add_char(s, '-');
    return AST_AS(Unary, value)->op == AST_NEG &&
           (number->kind == AST_KIND_Int || number->kind == AST_KIND_Float) &&
           add_literal(s, number);
  }
  case AST_KIND_Int:
    str_printf(s, "%llu", (unsigned long long)AST_AS(Int, value)->value);
    return !AST_AS(Int, value)->too_large;
  case AST_KIND_Float: return str_add_double(s, AST_AS(Float, value)->value), true;
  case AST_KIND_Bool: return str_add(s, AST_AS(Bool, value)->value ? "True" : "False"), true;
  case AST_KIND_None: return str_add(s, "None"), true;
  case AST_KIND_Str:
    return str_add_quoted(s, AST_AS(Str, value)->text, strlen(AST_AS(Str, value)->text)), true;
  case AST_KIND_List: return add_items(s, AST_AS(List, value)->items, "[]");
  case AST_KIND_Tuple: return add_items(s, AST_AS(Tuple, value)->items, "()");
  case AST_KIND_Dict: return add_dict(s, AST_AS(Dict, value));
  default: return false;
  }
}

/* given(3): a value that a script has put down. */
static const char *given_text(Ast *value) {
  if (value->kind != AST_KIND_Call) return NULL;
  AstCall *c = AST_AS(Call, value);
  bool fits = c->func->kind == AST_KIND_Name && str_same(AST_AS(Name, c->func)->name, "given") &&
              c->args.len == 1 && c->args.at[0]->kind == AST_KIND_Int;
  return fits ? str_format("given(%d)", (int)AST_AS(Int, c->args.at[0])->value) : NULL;
}

static const char *literal_text(const Pass *p, const char *option, Ast *value) {
  Str s = {0};
  const char *given = given_text(value);
  if (given) return given;
  if (!add_literal(&s, value))
    error_raisef("PipelineError", value->span, "option '%s' of %s takes a literal", option,
                 p->name);
  return str_text(&s);
}

/* The text of an option's value, checked against its type. */
static const char *option_value(const Pass *p, const PassOption *o, Ast *value) {
  bool negative = value->kind == AST_KIND_Unary && AST_AS(Unary, value)->op == AST_NEG;
  Ast *plain = negative ? AST_AS(Unary, value)->operand : value;
  if (o->type == OPTION_INT && plain->kind == AST_KIND_Int && !AST_AS(Int, plain)->too_large)
    return str_format("%s%llu", negative ? "-" : "", (unsigned long long)AST_AS(Int, plain)->value);
  if (o->type == OPTION_BOOL && value->kind == AST_KIND_Bool)
    return AST_AS(Bool, value)->value ? "1" : "0";
  if (o->type == OPTION_BOOL && value->kind == AST_KIND_Int && AST_AS(Int, value)->value <= 1)
    return AST_AS(Int, value)->value ? "1" : "0";
  if (o->type == OPTION_VALUE) return literal_text(p, o->name, value);
  if (o->type == OPTION_STR && value->kind == AST_KIND_Str) return AST_AS(Str, value)->text;
  static const char *const types[] = {"an integer", "True or False", "a string"};
  error_raisef("PipelineError", value->span, "option '%s' of %s takes %s", o->name, p->name,
               types[o->type]);
}

static Map default_options(const Pass *p) {
  Map options = {0};
  for (int i = 0; i < p->option_count; i++)
    map_set(&options, str_intern(p->options[i].name), (void *)(uintptr_t)p->options[i].otherwise);
  return options;
}

static void add_text(Pipeline *out, const Source *source);

static void add_item(Pipeline *out, Ast *item) {
  Ast *callee = item->kind == AST_KIND_Call ? AST_AS(Call, item)->func : item;
  if (callee->kind != AST_KIND_Name)
    error_raisef("PipelineError", item->span,
                 "expected the name of a pass, or a call such as UnrollLoop(auto_max_extent=8)");
  const char *name = AST_AS(Name, callee)->name;
  const NamedPipeline *named = item == callee ? pipeline_find(name) : NULL;
  if (named)
    return add_text(
        out, source_add(str_format("<pipeline %s>", name), named->text, strlen(named->text)));
  const Pass *p = pass_find(name);
  if (!p) unknown_pass(name, callee->span);
  PassCall call = {.pass = p, .options = default_options(p)};
  for (int i = 0; item != callee && i < AST_AS(Call, item)->args.len; i++) {
    Ast *arg = AST_AS(Call, item)->args.at[i];
    if (arg->kind != AST_KIND_Keyword)
      error_raisef("PipelineError", arg->span, "options are given by name: %s(option=value)", name);
    const char *key = AST_AS(Keyword, arg)->name;
    Ast *value = AST_AS(Keyword, arg)->value;
    const char *text = p->definition ? literal_text(p, key, value)
                                     : option_value(p, find_option(p, key, arg->span), value);
    map_set(&call.options, str_intern(key), (void *)(uintptr_t)text);
  }
  vec_push(out, call);
}

static void add_text(Pipeline *out, const Source *source) {
  const char *c = source->text;
  while (*c == ' ' || *c == '\n' || *c == '\t') c++;
  if (!*c) return; /* the empty pipeline */
  Ast *tree = parse_expression(source);
  if (!tree)
    error_raisef("PipelineError", (Span){source->base, source->base + source->len},
                 "this is not a pipeline");
  if (tree->kind != AST_KIND_Tuple) return add_item(out, tree);
  for each (Ast *, item, &AST_AS(Tuple, tree)->items) add_item(out, *item);
}

Pipeline pipeline_parse(const char *text, Span span) {
  Pipeline out = {0};
  const Source *source = source_add("<pipeline>", text, strlen(text));
  if (!source) error_raisef("PipelineError", span, "the source map is full");
  add_text(&out, source);
  return out;
}

static void add_option_text(Str *s, const PassOption *o, const char *value) {
  if (o->type == OPTION_INT || o->type == OPTION_VALUE) str_add(s, value);
  else if (o->type == OPTION_BOOL) str_add(s, str_same(value, "1") ? "True" : "False");
  else str_add_quoted(s, value, strlen(value));
}

const char *pipeline_text(const Pipeline *p) {
  Str s = {0};
  for each (PassCall, call, p) {
    if (s.len) str_add(&s, ", ");
    str_add(&s, call->pass->name);
    int given = 0;
    for (int i = 0; i < call->pass->option_count; i++) {
      const PassOption *o = &call->pass->options[i];
      const char *value = map_get(&call->options, str_intern(o->name));
      if (str_same(value, o->otherwise)) continue;
      str_printf(&s, "%s%s=", given++ ? ", " : "(", o->name);
      add_option_text(&s, o, value);
    }
    for (int i = 0; call->pass->definition && i < call->options.len; i++)
      if (call->options.at[i].key)
        str_printf(&s, "%s%s=%s", given++ ? ", " : "(", (const char *)call->options.at[i].key,
                   (const char *)call->options.at[i].value);
    if (given) str_add_char(&s, ')');
  }
  return str_text(&s);
}
