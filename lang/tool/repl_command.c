/* repl_command.c -- the commands of the REPL: lines that begin with ':'. */
#include "lang/dialect/op.h"
#include "lang/dialect/packed.h"
#include "lang/tool/complete.h"
#include "lang/tool/line_editor.h"
#include "lang/tool/repl.h"
#include "lower/lower.h"
#include "passes/passes.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- values ---- */

static bool value_of_text(const char *text, Value *v) {
  if (!*text) {
    diag_error((Span){0}, "expected an expression");
    return false;
  }
  return repl_run(text, strlen(text), v) && v->type;
}

static void command_type(const char *text) {
  Value v;
  if (value_of_text(text, &v)) printf("%s\n", value_type_text(v));
}

/* IR as script, everything else as print() does. */
static void print_value(void *context) {
  Value v = *(Value *)context;
  const char *text = v.type == &type_node ? ir_print(v.node, NULL) : value_to_str(v);
  size_t n = strlen(text);
  printf("%s%s", text, n && text[n - 1] == '\n' ? "" : "\n");
}

static void command_show(const char *text) {
  Value v;
  if (value_of_text(text, &v)) tool_protected(print_value, &v);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void command_time(const char *text) {
  Value v;
  double start = now();
  bool ok = value_of_text(text, &v);
  double seconds = now() - start;
  if (ok) repl_show(v);
  if (seconds < 1e-3) printf("%.1f us\n", seconds * 1e6);
  else if (seconds < 1) printf("%.2f ms\n", seconds * 1e3);
  else printf("%.3f s\n", seconds);
}

/* ---- help ---- */

/* The parameters as they are written in the source. */
static void print_function(Value v) {
  const FunctionObject *f = v.object;
  const AstVec *params = f->def->kind == AST_KIND_Lambda ? &AST_AS(Lambda, f->def)->params
                                                         : &AST_AS(Def, f->def)->params;
  printf("%s(", f->name);
  for (int i = 0; i < params->len; i++) {
    Span span = params->at[i]->span;
    Location at = source_locate(span.lo);
    printf("%s%.*s", i ? ", " : "", (int)(span.hi - span.lo),
           at.source ? at.source->text + (span.lo - at.source->base) : "");
  }
  printf(")\n");
}

static void print_names(Value v) {
  StrVec names = {0};
  value_attr_names(v, &names);
  int column = 0, most = terminal_columns() - 2;
  for each (const char *, name, &names) {
    if (**name == '_') continue;
    int n = (int)strlen(*name) + 2;
    if (column && column + n > most) printf("\n"), column = 0;
    printf("%s%s", column ? "  " : "  ", *name);
    column += n;
  }
  if (column) printf("\n");
}

static void print_help(void *context) {
  Value v = *(Value *)context;
  if (v.type == &type_op) { /* by another name: relax.op.add */
    tool_print_op(value_repr(v) + strlen("R."));
    return;
  }
  if (v.type == &type_bound_method) v = ((MethodObject *)v.object)->function;
  Value doc = value_find_attr(v, str_intern("__doc__"), (Span){0});
  if (v.type == &type_builtin) {
    const Builtin *b = ((BuiltinObject *)v.object)->builtin;
    printf("%s(%s)\n", b->name, b->signature);
  } else if (v.type == &type_function) {
    print_function(v);
  } else {
    printf("%s\n", value_type_text(v));
  }
  if (doc.type == &type_str) printf("  %s\n", value_text(doc));
  if (v.type != &type_function && v.type != &type_builtin) print_names(v);
}

/* An operator, a schedule primitive, a pass or a code by its name; else whatever the text is the
 * name of. */
static bool help_by_name(const char *name) {
  const char *op = strncmp(name, "R.", 2) == 0 ? name + 2 : name;
  const char *dot = strrchr(name, '.');
  const Pass *pass = pass_find(dot ? dot + 1 : name);
  bool is_op = tool_print_op(op);
  bool is_primitive = tool_print_primitive(strncmp(name, "sch.", 4) == 0 ? name + 4 : name);
  if (is_op || is_primitive) return true;
  if (pass) return tool_print_pass(pass), true;
  if (!code_find(name)) return false;
  char *args[] = {"explain", (char *)(uintptr_t)name, NULL};
  return tool_explain(2, args), true;
}

static void print_commands(void);

static void command_help(const char *name) {
  Value v;
  if (!*name) print_commands();
  else if (!help_by_name(name) && value_of_text(name, &v)) tool_protected(print_help, &v);
}

/* ---- files ---- */

static void command_load(const char *path) {
  if (!*path) {
    diag_error((Span){0}, "which file?");
    return;
  }
  const Source *source = source_read(path);
  if (!source) return;
  if (session_run(repl.session, source, NULL)) str_add_n(&repl.kept, source->text, source->len);
  if (repl.session->exited) repl.leaving = true, repl.status = repl.session->exit_status;
}

static void write_kept(void *path) {
  tool_write_file(path, repl.kept.len ? str_text(&repl.kept) : "", repl.kept.len);
}

static void command_save(const char *path) {
  if (!*path) diag_error((Span){0}, "to which file?");
  else if (tool_protected(write_kept, (void *)(uintptr_t)path) == STATUS_OK)
    printf("%s: what ran without an error\n", path);
}

static void command_paste(const char *unused) {
  (void)unused;
  Str text = {0};
  const char *line;
  if (isatty(STDIN_FILENO)) printf("paste, then end with :end or Ctrl-D\n");
  while (line_editor_read("", &line) == LINE_READ && strcmp(line, ":end") != 0) {
    str_add(&text, line);
    str_add_char(&text, '\n');
  }
  if (text.len) repl_run_input(str_text(&text), text.len);
}

/* ---- compiling ---- */

typedef struct Compiling {
  const Target *target;
  Node *module;
} Compiling;

static bool is_ir(Value v) {
  return value_is_node(v, NK_IRModule) || value_is_node(v, NK_PrimFunc) ||
         value_is_node(v, NK_Function);
}

/* The module that is meant if none is named: `_`, or what was defined last. */
static Value last_module(void) {
  Value *last = env_find(repl.session->globals, str_intern("_"));
  if (last && is_ir(*last)) return *last;
  NamedModuleVec all = session_modules(repl.session);
  return all.len ? value_node(vec_last(&all).module) : value_absent();
}

/* "[TARGET] [EXPR]": a target is the name of a kind and what follows it with a '-'. */
static size_t target_length(const char *text) {
  int n;
  const TargetKind *kinds = target_kinds(&n);
  size_t word = strcspn(text, " ");
  bool known = false;
  for (int i = 0; i < n; i++)
    known |= strlen(kinds[i].name) == word && strncmp(text, kinds[i].name, word) == 0;
  if (!known) return 0;
  while (text[word] == ' ' && text[word + strspn(text + word, " ")] == '-') {
    word += strspn(text + word, " ");
    word += strcspn(text + word, " ");
  }
  return word;
}

/* Raises; the module and target of a command. */
static Compiling compiling(const char *text) {
  size_t n = target_length(text);
  const char *rest = text + n + strspn(text + n, " ");
  Value v = last_module();
  if (*rest && !value_of_text(rest, &v)) raise(ERROR_POISONED, (Span){0}, "an earlier error");
  if (!v.type) raise("ValueError", (Span){0}, "the session has no module yet");
  const char *target = n ? str_copy_n(text, n) : "llvm";
  return (Compiling){target_parse(target, (Span){0}), to_module(v, (Span){0})};
}

static void lower(void *text) {
  Compiling c = compiling(text);
  fputs(ir_print(lower_module(c.module, c.target), NULL), stdout);
}
static void command_lower(const char *text) { tool_protected(lower, (void *)(uintptr_t)text); }

static void print_assembly(void *text) {
  Compiling c = compiling(text);
  const Backend *backend = backend_find(c.target->kind);
  if (!backend || !backend->emit)
    raise("TargetError", (Span){0}, "target %s makes no machine code", c.target->kind);
  char path[] = "/tmp/tvms.XXXXXX";
  int file = mkstemp(path);
  if (file < 0) raise("OSError", (Span){0}, "there is no temporary file");
  close(file);
  backend->emit(lower_module(c.module, c.target), c.target, EMIT_ASM, path);
  const Source *source = source_read(path);
  unlink(path);
  if (source) fwrite(source->text, 1, source->len, stdout);
}
static void command_asm(const char *text) {
  tool_protected(print_assembly, (void *)(uintptr_t)text);
}

static void command_passes(const char *name) {
  char *args[] = {"passes", (char *)(uintptr_t)name, NULL};
  tool_passes(*name ? 2 : 1, args);
}

static void command_quit(const char *unused) {
  (void)unused;
  repl.leaving = true;
}

/* ---- the table ---- */

static const struct {
  const char *name, *argument, *doc;
  void (*run)(const char *argument);
} commands[] = {
    {"help", "[NAME]", "this list; or of a name: signature and doc", command_help},
    {"show", "EXPR", "a value as print() shows it, IR as script", command_show},
    {"type", "EXPR", "the type of a value", command_type},
    {"time", "EXPR", "how long it takes", command_time},
    {"load", "FILE", "run a file in this session", command_load},
    {"save", "FILE", "write what ran without an error", command_save},
    {"paste", "", "take lines as they are, up to :end", command_paste},
    {"passes", "[NAME]", "the passes, or one of them", command_passes},
    {"lower", "[TARGET] [EXPR]", "a module lowered for a target", command_lower},
    {"asm", "[TARGET] [EXPR]", "the machine code of a module", command_asm},
    {"quit", "", "leave; Ctrl-D does too", command_quit},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_commands(void) {
  for (int i = 0; i < COMMANDS; i++)
    printf("  :%-7s%-16s %s\n", commands[i].name, commands[i].argument, commands[i].doc);
  printf("`_` is the last value; :lower and :asm take it, or the module defined last.\n"
         "A blank line ends a compound statement. Tab completes names. Ctrl-C interrupts.\n");
}

void repl_command(const char *line) {
  size_t n = strcspn(line, " \n");
  size_t end = strlen(line);
  while (end > n && strchr(" \n", line[end - 1])) end--;
  const char *whole = str_copy_n(line, end), *argument = whole + n + strspn(whole + n, " ");
  const char *names[COMMANDS];
  for (int i = 0; i < COMMANDS; i++) {
    names[i] = commands[i].name;
    if (strlen(names[i]) != n || strncmp(names[i], line, n) != 0) continue;
    commands[i].run(argument);
    tool_flush();
    return;
  }
  const char *name = str_copy_n(line, n);
  Diag *d = diag_error((Span){0}, "unknown command ':%s'", name);
  diag_near(d, name, names, COMMANDS);
  diag_help(d, ":help lists the commands");
  tool_flush();
}

/* ---- completion ---- */

static void complete_path(const char *prefix, StrVec *words) {
  const char *slash = strrchr(prefix, '/');
  const char *folder = slash ? str_copy_n(prefix, (size_t)(slash + 1 - prefix)) : "";
  const char *name = prefix + strlen(folder);
  DIR *dir = opendir(*folder ? folder : ".");
  for (struct dirent *e; dir && (e = readdir(dir));) {
    if (strncmp(e->d_name, name, strlen(name)) != 0 || (e->d_name[0] == '.' && !*name)) continue;
    const char *path = str_format("%s%s", folder, e->d_name);
    struct stat info;
    bool is_folder = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    vec_push(words, is_folder ? str_format("%s/", path) : path);
  }
  if (dir) closedir(dir);
}

void repl_complete_command(const char *line, size_t cursor, size_t *start, StrVec *words) {
  size_t word = cursor;
  while (word > 0 && line[word - 1] != ' ') word--;
  const char *prefix = str_copy_n(line + word, cursor - word);
  *start = word;
  if (word == 0) {
    for (int i = 0; i < COMMANDS; i++)
      if (strncmp(commands[i].name, prefix + 1, strlen(prefix + 1)) == 0)
        vec_push(words, str_format(":%s", commands[i].name));
  } else if (strncmp(line, ":load ", 6) == 0 || strncmp(line, ":save ", 6) == 0) {
    complete_path(prefix, words);
  } else if (strncmp(line, ":passes ", 8) == 0) {
    for (int i = 0; pass_at(i); i++)
      if (strncmp(pass_at(i)->name, prefix, strlen(prefix)) == 0) vec_push(words, pass_at(i)->name);
  } else {
    complete_in(repl.session, line, cursor, start, words);
  }
}
