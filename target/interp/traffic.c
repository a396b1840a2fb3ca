/* traffic.c -- what accesses of memory cost a GPU, by line: the words that the threads of a warp
 * touch in one bank of shared memory at a time, and the sectors of global memory that their bytes
 * lie in.
 *
 * The figures are those of NVIDIA's: 32 banks of 4 bytes, where threads that want one word are
 * served at once; accesses of 8 and 16 bytes go in two and four parts; sectors of 32 bytes. */
#include "target/interp/check.h"
#include "target/target.h"
#include <inttypes.h>
#include <stdlib.h>

enum { BANKS = 32, WORD = 4, SECTOR = 32, MOST_LANES = 64 };

/* What one thread touches. */
typedef struct Touched {
  int thread;
  int64_t at; /* in the memory */
  int nbytes;
} Touched;

/* The accesses of a site by the threads of one warp, as they come. */
typedef struct Traffic {
  uint32_t site;
  const Memory *memory;
  uint32_t block;
  int64_t warp;
  int n;
  Touched lanes[MOST_LANES];
  int64_t accesses, conflicts; /* of warps; more turns than one each */
  int64_t sectors, least;      /* touched, and as few as can be */
} Traffic;

static Map by_site; /* number to its Traffic */
static VEC(Traffic *) all;

/* ---- counting ---- */

/* The turns that lanes [from, to) need: words that are not the same, in the fullest bank. */
static int turns(const Traffic *t, int from, int to) {
  int64_t words[BANKS][MOST_LANES];
  int count[BANKS] = {0}, most = 1;
  for (int i = from; i < to; i++)
    for (int64_t w = t->lanes[i].at / WORD; w * WORD < t->lanes[i].at + t->lanes[i].nbytes; w++) {
      int bank = (int)(w % BANKS), k = 0;
      while (k < count[bank] && words[bank][k] != w) k++;
      if (k == count[bank] && k < MOST_LANES) words[bank][count[bank]++] = w;
      if (count[bank] > most) most = count[bank];
    }
  return most;
}

static void count_banks(Traffic *t) {
  int widest = WORD;
  for (int i = 0; i < t->n; i++)
    if (t->lanes[i].nbytes > widest) widest = t->lanes[i].nbytes;
  int part = BANKS * WORD / widest;
  for (int i = 0; i<t->n; i += part> 0 ? part : 1)
    t->conflicts += turns(t, i, i + part < t->n ? i + part : t->n) - 1;
}

static int by_place(const void *a, const void *b) {
  const Touched *x = a, *y = b;
  return (x->at > y->at) - (x->at < y->at);
}

static void count_sectors(Traffic *t) {
  int64_t last = -1, end = 0, bytes = 0;
  qsort(t->lanes, (size_t)t->n, sizeof *t->lanes, by_place);
  for (int i = 0; i < t->n; i++) {
    int64_t from = t->lanes[i].at, to = from + t->lanes[i].nbytes;
    for (int64_t s = from / SECTOR; s * SECTOR < to; s++)
      if (s > last) last = s, t->sectors++;
    if (from < end) from = end;
    if (to > from) bytes += to - from, end = to;
  }
  t->least += (bytes + SECTOR - 1) / SECTOR;
}

static void finish(Traffic *t) {
  if (!t->n) return;
  t->accesses++;
  if (site_at(t->site)->is_shared) count_banks(t);
  else count_sectors(t);
  t->n = 0;
}

void traffic_end(void) {
  for each (Traffic *, t, &all) finish(*t);
}

static Traffic *traffic_of(uint32_t site) {
  const void *key = (const void *)(uintptr_t)site;
  Traffic *t = map_get(&by_site, key);
  if (t) return t;
  t = NEW(Traffic, .site = site);
  map_set(&by_site, key, t);
  vec_push(&all, t);
  return t;
}

void traffic_note(uint32_t site, const Memory *m, const char *at, int nbytes, bool is_shared) {
  (void)is_shared;
  Traffic *t = traffic_of(site);
  const Checker *c = interp->checker;
  int thread = interp->thread - 1;
  int64_t warp = thread / (c->warp > 0 ? c->warp : 1), place = at - m->lo;
  Touched *last = t->n ? &t->lanes[t->n - 1] : NULL;
  bool goes_on = last && last->thread == thread && last->at + last->nbytes == place;
  bool same = t->memory == m && t->warp == warp && t->block == c->block;
  if (goes_on && same) {
    last->nbytes += nbytes;
    return;
  }
  if (!same || (last && last->thread >= thread) || t->n == MOST_LANES) finish(t);
  t->memory = m;
  t->warp = warp;
  t->block = c->block;
  t->lanes[t->n++] = (Touched){thread, place, nbytes};
}

/* ---- the table ---- */

typedef struct Row {
  const char *place;
  const Site *site;
  int64_t accesses, conflicts, sectors, least;
} Row;

static int by_name(const void *a, const void *b) {
  const Row *x = a, *y = b;
  Location p = source_locate(x->site->span.lo), q = source_locate(y->site->span.lo);
  int order = strcmp(p.source ? p.source->name : "", q.source ? q.source->name : "");
  return order ? order : p.line != q.line ? p.line - q.line : strcmp(x->place, y->place);
}

static Row *row_of(Map *rows, const Traffic *t) {
  const Site *s = site_at(t->site);
  Location l = source_locate(s->span.lo);
  const char *place = str_format("%s:%d", l.source ? l.source->name : "?", l.line);
  const char *key = str_intern(str_format("%s %s %s", place, s->name, s->doing));
  Row *r = map_get(rows, key);
  if (!r) map_set(rows, key, r = NEW(Row, .place = place, .site = s));
  return r;
}

const char *sanitizer_report(void) {
  Map rows = {0};
  Str out = {0};
  VEC(Row) sorted = {0};
  traffic_end();
  for each (Traffic *, t, &all) {
    Row *r = row_of(&rows, *t);
    r->accesses += (*t)->accesses;
    r->conflicts += (*t)->conflicts;
    r->sectors += (*t)->sectors;
    r->least += (*t)->least;
  }
  for each (MapEntry, e, &rows)
    if (e->key) vec_push(&sorted, *(Row *)e->value);
  if (!sorted.len) return "";
  qsort(sorted.at, (size_t)sorted.len, sizeof *sorted.at, by_name);
  str_printf(&out, "%-32s %-6s %-20s %10s %10s %10s %10s %6s\n", "line", "access", "buffer",
             "warps", "conflicts", "sectors", "at least", "");
  for each (Row, r, &sorted) {
    const Site *s = r->site;
    str_printf(&out, "%-32s %-6s %-20s %10" PRId64, r->place, s->doing, s->name, r->accesses);
    if (s->is_shared) str_printf(&out, " %10" PRId64 "\n", r->conflicts);
    else
      str_printf(&out, " %10s %10" PRId64 " %10" PRId64 " %5.0f%%\n", "", r->sectors, r->least,
                 r->sectors ? 100.0 * (double)r->least / (double)r->sectors : 100.0);
  }
  return str_text(&out);
}
