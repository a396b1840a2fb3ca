/* from_source.c -- tvm.script.from_source(text): what a text defines, as a value. */
#include "lang/dialect/dialect_impl.h"
#include "lang/lang.h"

static bool is_program(Value v) {
  return value_is_node(v, NK_IRModule) || value_is_node(v, NK_PrimFunc) ||
         value_is_node(v, NK_Function);
}

/* The first error of the text, as an exception of the call. */
static _Noreturn void raise_first(const DiagVec *found, Span span) {
  for each (Diag *, d, found)
    if ((*d)->severity == DIAG_ERROR) raise("DiagnosticError", span, "%s", (*d)->text);
  raise("DiagnosticError", span, "the text can't be read");
}

/* The module or function that the text defines last; extra_vars are names it may use. */
Value tvm_from_source(BuiltinCall *call) {
  const char *text = value_as_text(call->args[0], "the text of a program", call->spans[0]);
  Session *s = session_new(NULL);
  Value extra = value_is_none(call->args[1]) ? value_dict() : call->args[1];
  if (extra.type != &type_dict)
    raise("TypeError", call->spans[1], "extra_vars must be a dict, found %s",
          value_type_name(extra));
  for (int i = 0; i < value_dict_len(extra); i++) {
    Value key, x;
    value_dict_entry(extra, i, &key, &x);
    env_set(s->globals, str_intern(value_as_text(key, "a name", call->spans[1])), x);
  }
  DiagVec *outer = diag_capture();
  bool checks = dialect_checks;
  dialect_checks = checks && value_truth(call->args[2], call->spans[2]);
  const Source *source = source_add("<from_source>", text, strlen(text));
  if (source) session_define(s, parse_module(source));
  dialect_checks = checks;
  bool failed = !source || diag_error_count() > 0;
  DiagVec *found = diag_restore(outer);
  if (failed) raise_first(found, call->span);
  Value last = value_none();
  for (int i = 0; i < s->globals->names.len; i++)
    if (s->globals->names.at[i].value.type && is_program(s->globals->names.at[i].value))
      last = s->globals->names.at[i].value;
  if (value_is_none(last))
    raise("ValueError", call->span, "the text defines no module or function");
  return last;
}
