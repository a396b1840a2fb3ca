/* mro.c -- the order in which a class and those above it are searched.
 *
 * It is the C3 linearisation (Barrett et al., "A Monotonic Superclass Linearization for Dylan",
 * OOPSLA 1996), which Python uses: a class before its bases, bases in the order given, and the
 * order of every base kept. */
#include "lang/value/object.h"

static bool in_tail(const ClassVec *list, const ClassObject *c) {
  for (int i = 1; i < list->len; i++)
    if (list->at[i] == c) return true;
  return false;
}

/* The first head of a list that is behind in none; NULL if there is none. */
static ClassObject *next_class(const ClassVec *lists, int n) {
  for (int i = 0; i < n; i++) {
    if (!lists[i].len) continue;
    bool waits = false;
    for (int k = 0; k < n; k++) waits |= in_tail(&lists[k], lists[i].at[0]);
    if (!waits) return lists[i].at[0];
  }
  return NULL;
}

static bool all_empty(const ClassVec *lists, int n) {
  for (int i = 0; i < n; i++)
    if (lists[i].len) return false;
  return true;
}

static const char *names_of(const ClassVec *classes) {
  Str out = {0};
  for each (ClassObject *, c, classes) str_printf(&out, "%s%s", out.len ? ", " : "", (*c)->name);
  return str_text(&out);
}

void class_set_line(ClassObject *c, Span span) {
  int n = c->bases.len + 1;
  ClassVec *lists = gc_alloc(sizeof *lists * (size_t)n); /* what is left of each */
  for (int i = 0; i < c->bases.len; i++) lists[i] = c->bases.at[i]->line;
  lists[n - 1] = c->bases;
  c->line = (ClassVec){0};
  vec_push(&c->line, c);
  while (!all_empty(lists, n)) {
    ClassObject *next = next_class(lists, n);
    if (!next)
      raise("TypeError", span,
            "Cannot create a consistent method resolution order (MRO) for bases %s",
            names_of(&c->bases));
    vec_push(&c->line, next);
    for (int i = 0; i < n; i++)
      if (lists[i].len && lists[i].at[0] == next) lists[i].at++, lists[i].len--;
  }
}
