/* interrupt.c -- Ctrl-C: sets the flag that running scripts look at. */
#include <signal.h> /* first: value.h has a macro of the name `raise` */
#include <unistd.h>
#include "lang/tool/tool.h"
#include "ir/support/interrupt.h"

static bool second_ends;

static void on_interrupt(int number) {
  static const char waits[] =
      "\na compiled function is running and is waited for; Ctrl-C again ends the program\n";
  if (interrupt_pending && (second_ends || interrupt_outside)) { /* what runs does not look */
    signal(number, SIG_DFL);
    kill(getpid(), number);
  } else if (interrupt_outside && write(STDERR_FILENO, waits, sizeof waits - 1) < 0) {
    signal(number, SIG_DFL); /* there is nobody to tell */
  }
  interrupt_pending = 1;
}

void tool_take_interrupts(bool second_one_ends) {
  struct sigaction action = {.sa_handler = on_interrupt}; /* no SA_RESTART: a read ends */
  second_ends = second_one_ends;
  sigaction(SIGINT, &action, NULL);
}
