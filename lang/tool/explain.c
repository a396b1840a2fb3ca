/* explain.c -- `tvms explain E0312`: what a code of an error or warning stands for, with a text
 * that has the fault and one that hasn't. `tvms explain --target cuda FILE` is explain_kernel.c's.
 */
#include "lang/tool/explain.h"
#include "lang/tool/tool.h"
#include <stdio.h>

static const char *name_of(const CodeRow *row) {
  return row->warning ? str_format("%s  -W%s", row->name, row->warning) : row->name;
}

/* Words of the text, broken before column 80. */
static void print_wrapped(const char *text) {
  int column = 0;
  while (*text) {
    int n = (int)strcspn(text, " ");
    if (column && column + 1 + n > 78) fputs("\n", stdout), column = 0;
    printf("%s%.*s", column ? " " : "", n, text);
    column += n + (column > 0);
    text += n + (text[n] == ' ');
  }
  puts("");
}

/* Bytes that are no text, and long repetitions, are not for a terminal. */
static void print_example(const char *title, const char *text) {
  enum { SHOWN = 72 };
  printf("\n%s\n\n", title);
  for (size_t n; *text; text += n + (text[n] == '\n')) {
    n = strcspn(text, "\n");
    fputs("    ", stdout);
    for (size_t i = 0; i < n && i < SHOWN + 60; i++) {
      unsigned char c = (unsigned char)text[i];
      if (c == 0xff) fputs("\\xff", stdout);
      else putchar(c);
    }
    puts(n > SHOWN + 60 ? "..." : "");
  }
}

static void print_row(const CodeRow *row) {
  printf("%s: %s\n\n", name_of(row), row->title);
  print_wrapped(row->text);
  if (row->warning)
    printf("\nIt is told %s; -W%s and -Wno-%s switch it on and off.\n",
           row->usual ? "unless it is switched off" : "only when asked for", row->warning,
           row->warning);
  if (!row->wrong) return;
  print_example("Wrong:", row->wrong);
  print_example("Right:", row->right);
}

static void list_codes(void) {
  for (DiagCode c = NO_CODE + 1; c < CODE_COUNT; c++)
    printf("%-6s %s%s%s%s\n", code_row(c)->name, code_row(c)->title,
           code_row(c)->warning ? " (-W" : "", code_row(c)->warning ? code_row(c)->warning : "",
           code_row(c)->warning ? ")" : "");
}

static DiagCode find(const char *name) {
  DiagCode c = code_find(name);
  return c ? c : code_of_warning(strncmp(name, "-W", 2) == 0 ? name + 2 : name);
}

int tool_explain(int argc, char **argv) {
  int status;
  ExplainKernels kernels = {0};
  const Option options[] = {
      {"--target", 't', &kernels.target, NULL,
       "explain the kernels of a file for this GPU: \"cuda -arch=sm_90\""},
      {"--kernel", 'k', &kernels.kernel, NULL, "one of them, by name"},
      {"--sizes", 0, &kernels.sizes, NULL,
       "values of variables in shapes: \"n=4096,m=8\"; else 1024"},
      {"--module", 'm', &kernels.module, NULL, "one module of several, by name"},
      {"--json", 0, NULL, &kernels.json, "print all figures as JSON, a line for each kernel"},
      MODEL_OPTIONS(kernels.model)};
  bool is_flag = argc > 1 && strncmp(argv[1], "-W", 2) == 0;
  if (!is_flag && !options_parse(options, sizeof options / sizeof *options, &argc, argv, &status))
    return status;
  if (kernels.kernel && !kernels.target) kernels.target = "cuda";
  if (kernels.target) {
    if (argc != 2) return usage_error("explain", argc < 2 ? "which file?" : "one file at a time");
    kernels.path = argv[1];
    return explain_kernels(&kernels);
  }
  if (argc < 2) return list_codes(), STATUS_OK;
  for (int i = 1; i < argc; i++) {
    DiagCode c = find(argv[i]);
    const char *names[2 * CODE_COUNT];
    int n = 0;
    for (DiagCode k = NO_CODE + 1; k < CODE_COUNT; k++) {
      names[n++] = code_row(k)->name;
      if (code_row(k)->warning) names[n++] = code_row(k)->warning;
    }
    const char *near = str_near(argv[i], names, n);
    if (!c)
      return usage_error("explain", "there is no code '%s'%s; `tvms explain` lists them", argv[i],
                         near ? str_format("; did you mean '%s'?", near) : "");
    if (i > 1) puts("");
    print_row(code_row(c));
  }
  return STATUS_OK;
}
