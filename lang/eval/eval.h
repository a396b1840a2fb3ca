/* eval.h -- the evaluator: syntax trees to values and effects. The dialects T and R use it for
 * every expression inside a decorated body, so captured names and helper functions just work. */
#ifndef LANG_EVAL_EVAL_H
#define LANG_EVAL_EVAL_H

#include "lang/value/value.h"

/* A scope: names to values, and the scope around it. */
typedef struct Env Env;
struct Env {
  Names names;
  Env *outer;
  bool is_class;                    /* a class body: functions inside it do not see its names */
  bool is_comprehension;            /* := inside it binds in the scope around it */
  bool on_stack;                    /* ends with the call that made it: nothing may keep it */
  const struct FunctionPlan *plan;  /* of a call's scope: every name it assigns is in `names` */
  struct FunctionObject *function;  /* whose call this scope is, or NULL */
  struct ClassObject *class_object; /* of a class body, once it has run */
  const char *path;                 /* of the file, of a module's scope; else NULL */
};

Env *env_new(Env *outer);
Env *env_builtins(void);                              /* the outermost scope: print, len, ... */
Value *env_find(Env *env, const char *interned_name); /* NULL if no scope has it */
void env_set(Env *env, const char *interned_name, Value x); /* in this scope */
/* Raises NameError with a near name from all scopes. */
Value env_get(Env *env, const char *interned_name, Span span);

/* What may be kept: the scope itself, or a copy of one that ends with its call. */
Env *env_keep(Env *env);

/* Assigns a name as the statement `name = x` would in this scope: `global` and `nonlocal` count. */
void env_assign(Env *env, const char *interned_name, Value x);
bool env_remove(Env *env, const char *interned_name); /* del name; false if it is of no use here */
Env *env_module(Env *env);                            /* the module's scope around */
void env_names(Env *env, StrVec *names);              /* visible from here, inner first */

Value eval(Env *env, Ast *expression);
/* The arguments of a call expression, evaluated in order. */
void eval_args(Env *env, const AstVec *args, CallArgs *out);
void exec_block(Env *env, const AstVec *statements); /* host statements */

/* Binds a target (name, tuple, starred, subscript, attribute) to a value; each name through `bind`,
 * so that a dialect can give names its own meaning. */
typedef struct Binder {
  void (*bind)(struct Binder *b, Ast *target_name, Value x); /* an AstName */
  Env *env;
  void *context;
} Binder;
void bind_target(Binder *b, Ast *target, Value x, Span span);

/* A function decorator (or class decorator) that wants the syntax tree, not the function:
 * @T.prim_func. When the outermost evaluated decorator nearest to the def is such a value, the def
 * is not evaluated but given to it. */
typedef struct TreeDecorator {
  const char *name;
  Value (*decorate)(Env *env, Ast *definition,
                    CallArgs *args); /* args: of @name(...), empty without */
  CallArgs *args;                    /* of @name(...); NULL without */
} TreeDecorator;
extern const ValueType type_tree_decorator; /* .object is a TreeDecorator; calling it with keywords
                                               gives one with args */

/* A function object of the language: for those who make them. */
Value function_new(Env *env, Ast *def_or_lambda);

/* What `import a.b.c` finds at the end, for the file that env is of. */
Value module_import(Env *env, const char *dotted, Span span);
/* A text file as a module; `path` ends in .tvms, or in / for a folder without a text. Run once. */
Value module_load_file(const char *name, const char *path, Span span);
/* The same of a text that the program carries. */
Value module_load_source(const char *name, const Source *source);
/* Binds the arguments of a call to the parameters, as names of `env`. */
void function_bind(struct FunctionObject *f, Env *env, CallArgs *args);

/* The number of parameters of a function object, `open` if it has *rest; -1 if the value is none.
 */
int function_arity(Value f, int open);

const char *path_folder(const char *path); /* "." for a bare name, and for NULL */

#endif
