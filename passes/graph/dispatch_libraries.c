/* dispatch_libraries.c -- what libraries take becomes calls of their functions.
 *
 * In:  dataflow blocks of operators. Out: R.call_dps_packed of a library's function in the place of
 * what a pattern of the library finds; the rest stays. With the target option -lib-times, only
 * where the library was measured to be faster. Not: plain blocks of bindings. See:
 * docs/libraries.md; the patterns are in stdlib/library/, the rule in
 * stdlib/module/tvm/relax/backend/library.tvms. */
#include "passes/passes.h"

Node *(*libraries_hook)(Node *module, const char *libs, const Target *target);

Node *pass_dispatch_libraries(Node *module, const PassContext *context) {
  const char *libs = pass_option_str(context, "libs");
  const Target *t = context->target;
  bool asks = t && map_has(&t->options, str_intern("libs")); /* not every kind can */
  if (!*libs && asks) libs = target_option(t, "libs");
  return *libs && libraries_hook ? libraries_hook(module, libs, asks ? t : NULL) : module;
}
