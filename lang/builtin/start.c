/* start.c -- fills the outermost scope and registers the modules. No file is read. */
#include "lang/builtin/builtin.h"
#include "lang/builtin/tensor.h"

static void add(const BuiltinTable *table) {
  for (int i = 0; i < table->n; i++)
    env_set(env_builtins(), str_intern(table->rows[i].name), value_builtin(&table->rows[i]));
}

void builtins_start(int argc, char **argv) {
  static const struct {
    const char *name;
    Value (*load)(void);
  } modules[] = {{"math", math_load},
                 {"time", time_load},
                 {"sys", sys_load},
                 {"_os", os_load},
                 {"_os_path", os_path_load},
                 {"random", random_load},
                 {"json", json_load},
                 {"_functools", functools_load},
                 {"_itertools", itertools_load},
                 {"_pytest", pytest_load},
                 {"_zlib", zlib_load},
                 {"_re", regex_load},
                 {"_png", png_load},
                 {"_inspect", inspect_load},
                 {"importlib", importlib_load}};
  add(&core_builtins);
  add(&iteration_builtins);
  add(&type_builtins);
  add(&number_builtins);
  add(&file_builtins);
  types_start();
  env_set(env_builtins(), str_intern("NotImplemented"), (Value){.type = &type_not_implemented});
  env_set(env_builtins(), str_intern("Ellipsis"), (Value){.type = &type_ellipsis});
  env_set(env_builtins(), str_intern("object"), value_class(&object_class));
  for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
    namespace_register(modules[i].name, modules[i].load);
  sys_set_args(argc > 0 ? 1 : 0, argv);
  tensor_start();
}
