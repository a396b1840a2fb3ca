/* library_pass.c -- passes of stdlib/pass/, rows of pass.def whose function `transform` is written
 * in the language: it is given a module, or a function and the module around, and the options. */
#include "lang/dialect/packed.h"
#include "parser/parser.h"
#include "passes/passes.h"
#include <stdlib.h>

/* ---- options ---- */

static ValueVec
    given; /* values that are no literals, by the numbers that stand for them in texts */

static bool is_literal(Value v) {
  if (v.type == &type_list || v.type == &type_tuple) {
    for each (Value, item, value_items(v))
      if (!is_literal(*item)) return false;
    return true;
  }
  for (int i = 0; v.type == &type_dict && i < value_dict_len(v); i++) {
    Value key, x;
    value_dict_entry(v, i, &key, &x);
    if (!is_literal(key) || !is_literal(x)) return false;
  }
  return v.type == &type_dict || v.type == &type_none || v.type == &type_bool ||
         v.type == &type_int || v.type == &type_float || v.type == &type_str;
}

const char *library_pass_text(Value v) {
  if (is_literal(v)) return value_repr(v);
  vec_push(&given, v);
  return str_format("given(%d)", given.len - 1);
}

Value library_pass_value(const char *text) {
  if (str_begins(text, "given(")) {
    long i = strtol(text + strlen("given("), NULL, 10);
    if (i < 0 || i >= given.len)
      raise("ValueError", (Span){0}, "no script has put down a value as %s", text);
    return given.at[i];
  }
  const Source *source = source_add("<option>", text, strlen(text));
  return eval(env_builtins(), parse_expression(source));
}

static Value option_of(const PassContext *context, const PassOption *o) {
  const char *text = pass_option_str(context, o->name);
  switch (o->type) {
  case OPTION_INT: return value_int(pass_option_int(context, o->name));
  case OPTION_BOOL: return value_bool(pass_option_int(context, o->name));
  case OPTION_STR: return value_str(text);
  default: return library_pass_value(text);
  }
}

/* ---- running ---- */

static Node *run_library_pass(Node *n, const PassContext *context) {
  const Pass *p = context->pass;
  CallArgs args = {.span = n->span};
  vec_push(&args.positional, value_node(n));
  if (p->level != PASS_MODULE) vec_push(&args.positional, value_node(context->module));
  for (int i = 0; i < p->option_count; i++) {
    vec_push(&args.names, str_intern(p->options[i].name));
    vec_push(&args.named, option_of(context, &p->options[i]));
  }
  const char *home = str_intern(str_format("tvm.relax.passes.%s", p->file));
  Value out = value_call(library_attr(home, "transform"), &args);
  REQUIRE(out.type == &type_node && out.node->kind == n->kind, "%s gives back what it is given",
          p->name);
  return out.node;
}

void library_pass_start(void) { library_pass_hook = run_library_pass; }
