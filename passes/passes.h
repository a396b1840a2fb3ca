/* passes.h -- the door of passes/: named rewrites of modules, pipelines of them as text, and the
 * manager.
 *
 * A pass is a row of a table (pass.def here, lower.def in lower/): name, level, options, function.
 * A pipeline is written as calls, "LegalizeOps, UnrollLoop(auto_max_extent=8)", and read by the one
 * grammar. */
#ifndef PASSES_PASSES_H
#define PASSES_PASSES_H

#include "ir/ir.h"
#include "ir/target.h"

typedef enum { PASS_MODULE, PASS_GRAPH, PASS_PRIM } PassLevel;

typedef struct PassOption {
  /* VALUE: any literal; from script any value, which stands in texts as given(number) */
  enum { OPTION_INT, OPTION_BOOL, OPTION_STR, OPTION_VALUE } type;
  const char *name, *otherwise, *doc;
} PassOption;

typedef struct PassContext {
  const struct Pass *pass;
  Map options;          /* interned name to text; defaults filled in */
  const Target *target; /* NULL: none given */
  Node *module;         /* the whole module, also for passes on one function */
} PassContext;

typedef struct Pass {
  const char *name;
  PassLevel level;
  const char *doc;
  Node *(*run)(Node *n, const PassContext *context); /* the same node if nothing changed */
  const PassOption *options;
  int option_count;
  void *definition; /* of lang: a pass written in script, which takes options of any name; their
                       texts are literals */
  const char *file; /* of a row written in the language: stdlib/pass/<file>.tvms; else NULL */
} Pass;

int64_t pass_option_int(const PassContext *context, const char *name);
const char *pass_option_str(const PassContext *context, const char *name);
/* Is the name in an option that is a list of names, "f;g"? */
bool pass_option_lists(const PassContext *context, const char *option, const char *name);

/* The rows of all tables. A folder to the right adds its own at start. */
void pass_register(const Pass *rows, int n);
/* One pass from script; it replaces one of the same name. False if the name is a table's. */
bool pass_define(const Pass *pass);
const Pass *pass_find(const char *name); /* NULL if there is none */
/* Why there is no pass of a name that others have (absent.def); NULL: the name says nothing. */
const char *pass_absent(const char *name);
const Pass *pass_at(int i); /* NULL past the end */

/* One pass with its options set. */
typedef struct PassCall {
  const Pass *pass;
  Map options;
  bool is_direct; /* called by itself, not as a part of a pipeline */
} PassCall;
typedef VEC(PassCall) Pipeline;

/* Reads a pipeline. Raises PipelineError with the place in the text, near names and what there is.
 */
Pipeline pipeline_parse(const char *text, Span span);
const char *pipeline_text(const Pipeline *p); /* reads back the same; defaults left out */

/* What the manager does around passes. */
typedef struct Instruments {
  bool print_before_all, print_after_all, print_after_change;
  const char *print_after; /* the name of one pass */
  bool verify_each;        /* a fault is an internal error that names the pass */
  bool timing;             /* a table on stderr at the end */
  FILE *out;               /* NULL: stdout */
  void (*after)(void *context, const Pass *pass, Node *module); /* is told of each pass; or NULL */
  void *context;
} Instruments;

/* The module after one pass. */
Node *pass_run(const PassCall *call, Node *module, const Target *target);

/* Set by lang: the same under what the program has asked for around passes (PassContext): a pass
 * may be left out, and there may be who watches. */
extern Node *(*watched_pass_hook)(const PassCall *call, Node *module, const Target *target);

/* The module after all passes. A pass on functions runs on each of its level, in module order. */
Node *pipeline_run(const Pipeline *p, Node *module, const Target *target,
                   const Instruments *instruments);

/* Named pipelines: rows of pipeline.def and of the folders to the right. */
typedef struct NamedPipeline {
  const char *name, *text, *doc;
} NamedPipeline;
void pipeline_register(const NamedPipeline *rows, int n);
const NamedPipeline *pipeline_find(const char *name);
const NamedPipeline *pipeline_at(int i);

/* Set by lang: runs a pass of stdlib/pass/. */
extern Node *(*library_pass_hook)(Node *n, const PassContext *context);
Node *pass_of_library(Node *n, const PassContext *context);

/* Set by lang: the schedule that the rules of the language find for a tensor program, or the same
 * program. The rules and the target are those of the context. */
extern Node *(*schedule_rules_hook)(Node *func, const PassContext *context);

/* Set by lang: computes a tensor program of Constants (its parameters, but for the outputs); the
 * results, of this struct info, are Constants. False if it fails. */
extern bool (*evaluate_program_hook)(Node *program, NodeVec operands, NodeVec infos,
                                     NodeVec *results);
/* Set by lang: compiles programs that it will be asked for, at once: that is faster than one by
 * one. It may be given less than all, and forgets those of the call before. */
extern void (*prepare_programs_hook)(NodeVec programs);

/* Set by lang: the function that the registered code generator makes of a function with the
 * attribute Codegen. Raises if there is no such code generator. */
extern Node *(*codegen_hook)(const char *codegen, Node *func);

/* Set by lang: the module with calls of these libraries, "dnnl,openblas". target: one that has the
 * options of libraries, or NULL. */
extern Node *(*libraries_hook)(Node *module, const char *libs, const Target *target);

/* The rows of this folder; once, at start. */
void passes_start(void);

#define PASS(Name, function, level, doc) Node *pass_##function(Node *n, const PassContext *context);
#define OPT(type, name, otherwise, doc)
#define LIBRARY_PASS(Name, file, level, doc)
#define END
#include "passes/pass.def"

#endif
