/* check.c -- `tvms check`: reads modules, verifies them, and with --roundtrip prints and reads them
 * again. */
#include "lang/tool/tool.h"
#include "lang/dialect/dialect.h"

bool check_roundtrip(const char *path, const NamedModule *m, const PrintOptions *style) {
  const char *text = ir_print(m->module, style), *why = NULL;
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
  if (!node_equal(m->module, again.at[0].module, false, &why))
    return diag_error((Span){0}, "%s: %s differs from its printed text at %s", path, m->name, why),
           false;
  if (!str_same(text, ir_print(again.at[0].module, style)))
    return diag_error((Span){0}, "%s: %s prints differently the second time", path, m->name), false;
  return true;
}

int tool_check(int argc, char **argv) {
  bool roundtrip = false;
  const Option options[] = {
      {"--roundtrip", 0, NULL, &roundtrip, "also print each module, read it again and compare"}};
  int status, failed = STATUS_OK;
  if (!options_parse(options, 1, &argc, argv, &status)) return status;
  if (argc < 2) return usage_error("check", "which file?");
  const PrintOptions meta = {.constants = CONSTANTS_INLINE};
  for (int i = 1; i < argc; i++) {
    Session *s = tool_definitions(argv[i]);
    NamedModuleVec modules = {0};
    if (s) modules = session_modules(s);
    if (s && roundtrip && !diag_error_count())
      for each (NamedModule, m, &modules) check_roundtrip(argv[i], m, &meta);
    if (!diag_error_count())
      printf("%s: %d module%s, well-formed\n", argv[i], modules.len, modules.len == 1 ? "" : "s");
    if (tool_flush() != STATUS_OK) failed = STATUS_ERROR;
  }
  return failed;
}
