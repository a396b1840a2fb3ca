/* link.c -- from an object to a shared library, by the first linker that is installed. */
#include "target/command.h"
#include "target/llvm/codegen.h"

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

/* False if there is no such program. */
static bool try_linker(const char *const *words) {
  int status;
  const char *said;
  if (!command_run(words, &status, &said)) return false;
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
