/* codes.c -- the examples of every code: the wrong text has that fault, the right one has none. */
#include "ir/code/code.h"
#include "lang/tool/tool.h"
#include "tests/unit/unit.h"
#include <stdio.h>
#include <unistd.h>
#include <fcntl.h>

/* The diagnostics of a text that is run as a script. */
static DiagVec run(const char *text) {
  DiagVec *outer = diag_capture();
  fflush(stdout);
  int saved = dup(STDOUT_FILENO), null = open("/dev/null", O_WRONLY);
  dup2(null, STDOUT_FILENO);
  session_run(session_new(NULL), source_add("<example>", text, strlen(text)), NULL);
  fflush(stdout);
  dup2(saved, STDOUT_FILENO);
  close(saved);
  close(null);
  return *diag_restore(outer);
}

static void show(const DiagVec *found) {
  for each (Diag *, d, found) diag_print(stdout, *d, DIAG_PLAIN);
}

static void check_row(DiagCode code) {
  const CodeRow *row = code_row(code);
  DiagVec wrong = run(row->wrong), right = run(row->right);
  bool found = false, good = true;
  for each (Diag *, d, &wrong) found |= (*d)->code == code;
  for each (Diag *, d, &right) good &= (*d)->severity != DIAG_ERROR && (*d)->code != code;
  if (!found) printf("%s: its wrong text has no such fault\n", row->name), show(&wrong);
  if (!good) printf("%s: its right text has faults\n", row->name), show(&right);
  CHECK(found && good);
}

TEST(codes_examples_show_their_faults) {
  lang_start(0, NULL);
  CHECK(diag_set_warning("all"));
  for (DiagCode c = NO_CODE + 1; c < CODE_COUNT; c++)
    if (code_row(c)->wrong) check_row(c);
  CHECK(diag_set_warning("no-all"));
}

TEST(codes_are_found_by_name_kind_and_warning) {
  CHECK(code_find("e0312") == E0312 && code_find("E0312") == E0312 && !code_find("E9999"));
  CHECK(code_of_kind("TypeError") == E0203 && code_of_kind("Unheard") == E0200);
  CHECK(code_of_warning("unused-variable") == W0101 && !code_of_warning("unused"));
  CHECK(!diag_set_warning("unheard") && !diag_set_warning("no-unheard"));
}
