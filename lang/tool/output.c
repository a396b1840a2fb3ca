/* output.c -- how subcommands end: errors told, files written whole or not at all. */
#include "lang/dialect/dialect.h"
#include "lang/tool/tool.h"
#include <errno.h>
#include <unistd.h>

int tool_protected(void (*body)(void *context), void *context) {
  Error *e = protect(body, context);
  bool internal = e && e->kind && str_same(e->kind, ERROR_INTERNAL);
  if (e) report_statement_error(e);
  int status = tool_flush();
  return internal ? STATUS_INTERNAL : status;
}

void tool_write_file(const char *path, const char *text, size_t len) {
  const char *temporary = str_format("%s.%d.tmp", path, (int)getpid());
  FILE *f = fopen(temporary, "wb");
  if (!f) raise("OSError", (Span){0}, "can't write '%s': %s", path, strerror(errno));
  bool whole = fwrite(text, 1, len, f) == len;
  whole = fclose(f) == 0 && whole;
  if (whole && rename(temporary, path) == 0) return;
  int cause = errno;
  unlink(temporary);
  raise("OSError", (Span){0}, "can't write '%s': %s", path, strerror(cause));
}
