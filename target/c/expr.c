/* expr.c -- expressions as text. */
#include "target/c/c.h"

/* Longer texts get a name. */
#define LONG_TEXT 120

CText c_text(Binding binds, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *text = str_vformat(format, args);
  va_end(args);
  return (CText){text, binds};
}

const char *c_within(CText v, Binding most) {
  return v.binds > most ? str_format("(%s)", v.at) : v.at;
}

CText c_name_it(CGen *g, CText v, DataType t) {
  const char *name = c_temporary(g);
  c_line(g, "%s = %s;", c_declare_as(g, t, name), v.at);
  return (CText){name, BINDS_ATOM};
}

void c_unsupported(CGen *g, Node *n, const char *what) {
  error_raisef("CompileError", n->span, "%s is not supported by %s", what, g->dialect->name);
}

static CText var(CGen *g, Node *n) {
  CVar *v = map_get(&g->f->values, n);
  if (v) return (CText){v->name, BINDS_ATOM};
  error_raisef("CompileError", n->span, "nothing gives '%s' a value in %s",
               AS(Var, n)->name ? AS(Var, n)->name : "_", g->f->name);
}

CText c_condition(CGen *g, Node *n) { return c_cast(g, c_expr(g, n), n->dtype, BOOL); }

/* ---- one of two ---- */

/* An arm and the lines that it needs before it. */
typedef struct Arm {
  Str lines;
  CText value;
} Arm;

static void write_arm(CGen *g, Arm *arm, Node *n, DataType t) {
  Str *out = g->f->out;
  g->f->out = &arm->lines;
  g->f->depth++;
  arm->value = c_expr(g, n);
  if (!dtype_is_void(t)) arm->value = c_cast(g, arm->value, n->dtype, t);
  g->f->depth--;
  g->f->out = out;
}

static void put_arm(CGen *g, Arm *arm, const char *to) {
  str_add(g->f->out, str_text(&arm->lines));
  g->f->depth++;
  if (to) c_line(g, "%s = %s;", to, arm->value.at);
  else if (*arm->value.at) c_line(g, "%s;", arm->value.at);
  g->f->depth--;
}

CText c_select(CGen *g, CText cond, CText then, CText orelse) {
  if (g->dialect->select) return g->dialect->select(cond, then, orelse);
  return c_text(BINDS_CHOICE, "%s ? %s : %s", c_within(cond, BINDS_COMPARE),
                c_within(then, BINDS_COMPARE), c_within(orelse, BINDS_COMPARE));
}

CText c_choice(CGen *g, Node *cond, Node *then, Node *orelse) {
  DataType t = then->dtype;
  const char *test = c_condition(g, cond).at;
  Arm yes = {0}, no = {0};
  write_arm(g, &yes, then, t);
  write_arm(g, &no, orelse, t);
  if (!yes.lines.len && !no.lines.len && !dtype_is_void(t))
    return c_select(g, (CText){str_format("(%s)", test), BINDS_ATOM}, yes.value, no.value);
  const char *name = NULL;
  if (!dtype_is_void(t)) {
    name = c_temporary(g);
    c_line(g, "%s;", c_declare_as(g, t, name));
  }
  c_line(g, "if (%s) {", test);
  put_arm(g, &yes, name);
  c_line(g, "} else {");
  put_arm(g, &no, name);
  c_line(g, "}");
  return (CText){name ? name : "", BINDS_ATOM};
}

/* The second operand is evaluated only where the first leaves the answer open. */
static CText logic(CGen *g, Binary *n) {
  bool is_and = n->node.kind == NK_And;
  CText a = c_condition(g, n->a);
  Arm b = {0};
  write_arm(g, &b, n->b, BOOL);
  if (!b.lines.len)
    return c_text(BINDS_LOGIC, "%s %s %s", c_within(a, BINDS_COMPARE), is_and ? "&&" : "||",
                  c_within(b.value, BINDS_COMPARE));
  CText name = c_name_it(g, a, BOOL);
  c_line(g, "if (%s%s) {", is_and ? "" : "!", name.at);
  put_arm(g, &b, name.at);
  c_line(g, "}");
  return name;
}

/* ---- the others ---- */

static CText select(CGen *g, Select *n) {
  Node *parts[] = {n->cond, n->then, n->orelse};
  CText v[3];
  DataType t = n->node.dtype;
  c_operands(g, 3, parts, v);
  v[0] = c_cast(g, v[0], n->cond->dtype, BOOL);
  for (int i = 1; i < 3; i++) {
    int64_t value;
    if (expr_is_const_int(parts[i], &value)) v[i] = c_int(g, parts[i]->dtype, value, true);
    v[i] = c_cast(g, v[i], parts[i]->dtype, t);
  }
  return c_select(g, v[0], v[1], v[2]);
}

static CText let(CGen *g, Let *n) {
  CText value = c_cast(g, c_expr(g, n->value), n->value->dtype, n->var->dtype);
  CVar *v = c_bind(g, n->var);
  range_bind(&g->f->ranges, n->var, range_of(&g->f->ranges, n->value));
  c_line(g, "%s = %s;", c_declare(g, n->var, v), value.at);
  if (!c_is_used(g, n->var)) c_discard(g, (CText){v->name, BINDS_ATOM});
  return c_expr(g, n->body);
}

static CText cast(CGen *g, Cast *n) {
  c_check_type(g, n->node.dtype, n->node.span);
  return c_cast(g, c_expr(g, n->value), n->value->dtype, n->node.dtype);
}

static CText function_address(CGen *g, GlobalVar *n) {
  const char *name = map_get(&g->kernels, str_intern(n->name));
  if (!name) BUG("'%s' is no function of the module", n->name);
  return c_text(BINDS_UNARY, "(void *)(uintptr_t)%s", name);
}

static CText any_expr(CGen *g, Node *n) {
  if (n->kind == NK_And || n->kind == NK_Or) return logic(g, (Binary *)(void *)n);
  if (node_is_binary(n->kind)) return c_binary(g, n, false);
  switch (n->kind) {
  case NK_Var: return var(g, n);
  case NK_IntImm: return c_int(g, n->dtype, AS(IntImm, n)->value, true);
  case NK_FloatImm: return c_float(g, n->dtype, AS(FloatImm, n)->value);
  case NK_StringImm: return (CText){c_string(AS(StringImm, n)->value), BINDS_ATOM};
  case NK_Not:
    return c_text(BINDS_UNARY, "!%s", c_within(c_condition(g, AS(Not, n)->a), BINDS_UNARY));
  case NK_Select: return select(g, AS(Select, n));
  case NK_Cast: return cast(g, AS(Cast, n));
  case NK_BufferLoad: return c_load(g, AS(BufferLoad, n));
  case NK_Let: return let(g, AS(Let, n));
  case NK_Call: return c_call(g, AS(Call, n));
  case NK_Shuffle: return c_shuffle(g, AS(Shuffle, n));
  case NK_Broadcast: return c_broadcast(g, AS(Broadcast, n));
  case NK_GlobalVar: return function_address(g, AS(GlobalVar, n));
  default: break;
  }
  c_unsupported(g, n, str_format("%s in a lowered function", node_kind_name(n->kind)));
}

CText c_expr(CGen *g, Node *n) {
  if (!IS(StringImm, n) && !IS(GlobalVar, n) && !dtype_is_void(n->dtype))
    c_check_type(g, n->dtype, n->span);
  CText v = any_expr(g, n);
  bool is_long = strlen(v.at) > LONG_TEXT && v.binds > BINDS_ATOM;
  return is_long ? c_name_it(g, v, n->dtype) : v;
}

CText c_operand(CGen *g, Node *n) {
  return IS(IntImm, n) ? c_int(g, n->dtype, AS(IntImm, n)->value, false) : c_expr(g, n);
}

void c_operands(CGen *g, int n, Node *const *nodes, CText *out) {
  bool has_effects = false;
  int open = 0; /* whose value is a matter of time */
  for (int i = 0; i < n; i++) {
    Effect effect = expr_effect(nodes[i]);
    has_effects |= effect == EFFECT_STATE;
    open += effect != EFFECT_PURE;
  }
  for (int i = 0; i < n; i++) {
    out[i] = c_operand(g, nodes[i]);
    if (has_effects && open > 1 && *out[i].at && expr_effect(nodes[i]) != EFFECT_PURE)
      out[i] = c_name_it(g, out[i], nodes[i]->dtype);
  }
}

CText c_index(CGen *g, Node *n) {
  bool is_sum = n->kind == NK_Add || n->kind == NK_Sub || n->kind == NK_Mul;
  return is_sum && n->dtype.code == DTYPE_INT ? c_binary(g, n, true) : c_operand(g, n);
}
