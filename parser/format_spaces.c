/* format_spaces.c -- where a line that is written anew has blanks between its tokens. */
#include "parser/format_impl.h"

bool format_ends_operand(const Piece *p) {
  switch (p->kind) {
  case T_NAME:
  case T_INT:
  case T_FLOAT:
  case T_STRING:
  case T_NONE:
  case T_TRUE:
  case T_FALSE:
  case T_ELLIPSIS:
  case T_RPAR:
  case T_RSQB:
  case T_RBRACE: return true;
  default: return false;
  }
}

static bool is_word(int kind) {
  TokenClass c = token_class(kind);
  return (c == TOKEN_WORD || c == TOKEN_LEAD) && kind != T_NONE && kind != T_TRUE &&
         kind != T_FALSE;
}

/* ---- what a place is in ---- */

typedef struct Around {
  int open;       /* the innermost bracket; 0: none */
  bool subscript; /* it is the index of something */
  int lambdas;    /* in it, whose ':' is still to come */
  bool annotated; /* a ':' since its last comma: `a: int = 1` */
} Around;
typedef VEC(Around) AroundVec;

static bool may_be_unary(int kind) {
  return kind == T_PLUS || kind == T_MINUS || kind == T_TILDE || kind == T_STAR ||
         kind == T_DOUBLE_STAR || kind == T_AT || kind == T_SLASH;
}

/* ---- a**b: without blanks if both sides are names or numbers ---- */

static bool is_plain(int kind) { return kind == T_NAME || kind == T_INT || kind == T_FLOAT; }

static bool is_hugged(const PieceVec *v, int at, int lo, int hi) {
  if (at == lo || !is_plain(v->at[at - 1].kind)) return false;
  int i = at + 1;
  if (i < hi && v->at[i].kind == T_MINUS) i++;
  if (i >= hi || !is_plain(v->at[i].kind)) return false;
  while (i + 2 < hi && v->at[i + 1].kind == T_DOT && v->at[i + 2].kind == T_NAME) i += 2;
  return i + 1 >= hi || (v->at[i + 1].kind != T_LPAR && v->at[i + 1].kind != T_LSQB);
}

/* ---- pairs of tokens ---- */

static bool around_dot(const Piece *a, const Piece *b) {
  if (b->kind == T_DOT) return a->kind == T_FROM || a->kind == T_INT;
  return b->kind == T_IMPORT; /* a is the dot: from . import */
}

static bool around_equal(const Around *in) {
  return in->lambdas == 0 && (!in->open || in->annotated);
}

/* Between a and b; `in` is where b stands. */
static bool wants_space(const Piece *a, const Piece *b, const Around *in, bool from) {
  if (format_closes(b->kind) || format_opens(a->kind)) return false;
  if (b->kind == T_COMMA || b->kind == T_SEMI || b->kind == T_COLON) return false;
  if (a->kind == T_COMMA || a->kind == T_SEMI) return true;
  if (a->kind == T_DOT || b->kind == T_DOT) return around_dot(a, b);
  if (from && a->kind == T_ELLIPSIS) return b->kind == T_IMPORT;
  if (a->kind == T_COLON) return a->space; /* decided where it stood */
  if (a->kind == T_EQUAL || b->kind == T_EQUAL) return around_equal(in);
  if (a->unary) return false;
  if (b->unary || is_word(a->kind) || is_word(b->kind)) return true;
  if (b->kind == T_LPAR || b->kind == T_LSQB) return !format_ends_operand(a);
  return true;
}

/* ---- a line ---- */

/* Notes what `p` changes for those behind it. A colon keeps in `space` whether a blank follows. */
static void step(AroundVec *around, Piece *p, const Piece *before) {
  Around *in = &vec_last(around);
  if (format_opens(p->kind)) {
    bool subscript = p->kind == T_LSQB && before && format_ends_operand(before);
    vec_push(around, ((Around){.open = p->kind, .subscript = subscript}));
    return;
  }
  if (format_closes(p->kind) && around->len > 1) around->len--;
  if (p->kind == T_LAMBDA) in->lambdas++;
  if (p->kind == T_COMMA) in->annotated = false;
  if (p->kind != T_COLON) return;
  p->space = in->lambdas > 0 || !in->subscript;
  if (in->lambdas) in->lambdas--;
  else in->annotated = true;
}

void format_spaces(PieceVec *pieces, int lo, int hi) {
  AroundVec around = {0};
  bool from = lo < hi && pieces->at[lo].kind == T_FROM;
  vec_push(&around, (Around){0});
  for (int i = lo; i < hi; i++) {
    Piece *p = &pieces->at[i], *before = i > lo ? p - 1 : NULL;
    p->unary = may_be_unary(p->kind) && (!before || !format_ends_operand(before));
    bool space = before && wants_space(before, p, &vec_last(&around), from);
    if (p->kind == T_DOUBLE_STAR && !p->unary && is_hugged(pieces, i, lo, hi)) space = false;
    if (before && before->kind == T_DOUBLE_STAR && !before->unary &&
        is_hugged(pieces, i - 1, lo, hi))
      space = false;
    step(&around, p, before);
    if (p->kind != T_COLON) p->space = space;
  }
  /* Now that all is decided: no blank before a colon. */
  for (int i = lo; i < hi; i++)
    if (pieces->at[i].kind == T_COLON) pieces->at[i].space = false;
}
