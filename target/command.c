/* command.c -- see command.h. */
#include "target/command.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *read_all(int fd) {
  Str s = {0};
  char buffer[4096];
  ssize_t n;
  while ((n = read(fd, buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR))
    if (n > 0 && s.len < 65536) str_add_n(&s, buffer, (size_t)n);
  return str_text(&s);
}

/* Starts a program found in PATH, its output going to `out`. An errno, or 0. */
static int start(const char *const *words, int out, pid_t *pid) {
  posix_spawn_file_actions_t actions;
  int status = posix_spawn_file_actions_init(&actions);
  if (status) return status;
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_adddup2(&actions, out, 2);
  status = posix_spawnp(pid, words[0], &actions, NULL, (char *const *)(uintptr_t)words, environ);
  posix_spawn_file_actions_destroy(&actions);
  return status;
}

static int wait_for(pid_t pid) {
  int status = -1;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  return status;
}

bool command_run(const char *const *words, int *status, const char **said) {
  int ends[2];
  pid_t pid;
  if (pipe2(ends, O_CLOEXEC))
    error_raisef("CompileError", (Span){0}, "can't start %s: %s", words[0], strerror(errno));
  int failed = start(words, ends[1], &pid);
  close(ends[1]);
  *said = failed ? "" : read_all(ends[0]);
  close(ends[0]);
  if (failed == ENOENT || failed == EACCES) return false;
  if (failed)
    error_raisef("CompileError", (Span){0}, "can't start %s: %s", words[0], strerror(failed));
  *status = wait_for(pid);
  return true;
}
