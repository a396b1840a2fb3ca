/* complete.c -- what a name that is being typed could become. */
#include "lang/tool/complete.h"
#include "lang/value/object.h"
#include <ctype.h>
#include <stdlib.h>

static bool in_name(char c) {
  return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Those that begin so; each once, sorted; names with underscores only if one was typed. */
static void choose(const StrVec *names, const char *prefix, StrVec *words) {
  size_t n = strlen(prefix);
  Map seen = {0};
  for each (const char *, name, names) {
    const char *text = str_intern(*name);
    if (strncmp(text, prefix, n) != 0 || (*text == '_' && !n) || map_has(&seen, text)) continue;
    map_set(&seen, text, (void *)(uintptr_t)text);
    vec_push(words, text);
  }
  if (words->len) qsort(words->at, (size_t)words->len, sizeof *words->at, by_text);
}

typedef struct Owner {
  Session *session;
  const char *path; /* "a.b.c" */
  StrVec names;     /* of its attributes */
} Owner;

static void find_names(void *context) {
  Owner *o = context;
  const char *at = o->path;
  size_t n = strcspn(at, ".");
  Value *root = env_find(o->session->globals, str_intern_n(at, n));
  if (!root) return;
  Value v = *root;
  for (at += n; *at; at += n) {
    at++;
    n = strcspn(at, ".");
    v = value_find_attr(v, str_intern_n(at, n), (Span){0});
    if (!v.type) return;
  }
  value_attr_names(v, &o->names);
}

void complete_in(Session *s, const char *line, size_t cursor, size_t *start, StrVec *words) {
  static const char *const keywords[] = {
      "and",    "as",     "assert", "break",   "class",    "continue", "def",    "del",  "elif",
      "else",   "except", "False",  "finally", "for",      "from",     "global", "if",   "import",
      "in",     "is",     "lambda", "None",    "nonlocal", "not",      "or",     "pass", "raise",
      "return", "True",   "try",    "while",   "with",     "yield"};
  size_t word = cursor;
  while (word > 0 && in_name(line[word - 1])) word--;
  size_t path = word;
  while (path > 0 && (in_name(line[path - 1]) || line[path - 1] == '.')) path--;
  const char *prefix = str_copy_n(line + word, cursor - word);
  *start = word;
  if (path < word) {
    Owner o = {.session = s, .path = str_copy_n(line + path, word - 1 - path)};
    if (!eval_protect(find_names, &o)) choose(&o.names, prefix, words);
    return;
  }
  StrVec names = {0};
  env_names(s->globals, &names);
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) vec_push(&names, keywords[i]);
  if (*prefix) choose(&names, prefix, words);
}
