/* run.c -- `tvms run FILE`: a script from beginning to end. */
#include "lang/tool/tool.h"
#include "lang/builtin/builtin.h"
#include "lang/dialect/build_target.h"
#include "target/target.h"

int tool_run_source(const Source *source, const char *path) {
  Session *s = session_new(path);
  tool_take_interrupts(true);
  bool ok = session_run(s, source, NULL);
  tool_flush();
  if (s->broken) return STATUS_INTERNAL;
  if (s->interrupted) return STATUS_INTERRUPTED;
  return s->exited ? s->exit_status : ok ? STATUS_OK : STATUS_ERROR;
}

/* Where the file stands: behind the options and their values. */
static int find_file(int argc, char **argv) {
  static const char *const with_value[] = {"--target", "-t", "--lib", "--diagnostics"};
  int i = 1;
  for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
    int option = i;
    for (size_t k = 0; k < sizeof with_value / sizeof *with_value; k++)
      if (strcmp(argv[option], with_value[k]) == 0) i = option + 1;
  }
  return i < argc ? i : argc;
}

/* Takes the options before the file out of argv. */
static bool take_options(int *argc, char **argv, int *status) {
  const Option options[] = {
      {"--target", 't', &build_defaults.target, NULL,
       "what is built for where the script does not say: llvm"},
      {"--sanitize", 0, NULL, &build_defaults.sanitizes,
       "run kernels on a simulated GPU that reports races, divergent barriers, bad accesses"},
      {"--report", 0, NULL, &build_defaults.tells,
       "with --sanitize: count bank conflicts and accesses that do not coalesce, by line"},
  };
  int own = find_file(*argc, argv), rest = *argc - own;
  char **head = (char **)(void *)NEW_ARRAY(char *, own + 1);
  for (int i = 0; i < own; i++) head[i] = argv[i];
  int kept = own;
  if (!options_parse(options, sizeof options / sizeof *options, &kept, head, status)) return false;
  for (int i = 1; i < kept; i++) argv[i] = head[i];
  for (int i = 0; i <= rest; i++) argv[kept + i] = argv[own + i];
  *argc = kept + rest;
  if (build_defaults.target) target_parse(build_defaults.target, (Span){0});
  return true;
}

/* Options after the file are the script's; those of a model are ours. */
int tool_run(int argc, char **argv) {
  int status;
  for (int i = 1; i < argc && (i == 1 || argv[1][0] == '-'); i++)
    if (is_onnx(argv[i])) return onnx_run(argc, argv);
  if (!take_options(&argc, argv, &status)) return status;
  if (build_defaults.tells && !build_defaults.sanitizes)
    return usage_error("run", "--report is for what --sanitize counts");
  if (argc < 2) return usage_error("run", "which file?");
  bool standard_input = strcmp(argv[1], "-") == 0;
  sys_set_args(argc - 1, argv + 1);
  const Source *source = source_read(argv[1]);
  if (!source) return tool_flush(), STATUS_ERROR;
  status = tool_run_source(source, standard_input ? NULL : argv[1]);
  if (build_defaults.tells) fputs(sanitizer_report(), stdout);
  return status;
}
