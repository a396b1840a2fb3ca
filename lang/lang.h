/* lang.h -- the door of lang/: sessions that evaluate text, and the command line's entry.
 *
 * A session is one global scope: a script, a test file, a REPL. Faults of a text become diagnostics
 * in the current list; what it printed stays printed. */
#ifndef LANG_LANG_H
#define LANG_LANG_H

#include "lang/eval/eval.h"

typedef struct Session {
  Env *globals;
  const char *path; /* of the file, for relative imports; NULL in the REPL */
  bool exited;      /* the text called sys.exit() */
  int exit_status;
  bool broken;      /* a fault of tvms itself was met */
  bool interrupted; /* by Ctrl-C, and nothing caught that */
} Session;

/* Fills in the builtins and the namespaces of the language; once, at start. Cheap: no file is read.
 */
void lang_start(int argc, char **argv);

/* Of the script that is run: its folder comes first in sys.path. NULL: of text without a file. */
Session *session_new(const char *path);
Session *session_of_module(const char *name, const char *path); /* of a file that is imported */
/* Parses and runs the text. False if there was any error (reported). If `last` is not NULL and the
 * text ends in an expression statement, *last is its value. */
bool session_run(Session *s, const Source *source, Value *last);

/* As error_report, with notes on what caused the error. */
void error_report_uncaught(const Error *e);

/* Evaluates only what the text defines (see definitions.c); faults are reported, each statement on
 * its own. */
void session_define(Session *s, const AstModule *tree);

/* Reads a file whole; "-" is standard input. NULL with a diagnostic if it can't be read, is a
 * folder, or is larger than 2 GB. */
const Source *source_read(const char *path);

int tool_main(int argc, char **argv);

#endif
