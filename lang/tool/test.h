/* test.h -- test files: their cases, and what the forms of tests share.
 *
 * A file says by a line `# TEST: form ...` what its text is. Without one, or with `run`, every
 * function test_* of the file is a test. The other forms have cases, separated by lines
 * `# -----`, each in a session of its own:
 *   expect-error   each error of the text is expected on its line by `# expected-error {{part of
 *                  its text}}`, or with @+1, @-2, @* (anywhere); missing and unexpected both fail
 *   output         what the text prints holds the texts of its `# CHECK: ` lines, in order;
 *                  `# CHECK-NEXT: ` on the next line, `# CHECK-NOT: ` not before the next match
 *   module         no test: what other files import
 *   roundtrip      each module or function of the text is verified, printed, read again and
 * compared, in both styles of printing pass PIPELINE  the module Before, run through the pipeline,
 * equals the module Expected */
#ifndef LANG_TOOL_TEST_H
#define LANG_TOOL_TEST_H

#include "lang/tool/tool.h"

typedef struct TestCase {
  const char *path;
  const char *text; /* of the case alone */
  size_t len;
  int first_line;       /* of the text in its file, from 1 */
  const char *form;     /* "run", "output", ...: the first word after TEST: */
  const char *argument; /* the rest of that line */

} TestCase;
typedef VEC(TestCase) TestCaseVec;

/* The case as a source, whose lines are numbered as in the file. */
const Source *test_source(const TestCase *t);

/* Each runs one case. False: it failed, and the current diagnostics tell why. */
bool test_expect_errors(const TestCase *t);
bool test_output(const TestCase *t, const char **actual); /* *actual: what was printed */
bool test_pass(const TestCase *t);
bool test_roundtrip(const TestCase *t);

/* The CHECK lines of the file's text, replaced by what its cases printed. */
const char *test_updated(const char *text, size_t len, const char *actual);

/* Runs body(context) and returns what it wrote to standard output. Raises what it raises. */
const char *test_capture(void (*body)(void *context), void *context);

#endif
