/* emit.c -- files: LLVM's text, assembly, objects and shared libraries.
 *
 * A file is written under a temporary name beside its own and renamed when it is whole, so that a
 * failure leaves what was there before. */
#include "target/llvm/codegen.h"
#include <errno.h>
#include <sys/stat.h>
#include <stdio.h>
#include <unistd.h>

typedef struct Emission {
  Gen gen;
  EmitKind kind;
  const char *path, *object, *temporary;
} Emission;

static void emit_machine_code(Emission *e, LLVMCodeGenFileType type, const char *path) {
  char *message = NULL;
  if (LLVMTargetMachineEmitToFile(e->gen.machine, e->gen.out, path, type, &message))
    raise_llvm(str_format("can't write '%s'", path), message);
}

static void emit_text(Emission *e) {
  char *message = NULL;
  if (LLVMPrintModuleToFile(e->gen.out, e->temporary, &message))
    raise_llvm(str_format("can't write '%s'", e->temporary), message);
}

static void emit(void *context) {
  Emission *e = context;
  gen_module(&e->gen, e->gen.module, e->gen.target, false);
  switch (e->kind) {
  case EMIT_LLVM: emit_text(e); break;
  case EMIT_ASM: emit_machine_code(e, LLVMAssemblyFile, e->temporary); break;
  case EMIT_OBJECT: emit_machine_code(e, LLVMObjectFile, e->temporary); break;
  case EMIT_SHARED:
    emit_machine_code(e, LLVMObjectFile, e->object);
    link_shared(e->object, e->temporary);
    break;
  }
  if (rename(e->temporary, e->path))
    error_raisef("CompileError", (Span){0}, "can't write '%s': %s", e->path, strerror(errno));
}

/* Renaming onto a device or a pipe would replace it. */
static void check_regular(const char *path) {
  struct stat s;
  if (stat(path, &s) == 0 && !S_ISREG(s.st_mode))
    error_raisef("CompileError", (Span){0}, "can't write '%s': it is no regular file", path);
}

void emit_file(Node *module, const Target *target, EmitKind kind, const char *path) {
  check_regular(path);
  Emission e = {.gen = {.module = module, .target = target}, .kind = kind, .path = path};
  /* A path that begins with '-' must not look like an option to a linker. */
  const char *here = path[0] == '/' ? "" : "./";
  e.temporary = str_format("%s%s.%d.tmp", here, path, (int)getpid());
  e.object = str_format("%s%s.%d.tmp.o", here, path, (int)getpid());
  Error *error = protect(emit, &e);
  gen_dispose(&e.gen);
  unlink(e.object);
  if (!error) return;
  unlink(e.temporary);
  error_raise(error);
}
