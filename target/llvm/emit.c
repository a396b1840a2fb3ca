/* emit.c -- files: LLVM's text, assembly, objects and shared libraries. */
#include "target/command.h"
#include "target/output.h"
#include "target/llvm/codegen.h"
#include <unistd.h>

typedef struct Emission {
  Parts parts;
  Node *module;
  const Target *target;
  EmitKind kind;
  const char *temporary;
  StrVec objects;
  Weights weights;
} Emission;

/* Text, or a single object. */
static void emit_whole(Emission *e, LLVMCodeGenFileType type) {
  Gen *g = &e->parts.at[0].gen;
  char *message = NULL;
  optimize_module(g);
  if (LLVMTargetMachineEmitToFile(g->machine, g->out, e->temporary, type, &message))
    raise_llvm(str_format("can't write '%s'", e->temporary), message);
}

static void emit_text(Emission *e) {
  Gen *g = &e->parts.at[0].gen;
  char *message = NULL;
  optimize_module(g);
  if (LLVMPrintModuleToFile(g->out, e->temporary, &message))
    raise_llvm(str_format("can't write '%s'", e->temporary), message);
}

static void emit_objects(Emission *e) {
  for (int i = 0; i < e->parts.n; i++) {
    vec_push(&e->objects, str_format("%s.%d.o", e->temporary, i));
    e->parts.at[i].path = e->objects.at[i];
  }
  parts_compile(&e->parts);
  if (!e->weights.len) return;
  vec_push(&e->objects, str_format("%s.weights.o", e->temporary));
  weights_write(&e->weights, vec_last(&e->objects), e->objects.at[0]);
}

static void archive(Emission *e) {
  StrVec words = {0};
  const char *first[] = {"ar", "rcs", e->temporary};
  int status;
  const char *said;
  for (int i = 0; i < 3; i++) vec_push(&words, first[i]);
  for each (const char *, o, &e->objects) vec_push(&words, *o);
  vec_push(&words, NULL);
  if (!command_run(words.at, &status, &said))
    error_raisef("CompileError", (Span){0}, "ar is needed to make an archive, and not installed");
  if (status) error_raisef("CompileError", (Span){0}, "ar can't make the archive: %s", said);
}

static void link_for_machine(Emission *e) {
  char *triple = LLVMGetTargetMachineTriple(e->parts.at[0].gen.machine);
  const char *copy = str_copy_n(triple, strlen(triple));
  LLVMDisposeMessage(triple);
  if (e->kind == EMIT_WASM) link_wasm(&e->objects, e->temporary, copy);
  else link_shared(&e->objects, e->temporary, copy, machine_is_host(copy));
}

static void emit(void *context) {
  Emission *e = context;
  bool linked = e->kind == EMIT_ARCHIVE || e->kind == EMIT_WASM || e->kind == EMIT_SHARED;
  parts_generate(&e->parts, e->module, e->target, false, linked ? PARTS_MAX : 1,
                 e->kind == EMIT_SHARED ? &e->weights : NULL);
  switch (e->kind) {
  case EMIT_LLVM: emit_text(e); break;
  case EMIT_ASM: emit_whole(e, LLVMAssemblyFile); break;
  case EMIT_OBJECT: emit_whole(e, LLVMObjectFile); break;
  case EMIT_ARCHIVE:
    emit_objects(e);
    archive(e);
    break;
  case EMIT_WASM:
  case EMIT_SHARED:
    emit_objects(e);
    link_for_machine(e);
    break;
  default: BUG("a text that LLVM does not write");
  }
}

void emit_file(Node *module, const Target *target, EmitKind kind, const char *path) {
  if (kind > EMIT_SHARED) backend_refuse("llvm", kind);
  Emission e = {.module = module, .target = target, .kind = kind};
  e.temporary = output_begin(path);
  Error *error = protect(emit, &e);
  parts_dispose(&e.parts);
  for each (const char *, o, &e.objects) unlink(*o);
  output_end(path, e.temporary, error);
}
