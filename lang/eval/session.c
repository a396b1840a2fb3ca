/* session.c -- sessions: a global scope in which texts are run, and how uncaught errors are told.
 */
#include "lang/lang.h"
#include "lang/builtin/builtin.h"
#include "lang/dialect/dialect.h"
#include "lang/eval/eval_impl.h"
#include "lang/eval/warn.h"
#include "lang/import/onnx/onnx.h"
#include "lang/value/big_int.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

void lang_start(int argc, char **argv) {
  stack_start();
  big_start();
  exceptions_start();
  builtins_start(argc, argv);
  dialect_start();
  namespace_register("_onnx", onnx_load);
}

Session *session_of_module(const char *name, const char *path) {
  Session *s = NEW(Session, .globals = env_new(env_builtins()), .path = path);
  s->globals->path = path;
  env_set(s->globals, str_intern("__name__"), value_str(name));
  if (path) env_set(s->globals, str_intern("__file__"), value_str(path));
  dialect_add_names(s->globals);
  return s;
}

Session *session_new(const char *path) {
  sys_set_home(path_folder(path));
  return session_of_module("__main__", path);
}

/* ---- running ---- */

typedef struct Run {
  Session *session;
  AstModule *module;
  Value *last;
} Run;

static void run_module(void *context) {
  Run *r = context;
  AstVec body = r->module->body;
  bool ends_in_value = r->last && body.len && vec_last(&body)->kind == AST_KIND_ExprStmt;
  if (ends_in_value) body.len--;
  exec_block(r->session->globals, &body);
  if (!ends_in_value) return;
  *r->last = eval(r->session->globals, AST_AS(ExprStmt, body.at[body.len])->value);
}

void error_report_uncaught(const Error *e) {
  Diag *d = error_report(e);
  const Error *inner = e;
  for (int i = 0; i < 5 && inner->value; i++) {
    const InstanceObject *o = inner->value;
    if (!o->context || o->context == inner) break;
    diag_note(d, o->context->span, "%s %s: %s",
              o->context_is_cause ? "caused by" : "raised while this was handled:",
              o->context->kind, o->context->text);
    inner = o->context;
  }
}

/* sys.exit(code): None is 0, a text is printed and is 1. */
static void take_exit(Session *s, Error *e) {
  Value args = instance_get(exception_of(e).object, str_intern("args"));
  ValueVec *items = value_items(args);
  s->exited = true;
  if (!items->len || value_is_none(items->at[0])) return;
  Value code = items->at[0];
  if (code.type == &type_int || code.type == &type_bool) {
    s->exit_status = (int)(value_as_int(code, "", (Span){0}) & 0xff);
    return;
  }
  fflush(stdout);
  fprintf(stderr, "%s\n", value_to_str(code));
  s->exit_status = 1;
}

bool session_run(Session *s, const Source *source, Value *last) {
  int before = diag_error_count();
  s->exited = s->broken = s->interrupted = false;
  s->exit_status = 0;
  if (last) *last = value_absent();
  Run r = {.session = s, .module = parse_module(source), .last = last};
  if (diag_error_count() > before) {
    session_define(s, r.module);
    return false;
  }
  warn_about(r.module);
  if (diag_error_count() > before) return false; /* by -Werror */
  Error *e = eval_protect(run_module, &r);
  if (e && !str_same(e->kind, ERROR_INTERNAL) &&
      exception_matches(e, exception_class("SystemExit")))
    take_exit(s, e);
  else if (e && !str_same(e->kind, ERROR_POISONED)) error_report_uncaught(e);
  s->interrupted = e && str_same(e->kind, "KeyboardInterrupt");
  s->broken = e && str_same(e->kind, ERROR_INTERNAL);
  return !e && diag_error_count() == before;
}

/* ---- files ---- */

static const Source *cannot_read(const char *path, const char *why) {
  diag_error((Span){0}, "cannot read %s: %s", path, why);
  return NULL;
}

/* `expected`: how long the text is, most likely. */
static const Source *read_all(int file, const char *path, size_t expected) {
  enum { PART = 1 << 16 };
  Str text = {0};
  ssize_t n;
  str_reserve(&text, expected);
  for (;;) {
    size_t room = STR_LEN_MAX - text.len < PART ? STR_LEN_MAX - text.len : PART;
    str_reserve(&text, room);
    n = read(file, text.at + text.len, room);
    if (n <= 0) break;
    text.len += (size_t)n;
    if (text.len > INT32_MAX) return cannot_read(path, "it is larger than 2 GB");
  }
  if (n < 0) return cannot_read(path, strerror(errno));
  const Source *s = source_add(path, str_text(&text), text.len);
  return s ? s : cannot_read(path, "the texts read so far are 4 GB together");
}

const Source *source_read(const char *path) {
  struct stat info;
  bool standard_input = strcmp(path, "-") == 0;
  int file = standard_input ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
  if (standard_input) path = "<stdin>";
  if (file < 0) return cannot_read(path, strerror(errno));
  const Source *s = NULL;
  if (fstat(file, &info) == 0 && S_ISDIR(info.st_mode)) cannot_read(path, "it is a folder");
  else if (S_ISREG(info.st_mode) && info.st_size > INT32_MAX)
    cannot_read(path, "it is larger than 2 GB");
  else s = read_all(file, path, S_ISREG(info.st_mode) ? (size_t)info.st_size : 0);
  close(file);
  return s;
}
