/* parser.h -- the door of parser/: text to syntax tree.
 *
 * The lexer (lexer.re) finds tokens, indent.c turns layout into INDENT, DEDENT and NEWLINE, and
 * grammar.y builds the tree. Only syntax is decided here, no meaning: the same tree serves the
 * script language and both IR dialects. Faults go to the diagnostics list; after one, the parser
 * goes on at the next statement, so that a run reports them all. */
#ifndef PARSER_PARSER_H
#define PARSER_PARSER_H

#include "ir/support/source.h"
#include "ir/support/vec.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct Ast Ast;
typedef VEC(Ast *) AstVec;

/* Operators, with their spelling. AND and OR are those of BoolOp; those from EQ on, of Compare. */
/* clang-format off */
#define AST_OPS(X)                                                                                 \
  X(ADD, "+") X(SUB, "-") X(MUL, "*") X(DIV, "/") X(FLOORDIV, "//") X(MOD, "%") X(POW, "**")       \
  X(MATMUL, "@") X(SHL, "<<") X(SHR, ">>") X(BITAND, "&") X(BITOR, "|") X(BITXOR, "^")             \
  X(INVERT, "~") X(NEG, "-") X(POS, "+") X(NOT, "not") X(AND, "and") X(OR, "or")                   \
  X(EQ, "==") X(NE, "!=") X(LT, "<") X(LE, "<=") X(GT, ">") X(GE, ">=")                            \
  X(IN, "in") X(NOT_IN, "not in") X(IS, "is") X(IS_NOT, "is not")
/* clang-format on */

typedef enum {
#define X(name, text) AST_##name,
  AST_OPS(X)
#undef X
} AstOp;

typedef VEC(AstOp) AstOpVec;
typedef enum { AST_LIST, AST_SET, AST_DICT, AST_GENERATOR } AstDisplay;

/* PLAIN: by position or keyword. STAR: *args, or a bare "*" if it has no name. SLASH: the "/". */
typedef enum {
  PARAM_PLAIN,
  PARAM_KEYWORD_ONLY,
  PARAM_STAR,
  PARAM_DOUBLE_STAR,
  PARAM_SLASH
} ParamKind;

/* Comments are not in the tree: they lie beside it, in order, for the formatter. */
typedef struct Comment {
  Span span;     /* from '#' to the end of the line, without the newline */
  bool own_line; /* nothing but blanks before it */
} Comment;
typedef VEC(Comment) CommentVec;

typedef enum {
#define NODE(Kind, family) AST_KIND_##Kind,
#define FIELD(type, name, role)
#define END(Kind)
#include "parser/ast.def"
  AST_KIND_COUNT
} AstKind;

/* No tree is deeper than this, so that its readers may recurse. Deeper text ("a+a+a+...", nested
 * brackets) is refused with "nested too deeply"; an expression alone stays a quarter below it. */
enum { AST_DEPTH_MAX = 4000 };

struct Ast {
  uint16_t kind;       /* an AstKind */
  uint16_t depth : 15; /* levels of the tree from here on, this one included */
  uint16_t yields : 1; /* a yield is in it, outside of inner functions */
  Span span;
  uint32_t hint; /* the evaluator's: where it found what this node names; 0 at first */
};

/* One struct per kind: AstName, AstCall, ... each begins with `Ast ast`. */
#define NODE(Kind, family)                                                                         \
  typedef struct Ast##Kind {                                                                       \
    Ast ast;
#define FIELD(type, name, role) type name;
#define END(Kind)                                                                                  \
  }                                                                                                \
  Ast##Kind;
#include "parser/ast.def"

/* AST_AS(Call, node): the node as its own struct; the caller knows the kind. */
#define AST_AS(Kind, node) ((Ast##Kind *)(void *)(node))

const char *ast_kind_name(AstKind kind);
const char *ast_op_text(AstOp op);
bool ast_is_expression(const Ast *node);

/* Calls visit(context, child) for each child that is there, field by field as in ast.def. That is
 * the order of the source, except that a dict gives its keys before its values. */
void ast_each_child(const Ast *node, void (*visit)(void *context, Ast *child), void *context);

/* The tree as indented text, one node a line: for tests and debugging. */
const char *ast_dump(const Ast *node);

/* Parses a whole file. Always returns a tree: statements that did not parse are AstError nodes and
 * have been reported. Text that is not UTF-8 is reported at its first bad byte. */
AstModule *parse_module(const Source *source);

/* Parses one expression: the text of a pipeline, a dimension in quotes. NULL if it has faults. */
Ast *parse_expression(const Source *source);

/* The text, which must parse, in the project's layout: the same tree, the same comments, lines of
 * up to 100 characters that end in '\n'. Formatting what was formatted changes nothing. */
const char *parse_format(const Source *source);

/* Is the text (of REPL lines so far) whole, or does it ask for another line: an open bracket, an
 * open triple-quoted string, a compound statement without its closing blank line? */
bool parse_wants_more(const char *text, size_t len);

#endif
