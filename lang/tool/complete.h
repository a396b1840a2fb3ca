/* complete.h -- completion of names in the REPL. */
#ifndef LANG_TOOL_COMPLETE_H
#define LANG_TOOL_COMPLETE_H

#include "lang/lang.h"

/* The name or dotted name before `cursor`, completed from what the session knows. No code of the
 * program runs for it, but for properties that are asked for. */
void complete_in(Session *s, const char *line, size_t cursor, size_t *start, StrVec *words);

#endif
