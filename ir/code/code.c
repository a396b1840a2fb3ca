/* code.c -- the rows of codes, and finding one. */
#include "ir/code/code.h"
#include <string.h>
#include <strings.h>

/* clang-format off */
static const CodeRow rows[] = {
    {0},
#define ERROR(code, kind, title, text, wrong, right) {#code, kind, NULL, true, title, text, wrong, right},
#define WARNING(code, name, usual, title, text, wrong, right) {#code, NULL, name, usual, title, text, wrong, right},
#include "ir/code/code.def"
};
/* clang-format on */

const CodeRow *code_row(DiagCode code) { return &rows[code]; }

DiagCode code_find(const char *name) {
  for (DiagCode c = NO_CODE + 1; c < CODE_COUNT; c++)
    if (strcasecmp(rows[c].name, name) == 0) return c;
  return NO_CODE;
}

/* Is the word one of those in `list`, which blanks separate? */
static bool has_word(const char *list, const char *word) {
  size_t n = strlen(word);
  for (; *list; list += strspn(list, " ")) {
    size_t m = strcspn(list, " ");
    if (m == n && memcmp(list, word, n) == 0) return true;
    list += m;
  }
  return false;
}

DiagCode code_of_kind(const char *kind) {
  for (DiagCode c = NO_CODE + 1; c < CODE_COUNT; c++)
    if (rows[c].kind && strncmp(rows[c].name, "E02", 3) == 0 && has_word(rows[c].kind, kind))
      return c;
  return E0200;
}

DiagCode code_of_warning(const char *name) {
  for (DiagCode c = NO_CODE + 1; c < CODE_COUNT; c++)
    if (rows[c].warning && strcmp(rows[c].warning, name) == 0) return c;
  return NO_CODE;
}
