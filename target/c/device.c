/* device.c -- what the dialects for devices have in common: kernels, threads, memory of one size.
 */
#include "target/c/c.h"
#include "lower/lower.h"

void c_take_words(CGen *g, const char *const *words, size_t n) {
  for (size_t i = 0; i < n; i++) map_set(&g->names, str_intern(words[i]), g);
}

void c_take_cpp_words(CGen *g) {
  static const char *const words[] = {
      "alignof",         "and",      "and_eq",    "bitand",       "bitor",     "catch",
      "char16_t",        "char32_t", "class",     "compl",        "concept",   "const_cast",
      "constinit",       "decltype", "delete",    "dynamic_cast", "explicit",  "export",
      "friend",          "mutable",  "namespace", "new",          "noexcept",  "not",
      "not_eq",          "operator", "or",        "or_eq",        "private",   "protected",
      "public",          "requires", "consteval", "co_await",     "co_return", "co_yield",
      "static_cast",     "template", "this",      "throw",        "try",       "typeid",
      "typename",        "using",    "virtual",   "wchar_t",      "xor",       "xor_eq",
      "reinterpret_cast"};
  c_take_words(g, words, sizeof words / sizeof *words);
}

void c_take_vector_types(CGen *g) {
  static const char *const elements[] = {"char", "uchar", "short", "ushort", "int",  "uint",
                                         "long", "ulong", "float", "double", "half", "bool"};
  static const int lanes[] = {2, 3, 4, 8, 16};
  for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
    for (size_t k = 0; k < sizeof lanes / sizeof *lanes; k++)
      map_set(&g->names, str_intern(str_format("%s%d", elements[i], lanes[k])), g);
}

void c_kernels(CGen *g, void (*write)(CGen *g, const char *name, PrimFunc *f)) {
  IRModule *m = AS(IRModule, g->module);
  for (int i = 0; i < m->functions.len; i++)
    if (is_device_function(m->functions.at[i]))
      map_set(&g->names, str_intern(AS(GlobalVar, m->globals.at[i])->name), m->functions.at[i]);
  for (int i = 0; i < m->functions.len; i++)
    if (is_device_function(m->functions.at[i]))
      write(g, AS(GlobalVar, m->globals.at[i])->name, AS(PrimFunc, m->functions.at[i]));
}

bool c_block_size(PrimFunc *f, int64_t size[3]) {
  for (int i = 0; i < 3; i++) size[i] = 1;
  for (Node *n = f->body; IS(AttrStmt, n) && IS(IterVar, AS(AttrStmt, n)->subject);
       n = AS(AttrStmt, n)->body) {
    const char *tag = AS(IterVar, AS(AttrStmt, n)->subject)->thread_tag;
    if (!str_begins(tag, "threadIdx.")) continue;
    if (!expr_is_const_int(AS(AttrStmt, n)->value, &size[tag[strlen(tag) - 1] - 'x'])) return false;
  }
  return true;
}

bool c_thread(CGen *g, AttrStmt *n, const char *(*number)(bool is_block, char axis)) {
  if (!str_same(n->key, "thread_extent") || !IS(IterVar, n->subject)) return false;
  IterVar *iter = AS(IterVar, n->subject);
  const char *tag = iter->thread_tag;
  int64_t extent;
  bool known = expr_is_const_int(n->value, &extent);
  range_bind(&g->f->ranges, iter->var, (Range64){0, known ? extent - 1 : INT32_MAX});
  CVar *v = c_bind(g, iter->var);
  if (c_is_used(g, iter->var))
    c_line(g, "%s%s = %s;", g->dialect->declare ? "" : "const ", c_declare(g, iter->var, v),
           c_cast(g,
                  (CText){number(str_begins(tag, "blockIdx."), tag[strlen(tag) - 1]), BINDS_ATOM},
                  DTYPE_OF(UINT, 32), iter->var->dtype)
               .at);
  return true;
}

const char *c_kernel(CGen *g, const char *name, PrimFunc *f, CKernelHead *head, void *context) {
  Str lines = {0};
  CUses uses = c_uses_of(f->body);
  CFunc state = {.sort = CFUNC_DEVICE,
                 .uses = &uses,
                 .name = name,
                 .c_name = name,
                 .result = VOID_TYPE,
                 .may_alias = !dict_get_int(f->attrs, "tir.noalias", 1),
                 .depth = 1,
                 .out = &lines};
  g->f = &state;
  head(g, f, context);
  c_stmt(g, f->body);
  g->f = NULL;
  return str_text(&lines);
}

void c_check_buffers(CGen *g, PrimFunc *f, int buffers) {
  int64_t most = target_most_buffers(g->target);
  if (buffers > most)
    error_raisef("CompileError", f->node.span,
                 "kernel %s: it has %d buffers, but the target has at most %lld: give it fewer "
                 "tensors, or, if the device can do more, build with -max_storage_buffers=%d",
                 g->f->name, buffers, (long long)most, buffers);
}

CVar *c_kernel_param(CGen *g, PrimFunc *f, Node *param) {
  c_check_type(g, param->dtype, param->span);
  CVar *v = c_bind(g, param);
  if (!dtype_is_handle(param->dtype)) return v;
  if (dtype_is_void(v->elem))
    error_raisef("CompileError", f->node.span, "%s: what '%s' points to is not known", g->f->name,
                 v->name);
  const CUses *uses = g->f->uses;
  v->is_const = !map_has(&uses->named, param) && !map_has(&uses->stored, param);
  return v;
}

int64_t c_constant_size(Allocate *n) {
  int64_t count = n->elem.lanes, extent;
  for each (Node *, e, &n->extents) {
    if (!expr_is_const_int(*e, &extent))
      error_raisef("CompileError", n->node.span,
                   "a thread can't allocate '%s' of %s elements: its size must be a constant",
                   AS(Var, n->var)->name, ir_print(*e, NULL));
    count *= extent;
  }
  return count ? count : 1;
}

/* ---- memory ---- */

static bool is_shared(Allocate *n) {
  const char *scope = AS(Var, n->var)->scope;
  return scope && str_begins(scope, "shared");
}

void c_allocate_local(CGen *g, Allocate *n) {
  if (is_shared(n)) return;
  int64_t count = c_constant_size(n);
  CVar *v = c_bind(g, n->var);
  v->elem = dtype_element(n->elem);
  c_line(g, "%s %s[%lld];", c_type_in_memory(g, v->elem), v->name, (long long)count);
}

typedef struct EachShared {
  CGen *g;
  void (*declare)(CGen *g, CVar *v, int64_t count, void *context);
  void *context;
} EachShared;

static WalkResult visit_shared(Walker *w, Node *n) {
  EachShared *e = w->context;
  if (!IS(Allocate, n)) return node_is_expr(n) ? WALK_PRUNE : WALK_ON;
  if (!is_shared(AS(Allocate, n))) return WALK_ON;
  CVar *v = c_bind(e->g, AS(Allocate, n)->var);
  v->elem = dtype_element(AS(Allocate, n)->elem);
  e->declare(e->g, v, c_constant_size(AS(Allocate, n)), e->context);
  return WALK_ON;
}

void c_each_shared(CGen *g, Node *body,
                   void (*declare)(CGen *g, CVar *v, int64_t count, void *context), void *context) {
  EachShared e = {g, declare, context};
  Walker w = {.enter = visit_shared, .context = &e};
  walk(&w, body);
}

/* ---- builtins ---- */

/* Threads of a warp of one need not wait for each other. */
static void barrier(CGen *g, Call *n) {
  Node *scope = n->args.len ? n->args.at[0] : NULL;
  const char *of = IS(StringImm, scope) ? AS(StringImm, scope)->value : "shared";
  bool is_warp = str_same(of, "warp");
  if (is_warp && target_option_int(g->target, "thread_warp_size") > 1)
    c_unsupported(g, &n->node, "a barrier of a warp");
  if (!is_warp) c_line(g, "%s", g->dialect->barriers[str_same(of, "global")]);
}

bool c_device_call(CGen *g, Call *n, const char *name, CText *out) {
  *out = (CText){"", BINDS_ATOM};
  if (str_same(name, "tvm_storage_sync")) return barrier(g, n), true;
  if (str_same(name, "call_extern") || str_same(name, "call_pure_extern"))
    c_unsupported(g, &n->node, str_format("T.%s", name));
  c_refuse_of_hosts(g, n, name);
  return false;
}

void c_refuse_of_hosts(CGen *g, Call *n, const char *name) {
  static const char *const of_hosts[] = {
      "call_packed",          "call_cpacked",     "ret",
      "tvm_throw_last_error", "tvm_stack_alloca", "tvm_stack_make_shape"};
  for (size_t i = 0; i < sizeof of_hosts / sizeof *of_hosts; i++)
    if (str_same(name, of_hosts[i])) c_unsupported(g, &n->node, str_format("T.%s", name));
}
