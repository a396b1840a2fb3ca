/* output.c -- see output.h. */
#include "target/output.h"
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

const char *output_begin(const char *path) {
  struct stat s;
  if (stat(path, &s) == 0 && !S_ISREG(s.st_mode))
    error_raisef("CompileError", (Span){0}, "can't write '%s': it is no regular file", path);
  /* A path that begins with '-' must not look like an option to a linker. */
  return str_format("%s%s.%d.tmp", path[0] == '/' ? "" : "./", path, (int)getpid());
}

void output_end(const char *path, const char *temporary, Error *error) {
  int failed = error ? 0 : rename(temporary, path) ? errno : 0;
  if (!error && !failed) return;
  unlink(temporary);
  if (error) error_raise(error);
  error_raisef("CompileError", (Span){0}, "can't write '%s': %s", path, strerror(failed));
}

void output_write(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  bool written = f && fputs(text, f) >= 0;
  int failed = errno;
  if ((f && fclose(f)) || !written)
    error_raisef("CompileError", (Span){0}, "can't write '%s': %s", path, strerror(failed));
}
