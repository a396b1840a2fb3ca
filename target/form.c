/* form.c -- what a compiled module can be written as: files, and texts without one. */
#include "target/target.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const EmitForm forms[] = {
#define FORM(...) {__VA_ARGS__},
#include "target/form.def"
};
enum { FORMS = sizeof forms / sizeof *forms };

const EmitForm *emit_form(const char *word) {
  for (int i = 0; i < FORMS; i++)
    if (str_same(word, forms[i].word) || str_same(word, forms[i].suffix + 1)) return &forms[i];
  return NULL;
}

const EmitForm *emit_form_of_path(const char *path) {
  for (int i = 0; i < FORMS; i++)
    if (str_ends(path, forms[i].suffix)) return &forms[i];
  return NULL;
}

const EmitForm *emit_form_of_target(const char *kind) {
  if (str_same(kind, "llvm")) return emit_form("llvm-ir");
  for (int i = 0; i < FORMS; i++)
    if (forms[i].is_text && str_same(forms[i].target, kind)) return &forms[i];
  return NULL;
}

static const char *words(bool texts_only) {
  Str s = {0};
  for (int i = 0; i < FORMS; i++)
    if (!texts_only || forms[i].is_text) str_printf(&s, "%s%s", s.len ? ", " : "", forms[i].word);
  return str_text(&s);
}

const char *emit_form_words(void) { return words(false); }
const char *emit_form_texts(void) { return words(true); }

const char *emit_form_endings(void) {
  Str s = {0};
  for (int i = 0; i < FORMS; i++) str_printf(&s, "%s%s", i ? ", " : "", forms[i].suffix);
  return str_text(&s);
}

const Backend *backend_that_writes(const Target *target) {
  const Backend *backend = backend_find(target->kind);
  if (!backend || !backend->emit)
    error_raisef("ValueError", (Span){0}, "the target %s writes no files", target->kind);
  return backend;
}

/* ---- texts, by way of a file that goes again ---- */

typedef struct TextJob {
  Node *lowered;
  const Target *target;
  EmitKind kind;
  const char *path;
  Str text;
} TextJob;

static void emit_and_read(void *context) {
  TextJob *job = context;
  char bytes[1 << 14];
  backend_that_writes(job->target)->emit(job->lowered, job->target, job->kind, job->path);
  FILE *f = fopen(job->path, "rb");
  if (!f) error_raisef("OSError", (Span){0}, "can't read '%s': %s", job->path, strerror(errno));
  for (size_t n; (n = fread(bytes, 1, sizeof bytes, f)) > 0;) str_add_n(&job->text, bytes, n);
  fclose(f);
}

const char *emit_form_text(Node *lowered, const Target *target, const EmitForm *form) {
  if (form->kind == EMIT_LOWERED)
    return ir_print(lowered, &(PrintOptions){.constants = CONSTANTS_METADATA});
  const char *where = getenv("TMPDIR");
  char *path = (char *)(uintptr_t)str_format("%s/tvms-XXXXXX", where && *where ? where : "/tmp");
  int file = mkstemp(path);
  if (file < 0) error_raisef("OSError", (Span){0}, "can't write '%s': %s", path, strerror(errno));
  close(file);
  TextJob job = {lowered, target, form->kind, path, {0}};
  Error *e = protect(emit_and_read, &job);
  unlink(path);
  if (e) error_raise(e);
  return str_text(&job.text);
}
