/* test_report.c -- how tests ended: on the terminal, and as a JUnit file. */
#include "lang/tool/test.h"
#include <stdio.h>
#include <stdlib.h>

static const struct {
  const char *word, *loud;
} outcomes[TEST_OUTCOMES] = {[TEST_PASSED] = {"passed", "PASS"},
                             [TEST_FAILED] = {"failed", "FAIL"},
                             [TEST_SKIPPED] = {"skipped", "SKIP"},
                             [TEST_XFAILED] = {"xfailed", "XFAIL"},
                             [TEST_XPASSED] = {"xpassed", "XPASS"}};

const char *test_outcome_word(TestOutcome o) { return outcomes[o].word; }

static void tell_json(const TestResult *r) {
  Str s = {0};
  str_add(&s, "{\"test\":");
  str_add_json(&s, r->name);
  str_printf(&s, ",\"outcome\":\"%s\",\"seconds\":%.6f,\"reason\":", outcomes[r->outcome].word,
             r->seconds);
  str_add_json(&s, r->reason);
  str_add(&s, "}\n");
  fputs(str_text(&s), stderr);
}

void test_tell(const TestResult *r, const TestOptions *options) {
  bool failed = r->outcome == TEST_FAILED, json = tool_diag_form() == DIAG_JSON;
  if (json) tell_json(r);
  else if (failed || options->verbose)
    fprintf(stderr, "%s %s%s%s%s%s\n", outcomes[r->outcome].loud, r->name, *r->reason ? ": " : "",
            r->reason, options->verbose ? "  " : "",
            options->verbose ? str_format("(%.2f s)", r->seconds) : "");
  if (failed || options->show_output) fputs(r->output, stderr);
}

static int by_time(const void *a, const void *b) {
  double x = (*(const TestResult *const *)a)->seconds, y = (*(const TestResult *const *)b)->seconds;
  return (x < y) - (x > y);
}

void test_tell_slowest(const TestResultVec *results, int n) {
  VEC(const TestResult *) all = {0};
  for each (TestResult, r, results) vec_push(&all, r);
  if (all.len) qsort(all.at, (size_t)all.len, sizeof *all.at, by_time);
  for (int i = 0; i < n && i < all.len; i++)
    printf("%8.3f s  %s\n", all.at[i]->seconds, all.at[i]->name);
}

int test_tell_counts(const TestResultVec *results) {
  int counts[TEST_OUTCOMES] = {0}, extra = 0;
  for each (TestResult, r, results) counts[r->outcome]++;
  for (int o = TEST_SKIPPED; o < TEST_OUTCOMES; o++)
    if (counts[o]) printf("%s%d %s", extra++ ? ", " : "", counts[o], outcomes[o].word);
  if (extra) puts("");
  printf("%d passed, %d failed\n", counts[TEST_PASSED], counts[TEST_FAILED]);
  return counts[TEST_FAILED];
}

/* ---- JUnit ---- */

static void add_xml(Str *s, const char *text) {
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '&') str_add(s, "&amp;");
    else if (c == '<') str_add(s, "&lt;");
    else if (c == '>') str_add(s, "&gt;");
    else if (c == '"') str_add(s, "&quot;");
    else if (c >= 0x20 || c == '\n' || c == '\t') str_add_char(s, (char)c);
    else str_add_char(s, '?'); /* no other control character may stand in XML */
  }
}

static void add_attribute(Str *s, const char *name, const char *value) {
  str_printf(s, " %s=\"", name);
  add_xml(s, value);
  str_add(s, "\"");
}

/* Why a test failed, in a line: what is told of it otherwise, or the first line of its output. */
static const char *summary(const TestResult *r) {
  if (*r->reason) return r->reason;
  return str_copy_n(r->output, strcspn(r->output, "\n"));
}

static void add_result(Str *s, const TestResult *r) {
  size_t n = strlen(r->path);
  const char *rest = strncmp(r->name, r->path, n) == 0 ? r->name + n : r->name;
  str_add(s, "  <testcase");
  add_attribute(s, "classname", r->path);
  add_attribute(s, "name", *rest ? rest + strspn(rest, ":") : r->path);
  str_printf(s, " time=\"%.6f\">", r->seconds);
  bool failed = r->outcome == TEST_FAILED;
  if (failed || r->outcome == TEST_SKIPPED || r->outcome == TEST_XFAILED) {
    str_printf(s, "<%s", failed ? "failure" : "skipped");
    add_attribute(s, "message", summary(r));
    str_add(s, ">");
    if (failed) add_xml(s, r->output);
    str_printf(s, "</%s>", failed ? "failure" : "skipped");
  }
  str_add(s, "</testcase>\n");
}

void test_write_junit(const TestResultVec *results, const char *path) {
  int failed = 0, skipped = 0;
  double seconds = 0;
  Str cases = {0}, out = {0};
  for each (TestResult, r, results) {
    failed += r->outcome == TEST_FAILED;
    skipped += r->outcome == TEST_SKIPPED || r->outcome == TEST_XFAILED;
    seconds += r->seconds;
    add_result(&cases, r);
  }
  str_printf(&out,
             "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<testsuites>\n<testsuite name=\"tvms\" "
             "tests=\"%d\" failures=\"%d\" errors=\"0\" skipped=\"%d\" time=\"%.6f\">\n%s"
             "</testsuite>\n</testsuites>\n",
             results->len, failed, skipped, seconds, cases.len ? str_text(&cases) : "");
  tool_write_file(path, str_text(&out), out.len);
}
