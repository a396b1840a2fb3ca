/* error.h -- raise and protect: errors that unwind, as in Lua.
 *
 * Three kinds of failure, three words. The program read is wrong and work can go on: diag_error.
 * A step that a script or a pass asked for can't be done: error_raise, caught by the nearest
 * protect (a script's `try`, the command, the REPL line). We are wrong: BUG or REQUIRE, which
 * raise an internal error. No raise may cross frames of another language (LLVM, libffi). */
#ifndef IR_SUPPORT_ERROR_H
#define IR_SUPPORT_ERROR_H

#include "ir/support/diag.h"

typedef struct Error {
  const char *kind; /* interned; the name of a script exception class, or ERROR_INTERNAL */
  DiagCode code;    /* NO_CODE: that of its kind */
  const char *text;
  Span span;
  void *value; /* of the raiser: a script exception object */
  struct {
    Span span;
    const char *what;
  } * trace; /* calls it passed through, innermost first */
  int trace_len;
  const DiagVec *faults; /* that it stands for, reported in its place; or NULL */
} Error;

#define ERROR_INTERNAL "internal error"

/* Runs body(context). Returns NULL, or the error that it raised. Nests. */
Error *protect(void (*body)(void *context), void *context);

_Noreturn void error_raise(Error *e);
_Noreturn void error_raisef(const char *kind, Span span, const char *format, ...) PRINTF_LIKE(3, 4);
/* The same for a fault that has a row of its own, which tells the class. */
_Noreturn void error_raise_code(DiagCode code, Span span, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* Turns an error into a diagnostic in the current list. */
Diag *error_report(const Error *e);

_Noreturn void error_bug(const char *file, int line, const char *format, ...) PRINTF_LIKE(3, 4);

#define BUG(...)            error_bug(__FILE__, __LINE__, __VA_ARGS__)
#define REQUIRE(truth, ...) ((truth) ? (void)0 : BUG("expected " #truth ": " __VA_ARGS__))

#endif
