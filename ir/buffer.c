/* buffer.c -- buffers, their loads and stores, and the statements around them. */
#include "ir/ir_impl.h"
#include <ctype.h>

Node *buffer_new(const char *name, DataType elem, NodeVec shape, const char *scope, Span span) {
  Node *data = pointer_var_new(name, elem, scope, span);
  return MAKE(Buffer, span, VOID_TYPE, .name = name ? str_intern(name) : NULL, .elem = elem,
              .shape = shape, .data = data, .align = 64, .offset_factor = 1);
}

const char *buffer_scope(const Node *buffer) {
  const Node *data = AS(Buffer, buffer)->data;
  const char *scope = IS(Var, data) ? AS(Var, data)->scope : NULL;
  return scope && *scope ? scope : "global";
}

bool scope_is_fragment(const char *scope) {
  const char *dot = scope && scope[0] == 'm' ? strstr(scope, ".matrix") : NULL;
  char which = dot ? dot[strlen(".matrix")] : '\0';
  return which >= 'A' && which <= 'C' && isdigit((unsigned char)scope[1]);
}

int scope_threads(const char *scope) { return str_begins(scope, "m64") ? 128 : 32; }

/* ---- access ---- */

static const char *name_of(const Buffer *b) { return b->name ? b->name : "_"; }
static const char *plural(int n) { return n == 1 ? "" : "s"; }

static void check_indices(const Buffer *b, NodeVec indices, Span span) {
  if (indices.len != b->shape.len)
    error_raise_code(E0312, span, "buffer '%s' has %d dimension%s, but %d %s given", name_of(b),
                     b->shape.len, plural(b->shape.len), indices.len,
                     indices.len == 1 ? "index is" : "indices are");
  for each (Node *, i, &indices)
    if (!node_is_expr(*i) || !dtype_is_int((*i)->dtype))
      error_raise_code(E0313, (*i)->span.hi ? (*i)->span : span,
                       "an index of '%s' must be an integer, found %s", name_of(b),
                       node_is_expr(*i) ? dtype_text((*i)->dtype) : node_kind_name((*i)->kind));
}

/* Lanes of an access: those of an element times those of its vector index. */
static int access_lanes(const Buffer *b, NodeVec indices, Span span) {
  int lanes = 1;
  for each (Node *, i, &indices) {
    int n = (*i)->dtype.lanes;
    if (n != 1 && lanes != 1 && n != lanes)
      error_raisef("TypeError", span, "the indices of '%s' have different lanes: %d and %d",
                   name_of(b), lanes, n);
    if (n != 1) lanes = n;
  }
  long all = (long)lanes * b->elem.lanes;
  if (all < INT16_MIN || all > INT16_MAX || (lanes < 0 && b->elem.lanes < 0))
    error_raisef("TypeError", span, "an access of '%s' has too many lanes: %ld", name_of(b), all);
  return (int)all;
}

Node *expr_load(Node *buffer, NodeVec indices, Span span) {
  Buffer *b = AS(Buffer, buffer);
  check_indices(b, indices, span);
  DataType t = dtype_with_lanes(b->elem, access_lanes(b, indices, span));
  return MAKE(BufferLoad, span, t, .buffer = buffer, .indices = indices);
}

static void check_value(const Buffer *b, const Node *value, int lanes, Span span) {
  int n = value->dtype.lanes;
  if (n != lanes)
    error_raise_code(E0314, span, "a value of %d lane%s is stored in %d element%s of '%s'", n,
                     plural(n), lanes, plural(lanes), name_of(b));
  bool text = IS(StringImm, value), pointer = dtype_is_handle(value->dtype);
  if (text || dtype_is_void(value->dtype) || pointer != dtype_is_handle(b->elem))
    error_raise_code(E0314, span, "'%s' holds %s, but the value is %s", name_of(b),
                     dtype_text(b->elem), text ? "a string" : dtype_text(value->dtype));
}

Node *stmt_store(Node *buffer, NodeVec indices, Node *value, Span span) {
  Buffer *b = AS(Buffer, buffer);
  check_indices(b, indices, span);
  int lanes = access_lanes(b, indices, span);
  check_value(b, value, lanes, span);
  value = expr_cast(dtype_with_lanes(b->elem, lanes), value, span);
  return MAKE(BufferStore, span, VOID_TYPE, .buffer = buffer, .indices = indices, .value = value);
}

/* ---- other statements ---- */

Node *stmt_evaluate(Node *value, Span span) {
  return MAKE(Evaluate, span, VOID_TYPE, .value = value);
}

static void flatten(NodeVec *out, NodeVec stmts) {
  for each (Node *, s, &stmts) {
    if (IS(SeqStmt, *s)) flatten(out, AS(SeqStmt, *s)->stmts);
    else if (*s) vec_push(out, *s);
  }
}

Node *stmt_seq(NodeVec stmts, Span span) {
  NodeVec flat = {0};
  flatten(&flat, stmts);
  if (flat.len == 1) return flat.at[0];
  if (!flat.len) return stmt_evaluate(int_imm(INT32, 0, span), span);
  return MAKE(SeqStmt, span, VOID_TYPE, .stmts = flat);
}
