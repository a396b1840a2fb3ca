/* fake_log.h -- what the stand-ins of drivers and libraries share: each call is written down, and
 * may be planned to fail. */
#ifndef TESTS_FAKE_LOG_H
#define TESTS_FAKE_LOG_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line of the file that the environment variable names, if it does. */
static inline void fake_note(const char *variable, const char *format, ...) {
  const char *path = getenv(variable);
  FILE *f = path ? fopen(path, "a") : NULL;
  va_list args;
  if (!f) return;
  va_start(args, format);
  vfprintf(f, format, args);
  va_end(args);
  fputc('\n', f);
  fclose(f);
}

/* The status that the variable plans for this function, NAME:STATUS; 0: none. */
static inline int fake_planned(const char *variable, const char *name) {
  const char *fail = getenv(variable), *colon = fail ? strchr(fail, ':') : NULL;
  if (!colon || strlen(name) != (size_t)(colon - fail)) return 0;
  return strncmp(name, fail, strlen(name)) ? 0 : atoi(colon + 1);
}

#endif
