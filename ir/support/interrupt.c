/* interrupt.c -- the flag that interrupts what runs. */
#include "ir/support/interrupt.h"
#include "ir/support/error.h"

volatile int interrupt_pending, interrupt_outside;

void interrupt_raise(Span span) {
  interrupt_pending = 0;
  error_raisef("KeyboardInterrupt", span, "interrupted");
}
