/* check.c -- `tvms check`: reads modules, verifies them, and with --roundtrip prints and reads them
 * again. */
#include "lang/tool/tool.h"
#include "lang/dialect/dialect.h"

int tool_check(int argc, char **argv) {
  bool roundtrip = false;
  const char *style = "default";
  ModelOptions model = {0};
  const Option options[] = {
      {"--roundtrip", 0, NULL, &roundtrip, "also print each module, read it again and compare"},
      {"--style", 0, &style, NULL, "the spelling to print in: default or tvm"},
      MODEL_OPTIONS(model)};
  int status, failed = STATUS_OK;
  if (!options_parse(options, sizeof options / sizeof *options, &argc, argv, &status))
    return status;
  if (argc < 2) return usage_error("check", "which file?");
  PrintOptions print = {.constants = CONSTANTS_INLINE};
  if (!print_style_parse(style, &print)) return usage_error("check", "no style '%s'", style);
  for (int i = 1; i < argc; i++) {
    Session *s = tool_definitions(argv[i], &model);
    NamedModuleVec modules = {0};
    if (s) modules = session_modules(s);
    if (s && roundtrip && !diag_error_count())
      for each (NamedModule, m, &modules) check_roundtrip(argv[i], m, &print);
    if (!diag_error_count())
      printf("%s: %d module%s, well-formed\n", argv[i], modules.len, modules.len == 1 ? "" : "s");
    if (tool_flush() != STATUS_OK) failed = STATUS_ERROR;
  }
  return failed;
}
