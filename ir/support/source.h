/* source.h -- the source map: every text that was read, end to end, so that a span is two numbers.
 *
 * Offset 0 belongs to no file, so {0, 0} is "no place known". */
#ifndef IR_SUPPORT_SOURCE_H
#define IR_SUPPORT_SOURCE_H

#include <stddef.h>
#include <stdint.h>

typedef struct Span {
  uint32_t lo, hi; /* bytes [lo, hi) of the source map */
} Span;

typedef struct Source {
  const char *name; /* as the user wrote it: a path, "<stdin>", "<repl>" */
  const char *text; /* ends in NUL; may hold others */
  uint32_t len;     /* bytes, without the last NUL */
  uint32_t base;    /* offset of the first byte in the source map */
} Source;

typedef struct Location {
  const Source *source;  /* NULL: unknown */
  int line, column;      /* from 1; the column counts characters, not bytes */
  const char *line_text; /* start of the line in source->text */
  size_t line_length;    /* bytes, without the newline */
} Location;

/* Adds a text to the map (it is kept, not copied). NULL if the map would pass 4 GB. */
const Source *source_add(const char *name, const char *text, size_t len);

const Source *source_at(uint32_t offset); /* NULL: unknown */
Location source_locate(uint32_t offset);

/* The smallest span that covers both; one without a place gives the other. */
static inline Span span_join(Span a, Span b) {
  if (!a.hi) return b;
  if (!b.hi) return a;
  return (Span){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

#endif
