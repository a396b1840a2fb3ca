/* module.c -- the interpreter as a back end: a module whose functions it runs.
 *
 * A loaded module lives in collected memory. What only the runtime points to is held by `live`. */
#include "target/interp/interp.h"
#include "passes/passes.h"
#include <ffi.h>

/* ---- what must stay while the runtime has it ---- */

static Map live; /* objects to themselves */

static void hold(void *p) { map_set(&live, p, p); }
static void let_go(void *p) { map_remove(&live, p); }

/* ---- functions, when first asked for ---- */

Node *module_function(Module *m, const char *name) {
  int i = (int)(intptr_t)map_get(&m->index, str_intern(name));
  return i ? AS(IRModule, m->node)->functions.at[i - 1] : NULL;
}

static _Noreturn void no_function(Module *m, const char *name, const char *what, Span span) {
  if (!module_function(m, name)) fault(span, "the module has no function '%s'", name);
  fault(span, "'%s' is no %s", name, what);
}

Program *module_program(Module *m, const char *name, Span span) {
  name = str_intern(name);
  Program *p = map_get(&m->programs, name);
  if (p) return p;
  Node *f = module_function(m, name);
  if (!IS(PrimFunc, f)) no_function(m, name, "tensor program", span);
  const char *symbol = func_symbol(f);
  p = program_new(m, AS(PrimFunc, f), symbol ? symbol : name, false);
  map_set(&m->programs, name, p);
  return p;
}

Closure *module_graph(Module *m, const char *name) {
  name = str_intern(name);
  Closure *c = map_get(&m->graphs, name);
  if (c) return c;
  Node *f = module_function(m, name);
  if (!IS(Function, f)) return NULL;
  c = NEW(Closure, .f = AS(Function, f), .name = name, .code = gcode_new(m));
  map_set(&m->graphs, name, c);
  return c;
}

/* ---- function values as objects ---- */

static void release_export(void *self) { let_go(self); }

TvmsFunc *module_function_object(Module *m, Closure *c, Span span) {
  Export *e = NEW(Export, .module = m, .name = c->name, .closure = c);
  TvmsFunc *f;
  if (tvms_func_new(&f, interp_entry, e, release_export)) fault_runtime(span);
  hold(e);
  return f;
}

/* ---- addresses: a small piece of code for each function ---- */

typedef struct Trampoline {
  ffi_closure *closure;
  void *address;
  ffi_cif cif;
  ffi_type *types[6];
  Export *e;
} Trampoline;

static void run_trampoline(ffi_cif *cif, void *ret, void **args, void *self) {
  (void)cif;
  int status = interp_entry(self, *(const TvmsValue **)args[1], *(const int **)args[2],
                            *(int *)args[3], *(TvmsValue **)args[4], *(int **)args[5]);
  *(ffi_sarg *)ret = status;
}

static Trampoline *new_trampoline(Module *m, const char *name, Node *func, Span span) {
  Trampoline *t = NEW(Trampoline, .e = NEW(Export, .module = m, .name = name, .func = func));
  for (int i = 0; i < 6; i++) t->types[i] = i == 3 ? &ffi_type_sint32 : &ffi_type_pointer;
  t->closure = ffi_closure_alloc(sizeof *t->closure, &t->address);
  bool ok = t->closure &&
            ffi_prep_cif(&t->cif, FFI_DEFAULT_ABI, 6, &ffi_type_sint32, t->types) == FFI_OK &&
            ffi_prep_closure_loc(t->closure, &t->cif, run_trampoline, t->e, t->address) == FFI_OK;
  if (!ok) fault(span, "'%s' can't be given an address in this process", name);
  return t;
}

void *module_address(Module *m, const char *name, Span span) {
  name = str_intern(name);
  Trampoline *t = map_get(&m->addresses, name);
  if (t) return t->address;
  if (!module_program(m, name, span)->is_packed)
    fault(span, "'%s' is no packed function, so it has no address", name);
  t = new_trampoline(m, name, module_function(m, name), span);
  map_set(&m->addresses, name, t);
  return t->address;
}

/* ---- loading ---- */

static void release_module(void *state) {
  Module *m = state;
  for (int i = 0; i < m->addresses.len; i++)
    if (m->addresses.at[i].key) ffi_closure_free(((Trampoline *)m->addresses.at[i].value)->closure);
  for (int i = 0; i < m->constants.len; i++)
    if (m->constants.at[i].key) tvms_release(m->constants.at[i].value);
  m->addresses = m->constants = (Map){0};
  let_go(m);
}

static TvmsModule *load(Node *node, const Target *target) {
  bool is_sim = str_same(target->kind, "sim");
  if (!is_sim) node = pass_find("CheckDims")->run(node, NULL);
  Module *m = NEW(Module, .node = node, .index = module_index(node), .target = target,
                  .checks = is_sim && target_option_int(target, "sanitize"));
  IRModule *ir = AS(IRModule, node);
  VEC(TvmsExport) exports = {0};
  VEC(Export *) kept = {0};
  for (int i = 0; i < ir->functions.len; i++) {
    Node *f = ir->functions.at[i];
    const char *symbol = func_symbol(f);
    if (!symbol) continue;
    Export *e = NEW(Export, .module = m, .name = AS(GlobalVar, ir->globals.at[i])->name, .func = f);
    vec_push(&kept, e);
    vec_push(&exports, ((TvmsExport){symbol, interp_entry, e}));
  }
  m->exports = kept.at;
  TvmsModule *out;
  if (tvms_module_new(&out, exports.len, exports.at, m, release_module)) fault_runtime((Span){0});
  hold(m);
  interp_set_thread();
  return out;
}

const Backend backend_interp = {.name = "interp",
                                .doc = "the reference interpreter: slow, checks everything",
                                .takes_any_stage = true,
                                .load = load};
