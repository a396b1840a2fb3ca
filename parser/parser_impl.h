/* parser_impl.h -- what the files of parser/ share: tokens, the lexer, layout, the parser's state
 * and the constructors that the grammar's actions call. */
#ifndef PARSER_PARSER_IMPL_H
#define PARSER_PARSER_IMPL_H

#include "parser/parser.h"
#include "parser/grammar.h"
#include "ir/support/error.h"

/* ---- tokens (token.c) ---- */

/* The span stands first: it is then one register of the two in which tokens are passed on. */
typedef struct Token {
  Span span;
  int kind; /* T_..., 0 at the end of the text */
} Token;
typedef VEC(Token) TokenVec;

enum {
#define TOKEN(NAME, text, class, op) TOKEN_INDEX_##NAME,
#include "parser/token.def"
  TOKEN_COUNT
};

typedef enum { TOKEN_WORD, TOKEN_LEAD, TOKEN_SIGN, TOKEN_KIND, TOKEN_FAULT } TokenClass;

int token_keyword(const char *text, size_t n); /* T_NAME if it is no keyword */
const char *token_text(int kind);              /* spelling, or what it is in words */
extern const uint8_t token_classes[TOKEN_COUNT + 1];
static inline TokenClass token_class(int kind) { return (TokenClass)token_classes[kind]; }
bool token_is_header(int kind); /* begins a line that a block follows */
AstOp token_op(Token t);        /* of an operator or an augmented assignment */

/* The keywords, for "did you mean": `*n` of them. */
const char *const *token_keywords(int *n);

/* ---- the lexer (lexer.re) ---- */

typedef struct Lexer {
  const char *start;        /* of the token */
  const char *cursor, *end; /* *end is NUL */
} Lexer;

int lexer_next(Lexer *s);

/* ---- layout (indent.c) ---- */

/* Widths of the blanks that begin a line, with tabs to the next multiple of 8, and with tabs as
 * one: if two lines compare differently in the two, their tabs and spaces are not consistent. */
typedef struct Level {
  uint32_t column, tabless;
} Level;

typedef struct Layout {
  Lexer lexer;
  const char *text; /* after a byte order mark; at `base` of the source map */
  uint32_t base;
  bool joined;         /* all one line, as if in brackets: an expression */
  bool in_line;        /* a token of the current logical line was given out */
  VEC(Level) levels;   /* of the open blocks; the outermost, of column 0, is not in it */
  TokenVec brackets;   /* that are open */
  uint32_t odd_column; /* of lines that match no level and were reported, or 0 */
  bool odd_line;       /* the current logical line is one of them */
  int dedents;         /* to be given out */
  Token held;          /* to be given out after those, if has_held */
  bool has_held;
  uint32_t last; /* end of the last token that is not layout */
  int last_kind;
  Token opener; /* of the last UNMATCHED: the bracket that is open, or kind 0 */
  CommentVec comments;
} Layout;

enum { LAYOUT_LEVELS_MAX = 100 };

void layout_start(Layout *l, const char *text, size_t len, uint32_t base, bool joined);

/* The next token. NEWLINE ends a line, INDENT and DEDENT bracket a block; at the end, open blocks
 * are closed before the token of kind 0. Faults of layout are reported, or given out as UNMATCHED,
 * UNCLOSED or TOO_DEEP, which the grammar refuses. */
Token layout_next(Layout *l);

/* The innermost open bracket that `t`, the token just given out, is in; NULL if none. */
const Token *layout_bracket_around(const Layout *l, Token t);

/* Is `t`, the token just given out, the first of a physical line inside brackets, no deeper than
 * the line that begins at `first`? Then a bracket was most likely forgotten before it. */
bool layout_looks_unclosed(const Layout *l, Token t, Token first);

/* Forgets all open brackets and reads the line of `t` again, as a new logical line. */
void layout_restart_line(Layout *l, Token t);

/* After the '(' of `with (`: is the matching ')' followed by ':' or the end of the line? */
bool layout_paren_ends_header(const Layout *l);

/* ---- the parser (parse.c) ---- */

typedef struct Parser Parser;
struct Parser {
  void *machine; /* of lemon */
  Layout layout;
  Token token;       /* that the machine is given */
  Token previous;    /* the one before, layout left out */
  Token first;       /* of the logical line of `previous` */
  bool at_start;     /* `token` begins a logical line */
  uint32_t last;     /* end of `previous`: where a rule that is being reduced ends */
  bool reported;     /* a fault of this logical line */
  bool skipping;     /* a statement that is dropped, up to its NEWLINE */
  bool restart;      /* the statement ends before this line: a bracket was not closed */
  bool failed;       /* some fault was found */
  bool silent;       /* the rest of the text is not read: nothing more is worth a report */
  uint32_t lost_at;  /* start of the statement that is dropped */
  uint32_t lost_end; /* end of the last one that was dropped */
  char *block;       /* where the next node goes */
  size_t block_left; /* bytes */
  Parser *inner;     /* for the expressions of f-strings; made when needed */
  AstVec body;       /* the result, of a module */
  Ast *expression;   /* the result, of an expression */
};

/* Parses text[0, len), which is at `base` of the source map, as an expression with the parser for
 * the inside of `p`'s strings. NULL if it has faults, which are reported. */
Ast *parse_inner(Parser *p, const char *text, size_t len, uint32_t base);

/* From the machine (grammar.y). */
void *GrammarAlloc(void *(*allocate)(size_t), Parser *p);
void GrammarInit(void *machine, Parser *p);
void Grammar(void *machine, int kind, Token t);
bool grammar_accepts(const void *machine, int token); /* as the next one, where a fault is */
int grammar_room(const void *machine);                /* entries left on the stack */

/* The first token of the logical line that `token` is in. */
Token parse_first(const Parser *p);

/* The text of a token, to be looked at (it does not end in NUL) or interned. */
const char *parse_text(const Parser *p, Span span);
const char *parse_name(const Parser *p, Token t);

/* ---- faults (message.c) ---- */

/* Reports a fault, unless its logical line has one already: then returns NULL. */
Diag *parse_error(Parser *p, DiagCode code, Span span, const char *format, ...) PRINTF_LIKE(4, 5);

void parse_fault(Parser *p, Token t);           /* no rule goes on with `t` */
Token parse_no_colon(Parser *p, Token newline); /* a header without ':'; gives back the token */
AstVec parse_no_block(Parser *p);               /* a header without block; an Error */
Ast *parse_no_definition(Parser *p, AstVec decorators); /* decorators of nothing; an Error */
void parse_extra_indent(Parser *p, Token indent);
Ast *parse_recovered(Parser *p); /* the Error for a statement that was dropped */

/* ---- checks of shape (target.c); each reports and returns false ---- */

typedef enum { TARGET_ASSIGN, TARGET_AUGMENT, TARGET_ANNOTATE, TARGET_DELETE } TargetUse;

bool target_check(Parser *p, const Ast *e, TargetUse use);
bool params_check(Parser *p, const AstVec *params); /* and completes their kinds */
bool args_check(Parser *p, const AstVec *args);

/* ---- literals (literal.c, fstring.c) ---- */

/* A string literal's prefix and the place of its content. */
typedef struct StringParts {
  bool raw, bytes, formatted;
  uint32_t lo, hi; /* the content, in the source map */
  int quotes;      /* 1 or 3 */
} StringParts;

StringParts literal_string_parts(const Parser *p, Token t);

/* Appends text[lo, hi), decoded. false: a fault was reported. */
bool literal_decode(Parser *p, Str *out, StringParts s, uint32_t lo, uint32_t hi);

/* Appends the parts of an f-string literal to `parts`, text to `pending`, which is flushed into
 * `parts` before a field. false: a fault was reported. */
bool fstring_parse(Parser *p, StringParts s, AstVec *parts, Str *pending, Span *pending_span);
void fstring_flush(Parser *p, AstVec *parts, Str *pending, Span *pending_span);

/* What is wrong with this BAD_NUMBER. */
const char *literal_number_fault(const char *text, size_t n);

/* ---- constructors (build.c, build_stmt.c) ----
 * The span goes from the first argument with a place to the last token read. If a child is poison
 * (it stands for a fault already reported) the result is poison, of a statement an Error. */

bool ast_is_poison(const Ast *e);
Ast *ast_poison(Span span);
Ast *ast_error(Parser *p, Span span); /* the statement */

/* Completes a node: depth, poison. Every constructor ends with it. */
Ast *ast_finish(Parser *p, Ast *node);

/* Zeroed memory for a node: the nodes of a parse lie in large blocks, next to each other. */
void *ast_alloc(Parser *p, size_t n);

#define AST_NEW(p, Kind, ...)                                                                      \
  ((Ast##Kind *)memcpy(ast_alloc(p, sizeof(Ast##Kind)), &(Ast##Kind){__VA_ARGS__},                 \
                       sizeof(Ast##Kind)))
#define AST_MAKE(p, Kind, place, ...)                                                              \
  ast_finish(                                                                                      \
      p, &AST_NEW(p, Kind, .ast = {.kind = AST_KIND_##Kind, .span = (place)}, __VA_ARGS__)->ast)

/* Lists of a tree grow by these only: their elements lie in the blocks, too. */
AstVec ast_one(Parser *p, Ast *a);
AstVec ast_two(Parser *p, Ast *a, Ast *b);
AstVec ast_prepend(Parser *p, Ast *a, AstVec rest);
void ast_push(Parser *p, AstVec *v, Ast *a);
void ast_append(Parser *p, AstVec *to, AstVec more);
TokenVec token_one(Parser *p, Token t);
void token_push(Parser *p, TokenVec *v, Token t);

Ast *ast_name(Parser *p, Token t);
Ast *ast_int(Parser *p, Token t);
Ast *ast_float(Parser *p, Token t);
Ast *ast_strings(Parser *p, TokenVec literals);
Ast *ast_constant(Parser *p, Token t);
Ast *ast_attribute(Parser *p, Ast *value, Token name);
Ast *ast_call(Parser *p, Ast *func, AstVec args);
AstVec ast_args(Parser *p, AstVec args);     /* checked */
AstVec ast_params(Parser *p, AstVec params); /* checked */
Ast *ast_target(Parser *p, Ast *e);          /* checked */
Ast *ast_keyword(Parser *p, Token first, const Token *name, Ast *value);
Ast *ast_starred(Parser *p, Token star, Ast *value);
Ast *ast_not_starred(Parser *p, Ast *e);
Ast *ast_subscript(Parser *p, Ast *value, Ast *index);
Ast *ast_index(Parser *p, Ast *e);
Ast *ast_slice(Parser *p, Token colon, Ast *lo, Ast *hi, Ast *step);
Ast *ast_unary(Parser *p, Token op, Ast *operand);
Ast *ast_binary(Parser *p, Ast *left, Token op, Ast *right);
Ast *ast_bool_op(Parser *p, Ast *left, Token op, Ast *right);
Ast *ast_compare(Parser *p, Ast *left, AstOp op, Ast *right);
Ast *ast_compare_again(Parser *p, Ast *chain, AstOp op, Ast *right);
Ast *ast_compare_end(Parser *p, Ast *chain);
Ast *ast_if_exp(Parser *p, Ast *then, Ast *cond, Ast *orelse);
Ast *ast_named(Parser *p, Token name, Ast *value);
Ast *ast_lambda(Parser *p, Token t, AstVec params, Ast *body);
Ast *ast_param(Parser *p, Token first, Token name, Ast *annotation, Ast *value);
Ast *ast_yield(Parser *p, Token t, Ast *value, bool from);
Ast *ast_tuple(Parser *p, AstVec items);
Ast *ast_paren(Parser *p, Token open, Ast *e); /* its span takes in the '(', or a decorator's '@' */
Ast *ast_paren_tuple(Parser *p, Token open, AstVec items);
Ast *ast_list(Parser *p, Token open, AstVec items);
Ast *ast_set(Parser *p, Token open, AstVec items);
Ast *ast_dict(Parser *p);
Ast *ast_dict_push(Parser *p, Ast *dict, Ast *key, Ast *value);
Ast *ast_dict_end(Parser *p, Token open, Ast *dict);
Ast *ast_comprehension(Parser *p, Token open, AstDisplay display, Ast *element, Ast *value,
                       AstVec clauses);
Ast *ast_generator(Parser *p, Ast *element, AstVec clauses);
Ast *ast_comp_for(Parser *p, Token t, Ast *target, Ast *iter, AstVec conds);

Ast *ast_expr_stmt(Parser *p, Ast *value);
Ast *ast_assign(Parser *p, Ast *target, Ast *value);
Ast *ast_assign_again(Parser *p, Ast *assign, Ast *value); /* a = b = value */
Ast *ast_assign_end(Parser *p, Ast *assign);
Ast *ast_aug_assign(Parser *p, Ast *target, Token op, Ast *value);
Ast *ast_ann_assign(Parser *p, Ast *target, Ast *annotation, Ast *value);
Ast *ast_word(Parser *p, Token t); /* pass, break, continue */
Ast *ast_return(Parser *p, Token t, Ast *value);
Ast *ast_raise(Parser *p, Token t, Ast *value, Ast *cause);
Ast *ast_assert(Parser *p, Token t, Ast *cond, Ast *message);
Ast *ast_delete(Parser *p, Token t, Ast *targets);
Ast *ast_scope(Parser *p, Token t, AstVec names); /* global, nonlocal */
Ast *ast_import(Parser *p, Token t, AstVec names);
Ast *ast_import_from(Parser *p, Token t, int level, const TokenVec *module, AstVec names);
Ast *ast_alias(Parser *p, TokenVec dotted, const Token *as);
Ast *ast_alias_all(Parser *p, Token star);
Ast *ast_if(Parser *p, Token t, Ast *cond, AstVec body, AstVec elifs, AstVec orelse);
Ast *ast_elif(Parser *p, Token t, Ast *cond, AstVec body);
Ast *ast_while(Parser *p, Token t, Ast *cond, AstVec body, AstVec orelse);
Ast *ast_for(Parser *p, Token t, Ast *target, Ast *iter, AstVec body, AstVec orelse);
Ast *ast_try(Parser *p, Token t, AstVec body, AstVec handlers, AstVec orelse, AstVec finally);
Ast *ast_handler(Parser *p, Token t, Ast *type, const Token *name, AstVec body);
Ast *ast_with(Parser *p, Token t, AstVec items, AstVec body);
Ast *ast_with_item(Parser *p, Ast *context, Ast *target);
Ast *ast_decorate(Parser *p, AstVec decorators, Ast *definition);
Ast *ast_def(Parser *p, Token t, Token name, AstVec type_params, AstVec params, Ast *result,
             AstVec body);
Ast *ast_class(Parser *p, Token t, Token name, AstVec bases, AstVec body);

#endif
