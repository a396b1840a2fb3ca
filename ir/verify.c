/* verify.c -- well-formedness: every fault of a module as a diagnostic at its place.
 *
 * Checked for tensor programs (verify_tensor.c): every variable is defined once, before its use and
 * in its scope; buffers are declared; indices are integers and match ranks; operands have the
 * dtypes that their operator asks for; block variables are bound by as many values; breaks stand in
 * loops; loops are bound to threads that there are, of one extent inside each other; blocks with
 * variables of their own use no loop variable from outside (a warning). For graph functions
 * (verify_graph.c): variables are bound once and before use; dataflow variables stay in their
 * block; no call with effects stands in a dataflow block or in a pure function; operands are in
 * normal form; calls give as many arguments as the callee takes; struct info is there, has one
 * rank, and mentions no unknown dims. */
#include "ir/verify_impl.h"

Diag *verify_fault(Verifier *v, DiagCode code, Node *at, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *text = str_vformat(format, args);
  va_end(args);
  v->faults++;
  return diag_fault(code, at->span, "%s", text);
}

const char *verify_name(Node *n) {
  const char *name = IS(Var, n)      ? AS(Var, n)->name
                     : IS(Buffer, n) ? AS(Buffer, n)->name
                                     : AS(RelaxVar, n)->name;
  return name ? name : "_";
}

/* ---- scopes ---- */

int verify_begin(Verifier *v) { return v->open.len; }

void verify_end(Verifier *v, int mark) {
  if (v->open.len > mark) memset(v->sound, 0, sizeof v->sound);
  while (v->open.len > mark) map_remove(&v->scope, vec_pop(&v->open));
}

void verify_open(Verifier *v, Node *n, Node *at) {
  map_set(&v->scope, n, at);
  vec_push(&v->open, n);
}

void verify_define(Verifier *v, Node *n, Node *at) {
  if (!n) return;
  if (map_has(&v->defined, n)) {
    Diag *d = verify_fault(v, E0303, at, "'%s' is defined twice", verify_name(n));
    diag_note(d, n->span, "it is defined here");
    return;
  }
  map_set(&v->defined, n, at);
  verify_open(v, n, at);
}

void verify_need(Verifier *v, Node *n, Node *at) {
  if (map_has(&v->scope, n)) return;
  bool ended = map_has(&v->defined, n);
  Diag *d = verify_fault(
      v,
      ended           ? E0302
      : IS(Buffer, n) ? E0304
                      : E0301,
      at, ended ? "'%s' is used outside the scope that defines it" : "'%s' is not defined",
      verify_name(n));
  if (ended) diag_note(d, n->span, "it is defined here");
  else {
    if (n->span.lo != at->span.lo) diag_note(d, n->span, "it is made here");
    vec_push(&v->undefined, n);
  }
  map_set(&v->scope, n, at); /* told once */
}

/* ---- dims ---- */

static WalkResult define_dim(Walker *w, Node *n) {
  Verifier *v = w->context;
  NodeVec dims = {0};
  switch (n->kind) {
  case NK_FuncStructInfo: return WALK_PRUNE; /* its dims are its own */
  case NK_ShapeExpr: dims = AS(ShapeExpr, n)->values; break;
  case NK_ShapeStructInfo: dims = AS(ShapeStructInfo, n)->values; break;
  case NK_Buffer: dims = AS(Buffer, n)->shape; break;
  case NK_PrimStructInfo:
    if (AS(PrimStructInfo, n)->value) dims = NODES(AS(PrimStructInfo, n)->value);
    break;
  default: return WALK_ON;
  }
  for each (Node *, d, &dims)
    if (IS(Var, *d) && !map_has(&v->scope, *d)) verify_define(v, *d, *d);
  return IS(Buffer, n) ? WALK_PRUNE : WALK_ON;
}

void verify_defining_dims(Verifier *v, Node *n) {
  Walker w = {.enter = define_dim, .context = v, .once = true};
  walk(&w, n);
}

/* ---- modules ---- */

Node *verify_global(Verifier *v, Node *global) {
  v->met_global = true;
  if (!v->module) return NULL;
  const char *name = str_intern(AS(GlobalVar, global)->name);
  int i = (int)(intptr_t)map_get(&v->globals, name);
  if (!i) verify_fault(v, E0325, global, "the module has no function '%s'", name);
  return i ? v->module->functions.at[i - 1] : NULL;
}

static void verify_top(Verifier *v, Node *n) {
  if (IS(PrimFunc, n)) verify_prim_func(v, AS(PrimFunc, n));
  else if (IS(Function, n)) verify_function(v, AS(Function, n));
  else if (!IS(ExternFunc, n))
    verify_fault(v, E0399, n, "a module holds functions, found %s", node_kind_name(n->kind));
}

/* Two functions can't be found by one symbol, which matters once they get into one artifact. */
static void warn_of_symbols(const IRModule *m) {
  Map symbols = {0};
  for each (Node *, f, &m->functions) {
    const char *symbol = func_symbol(*f);
    if (!symbol) continue;
    Node *other = map_get(&symbols, str_intern(symbol));
    Diag *d = other ? diag_warning(W0114, (*f)->span, "two functions have the symbol '%s'", symbol)
                    : NULL; /* or nobody wants to know */
    if (d) diag_note(d, other->span, "the other one is here");
    map_set(&symbols, str_intern(symbol), *f);
  }
}

bool ir_verify_module(Node *module, const Map *sound) {
  IRModule *m = AS(IRModule, module);
  Verifier all = {.module = m, .globals = module_index(module)};
  if (all.globals.live != m->functions.len || m->globals.len != m->functions.len)
    verify_fault(&all, E0399, &m->node, "the module has %d names for %d functions",
                 all.globals.live, m->functions.len);
  warn_of_symbols(m);
  for each (Node *, f, &m->functions) {
    if (sound && map_has(sound, *f)) continue;
    verify_top(&all, *f);
    map_clear(&all.scope);
    map_clear(&all.defined);
  }
  return !all.faults;
}

bool ir_verify_alone(Node *function) {
  Verifier v = {0};
  DiagVec *outer = diag_capture();
  verify_top(&v, function);
  return !diag_restore(outer)->len && !v.met_global;
}

static void verify_any(Verifier *v, Node *n) {
  if (node_family(n->kind) == FAMILY_STMT) verify_stmt(v, n);
  else if (node_is_expr(n)) verify_expr(v, n);
  else verify_top(v, n);
}

bool ir_verify(Node *n) {
  if (IS(IRModule, n)) return ir_verify_module(n, NULL);
  Verifier v = {0};
  verify_any(&v, n);
  return !v.faults;
}

NodeVec ir_undefined(Node *n) {
  Verifier v = {0};
  DiagVec *outer = diag_capture();
  verify_any(&v, n);
  diag_restore(outer);
  return v.undefined;
}
