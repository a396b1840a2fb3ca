/* repl.c -- read, evaluate, print.
 *
 * A compound statement ends at a blank line, as in Python. In pasted text a blank line ends it only
 * if the next line is not indented, so whole modules can be pasted. Lines that begin with ':' are
 * commands of the REPL. Ctrl-C interrupts what runs, Ctrl-D leaves. */
#include <signal.h> /* first: value.h has a macro of the name `raise` */
#include "lang/tool/tool.h"
#include "lang/tool/complete.h"
#include "lang/tool/line_editor.h"
#include "lang/value/object.h"
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static Session *session;
static const char *kept_line; /* read, but belonging to the next input; or NULL */
static bool leaving;
static int status;

static void on_interrupt(int signal_number) {
  (void)signal_number;
  interrupt_pending = 1;
}

static void complete_names(const char *line, size_t cursor, size_t *start, StrVec *words) {
  complete_in(session, line, cursor, start, words);
}

/* ---- running ---- */

static bool run_text(const char *name, const char *text, size_t len, Value *last) {
  const Source *source = source_add(name, text, len);
  if (!source) {
    diag_error((Span){0}, "the texts read so far are 4 GB together");
    return false;
  }
  bool ok = session_run(session, source, last);
  interrupt_pending = 0;
  if (session->exited) leaving = true, status = session->exit_status;
  return ok;
}

typedef struct Shown {
  Value v;
} Shown;

static void show_value(void *context) {
  Value v = ((Shown *)context)->v;
  printf("%s\n", value_repr(v));
}

/* Prints the value of an expression and keeps it as `_`. */
static void show(Value v) {
  if (!v.type || value_is_none(v)) return;
  env_set(session->globals, str_intern("_"), v);
  Shown s = {v};
  Error *e = eval_protect(show_value, &s);
  if (e) error_report_uncaught(e);
}

static void run_input(const char *text, size_t len) {
  Value last = value_absent();
  if (run_text("<repl>", text, len, &last)) show(last);
  tool_flush();
}

/* ---- commands ---- */

static bool value_of_text(const char *text, Value *v) {
  if (!*text) {
    diag_error((Span){0}, "expected an expression");
    return false;
  }
  return run_text("<repl>", str_copy_n(text, strlen(text)), strlen(text), v);
}

static void command_type(const char *text) {
  Value v;
  if (!value_of_text(text, &v) || !v.type) return;
  printf("%s\n", value_type_text(v));
}

static void command_doc(const char *text) {
  Value v;
  if (!value_of_text(text, &v) || !v.type) return;
  Value doc = value_find_attr(v, str_intern("__doc__"), (Span){0});
  if (v.type == &type_builtin) {
    const Builtin *b = ((BuiltinObject *)v.object)->builtin;
    printf("%s(%s)\n", b->name, b->signature);
  }
  if (doc.type == &type_str) printf("%s\n", value_text(doc));
  else printf("no documentation: %s\n", value_repr(v));
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void command_time(const char *text) {
  Value v;
  double start = now();
  bool ok = value_of_text(text, &v);
  double seconds = now() - start;
  if (ok) show(v);
  if (seconds < 1e-3) printf("%.1f us\n", seconds * 1e6);
  else if (seconds < 1) printf("%.2f ms\n", seconds * 1e3);
  else printf("%.3f s\n", seconds);
}

static void command_load(const char *path) {
  if (!*path) {
    diag_error((Span){0}, "which file?");
    return;
  }
  const Source *source = source_read(path);
  if (!source) return;
  session_run(session, source, NULL);
  interrupt_pending = 0;
  if (session->exited) leaving = true, status = session->exit_status;
}

static void command_paste(const char *unused) {
  (void)unused;
  Str text = {0};
  const char *line;
  if (isatty(STDIN_FILENO)) printf("paste, then end with :end or Ctrl-D\n");
  while (line_editor_read("", &line) == LINE_READ && strcmp(line, ":end") != 0) {
    str_add(&text, line);
    str_add_char(&text, '\n');
  }
  run_input(str_text(&text), text.len);
}

static void command_quit(const char *unused) {
  (void)unused;
  leaving = true;
}

static void command_help(const char *unused);

static const struct {
  const char *name, *argument, *doc;
  void (*run)(const char *argument);
} commands[] = {
    {"help", "", "this list", command_help},
    {"quit", "", "leave; Ctrl-D does too", command_quit},
    {"load", "FILE", "run a file in this session", command_load},
    {"type", "EXPR", "the type of a value", command_type},
    {"doc", "EXPR", "what is documented of a value", command_doc},
    {"time", "EXPR", "how long it takes", command_time},
    {"paste", "", "take lines as they are, up to :end", command_paste},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void command_help(const char *unused) {
  (void)unused;
  for (int i = 0; i < COMMANDS; i++)
    printf("  :%-6s%-6s %s\n", commands[i].name, commands[i].argument, commands[i].doc);
  printf("`_` is the last value. A blank line ends a compound statement. Tab completes names.\n");
}

static void run_command(const char *line) {
  size_t n = strcspn(line, " ");
  const char *argument = line + n + strspn(line + n, " ");
  const char *names[COMMANDS];
  for (int i = 0; i < COMMANDS; i++) {
    names[i] = commands[i].name;
    if (strlen(names[i]) != n || strncmp(names[i], line, n) != 0) continue;
    commands[i].run(argument);
    tool_flush();
    return;
  }
  const char *name = str_copy_n(line, n);
  Diag *d = diag_error((Span){0}, "unknown command ':%s'", name);
  diag_near(d, name, names, COMMANDS);
  diag_help(d, ":help lists the commands");
  tool_flush();
}

/* ---- reading ---- */

static LineResult next_line(const char *prompt, const char **line) {
  if (!kept_line) return line_editor_read(prompt, line);
  *line = kept_line;
  kept_line = NULL;
  return LINE_READ;
}

static bool is_blank(const char *line) { return !line[strspn(line, " \t\r")]; }

/* After a blank line inside a compound statement: does the text that waits go on with it? */
static bool goes_on(Str *text) {
  while (line_editor_has_more()) {
    const char *line;
    if (line_editor_read("... ", &line) != LINE_READ) return false;
    if (!is_blank(line) && *line != ' ' && *line != '\t') {
      kept_line = line;
      return false;
    }
    str_add(text, line);
    str_add_char(text, '\n');
    if (!is_blank(line)) return true;
  }
  return false;
}

/* Reads one statement, or lines of them. LINE_END at the end of the input. */
static LineResult read_input(Str *text) {
  const char *line;
  LineResult r = next_line(">>> ", &line);
  if (r != LINE_READ) return r;
  str_add(text, line);
  if (*line == ':' && line[1]) return r;
  str_add_char(text, '\n');
  while (1) {
    while (parse_wants_more(str_text(text), text->len)) {
      r = next_line("... ", &line);
      if (r == LINE_END) return text->len ? LINE_READ : r;
      if (r != LINE_READ) return r;
      str_add(text, line);
      str_add_char(text, '\n');
    }
    size_t n = text->len;
    bool after_blank = n > 1 && text->at[n - 1] == '\n' && text->at[n - 2] == '\n';
    if (!after_blank || !goes_on(text)) return LINE_READ;
  }
}

/* Line by line: an editor of single lines can show nothing else. */
static void remember(const char *text) {
  while (*text) {
    size_t n = strcspn(text, "\n");
    const char *line = str_copy_n(text, n);
    if (!is_blank(line)) line_editor_remember(line);
    text += n + (text[n] == '\n');
  }
}

static void loop(void) {
  while (!leaving) {
    Str text = {0};
    LineResult r = read_input(&text);
    if (r == LINE_END) break;
    if (r == LINE_INTERRUPTED) {
      printf("\n");
      continue;
    }
    const char *input = str_text(&text);
    if (*input == ':' && input[1] && input[1] != '\n') {
      remember(input);
      run_command(input + 1);
    } else if (text.len != strspn(input, " \t\r\n")) {
      remember(input);
      run_input(input, text.len);
    }
  }
}

int tool_repl(int argc, char **argv) {
  int unused;
  if (!options_parse(NULL, 0, &argc, argv, &unused)) return unused;
  if (argc > 1) return usage_error("repl", "no arguments are expected, found '%s'", argv[1]);
  bool terminal = isatty(STDIN_FILENO);
  struct sigaction action = {.sa_handler = on_interrupt}; /* no SA_RESTART: a read ends */
  sigaction(SIGINT, &action, NULL);
  session = session_new(NULL);
  line_editor_complete = complete_names;
  if (terminal) printf("tvms %s (:help for help)\n", TVMS_VERSION);
  line_editor_start();
  loop();
  if (terminal && !leaving) printf("\n");
  line_editor_end();
  return status;
}
