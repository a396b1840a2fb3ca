/* line_editor.c -- libedit through dlopen, so that scripts do not pay for it; without it, getline.
 *
 * A blank line ends a compound statement only when no more input is waiting: line_editor_has_more
 * tells a paste from typing. */
#include "lang/tool/line_editor.h"
#include "ir/support/interrupt.h"
#include "lang/value/object.h"
#include <dlfcn.h>
#include <errno.h>
#include <histedit.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

void (*line_editor_complete)(const char *line, size_t cursor, size_t *start, StrVec *words);

/* The functions of libedit that are used, found by name. */
static struct {
  EditLine *(*init)(const char *, FILE *, FILE *, FILE *);
  void (*end)(EditLine *);
  int (*set)(EditLine *, int, ...);
  const char *(*gets)(EditLine *, int *);
  const LineInfo *(*line)(EditLine *);
  int (*insertstr)(EditLine *, const char *);
  void (*push)(EditLine *, const char *);
  History *(*history_init)(void);
  int (*history)(History *, HistEvent *, int, ...);
} lib;

static EditLine *editor; /* NULL: lines are read plainly */
static History *history_list;
static const char *prompt_text = "";
static bool interrupted;

static bool find_functions(void *library) {
  const struct {
    const char *name;
    void *at;
  } rows[] = {{"el_init", &lib.init},   {"el_end", &lib.end},
              {"el_set", &lib.set},     {"el_gets", &lib.gets},
              {"el_line", &lib.line},   {"el_insertstr", &lib.insertstr},
              {"el_push", &lib.push},   {"history_init", &lib.history_init},
              {"history", &lib.history}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    void *f = dlsym(library, rows[i].name);
    if (!f) return false;
    memcpy(rows[i].at, &f, sizeof f);
  }
  return true;
}

/* ---- where the history is kept ---- */

static const char *history_path(void) {
  const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  if (state && *state) {
    mkdir(str_format("%s/tvms", state), 0700);
    return str_format("%s/tvms/history", state);
  }
  return home && *home ? str_format("%s/.tvms_history", home) : NULL;
}

static void start_history(void) {
  HistEvent event;
  history_list = lib.history_init();
  lib.history(history_list, &event, H_SETSIZE, 2000);
  lib.history(history_list, &event, H_SETUNIQUE, 1);
  if (history_path()) lib.history(history_list, &event, H_LOAD, history_path());
  lib.set(editor, EL_HIST, lib.history, history_list);
}

/* ---- keys ---- */

static char *prompt(EditLine *e) {
  (void)e;
  return (char *)(uintptr_t)prompt_text;
}

/* One character; Ctrl-C ends the line that is being read. */
static int read_character(EditLine *e, wchar_t *out) {
  (void)e;
  unsigned char bytes[4];
  size_t n = 0, need = 1;
  while (n < need) {
    ssize_t got = read(STDIN_FILENO, bytes + n, 1);
    if (got < 0 && errno == EINTR && !interrupt_pending) continue;
    if (got < 0 && errno == EINTR) interrupted = true;
    if (got <= 0) return got < 0 ? -1 : 0;
    if (!n) need = bytes[0] < 0xc0 ? 1 : bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;
    n++;
  }
  size_t size;
  *out = need == 1 ? bytes[0] : (wchar_t)utf8_decode((const char *)bytes, &size);
  return 1;
}

static size_t common_length(const StrVec *words) {
  size_t n = strlen(words->at[0]);
  for each (const char *, w, words)
    for (size_t i = 0; i < n; i++)
      if ((*w)[i] != words->at[0][i]) n = i;
  return n;
}

int terminal_columns(void) {
  struct winsize size;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

static void show_words(const StrVec *words) {
  int column = 0, most = terminal_columns() - 1;
  printf("\n");
  for each (const char *, w, words) {
    int n = (int)strlen(*w) + 2;
    if (column && column + n > most) printf("\n"), column = 0;
    printf("%s  ", *w);
    column += n;
  }
  printf("\n");
  fflush(stdout);
}

/* Tab: indents at the start of a line, else completes as far as all candidates agree, and shows
 * them when that is no further. */
static unsigned char complete(EditLine *e, int key) {
  (void)key;
  const LineInfo *l = lib.line(e);
  size_t cursor = (size_t)(l->cursor - l->buffer), start = cursor;
  const char *line = str_copy_n(l->buffer, (size_t)(l->lastchar - l->buffer));
  if (strspn(line, " ") >= cursor) return lib.insertstr(e, "    ") == 0 ? CC_REFRESH : CC_ERROR;
  StrVec words = {0};
  if (line_editor_complete) line_editor_complete(line, cursor, &start, &words);
  if (!words.len) return CC_ERROR;
  size_t typed = cursor - start, n = common_length(&words);
  if (n > typed) {
    const char *more = str_copy_n(words.at[0] + typed, n - typed);
    return lib.insertstr(e, more) == 0 ? CC_REFRESH : CC_ERROR;
  }
  if (words.len == 1) return CC_NORM;
  show_words(&words);
  return CC_REDISPLAY;
}

/* ---- the door ---- */

void line_editor_start(void) {
  if (!isatty(STDIN_FILENO)) return;
  void *library = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library) library = dlopen("libedit.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library || !find_functions(library)) return;
  editor = lib.init("tvms", stdin, stdout, stderr);
  if (!editor) return;
  lib.set(editor, EL_PROMPT, prompt);
  lib.set(editor, EL_EDITOR, "emacs");
  lib.set(editor, EL_SIGNAL, 0);
  lib.set(editor, EL_GETCFN, read_character);
  lib.set(editor, EL_ADDFN, "tvms-complete", "complete a name", complete);
  lib.set(editor, EL_BIND, "^I", "tvms-complete", NULL);
  lib.set(editor, EL_BIND, "^R", "em-inc-search-prev", NULL);
  lib.set(editor, EL_BIND, "\\e[1;5C", "em-next-word", NULL);
  lib.set(editor, EL_BIND, "\\e[1;5D", "ed-prev-word", NULL);
  start_history();
}

void line_editor_end(void) {
  HistEvent event;
  if (!editor) return;
  if (history_path()) lib.history(history_list, &event, H_SAVE, history_path());
  lib.end(editor);
  editor = NULL;
}

void line_editor_remember(const char *text) {
  HistEvent event;
  if (editor && *text) lib.history(history_list, &event, H_ENTER, text);
}

static LineResult read_plainly(const char **line) {
  char *text = NULL;
  size_t cap = 0;
  if (isatty(STDIN_FILENO)) {
    fputs(prompt_text, stdout);
    fflush(stdout);
  }
  ssize_t n = getline(&text, &cap, stdin);
  if (n > 0 && text[n - 1] == '\n') n--;
  if (n >= 0) *line = str_copy_n(text, (size_t)n);
  free(text);
  if (n >= 0) return LINE_READ;
  if (!interrupt_pending) return LINE_END;
  clearerr(stdin);
  return LINE_INTERRUPTED;
}

LineResult line_editor_read(const char *text, const char **line) {
  prompt_text = text;
  interrupt_pending = 0;
  if (!editor) return read_plainly(line);
  int n = 0;
  interrupted = false;
  const char *got = lib.gets(editor, &n);
  if (interrupted) {
    interrupt_pending = 0;
    return LINE_INTERRUPTED;
  }
  if (!got || n <= 0) return LINE_END;
  size_t len = strlen(got);
  *line = str_copy_n(got, len && got[len - 1] == '\n' ? len - 1 : len);
  return LINE_READ;
}

void line_editor_indent(size_t n) {
  if (editor && n && !line_editor_has_more()) lib.push(editor, str_format("%*s", (int)n, ""));
}

bool line_editor_has_more(void) {
  if (!isatty(STDIN_FILENO)) return !feof(stdin);
  struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
  return poll(&p, 1, 20) > 0;
}
