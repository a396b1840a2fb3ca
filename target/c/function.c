/* function.c -- the frame of a function: its prototype, its parameters and its ways out. */
#include "target/c/c.h"

/* ---- what is used how ---- */

/* The walk meets variables where they are defined, too. */
static Node *defined_by(Node *n) {
  switch (n->kind) {
  case NK_For: return AS(For, n)->var;
  case NK_LetStmt: return AS(LetStmt, n)->var;
  case NK_Let: return AS(Let, n)->var;
  case NK_Allocate: return AS(Allocate, n)->var;
  case NK_AllocateConst: return AS(AllocateConst, n)->var;
  default: return NULL;
  }
}

typedef struct UseCount {
  CUses uses;
  Map times; /* Var to how often it was met, definitions not counted, as a pointer-sized integer */
} UseCount;

static void count(UseCount *c, Node *var, intptr_t more) {
  intptr_t times = (intptr_t)map_get(&c->times, var) + more;
  map_set(&c->times, var, (void *)times);
}

static WalkResult note_use(Walker *w, Node *n) {
  UseCount *c = w->context;
  if (IS(Var, n)) count(c, n, 1);
  if (defined_by(n)) count(c, defined_by(n), -1);
  if (IS(BufferLoad, n)) map_set(&c->uses.loaded, AS(Buffer, AS(BufferLoad, n)->buffer)->data, n);
  if (IS(BufferStore, n)) map_set(&c->uses.stored, AS(Buffer, AS(BufferStore, n)->buffer)->data, n);
  if (IS(AttrStmt, n)) return walk(w, AS(AttrStmt, n)->body), WALK_PRUNE; /* of its own: nothing */
  if (!IS(Buffer, n)) return WALK_ON;
  if (AS(Buffer, n)->elem_offset) walk(w, AS(Buffer, n)->elem_offset);
  return WALK_PRUNE;
}

CUses c_uses_of(Node *body) {
  UseCount c = {0};
  Walker w = {.enter = note_use, .context = &c};
  walk(&w, body);
  for (int i = 0; i < c.times.len; i++)
    if ((intptr_t)c.times.at[i].value > 0)
      map_set(&c.uses.named, c.times.at[i].key, c.times.at[i].value);
  return c.uses;
}

bool c_is_read(CGen *g, Node *var) {
  return map_has(&g->f->uses->named, var) || map_has(&g->f->uses->loaded, var);
}

bool c_is_used(CGen *g, Node *var) {
  return c_is_read(g, var) || map_has(&g->f->uses->stored, var);
}

/* ---- prototypes ---- */

static bool has_result(PrimFunc *f) {
  return !lowered_is_packed(f) && !dtype_is_void(f->ret_dtype);
}

/* Pointers of kernels do not alias. */
static const char *param_text(CGen *g, PrimFunc *f, Node *param, const CVar *v) {
  bool distinct = !lowered_is_packed(f) && dict_get_int(f->attrs, "tir.noalias", 1);
  if (!dtype_is_handle(param->dtype) || !distinct) return c_declare(g, param, v);
  return str_format("%s%srestrict %s", v->is_const ? "const " : "", c_pointer(g, v->elem), v->name);
}

/* Of a packed function: the types that TvmsPackedFunc has. */
static const char *packed_param(int i, const CVar *v) {
  static const char *const types[] = {"void *", "const TvmsValue *", "const int *",
                                      "int ",   "TvmsValue *",       "int *"};
  REQUIRE(i < 6, "parameters of TvmsPackedFunc");
  return str_format("%s%s", types[i], v->name);
}

static CVar *param_var(CGen *g, Node *param) {
  c_check_type(g, param->dtype, param->span);
  CVar *v = c_bind(g, param);
  bool is_pointer = dtype_is_handle(param->dtype) && !dtype_is_void(v->elem);
  const CUses *uses = g->f->uses;
  v->is_const = is_pointer && !map_has(&uses->named, param) && !map_has(&uses->stored, param);
  return v;
}

/* Binds the parameters in g->f. */
static const char *prototype(CGen *g, const char *label, PrimFunc *f) {
  Str s = {0};
  bool packed = lowered_is_packed(f);
  const char *linkage = packed && func_symbol(&f->node) ? "" : "static ";
  str_printf(&s, "%s%s %s(", linkage, packed ? "int" : "int32_t", label);
  for (int i = 0; i < f->params.len; i++) {
    Node *param = f->params.at[i];
    CVar *v = param_var(g, param);
    str_printf(&s, "%s%s", i ? ", " : "", packed ? packed_param(i, v) : param_text(g, f, param, v));
  }
  if (has_result(f))
    str_printf(&s, "%s%s *result", f->params.len ? ", " : "", c_type(g, f->ret_dtype));
  str_add(&s, f->params.len || has_result(f) ? ")" : "void)");
  return str_text(&s);
}

const char *c_prototype(CGen *g, const char *name, PrimFunc *f) {
  CUses uses = c_uses_of(f->body);
  CFunc state = {.name = name, .uses = &uses};
  g->f = &state;
  c_name("result", &state.names, NULL);
  const char *text = prototype(g, map_get(&g->kernels, str_intern(name)), f);
  g->f = NULL;
  return text;
}

/* ---- writing ---- */

void c_mark_unused(CGen *g, const NodeVec *vars) {
  for each (Node *, p, vars)
    if (!c_is_used(g, *p)) c_line(g, "(void)%s;", ((CVar *)map_get(&g->f->values, *p))->name);
}

/* Is the last line, of the outermost level, a return? */
static bool ends_in_return(Str *lines) {
  const char *text = str_text(lines), *at = text + lines->len;
  while (at > text + 1 && at[-2] != '\n') at--;
  return lines->len > 1 && strncmp(at > text ? at - 1 : at, "  return ", 9) == 0;
}

void c_function(CGen *g, const char *name, PrimFunc *f) {
  bool packed = lowered_is_packed(f);
  Str lines = {0};
  CUses uses = c_uses_of(f->body);
  CFunc state = {.sort = packed ? CFUNC_PACKED : CFUNC_KERNEL,
                 .uses = &uses,
                 .name = name,
                 .c_name = map_get(&g->kernels, str_intern(name)),
                 .result = packed ? VOID_TYPE : f->ret_dtype,
                 .may_alias = !dict_get_int(f->attrs, "tir.noalias", 1),
                 .depth = 1,
                 .out = &lines};
  g->f = &state;
  c_name("result", &state.names, NULL);
  const char *head = prototype(g, state.c_name, f);
  for each (Node *, p, &f->params)
    if (!packed && !state.may_alias && dtype_is_handle((*p)->dtype))
      map_set(&state.distinct, *p, *p);
  c_mark_unused(g, &f->params);
  if (has_result(f)) c_line(g, "*result = %s;", c_int(g, f->ret_dtype, 0, false).at);
  c_stmt(g, f->body);
  if (!ends_in_return(&lines)) c_line(g, "return 0;");
  g->f = NULL;
  str_printf(&g->functions, "\n%s {\n%s}\n", head, str_text(&lines));
}

/* ---- ways out ---- */

void c_free_heap(CGen *g, int down_to) {
  for (int i = g->f->heap.len - 1; i >= down_to; i--) c_line(g, "free(%s);", g->f->heap.at[i]);
}

void c_return(CGen *g, const char *status) {
  c_free_heap(g, 0);
  c_line(g, "return %s;", status);
}

void c_fail(CGen *g) {
  c_return(g, g->f->frame ? str_format("tvms_frame_fail(%s)", g->f->frame) : "-1");
}

void c_fail_if(CGen *g, const char *failed) {
  c_line(g, "if (%s) {", failed);
  g->f->depth++;
  c_fail(g);
  g->f->depth--;
  c_line(g, "}");
}

void c_raise(CGen *g, const char *kind, const char *message) {
  c_line(g, "tvms_raise(%s, %s);", c_string(kind), c_string(message));
}

void c_out_of_memory_if(CGen *g, const char *failed) {
  c_line(g, "if (%s) {", failed);
  g->f->depth++;
  c_raise(g, "RuntimeError", str_format("%s: out of memory", g->f->name));
  c_fail(g);
  g->f->depth--;
  c_line(g, "}");
}

/* In the body of a parallel loop only a failure can leave the function. */
void c_ret(CGen *g, Call *n) {
  Node *value = n->args.at[0];
  CText v = c_expr(g, value);
  if (g->f->sort == CFUNC_PARALLEL_BODY && expr_is_zero(value))
    error_raisef("CompileError", n->node.span, "a parallel loop can't return from the function");
  if (g->f->sort != CFUNC_KERNEL) {
    v = c_cast(g, v, value->dtype, INT32);
    if (g->f->heap.len && expr_effect(value) != EFFECT_PURE) v = c_name_it(g, v, INT32);
    return c_return(g, v.at);
  }
  if (!dtype_is_void(g->f->result))
    c_line(g, "*result = %s;", c_cast(g, v, value->dtype, g->f->result).at);
  c_return(g, "0");
}
