/* roundtrip.c -- modules printed and read again: for `tvms check --roundtrip`, and tests of the
 * form `roundtrip`. */
#include "lang/dialect/dialect.h"
#include "lang/tool/test.h"

static bool is_well_formed(Node *module) {
  DiagVec *outer = diag_capture();
  bool well_formed = ir_verify(module);
  diag_restore(outer);
  return well_formed;
}

/* A module that is not well-formed has been asked for: check_well_formed=False. */
bool check_roundtrip(const char *path, const NamedModule *m, const PrintOptions *options) {
  PrintOptions style = *options;
  style.unchecked = !is_well_formed(m->module);
  const char *text = ir_print(m->module, &style), *why = NULL;
  int before = diag_error_count();
  dialect_checks = false;
  Session *s = session_definitions(
      source_add(str_format("<%s printed from %s>", m->name, path), text, strlen(text)), NULL);
  dialect_checks = true;
  if (diag_error_count() > before) return false;
  NamedModuleVec again = session_modules(s);
  if (again.len != 1)
    return diag_error((Span){0}, "%s: %s: the printed text gives %d modules", path, m->name,
                      again.len),
           false;
  if (!node_equal(m->module, again.at[0].module, style.unchecked, &why))
    return diag_error((Span){0}, "%s: %s differs from its printed text at %s", path, m->name, why),
           false;
  if (!str_same(text, ir_print(again.at[0].module, &style)))
    return diag_error((Span){0}, "%s: %s prints differently the second time", path, m->name), false;
  return true;
}

/* Every module of the case in both styles of printing. */
bool test_roundtrip(const TestCase *t) {
  Session *s = session_definitions(test_source(t), t->path);
  if (diag_error_count()) return false;
  NamedModuleVec modules = session_modules(s);
  if (!modules.len)
    diag_error((Span){0}, "%s:%d: the case defines no module", t->path, t->first_line);
  for each (NamedModule, m, &modules)
    for (int tvm_style = 0; tvm_style < 2; tvm_style++) {
      PrintOptions style = {.constants = CONSTANTS_INLINE, .tvm_style = tvm_style != 0};
      if (!check_roundtrip(t->path, m, &style))
        return diag_error((Span){0}, "the module '%s' of %s:%d was printed as\n%s", m->name,
                          t->path, t->first_line, ir_print(m->module, &style)),
               false;
    }
  return modules.len > 0;
}
