/* message.c -- what the parser says about a fault, and what it makes of the line.
 *
 * The expected tokens are asked of the machine: where a fault is found, its state has no rule left
 * to reduce, so that what it accepts is what could stand there. */
#include "parser/parser_impl.h"

enum { TEXT_SHOWN = 40, EXPECTED_SHOWN = 3 };

Diag *parse_error(Parser *p, DiagCode code, Span span, const char *format, ...) {
  p->failed = true;
  if (p->reported || p->silent) return NULL;
  p->reported = true;
  va_list args;
  va_start(args, format);
  const char *text = str_vformat(format, args);
  va_end(args);
  return diag_fault(code, span, "%s", text);
}

/* ---- found ---- */

static const char *shown(const Parser *p, Token t) {
  const char *text = parse_text(p, t.span);
  size_t n = t.span.hi - t.span.lo, cut = TEXT_SHOWN;
  if (n <= TEXT_SHOWN) return str_copy_n(text, n);
  while (((unsigned char)text[cut] & 0xc0) == 0x80) cut--;
  return str_format("%.*s...", (int)cut, text);
}

static const char *describe(const Parser *p, Token t) {
  if (t.kind == T_STRING) return "string";
  if (t.kind == T_NAME || t.kind == T_INT || t.kind == T_FLOAT)
    return str_format("%s '%s'", token_text(t.kind), shown(p, t));
  TokenClass class = token_class(t.kind);
  return class == TOKEN_KIND ? token_text(t.kind) : str_format("'%s'", token_text(t.kind));
}

/* ---- expected ---- */

/* More than a word of what may begin an expression is not worth saying. */
static bool begins_expression(int kind) {
  static const int kinds[] = {T_NAME,   T_INT,   T_FLOAT,  T_STRING,     T_NONE,
                              T_TRUE,   T_FALSE, T_LPAR,   T_LSQB,       T_MINUS,
                              T_PLUS,   T_NOT,   T_TILDE,  T_ELLIPSIS,   T_STAR,
                              T_LBRACE, T_YIELD, T_LAMBDA, T_DOUBLE_STAR};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (kinds[i] == kind) return true;
  return false;
}

/* Single tokens, those that most often were meant first. */
static const int told[] = {T_NEWLINE, T_COLON, T_RPAR, T_RSQB,   T_RBRACE, T_LPAR, T_EQUAL,
                           T_IN,      T_ELSE,  T_AS,   T_IMPORT, T_NAME,   T_DOT};

static const char *expected(const Parser *p, Token found) {
  const void *m = p->machine;
  if (grammar_accepts(m, T_PASS) && grammar_accepts(m, T_INT)) return "statement";
  const char *words[EXPECTED_SHOWN + 1];
  int n = 0;
  bool expression = grammar_accepts(m, T_INT);
  if (expression) words[n++] = "expression";
  /* Where a bracket may close, the machine has already decided that no comma follows. */
  bool closes =
      grammar_accepts(m, T_RPAR) || grammar_accepts(m, T_RSQB) || grammar_accepts(m, T_RBRACE);
  if (closes && !expression && found.kind != T_COMMA) words[n++] = "','";
  for (size_t i = 0; i < sizeof told / sizeof *told && n < EXPECTED_SHOWN; i++) {
    if (!grammar_accepts(m, told[i]) || (expression && begins_expression(told[i]))) continue;
    bool word = token_class(told[i]) == TOKEN_KIND;
    words[n++] = str_format(word ? "%s" : "'%s'", token_text(told[i]));
  }
  Str out = {0};
  for (int i = 0; i < n; i++) {
    if (i) str_add(&out, i == n - 1 ? " or " : ", ");
    str_add(&out, words[i]);
  }
  return n ? str_text(&out) : "end of the expression";
}

/* ---- kinds of fault ---- */

static uint32_t code_point(const char *text) {
  const unsigned char *at = (const unsigned char *)text;
  if (at[0] < 0xc0) return at[0];
  int n = at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
  uint32_t c = at[0] & (0xffu >> (n + 1));
  for (int i = 1; i < n; i++) c = c << 6 | (at[i] & 0x3f);
  return c;
}

static void bad_char(Parser *p, Token t) {
  uint32_t c = code_point(parse_text(p, t.span));
  if (c > 0x20 && c < 0x7f) {
    parse_error(p, E0101, t.span, "unexpected character '%c'", (char)c);
  } else if (c < 0xa0 || c == 0xa0 || c == 0xad || (c >= 0x2000 && c < 0x2010) || c == 0xfeff) {
    Diag *d = parse_error(p, E0101, t.span, "unexpected invisible character U+%04X", c);
    if (d) diag_help(d, "delete it, or write a plain space");
  } else {
    Diag *d = parse_error(p, E0101, t.span, "unexpected character '%s' (U+%04X)", shown(p, t), c);
    if (d && c >= 0x2018 && c <= 0x201f) diag_help(d, "write plain quotes: ' or \"");
  }
}

static void unmatched(Parser *p, Token t) {
  Token open = p->layout.opener;
  if (!open.kind) {
    bool operand = !p->at_start && grammar_accepts(p->machine, T_INT);
    parse_error(p, E0105, t.span, operand ? "expected expression, found '%s'" : "unmatched '%s'",
                shown(p, t));
    return;
  }
  Diag *d = parse_error(p, E0105, t.span, "closing '%s' does not match opening '%s'", shown(p, t),
                        token_text(open.kind));
  if (d) diag_note(d, open.span, "opened here");
}

/* A fault of the text itself. false if `t` is a good token. */
static bool lexical_fault(Parser *p, Token t) {
  size_t n = t.span.hi - t.span.lo;
  Span head = {t.span.lo, t.span.lo + (n < 3 ? (uint32_t)n : 3)};
  switch (t.kind) {
  case T_BAD_CHAR: bad_char(p, t); return true;
  case T_BAD_NUMBER:
    parse_error(p, E0102, t.span, "%s", literal_number_fault(parse_text(p, t.span), n));
    return true;
  case T_BAD_CONTINUATION:
    parse_error(p, E0103, t.span, "expected end of line after '\\'");
    return true;
  case T_OPEN_STRING: parse_error(p, E0104, t.span, "unterminated string literal"); return true;
  case T_OPEN_TEXT:
    parse_error(p, E0104, head, "unterminated triple-quoted string literal");
    return true;
  case T_UNMATCHED: unmatched(p, t); return true;
  case T_UNCLOSED: parse_error(p, E0106, t.span, "'%s' was never closed", shown(p, t)); return true;
  case T_TOO_DEEP:
    parse_error(p, E0107, t.span, "nested too deeply");
    p->silent = p->layout.lexer.cursor == p->layout.lexer.end;
    return true;
  default: return false;
  }
}

/* A keyword that goes on with a statement that is not there. */
static bool stray_keyword(Parser *p, Token t) {
  if (!p->at_start || !grammar_accepts(p->machine, T_PASS)) return false;
  const char *owner = t.kind == T_ELIF      ? "'if'"
                      : t.kind == T_ELSE    ? "'if', 'for', 'while' or 'try'"
                      : t.kind == T_EXCEPT  ? "'try'"
                      : t.kind == T_FINALLY ? "'try'"
                                            : NULL;
  if (owner) parse_error(p, E0108, t.span, "'%s' without a matching %s", token_text(t.kind), owner);
  return owner;
}

static void add_help(const Parser *p, Diag *d, Token t, Token first) {
  const Token *open = layout_bracket_around(&p->layout, t);
  if (open && memchr(parse_text(p, open->span), '\n', t.span.lo - open->span.lo))
    diag_note(d, open->span, "'%s' was opened here", token_text(open->kind));
  bool condition = first.kind == T_IF || first.kind == T_ELIF || first.kind == T_WHILE;
  if (t.kind == T_EQUAL && condition) diag_help(d, "write '==' to compare");
  if (t.kind == T_IF && p->previous.kind == T_ELSE && first.kind == T_ELSE)
    diag_help(d, "write 'elif'");
  bool second = !p->at_start && p->previous.span.lo == first.span.lo;
  if (second && first.kind == T_NAME && begins_expression(t.kind)) {
    int n;
    const char *const *words = token_keywords(&n), *name = parse_name(p, first);
    if (str_same(name, "match")) diag_help(d, "'match' statements are not supported");
    else diag_near(d, name, words, n);
  }
}

static void unexpected(Parser *p, Token t) {
  Token first = parse_first(p);
  bool header = token_is_header(first.kind) && grammar_accepts(p->machine, T_COLON) &&
                grammar_accepts(p->machine, T_NEWLINE);
  Diag *d = header ? parse_error(p, E0110, t.span, "expected ':' after '%s' header, found %s",
                                 token_text(first.kind), describe(p, t))
                   : parse_error(p, E0109, t.span, "expected %s, found %s", expected(p, t),
                                 describe(p, t));
  if (d) add_help(p, d, t, first);
}

/* ---- what the grammar asks for ---- */

void parse_fault(Parser *p, Token t) {
  Token first = parse_first(p);
  p->failed = p->skipping = true;
  p->lost_at = first.span.lo;
  if (lexical_fault(p, t) || stray_keyword(p, t)) return;
  if (layout_looks_unclosed(&p->layout, t, first)) {
    const Token *open = layout_bracket_around(&p->layout, t);
    parse_error(p, E0106, open->span, "'%s' was never closed", token_text(open->kind));
    p->restart = true;
  } else if (t.kind == T_ASYNC || t.kind == T_AWAIT) {
    parse_error(p, E0119, t.span, "'%s' is not supported", token_text(t.kind));
  } else {
    unexpected(p, t);
  }
}

/* These three are called when the first token of the next line is there: `first` is still the
 * header's, and its line has no report yet. */

Token parse_no_colon(Parser *p, Token newline) {
  p->failed = true;
  diag_fault(E0110, newline.span, "expected ':' after '%s' header, found end of line",
             token_text(p->first.kind));
  return newline;
}

AstVec parse_no_block(Parser *p) {
  Span colon = {p->last - 1, p->last};
  p->failed = true;
  if (p->token.kind != T_TOO_DEEP)
    diag_fault(E0111, colon, "expected an indented block after '%s' header",
               token_text(p->first.kind));
  return ast_one(p, ast_error(p, colon));
}

Ast *parse_no_definition(Parser *p, AstVec decorators) {
  Span span = {decorators.at[0]->span.lo, p->last};
  p->failed = true;
  p->lost_end = p->last;
  diag_fault(E0115, p->token.span, "expected 'def' or 'class' after the decorator, found %s",
             describe(p, p->token));
  return ast_error(p, span);
}

/* The lines below a header that was dropped are its block: no fault of theirs. */
void parse_extra_indent(Parser *p, Token indent) {
  if (p->lost_end == p->last) return;
  p->failed = true;
  if (!p->silent) diag_fault(E0112, indent.span, "unexpected indent");
}

Ast *parse_recovered(Parser *p) {
  p->lost_end = p->last;
  return ast_error(p, (Span){p->lost_at, p->last});
}
