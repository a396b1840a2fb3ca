/* main.c -- the command line: which subcommand, or which script. */
#include "ir/support/progress.h"
#include "lang/tool/tool.h"
#include "lang/builtin/builtin.h"
#include "target/extern_library.h"
#include "target/target.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct Command {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *synopsis, *doc;
} Command;

static const Command commands[] = {
#define COMMAND(name, fn, synopsis, doc) {#name, fn, synopsis, doc},
#include "lang/tool/command.def"
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static const Command *find_command(const char *name) {
  for (int i = 0; i < COMMANDS; i++)
    if (strcmp(commands[i].name, name) == 0) return &commands[i];
  return NULL;
}

static const char *near_command(const char *name) {
  const char *names[COMMANDS];
  for (int i = 0; i < COMMANDS; i++) names[i] = commands[i].name;
  return str_near(name, names, COMMANDS);
}

static bool want_json;

/* Decided once, when first asked for: the program itself may send its errors elsewhere later. */
DiagForm tool_diag_form(void) {
  static bool known, colour;
  const char *no = getenv("NO_COLOR");
  if (!known) colour = isatty(STDERR_FILENO) && !(no && *no);
  known = true;
  return want_json ? DIAG_JSON : colour ? DIAG_COLOUR : DIAG_PLAIN;
}

int tool_flush(void) {
  fflush(stdout);
  return diag_flush(stderr, tool_diag_form()) ? STATUS_ERROR : STATUS_OK;
}

int usage_error(const char *command, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *text = str_vformat(format, args);
  va_end(args);
  fprintf(stderr, "tvms%s%s: %s\n", command ? " " : "", command ? command : "", text);
  const Command *c = command ? find_command(command) : NULL;
  if (c) fprintf(stderr, "usage: tvms %s %s\n", c->name, c->synopsis);
  return STATUS_USAGE;
}

/* ---- help ---- */

static void print_commands(FILE *out) {
  fprintf(out, "usage: tvms FILE [ARG...]   run a script (- for standard input)\n"
               "       tvms -c TEXT         run a text\n"
               "       tvms                 read, evaluate, print\n"
               "       tvms COMMAND ...\n\ncommands:\n");
  for (int i = 0; i < COMMANDS; i++)
    fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].doc);
  fprintf(out, "\n`tvms help COMMAND` tells more; `tvms --version` tells the version\n");
}

static int unknown_command(const char *name) {
  const char *near = near_command(name);
  fprintf(stderr, "tvms: '%s' is no file and no command%s\n", name,
          near ? str_format("; did you mean '%s'?", near) : "");
  fprintf(stderr, "commands:");
  for (int i = 0; i < COMMANDS; i++) fprintf(stderr, " %s", commands[i].name);
  fprintf(stderr, "\n");
  return STATUS_USAGE;
}

static void print_usage(const Command *c) {
  printf("usage: tvms %s %s\n%s\n", c->name, c->synopsis, c->doc);
}

int tool_help(int argc, char **argv) {
  if (argc < 2) {
    print_commands(stdout);
    return STATUS_OK;
  }
  const Command *c = find_command(argv[1]);
  if (!c) return unknown_command(argv[1]);
  if (c->run == tool_help) {
    print_usage(c);
    return STATUS_OK;
  }
  char *help_args[] = {argv[1], "--help", NULL};
  return c->run(2, help_args);
}

/* ---- options of every command ---- */

static int unknown_warning(const char *command, const char *flag) {
  const char *names[CODE_COUNT + 2] = {"all", "error"};
  int n = 2;
  for (DiagCode c = NO_CODE + 1; c < CODE_COUNT; c++)
    if (code_row(c)->warning) names[n++] = code_row(c)->warning;
  const char *near = str_near(strncmp(flag, "no-", 3) == 0 ? flag + 3 : flag, names, n);
  return usage_error(command, "there is no warning '%s'%s; `tvms explain` lists them", flag,
                     near ? str_format("; did you mean '%s'?", near) : "");
}

/* The value of --name=VALUE or --name VALUE, moving *i; NULL if argv[*i] is something else. */
static const char *common_value(const char *name, int *i, int argc, char **argv) {
  const char *arg = argv[*i];
  size_t n = strlen(name);
  if (strncmp(arg, name, n) != 0 || (arg[n] && arg[n] != '=')) return NULL;
  return arg[n] ? arg + n + 1 : *i + 1 < argc ? argv[++*i] : "";
}

/* Takes argv[*i] (and its value, moving *i) if it is one of these. *status: what is wrong with it.
 */
static bool take_common(const char *command, int *i, int argc, char **argv, int *status) {
  const char *arg = argv[*i];
  *status = STATUS_OK;
  if (strncmp(arg, "-W", 2) == 0) {
    if (!diag_set_warning(arg + 2)) *status = unknown_warning(command, arg + 2);
    return true;
  }
  const char *library = common_value("--lib", i, argc, argv);
  const char *why = library ? extern_library_load(library) : NULL;
  if (why) *status = usage_error(command, "--lib: %s", why);
  if (library) return true;
  const char *form = common_value("--diagnostics", i, argc, argv);
  if (!form) return false;
  want_json = strcmp(form, "json") == 0;
  if (!want_json && strcmp(form, "text") != 0)
    *status = usage_error(command, "option '--diagnostics' is text or json, not '%s'", form);
  return true;
}

static void print_common(void) {
  puts("  --lib FILE.so            a shared library whose C functions programs call "
       "(T.call_extern)\n"
       "  --diagnostics FORM       write diagnostics as text, or as json: one object a line\n"
       "  -Wall, -Wno-NAME, ...    which warnings are told; -Werror makes errors of them");
}

/* ---- options ---- */

static void print_options(const Option *options, int n, const char *command) {
  const Command *c = find_command(command);
  if (c) print_usage(c);
  for (int i = 0; i < n; i++) {
    const Option *o = &options[i];
    const char *names = o->letter ? str_format("-%c, %s", o->letter, o->name) : o->name;
    printf("  %-24s %s\n", o->value ? str_format("%s VALUE", names) : names, o->doc);
  }
  print_common();
}

static const Option *find_option(const Option *options, int n, const char *arg,
                                 const char **value) {
  const char *equal = strchrnul(arg, '=');
  size_t len = (size_t)(equal - arg);
  for (int i = 0; i < n; i++) {
    bool is_long = strlen(options[i].name) == len && strncmp(options[i].name, arg, len) == 0;
    bool is_short = arg[1] && arg[1] == options[i].letter && (!arg[2] || options[i].value);
    if (is_long && (!*equal || options[i].value)) {
      *value = *equal ? equal + 1 : NULL;
      return &options[i];
    }
    if (is_short && arg[1] != '-') {
      *value = arg[2] ? arg + 2 : NULL;
      return &options[i];
    }
  }
  return NULL;
}

static int unknown_option(const Option *options, int n, const char *command, const char *arg) {
  VEC(const char *) names = {0};
  for (int i = 0; i < n; i++) vec_push(&names, options[i].name);
  const char *near = str_near(arg, names.at, names.len);
  Str list = {0};
  for (int i = 0; i < n; i++) str_printf(&list, "%s%s", i ? ", " : "", names.at[i]);
  return usage_error(command, "unknown option '%s'%s%s%s", arg,
                     near ? str_format("; did you mean '%s'?", near) : "",
                     n ? "; the options are " : "", n ? str_text(&list) : "");
}

bool options_parse(const Option *options, int n, int *argc, char **argv, int *status) {
  int kept = 1, i = 1;
  *status = STATUS_OK;
  for (; i < *argc; i++) {
    const char *arg = argv[i], *value = NULL;
    if (strcmp(arg, "--") == 0) {
      i++;
      break;
    }
    if (arg[0] != '-' || !arg[1]) {
      argv[kept++] = argv[i];
      continue;
    }
    if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
      print_options(options, n, argv[0]);
      return false;
    }
    if (take_common(argv[0], &i, *argc, argv, status)) {
      if (*status) return false;
      continue;
    }
    const Option *o = find_option(options, n, arg, &value);
    if (!o) return *status = unknown_option(options, n, argv[0], arg), false;
    if (o->flag) *o->flag = true;
    if (!o->value) continue;
    if (!value && i + 1 == *argc)
      return *status = usage_error(argv[0], "option '%s' needs a value", arg), false;
    *o->value = value ? value : argv[++i];
  }
  while (i < *argc) argv[kept++] = argv[i++];
  *argc = kept;
  argv[kept] = NULL;
  return true;
}

/* ---- the program ---- */

static int run_text(int argc, char **argv) {
  if (argc < 3) return usage_error(NULL, "option '-c' needs a text");
  sys_set_args(argc - 2, argv + 2);
  argv[2] = "-c";
  return STATUS_OK;
}

/* Options that stand before the command or the file; they are taken out of argv. */
static int take_leading(int *argc, char **argv) {
  int status, i = 1;
  while (i < *argc && take_common(NULL, &i, *argc, argv, &status)) {
    if (status) return status;
    i++;
  }
  for (int from = i, to = 1; from <= *argc; from++) argv[to++] = argv[from];
  *argc -= i - 1;
  return STATUS_OK;
}

static int dispatch(int argc, char **argv) {
  int leading = take_leading(&argc, argv);
  if (leading) return leading;
  if (argc < 2) {
    char *repl[] = {"repl", NULL}, *script[] = {"run", "-", NULL};
    return isatty(STDIN_FILENO) ? tool_repl(1, repl) : tool_run(2, script);
  }
  const char *first = argv[1];
  if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
    printf("tvms %s\n", TVMS_VERSION);
    return STATUS_OK;
  }
  if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0)
    return print_commands(stdout), STATUS_OK;
  if (strcmp(first, "-c") == 0) {
    const char *text = argc > 2 ? argv[2] : NULL;
    int status = run_text(argc, argv);
    return status ? status : tool_run_source(source_add("<text>", text, strlen(text)), NULL);
  }
  const Command *c = find_command(first);
  progress_enable(isatty(STDERR_FILENO));
  if (c) return c->run(argc - 1, argv + 1);
  if (first[0] == '-' && first[1])
    return usage_error(NULL, "unknown option '%s'; `tvms --help` tells what there is", first);
  bool is_file = access(first, F_OK) == 0 || strchr(first, '/') || strchr(first, '.') || !first[1];
  if (!is_file) return unknown_command(first);
  char **args = (char **)(void *)NEW_ARRAY(char *, argc + 1);
  args[0] = "run";
  for (int i = 1; i < argc; i++) args[i] = argv[i];
  return tool_run(argc, args);
}

typedef struct Line {
  int argc;
  char **argv;
  int status;
} Line;

static void run_line(void *context) {
  Line *l = context;
  lang_start(l->argc, l->argv);
  l->status = dispatch(l->argc, l->argv);
}

int tool_main(int argc, char **argv) {
  Line l = {.argc = argc, .argv = argv};
  Error *e = protect(run_line, &l);
  if (e) {
    error_report(e);
    l.status = str_same(e->kind, ERROR_INTERNAL) ? STATUS_INTERNAL : STATUS_ERROR;
  }
  int flushed = tool_flush();
  backends_finish();
  return l.status ? l.status : flushed;
}
