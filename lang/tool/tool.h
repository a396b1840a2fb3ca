/* tool.h -- what the subcommands share: the table, options, exit statuses. */
#ifndef LANG_TOOL_TOOL_H
#define LANG_TOOL_TOOL_H

#include "ir/support/diag.h"
#include "lang/lang.h"

enum {
  STATUS_OK = 0,
  STATUS_ERROR = 1,
  STATUS_USAGE = 2,
  STATUS_INTERNAL = 70,
  STATUS_INTERRUPTED = 130
};

#define COMMAND(name, fn, synopsis, doc) int fn(int argc, char **argv);
#include "lang/tool/command.def"

/* One option of a subcommand. With `value`, "--name VALUE" or "--name=VALUE" sets it; with `flag`,
 * "--name" sets it to true. */
typedef struct Option {
  const char *name; /* "--target" */
  char letter;      /* 'o' for "-o"; 0: none */
  const char **value;
  bool *flag;
  const char *doc;
} Option;

/* Takes the options out of argv, which keeps its first element and the operands; "--" ends them.
 * `--help` prints the synopsis and the options. False: the command is over, with *status. */
bool options_parse(const Option *options, int n, int *argc, char **argv, int *status);

/* Says what is wrong with the command line, on standard error. Returns STATUS_USAGE. */
int usage_error(const char *command, const char *format, ...) PRINTF_LIKE(2, 3);

DiagForm tool_diag_form(void); /* as the command line and the terminal ask */

/* Prints the diagnostics; STATUS_ERROR if an error is among them, else STATUS_OK. */
int tool_flush(void);

/* From now on Ctrl-C interrupts the script that runs; a second one, if nothing took the first, ends
 * the program if it is to. */
void tool_take_interrupts(bool second_one_ends);

/* Runs body(context); its error and the diagnostics are printed. The exit status. */
int tool_protected(void (*body)(void *context), void *context);

/* Writes a file whole: to a temporary name beside it first, renamed when complete. Raises OSError.
 */
void tool_write_file(const char *path, const char *text, size_t len);

/* A module that a file defines, or a function of IR as one. */
typedef struct NamedModule {
  const char *name;
  Node *module;
} NamedModule;
typedef VEC(NamedModule) NamedModuleVec;

/* What the command line tells of an ONNX model that takes the place of a text; NULL: nothing. */
typedef struct ModelOptions {
  const char *dims, *values;
} ModelOptions;

#define MODEL_OPTIONS(m)                                                                           \
  {"--dims", 0, &(m).dims, NULL, "of an ONNX model: \"batch=1,length=128\", dims of its inputs"},  \
  {                                                                                                \
    "--values", 0, &(m).values, NULL,                                                              \
        "of an ONNX model: \"rate=16000,table=t.npy\", inputs that become constants"               \
  }

/* The definitions of a text, without running the rest of the script; faults are reported. The
 * second form reads the file: NULL if it can't. */
Session *session_definitions(const Source *source, const char *path);
Session *tool_definitions(const char *path, const ModelOptions *model);
NamedModuleVec session_modules(Session *s);
/* Of an ONNX model: its module by the name Module; NULL with a diagnostic if it can't be imported.
 */
bool is_onnx(const char *path);
Session *onnx_definitions(const char *path, const ModelOptions *model);
int onnx_run(int argc, char **argv); /* `tvms run MODEL.onnx --input x=x.npy` */
int onnx_inspect(const char *path, const ModelOptions *model); /* dims not told are 1 */
/* name NULL: the only one. NULL with a diagnostic if there is none, or several. */
Node *tool_one_module(const char *command, Session *s, const char *name, const char *path);

/* parse(print(m)) equals m, and prints to the same bytes; what doesn't is reported. */
bool check_roundtrip(const char *path, const NamedModule *m, const PrintOptions *style);

/* What `tvms passes NAME` and `tvms ops NAME` print. False: there is no such operator. */
struct Pass;
void tool_print_pass(const struct Pass *p);
bool tool_print_op(const char *name);
bool tool_print_primitive(const char *name); /* the same of a schedule primitive */

/* Runs a text as a script. Prints its diagnostics. */
int tool_run_source(const Source *source, const char *path);

#endif
