/* link.c -- from objects to a shared library, by the first linker that is installed, or to
 * WebAssembly. */
#include "target/command.h"
#include "target/extern_library.h"
#include "target/installed.h"
#include "target/llvm/codegen.h"

#define MAX_WORDS 12

/* {objects} and {path} stand for the files, {arch} and {triple} for another machine. The C compiler
 * knows where libm is; a bare linker leaves its functions to the program that loads the library. A
 * build id, which some compilers ask for, would take a sum of all the weights. */
static const char *const linkers[][MAX_WORDS] = {
    {"cc", "-shared", "-Wl,--build-id=none", "-o", "{path}", "{objects}", "-lm"},
    {"gcc", "-shared", "-Wl,--build-id=none", "-o", "{path}", "{objects}", "-lm"},
    {"clang", "-shared", "-Wl,--build-id=none", "-o", "{path}", "{objects}", "-lm"},
    {"ld.lld", "-shared", "-o", "{path}", "{objects}"},
    {"ld", "-shared", "-o", "{path}", "{objects}"},
};
static const char *const cross_linkers[][MAX_WORDS] = {
    {"{arch}-linux-gnu-gcc", "-shared", "-o", "{path}", "{objects}", "-lm"},
    {"ld.lld", "-shared", "-o", "{path}", "{objects}"},
};
#define COUNT(rows) ((int)(sizeof(rows) / sizeof *(rows)))

/* False if there is no such program. */
static bool try_linker(const char *const *words, const char *what) {
  int status;
  const char *said;
  if (!command_run(words, &status, &said)) return false;
  if (status)
    error_raisef("CompileError", (Span){0}, "%s can't make the %s: %s", words[0], what,
                 *said ? said : "it says nothing");
  return true;
}

static const char *fill_in(const char *word, const char *path, const char *triple) {
  if (str_same(word, "{path}")) return path;
  if (strncmp(word, "{arch}", 6) != 0) return word;
  return str_format("%s%s", str_copy_n(triple, strcspn(triple, "-")), word + 6);
}

/* Addresses from the middle of 32 bits on are those of devices (target/browser/addresses.c). */
void link_wasm(const StrVec *objects, const char *path, const char *triple) {
  if (strncmp(triple, "wasm32", 6) != 0)
    error_raisef("CompileError", (Span){0},
                 "a .wasm file is code for wasm32, not for %s: build it for \"llvm "
                 "-mtriple=wasm32-wasi\", or for webgpu",
                 triple);
  const char *runtime = installed_file("libtvms_browser.a");
  if (!runtime)
    error_raisef("CompileError", (Span){0},
                 "the runtime for browsers, libtvms_browser.a, is not installed: `make browser` "
                 "builds it");
  const char *const first[] = {"wasm-ld",
                               "--no-entry",
                               "--strip-debug",
                               "--stack-first",
                               "-zstack-size=1048576",
                               "--max-memory=2147483648",
                               "--undefined=export_module",
                               "--export=_initialize",
                               "-o",
                               path};
  StrVec words = {0};
  for (size_t i = 0; i < sizeof first / sizeof *first; i++) vec_push(&words, first[i]);
  for each (const char *, o, objects) vec_push(&words, *o);
  vec_push(&words, runtime);
  vec_push(&words, NULL);
  if (!try_linker(words.at, "WebAssembly"))
    error_raisef("CompileError", (Span){0},
                 "wasm-ld is needed to link WebAssembly, and not installed (Debian: lld)");
}

void link_shared(const StrVec *objects, const char *path, const char *triple, bool is_host) {
  if (strncmp(triple, "wasm32", 6) == 0)
    error_raisef(
        "CompileError", (Span){0},
        "wasm32 has no shared libraries: write a module for browsers (-o FILE.wasm), or an "
        "object (-o FILE.o) and link it with the program");
  int n = is_host ? COUNT(linkers) : COUNT(cross_linkers);
  for (int i = 0; i < n; i++) {
    StrVec words = {0}, libraries = extern_libraries();
    const char *const *row = is_host ? linkers[i] : cross_linkers[i];
    for (int k = 0; k < MAX_WORDS && row[k]; k++) {
      if (!str_same(row[k], "{objects}")) vec_push(&words, fill_in(row[k], path, triple));
      else
        for each (const char *, o, objects) vec_push(&words, *o);
    }
    for each (const char *, l, &libraries) vec_push(&words, *l);
    vec_push(&words, NULL);
    if (try_linker(words.at, "shared library")) return;
  }
  error_raisef("CompileError", (Span){0},
               "no linker is installed: %s or ld.lld is needed to make a shared library",
               is_host ? "cc, clang, ld" : fill_in("{arch}-linux-gnu-gcc", "", triple));
}
