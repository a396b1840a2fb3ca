/* build.c -- the C text as a file, as a library in this process, or as what a C compiler makes of
 * it. */
#include "target/params.h"
#include "target/c/c.h"
#include "target/command.h"
#include "target/extern_library.h"
#include "target/output.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* The compilers to try, in order. */
static const char *const compilers[] = {"cc", "gcc", "clang"};

typedef struct Build {
  Node *module;
  const Target *target;
  EmitKind kind;
  const char *path, *folder; /* the folder is removed at the end */
  TvmsModule *loaded;
} Build;

/* For this machine the code may use all that its processor has. */
static void compile(const Build *b, const char *source, const char *output) {
  bool is_host = !*target_option(b->target, "mtriple");
  bool native = is_host && str_same(target_option(b->target, "mcpu"), "native");
  const char *level = str_format("-O%lld", (long long)target_option_int(b->target, "opt-level"));
  const char *form = b->kind == EMIT_ASM ? "-S" : b->kind == EMIT_OBJECT ? "-c" : "-shared";
  for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
    const char *const first[] = {compilers[i], "-std=c11", level, "-ffp-contract=off",
                                 "-fPIC",      form,       "-o",  output,
                                 source,       "-lm"};
    StrVec words = {0}, libraries = extern_libraries();
    for (size_t k = 0; k < sizeof first / sizeof *first; k++) vec_push(&words, first[k]);
    if (native) vec_push(&words, "-march=native");
    if (b->kind == EMIT_SHARED)
      for each (const char *, l, &libraries) vec_push(&words, *l);
    vec_push(&words, NULL);
    int status;
    const char *said;
    if (!command_run(words.at, &status, &said)) continue;
    if (status)
      error_raisef("CompileError", (Span){0}, "%s can't compile the C text: %s", compilers[i],
                   *said ? said : "it says nothing");
    return;
  }
  error_raisef("CompileError", (Span){0},
               "no C compiler is installed: the c target needs cc, gcc or clang for anything but "
               "its text (--emit c)");
}

static void make_folder(Build *b) {
  const char *where = getenv("TMPDIR");
  Str s = {0};
  str_printf(&s, "%s/tvms_c_XXXXXX", where && *where ? where : "/tmp");
  char *name = s.at;
  if (!mkdtemp(name))
    error_raisef("CompileError", (Span){0}, "can't make a folder like '%s': %s", name,
                 strerror(errno));
  b->folder = name;
}

static const char *source_path(const Build *b) { return str_format("%s/module.c", b->folder); }
static const char *output_path(const Build *b) { return str_format("%s/module.out", b->folder); }

static void remove_folder(const Build *b) {
  if (!b->folder) return;
  unlink(source_path(b));
  unlink(output_path(b));
  rmdir(b->folder);
}

static void load(void *context) {
  Build *b = context;
  const char *text = c_module(b->module, b->target, true);
  make_folder(b);
  output_write(source_path(b), text);
  compile(b, source_path(b), output_path(b));
  if (tvms_module_load(&b->loaded, output_path(b)))
    error_raisef("CompileError", (Span){0}, "%s", tvms_last_error());
}

TvmsModule *c_load_module(Node *module, const Target *target) {
  Build b = {.module = module, .target = target, .kind = EMIT_SHARED};
  Error *error = protect(load, &b);
  remove_folder(&b);
  if (error) error_raise(error);
  return b.loaded;
}

/* ---- files ---- */

static void emit(void *context) {
  Build *b = context;
  const char *text = c_module(b->module, b->target, false);
  if (b->kind == EMIT_C) output_write(b->path, text);
  else {
    make_folder(b);
    output_write(source_path(b), text);
    compile(b, source_path(b), b->path);
  }
}

void c_emit(Node *module, const Target *target, EmitKind kind, const char *path) {
  bool writes = kind == EMIT_C || kind == EMIT_SHARED || kind == EMIT_OBJECT || kind == EMIT_ASM;
  if (!writes) backend_refuse("c", kind);
  if (params_file(module))
    error_raisef("CompileError", (Span){0},
                 "the c target keeps constants in the library: --params is of the llvm target");
  Build b = {.module = module, .target = target, .kind = kind};
  b.path = output_begin(path);
  Error *error = protect(emit, &b);
  remove_folder(&b);
  output_end(path, b.path, error);
}

const Backend backend_c = {.name = "c",
                           .doc = "C11 text, for any C compiler; cc compiles it to run here",
                           .load = c_load_module,
                           .emit = c_emit};
