/* test_select.c -- the expression after -k: words, which a test's name holds or not, with `not`,
 * `and`, `or` and parentheses. Upper and lower case are the same. */
#include "lang/tool/test.h"
#include <ctype.h>
#include <string.h>

typedef struct Reader {
  const char *at;
  const char *name;
  const char *fault; /* NULL: none so far */
} Reader;

static bool read_or(Reader *r);

static size_t word_length(const char *at) { return strcspn(at, " ()"); }

static bool take(Reader *r, const char *word) {
  while (*r->at == ' ') r->at++;
  size_t n = strlen(word);
  bool whole = !isalpha((unsigned char)*word) || word_length(r->at) == n;
  if (strncmp(r->at, word, n) != 0 || !whole) return false;
  r->at += n;
  return true;
}

static bool read_word(Reader *r) {
  if (take(r, "(")) {
    bool held = read_or(r);
    if (!take(r, ")") && !r->fault) r->fault = "')' is missing";
    return held;
  }
  if (take(r, "not")) return !read_word(r);
  size_t n = word_length(r->at);
  if (!n && !r->fault) r->fault = *r->at ? "a word is missing before ')'" : "a word is missing";
  const char *word = str_copy_n(r->at, n);
  r->at += n;
  return n && strcasestr(r->name, word) != NULL;
}

static bool read_and(Reader *r) {
  bool held = read_word(r);
  while (!r->fault && take(r, "and")) held &= read_word(r);
  return held;
}

static bool read_or(Reader *r) {
  bool held = read_and(r);
  while (!r->fault && take(r, "or")) held |= read_and(r);
  return held;
}

const char *test_pattern_fault(const char *pattern) {
  Reader r = {.at = pattern, .name = ""};
  read_or(&r);
  while (*r.at == ' ') r.at++;
  if (!r.fault && *r.at) r.fault = str_format("'and' or 'or' is missing before '%s'", r.at);
  return r.fault;
}

bool test_matches(const char *pattern, const char *name) {
  return !pattern || read_or(&(Reader){.at = pattern, .name = name});
}
