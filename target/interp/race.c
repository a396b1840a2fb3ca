/* race.c -- do threads touch the same bytes, one of them to write, with nothing that orders them?
 *
 * Threads of a block are ordered by the barriers between them, threads of a warp by those of the
 * warp, too; blocks of one launch by nothing; atomics among each other need no order. What is
 * remembered of each piece of memory is who wrote it last, and two who read it, of different
 * blocks or threads if there were: then each pair that is not ordered is seen when the second of
 * the two comes, or another pair was seen before. */
#include "target/interp/check.h"
#include <stdlib.h>

typedef struct Who {
  uint32_t site, block, thread, interval, warp_interval; /* site 0: nobody */
} Who;

/* Of a piece of memory, in one launch. */
struct Touch {
  uint32_t launch;
  Who writer, readers[2];
};

/* ---- pieces: as large as the accesses, and single bytes where these differ ---- */

static bool fits(const Memory *m, const char *at, int nbytes) {
  return (at - m->lo) % m->piece == 0 && nbytes % m->piece == 0;
}

static void split_pieces(Memory *m) {
  size_t n = (size_t)(m->hi - m->lo);
  Touch *single = calloc(n, sizeof *single);
  for (size_t i = 0; single && i < n; i++) single[i] = m->touches[i / (size_t)m->piece];
  free(m->touches);
  m->touches = single;
  m->piece = 1;
}

static Touch *touches_of(Memory *m, const char *at, int nbytes) {
  if (!m->touches) {
    m->piece = nbytes == 1 || nbytes == 2 || nbytes == 8 ? nbytes : 4;
    if (!fits(m, at, nbytes)) m->piece = 1;
    size_t n = ((size_t)(m->hi - m->lo) + (size_t)m->piece - 1) / (size_t)m->piece;
    m->touches = calloc(n, sizeof *m->touches);
    if (interp->checker)
      m->of_launch = interp->checker->launch, m->of_block = interp->checker->block;
  }
  if (m->touches && !fits(m, at, nbytes)) split_pieces(m);
  return m->touches ? m->touches + (at - m->lo) / m->piece : NULL;
}

void race_reset(Memory *m) {
  const Checker *c = interp->checker;
  if (c && m->of_launch == c->launch && m->of_block == c->block) return;
  free(m->touches);
  m->touches = NULL;
  m->products = NULL;
}

/* ---- order ---- */

static uint32_t warp_of(const Who *w) {
  int64_t size = interp->checker ? interp->checker->warp : 1;
  return w->thread / (uint32_t)(size > 0 ? size : 1);
}

static bool ordered(const Who *a, const Who *b) {
  if (!a->site) return true;
  if (site_at(a->site)->is_atomic && site_at(b->site)->is_atomic) return true;
  if (a->block != b->block) return false;
  if (a->thread == b->thread || a->interval != b->interval) return true;
  return warp_of(a) == warp_of(b) && a->warp_interval < b->warp_interval;
}

/* Is it a reader of the same block whom a barrier parts from us? */
static bool is_past(const Who *r, const Who *me) {
  if (r->block != me->block) return false;
  return r->interval != me->interval ||
         (warp_of(r) == warp_of(me) && r->warp_interval < me->warp_interval);
}

/* Two readers are enough: of different blocks if there were, else of different warps, else of
 * different threads. */
static void note_reader(Touch *t, const Who *me) {
  Who *r = t->readers;
  for (int i = 0; i < 2; i++)
    if (!r[i].site || (r[i].block == me->block && r[i].thread == me->thread)) {
      r[i] = *me;
      return;
    }
  bool one_block = r[0].block == r[1].block, one_warp = warp_of(&r[0]) == warp_of(&r[1]);
  if (one_block && r[0].block != me->block) r[1] = *me;
  else if (is_past(&r[1], me)) r[1] = *me;
  else if (is_past(&r[0], me)) r[0] = *me;
  else if (one_block && one_warp && warp_of(me) != warp_of(&r[0])) r[1] = *me;
}

/* ---- telling ---- */

static void tell(const Who *a, const Who *b, const char *index) {
  const Site *was = site_at(a->site), *is = site_at(b->site);
  bool blocks = a->block != b->block;
  const char *here = thread_text(b->block, (int)b->thread),
             *there = thread_text(a->block, (int)a->thread);
  const char *help =
      blocks ? "blocks run in any order: give each its own elements, or use T.cuda.atomic_add"
             : "put T.tvm_storage_sync(\"shared\") between the two";
  found_fault(blocks ? E0602 : E0601, is->span, was->span,
              str_format("the %s of '%s' by %s", was->doing, was->name, there), help,
              "data race%s: the %s of '%s[%s]' by %s, and the %s by %s, with %s between",
              blocks ? " between blocks" : "", is->doing, is->name, index, here, was->doing, there,
              blocks ? "no order" : "no barrier");
}

void race_note(Memory *m, const char *at, int nbytes, bool writes, uint32_t site,
               const char *index_of(const void *context), const void *context) {
  const Checker *c = interp->checker;
  Touch *t = touches_of(m, at, nbytes);
  if (c && c->running && !writes) product_reads(m, at, nbytes);
  if (c && m->products && writes) product_overwritten(m, at, nbytes, site);
  if (!t) return; /* no room to remember: nothing is found */
  Who me = {site, c ? c->block : 0, (uint32_t)interp->thread - 1, interp->interval,
            interp->warp_interval};
  const Who *other = NULL;
  uint32_t launch = c ? c->launch : 0;
  for (int i = 0; i < nbytes / m->piece; i++, t++) {
    if (t->launch != launch) *t = (Touch){.launch = launch};
    if (!ordered(&t->writer, &me)) other = &t->writer;
    for (int k = 0; k < 2 && writes && !other; k++)
      if (!ordered(&t->readers[k], &me)) other = &t->readers[k];
    if (other) tell(other, &me, index_of(context));
    other = NULL;
    if (writes) t->writer = me;
    else note_reader(t, &me);
  }
}
