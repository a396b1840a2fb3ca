/* unit.c -- runs the unit tests; the last line is "N passed, N failed". */
#include "tests/unit/unit.h"
#include "ir/support/error.h"
#include <stdio.h>

static Test *first, **end = &first;
static int faults; /* of the test that runs */

void unit_add(Test *t) {
  *end = t;
  end = &t->next;
}

void unit_check(bool good, const char *file, int line, const char *what) {
  if (good) return;
  printf("%s:%d: failed: %s\n", file, line, what);
  faults++;
}

static void call(void *test) { ((Test *)test)->run(); }

static bool passes(Test *t) {
  faults = 0;
  DiagVec *outer = diag_capture();
  Error *e = protect(call, t);
  diag_restore(outer);
  if (e) printf("%s: raised %s: %s\n", t->name, e->kind, e->text);
  if (e || faults) printf("FAIL %s\n", t->name);
  return !e && !faults;
}

int main(int argc, char **argv) {
  gc_start();
  int passed = 0, failed = 0;
  for (Test *t = first; t; t = t->next) {
    if (argc > 1 && !strstr(t->name, argv[1])) continue;
    if (passes(t)) passed++;
    else failed++;
  }
  printf("%d passed, %d failed\n", passed, failed);
  if (argc > 1 && !passed && !failed) {
    fprintf(stderr, "no test has '%s' in its name\n", argv[1]);
    return 2;
  }
  return failed > 0;
}
