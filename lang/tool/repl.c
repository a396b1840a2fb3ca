/* repl.c -- read, evaluate, print.
 *
 * A compound statement ends at a blank line, as in Python. In pasted text a blank line ends it only
 * if the next line is not indented, so whole modules can be pasted. Lines that begin with ':' are
 * commands of the REPL. Ctrl-C interrupts what runs, Ctrl-D leaves. */
#include "lang/tool/repl.h"
#include "ir/support/interrupt.h"
#include "lang/tool/complete.h"
#include "lang/tool/line_editor.h"
#include "lang/value/object.h"
#include <stdio.h>
#include <unistd.h>

Repl repl;
static const char *kept_line; /* read, but belonging to the next input; or NULL */

static void complete_names(const char *line, size_t cursor, size_t *start, StrVec *words) {
  if (*line == ':') repl_complete_command(line, cursor, start, words);
  else complete_in(repl.session, line, cursor, start, words);
}

/* ---- running ---- */

bool repl_run(const char *text, size_t len, Value *last) {
  const Source *source = source_add("<repl>", str_copy_n(text, len), len);
  if (!source) {
    diag_error((Span){0}, "the texts read so far are 4 GB together");
    return false;
  }
  bool ok = session_run(repl.session, source, last);
  interrupt_pending = 0;
  if (repl.session->exited) repl.leaving = true, repl.status = repl.session->exit_status;
  return ok;
}

static void print_repr(void *value) { printf("%s\n", value_repr(*(Value *)value)); }

void repl_show(Value v) {
  if (!v.type || value_is_none(v)) return;
  env_set(repl.session->globals, str_intern("_"), v);
  Error *e = eval_protect(print_repr, &v);
  if (e) error_report_uncaught(e);
}

void repl_run_input(const char *text, size_t len) {
  Value last = value_absent();
  if (repl_run(text, len, &last)) {
    str_add_n(&repl.kept, text, len);
    repl_show(last);
  }
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

/* A person gets the next line of a block indented: as the last one, and deeper behind a ':'. */
static void indent_next(const Str *text) {
  size_t end = text->len - 1, start = end;
  while (start > 0 && text->at[start - 1] != '\n') start--;
  size_t n = strspn(text->at + start, " ");
  bool header = end > start && text->at[end - 1] == ':';
  if (start < end) line_editor_indent(n + (header ? 4 : 0));
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
      indent_next(text);
      r = next_line("... ", &line);
      if (r == LINE_END) return text->len ? LINE_READ : r;
      if (r != LINE_READ) return r;
      if (!is_blank(line)) str_add(text, line); /* blanks that were put there end a block too */
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
  while (!repl.leaving) {
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
      repl_command(input + 1);
    } else if (text.len != strspn(input, " \t\r\n")) {
      remember(input);
      repl_run_input(input, text.len);
    }
  }
}

int tool_repl(int argc, char **argv) {
  int unused;
  if (!options_parse(NULL, 0, &argc, argv, &unused)) return unused;
  if (argc > 1) return usage_error("repl", "no arguments are expected, found '%s'", argv[1]);
  bool terminal = isatty(STDIN_FILENO);
  tool_take_interrupts(false);
  repl.session = session_new(NULL);
  line_editor_complete = complete_names;
  if (terminal) printf("tvms %s (:help for help)\n", TVMS_VERSION);
  line_editor_start();
  loop();
  if (terminal && !repl.leaving) printf("\n");
  line_editor_end();
  return repl.status;
}
