/* link.c -- from an object to a shared library, by the first linker that is installed. */
#include "target/llvm/codegen.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define MAX_WORDS 12

/* {object} and {path} stand for the files. The C compiler knows where libm is; a bare linker leaves
 * its functions to the program that loads the library. */
static const char *const linkers[][MAX_WORDS] = {
    {"cc", "-shared", "-o", "{path}", "{object}", "-lm"},
    {"gcc", "-shared", "-o", "{path}", "{object}", "-lm"},
    {"clang", "-shared", "-o", "{path}", "{object}", "-lm"},
    {"ld.lld", "-shared", "-o", "{path}", "{object}"},
    {"ld", "-shared", "-o", "{path}", "{object}"},
};

#define LINKER_COUNT ((int)(sizeof linkers / sizeof *linkers))

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

/* False if there is no such program. */
static bool try_linker(const char *const *words) {
  int ends[2];
  pid_t pid;
  if (pipe2(ends, O_CLOEXEC))
    error_raisef("CompileError", (Span){0}, "can't start a linker: %s", strerror(errno));
  int failed = start(words, ends[1], &pid);
  close(ends[1]);
  const char *said = failed ? "" : read_all(ends[0]);
  close(ends[0]);
  if (failed == ENOENT || failed == EACCES) return false;
  if (failed)
    error_raisef("CompileError", (Span){0}, "can't start %s: %s", words[0], strerror(failed));
  int status = wait_for(pid);
  if (status)
    error_raisef("CompileError", (Span){0}, "%s can't make the shared library: %s", words[0],
                 *said ? said : "it says nothing");
  return true;
}

void link_shared(const char *object, const char *path) {
  for (int i = 0; i < LINKER_COUNT; i++) {
    const char *words[MAX_WORDS + 1] = {0};
    for (int k = 0; k < MAX_WORDS && linkers[i][k]; k++) {
      const char *word = linkers[i][k];
      words[k] = str_same(word, "{path}") ? path : str_same(word, "{object}") ? object : word;
    }
    if (try_linker(words)) return;
  }
  error_raisef(
      "CompileError", (Span){0},
      "no linker is installed: cc, clang, ld.lld or ld is needed to make a shared library");
}
