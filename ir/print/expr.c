/* expr.c -- scalar expressions, regions and attribute values as text. */
#include "ir/print/print.h"
#include "ir/support/stack.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

/* Binding strength of the text, as in Python: a weaker operand goes into parentheses. */
enum {
  P_OR = 1,
  P_AND,
  P_NOT,
  P_COMPARE,
  P_BITOR,
  P_BITXOR,
  P_BITAND,
  P_SHIFT,
  P_ADD,
  P_MUL,
  P_UNARY,
  P_ATOM
};

static const struct {
  NodeKind kind;
  int strength;
} infix[] = {{NK_Or, P_OR},        {NK_And, P_AND},     {NK_EQ, P_COMPARE}, {NK_NE, P_COMPARE},
             {NK_LT, P_COMPARE},   {NK_LE, P_COMPARE},  {NK_GT, P_COMPARE}, {NK_GE, P_COMPARE},
             {NK_Add, P_ADD},      {NK_Sub, P_ADD},     {NK_Mul, P_MUL},    {NK_Div, P_MUL},
             {NK_FloorDiv, P_MUL}, {NK_FloorMod, P_MUL}};

static int infix_strength(NodeKind kind) {
  for (size_t i = 0; i < sizeof infix / sizeof *infix; i++)
    if (infix[i].kind == kind) return infix[i].strength;
  return 0;
}

static void print_at(Printer *p, Node *n, int strength, DataType beside);

const char *lanes_text(int lanes) {
  return str_format(lanes < 0 ? "T.vscale() * %d" : "%d", lanes < 0 ? -lanes : lanes);
}

void print_quoted(Printer *p, const char *text) { str_add_quoted(&p->out, text, strlen(text)); }

/* ---- immediates ---- */

/* The shortest decimal that the dtype reads back as the same value; that of the largest number is
 * exact, for what takes decimals for float64 first and refuses any beyond it. */
static const char *shortest_text(DataType t, double x) {
  char text[40];
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, x);
    double read = strtod(text, NULL);
    if (dtype_round_float(t, read) == x && (read == x || fabs(x) < dtype_max_float(t))) break;
  }
  double size = fabs(x);
  if (strchr(text, 'e') && size >= 1e-4 && size < 1e16) snprintf(text, sizeof text, "%.1f", x);
  return str_format("%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

/* Programs have few numbers, again and again. */
const char *float_text(DataType t, double x) {
  static struct Known {
    uint64_t bits;
    DataType dtype;
    const char *text;
  } recent[64];
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  struct Known *at = &recent[(bits ^ bits >> 32 ^ bits >> 48) % 64];
  if (!at->text || at->bits != bits || !dtype_equal(at->dtype, t))
    *at = (struct Known){bits, t, shortest_text(t, x)};
  return at->text;
}

static bool stands_bare(Printer *p, DataType t, DataType beside) {
  if (p->options.tvm_style && !p->in_graph) beside = VOID_TYPE;
  return dtype_equal(t, beside) && (dtype_is_int(t) || dtype_is_float(t));
}

/* A bare number is an int32, or an int64 if it is larger; of those only an int32 adapts to any
 * other dtype, and a uint64 holds both. */
static bool int_stands_bare(Printer *p, const IntImm *n, DataType beside) {
  DataType t = n->node.dtype;
  bool small = n->value == (int32_t)n->value && (t.code == DTYPE_INT || n->value >= 0);
  return stands_bare(p, t, beside) &&
         (small || (t.bits == 64 && n->value >= 0) || dtype_equal(t, INT64));
}

static void print_int_imm(Printer *p, IntImm *n, DataType beside) {
  DataType t = n->node.dtype;
  if (dtype_is_bool(t)) return str_printf(&p->out, "T.bool(%s)", n->value ? "True" : "False");
  bool beyond = t.code == DTYPE_UINT && t.bits == 64 && n->value < 0; /* a uint64, of those bits */
  bool bare = dtype_equal(t, INT32) || int_stands_bare(p, n, beside);
  if (!bare) str_printf(&p->out, "T.%s(", dtype_text(t));
  if (beyond) str_printf(&p->out, "%llu", (unsigned long long)n->value);
  else str_add_int(&p->out, n->value);
  if (!bare) str_add_char(&p->out, ')');
}

static void print_float_imm(Printer *p, FloatImm *n, DataType beside) {
  DataType t = n->node.dtype;
  double x = n->value;
  if (!isfinite(x)) {
    const char *text = isnan(x) ? "nan" : x < 0 ? "-inf" : "inf";
    return str_printf(&p->out, "T.%s(\"%s\")", dtype_text(t), text);
  }
  const char *text = float_text(t, x);
  if (stands_bare(p, t, beside)) str_add(&p->out, text);
  else str_printf(&p->out, "T.%s(%s)", dtype_text(t), text);
}

/* A number among attributes is a float64. */
static void print_float_attr(Printer *p, FloatImm *n) {
  bool bare = dtype_equal(n->node.dtype, FLOAT64) && isfinite(n->value);
  if (bare) str_add(&p->out, float_text(FLOAT64, n->value));
  else print_float_imm(p, n, VOID_TYPE);
}

/* ---- operators ---- */

static bool is_number(const Node *n) { return IS(IntImm, n) || IS(FloatImm, n); }

/* Would building the node from text that computes fold, fail, or change an operand? Numbers alone
 * are computed before they become nodes. */
static bool would_fold(Node *node, Binary *b) {
  int64_t divisor;
  if (!dtype_equal(b->a->dtype, b->b->dtype) || dtype_is_void(b->a->dtype)) return true;
  if (node->kind == NK_Div && !dtype_is_float(b->a->dtype)) return true;
  if (kind_divides(node->kind) && expr_is_splat_int(b->b, &divisor) && !divisor) return true;
  if (is_number(b->a) && is_number(b->b)) return true;
  bool arithmetic = node->kind < NK_Min && dtype_is_bool(b->a->dtype);
  return arithmetic || fold_binary(node->kind, b->a, b->b, node->span) != NULL;
}

/* The dtype that lets an operand stand bare: that of the other one, unless it is a number too. */
static DataType beside_of(Node *other) { return is_number(other) ? VOID_TYPE : other->dtype; }

static void print_call_of(Printer *p, const char *name, Binary *b) {
  str_printf(&p->out, "%s(", name);
  print_at(p, b->a, 0, beside_of(b->b));
  str_add(&p->out, ", ");
  print_at(p, b->b, 0, beside_of(b->a));
  str_add_char(&p->out, ')');
}

static void print_binary(Printer *p, Node *n, int outer) {
  Binary *b = (Binary *)(void *)n;
  int mine = infix_strength(n->kind);
  if (would_fold(n, b)) return print_call_of(p, str_format("T.%s", node_kind_name(n->kind)), b);
  if (!mine) return print_call_of(p, node_spelling(n->kind), b);
  bool chain = mine == P_COMPARE; /* a < b < c means something else */
  if (mine < outer) str_add_char(&p->out, '(');
  print_at(p, b->a, chain ? mine + 1 : mine, beside_of(b->b));
  str_printf(&p->out, " %s ", node_spelling(n->kind));
  print_at(p, b->b, mine + 1, beside_of(b->a));
  if (mine < outer) str_add_char(&p->out, ')');
}

/* ---- calls ---- */

bool is_identifier(const char *text) {
  if (!isalpha((unsigned char)*text) && *text != '_') return false;
  for (const char *c = text; *c; c++)
    if (!isalnum((unsigned char)*c) && *c != '_') return false;
  return true;
}

void print_keywords(Printer *p, Dict *d, bool first) {
  for (int i = 0; i < d->keys.len; i++) {
    str_printf(&p->out, "%s%s=", first && !i ? "" : ", ", d->keys.at[i]);
    print_attr(p, d->values.at[i]);
  }
}

/* T.ptx.bar.sync(0, 128, pred=p), Tx.copy(A[0:4], B[0:4]) */
static void print_open_call(Printer *p, Call *c, const char *name) {
  bool tile = strncmp(name, "tile.", 5) == 0;
  str_printf(&p->out, "%s%s(", tile ? "Tx." : "T.", tile ? name + 5 : name);
  bool outer = p->in_open_call;
  p->in_open_call = true;
  print_exprs(p, c->args);
  p->in_open_call = outer;
  if (c->attrs) print_keywords(p, AS(Dict, c->attrs), !c->args.len);
  if (!dtype_equal(c->node.dtype, family_dtype(name, c->args)))
    str_printf(&p->out, "%sdtype=\"%s\"", c->args.len || c->attrs ? ", " : "",
               dtype_text(c->node.dtype));
  str_add_char(&p->out, ')');
}

static void print_call_attrs(Printer *p, Call *c) {
  if (!c->attrs) return;
  str_add(&p->out, ", attrs=");
  print_attr(p, c->attrs);
}

/* A call of a builtin whose dtype is not what its own call would give. */
static void print_call_by_name(Printer *p, Call *c) {
  str_printf(&p->out, "T.call_intrin(\"%s\", \"%s\"", dtype_text(c->node.dtype),
             AS(Op, c->op)->name);
  if (c->args.len) str_add(&p->out, ", ");
  print_exprs(p, c->args);
  print_call_attrs(p, c);
  str_add_char(&p->out, ')');
}

static bool gives_its_dtype(const Intrin *in, Call *c) {
  if (c->attrs) return str_same(in->name, "call_intrin");
  bool given = in->rule == RULE_GIVEN || in->rule == RULE_LAST;
  return given || dtype_equal(c->node.dtype, intrin_dtype(in, c->args));
}

static void print_call(Printer *p, Call *c) {
  const Intrin *in = intrin_of(c->op);
  const char *open = in ? NULL : family_name(c->op);
  if (open) return print_open_call(p, c, open);
  if (IS(Op, c->op) && (!in || !gives_its_dtype(in, c))) return print_call_by_name(p, c);
  if (in) str_printf(&p->out, "T.%s(", in->name);
  else str_printf(&p->out, "%s%s(", p->self ? p->self : "", AS(GlobalVar, c->op)->name);
  bool first = in && in->rule == RULE_GIVEN, last = in && in->rule == RULE_LAST;
  if (first) print_quoted(p, dtype_text(c->node.dtype));
  if (first && c->args.len) str_add(&p->out, ", ");
  print_exprs(p, c->args);
  print_call_attrs(p, c);
  if (last) str_printf(&p->out, "%s\"%s\"", c->args.len ? ", " : "", dtype_text(c->node.dtype));
  str_add_char(&p->out, ')');
}

/* A vector index as lo:hi or lo:hi:step, where it reads back so: among arguments that may be
 * regions, a slice is one. Upstream has no steps. */
static bool print_as_slice(Printer *p, Node *index) {
  int64_t stride;
  if (p->in_open_call || !IS(Ramp, index) || AS(Ramp, index)->lanes < 2) return false;
  Ramp *r = AS(Ramp, index);
  int64_t most = p->options.tvm_style ? 1 : INT16_MAX;
  bool fits = expr_is_const_int(r->stride, &stride) && stride > 0 && stride <= most &&
              dtype_equal(r->stride->dtype, r->base->dtype) && r->base->dtype.lanes == 1;
  if (!fits || r->lanes * stride > dtype_max_int(r->base->dtype)) return false;
  print_bounds(p, r->base, int_imm(r->base->dtype, r->lanes * stride, index->span), ":");
  if (stride > 1) str_printf(&p->out, ":%d", (int)stride);
  return true;
}

static void print_index(Printer *p, Node *buffer, NodeVec indices) {
  str_printf(&p->out, "%s[", name_of(p, buffer));
  if (!indices.len) str_add(&p->out, "()");
  int ramps = 0;
  for each (Node *, i, &indices) ramps += IS(Ramp, *i);
  for (int i = 0; i < indices.len; i++) {
    if (i) str_add(&p->out, ", ");
    if (ramps != 1 || !print_as_slice(p, indices.at[i])) print_expr(p, indices.at[i]);
  }
  str_add_char(&p->out, ']');
}

/* A[i, j], or A.vload([i, j], predicate=p); a scalar by its name. */
static void print_load(Printer *p, BufferLoad *l) {
  if (map_has(&p->scalars, l->buffer) && expr_is_zero(l->indices.at[0]))
    return str_add(&p->out, name_of(p, l->buffer));
  if (!l->predicate) return print_index(p, l->buffer, l->indices);
  str_printf(&p->out, "%s.vload([", name_of(p, l->buffer));
  print_exprs(p, l->indices);
  str_add(&p->out, "], predicate=");
  print_expr(p, l->predicate);
  str_add_char(&p->out, ')');
}

static void print_reduce(Printer *p, Reduce *r) {
  str_add(&p->out, "T.reduce(");
  print_attr(p, r->reducer);
  str_add(&p->out, ", [");
  print_exprs(p, r->sources);
  str_add(&p->out, "], [");
  print_exprs(p, r->axes);
  str_add(&p->out, "], ");
  print_attr(p, r->cond);
  str_printf(&p->out, ", %d, [", r->value_index);
  print_exprs(p, r->init);
  str_add(&p->out, "])");
}

static void print_not(Printer *p, Node *a, int outer) {
  bool folds = IS(IntImm, a), inside = !folds && P_NOT < outer;
  str_add(&p->out, folds ? "T.Not(" : inside ? "(not " : "not ");
  print_at(p, a, folds ? 0 : P_NOT, VOID_TYPE);
  if (folds || inside) str_add_char(&p->out, ')');
}

typedef struct Errand {
  Printer *p;
  Node *n;
  int outer;
  DataType beside;
} Errand;

static void print_errand(void *context) {
  Errand *e = context;
  print_at(e->p, e->n, e->outer, e->beside);
}

static void print_at(Printer *p, Node *n, int outer, DataType beside) {
  if (stack_is_low()) return stack_run(print_errand, &(Errand){p, n, outer, beside});
  if (node_is_binary(n->kind)) return print_binary(p, n, outer);
  switch (n->kind) {
  case NK_Var: str_add(&p->out, name_of(p, n)); break;
  case NK_IntImm: print_int_imm(p, AS(IntImm, n), beside); break;
  case NK_FloatImm: print_float_imm(p, AS(FloatImm, n), beside); break;
  case NK_StringImm: print_quoted(p, AS(StringImm, n)->value); break;
  case NK_Not: print_not(p, AS(Not, n)->a, outer); break;
  case NK_Select:
    str_add(&p->out, "T.Select(");
    print_exprs(p, NODES(AS(Select, n)->cond, AS(Select, n)->then, AS(Select, n)->orelse));
    str_add_char(&p->out, ')');
    break;
  case NK_Cast:
    str_printf(&p->out, "T.Cast(\"%s\", ", dtype_text(n->dtype));
    print_expr(p, AS(Cast, n)->value);
    str_add_char(&p->out, ')');
    break;
  case NK_Ramp:
    str_add(&p->out, "T.Ramp(");
    print_expr(p, AS(Ramp, n)->base);
    str_add(&p->out, ", ");
    print_at(p, AS(Ramp, n)->stride, 0, AS(Ramp, n)->base->dtype);
    str_printf(&p->out, ", %s)", lanes_text(AS(Ramp, n)->lanes));
    break;
  case NK_Broadcast:
    str_add(&p->out, "T.Broadcast(");
    print_expr(p, AS(Broadcast, n)->value);
    str_printf(&p->out, ", %s)", lanes_text(AS(Broadcast, n)->lanes));
    break;
  case NK_Shuffle:
    str_add(&p->out, "T.Shuffle([");
    print_exprs(p, AS(Shuffle, n)->vectors);
    str_add(&p->out, "], [");
    print_exprs(p, AS(Shuffle, n)->indices);
    str_add(&p->out, "])");
    break;
  case NK_BufferLoad: print_load(p, AS(BufferLoad, n)); break;
  case NK_Let: {
    Let *let = AS(Let, n);
    str_add(&p->out, "T.Let(");
    print_expr(p, let->body);
    str_printf(&p->out, ", where={%s: ", name_of(p, let->var));
    print_expr(p, let->value);
    str_add(&p->out, "})");
    break;
  }
  case NK_Call: print_call(p, AS(Call, n)); break;
  case NK_Reduce: print_reduce(p, AS(Reduce, n)); break;
  default: print_attr(p, n);
  }
}

void print_expr(Printer *p, Node *n) { print_at(p, n, 0, VOID_TYPE); }
void print_beside(Printer *p, Node *n, DataType t) { print_at(p, n, 0, t); }

void print_exprs(Printer *p, NodeVec v) {
  for (int i = 0; i < v.len; i++) {
    if (i) str_add(&p->out, ", ");
    print_expr(p, v.at[i]);
  }
}

static const char *text_beside(Printer *p, Node *n, DataType t) {
  size_t start = text_begin(p);
  print_beside(p, n, t);
  return text_end(p, start);
}
const char *expr_text(Printer *p, Node *n) { return text_beside(p, n, VOID_TYPE); }

bool is_type_var(const Printer *p, const Node *var) {
  return p->options.tvm_style && !p->in_graph && dtype_equal(var->dtype, INT64) &&
         !((const Var *)(const void *)var)->is_size;
}

static WalkResult stop_at_quoted(Walker *w, Node *n) {
  return IS(Var, n) && !is_type_var(w->context, n) ? WALK_STOP : WALK_ON;
}
static bool needs_quotes(Printer *p, Node *dim) {
  Walker w = {.enter = stop_at_quoted, .context = p};
  return !walk(&w, dim);
}

void print_shape(Printer *p, NodeVec v, DataType beside) {
  str_add_char(&p->out, '(');
  for (int i = 0; i < v.len; i++) {
    if (i) str_add(&p->out, ", ");
    if (p->in_signature && needs_quotes(p, v.at[i]))
      print_quoted(p, text_beside(p, v.at[i], beside));
    else print_beside(p, v.at[i], beside);
  }
  str_add(&p->out, v.len == 1 ? ",)" : ")");
}

/* ---- regions ---- */

/* Beside the end of a range, which says the dtype, its start may stand without one. */
void print_bounds(Printer *p, Node *min, Node *extent, const char *between) {
  Node *end = range_end(min, extent);
  print_beside(p, min, end->dtype);
  str_add(&p->out, between);
  print_beside(p, end, is_number(min) ? VOID_TYPE : min->dtype);
}

static void print_range(Printer *p, Range *r) {
  if (expr_is_one(r->extent)) return print_expr(p, r->min);
  print_bounds(p, r->min, r->extent, ":");
}

/* full_axis: one that stands as a range even if it has one element; -1: none. */
static void print_ranges(Printer *p, BufferRegion *r, int full_axis) {
  str_printf(&p->out, "%s[", name_of(p, r->buffer));
  if (!r->region.len) str_add(&p->out, "()");
  for (int i = 0; i < r->region.len; i++) {
    if (i) str_add(&p->out, ", ");
    Range *range = AS(Range, r->region.at[i]);
    if (i == full_axis) print_bounds(p, range->min, range->extent, ":");
    else print_range(p, range);
  }
  str_add_char(&p->out, ']');
}

void print_region(Printer *p, Node *n) { print_ranges(p, AS(BufferRegion, n), -1); }

/* As an argument, where A[i] would be an element. */
static void print_region_argument(Printer *p, BufferRegion *r) {
  bool is_element = true;
  for each (Node *, range, &r->region) is_element &= expr_is_one(AS(Range, *range)->extent);
  print_ranges(p, r, is_element ? r->region.len - 1 : -1);
}

/* ---- attribute values ---- */

static void print_lambda(Printer *p, NodeVec inputs, NodeVec outputs) {
  int mark = scope_begin(p);
  str_add(&p->out, "lambda ");
  for (int i = 0; i < inputs.len; i++)
    str_printf(&p->out, "%s%s", i ? ", " : "", name_define(p, inputs.at[i]));
  str_add(&p->out, ": (");
  print_exprs(p, outputs);
  str_add(&p->out, outputs.len == 1 ? ",)" : ")");
  scope_end(p, mark);
}

static void print_reducer(Printer *p, CommReducer *r) {
  NodeVec inputs = {0};
  for each (Node *, v, &r->lhs) vec_push(&inputs, *v);
  for each (Node *, v, &r->rhs) vec_push(&inputs, *v);
  str_add(&p->out, "T.comm_reducer(");
  print_lambda(p, inputs, r->results);
  str_add(&p->out, ", [");
  print_exprs(p, r->identity);
  str_add(&p->out, "])");
}

static void print_items(Printer *p, NodeVec items) {
  for (int i = 0; i < items.len; i++) {
    if (i) str_add(&p->out, ", ");
    print_attr(p, items.at[i]);
  }
}

/* TVM knows "tir.noalias" and its like by today's name of the dialect. */
static const char *key_text(const Printer *p, const char *key) {
  bool renamed = p->options.tvm_style && str_begins(key, "tir.");
  return renamed ? str_format("tirx.%s", key + strlen("tir.")) : key;
}

static void print_dict(Printer *p, Dict *d) {
  str_add_char(&p->out, '{');
  for (int i = 0; i < d->keys.len; i++) {
    if (i) str_add(&p->out, ", ");
    print_quoted(p, key_text(p, d->keys.at[i]));
    str_add(&p->out, ": ");
    print_attr(p, d->values.at[i]);
  }
  str_add_char(&p->out, '}');
}

static void print_iter_var(Printer *p, IterVar *v) {
  str_printf(&p->out, "T.iter_var(%s, ", name_of(p, v->var));
  if (v->dom) print_attr(p, v->dom);
  else str_add(&p->out, "None");
  str_printf(&p->out, ", \"%s\", \"%s\")", iter_kind_names[v->iter_kind],
             v->thread_tag ? v->thread_tag : "");
}

/* Of a layout: a tuple of extents. */
static void print_tuple_attr(Printer *p, Node *n) {
  bool tuple = IS(Array, n) && !AS(Array, n)->is_tuple;
  if (!tuple) return print_attr(p, n);
  NodeVec items = AS(Array, n)->items;
  str_add_char(&p->out, '(');
  for (int i = 0; i < items.len; i++) {
    if (i) str_add(&p->out, ", ");
    print_tuple_attr(p, items.at[i]);
  }
  str_add(&p->out, items.len == 1 ? ",)" : ")");
}

static void print_layout(Printer *p, Layout *l) {
  int positional = l->args.len - l->keys.len;
  if (str_same(l->form, "+") || str_same(l->form, "@")) {
    print_attr(p, l->args.at[0]);
    str_printf(&p->out, " %s ", l->form);
    bool nested = IS(Layout, l->args.at[1]) && (str_same(AS(Layout, l->args.at[1])->form, "+"));
    if (nested) str_add_char(&p->out, '(');
    print_attr(p, l->args.at[1]);
    if (nested) str_add_char(&p->out, ')');
    return;
  }
  bool axis = strncmp(l->form, "Axis.", 5) == 0;
  if (axis) return str_add(&p->out, l->form);
  bool strides =
      (str_same(l->form, "S") || str_same(l->form, "R")) && positional == 2 && !l->keys.len;
  str_printf(&p->out, strides ? "T.%s[" : "T.%s(", l->form);
  for (int i = 0; i < l->args.len; i++) {
    if (i) str_add(&p->out, strides ? " : " : ", ");
    if (i >= positional) str_printf(&p->out, "%s=", l->keys.at[i - positional]);
    print_tuple_attr(p, l->args.at[i]);
  }
  str_add_char(&p->out, strides ? ']' : ')');
}

/* "sm_80", 1024, ["cuda", "gpu"]: keys are a list even if there is one. */
static void print_option(Printer *p, const char *name, const char *value) {
  bool is_list = strchr(value, ',') || str_same(name, "keys");
  bool is_number = *value && !value[strspn(value, "0123456789")];
  if (is_number) return (void)str_add(&p->out, value);
  if (is_list) str_add_char(&p->out, '[');
  for (const char *end;; value = end + 1) {
    end = is_list ? strchrnul(value, ',') : value + strlen(value);
    print_quoted(p, str_copy_n(value, (size_t)(end - value)));
    if (!*end) break;
    str_add(&p->out, ", ");
  }
  if (is_list) str_add_char(&p->out, ']');
}

/* "cuda -arch=sm_80" as {"kind": "cuda", "arch": "sm_80"}. */
static void print_target_dict(Printer *p, const char *text, const char *host) {
  size_t n = strcspn(text, " ");
  str_add(&p->out, "{\"kind\": ");
  print_quoted(p, str_copy_n(text, n));
  for (text += n; *text; text += n) {
    text += strspn(text, " -");
    n = strcspn(text, " ");
    const char *word = str_copy_n(text, n), *equals = strchr(word, '=');
    const char *name = equals ? str_copy_n(word, (size_t)(equals - word)) : word;
    str_add(&p->out, ", ");
    print_quoted(p, name);
    str_add(&p->out, ": ");
    print_option(p, name, equals ? equals + 1 : "1");
  }
  if (host) {
    str_add(&p->out, ", \"host\": ");
    print_target_dict(p, host, NULL);
  }
  str_add_char(&p->out, '}');
}

static void print_target(Printer *p, TargetAttr *t) {
  str_add(&p->out, "T.target(");
  if (p->options.tvm_style) print_target_dict(p, t->text, t->host);
  else {
    print_quoted(p, t->text);
    if (t->host) {
      str_add(&p->out, ", host=");
      print_quoted(p, t->host);
    }
  }
  str_add_char(&p->out, ')');
}

void print_attr(Printer *p, Node *n) {
  switch (n->kind) {
  case NK_None: str_add(&p->out, "None"); break;
  case NK_IntImm:
    if (dtype_is_bool(n->dtype)) str_add(&p->out, AS(IntImm, n)->value ? "True" : "False");
    else print_expr(p, n);
    break;
  case NK_FloatImm: print_float_attr(p, AS(FloatImm, n)); break;
  case NK_Array:
    str_add(&p->out, AS(Array, n)->is_tuple ? "T.tvm_tuple(" : "[");
    print_items(p, AS(Array, n)->items);
    str_add(&p->out, AS(Array, n)->is_tuple ? ")" : "]");
    break;
  case NK_Dict: print_dict(p, AS(Dict, n)); break;
  case NK_TargetAttr: print_target(p, AS(TargetAttr, n)); break;
  case NK_VDevice: {
    VDevice *d = AS(VDevice, n);
    str_printf(&p->out, "I.vdevice(\"%s\", %d, \"%s\")", d->target, d->id, d->scope);
    break;
  }
  case NK_Layout: print_layout(p, AS(Layout, n)); break;
  case NK_Device:
    str_printf(&p->out, "R.device(\"%s\", %d)", AS(Device, n)->device_kind, AS(Device, n)->id);
    break;
  case NK_DeviceMesh: print_device_mesh(p, AS(DeviceMesh, n)); break;
  case NK_DummyGlobalInfo: str_add(&p->out, "I.dummy_global_info()"); break;
  case NK_Range:
    str_add(&p->out, "T.Range(");
    print_bounds(p, AS(Range, n)->min, AS(Range, n)->extent, ", ");
    str_add_char(&p->out, ')');
    break;
  case NK_BufferRegion: print_region_argument(p, AS(BufferRegion, n)); break;
  case NK_IterVar: print_iter_var(p, AS(IterVar, n)); break;
  case NK_CommReducer: print_reducer(p, AS(CommReducer, n)); break;
  case NK_IndexMap:
    str_add(&p->out, "T.index_map(");
    print_lambda(p, AS(IndexMap, n)->inputs, AS(IndexMap, n)->outputs);
    if (AS(IndexMap, n)->inverse) {
      str_add(&p->out, ", inverse_index_map=");
      print_lambda(p, AS(IndexMap, AS(IndexMap, n)->inverse)->inputs,
                   AS(IndexMap, AS(IndexMap, n)->inverse)->outputs);
    }
    if (AS(IndexMap, n)->inputs.len && !dtype_equal(AS(IndexMap, n)->inputs.at[0]->dtype, INT64))
      str_printf(&p->out, ", index_dtype=\"%s\"", dtype_text(AS(IndexMap, n)->inputs.at[0]->dtype));
    str_add_char(&p->out, ')');
    break;
  case NK_Buffer: str_add(&p->out, name_of(p, n)); break;
  default:
    if (node_is_expr(n)) print_expr(p, n);
    else if (node_is_sinfo(n)) print_sinfo(p, n);
    else print_relax(p, n);
  }
}
