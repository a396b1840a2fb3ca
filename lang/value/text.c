/* text.c -- searching in a stretch of bytes: what the methods of str and of bytes share. */
#include "lang/value/object.h"

bool text_begins(Text t, Text part) {
  return part.len <= t.len && memcmp(t.at, part.at, part.len) == 0;
}

bool text_ends(Text t, Text part) {
  return part.len <= t.len && memcmp(t.at + t.len - part.len, part.at, part.len) == 0;
}

const char *text_find(Text t, Text part, bool last) {
  if (!last) return memmem(t.at, t.len, part.at, part.len);
  for (size_t i = t.len - part.len + 1; part.len <= t.len && i-- > 0;)
    if (memcmp(t.at + i, part.at, part.len) == 0) return t.at + i;
  return NULL;
}

int64_t text_count(Text t, Text part) {
  int64_t n = 0;
  for (const char *at = t.at, *end = t.at + t.len;
       (at = memmem(at, (size_t)(end - at), part.at, part.len)); at += part.len)
    n++;
  return n;
}
