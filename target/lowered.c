/* lowered.c -- see lowered.h. */
#include "target/lowered.h"
#include "lower/lower.h"
#include "target/runtime/tvms.h"

bool lowered_is_in_library(const char *c_function) { return strchr(c_function, ':') != NULL; }

bool lowered_is_packed(PrimFunc *f) { return dict_get_int(f->attrs, "tvms.packed", 0) != 0; }

static bool is_exported(Node *f) {
  return IS(PrimFunc, f) && lowered_is_packed(AS(PrimFunc, f)) && func_symbol(f);
}

NodeVec lowered_exports(Node *module) {
  NodeVec exports = {0};
  Map seen = {0};
  for each (Node *, f, &AS(IRModule, module)->functions) {
    if (!is_exported(*f)) continue;
    const char *symbol = str_intern(func_symbol(*f));
    if (map_has(&seen, symbol))
      error_raisef("CompileError", (*f)->span, "two functions have the global_symbol '%s'", symbol);
    map_set(&seen, symbol, *f);
    vec_push(&exports, *f);
  }
  return exports;
}

/* ---- memory ---- */

#define STACK_FUNCTION (256 << 10)

int lowered_nbytes(DataType elem) { return elem.bits < 8 ? 1 : elem.bits / 8; }

bool lowered_is_small_float(DataType t) { return dtype_is_float(t) && t.bits < 32; }

int64_t lowered_stack_bytes(Allocate *n, int64_t used) {
  int64_t nbytes = (int64_t)lowered_nbytes(n->elem) * n->elem.lanes, extent;
  for each (Node *, e, &n->extents) {
    if (!expr_is_const_int(*e, &extent)) return -1;
    if (extent < 0 || __builtin_mul_overflow(nbytes, extent, &nbytes))
      error_raisef("CompileError", n->node.span, "T.allocate: the size of '%s' is out of range",
                   AS(Var, n->var)->name);
  }
  return nbytes <= LOWER_STACK_BUFFER && used + nbytes <= STACK_FUNCTION ? nbytes : -1;
}

/* ---- calls ---- */

static bool is_extern(Node *value, const char *symbol) {
  if (!is_intrin_call(value, "call_extern")) return false;
  NodeVec args = AS(Call, value)->args;
  return args.len && IS(StringImm, args.at[0]) &&
         str_same(AS(StringImm, args.at[0])->value, symbol);
}

/* An assertion without a message is one of the language. */
const char *lowered_assert_kind(AssertStmt *n) {
  bool is_told = IS(StringImm, n->message) && *AS(StringImm, n->message)->value;
  return n->error_kind ? n->error_kind : is_told ? "RuntimeError" : "AssertionError";
}

const char *lowered_assert_text(AssertStmt *n) {
  const char *text = IS(StringImm, n->message) ? AS(StringImm, n->message)->value : "";
  return *text ? text : "assertion failed";
}

bool lowered_begins_frame(Node *value) { return is_extern(value, "tvms_frame_begin"); }

bool lowered_is_failure(Node *stmt) {
  if (!IS(Evaluate, stmt) || !is_intrin_call(AS(Evaluate, stmt)->value, "ret")) return false;
  NodeVec args = AS(Call, AS(Evaluate, stmt)->value)->args;
  return args.len == 1 && is_extern(args.at[0], "tvms_frame_fail");
}

int lowered_value_type(Node *arg) {
  if (arg->dtype.lanes != 1)
    error_raisef("CompileError", arg->span, "a packed function can't take a vector (%s)",
                 dtype_text(arg->dtype));
  if (IS(StringImm, arg)) return TVMS_STR;
  if (is_intrin_call(arg, "tvm_stack_make_array")) return TVMS_DLTENSOR;
  if (dtype_is_handle(arg->dtype)) return TVMS_PTR;
  if (dtype_is_bool(arg->dtype)) return TVMS_BOOL;
  return dtype_is_float(arg->dtype) ? TVMS_FLOAT : TVMS_INT;
}

static DataType array_dtype(Call *n) {
  DataType t = n->args.at[4]->dtype;
  if (IS(StringImm, n->args.at[4]) && !dtype_parse(AS(StringImm, n->args.at[4])->value, &t))
    error_raisef("CompileError", n->node.span, "'%s' is no dtype",
                 AS(StringImm, n->args.at[4])->value);
  return t;
}

uint64_t lowered_array_type(Call *n) {
  DataType t = array_dtype(n);
  int64_t ndim;
  if (!expr_is_const_int(n->args.at[3], &ndim) || ndim < 0 || ndim > 64)
    error_raisef("CompileError", n->node.span, "T.tvm_stack_make_array needs a constant ndim");
  return (uint64_t)ndim | (uint64_t)t.code << 32 | (uint64_t)t.bits << 40 | (uint64_t)t.lanes << 48;
}

int lowered_array_nbytes(Call *n) { return dtype_nbytes(array_dtype(n)); }

/* ---- parallel loops ---- */

typedef struct Captures {
  const Map *outside;
  Map bound; /* inside the loop */
  Map found;
  NodeVec vars;
} Captures;

static void bind_inside(Captures *c, Node *n) {
  switch (n->kind) {
  case NK_For: map_set(&c->bound, AS(For, n)->var, n); break;
  case NK_LetStmt: map_set(&c->bound, AS(LetStmt, n)->var, n); break;
  case NK_Let: map_set(&c->bound, AS(Let, n)->var, n); break;
  case NK_Allocate: map_set(&c->bound, AS(Allocate, n)->var, n); break;
  case NK_AllocateConst: map_set(&c->bound, AS(AllocateConst, n)->var, n); break;
  default: break;
  }
}

static void capture(Captures *c, Node *var) {
  if (map_has(&c->bound, var) || map_has(&c->found, var)) return;
  if (!map_has(c->outside, var)) return;
  map_set(&c->found, var, var);
  vec_push(&c->vars, var);
}

static WalkResult capture_uses(Walker *w, Node *n) {
  Captures *c = w->context;
  bind_inside(c, n);
  if (IS(Var, n)) capture(c, n);
  if (!IS(Buffer, n)) return WALK_ON;
  Node *offset = AS(Buffer, n)->elem_offset;
  capture(c, AS(Buffer, n)->data);
  if (offset) walk(w, offset);
  return WALK_PRUNE;
}

NodeVec lowered_captures(For *loop, const Map *outside) {
  Captures c = {.outside = outside};
  Walker w = {.enter = capture_uses, .context = &c};
  map_set(&c.bound, loop->var, loop);
  walk(&w, loop->body);
  return c.vars;
}
