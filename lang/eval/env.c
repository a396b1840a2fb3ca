/* env.c -- scopes: names to values, looked up outwards. */
#include "lang/eval/eval_impl.h"

static Env *builtins;

Env *env_builtins(void) {
  if (!builtins) builtins = NEW(Env, .outer = NULL);
  return builtins;
}

Env *env_new(Env *outer) { return NEW(Env, .outer = outer); }

Env *env_module(Env *env) {
  while (env->outer && env->outer != builtins) env = env->outer;
  return env;
}

static bool has_name(const StrVec *names, const char *name) {
  for each (const char *, n, names)
    if (*n == name) return true;
  return false;
}

Value *env_find(Env *env, const char *name) {
  for (Env *e = env; e; e = e->outer) {
    Value *x = map_get(&e->names, name);
    if (x) return x;
    if (e->locals && map_has(e->locals, name)) return NULL; /* assigned later in the function */
    if (e->globals.len && has_name(&e->globals, name))
      e = env_module(e), x = map_get(&e->names, name);
    if (x) return x;
  }
  return NULL;
}

void env_set(Env *env, const char *name, Value x) {
  Value *slot = map_get(&env->names, name);
  if (slot) *slot = x;
  else map_set(&env->names, name, gc_copy(&x, sizeof x));
}

void env_assign(Env *env, const char *name, Value x) {
  while (env->is_comprehension) env = env->outer;
  if (env->globals.len && has_name(&env->globals, name)) return env_set(env_module(env), name, x);
  if (env->nonlocals.len && has_name(&env->nonlocals, name)) {
    for (Env *e = env->outer; e && e->outer != builtins; e = e->outer)
      if (map_has(&e->names, name)) return env_set(e, name, x);
      else if (e->locals && map_has(e->locals, name)) return env_set(e, name, x);
  }
  env_set(env, name, x);
}

void env_names(Env *env, StrVec *names) {
  for (Env *e = env; e; e = e->outer)
    for (int i = 0; i < e->names.len; i++)
      if (e->names.at[i].key) vec_push(names, e->names.at[i].key);
}

static bool is_unbound_local(Env *env, const char *name) {
  for (Env *e = env; e; e = e->outer)
    if (e->locals && map_has(e->locals, name)) return true;
  return false;
}

Value env_get(Env *env, const char *name, Span span) {
  Value *x = env_find(env, name);
  if (x) return *x;
  if (is_unbound_local(env, name))
    raise("UnboundLocalError", span, "local variable '%s' is used before it is assigned", name);
  StrVec names = {0};
  env_names(env, &names);
  const char *near = str_near(name, names.at, names.len);
  raise("NameError", span, "name '%s' is not defined%s", name,
        near ? str_format(" (did you mean '%s'?)", near) : "");
}
