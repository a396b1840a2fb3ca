/* needed.h -- which statements of a script make what its modules are made of. */
#ifndef LANG_EVAL_NEEDED_H
#define LANG_EVAL_NEEDED_H

#include "parser/parser.h"

/* wanted[i]: statement i of the script is to run anyway. Sets it for those, too, that make or
 * change values which decorated functions and classes name, as far as their text tells. */
void needed_statements(const AstVec *statements, bool *wanted);

#endif
