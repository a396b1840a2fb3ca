/* source.c -- the source map: texts in the order they were read, searched by offset. */
#include "ir/support/source.h"
#include "ir/support/vec.h"

static VEC(Source *) sources;

const Source *source_add(const char *name, const char *text, size_t len) {
  uint64_t base =
      sources.len ? (uint64_t)vec_last(&sources)->base + vec_last(&sources)->len + 1 : 1;
  if (base + len >= UINT32_MAX) return NULL;
  Source *s = NEW(Source, .name = name, .text = text, .len = (uint32_t)len, .base = (uint32_t)base);
  vec_push(&sources, s);
  return s;
}

const Source *source_at(uint32_t offset) {
  int lo = 0, hi = sources.len;
  while (lo < hi) {
    int mid = (lo + hi) / 2;
    if (sources.at[mid]->base <= offset) lo = mid + 1;
    else hi = mid;
  }
  return lo && offset ? sources.at[lo - 1] : NULL;
}

Location source_locate(uint32_t offset) {
  const Source *s = source_at(offset);
  if (!s) return (Location){0};
  uint32_t at = offset - s->base;
  if (at > s->len) at = s->len;
  Location loc = {.source = s, .line = 1, .column = 1};
  uint32_t start = 0;
  for (uint32_t i = 0; i < at; i++)
    if (s->text[i] == '\n') loc.line++, start = i + 1;
  for (uint32_t i = start; i < at; i++)
    if ((s->text[i] & 0xc0) != 0x80) loc.column++;
  loc.line_text = s->text + start;
  const char *end = memchr(loc.line_text, '\n', s->len - start);
  loc.line_length = end ? (size_t)(end - loc.line_text) : s->len - start;
  return loc;
}
