/* describe.h -- what a compiled file tells of itself, and the header to call it by. */
#ifndef TARGET_DESCRIBE_H
#define TARGET_DESCRIBE_H

#include "ir/ir.h"
#include "ir/target.h"

/* Text that stands in every compiled file as the symbol tvms_module_text, so that it can be found
 * without loading the file: DESCRIPTION_MARK, then a line for each fact, then NUL. */
#define DESCRIPTION_MARK "\001tvms module\n"
const char *module_description(Node *lowered, const Target *target, const char *machine);

/* A C header with the exports of an object file or archive. */
const char *module_header(Node *lowered, const Target *target, const char *path);

#endif
