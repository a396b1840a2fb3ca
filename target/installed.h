/* installed.h -- files that belong to the program. */
#ifndef TARGET_INSTALLED_H
#define TARGET_INSTALLED_H

/* The path of a file beside the running program, where the build leaves it, or in ../lib/tvms,
 * where it is installed; NULL if it is in neither. */
const char *installed_file(const char *name);

#endif
