/* command.h -- running other programs: compilers and linkers. */
#ifndef TARGET_COMMAND_H
#define TARGET_COMMAND_H

#include "ir/ir.h"

/* Runs a program of PATH and waits for it. words: NULL at the end. False if there is none of that
 * name. *status is that of waitpid, *said what it wrote. Raises if it can't be started. */
bool command_run(const char *const *words, int *status, const char **said);

#endif
