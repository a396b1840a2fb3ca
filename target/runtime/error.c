/* error.c -- the last error of each thread. */
#include "target/runtime/runtime_impl.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A fixed buffer, so that running out of memory can be reported too. */
static _Thread_local char last_error[4096];

const char *tvms_last_error(void) { return last_error; }

/* The new text may quote the old one, so it is made aside. */
int tvms_set_error(const char *format, ...) {
  char text[sizeof last_error];
  va_list args;
  va_start(args, format);
  int n = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (n >= (int)sizeof text) memcpy(text + sizeof text - 4, "...", 4);
  if (n < 0) text[0] = '\0';
  memcpy(last_error, text, strlen(text) + 1);
  return -1;
}

void tvms__error_clear(void) { last_error[0] = '\0'; }

int tvms__error_no_memory(size_t nbytes) {
  return tvms_set_error("out of memory (%zu bytes)", nbytes);
}

int tvms_assert_failed(void *message) {
  return tvms_set_error("%s", message ? (const char *)message : "assertion failed");
}
