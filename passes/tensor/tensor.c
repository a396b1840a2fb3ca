/* tensor.c -- questions about statements that several passes of this folder ask. */
#include "passes/tensor/tensor.h"

Node *prim_func_with_body(Node *f, Node *body) {
  if (body == AS(PrimFunc, f)->body) return f;
  PrimFunc copy = *AS(PrimFunc, f);
  copy.body = body;
  return gc_copy(&copy, sizeof copy);
}

/* ---- jumps ---- */

static WalkResult find_jump(Walker *w, Node *n) {
  int *loops = w->context;
  if (node_is_expr(n)) return WALK_PRUNE;
  *loops += IS(For, n) || IS(While, n);
  if (!IS(Evaluate, n)) return WALK_ON;
  Node *value = AS(Evaluate, n)->value;
  bool leaves = is_intrin_call(value, "break_loop") || is_intrin_call(value, "continue_loop");
  return is_intrin_call(value, "ret") || (leaves && !*loops) ? WALK_STOP : WALK_ON;
}

static void leave_loop(Walker *w, Node *n) { *(int *)w->context -= IS(For, n) || IS(While, n); }

bool stmt_jumps_out(Node *n) {
  int loops = 0;
  Walker w = {.enter = find_jump, .leave = leave_loop, .context = &loops};
  return n && !walk(&w, n);
}

/* ---- variables ---- */

static WalkResult add_definition(Walker *w, Node *n) {
  Map *vars = w->context;
  Node *var = NULL, *range = NULL;
  switch (n->kind) {
  case NK_For: {
    For *f = AS(For, n);
    var = f->var;
    range = MAKE(Range, n->span, VOID_TYPE, .min = f->min, .extent = f->extent);
    break;
  }
  case NK_LetStmt: var = AS(LetStmt, n)->var; break;
  case NK_Let: var = AS(Let, n)->var; break;
  case NK_Allocate: var = AS(Allocate, n)->var; break;
  case NK_AllocateConst: var = AS(AllocateConst, n)->var; break;
  case NK_IterVar: var = AS(IterVar, n)->var; break;
  case NK_BufferRealize: var = AS(Buffer, AS(BufferRealize, n)->buffer)->data; break;
  case NK_Block:
    for each (Node *, b, &AS(Block, n)->alloc_buffers) map_set(vars, AS(Buffer, *b)->data, *b);
    break;
  case NK_MatchBufferRegion: var = AS(Buffer, AS(MatchBufferRegion, n)->buffer)->data; break;
  case NK_ScopeIdDef:
    for each (Node *, v, &AS(ScopeIdDef, n)->vars) map_set(vars, *v, *v);
    break;
  default: break;
  }
  if (var) map_set(vars, var, range ? range : var);
  return WALK_ON;
}

void add_definitions(Node *n, Map *vars) {
  Walker w = {.enter = add_definition, .context = vars};
  walk(&w, n);
}

static WalkResult find_key(Walker *w, Node *n) {
  const Map *keys = w->context;
  bool through = IS(Buffer, n) && map_has(keys, AS(Buffer, n)->data);
  return through || map_has(keys, n) ? WALK_STOP : WALK_ON;
}

bool mentions_any(Node *n, const Map *keys) {
  Walker w = {.enter = find_key, .context = (void *)(uintptr_t)keys, .once = true};
  return n && !walk(&w, n);
}

bool mentions_node(Node *n, Node *what) {
  Map one = {0};
  map_set(&one, what, what);
  return mentions_any(n, &one);
}

/* ---- what can fail ---- */

bool divides_by_unknown(Node *n) {
  bool divides =
      n->kind == NK_Div || n->kind == NK_Mod || n->kind == NK_FloorDiv || n->kind == NK_FloorMod;
  if (!divides || !dtype_is_int(n->dtype)) return false;
  Node *divisor = ((Binary *)(void *)n)->b;
  int64_t by;
  if (IS(Broadcast, divisor)) divisor = AS(Broadcast, divisor)->value;
  return !expr_is_const_int(divisor, &by) || !by;
}

static WalkResult find_failure(Walker *w, Node *n) {
  (void)w;
  if (IS(BufferLoad, n) || divides_by_unknown(n)) return WALK_STOP;
  if (!IS(Call, n)) return WALK_ON;
  const Intrin *in = intrin_of(AS(Call, n)->op);
  bool known = in && in->effect == EFFECT_PURE && in->rule != RULE_GIVEN;
  return known || is_intrin_call(n, "reinterpret") ? WALK_ON : WALK_STOP;
}

bool expr_may_fail(Node *n) {
  Walker w = {.enter = find_failure, .once = true};
  return !walk(&w, n);
}

Node *without_likely(Node *cond) {
  while (is_intrin_call(cond, "likely")) cond = AS(Call, cond)->args.at[0];
  return cond;
}
