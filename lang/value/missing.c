/* missing.c -- stands for a name that was imported from a library of which only a part is here: a
 * script may import it, and fails, by its name, where it uses it. */
#include "lang/value/object.h"

static _Noreturn void not_provided(Value v, Span span) {
  raise_code(E0238, span, "%s is not provided", (const char *)v.object);
}
static bool truth(Value v, Span span) { not_provided(v, span); }
static Value attr(Value v, const char *name, Span span) {
  if (strncmp(name, "__", 2) == 0) return value_absent();
  not_provided(v, span);
}
static Value item(Value v, Value index, Span span) {
  (void)index;
  not_provided(v, span);
}
static Value call(Value f, CallArgs *args) { not_provided(f, args->span); }
static Value iter(Value v, Span span) { not_provided(v, span); }
static void repr(Value v, Str *out) {
  str_printf(out, "<%s, which is not provided>", (const char *)v.object);
}

const ValueType type_missing = {.name = "missing",
                                .truth = truth,
                                .repr = repr,
                                .get_attr = attr,
                                .get_item = item,
                                .call = call,
                                .iter = iter};

Value value_missing(const char *dotted) {
  return value_of(&type_missing, (void *)(uintptr_t)str_intern(dotted));
}
