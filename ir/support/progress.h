/* progress.h -- a line on the terminal that tells what long work is at. */
#ifndef IR_SUPPORT_PROGRESS_H
#define IR_SUPPORT_PROGRESS_H

#include <stdbool.h>

void progress_enable(bool on); /* off at first */
/* Shows the text in the place of what was shown, if work has taken long enough to ask for it. */
void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Work is at its end: nothing is left of the line. */
void progress_clear(void);

#endif
