/* race.c -- do threads of a block touch the same bytes, one of them to write, with no barrier
 * between them? */
#include "target/interp/interp.h"
#include <stdlib.h>

/* Who touched a byte in an interval: numbers of threads + 1, 0: none. */
struct Touch {
  uint32_t interval, writer, reader;
};

enum { SEVERAL = UINT32_MAX };

static Touch *touches_of(Memory *m) {
  if (!m->touches) m->touches = calloc((size_t)(m->hi - m->lo), sizeof *m->touches);
  return m->touches;
}

int race_note(Memory *m, const char *at, int nbytes, bool writes) {
  Touch *touches = touches_of(m);
  uint32_t me = (uint32_t)interp->thread;
  if (!touches) return 0; /* no room to remember: nothing is found */
  for (int i = 0; i < nbytes; i++) {
    Touch *t = &touches[at - m->lo + i];
    if (t->interval != interp->interval) *t = (Touch){.interval = interp->interval};
    if (t->writer && t->writer != me) return (int)t->writer;
    if (writes && t->reader && t->reader != me) return t->reader == SEVERAL ? -1 : (int)t->reader;
    if (writes) t->writer = me;
    else t->reader = t->reader && t->reader != me ? SEVERAL : me;
  }
  return 0;
}
