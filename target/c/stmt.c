/* stmt.c -- statements, a line each.
 *
 * A statement whose body is the rest of its scope does not recurse into it: chains of lets are as
 * long as functions. Only heap memory, to be freed when the scope ends, makes a scope. */
#include "target/c/c.h"
#include "target/work.h"

void c_line(CGen *g, const char *format, ...) {
  for (int i = 0; i < g->f->depth; i++) str_add(g->f->out, "  ");
  va_list args;
  va_start(args, format);
  str_vprintf(g->f->out, format, args);
  va_end(args);
  str_add_char(g->f->out, '\n');
}

static void block(CGen *g, Node *body) {
  g->f->depth++;
  c_stmt(g, body);
  g->f->depth--;
}

/* ---- loops ---- */

void c_loop(CGen *g, For *n, const char *begin, const char *end) {
  Range64 range = range_of_loop(&g->f->ranges, n);
  range_bind(&g->f->ranges, n->var, range);
  CVar *v = c_bind(g, n->var);
  const char *head = g->dialect->loop ? g->dialect->loop(g, n->var->dtype, v->name, end) : NULL;
  if (!head) head = str_format("%s < %s; %s++", v->name, end, v->name);
  c_line(g, "for (%s = %s; %s) {", c_declare(g, n->var, v), begin, head);
  vec_push(&g->f->loops, g->f->heap.len);
  block(g, n->body);
  (void)vec_pop(&g->f->loops);
  c_line(g, "}");
}

/* A bound is evaluated once: what may change while the loop runs gets a name. */
static CText bound(CGen *g, Node *n, DataType t) {
  CText v = c_cast(g, c_operand(g, n), n->dtype, t);
  bool stays = expr_effect(n) == EFFECT_PURE && v.binds < BINDS_COMPARE;
  return stays ? v : c_name_it(g, v, t);
}

/* A sum that does not overflow. */
static CText end_of(CGen *g, DataType t, CText min, CText extent) {
  if (g->dialect->binary && t.bits > 32) /* no operator there */
    return c_text(BINDS_ATOM, "%s(%s, %s)", c_helper(g, "add", t, VOID_TYPE), min.at, extent.at);
  return c_text(BINDS_ADD, "%s + %s", min.at, c_within(extent, BINDS_MUL));
}

static void serial_loop(CGen *g, For *n) {
  DataType t = n->var->dtype;
  bool from_zero = expr_is_zero(n->min);
  CText min = from_zero ? c_int(g, t, 0, false) : bound(g, n->min, t),
        extent = bound(g, n->extent, t);
  int64_t begin, count;
  if (from_zero) return c_loop(g, n, min.at, c_within(extent, BINDS_ADD));
  bool constant = expr_is_const_int(n->min, &begin) && expr_is_const_int(n->extent, &count);
  CText end = constant ? c_int(g, t, begin + count, false) : end_of(g, t, min, extent);
  c_loop(g, n, min.at, end.at);
}

static void for_loop(CGen *g, For *n) {
  if (n->loop_kind == LOOP_THREAD) c_unsupported(g, &n->node, "a loop bound to a thread");
  bool may_split = g->f->sort == CFUNC_KERNEL || g->f->sort == CFUNC_PACKED;
  bool is_parallel = n->loop_kind == LOOP_PARALLEL && may_split && !work_is_small(n);
  if (is_parallel) c_parallel(g, n);
  else serial_loop(g, n);
}

static void while_loop(CGen *g, While *n) {
  vec_push(&g->f->loops, g->f->heap.len);
  Str *out = g->f->out, lines = {0};
  g->f->out = &lines;
  g->f->depth++;
  CText cond = c_condition(g, n->cond);
  g->f->depth--;
  g->f->out = out;
  c_line(g, "while (%s) {", lines.len ? "true" : cond.at);
  str_add(g->f->out, str_text(&lines));
  g->f->depth++;
  if (lines.len) c_line(g, "if (!%s) break;", c_within(cond, BINDS_UNARY));
  c_stmt(g, n->body);
  g->f->depth--;
  c_line(g, "}");
  (void)vec_pop(&g->f->loops);
}

/* ---- others ---- */

static void if_then_else(CGen *g, IfThenElse *n) {
  c_line(g, "if (%s) {", c_condition(g, n->cond).at);
  block(g, n->then);
  if (n->orelse) {
    c_line(g, "} else {");
    block(g, n->orelse);
  }
  c_line(g, "}");
}

static void check(CGen *g, AssertStmt *n) {
  if (!g->dialect->is_host) c_unsupported(g, &n->node, "an assertion in device code");
  c_line(g, "if (!%s) {", c_within(c_condition(g, n->cond), BINDS_UNARY));
  g->f->depth++;
  c_raise(g, lowered_assert_kind(n), lowered_assert_text(n));
  c_fail(g);
  g->f->depth--;
  c_line(g, "}");
}

static void let_stmt(CGen *g, LetStmt *n) {
  CText value = c_cast(g, c_expr(g, n->value), n->value->dtype, n->var->dtype);
  range_bind(&g->f->ranges, n->var, range_of(&g->f->ranges, n->value));
  CVar *v = c_bind(g, n->var);
  bool begins_frame = lowered_begins_frame(n->value);
  if (begins_frame) g->f->frame = v->name;
  c_line(g, "%s = %s;", c_declare(g, n->var, v), value.at);
  if (!begins_frame && !c_is_used(g, n->var)) c_discard(g, (CText){v->name, BINDS_ATOM});
}

/* AttrStmts that nobody has a use for are passed over, threads of a GPU are not. */
static void attribute(CGen *g, AttrStmt *n) {
  if (g->dialect->attribute && g->dialect->attribute(g, n)) return;
  if (str_same(n->key, "thread_extent") || str_same(n->key, "virtual_thread"))
    c_unsupported(g, &n->node, "a loop bound to a thread");
}

void c_discard(CGen *g, CText v) {
  const char *to = g->dialect->discard ? g->dialect->discard : "(void)";
  c_line(g, "%s%s;", to, c_within(v, BINDS_UNARY));
}

void c_mark_used(CGen *g, Node *n, CText v) {
  if (!IS(IntImm, n) && !IS(FloatImm, n)) c_discard(g, v);
}

/* A value that nobody takes; the text may be a name that was given before. */
static void evaluate(CGen *g, Node *value) {
  CText v = c_expr(g, value);
  if (!*v.at) return;
  if (dtype_is_void(value->dtype)) c_line(g, "%s;", v.at);
  else if (strspn(v.at, "0123456789") != strlen(v.at)) c_mark_used(g, value, v);
}

/* Debuggers show the line that the statement came from. */
static void note_place(CGen *g, Node *n) {
  if (!g->dialect->is_host || !target_option_int(g->target, "line-directives") || !n->span.hi)
    return;
  Location at = source_locate(n->span.lo);
  if (at.source) str_printf(g->f->out, "#line %d %s\n", at.line, c_string(at.source->name));
}

/* Does one statement and returns what is left to do in its scope, or NULL. */
static Node *step(CGen *g, Node *n) {
  note_place(g, n);
  switch (n->kind) {
  case NK_LetStmt: return let_stmt(g, AS(LetStmt, n)), AS(LetStmt, n)->body;
  case NK_AttrStmt: return attribute(g, AS(AttrStmt, n)), AS(AttrStmt, n)->body;
  case NK_AssertStmt: return check(g, AS(AssertStmt, n)), AS(AssertStmt, n)->body;
  case NK_DeclBuffer: return AS(DeclBuffer, n)->body;
  case NK_Allocate: return c_allocate(g, AS(Allocate, n)) ? NULL : AS(Allocate, n)->body;
  case NK_AllocateConst:
    return c_allocate_const(g, AS(AllocateConst, n)), AS(AllocateConst, n)->body;
  case NK_For: return for_loop(g, AS(For, n)), NULL;
  case NK_While: return while_loop(g, AS(While, n)), NULL;
  case NK_IfThenElse: return if_then_else(g, AS(IfThenElse, n)), NULL;
  case NK_BufferStore: return c_store(g, AS(BufferStore, n)), NULL;
  case NK_Evaluate: return evaluate(g, AS(Evaluate, n)->value), NULL;
  default: break;
  }
  c_unsupported(g, n, str_format("%s in a lowered function", node_kind_name(n->kind)));
}

void c_stmt(CGen *g, Node *n) {
  while (n) {
    if (!IS(SeqStmt, n)) {
      n = step(g, n);
      continue;
    }
    NodeVec stmts = AS(SeqStmt, n)->stmts;
    for (int i = 0; i + 1 < stmts.len; i++) c_stmt(g, stmts.at[i]);
    n = stmts.len ? vec_last(&stmts) : NULL;
  }
}
