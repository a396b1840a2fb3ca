/* output.c -- how subcommands end: errors told, files written whole or not at all. */
#include "lang/dialect/dialect.h"
#include "lang/tool/tool.h"
#include "lang/value/object.h"
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

int tool_protected(void (*body)(void *context), void *context) {
  Error *e = eval_protect(body, context);
  bool internal = e && e->kind && str_same(e->kind, ERROR_INTERNAL);
  if (e) report_statement_error(e);
  int status = tool_flush();
  return internal ? STATUS_INTERNAL : status;
}

static _Noreturn void cannot_write(const char *path, int cause) {
  raise("OSError", (Span){0}, "can't write '%s': %s", path, strerror(cause));
}

/* 0, or the errno of what went wrong. */
static int write_all(const char *path, const char *text, size_t len) {
  FILE *f = fopen(path, "wb");
  if (!f) return errno;
  int cause = fwrite(text, 1, len, f) == len ? 0 : errno;
  if (fclose(f) && !cause) cause = errno;
  return cause;
}

void tool_write_file(const char *path, const char *text, size_t len) {
  struct stat s;
  bool device =
      stat(path, &s) == 0 && !S_ISREG(s.st_mode); /* a pipe, a terminal: nothing to rename over */
  const char *target = device ? path : str_format("%s.%d.tmp", path, (int)getpid());
  int cause = write_all(target, text, len);
  if (!cause && !device && rename(target, path)) cause = errno;
  if (!cause) return;
  if (!device) unlink(target);
  cannot_write(path, cause);
}
