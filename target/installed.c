/* installed.c -- see installed.h. */
#include "target/installed.h"
#include "ir/support/str.h"
#include <unistd.h>

/* The folder of the running program, with a '/' at the end. */
static const char *program_folder(void) {
  char path[4096];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  if (n <= 0 || n == (ssize_t)sizeof path) return "./";
  while (n > 0 && path[n - 1] != '/') n--;
  return str_copy_n(path, (size_t)n);
}

const char *installed_file(const char *name) {
  const char *beside = str_format("%s%s", program_folder(), name);
  if (!access(beside, R_OK)) return beside;
  const char *installed = str_format("%s../lib/tvms/%s", program_folder(), name);
  return access(installed, R_OK) ? NULL : installed;
}
