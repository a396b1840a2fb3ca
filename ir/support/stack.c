/* stack.c -- a large stack is that of a thread which is joined at once: the collector knows how to
 * scan it, and errors come back by protect and raise again. */
#include "ir/support/stack.h"
#include "ir/support/error.h"
#include "ir/support/gc.h"
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* Reserved, not used, until touched. Stacks of this many levels may wait for one another. */
enum { LARGE_STACK = 1 << 30, SMALL_STACK = 64 << 20, LEVELS = 4 };

static _Thread_local uintptr_t
    low_mark; /* addresses below it are the last quarter; 0: not yet known */
static _Thread_local int level;

static uintptr_t find_low_mark(void) {
  pthread_attr_t attr;
  void *base;
  size_t size;
  if (pthread_getattr_np(pthread_self(), &attr) != 0) return 1;
  bool known = pthread_attr_getstack(&attr, &base, &size) == 0;
  pthread_attr_destroy(&attr);
  return known ? (uintptr_t)base + size / 4 : 1;
}

bool stack_is_low(void) {
  if (!low_mark) low_mark = find_low_mark();
  return (uintptr_t)__builtin_frame_address(0) < low_mark;
}

typedef struct Errand {
  void (*fn)(void *context);
  void *context;
  int level;
  Error *error;
} Errand;

static void *run_errand(void *p) {
  Errand *e = p;
  level = e->level;
  gc_thread_begin();
  e->error = protect(e->fn, e->context);
  gc_thread_end();
  return NULL;
}

static bool start(pthread_t *thread, size_t stack_size, Errand *e) {
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  bool ok = pthread_attr_setstacksize(&attr, stack_size) == 0 &&
            pthread_create(thread, &attr, run_errand, e) == 0;
  pthread_attr_destroy(&attr);
  return ok;
}

void stack_run(void (*fn)(void *context), void *context) {
  Errand e = {fn, context, level + 1, NULL};
  pthread_t thread;
  bool started =
      level < LEVELS && (start(&thread, LARGE_STACK, &e) || start(&thread, SMALL_STACK, &e));
  if (!started) error_raisef("RecursionError", (Span){0}, "the program is nested too deeply");
  pthread_join(thread, NULL);
  if (e.error) error_raise(e.error);
}
