/* env.c -- scopes: names to values, looked up outwards. */
#include "lang/eval/eval_impl.h"

static Env *builtins;

Env *env_builtins(void) {
  if (!builtins) builtins = NEW(Env, .outer = NULL);
  return builtins;
}

Env *env_new(Env *outer) { return NEW(Env, .outer = outer); }

Env *env_keep(Env *env) {
  bool passing = false;
  for (Env *e = env; e; e = e->outer) passing |= e->on_stack;
  if (!passing) return env;
  Env *copy = gc_copy(env, sizeof *env);
  copy->outer = env_keep(env->outer);
  copy->names.at = gc_copy(env->names.at, sizeof(NameEntry) * (size_t)(env->names.len + 1));
  copy->names.cap = env->names.len;
  copy->plan = NULL; /* it may get more names */
  copy->on_stack = false;
  return copy;
}

Env *env_module(Env *env) {
  while (env->outer && env->outer != builtins) env = env->outer;
  return env;
}

static bool has_name(const StrVec *names, const char *name) {
  for each (const char *, n, names)
    if (*n == name) return true;
  return false;
}

static bool declares_global(const Env *env, const char *name) {
  return env->plan && env->plan->globals.len && has_name(&env->plan->globals, name);
}

/* The value of a name, or NULL; *hint (if not NULL) then finds it again from the same tree. */
static Value *look_up(Env *env, const char *name, uint32_t *hint) {
  uint32_t hops = 0;
  bool fixed = true;
  for (Env *e = env; e; e = e->outer, hops++) {
    int place = names_find(&e->names, name);
    if (place >= 0) {
      if (hint && fixed && hops < 256 && place < 0xffffff)
        *hint = hops << 24 | (uint32_t)(place + 1);
      Value *x = &e->names.at[place].value;
      return x->type ? x : NULL; /* NULL: assigned later in the function */
    }
    if (declares_global(e, name))
      while (e->outer != env_module(env)) {
        fixed &= e->plan || e->is_comprehension;
        e = e->outer;
        hops++;
      }
    fixed &= e->plan || e->is_comprehension;
  }
  return NULL;
}

Value *env_find(Env *env, const char *name) { return look_up(env, name, NULL); }

void env_set(Env *env, const char *name, Value x) { names_set(&env->names, name, x); }

void env_assign(Env *env, const char *name, Value x) {
  while (env->is_comprehension) env = env->outer;
  if (declares_global(env, name)) return env_set(env_module(env), name, x);
  if (env->plan && has_name(&env->plan->nonlocals, name)) {
    for (Env *e = env->outer; e && e->outer != builtins; e = e->outer)
      if (names_find(&e->names, name) >= 0) return env_set(e, name, x);
  }
  env_set(env, name, x);
}

bool env_remove(Env *env, const char *name) {
  if (declares_global(env, name)) env = env_module(env);
  Value *x = names_get(&env->names, name);
  if (x && env->plan) *x = value_absent();
  else if (x) names_remove(&env->names, name);
  return x != NULL;
}

void env_names(Env *env, StrVec *names) {
  for (Env *e = env; e; e = e->outer) names_list(&e->names, names);
}

static bool is_unbound_local(Env *env, const char *name) {
  for (Env *e = env; e; e = e->outer)
    if (e->plan && names_find(&e->names, name) >= 0) return true;
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

/* ---- names in trees ---- */

Value eval_name(Env *env, Ast *e) {
  const char *name = AST_AS(Name, e)->name;
  Value *x = e->hint ? name_at(env, e->hint, name) : NULL;
  if (x && x->type) return *x;
  x = look_up(env, name, &e->hint);
  return x ? *x : env_get(env, name, e->span);
}

/* A hint that goes outwards is of a use of the name, not of the place to assign to. */
static bool assign_at_hint(Env *env, Ast *e, Value x) {
  if (!e->hint || e->hint >> 24) return false;
  Value *place = name_at(env, e->hint, AST_AS(Name, e)->name);
  if (!place) return false;
  *place = x;
  return true;
}

void bind_name_here(Env *env, Ast *e, Value x) {
  if (!assign_at_hint(env, e, x))
    e->hint = (uint32_t)(names_set(&env->names, AST_AS(Name, e)->name, x) + 1) & 0xffffff;
}

void assign_name(Env *env, Ast *e, Value x) {
  if (!env->is_comprehension && assign_at_hint(env, e, x)) return;
  const char *name = AST_AS(Name, e)->name;
  env_assign(env, name, x);
  look_up(env, name, &e->hint);
}
