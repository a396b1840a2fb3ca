/* plan.c -- offsets in one arena for items that live from place to place.
 *
 * Greedy by size, as Pisarchyk and Lee describe it ("Efficient Memory Management for Deep Neural
 * Net Inference", 2020): the largest item first, each into the smallest gap that it fits between
 * those placed already whose lives meet its own. Where that stays above the lower bound, other
 * orders are tried, and the best plan is kept. */
#include "lower/memory/memory.h"
#include <stdlib.h>

int64_t plan_lower_bound(const PlanItems *items, int places) {
  int64_t *change = NEW_ARRAY(int64_t, places + 2), live = 0, most = 0;
  for each (const PlanItem, item, items)
    for each (const Segment, s, &item->life->segments) {
      change[s->begin] += item->size;
      change[s->end + 1] -= item->size;
    }
  for (int i = 0; i <= places; i++) {
    live += change[i];
    if (live > most) most = live;
  }
  return most;
}

/* ---- orders ---- */

typedef struct Order {
  int64_t key;
  int item;
} Order;

static int by_key(const void *a, const void *b) {
  const Order *x = a, *y = b;
  if (x->key != y->key) return x->key > y->key ? -1 : 1;
  return x->item - y->item;
}

static int64_t length_of(const Life *l) {
  int64_t n = 0;
  for each (const Segment, s, &l->segments) n += s->end - s->begin + 1;
  return n;
}

static int64_t key_size(const PlanItem *i) { return i->size; }
static int64_t key_area(const PlanItem *i) { return i->size * length_of(i->life); }
static int64_t key_length(const PlanItem *i) { return length_of(i->life); }
static int64_t key_first(const PlanItem *i) { return -(int64_t)i->life->at; }

/* ---- neighbours ---- */

typedef struct Stay {
  int begin, end, item;
} Stay;

static int by_begin(const void *a, const void *b) {
  const Stay *x = a, *y = b;
  return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1) : x->item - y->item;
}

static void note_near(PlanItem *item, int other) {
  for (int i = item->near.len - 1; i >= 0; i--)
    if (item->near.at[i] == other) return;
  vec_push(&item->near, other);
}

/* From place to place with those that are alive: chains have many items, but few at a time. */
static void find_neighbours(PlanItems *items) {
  VEC(Stay) stays = {0}, alive = {0};
  for (int i = 0; i < items->len; i++) {
    items->at[i].near = (IntVec){0};
    for each (const Segment, s, &items->at[i].life->segments)
      vec_push(&stays, ((Stay){s->begin, s->end, i}));
  }
  qsort(stays.at, (size_t)stays.len, sizeof *stays.at, by_begin);
  for each (const Stay, now, &stays) {
    int kept = 0;
    for (int i = 0; i < alive.len; i++) {
      Stay other = alive.at[i];
      if (other.end < now->begin) continue;
      alive.at[kept++] = other;
      if (other.item == now->item) continue;
      note_near(&items->at[now->item], other.item);
      note_near(&items->at[other.item], now->item);
    }
    alive.len = kept;
    vec_push(&alive, *now);
  }
}

/* ---- placing ---- */

static int by_offset(const void *a, const void *b) {
  const PlanItem *x = *(const PlanItem *const *)a, *y = *(const PlanItem *const *)b;
  return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* The start of the smallest gap between neighbours (in order of offsets) that holds the size. */
static int64_t best_gap(PlanItem **neighbours, int n, int64_t size) {
  int64_t end = 0, best = -1, best_room = INT64_MAX;
  for (int i = 0; i < n; i++) {
    int64_t room = neighbours[i]->offset - end;
    if (room >= size && room < best_room) best = end, best_room = room;
    int64_t next = neighbours[i]->offset + neighbours[i]->size;
    if (next > end) end = next;
  }
  return best >= 0 ? best : end;
}

static int64_t place_in_order(PlanItems *items, const Order *order) {
  PlanItem **near = NEW_ARRAY(PlanItem *, items->len + 1);
  int64_t top = 0;
  for (int i = 0; i < items->len; i++) items->at[i].offset = -1;
  for (int k = 0; k < items->len; k++) {
    PlanItem *item = &items->at[order[k].item];
    int n = 0;
    for each (int, other, &item->near)
      if (items->at[*other].offset >= 0) near[n++] = &items->at[*other];
    qsort(near, (size_t)n, sizeof *near, by_offset);
    item->offset = best_gap(near, n, item->size);
    if (item->offset + item->size > top) top = item->offset + item->size;
  }
  return top;
}

int64_t plan_items(PlanItems *items) {
  static int64_t (*const keys[])(const PlanItem *) = {key_size, key_area, key_length, key_first};
  int64_t best = INT64_MAX, bound = 0;
  int64_t *offsets = NEW_ARRAY(int64_t, items->len + 1);
  Order *order = NEW_ARRAY(Order, items->len + 1);
  int places = 0;
  for each (const PlanItem, item, items)
    for each (const Segment, s, &item->life->segments)
      if (s->end > places) places = s->end;
  bound = plan_lower_bound(items, places);
  find_neighbours(items);
  for (size_t k = 0; k < sizeof keys / sizeof *keys && best > bound; k++) {
    for (int i = 0; i < items->len; i++) order[i] = (Order){keys[k](&items->at[i]), i};
    qsort(order, (size_t)items->len, sizeof *order, by_key);
    int64_t top = place_in_order(items, order);
    if (top >= best) continue;
    best = top;
    for (int i = 0; i < items->len; i++) offsets[i] = items->at[i].offset;
  }
  for (int i = 0; i < items->len; i++) items->at[i].offset = offsets[i];
  return best;
}

const int *plan_order(const PlanItems *items) {
  Order *order = NEW_ARRAY(Order, items->len + 1);
  int *out = NEW_ARRAY(int, items->len + 1);
  for (int i = 0; i < items->len; i++) order[i] = (Order){-items->at[i].offset, i};
  qsort(order, (size_t)items->len, sizeof *order, by_key);
  for (int i = 0; i < items->len; i++) out[i] = order[i].item;
  return out;
}
