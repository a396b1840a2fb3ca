/* build_target.h -- what modules are built for, as scripts and the command line say. */
#ifndef LANG_DIALECT_BUILD_TARGET_H
#define LANG_DIALECT_BUILD_TARGET_H

#include "ir/target.h"

/* What the command line says of builds. */
typedef struct BuildDefaults {
  const char *target;    /* where none is named; NULL: llvm */
  bool sanitizes, tells; /* everything is built for a simulated GPU that checks, and that counts */
} BuildDefaults;
extern BuildDefaults build_defaults;
/* The target of that text, or the one to take where none is named (NULL). */
const Target *build_target(const char *text, Span span);

#endif
