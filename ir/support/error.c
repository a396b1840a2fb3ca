/* error.c -- raise and protect by longjmp to the innermost handler of this thread. */
#include "ir/support/error.h"
#include <setjmp.h>
#include <stdio.h>
#include <unistd.h>

typedef struct Handler Handler;
struct Handler {
  jmp_buf jump;
  Handler *outer;
  Error *error;
};

static _Thread_local Handler *innermost;

Error *protect(void (*body)(void *), void *context) {
  Handler here = {.outer = innermost};
  innermost = &here;
  if (setjmp(here.jump) == 0) body(context);
  innermost = here.outer;
  return here.error;
}

void error_raise(Error *e) {
  if (!innermost) {
    error_report(e);
    diag_flush(stderr, DIAG_PLAIN);
    fflush(NULL);
    _exit(70);
  }
  innermost->error = e;
  longjmp(innermost->jump, 1);
}

void error_raisef(const char *kind, Span span, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *text = str_vformat(format, args);
  va_end(args);
  error_raise(NEW(Error, .kind = str_intern(kind), .text = text, .span = span));
}

void error_raise_code(DiagCode code, Span span, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *text = str_vformat(format, args);
  va_end(args);
  const char *kind = code_row(code)->kind;
  error_raise(NEW(Error, .kind = str_intern(kind), .code = code, .text = text, .span = span));
}

void error_bug(const char *file, int line, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *text = str_vformat(format, args);
  va_end(args);
  text = str_format("%s:%d: %s", file, line, text);
  error_raise(NEW(Error, .kind = str_intern(ERROR_INTERNAL), .text = text));
}

Diag *error_report(const Error *e) {
  if (e->faults && e->faults->len) {
    diag_append(e->faults);
    return vec_last(e->faults);
  }
  bool ours = e->kind && str_same(e->kind, ERROR_INTERNAL);
  DiagCode code = ours ? NO_CODE : e->code || !e->kind ? e->code : code_of_kind(e->kind);
  Diag *d =
      diag_fault(code, e->span, "%s%s%s", e->kind ? e->kind : "", e->kind ? ": " : "", e->text);
  for (int i = 0; i < e->trace_len && i < 10; i++)
    diag_note(d, e->trace[i].span, "%s", e->trace[i].what);
  if (ours) diag_help(d, "this is a fault of tvms, not of the program");
  return d;
}
