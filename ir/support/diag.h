/* diag.h -- diagnostics: what is wrong, where, what was expected, what is near.
 *
 * Reporting does not stop the work: after an error the reporter returns a harmless value and goes
 * on, so that one run shows every fault. Text is lower case, without a period, in the language's
 * own spelling, and names both what was expected and what was found. */
#ifndef IR_SUPPORT_DIAG_H
#define IR_SUPPORT_DIAG_H

#include "ir/code/code.h"
#include "ir/support/source.h"
#include "ir/support/str.h"
#include "ir/support/vec.h"
#include <stdio.h>

typedef enum { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE, DIAG_HELP } Severity;

typedef struct Diag Diag;
struct Diag {
  Severity severity;
  DiagCode code; /* of an error or a warning; or NO_CODE */
  Span span;
  const char *text;
  VEC(Diag *) notes; /* of an error or a warning: what explains it, in order */
};

typedef VEC(Diag *) DiagVec;

/* Reports to the current list. Returns the diagnostic, for notes. diag_fault is for what `tvms
 * explain` explains: the faults of a text; diag_error for what has no code: command lines, files.
 */
Diag *diag_fault(DiagCode code, Span span, const char *format, ...) PRINTF_LIKE(3, 4);
Diag *diag_error(Span span, const char *format, ...) PRINTF_LIKE(2, 3);
/* NULL if the warning is switched off. */
Diag *diag_warning(DiagCode code, Span span, const char *format, ...) PRINTF_LIKE(3, 4);

/* Explains `d`: a place that matters too, or (help) what to write instead. */
void diag_note(Diag *d, Span span, const char *format, ...) PRINTF_LIKE(3, 4);
void diag_help(Diag *d, const char *format, ...) PRINTF_LIKE(2, 3);

/* One flag after -W: "all", "error", "unused-variable", "no-unused-variable". False: unknown. */
bool diag_set_warning(const char *flag);

/* Adds "did you mean 'x'?" if one of the options is close to `name`. */
void diag_near(Diag *d, const char *name, const char *const *options, int n);

/* The current list gathers what is reported. diag_capture starts a fresh one and returns the old,
 * to be given back to diag_restore, which returns what was captured. */
DiagVec *diag_capture(void);
DiagVec *diag_restore(DiagVec *old);
void diag_append(const DiagVec *more); /* to the current list */

int diag_error_count(void); /* in the current list */

/* How diagnostics are written: "file:line:column: error[E0101]: text", the line, and ^~~~ under the
 * span; the same in colour; or one JSON object a line, as docs/tools.md says. */
typedef enum { DIAG_PLAIN, DIAG_COLOUR, DIAG_JSON } DiagForm;

/* Prints and empties the current list. Returns the number of errors in it. */
int diag_flush(FILE *out, DiagForm form);
void diag_print(FILE *out, const Diag *d, DiagForm form);

#endif
