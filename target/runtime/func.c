/* func.c -- packed functions and the process-wide registry of their names.
 *
 * The registry is a hash table (open addressing, indices into an array in the order of
 * registration) behind one reader-writer lock. No function is called under the lock. */
#include "target/runtime/runtime_impl.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void func_destroy(void *self) {
  TvmsFunc *f = self;
  if (f->release) f->release(f->self);
  tvms_release(f->module);
}

int tvms_func_new(TvmsFunc **out, TvmsPackedFunc fn, void *self, void (*release)(void *self)) {
  if (!fn) return tvms_set_error("a packed function needs an address");
  TvmsFunc *f = tvms__object_new(TVMS_FUNC, sizeof *f, 0, func_destroy);
  if (!f) return -1;
  f->fn = fn;
  f->self = self;
  f->release = release;
  f->device = kDLCPU;
  *out = f;
  return 0;
}

void tvms_func_on_device(TvmsFunc *f, DLDeviceType type) { f->device = type; }

TvmsFunc *tvms__func_of_module(TvmsModule *m, TvmsPackedFunc fn, void *self) {
  TvmsFunc *f = NULL;
  if (tvms_func_new(&f, fn, self, NULL)) return NULL;
  f->module = tvms_retain(m);
  return f;
}

int tvms__func_invoke(TvmsPackedFunc fn, void *self, const char *name, const TvmsValue *args,
                      const int *types, int n, TvmsValue *ret, int *ret_type) {
  ret->p = NULL;
  *ret_type = TVMS_NONE;
  tvms__error_clear();
  if (fn(self, args, types, n, ret, ret_type)) {
    *ret_type = TVMS_NONE;
    if (!*tvms_last_error()) tvms_set_error("%s failed without saying why", name);
    return -1;
  }
  bool counted = *ret_type >= TVMS_TENSOR && *ret_type <= TVMS_MODULE;
  bool plain = *ret_type >= TVMS_NONE && *ret_type < TVMS_DLTENSOR;
  if ((plain && *ret_type != TVMS_STR) || ((counted || plain) && ret->p)) return 0;
  int type = *ret_type;
  *ret_type = TVMS_NONE;
  return tvms_set_error("%s returned a value that a function can't return (type %d, %s)", name,
                        type, tvms__type_text(type));
}

/* Whose code the thread runs. */
static _Thread_local TvmsModule *current_module;

int tvms_func_call(TvmsFunc *f, const TvmsValue *args, const int *types, int n, TvmsValue *ret,
                   int *ret_type) {
  TvmsModule *outer = current_module;
  current_module = f->module;
  int status =
      tvms__func_invoke(f->fn, f->self, "the packed function", args, types, n, ret, ret_type);
  current_module = outer;
  return status;
}

TvmsModule *tvms__current_module(void) { return current_module; }

void tvms__func_keep_module(TvmsFunc *f) { f->module = tvms_retain(current_module); }

/* ---- the registry ---- */

typedef struct Entry {
  char *name; /* NULL: removed */
  TvmsFunc *func;
} Entry;

static struct {
  pthread_rwlock_t lock;
  Entry *at;
  int len, cap, live;
  int *slots; /* index + 1, 0 if free */
  int slot_count;
} registry = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static uint32_t hash_name(const char *name) {
  uint32_t h = 2166136261u; /* FNV-1a */
  for (; *name; name++) h = (h ^ (unsigned char)*name) * 16777619u;
  return h ^ h >> 15;
}

/* The entry, or NULL. Slots of removed entries match nothing. */
static Entry *find_entry(const char *name) {
  if (!registry.slot_count) return NULL;
  uint32_t mask = (uint32_t)registry.slot_count - 1;
  for (uint32_t i = hash_name(name) & mask; registry.slots[i]; i = (i + 1) & mask) {
    Entry *e = &registry.at[registry.slots[i] - 1];
    if (e->name && strcmp(e->name, name) == 0) return e;
  }
  return NULL;
}

static void index_entry(int entry) {
  uint32_t mask = (uint32_t)registry.slot_count - 1;
  uint32_t i = hash_name(registry.at[entry].name) & mask;
  while (registry.slots[i]) i = (i + 1) & mask;
  registry.slots[i] = entry + 1;
}

/* Drops removed entries and makes room for twice the live ones; the index is four times as large.
 */
static int rebuild(void) {
  int cap = 16;
  while (cap < registry.live * 2) cap *= 2;
  Entry *at = malloc(sizeof *at * (size_t)cap);
  int *slots = calloc((size_t)cap * 4, sizeof *slots);
  if (!at || !slots) {
    free(at);
    free(slots);
    return tvms__error_no_memory(sizeof *at * (size_t)cap);
  }
  int n = 0;
  for (int i = 0; i < registry.len; i++)
    if (registry.at[i].name) at[n++] = registry.at[i];
  free(registry.at);
  free(registry.slots);
  registry.at = at;
  registry.cap = cap;
  registry.len = n;
  registry.slots = slots;
  registry.slot_count = cap * 4;
  for (int i = 0; i < n; i++) index_entry(i);
  return 0;
}

/* Under the lock. *old is what the caller must release after unlocking. */
static int set_entry(const char *name, TvmsFunc *f, int override, TvmsFunc **old) {
  Entry *e = find_entry(name);
  if (e) {
    if (!override) return tvms_set_error("packed function '%s' is registered already", name);
    *old = e->func;
    e->func = tvms_retain(f);
    return 0;
  }
  if (registry.len == registry.cap && rebuild()) return -1;
  char *copy = tvms_string_copy(name);
  if (!copy) return -1;
  registry.at[registry.len] = (Entry){copy, tvms_retain(f)};
  index_entry(registry.len++);
  registry.live++;
  return 0;
}

int tvms_func_register(const char *name, TvmsFunc *f, int override) {
  TvmsFunc *old = NULL;
  if (!name || !*name || !f) return tvms_set_error("registering needs a name and a function");
  pthread_rwlock_wrlock(&registry.lock);
  int status = set_entry(name, f, override, &old);
  pthread_rwlock_unlock(&registry.lock);
  tvms_release(old);
  return status;
}

int tvms_func_remove(const char *name) {
  Entry old = {NULL, NULL};
  pthread_rwlock_wrlock(&registry.lock);
  Entry *e = find_entry(name);
  if (e) {
    old = *e;
    *e = (Entry){NULL, NULL};
    registry.live--;
  }
  pthread_rwlock_unlock(&registry.lock);
  if (!old.name) return tvms_set_error("packed function '%s' is not registered", name);
  free(old.name);
  tvms_release(old.func);
  return 0;
}

static TvmsFunc *find_registered(const char *name) {
  pthread_rwlock_rdlock(&registry.lock);
  Entry *e = find_entry(name);
  TvmsFunc *f = e ? tvms_retain(e->func) : NULL;
  pthread_rwlock_unlock(&registry.lock);
  return f;
}

int tvms_func_find(TvmsFunc **out, const char *name) {
  TvmsFunc *f = find_registered(name);
  if (!f) f = tvms__builtin_find(name);
  if (!f && !tvms__shim_add(name)) f = find_registered(name);
  if (!f) return -1;
  *out = f;
  return 0;
}

/* Works on a copy of the names, so that `visit` may use the registry. Without memory for the copy
 * nothing is visited. */
void tvms_func_each(void (*visit)(void *context, const char *name), void *context) {
  pthread_rwlock_rdlock(&registry.lock);
  int n = 0;
  char **names = calloc((size_t)registry.live + 1, sizeof *names);
  for (int i = 0; names && i < registry.len; i++)
    if (registry.at[i].name && (names[n] = tvms_string_copy(registry.at[i].name))) n++;
  pthread_rwlock_unlock(&registry.lock);
  for (int i = 0; i < n; i++) {
    visit(context, names[i]);
    free(names[i]);
  }
  free(names);
}
