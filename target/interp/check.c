/* check.c -- the faults that a Checker has found, and the sites they are told by. See check.h. */
#include "target/interp/check.h"

/* ---- sites ---- */

static VEC(Site) sites;

uint32_t site_new(Site s) {
  if (!sites.len) vec_push(&sites, ((Site){0})); /* 0 is none */
  vec_push(&sites, s);
  return (uint32_t)sites.len - 1;
}

const Site *site_at(uint32_t number) { return &sites.at[number]; }

/* ---- texts ---- */

const char *thread_text(uint32_t block, int thread) {
  const Checker *c = interp->checker;
  if (!c) return str_format("thread %d", thread);
  int x = c->threads[0], y = c->threads[1];
  int64_t bx = c->grid[0], by = c->grid[1];
  return str_format("thread (%d, %d, %d) of block (%lld, %lld, %lld)", thread % x, thread / x % y,
                    thread / x / y, (long long)(block % bx), (long long)(block / bx % by),
                    (long long)(block / bx / by));
}

const char *thread_here(void) {
  return thread_text(interp->checker ? interp->checker->block : 0,
                     interp->thread ? interp->thread - 1 : 0);
}

/* ---- faults ---- */

enum { MOST_FAULTS = 100 };

void found_fault(DiagCode code, Span span, Span other, const char *note, const char *help,
                 const char *format, ...) {
  Checker *c = interp->checker;
  va_list args;
  va_start(args, format);
  const char *text = str_vformat(format, args);
  va_end(args);
  if (!c) fault(span, "%s", text);
  const char *place = str_format("%d %u %u", code, span.lo, other.lo);
  if (map_has(&c->known, str_intern(place)) || c->found.len >= MOST_FAULTS) return;
  map_set(&c->known, str_intern(place), c);
  DiagVec *outer = diag_capture();
  Diag *d = diag_fault(code, span, "%s", text);
  if (note) diag_note(d, other, "%s", note);
  if (help) diag_help(d, "%s", help);
  diag_restore(outer);
  vec_push(&c->found, d);
}

void check_launch(const PrimFunc *f) {
  Checker *c = interp->checker;
  if (!dict_get_int(f->attrs, "tvms.device", 0)) return;
  c->launch++;
  for (int i = 0; i < 3; i++) c->grid[i] = c->threads[i] = 1, c->at[i] = 0;
  c->block = 0;
}

const DiagVec *check_result(Checker *c) {
  if (!c->found.len) return NULL;
  DiagVec *out = NEW(DiagVec, 0);
  for each (Diag *, d, &c->found) vec_push(out, *d);
  return out;
}
