/* test.h -- test files: their cases, and what the parts of `tvms test` share.
 *
 * A file says by a line `# TEST: form ...` what its text is. Without one, or with `run`, every
 * function test* of the file and of its classes Test* is a test, or several, as pytest would
 * collect them (stdlib/module/pytest.tvms). The other forms have cases, which lines `# -----`
 * separate, each in a session of its own:
 *
 *   expect-error   each error of the text is expected on its line by `# expected-error {{part of
 *                  its text}}`, or with @+1, @-2, @* (anywhere); missing and unexpected both fail
 *   output         what the text prints holds the texts of its `# CHECK: ` lines, in order;
 *                  `# CHECK-NEXT: ` on the next line, `# CHECK-NOT: ` not before the next match
 *   module         no test: what other files import
 *   roundtrip      each module or function of the text is printed, read again and compared, in both
 *                  styles of printing
 *   pass PIPELINE  the module Before, run through the pipeline, equals the module Expected
 *
 * A worker, a process of its own for each file, runs the tests and tells the program about each
 * (test_worker.c); one that crashes or hangs is ended, and another goes on behind that test. */
#ifndef LANG_TOOL_TEST_H
#define LANG_TOOL_TEST_H

#include "lang/tool/tool.h"

/* ---- cases (test_cases.c) ---- */

typedef struct TestCase {
  const char *path;
  const char *text; /* of the case alone */
  size_t len;
  int first_line;       /* of the text in its file, from 1 */
  const char *form;     /* "run", "output", ...: the first word after TEST: */
  const char *argument; /* the rest of that line */

} TestCase;
typedef VEC(TestCase) TestCaseVec;

/* A case takes over the form of the one before, unless it names its own. */
TestCaseVec test_cases(const Source *s);
/* The case as a source, whose lines are numbered as in the file. */
const Source *test_source(const TestCase *t);
/* False: it failed, and the current diagnostics tell why. *actual: what an output test printed. */
bool test_case_run(const TestCase *t, const char **actual);
/* Writes the file with the CHECK lines of the cases replaced by `actual`, where it is not NULL. */
void test_cases_update(const Source *source, const TestCaseVec *cases, const StrVec *actual);

/* Each runs one case. */
bool test_expect_errors(const TestCase *t);
bool test_output(const TestCase *t, const char **actual); /* *actual: what was printed */
bool test_pass(const TestCase *t);
bool test_roundtrip(const TestCase *t);

/* The CHECK lines of the file's text, replaced by what its cases printed. */
const char *test_updated(const char *text, size_t len, const char *actual);

/* Runs body(context) and returns what it wrote to standard output. Raises what it raises. */
const char *test_capture(void (*body)(void *context), void *context);

/* ---- files of functions (test_load.c) ---- */

/* A statement of the file that failed: the names that are missing for it. */
typedef struct TestGap {
  Ast *statement;
  StrVec names;
  DiagVec *why;
  bool met; /* a test failed for it */
} TestGap;

typedef struct TestFile {
  Session *session;
  VEC(TestGap) gaps;
  const char *skipped; /* why the whole file is skipped, or NULL */
} TestFile;

bool test_load(TestFile *f, const Source *source); /* false: it doesn't parse */
TestGap *test_gap(TestFile *f, const char *name);  /* the one that left this name out, or NULL */

/* ---- which tests (test_select.c) ---- */

const char *test_pattern_fault(const char *pattern);      /* what is wrong with it; NULL: nothing */
bool test_matches(const char *pattern, const char *name); /* pattern NULL: all do */

/* ---- workers (test_worker.c) ---- */

typedef enum {
  TEST_PASSED,
  TEST_FAILED,
  TEST_SKIPPED,
  TEST_XFAILED,
  TEST_XPASSED,
  TEST_OUTCOMES
} TestOutcome;

typedef struct TestOptions {
  const char *pattern; /* NULL: all */
  bool update, stop_at_first, verbose, show_output;
  bool onnx;          /* the paths are folders of ONNX models */
  const char *target; /* what these are built for */
  double timeout;     /* seconds, for one test */
} TestOptions;

/* Runs the tests of a file from number `from` on, in this process. Writes to `pipe`, a line each:
 *   B number name               it begins
 *   E number outcome seconds reason   it ended
 * What the tests and their diagnostics say goes to standard output and error. */
void test_worker(const char *path, int from, const TestOptions *options, int pipe);
/* The same of a folder with an ONNX model and its data, which is one test. */
void test_onnx_worker(const char *path, int from, const TestOptions *options, int pipe);

/* ---- results (test_report.c) ---- */

typedef struct TestResult {
  const char *path, *name; /* name: with the path, "a/b.tvms::test_c[1]" */
  TestOutcome outcome;
  double seconds;
  const char *reason, *output;
} TestResult;
typedef VEC(TestResult) TestResultVec;

const char *test_outcome_word(TestOutcome o);
void test_tell(const TestResult *r, const TestOptions *options);
void test_tell_slowest(const TestResultVec *results, int n);
void test_write_junit(const TestResultVec *results, const char *path); /* raises OSError */
/* The last lines, of which the last is "N passed, N failed". The number that failed. */
int test_tell_counts(const TestResultVec *results);

#endif
