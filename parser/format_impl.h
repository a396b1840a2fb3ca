/* format_impl.h -- what the files of the formatter share: the tokens of a text with their comments.
 */
#ifndef PARSER_FORMAT_IMPL_H
#define PARSER_FORMAT_IMPL_H

#include "parser/parser_impl.h"

/* A token, with what stands around it in the text. */
typedef struct Piece {
  int kind; /* T_... */
  Span span;
  const char *text;
  int len;
  bool space;       /* a blank before it, unless it begins a line */
  bool continued;   /* it began a line after a backslash */
  bool unary;       /* an operator with one operand, or the star of *args */
  int mate;         /* of a bracket: the index of the other one; else -1 */
  CommentVec above; /* inside brackets: comments on lines of their own before it */
  Comment after;    /* behind it on its line; its span is empty if there is none */
} Piece;
typedef VEC(Piece) PieceVec;

static inline bool format_opens(int kind) {
  return kind == T_LPAR || kind == T_LSQB || kind == T_LBRACE;
}
static inline bool format_closes(int kind) {
  return kind == T_RPAR || kind == T_RSQB || kind == T_RBRACE;
}

/* Does an expression end with this token, so that what follows is an operator, a call, an index? */
bool format_ends_operand(const Piece *p);

/* Fills in `space` and `unary` for pieces [lo, hi), one logical line. */
void format_spaces(PieceVec *pieces, int lo, int hi);

#endif
