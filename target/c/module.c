/* module.c -- the whole file: prelude, declarations, functions, the table of exports.
 *
 * Functions that no export reaches are left out, as are helpers that no line calls: the text
 * compiles without warnings. */
#include "target/describe.h"
#include "target/abi_table.h"
#include "target/c/c.h"
#include "target/runtime/tvms.h"

/* ---- the prelude ---- */

static const char includes[] = "#include <math.h>\n"
                               "#include <stdbool.h>\n"
                               "#include <stdint.h>\n"
                               "#include <stdlib.h>\n"
                               "#include <string.h>\n";

/* Of tvms.h and abi.h. */
static const char types[] =
    "typedef union TvmsValue {\n  int64_t i;\n  double f;\n  void *p;\n  const char *s;\n} "
    "TvmsValue;\n"
    "\n"
    "typedef int (*TvmsPackedFunc)(void *self, const TvmsValue *args, const int *types, int n, "
    "TvmsValue *ret,\n                              int *ret_type);\n"
    "\n"
    "typedef struct TvmsModuleInfo {\n  int32_t abi_version, count;\n  const char *const *names;\n"
    "  const TvmsPackedFunc *functions;\n  const char *const *signatures;\n  const char *target;\n"
    "} TvmsModuleInfo;\n";

static bool mentions(const char *text, const char *name) {
  size_t n = strlen(name);
  for (const char *at = strstr(text, name); at; at = strstr(at + 1, name)) {
    bool begins = at == text || !strchr("abcdefghijklmnopqrstuvwxyz_0123456789", at[-1]);
    if (begins && at[n] == '(') return true;
  }
  return false;
}

/* Pointers to what may be constant: the arguments of a packed function are. */
static void declare_runtime(CGen *g, Str *s, const char *functions) {
  str_add(s, "\n");
  for (int i = 0; i < runtime_function_count; i++) {
    const RuntimeFunction *f = &runtime_functions[i];
    if (!mentions(functions, f->name)) continue;
    DataType params[RUNTIME_PARAMS_MAX], ret = runtime_function_result(f);
    int n = runtime_function_params(f, params);
    str_printf(s, "%s%s%s(", c_type(g, ret), dtype_is_handle(ret) ? "" : " ", f->name);
    for (int k = 0; k < n; k++)
      str_printf(s, "%s%s%s", k ? ", " : "", dtype_is_handle(params[k]) ? "const " : "",
                 c_type(g, params[k]));
    str_add(s, n ? ");\n" : "void);\n");
  }
}

static void declare_externs(Str *s, const Map *externs) {
  for (int i = 0; i < externs->len; i++) str_printf(s, "%s\n", (const char *)externs->at[i].value);
}

/* A helper stands behind those that it calls, so whether it is needed is known backwards. */
void c_add_helpers(Str *s, const Map *helpers, const char *functions) {
  bool *needed = NEW_ARRAY(bool, helpers->len + 1);
  for (int i = helpers->len - 1; i >= 0; i--) {
    const char *name = helpers->at[i].key;
    needed[i] = mentions(functions, name);
    for (int k = i + 1; k < helpers->len && !needed[i]; k++)
      needed[i] = needed[k] && mentions(helpers->at[k].value, name);
  }
  for (int i = 0; i < helpers->len; i++)
    if (needed[i]) str_printf(s, "\n%s", (const char *)helpers->at[i].value);
}

/* ---- the table of exports ---- */

static const char *c_name_of(CGen *g, Node *func) {
  IRModule *m = AS(IRModule, g->module);
  for (int i = 0; i < m->functions.len; i++)
    if (m->functions.at[i] == func)
      return map_get(&g->kernels, str_intern(AS(GlobalVar, m->globals.at[i])->name));
  BUG("a function of another module");
}

static void add_table(Str *s, const char *type, const char *name, const StrVec *items) {
  str_printf(s, "\nstatic %s%s[] = {\n", type, name);
  for (int i = 0; i < items->len; i++) str_printf(s, "  %s,\n", items->at[i]);
  str_add(s, items->len ? "};\n" : "  0,\n};\n");
}

static void add_module_info(CGen *g, Str *s, const NodeVec *exports) {
  StrVec names = {0}, functions = {0}, signatures = {0};
  for each (Node *, f, exports) {
    vec_push(&names, c_string(func_symbol(*f)));
    vec_push(&functions, c_name_of(g, *f));
    vec_push(&signatures, c_string(dict_get_str(AS(PrimFunc, *f)->attrs, "tvms.signature", "")));
  }
  add_table(s, "const char *const ", "tvms_names", &names);
  add_table(s, "const TvmsPackedFunc ", "tvms_functions", &functions);
  add_table(s, "const char *const ", "tvms_signatures", &signatures);
  str_printf(s,
             "\nextern const TvmsModuleInfo tvms_module_info;\n"
             "const TvmsModuleInfo tvms_module_info = {%d, %d, tvms_names, tvms_functions, "
             "tvms_signatures,\n  %s};\n",
             TVMS_ABI_VERSION, exports->len, c_string(target_text(g->target)));
  str_printf(s,
             "\nextern const char tvms_module_text[];\n"
             "const char tvms_module_text[] = %s;\n",
             c_string(module_description(g->module, g->target, "any")));
}

/* ---- functions ---- */

typedef struct Reach {
  CGen *g;
  Map found; /* interned names, in the order found */
} Reach;

static WalkResult find_callees(Walker *w, Node *n) {
  Reach *r = w->context;
  if (IS(GlobalVar, n)) map_set(&r->found, str_intern(AS(GlobalVar, n)->name), n);
  return WALK_ON;
}

static Map reached(CGen *g) {
  Reach r = {.g = g};
  IRModule *m = AS(IRModule, g->module);
  Walker w = {.enter = find_callees, .context = &r};
  for (int i = 0; i < m->functions.len; i++) {
    Node *f = m->functions.at[i];
    bool exported = IS(PrimFunc, f) && lowered_is_packed(AS(PrimFunc, f)) && func_symbol(f);
    if (exported) map_set(&r.found, str_intern(AS(GlobalVar, m->globals.at[i])->name), f);
  }
  for (int i = 0; i < r.found.len; i++) {
    Node *f = module_find(g->module, r.found.at[i].key);
    if (f) walk(&w, f);
  }
  return r.found;
}

/* An export has the name that it has in the llvm target, if C has such names. */
static void name_function(CGen *g, const char *name, PrimFunc *f) {
  const char *symbol = lowered_is_packed(f) ? func_symbol(&f->node) : NULL, *made;
  if (symbol && c_is_identifier(symbol)) {
    made = str_format(EXPORT_PREFIX "%s", symbol);
    map_set(&g->names, str_intern(made), f);
  } else if (symbol) made = str_format(EXPORT_PREFIX "%s", c_name(symbol, &g->names, NULL));
  else made = c_name(str_format("%s_kernel", name), &g->names, NULL);
  map_set(&g->kernels, str_intern(name), (void *)(uintptr_t)made);
}

static WalkResult note_extern(Walker *w, Node *n) {
  CGen *g = w->context;
  bool is_extern = is_intrin_call(n, "call_extern") || is_intrin_call(n, "call_pure_extern");
  NodeVec args = is_extern ? AS(Call, n)->args : (NodeVec){0};
  if (args.len && IS(StringImm, args.at[0]))
    map_set(&g->names, str_intern(AS(StringImm, args.at[0])->value), n);
  return WALK_ON;
}

/* Nothing of ours may have the name of a C function that is called. */
static void take_names_of_externs(CGen *g) {
  Walker w = {.enter = note_extern, .context = g};
  for each (Node *, f, &AS(IRModule, g->module)->functions) walk(&w, *f);
}

typedef void Visit(CGen *g, const char *name, PrimFunc *f, Str *s);

static void each_function(CGen *g, const Map *found, Visit *visit, Str *s) {
  IRModule *m = AS(IRModule, g->module);
  for (int i = 0; i < m->functions.len; i++) {
    const char *name = AS(GlobalVar, m->globals.at[i])->name;
    if (IS(PrimFunc, m->functions.at[i]) && map_has(found, str_intern(name)))
      visit(g, name, AS(PrimFunc, m->functions.at[i]), s);
  }
}

static void visit_name(CGen *g, const char *name, PrimFunc *f, Str *s) {
  (void)s;
  name_function(g, name, f);
}
static void visit_prototype(CGen *g, const char *name, PrimFunc *f, Str *s) {
  str_printf(s, "%s;\n", c_prototype(g, name, f));
}
static void visit_body(CGen *g, const char *name, PrimFunc *f, Str *s) {
  (void)s;
  c_function(g, name, f);
}

const char *c_module(Node *module, const Target *target, bool in_process) {
  CGen g = {.dialect = &c_dialect, .target = target, .module = module, .in_process = in_process};
  NodeVec exports = lowered_exports(module);
  Map found = reached(&g);
  Str prototypes = {0}, s = {0};
  take_names_of_externs(&g);
  each_function(&g, &found, visit_name, NULL);
  each_function(&g, &found, visit_prototype, &prototypes);
  each_function(&g, &found, visit_body, NULL);
  const char *functions = str_text(&g.functions);
  str_add(&s, "/* Made by tvms. To a library that tvms_module_load takes:\n"
              " *     cc -std=c11 -O2 -ffp-contract=off -fPIC -shared FILE.c -o FILE.so -lm */\n");
  str_printf(&s, "%s\n%s", includes, types);
  declare_runtime(&g, &s, functions);
  declare_externs(&s, &g.externs);
  c_add_helpers(&s, &g.helpers, functions);
  str_printf(&s, "\n%s%s", str_text(&prototypes), functions);
  add_module_info(&g, &s, &exports);
  return str_text(&s);
}
