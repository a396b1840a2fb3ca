/* typing.c -- the module typing: names for annotations, which nothing evaluates. */
#include "lang/builtin/builtin.h"

Value typing_load(void) {
  static const char *const names[] = {"Any",     "Callable", "ClassVar", "Dict",     "Final",
                                      "Generic", "Iterable", "Iterator", "List",     "Literal",
                                      "Mapping", "NoReturn", "Optional", "Protocol", "Sequence",
                                      "Set",     "Tuple",    "Type",     "Union"};
  Value ns = value_namespace("typing");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    namespace_set(ns, names[i],
                  value_class(NEW(ClassObject, .name = names[i], .is_builtin = true)));
  return ns;
}
