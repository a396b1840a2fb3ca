/* namespace.c -- modules as values, and the registry that `import` looks into. */
#include "lang/value/object.h"

static Namespace *namespace_of(Value v) { return v.object; }

Value value_namespace(const char *name) {
  return value_of(&type_namespace, NEW(Namespace, .name = name));
}

void namespace_set(Value ns, const char *name, Value x) {
  names_set(&namespace_of(ns)->values, str_intern(name), x);
}

void namespace_add_builtins(Value ns, const Builtin *table, int n) {
  for (int i = 0; i < n; i++) namespace_set(ns, table[i].name, value_builtin(&table[i]));
}

void namespace_set_class(Value ns, const char *name, const TypeObject *definition) {
  type_define(definition);
  namespace_set(ns, name, value_type(definition->type));
}

/* ---- the registry ---- */

typedef struct Registered {
  const char *name; /* interned */
  Value (*load)(void);
  Value value; /* once loaded */
} Registered;

static VEC(Registered *) registry;

void namespace_register(const char *name, Value (*load)(void)) {
  vec_push(&registry, NEW(Registered, .name = str_intern(name), .load = load));
}

static Registered *find_registered(const char *name) {
  for each (Registered *, r, &registry)
    if ((*r)->name == name) return *r;
  return NULL;
}

/* Is there a registered name below this one ("tvm" for "tvm.script")? */
static bool is_parent(const char *name) {
  size_t n = strlen(name);
  for each (Registered *, r, &registry)
    if (strncmp((*r)->name, name, n) == 0 && (*r)->name[n] == '.') return true;
  return false;
}

const NamespaceLibrary *namespace_library;

static bool library_has(const char *name) {
  return namespace_library && namespace_library->has(name);
}

static Value load_registered(const char *name) {
  Registered *r = find_registered(name);
  if (!r && library_has(name)) return namespace_library->load(name);
  if (!r && is_parent(name)) {
    namespace_register(name, NULL);
    r = find_registered(name);
  }
  if (!r) return value_absent();
  if (!r->value.type) {
    r->value = value_namespace(r->name);
    if (r->load) r->value = r->load();
  }
  return r->value;
}

bool namespace_is_registered(const char *name) {
  name = str_intern(name);
  return find_registered(name) || library_has(name) || is_parent(name);
}

Value namespace_import(const char *name, Span span) {
  Value v = load_registered(str_intern(name));
  if (v.type) return v;
  StrVec names = {0};
  namespace_registered_names(&names);
  const char *near = str_near(name, names.at, names.len);
  raise("ModuleNotFoundError", span, "no module named '%s'%s", name,
        near ? str_format(" (did you mean '%s'?)", near) : "");
}

/* Names that begin with _ are for modules of the library. */
void namespace_registered_names(StrVec *out) {
  for each (Registered *, r, &registry)
    if (*(*r)->name != '_') vec_push(out, (*r)->name);
}

/* ---- as a value ---- */

static Value get_attr(Value v, const char *name, Span span) {
  Namespace *ns = namespace_of(v);
  Value *x = names_get(&ns->values, name);
  if (x) return *x;
  if (ns->find) {
    Value found = ns->find(ns, name);
    if (found.type) return found;
  }
  if (strcmp(name, "__name__") == 0) return value_str(ns->name);
  Value below = load_registered(str_intern(str_format("%s.%s", ns->name, name)));
  Value ask = below.type || *name == '_' || !ns->find ? value_absent()
                                                      : ns->find(ns, INTERNED("__getattr__"));
  Value text = value_str(name);
  return ask.type ? value_call_with(ask, 1, &text, span) : below;
}

static bool set_attr(Value v, const char *name, Value x, Span span) {
  (void)span;
  if (namespace_of(v)->set) namespace_of(v)->set(v.object, name, x);
  else namespace_set(v, name, x);
  return true;
}

static void attr_names(Value v, StrVec *out) {
  Namespace *ns = namespace_of(v);
  size_t n = strlen(ns->name);
  StrVec own = {0};
  names_list(&ns->values, &own);
  for each (const char *, name, &own) /* those with _ are for modules of the library */
    if (!name_is_private(*name)) vec_push(out, *name);
  if (ns->names) ns->names(ns, out);
  for each (Registered *, r, &registry)
    if (strncmp((*r)->name, ns->name, n) == 0 && (*r)->name[n] == '.' && (*r)->name[n + 1] != '_' &&
        !strchr((*r)->name + n + 1, '.'))
      vec_push(out, (*r)->name + n + 1);
}

static void repr(Value v, Str *out) { str_printf(out, "<module '%s'>", namespace_of(v)->name); }
static uint64_t hash(Value v) { return (uint64_t)(uintptr_t)v.object >> 4; }

const ValueType type_namespace = {.name = "module",
                                  .repr = repr,
                                  .get_attr = get_attr,
                                  .set_attr = set_attr,
                                  .attr_names = attr_names,
                                  .hash = hash};
