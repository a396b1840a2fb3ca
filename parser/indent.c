/* indent.c -- layout: physical lines become logical lines and blocks.
 *
 * In:   the tokens of the lexer, newlines and comments included.
 * Out:  NEWLINE at the end of a logical line, INDENT and DEDENT around a block; none of them inside
 *       brackets. Comments lie beside.
 *
 * Layout mends what it can, so that one slip does not make a hundred errors: a line whose column
 * matches no level stays in the block it seems to leave; a keyword that can only begin a statement
 * ends a bracket that was never closed. */
#include "parser/parser_impl.h"

enum { TAB = 8 };

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\f'; }
static bool is_eol(char c) { return c == '\n' || c == '\r'; }

void layout_start(Layout *l, const char *text, size_t len, uint32_t base, bool joined) {
  size_t mark = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  *l = (Layout){.text = text + mark, .base = base + (uint32_t)mark, .joined = joined};
  l->lexer = (Lexer){.start = l->text, .cursor = l->text, .end = text + len};
  l->last = l->base;
}

static uint32_t offset(const Layout *l, const char *at) {
  return l->base + (uint32_t)(at - l->text);
}

static Token token(const Layout *l, int kind) {
  return (Token){{offset(l, l->lexer.start), offset(l, l->lexer.cursor)}, kind};
}

static Token layout_token(const Layout *l, int kind) { return (Token){{l->last, l->last}, kind}; }

static void hold(Layout *l, Token t) {
  l->held = t;
  l->has_held = true;
}

/* The start of the blanks before `at`; NULL if there is something else before them on the line. */
static const char *line_start(const Layout *l, const char *at) {
  while (at > l->text && is_blank(at[-1])) at--;
  return at == l->text || is_eol(at[-1]) ? at : NULL;
}

static Level measure(const char *from, const char *to) {
  Level w = {0, 0};
  for (; from < to; from++) {
    if (*from == '\f') w = (Level){0, 0};
    else w.column = *from == '\t' ? w.column / TAB * TAB + TAB : w.column + 1, w.tabless++;
  }
  return w;
}

static Level top_level(const Layout *l) {
  return l->levels.len ? vec_last(&l->levels) : (Level){0, 0};
}

static void report_tabs(Span span) {
  Diag *d = diag_fault(E0114, span, "inconsistent use of tabs and spaces in indentation");
  diag_help(d, "indent with spaces only");
}

/* ---- brackets ---- */

static int closer_of(int opener) {
  return opener == T_LPAR ? T_RPAR : opener == T_LSQB ? T_RSQB : T_RBRACE;
}

/* A closing bracket that closes nothing becomes UNMATCHED. */
static Token close_bracket(Layout *l, Token t) {
  l->opener = l->brackets.len ? vec_pop(&l->brackets) : (Token){0};
  if (!l->opener.kind || closer_of(l->opener.kind) != t.kind) t.kind = T_UNMATCHED;
  return t;
}

void layout_restart_line(Layout *l, Token t) {
  l->lexer.cursor = l->text + (t.span.lo - l->base);
  l->brackets.len = 0;
  l->in_line = false;
  hold(l, layout_token(l, T_NEWLINE));
}

static Token unclosed(const Layout *l) { return (Token){vec_last(&l->brackets).span, T_UNCLOSED}; }

const Token *layout_bracket_around(const Layout *l, Token t) {
  int n = l->brackets.len;
  if (n && l->brackets.at[n - 1].span.lo >= t.span.lo) n--; /* that is `t` itself */
  return n ? &l->brackets.at[n - 1] : NULL;
}

bool layout_looks_unclosed(const Layout *l, Token t, Token first) {
  bool closer = t.kind == T_RPAR || t.kind == T_RSQB || t.kind == T_RBRACE;
  if (l->joined || closer || t.kind == T_UNMATCHED || !layout_bracket_around(l, t)) return false;
  const char *at = l->text + (t.span.lo - l->base), *line = line_start(l, at);
  const char *first_at = l->text + (first.span.lo - l->base), *first_line = line_start(l, first_at);
  if (!line || !first_line || at == first_at) return false;
  return measure(line, at).column <= measure(first_line, first_at).column;
}

bool layout_paren_ends_header(const Layout *l) {
  Lexer s = l->lexer;
  for (int depth = 1; depth > 0;) {
    int kind = lexer_next(&s);
    if (kind == 0 || token_class(kind) == TOKEN_LEAD) return false;
    depth += kind == T_LPAR || kind == T_LSQB || kind == T_LBRACE;
    depth -= kind == T_RPAR || kind == T_RSQB || kind == T_RBRACE;
  }
  int after = lexer_next(&s);
  return after == T_COLON || after == T_NEWLINE || after == T_COMMENT || after == 0;
}

/* ---- levels ---- */

/* Nothing sensible is nested so deep: the rest of the text is not read. */
static Token too_many_levels(Layout *l, Token t) {
  l->lexer.cursor = l->lexer.end;
  l->brackets.len = 0;
  return (Token){t.span, T_TOO_DEEP};
}

static Token indent(Layout *l, Token t, Level w, uint32_t line) {
  if (l->levels.len == LAYOUT_LEVELS_MAX) return too_many_levels(l, t);
  vec_push(&l->levels, w);
  hold(l, t);
  return (Token){{line, t.span.lo}, T_INDENT};
}

static Token dedent(Layout *l, Token t, Level w, uint32_t line) {
  int open = l->levels.len;
  while (top_level(l).column > w.column) l->levels.len--;
  l->odd_line = top_level(l).column < w.column;
  if (!l->odd_line) {
    if (top_level(l).tabless != w.tabless) report_tabs((Span){line, t.span.lo});
    l->odd_column = 0;
  } else {
    l->levels.len++;
    if (l->odd_column != w.column)
      diag_fault(E0113, t.span, "unindent does not match any outer level of indentation");
    l->odd_column = w.column;
  }
  l->dedents = open - l->levels.len;
  if (!l->dedents) return t;
  l->dedents--;
  hold(l, t);
  return layout_token(l, T_DEDENT);
}

/* The first token of a logical line: compares its column with the open levels. */
static Token place_line(Layout *l, Token t) {
  const char *at = l->lexer.start, *blanks = line_start(l, at);
  Level w = blanks ? measure(blanks, at) : top_level(l), top = top_level(l);
  uint32_t line = blanks ? offset(l, blanks) : t.span.lo;
  bool odd_block = l->odd_line && l->last_kind == T_COLON && w.column > l->odd_column;
  bool wide = w.column > top.column, wide_tabless = w.tabless > top.tabless;
  l->in_line = true;
  l->odd_line = false;
  if (odd_block) return indent(l, t, w, line); /* of a header that stands in an odd column */
  if (w.column < top.column) return dedent(l, t, w, line);
  if (wide != wide_tabless || w.tabless < top.tabless) report_tabs((Span){line, t.span.lo});
  return wide ? indent(l, t, w, line) : t;
}

/* ---- tokens ---- */

static void keep_comment(Layout *l) {
  bool own = line_start(l, l->lexer.start) != NULL;
  vec_push(&l->comments, ((Comment){token(l, T_COMMENT).span, own}));
}

static Token end_of_text(Layout *l) {
  if (l->brackets.len) {
    Token t = unclosed(l);
    l->brackets.len = 0;
    return t;
  }
  if (l->in_line && !l->joined) {
    l->in_line = false;
    return layout_token(l, T_NEWLINE);
  }
  if (l->levels.len) {
    l->dedents = l->levels.len - 1;
    l->levels.len = 0;
    return layout_token(l, T_DEDENT);
  }
  return token(l, 0);
}

/* A word that only ever begins a statement, first in its line, inside brackets: these were not
 * closed. */
static bool is_lead_in_brackets(const Layout *l, int kind) {
  return token_class(kind) == TOKEN_LEAD && l->brackets.len && !l->joined &&
         line_start(l, l->lexer.start);
}

static Token any_token(Layout *l, int kind) {
  Token t = token(l, kind);
  switch (kind) {
  case T_LPAR:
  case T_LSQB:
  case T_LBRACE: vec_push(&l->brackets, t); break;
  case T_RPAR:
  case T_RSQB:
  case T_RBRACE: t = close_bracket(l, t); break;
  default:
    if (!is_lead_in_brackets(l, kind)) break;
    Token open = unclosed(l);
    layout_restart_line(l, t);
    return open;
  }
  if (!l->in_line && !l->joined) t = place_line(l, t);
  l->last_kind = kind;
  if (!l->has_held) l->last = t.span.hi;
  return t;
}

Token layout_next(Layout *l) {
  if (l->dedents) {
    l->dedents--;
    return layout_token(l, T_DEDENT);
  }
  if (l->has_held) {
    l->has_held = false;
    l->last = l->held.span.hi;
    return l->held;
  }
  for (;;) {
    int kind = lexer_next(&l->lexer);
    if (kind == T_COMMENT) {
      keep_comment(l);
    } else if (kind == T_NEWLINE) {
      if (!l->in_line || l->joined || l->brackets.len) continue;
      l->in_line = false;
      return layout_token(l, T_NEWLINE);
    } else {
      return kind ? any_token(l, kind) : end_of_text(l);
    }
  }
}
