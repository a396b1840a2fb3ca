/* gframe.c -- graph functions: bindings in order, branches, tuples, local functions.
 *
 * Every value is checked against the struct info of the variable that it is bound to. */
#include "target/interp/interp.h"

GraphCode *gcode_new(Module *m) {
  static PrimFunc no_program;
  GraphCode *code = NEW(GraphCode, .module = m);
  code->space = (Program){.module = m, .f = &no_program, .name = "a graph function"};
  code->scalars = (Compiler){.program = &code->space, .takes_free = true};
  return code;
}

/* ---- symbolic variables ---- */

/* A scalar expression, with the variables in it. */
typedef struct GraphScalar {
  const Code *code;
  IntVec slots;
  NodeVec vars; /* beside slots */
} GraphScalar;

static WalkResult note_var(Walker *w, Node *n) {
  GraphScalar *s = w->context;
  if (IS(Var, n)) vec_push(&s->vars, n);
  return WALK_ON;
}

static GraphScalar *scalar_of(GraphFrame *g, Node *n) {
  GraphCode *code = g->code;
  GraphScalar *s = map_get(&code->exprs, n);
  if (s) return s;
  s = NEW(GraphScalar, .code = NULL);
  Walker w = {.enter = note_var, .context = s};
  walk(&w, n);
  for each (Node *, v, &s->vars) vec_push(&s->slots, compile_use(&code->scalars, *v, n->span));
  s->code = compile_expr(&code->scalars, n);
  map_set(&code->exprs, n, s);
  return s;
}

/* Room for the variables that were met since the frame was made. */
static void grow_scalars(GraphFrame *g) {
  int n = g->code->space.slot_count;
  if (n <= g->slot_count) return;
  n *= 2;
  Scalar *slots = NEW_ARRAY(Scalar, n);
  bool *bound = (bool *)NEW_BYTES(n);
  for (int i = 0; i < g->slot_count; i++) slots[i] = g->scalars.slots[i], bound[i] = g->bound[i];
  g->scalars.slots = slots;
  g->bound = bound;
  g->slot_count = n;
}

static Node *find_unbound(GraphFrame *g, Node *n) {
  GraphScalar *s = scalar_of(g, n);
  grow_scalars(g);
  for (int i = 0; i < s->slots.len; i++)
    if (!g->bound[s->slots.at[i]]) return s->vars.at[i];
  return NULL;
}

bool gframe_is_bound(GraphFrame *g, Node *n) { return !find_unbound(g, n); }

void gframe_bind(GraphFrame *g, Node *var, int64_t value) {
  int slot = compile_use(&g->code->scalars, var, var->span);
  grow_scalars(g);
  g->scalars.slots[slot].i = dtype_wrap_int(var->dtype, value);
  g->bound[slot] = true;
}

Scalar gframe_scalar(GraphFrame *g, Node *n, Span span) {
  Node *unbound = find_unbound(g, n);
  if (unbound)
    fault(span, "%s: '%s' has no value here", g->name,
          AS(Var, unbound)->name ? AS(Var, unbound)->name : "_");
  return code_eval(scalar_of(g, n)->code, &g->scalars);
}

int64_t gframe_dim(GraphFrame *g, Node *n, Span span) { return gframe_scalar(g, n, span).i; }

int64_t *gframe_dims(GraphFrame *g, NodeVec dims, Span span) {
  int64_t *out = (int64_t *)(void *)NEW_BYTES(sizeof(int64_t) * (size_t)(dims.len + 1));
  for (int i = 0; i < dims.len; i++) out[i] = gframe_dim(g, dims.at[i], span);
  return out;
}

/* ---- variables ---- */

static int value_index(GraphCode *code, Node *var) {
  int i = (int)(intptr_t)map_get(&code->values, var);
  if (!i) map_set(&code->values, var, (void *)(intptr_t)(i = ++code->value_count));
  return i - 1;
}

static void grow_values(GraphFrame *g) {
  int n = g->code->value_count;
  if (n <= g->value_count) return;
  n = n * 2 + 8;
  GraphValue *values = NEW_ARRAY(GraphValue, n);
  bool *defined = (bool *)NEW_BYTES(n);
  for (int i = 0; i < g->value_count; i++) values[i] = g->values[i], defined[i] = g->defined[i];
  g->values = values;
  g->defined = defined;
  g->value_count = n;
}

static void set_value(GraphFrame *g, Node *var, GraphValue v) {
  int i = value_index(g->code, var);
  grow_values(g);
  g->values[i] = v;
  g->defined[i] = true;
}

static GraphValue get_value(GraphFrame *g, Node *var) {
  int i = value_index(g->code, var);
  grow_values(g);
  if (!g->defined[i])
    fault(var->span, "%s: '%s' has no value here", g->name, AS(RelaxVar, var)->name);
  return g->values[i];
}

/* ---- bindings ---- */

static Span place(const Node *n, Span otherwise) { return n->span.hi ? n->span : otherwise; }

static void run_binding(GraphFrame *g, Node *n) {
  if (IS(MatchCast, n)) {
    MatchCast *m = AS(MatchCast, n);
    const char *name = AS(RelaxVar, m->var)->name;
    GraphValue v = gframe_eval(g, m->value, name);
    match_one(g, &v, m->sinfo, name, place(n, m->value->span));
    set_value(g, m->var, v);
    return;
  }
  VarBinding *b = AS(VarBinding, n);
  RelaxVar *var = AS(RelaxVar, b->var);
  GraphValue v = gframe_eval(g, b->value, var->name);
  match_computed(g, &v, var->sinfo, var->name, place(b->value, n->span));
  set_value(g, b->var, v);
}

static GraphValue run_seq(GraphFrame *g, Node *n, const char *what) {
  if (!IS(SeqExpr, n)) return gframe_eval(g, n, what);
  SeqExpr *s = AS(SeqExpr, n);
  for each (Node *, b, &s->blocks)
    for each (Node *, binding, &AS(BindingBlock, *b)->bindings) run_binding(g, *binding);
  return gframe_eval(g, s->body, what);
}

/* ---- branches ---- */

static bool truth(GraphFrame *g, Node *cond) {
  GraphValue v = gframe_eval(g, cond, "the condition");
  const DLTensor *t = gvalue_tensor(&v);
  if (v.type == TVMS_BOOL || v.type == TVMS_INT) return v.bits.i != 0;
  if (!t || t->ndim != 0 || t->dtype.code != kDLBool)
    fault(cond->span, "%s: the condition of a branch must be a bool, but is %s", g->name,
          gvalue_text(&v));
  const char *at = tvms_tensor_address((void *)(uintptr_t)t);
  const Memory *m = memory_find(at);
  if (m && m->shadow && !m->shadow[at - m->lo])
    fault(cond->span, "%s: the condition of a branch was never written", g->name);
  return *at != 0;
}

/* What an arm binds to symbolic variables is not known after it. */
static GraphValue run_if(GraphFrame *g, RelaxIf *n, const char *what) {
  Node *arm = truth(g, n->cond) ? n->then : n->orelse;
  int count = g->slot_count;
  bool *before = (bool *)NEW_BYTES(count + 1);
  for (int i = 0; i < count; i++) before[i] = g->bound[i];
  GraphValue v = run_seq(g, arm, what);
  for (int i = 0; i < g->slot_count; i++) g->bound[i] = i < count && before[i];
  return v;
}

/* ---- expressions ---- */

static GraphValue scalar_value(GraphFrame *g, Node *n, Span span) {
  Scalar x = gframe_scalar(g, n, span);
  DataType t = n->dtype;
  if (dtype_is_float(t)) return (GraphValue){.type = TVMS_FLOAT, .bits.f = scalar_to_double(t, x)};
  return (GraphValue){.type = dtype_is_bool(t) ? TVMS_BOOL : TVMS_INT, .bits.i = x.i};
}

static GraphValue text_value(const char *text) {
  return (GraphValue){.type = TVMS_STR, .bits.s = text};
}

static GraphValue tuple_value(GraphFrame *g, Tuple *n) {
  GraphValue v = {.type = TVMS_TUPLE, .tuple = NEW(GraphTuple, .n = n->fields.len)};
  v.tuple->at = NEW_ARRAY(GraphValue, n->fields.len + 1);
  for (int i = 0; i < n->fields.len; i++)
    v.tuple->at[i] = gframe_eval(g, n->fields.at[i], "a field of a tuple");
  return v;
}

static GraphValue tuple_item(GraphFrame *g, TupleGetItem *n) {
  GraphValue v = gframe_eval(g, n->tuple, "a tuple");
  if (v.type != TVMS_TUPLE)
    fault(n->node.span, "%s: field %d of %s is taken, which is no tuple", g->name, n->index,
          gvalue_text(&v));
  if (n->index < 0 || n->index >= v.tuple->n)
    fault(n->node.span, "%s: field %d of %s does not exist", g->name, n->index, gvalue_text(&v));
  return v.tuple->at[n->index];
}

static GraphValue closure_value(GraphFrame *g, Function *f, const char *what) {
  Closure *c = NEW(Closure, .f = f, .name = what, .code = g->code, .captured = g);
  return (GraphValue){.type = VALUE_CLOSURE, .closure = c};
}

static GraphValue global_value(GraphFrame *g, GlobalVar *n) {
  Module *m = g->code->module;
  Closure *c = module_graph(m, n->name);
  if (c) return (GraphValue){.type = VALUE_CLOSURE, .closure = c};
  fault(n->node.span, "%s: '%s' is no graph function, so it is no value", g->name, n->name);
}

static GraphValue extern_value(ExternFunc *n) {
  TvmsFunc *f;
  if (tvms_func_find(&f, n->symbol)) fault_runtime(n->node.span);
  return gvalue_object(TVMS_FUNC, f);
}

GraphValue gframe_eval(GraphFrame *g, Node *n, const char *what) {
  switch (n->kind) {
  case NK_RelaxVar: return get_value(g, n);
  case NK_Constant: return gvalue_constant(g->code->module, AS(Constant, n));
  case NK_PrimValue: return scalar_value(g, AS(PrimValue, n)->value, n->span);
  case NK_StringValue: return text_value(AS(StringValue, n)->value);
  case NK_MetadataRef:
    fault(n->span, "metadata[\"%s\"][%d] is not known: the text came without its metadata",
          AS(MetadataRef, n)->type_key, AS(MetadataRef, n)->index);
  case NK_DataTypeImm: return text_value(dtype_text(AS(DataTypeImm, n)->value));
  case NK_ShapeExpr: {
    NodeVec dims = AS(ShapeExpr, n)->values;
    return gvalue_shape(dims.len, gframe_dims(g, dims, n->span), n->span);
  }
  case NK_None: return gvalue_none();
  case NK_Tuple: return tuple_value(g, AS(Tuple, n));
  case NK_TupleGetItem: return tuple_item(g, AS(TupleGetItem, n));
  case NK_RelaxCall: return gframe_call(g, AS(RelaxCall, n), what);
  case NK_RelaxIf: return run_if(g, AS(RelaxIf, n), what);
  case NK_SeqExpr: return run_seq(g, n, what);
  case NK_Function: return closure_value(g, AS(Function, n), what);
  case NK_GlobalVar: return global_value(g, AS(GlobalVar, n));
  case NK_ExternFunc: return extern_value(AS(ExternFunc, n));
  default:
    if (node_is_expr(n)) return scalar_value(g, n, n->span);
    unsupported(n->span, str_format("a graph value of kind %s", node_kind_name(n->kind)));
  }
}

/* ---- calls of functions ---- */

static GraphFrame *new_frame(const Closure *c) {
  GraphFrame *g = NEW(GraphFrame, .code = c->code, .name = c->name), *from = c->captured;
  g->scalars.program = &c->code->space;
  grow_scalars(g);
  grow_values(g);
  for (int i = 0; from && i < from->slot_count; i++)
    g->scalars.slots[i] = from->scalars.slots[i], g->bound[i] = from->bound[i];
  for (int i = 0; from && i < from->value_count; i++)
    g->values[i] = from->values[i], g->defined[i] = from->defined[i];
  return g;
}

static void bind_params(GraphFrame *g, Function *f, const GraphValue *args, Span span) {
  DimCheckVec later = {0};
  for (int i = 0; i < f->params.len; i++) {
    RelaxVar *p = AS(RelaxVar, f->params.at[i]);
    GraphValue v = args[i];
    match_value(g, &v, p->sinfo, value_phrase(p->name, true), &later, span);
    set_value(g, f->params.at[i], v);
  }
  match_dims(g, &later, span);
}

/* The arguments, and behind them those that the closure keeps. */
static GraphValueVec all_arguments(const Closure *c, const GraphValue *args, int n) {
  GraphValueVec all = {0};
  for (int i = 0; i < n; i++) vec_push(&all, args[i]);
  for (int i = 0; c->last && i < c->last->n; i++) vec_push(&all, c->last->at[i]);
  return all;
}

GraphValue gframe_call_function(const Closure *c, const GraphValue *given, int count, Span span) {
  Function *f = c->f;
  GraphValueVec args = all_arguments(c, given, count);
  Mark mark = interp_mark();
  interp_check_depth(c->name, span);
  if (tvms_arg_count((char *)(uintptr_t)c->name, args.len, f->params.len)) fault_runtime(span);
  GraphFrame *g = new_frame(c);
  bind_params(g, f, args.at, span);
  GraphValue v = run_seq(g, f->body, "the result");
  match_computed(g, &v, f->ret_sinfo, "the result", place(f->body, f->node.span));
  gvalue_release_but(&v, mark);
  return v;
}
