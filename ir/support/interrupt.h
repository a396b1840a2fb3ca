/* interrupt.h -- the flag that Ctrl-C sets: long loops look at it and raise KeyboardInterrupt. */
#ifndef IR_SUPPORT_INTERRUPT_H
#define IR_SUPPORT_INTERRUPT_H

#include "ir/support/source.h"

extern volatile int interrupt_pending; /* by a signal handler */
extern volatile int interrupt_outside; /* compiled code runs, which looks at no flag */

void interrupt_raise(Span span); /* and clears the flag */
static inline void interrupt_check(Span span) {
  if (__builtin_expect(interrupt_pending, 0)) interrupt_raise(span);
}

#endif
