/* stack.h -- room for recursion: deep trees are walked by recursion without overflowing the stack.
 *
 * A function that recurses over trees of the user's depth begins with
 *     if (stack_is_low()) { ...; stack_run(again, &args); return args.result; }
 * and then goes on, on a large stack of its own, where it would have run out. */
#ifndef IR_SUPPORT_STACK_H
#define IR_SUPPORT_STACK_H

#include <stdbool.h>

/* Is less than a quarter of this thread's stack left? Costs a comparison. */
bool stack_is_low(void);

/* Calls fn(context) on a large stack and waits for it. What it raises is raised here. Raises
 * RecursionError if there is no memory for another stack. */
void stack_run(void (*fn)(void *context), void *context);

#endif
