/* run.c -- `tvms run FILE`: a script from beginning to end. */
#include "lang/tool/tool.h"
#include "lang/builtin/builtin.h"

int tool_run_source(const Source *source, const char *path) {
  Session *s = session_new(path);
  tool_take_interrupts(true);
  bool ok = session_run(s, source, NULL);
  tool_flush();
  if (s->broken) return STATUS_INTERNAL;
  if (s->interrupted) return STATUS_INTERRUPTED;
  return s->exited ? s->exit_status : ok ? STATUS_OK : STATUS_ERROR;
}

/* Options after the file are the script's; those of a model are ours. */
int tool_run(int argc, char **argv) {
  for (int i = 1; i < argc && (i == 1 || argv[1][0] == '-'); i++)
    if (is_onnx(argv[i])) return onnx_run(argc, argv);
  int own = argc < 2 || argv[1][0] == '-' ? argc : 1, status;
  bool standard_input = argc > 1 && strcmp(argv[1], "-") == 0;
  if (!standard_input && own > 1 && !options_parse(NULL, 0, &argc, argv, &status)) return status;
  if (argc < 2) return usage_error("run", "which file?");
  sys_set_args(argc - 1, argv + 1);
  const Source *source = source_read(argv[1]);
  if (!source) return tool_flush(), STATUS_ERROR;
  return tool_run_source(source, standard_input ? NULL : argv[1]);
}
