/* analyzer.c -- facts about variables, and conditions that hold for a while. */
#include "ir/arith/arith_impl.h"
#include "ir/support/stack.h"

Analyzer *arith_of_function(Node *prim_func) {
  Analyzer *a = arith_new();
  for each (Node *, b, &AS(PrimFunc, prim_func)->buffers) {
    if (!*b) continue;
    for each (Node *, dim, &AS(Buffer, *b)->shape)
      if (!IS(IntImm, *dim))
        arith_enter(
            a, expr_binary(NK_GE, *dim, int_imm((*dim)->dtype, 0, (*dim)->span), (*dim)->span));
  }
  return a;
}

Analyzer *arith_new(void) { return NEW(Analyzer, .cache = {0}); }

VarInfo *var_info(Analyzer *a, const Node *var) { return map_get(&a->vars, var); }

/* ---- remembered answers ---- */

void forget_answers(Analyzer *a) { a->cache = a->simplified = a->sums = (Map){0}; }

Known *known_of(Analyzer *a, Node *e) {
  Known *k = map_get(&a->cache, e);
  if (k) return k;
  k = NEW(Known, .has_bound = false);
  map_set(&a->cache, e, k);
  return k;
}

/* ---- what an expression contains ---- */

static void add_content(Content *to, Content more) {
  to->symbol |= more.symbol;
  to->data |= more.data;
  to->reads |= more.reads;
  to->state |= more.state;
  to->traps |= more.traps;
  to->large |= more.large;
}

/* Builtins that compute with integers as an operator does. */
static bool is_integer_builtin(const Node *call) {
  static const char *const names[] = {"if_then_else", "likely",     "shift_left",  "shift_right",
                                      "bitwise_and",  "bitwise_or", "bitwise_xor", "bitwise_not"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (is_intrin_call(call, names[i])) return true;
  return false;
}

static Content content_of_var(Analyzer *a, const Node *n) {
  VarInfo *info = var_info(a, n);
  if (!info) return (Content){.symbol = dtype_is_int(n->dtype)};
  bool known = !info->is_symbolic && dtype_is_int(n->dtype);
  return (Content){.symbol = info->is_symbolic,
                   .data = info->is_data,
                   .large = known && !is_index_scale(info->bound, n->dtype)};
}

static Content content_of_number(const Node *n) {
  int64_t v = ((const IntImm *)(const void *)n)->value;
  bool beyond = n->dtype.code == DTYPE_UINT && v < 0;
  bool large = dtype_is_int(n->dtype) && (beyond || !is_index_scale((ConstBound){v, v}, n->dtype));
  return (Content){.large = large};
}

static Content content_of_call(const Node *n) {
  const Intrin *in = intrin_of(((const Call *)(const void *)n)->op);
  Effect effect = in ? in->effect : EFFECT_STATE;
  return (Content){.data = !is_integer_builtin(n),
                   .reads = effect >= EFFECT_READ,
                   .state = effect == EFFECT_STATE,
                   .traps = true,
                   .large = is_intrin_call(n, "shift_left")};
}

/* A cast that may cut bits off gives numbers of any size. */
static Content content_of_cast(Analyzer *a, Node *n) {
  Node *value = AS(Cast, n)->value;
  DataType from = value->dtype, to = n->dtype;
  bool number = dtype_is_int(from) || dtype_is_bool(from);
  bool widens = from.bits <= to.bits && from.code == to.code;
  bool keeps = widens || !dtype_is_int(from) || !dtype_is_int(to) ||
               bound_fits(arith_const_bound(a, value), to);
  return (Content){.data = !number, .large = !keeps};
}

/* Of the node itself, without what is below it. */
static Content own_content(Analyzer *a, Node *n) {
  switch (n->kind) {
  case NK_Var: return content_of_var(a, n);
  case NK_IntImm: return content_of_number(n);
  case NK_BufferLoad: return (Content){.data = true, .reads = true, .traps = true};
  case NK_Call: return content_of_call(n);
  case NK_Cast: return content_of_cast(a, n);
  case NK_Reduce:
  case NK_Shuffle: return (Content){.data = true};
  default: return (Content){.traps = kind_divides(n->kind)};
  }
}

typedef struct Gathered {
  Analyzer *analyzer;
  Content content;
} Gathered;

static void gather_content(void *context, Node *child) {
  Gathered *g = context;
  if (!IS(Buffer, child)) add_content(&g->content, content_of(g->analyzer, child));
}

Content content_of(Analyzer *a, Node *e) {
  if (IS(IntImm, e)) return content_of_number(e);
  if (stack_is_low()) return (Content){true, true, true, true, true, true};
  Known *k = known_of(a, e);
  if (k->has_content) return k->content;
  Gathered g = {a, own_content(a, e)};
  node_each_child(e, gather_content, &g);
  k->has_content = true;
  return k->content = g.content;
}

/* ---- binding ---- */

static bool fact_mentions(const Fact *f, const Node *var) {
  for each (Node *, t, &f->form.terms)
    if (node_mentions(*t, var)) return true;
  return (f->cond && node_mentions(f->cond, var)) || (f->about && node_mentions(f->about, var));
}

/* What was known of an earlier variable of this name is not true of the new one. */
static VarInfo *bind_anew(Analyzer *a, Node *var) {
  if (map_has(&a->vars, var))
    for each (Fact, f, &a->facts) f->dead = f->dead || fact_mentions(f, var);
  forget_answers(a);
  VarInfo *info = NEW(VarInfo, .bound = bound_of_dtype(var->dtype));
  map_set(&a->vars, var, info);
  return info;
}

void arith_bind_range(Analyzer *a, Node *var, Node *min, Node *extent) {
  ConstBound lo = arith_const_bound(a, min), n = arith_const_bound(a, extent);
  ConstBound last = bound_add(bound_add(lo, n), (ConstBound){-1, -1});
  Content cm = content_of(a, min), ce = content_of(a, extent);
  bool is_point = expr_is_one(extent) && dtype_equal(min->dtype, var->dtype) && !cm.reads &&
                  !node_mentions(min, var);
  VarInfo *info = bind_anew(a, var);
  ConstBound range = {lo.lo, last.hi};
  info->bound = range.lo <= range.hi ? bound_meet(info->bound, range) : info->bound;
  info->is_symbolic = cm.symbol || ce.symbol || cm.data || ce.data;
  info->value = is_point ? min : NULL;
  /* What holds beside the numbers: min <= var < min + extent. */
  if (!is_signed_index(var->dtype)) return;
  Node *from = expr_cast(var->dtype, min, var->span),
       *count = expr_cast(var->dtype, extent, var->span);
  arith_enter(a, expr_binary(NK_GE, var, from, var->span));
  arith_enter(a, expr_binary(NK_LT, var, arith_binary(NK_Add, from, count, var->span), var->span));
}

void arith_bind_value(Analyzer *a, Node *var, Node *value) {
  Content c = content_of(a, value);
  ConstBound b = dtype_is_int(value->dtype) || dtype_is_bool(value->dtype)
                     ? arith_const_bound(a, value)
                     : bound_of_dtype(var->dtype);
  bool is_value = !c.reads && !c.state && !node_mentions(value, var);
  VarInfo *info = bind_anew(a, var);
  info->bound = bound_meet(info->bound, b);
  info->is_symbolic = c.symbol && !c.data;
  info->is_data = c.data;
  info->value = is_value ? value : NULL;
}

/* ---- conditions ---- */

static void add_fact(Analyzer *a, Fact f) {
  vec_push(&a->facts, f);
  forget_answers(a);
}

/* x - y >= margin. Of forms that read memory nothing is kept: it may change while the fact holds.
 */
static bool add_order(Analyzer *a, Node *x, Node *y, int64_t margin) {
  Linear lx, ly, form;
  if (!is_signed_index(x->dtype) || content_of(a, x).reads || content_of(a, y).reads) return false;
  if (!exact_form(a, x, true, &lx) || !exact_form(a, y, true, &ly) || !linear_sub(&lx, &ly, &form))
    return false;
  if (__builtin_sub_overflow(form.constant, margin, &form.constant)) return false;
  if (form.terms.len) add_fact(a, (Fact){.form = form});
  return true;
}

/* x != y and x >= y: x > y. */
static bool add_distance(Analyzer *a, Node *x, Node *y) {
  Linear lx, ly;
  if (!is_signed_index(x->dtype) || !exact_form(a, x, true, &lx) || !exact_form(a, y, true, &ly))
    return false;
  if (compare_forms(a, &lx, &ly, 0) == 1) return add_order(a, x, y, 1);
  return compare_forms(a, &ly, &lx, 0) == 1 && add_order(a, y, x, 1);
}

/* x % c == r tells what x is modulo c. */
static void add_modular(Analyzer *a, Node *x, Node *y) {
  int64_t c, r;
  bool known = IS(FloorMod, x) && expr_is_const_int(AS(FloorMod, x)->b, &c) &&
               expr_is_const_int(y, &r) && c > 0 && r >= 0 && r < c;
  if (known && is_signed_index(x->dtype))
    add_fact(a, (Fact){.about = AS(FloorMod, x)->a, .modular = {c, r}});
}

static void assume(Analyzer *a, Node *cond) {
  Binary *b = as_binary(cond);
  bool known = false;
  switch (cond->kind) {
  case NK_And:
    assume(a, b->a);
    assume(a, b->b);
    return;
  case NK_GE: known = add_order(a, b->a, b->b, 0); break;
  case NK_GT: known = add_order(a, b->a, b->b, 1); break;
  case NK_LE: known = add_order(a, b->b, b->a, 0); break;
  case NK_LT: known = add_order(a, b->b, b->a, 1); break;
  case NK_EQ:
    known = add_order(a, b->a, b->b, 0) && add_order(a, b->b, b->a, 0);
    if (!content_of(a, cond).reads) add_modular(a, b->a, b->b);
    break;
  case NK_NE: known = add_distance(a, b->a, b->b); break;
  case NK_Not:
    if (IS(Or, AS(Not, cond)->a)) {
      Or *o = AS(Or, AS(Not, cond)->a);
      assume(a, expr_not(o->a, cond->span));
      assume(a, expr_not(o->b, cond->span));
      return;
    }
    break;
  case NK_Call:
    if (is_intrin_call(cond, "likely")) return assume(a, AS(Call, cond)->args.at[0]);
    break;
  default: break;
  }
  bool keeps = !known && !IS(IntImm, cond) && dtype_is_bool(cond->dtype);
  if (keeps && !content_of(a, cond).reads && !content_of(a, cond).state)
    add_fact(a, (Fact){.cond = cond});
}

int arith_enter(Analyzer *a, Node *cond) {
  int mark = a->facts.len;
  assume(a, cond);
  return mark;
}

void arith_leave(Analyzer *a, int mark) {
  if (a->facts.len == mark) return;
  a->facts.len = mark;
  forget_answers(a);
}

Node *arith_binary(NodeKind kind, Node *a, Node *b, Span span) {
  int64_t divisor;
  bool by_zero = kind_divides(kind) && expr_is_splat_int(b, &divisor) && divisor == 0;
  Node *folded = by_zero ? NULL : fold_binary(kind, a, b, span);
  if (folded) return folded;
  DataType t = kind_gives_bool(kind) ? dtype_with_lanes(BOOL, a->dtype.lanes) : a->dtype;
  Binary node = {{(uint16_t)kind, t, span}, a, b};
  return gc_copy(&node, sizeof node);
}
