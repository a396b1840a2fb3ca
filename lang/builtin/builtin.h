/* builtin.h -- the built-in functions and modules: a table of rows each. */
#ifndef LANG_BUILTIN_BUILTIN_H
#define LANG_BUILTIN_BUILTIN_H

#include "lang/value/object.h"

/* Puts print, len, ... into the outermost scope and registers math, time, sys, ... */
void builtins_start(int argc, char **argv);

typedef struct BuiltinTable {
  const Builtin *rows;
  int n;
} BuiltinTable;
extern const BuiltinTable core_builtins, iteration_builtins, type_builtins, number_builtins,
    file_builtins;
void types_start(void); /* int, str, list, ...: the types that can be called */

Value math_load(void), time_load(void), sys_load(void), os_load(void), os_path_load(void),
    random_load(void), json_load(void), functools_load(void), itertools_load(void),
    pytest_load(void), zlib_load(void), regex_load(void), png_load(void), inspect_load(void),
    importlib_load(void);

/* The arguments of `tvms FILE args`, FILE first: sys.argv. */
/* What sys.stdout was set to; absent while it is the standard output. */
Value sys_stdout(void);
void sys_set_args(int n, char **args);
void sys_set_home(const char *folder); /* of the script that is run: the first of sys.path */
Value sys_path(void);                  /* folders that modules are looked for in */

#endif
