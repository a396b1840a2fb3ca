/* stack.c -- how deep the C stack may grow.
 *
 * The evaluator recurses as scripts do. Each thread's limit is an address: below it a call is a
 * RecursionError, with room left for the error's own work and for a compiler back end. */
#include "lang/value/object.h"
#include <pthread.h>
#include <sys/resource.h>

_Thread_local char *stack_limit;

enum { RESERVE = 1536 << 10, LARGEST = 64 << 20, USUAL = 8 << 20 };

void stack_start(void) {
  struct rlimit limit;
  size_t size = USUAL;
  if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    size = limit.rlim_cur < LARGEST ? (size_t)limit.rlim_cur : LARGEST;
  size_t reserve = size > 2 * RESERVE ? RESERVE : size / 2;
  stack_limit = (char *)__builtin_frame_address(0) - (size - reserve);
}

/* The limit of a thread that is not the main one. */
static void measure(void) {
  pthread_attr_t attr;
  void *low = NULL;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attr) == 0) {
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);
  }
  stack_limit = low ? (char *)low + (size > 2 * RESERVE ? RESERVE : size / 2) : (char *)1;
}

void stack_exceeded(Span span) {
  if (!stack_limit) measure();
  if ((char *)__builtin_frame_address(0) >= stack_limit) return;
  raise("RecursionError", span, "maximum recursion depth exceeded");
}
