/* gc.c -- the only file that knows the Boehm collector, and the one place where memory runs out. */
#include "ir/support/gc.h"
#include "ir/support/error.h"
#include "ir/support/vec.h"
#define GC_THREADS
#include <gc.h>
#include <gc/gc_inline.h>
#include <gc/gc_mark.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static VEC(void *) roots;

/* Small objects that are free, zeroed but for the link to the next one, by size in granules. The
 * main thread takes from them without asking the collector, which sees them from here. They are of
 * a kind of their own: in that of GC_MALLOC the last word is not scanned, as no request needs it.
 */
enum { GRANULE = GC_GRANULE_BYTES, SMALL = 256 };
static void *free_objects[SMALL / GRANULE + 1];
static int kind;
static _Thread_local bool is_main;

static void *out_of_memory(size_t n) {
  fprintf(stderr, "tvms: out of memory (a request of %zu bytes failed)\n", n);
  fflush(NULL);
  _exit(71); /* what would be done at the end may need memory, or be half loaded */
}

/* The kernel clears a huge page in a third of the time that as many small ones take. The collector
 * tells only between which addresses its heap lies; a gap is no harm, nor what else lies there. */
static void take_huge_pages(GC_word heap_size) {
  (void)heap_size;
  uintptr_t start = (uintptr_t)GC_least_plausible_heap_addr & ~(uintptr_t)0xffff;
  madvise((void *)start, (uintptr_t)GC_greatest_plausible_heap_addr - start, MADV_HUGEPAGE);
}

void gc_start(void) {
  GC_set_all_interior_pointers(1);
  GC_set_handle_fork(1); /* `tvms test` forks */
  GC_INIT();
  GC_allow_register_threads();
  GC_set_warn_proc(GC_ignore_warn_proc);
  GC_set_oom_fn(out_of_memory);
  GC_set_on_heap_resize(take_huge_pages);
  GC_set_free_space_divisor(1); /* nodes live long: collect seldom */
  GC_expand_hp(32u << 20);      /* what fits a cache is collected before it grows */
  kind = (int)GC_new_kind(GC_new_free_list(), GC_DS_LENGTH, /* whole objects */ true, true);
  is_main = true;
}

void gc_expect(size_t n) {
  enum { SLACK = 2 << 20, MOST = 1 << 30 };
  if (n > MOST) n = MOST;
  if (GC_get_free_bytes() < n) GC_expand_hp(n + SLACK); /* refused: it grows as it is used */
}

static void *alloc_any(size_t n) {
  void *p = GC_MALLOC(n);
  return p ? p : out_of_memory(n);
}

static void *alloc_small(size_t granules) {
  void **list = &free_objects[granules], **p = *list;
  if (!p) {
    GC_generic_malloc_many(granules * GRANULE, kind, list);
    if (!(p = *list)) return out_of_memory(granules * GRANULE);
  }
  *list = *p;
  *p = NULL;
  return p;
}

void *gc_alloc(size_t n) { /* with a byte behind, as loops may keep a pointer to the end only */
  return is_main && n < SMALL ? alloc_small(n / GRANULE + 1) : alloc_any(n);
}

void *gc_alloc_struct(size_t n) {
  return is_main && n <= SMALL ? alloc_small((n + GRANULE - 1) / GRANULE) : alloc_any(n);
}

void *gc_alloc_atomic(size_t n) { return memset(gc_alloc_raw(n), 0, n); }

void *gc_alloc_raw(size_t n) {
  void *p = GC_MALLOC_ATOMIC(n);
  return p ? p : out_of_memory(n);
}

static size_t memory_of_machine(void) {
  return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

static size_t in_use(void) { return GC_get_heap_size() - GC_get_free_bytes(); }

void gc_check_growth(size_t n) {
  enum { LARGE = 16 << 20 };
  if (n < LARGE) return;
  size_t memory = memory_of_machine();
  bool fits = n <= memory / 16;
  if (fits && in_use() + n > memory / 4) {
    GC_gcollect();
    fits = in_use() + n <= memory / 4;
  }
  if (!fits)
    error_raisef("MemoryError", (Span){0},
                 "%.1f GB would be needed for one value, and %.1f GB of %.1f GB are in use",
                 (double)n * 1e-9, (double)in_use() * 1e-9, (double)memory * 1e-9);
}

void *gc_grow(void *old, size_t n) {
  gc_check_growth(n);
  if (!old) return gc_alloc(n);
  size_t had = GC_size(old);
  return n <= had ? old : memcpy(gc_alloc(n), old, had);
}

void gc_root(void *p) { vec_push(&roots, p); }

void gc_thread_begin(void) {
  struct GC_stack_base base;
  if (GC_get_stack_base(&base) == GC_SUCCESS) GC_register_my_thread(&base);
}

void gc_thread_end(void) { GC_unregister_my_thread(); }

void gc_foreign(ptrdiff_t nbytes) {
  static ptrdiff_t held, collect_at = 256 << 20;
  held += nbytes;
  if (nbytes <= 0 || held < collect_at) return;
  GC_gcollect();
  GC_invoke_finalizers();
  collect_at = held * 2 > 256 << 20 ? held * 2 : 256 << 20;
}

static void run_finalizer(void *p, void *fn) {
  void (*call)(void *);
  memcpy(&call, &fn, sizeof call); /* ISO C has no cast from object to function pointer */
  call(p);
}

void gc_finalizer(void *p, void (*fn)(void *)) {
  void *data;
  memcpy(&data, &fn, sizeof data);
  GC_register_finalizer_no_order(p, run_finalizer, data, NULL, NULL);
}
