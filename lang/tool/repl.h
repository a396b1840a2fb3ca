/* repl.h -- what the reading loop (repl.c) and the commands (repl_command.c) share. */
#ifndef LANG_TOOL_REPL_H
#define LANG_TOOL_REPL_H

#include "lang/tool/tool.h"

typedef struct Repl {
  Session *session;
  bool leaving;
  int status;
  Str kept; /* the texts that ran without an error, for :save */
} Repl;
extern Repl repl;

/* Runs a text in the session. False if it failed (reported). *last: the value of its last
 * expression. */
bool repl_run(const char *text, size_t len, Value *last);
/* Runs what was typed, and shows its value. */
void repl_run_input(const char *text, size_t len);
/* Prints the value of an expression and keeps it as `_`. */
void repl_show(Value v);

/* A line that begins with ':', without it. */
void repl_command(const char *line);
/* What a word of such a line could become. */
void repl_complete_command(const char *line, size_t cursor, size_t *start, StrVec *words);

#endif
