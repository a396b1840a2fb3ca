/* objects.c -- what a call holds of the runtime's: references, open frames, the C stack. */
#include "target/interp/interp.h"
#include <pthread.h>

_Noreturn void fault(Span span, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *text = str_vformat(format, args);
  va_end(args);
  error_raisef("RuntimeError", span, "%s", text);
}

_Noreturn void fault_runtime(Span span) {
  error_raisef(str_intern(tvms_last_error_kind()), span, "%s", tvms_last_error());
}

Mark interp_mark(void) { return (Mark){interp->made.len, interp->objects.len, interp->frames.len}; }

void interp_own(void *object) { vec_push(&interp->objects, object); }

void interp_release(Mark mark) {
  while (interp->frames.len > mark.frames) tvms_frame_fail(vec_pop(&interp->frames));
  memory_release(mark.memory);
  while (interp->objects.len > mark.objects) tvms_release(vec_pop(&interp->objects));
}

/* ---- the C stack ---- */

enum { RESERVE = 1 << 20 };

static _Thread_local char *lowest; /* what frames must stay above */

static char *measure_stack(void) {
  pthread_attr_t attr;
  void *low = NULL;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attr) == 0) {
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);
  }
  return low ? (char *)low + (size > 4 * RESERVE ? RESERVE : size / 4) : (char *)1;
}

void interp_check_depth(const char *name, Span span) {
  if (!lowest) lowest = measure_stack();
  if ((char *)__builtin_frame_address(0) < lowest)
    fault(span, "'%s' is nested too deeply: the recursion does not end, or is too long", name);
}
