/* code.h -- the codes of errors and warnings: what `error[E0312]` stands for.
 *
 * A code is one row of a .def file of this folder: the number, a title, an explanation, and a small
 * text that has the fault beside one that hasn't. `tvms explain` prints a row; a test runs both
 * texts of each. Errors of the script language have one code for each class of exception. */
#ifndef IR_CODE_CODE_H
#define IR_CODE_CODE_H

#include <stdbool.h>

/* clang-format off */
typedef enum {
  NO_CODE, /* what is said of a command line, or of a test */
#define ERROR(code, kind, title, text, wrong, right) code,
#define WARNING(code, name, usual, title, text, wrong, right) code,
#include "ir/code/code.def"
  CODE_COUNT
} DiagCode;
/* clang-format on */

typedef struct CodeRow {
  const char *name;    /* "E0312" */
  const char *kind;    /* of an error: the class of exception, in E02 perhaps several; NULL: none */
  const char *warning; /* of a warning: what stands after -W */
  bool usual;          /* of a warning: told without being asked for */
  const char *title, *text;
  const char *wrong, *right; /* NULL: no text has the fault, only IR that was built by hand */
} CodeRow;

const CodeRow *code_row(DiagCode code);  /* of NO_CODE: a row without a name */
DiagCode code_find(const char *name);    /* in either case; NO_CODE if there is none */
DiagCode code_of_kind(const char *kind); /* the row of E02 for that class; E0200 if it has none */
DiagCode code_of_warning(const char *name); /* "unused-variable"; NO_CODE if there is none */

#endif
