/* stages.c -- how long each stage takes between the text of a file and its text again.
 *
 *   stages FILE     seconds of processor time: lex, parse, build, verify, print; MB; lines printed
 *
 * The stages are those of one run of `tvms opt FILE`. Parsing includes lexing and building includes
 * verifying there, so both are done once more alone, and taken off. */
#include "ir/support/gc.h"
#include "lang/dialect/dialect.h"
#include "lang/tool/tool.h"
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double since(double *start) {
  double end = now(), passed = end - *start;
  *start = end;
  return passed;
}

static int count_lines(const char *text) {
  int n = 0;
  for (; *text; text++) n += *text == '\n';
  return n;
}

static void run(void *context) {
  const char *path = context;
  const Source *source = source_read(path);
  if (!source) return;
  double start = now();
  AstModule *tree = parse_module(source);
  double parsing = since(&start);
  Session *s = session_new(path);
  session_define(s, tree);
  double building = since(&start);
  NamedModuleVec modules = session_modules(s);
  if (diag_error_count() || modules.len != 1) return;
  start = now();
  const char *text = ir_print(modules.at[0].module, NULL);
  double printing = since(&start);
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  int lines = count_lines(text);
  start = now();
  ir_verify(modules.at[0].module);
  double verifying = since(&start);
  parse_wants_more(source->text, source->len); /* reads every token and builds nothing */
  double lexing = since(&start);
  printf("%.4f %.4f %.4f %.4f %.4f %ld %d\n", lexing, parsing - lexing, building - verifying,
         verifying, printing, usage.ru_maxrss / 1024, lines);
}

int main(int argc, char **argv) {
  gc_start();
  lang_start(argc, argv);
  return argc == 2 ? tool_protected(run, argv[1]) : STATUS_USAGE;
}
