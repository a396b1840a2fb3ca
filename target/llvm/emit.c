/* emit.c -- files: LLVM's text, assembly, objects and shared libraries. */
#include "target/command.h"
#include "target/output.h"
#include "target/llvm/codegen.h"
#include <unistd.h>

typedef struct Emission {
  Gen gen;
  EmitKind kind;
  const char *object, *temporary;
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

static void archive(Emission *e) {
  const char *words[] = {"ar", "rcs", e->temporary, e->object, NULL};
  int status;
  const char *said;
  if (!command_run(words, &status, &said))
    error_raisef("CompileError", (Span){0}, "ar is needed to make an archive, and not installed");
  if (status) error_raisef("CompileError", (Span){0}, "ar can't make the archive: %s", said);
}

static void link_for_machine(Emission *e) {
  char *triple = LLVMGetTargetMachineTriple(e->gen.machine);
  const char *copy = str_copy_n(triple, strlen(triple));
  LLVMDisposeMessage(triple);
  link_shared(e->object, e->temporary, copy, machine_is_host(copy));
}

static void emit(void *context) {
  Emission *e = context;
  gen_module(&e->gen, e->gen.module, e->gen.target, false);
  switch (e->kind) {
  case EMIT_LLVM: emit_text(e); break;
  case EMIT_ASM: emit_machine_code(e, LLVMAssemblyFile, e->temporary); break;
  case EMIT_OBJECT: emit_machine_code(e, LLVMObjectFile, e->temporary); break;
  case EMIT_ARCHIVE:
    emit_machine_code(e, LLVMObjectFile, e->object);
    archive(e);
    break;
  case EMIT_SHARED:
    emit_machine_code(e, LLVMObjectFile, e->object);
    link_for_machine(e);
    break;
  default: BUG("a text that LLVM does not write");
  }
}

void emit_file(Node *module, const Target *target, EmitKind kind, const char *path) {
  if (kind > EMIT_SHARED) backend_refuse("llvm", kind);
  Emission e = {.gen = {.module = module, .target = target}, .kind = kind};
  e.temporary = output_begin(path);
  e.object = str_format("%s.o", e.temporary);
  Error *error = protect(emit, &e);
  gen_dispose(&e.gen);
  unlink(e.object);
  output_end(path, e.temporary, error);
}
