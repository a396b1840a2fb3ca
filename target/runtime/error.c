/* error.c -- the last error of each thread. */
#include "target/runtime/runtime_impl.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A fixed buffer, so that running out of memory can be reported too. */
static _Thread_local char last_error[4096];
static _Thread_local char last_kind[64]; /* "": RuntimeError */

const char *tvms_last_error(void) { return last_error; }
const char *tvms_last_error_kind(void) { return *last_kind ? last_kind : "RuntimeError"; }

/* The new text may quote the old one, so it is made aside; what quotes an error is of its kind. */
int tvms_set_error(const char *format, ...) {
  char text[sizeof last_error];
  va_list args;
  va_start(args, format);
  int n = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (n >= (int)sizeof text) memcpy(text + sizeof text - 4, "...", 4);
  if (n < 0) text[0] = '\0';
  if (!*last_error || !strstr(text, last_error)) last_kind[0] = '\0';
  memcpy(last_error, text, strlen(text) + 1);
  return -1;
}

void tvms__error_clear(void) { last_error[0] = '\0'; }

int tvms__error_no_memory(size_t nbytes) {
  return tvms_set_error("out of memory (%zu bytes)", nbytes);
}

int tvms_raise(void *kind, void *message) {
  tvms_set_error("%s", (const char *)message);
  snprintf(last_kind, sizeof last_kind, "%s", (const char *)kind);
  return -1;
}
