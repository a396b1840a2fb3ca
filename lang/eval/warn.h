/* warn.h -- warnings about the text of a program: the rows of ir/code/warning.def. */
#ifndef LANG_EVAL_WARN_H
#define LANG_EVAL_WARN_H

#include "parser/parser.h"

/* Reports what the switched-on warnings find in a tree that parsed. Nothing is evaluated. */
void warn_about(const AstModule *tree);

#endif
