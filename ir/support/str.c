/* str.c -- interned strings, the string builder, and the "did you mean" distance. */
#include "ir/support/str.h"
#include "ir/support/error.h"
#include "ir/support/vec.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The intern table: open addressing, grown at three quarters full. */
typedef struct Interned {
  const char *text; /* NULL: free */
  uint32_t hash, len;
} Interned;

static struct {
  Interned *at;
  size_t len, cap;
} interned;

static inline uint64_t load(const char *text, size_t n) {
  uint64_t word = 0;
  memcpy(&word, text, n);
  return word;
}

/* Eight bytes at a time, the last of them again with those before where they are fewer. */
static uint32_t hash_bytes(const char *text, size_t n) {
  const uint64_t odd = 0x9fb21c651e98df25u;
  uint64_t h = n * odd;
  const char *at = text, *end = text + n;
  for (; end - at > 8; at += 8) h = (h ^ load(at, 8)) * odd, h ^= h >> 29;
  if (n >= 8) h ^= load(end - 8, 8);
  else if (n >= 4) h ^= load(text, 4) << 32 | load(end - 4, 4);
  else if (n) h ^= load(text, 1) << 16 | load(text + n / 2, 1) << 8 | load(end - 1, 1);
  h *= odd;
  return (uint32_t)(h ^ h >> 32);
}

static Interned *intern_slot(const char *text, size_t n, uint32_t hash) {
  size_t mask = interned.cap - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    Interned *old = &interned.at[i];
    if (!old->text) return old;
    if (old->hash == hash && old->len == n && memcmp(old->text, text, n) == 0) return old;
  }
}

static void intern_grow(void) {
  Interned *old = interned.at;
  size_t n = interned.cap;
  interned.cap = n ? n * 2 : 4096;
  interned.at = NEW_ARRAY(Interned, interned.cap);
  for (size_t i = 0; i < n; i++)
    if (old[i].text) *intern_slot(old[i].text, old[i].len, old[i].hash) = old[i];
}

const char *str_intern_n(const char *text, size_t n) {
  if (interned.len * 4 >= interned.cap * 3) intern_grow();
  uint32_t hash = hash_bytes(text, n);
  Interned *slot = intern_slot(text, n, hash);
  if (!slot->text) {
    *slot = (Interned){str_copy_n(text, n), hash, (uint32_t)n};
    interned.len++;
  }
  return slot->text;
}

const char *str_intern(const char *text) { return str_intern_n(text, strlen(text)); }

const char *str_copy_n(const char *text, size_t n) {
  char *copy = gc_alloc_raw(n + 1);
  memcpy(copy, text, n);
  copy[n] = '\0';
  return copy;
}

void str_reserve(Str *s, size_t more) {
  if (s->len + more + 1 <= s->cap) return;
  if (s->len + more > STR_LEN_MAX)
    error_raisef("MemoryError", (Span){0}, "the text would be longer than 2 GB");
  size_t cap = s->cap < 64 ? 64 : s->cap * 2;
  while (cap < s->len + more + 1) cap *= 2;
  gc_check_growth(cap);
  char *at = gc_alloc_raw(cap);
  if (s->len) memcpy(at, s->at, s->len);
  s->at = at;
  s->cap = cap;
}

void str_add_n(Str *s, const char *text, size_t n) {
  str_reserve(s, n);
  memcpy(s->at + s->len, text, n);
  s->len += n;
  s->at[s->len] = '\0';
}

void str_add(Str *s, const char *text) { str_add_n(s, text, strlen(text)); }

void str_add_char(Str *s, char c) {
  str_reserve(s, 1);
  s->at[s->len++] = c;
  s->at[s->len] = '\0';
}

void str_insert(Str *s, size_t place, const char *text) {
  size_t n = strlen(text), rest = s->len - place;
  str_reserve(s, n);
  memmove(s->at + place + n, s->at + place, rest);
  memcpy(s->at + place, text, n);
  s->len += n;
  s->at[s->len] = '\0';
}

const char *str_text(Str *s) {
  str_reserve(s, 0);
  s->at[s->len] = '\0';
  return s->at;
}

void str_add_quoted(Str *s, const char *text, size_t n) {
  str_add_char(s, '"');
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)text[i];
    switch (c) {
    case '"': str_add(s, "\\\""); break;
    case '\\': str_add(s, "\\\\"); break;
    case '\n': str_add(s, "\\n"); break;
    case '\t': str_add(s, "\\t"); break;
    case '\r': str_add(s, "\\r"); break;
    default:
      if (c < 0x20 || c == 0x7f) str_printf(s, "\\x%02x", c);
      else str_add_char(s, (char)c);
    }
  }
  str_add_char(s, '"');
}

void str_add_json(Str *s, const char *text) {
  static const char escaped[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
  str_add_char(s, '"');
  for (; *text; text++) {
    const char *at = strchr(escaped, *text);
    if (at) str_printf(s, "\\%c", letters[at - escaped]);
    else if ((unsigned char)*text < 0x20) str_printf(s, "\\u%04x", *text);
    else str_add_char(s, *text);
  }
  str_add_char(s, '"');
}

void str_add_double(Str *s, double x) {
  if (isnan(x)) return str_add(s, "nan");
  if (isinf(x)) return str_add(s, x < 0 ? "-inf" : "inf");
  char text[40];
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, x);
    if (strtod(text, NULL) == x) break;
  }
  /* Python's repr: scientific notation only below 1e-4 and from 1e16 on. */
  double size = fabs(x);
  if (strchr(text, 'e') && size >= 1e-4 && size < 1e16) snprintf(text, sizeof text, "%.1f", x);
  str_add(s, text);
  if (!strpbrk(text, ".e")) str_add(s, ".0");
}

/* Optimal string alignment distance (Damerau-Levenshtein without repeated edits), at most `limit`.
 */
static int edit_distance(const char *a, const char *b, int limit) {
  int n = (int)strlen(a), m = (int)strlen(b);
  if (abs(n - m) > limit || n > 100 || m > 100) return limit + 1;
  int d[3][102];
  for (int j = 0; j <= m; j++) d[0][j] = j;
  for (int i = 1; i <= n; i++) {
    int *row = d[i % 3], *up = d[(i + 2) % 3], *up2 = d[(i + 1) % 3];
    row[0] = i;
    for (int j = 1; j <= m; j++) {
      int best = up[j - 1] + (a[i - 1] != b[j - 1]);
      if (up[j] + 1 < best) best = up[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && up2[j - 2] + 1 < best)
        best = up2[j - 2] + 1;
      row[j] = best;
    }
  }
  return d[n % 3][m];
}

const char *str_near(const char *name, const char *const *options, int n) {
  int length = (int)strlen(name);
  int limit = length <= 2 ? 1 : length <= 5 ? 2 : length / 3 + 1;
  const char *best = NULL;
  for (int i = 0; i < n; i++) {
    int d = edit_distance(name, options[i], limit);
    if (d > 0 && d <= limit && d < length) best = options[i], limit = d - 1;
  }
  return best;
}

bool str_in_list(const char *list, const char *name) {
  size_t n = strlen(name);
  if (!*list) return true;
  for (const char *at = list; (at = strstr(at, name)); at += n)
    if ((at == list || at[-1] == ';') && (!at[n] || at[n] == ';')) return true;
  return false;
}
