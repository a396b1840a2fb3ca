/* parse.c -- drives the machine of grammar.y with the tokens of indent.c.
 *
 * The machine drops a statement that has a fault up to its NEWLINE. The driver helps it where a
 * NEWLINE is missing: if brackets are open and a line begins no deeper than the statement, a
 * bracket was forgotten, and the line is read again as a new statement. */
#include "parser/parser_impl.h"

/* Entries kept free on the machine's stack: one token shifts one and reduces a few empty rules. */
enum { STACK_MARGIN = 64 };

/* What a byte of text takes as a tree and as the modules it makes, at most. */
enum { MEMORY_PER_BYTE = 64 };

/* A parser is large (its stack) and reused: the outermost one rests here between two parses. */
static Parser *spare;

static Parser *new_parser(void) {
  Parser *p = NEW(Parser, 0);
  p->machine = GrammarAlloc(gc_alloc, p);
  return p;
}

static Parser *take_parser(void) {
  Parser *p = __atomic_exchange_n(&spare, NULL, __ATOMIC_ACQ_REL);
  return p ? p : new_parser();
}

static void clear(Parser *p) {
  *p = (Parser){
      .machine = p->machine, .inner = p->inner, .block = p->block, .block_left = p->block_left};
}

static void give_back(Parser *p) {
  clear(p);
  __atomic_store_n(&spare, p, __ATOMIC_RELEASE);
}

Token parse_first(const Parser *p) { return p->at_start ? p->token : p->first; }

const char *parse_text(const Parser *p, Span span) {
  return p->layout.text + (span.lo - p->layout.base);
}

const char *parse_name(const Parser *p, Token t) {
  return str_intern_n(parse_text(p, t.span), t.span.hi - t.span.lo);
}

/* ---- the loop ---- */

static bool is_layout(int kind) {
  return kind == T_NEWLINE || kind == T_INDENT || kind == T_DEDENT || kind == 0;
}

static void feed(Parser *p) {
  const Token *t = &p->token;
  Grammar(p->machine, t->kind, *t);
  if (t->kind == T_NEWLINE) {
    p->at_start = true;
    p->reported = p->skipping = false;
  } else if (!is_layout(t->kind)) {
    if (p->at_start) p->first = *t;
    p->at_start = false;
    p->previous = *t;
    p->last = t->span.hi;
  }
}

/* The kind under which the grammar gets the token. */
static int grammar_kind(const Parser *p) {
  int kind = p->token.kind;
  if (is_layout(kind)) return kind;
  if (grammar_room(p->machine) < STACK_MARGIN) return T_TOO_DEEP;
  bool after_with = p->previous.kind == T_WITH && !p->at_start;
  if (kind == T_LPAR && after_with && layout_paren_ends_header(&p->layout)) return T_WITH_LPAR;
  return kind;
}

/* The token stays where it is in memory: copies of its parts cost more than the rest of the loop.
 */
static void run(Parser *p) {
  Token *t = &p->token;
  do {
    *t = layout_next(&p->layout);
    if (p->skipping && layout_looks_unclosed(&p->layout, *t, p->first)) {
      layout_restart_line(&p->layout, *t);
      continue;
    }
    t->kind = grammar_kind(p);
    feed(p);
    if (p->restart) layout_restart_line(&p->layout, *t);
    p->restart = false;
  } while (t->kind && !(p->failed && p->layout.joined));
}

static void start(Parser *p, const char *text, size_t len, uint32_t base, bool joined) {
  clear(p);
  layout_start(&p->layout, text, len, base, joined);
  GrammarInit(p->machine, p);
  p->at_start = true;
  p->last = p->layout.base;
  Token t = {{p->last, p->last}, joined ? T_START_EXPRESSION : T_START_MODULE};
  Grammar(p->machine, t.kind, t);
}

/* ---- bytes ---- */

/* The length of the UTF-8 sequence at `at`, 0 if it is none. */
static int utf8_length(const unsigned char *at, const unsigned char *end) {
  static const struct {
    unsigned char mask, lead;
    int n;
    uint32_t min;
  } forms[] = {
      {0x80, 0x00, 1, 0}, {0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};
  for (int f = 0; f < 4; f++) {
    if ((*at & forms[f].mask) != forms[f].lead) continue;
    if (end - at < forms[f].n) return 0;
    uint32_t c = *at & (uint32_t)~forms[f].mask & 0xff;
    for (int i = 1; i < forms[f].n; i++) {
      if ((at[i] & 0xc0) != 0x80) return 0;
      c = c << 6 | (at[i] & 0x3f);
    }
    return c < forms[f].min || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : forms[f].n;
  }
  return 0;
}

/* After the ASCII characters other than NUL that `at` begins with; eight at a time. */
static const unsigned char *skip_ascii(const unsigned char *at, const unsigned char *end) {
  const uint64_t low = 0x0101010101010101u, high = low << 7;
  for (uint64_t word; end - at >= 8; at += 8) {
    memcpy(&word, at, 8);
    if ((word | (word - low)) & high) break;
  }
  while (at < end && *at && *at < 0x80) at++;
  return at;
}

/* Is the text UTF-8 without NUL bytes? Reports the first bad byte. */
static bool check_bytes(const Source *source) {
  const unsigned char *text = (const unsigned char *)source->text, *end = text + source->len;
  for (const unsigned char *at = text; (at = skip_ascii(at, end)) < end;) {
    int n = *at ? utf8_length(at, end) : 0;
    if (!n) {
      uint32_t lo = source->base + (uint32_t)(at - text);
      if (*at) diag_fault(E0122, (Span){lo, lo + 1}, "byte 0x%02x is not UTF-8 text", *at);
      else diag_fault(E0122, (Span){lo, lo + 1}, "unexpected NUL byte: is this a text file?");
      return false;
    }
    at += n;
  }
  return true;
}

/* ---- the door ---- */

static AstModule *make_module(const Source *source, AstVec body, CommentVec comments) {
  AstModule *m = NEW(AstModule, .ast = {.kind = AST_KIND_Module}, body, comments);
  m->ast.span = (Span){source->base, source->base + source->len};
  for each (Ast *, s, &body)
    if ((*s)->depth > m->ast.depth) m->ast.depth = (*s)->depth & 0x7fff;
  m->ast.depth++;
  return m;
}

AstModule *parse_module(const Source *source) {
  AstVec body = {0};
  CommentVec comments = {0};
  gc_expect(source->len * MEMORY_PER_BYTE);
  Parser *p = take_parser();
  if (check_bytes(source)) {
    start(p, source->text, source->len, source->base, false);
    run(p);
    body = p->body;
    comments = p->layout.comments;
  } else {
    body = ast_one(p, ast_error(p, (Span){source->base, source->base + source->len}));
  }
  give_back(p);
  return make_module(source, body, comments);
}

static Ast *expression(Parser *p, const char *text, size_t len, uint32_t base) {
  start(p, text, len, base, true);
  run(p);
  return p->failed ? NULL : p->expression;
}

Ast *parse_expression(const Source *source) {
  if (!check_bytes(source)) return NULL;
  Parser *p = take_parser();
  Ast *e = expression(p, source->text, source->len, source->base);
  give_back(p);
  return e;
}

Ast *parse_inner(Parser *p, const char *text, size_t len, uint32_t base) {
  if (!p->inner) p->inner = new_parser();
  Ast *e = expression(p->inner, str_copy_n(text, len), len, base); /* a copy: it ends in NUL */
  clear(p->inner);
  if (!e) p->failed = p->reported = true;
  return e;
}

/* ---- the REPL's question ---- */

static bool last_line_is_blank(const char *text, size_t len) {
  if (len && text[len - 1] == '\n') len--;
  while (len && (text[len - 1] == ' ' || text[len - 1] == '\t' || text[len - 1] == '\r')) len--;
  return !len || text[len - 1] == '\n';
}

/* Is the text's last token, a fault, one that another line could complete? */
static bool fault_wants_more(const Layout *l, Token t, const char *text, size_t len) {
  bool at_end = l->lexer.cursor == l->lexer.end;
  bool escaped = len >= 2 && text[len - 1] == '\n' && text[len - 2] == '\\';
  switch (t.kind) {
  case T_OPEN_TEXT:
  case T_UNCLOSED:
  case T_BAD_CONTINUATION: return at_end;
  case T_OPEN_STRING: return at_end && escaped;
  default: return false;
  }
}

static bool wants_more(Layout *l, const char *text, size_t len) {
  bool compound = false, at_start = true;
  int depth = 0;
  for (Token t; (t = layout_next(l)).kind;) {
    if (token_class(t.kind) == TOKEN_FAULT) return fault_wants_more(l, t, text, len);
    bool at_end = l->lexer.start == l->lexer.end;
    if (t.kind == T_NEWLINE && at_end && text[len - 1] == '\n') return true; /* after a '\' */
    depth += (t.kind == T_INDENT) - (t.kind == T_DEDENT);
    if (!is_layout(t.kind) && at_start && !depth)
      compound = token_is_header(t.kind) || t.kind == T_AT;
    if (t.kind == T_NEWLINE) at_start = true;
    else if (!is_layout(t.kind)) at_start = false;
  }
  return compound && !last_line_is_blank(text, len);
}

bool parse_wants_more(const char *text, size_t len) {
  Layout l;
  layout_start(&l, str_copy_n(text, len), len, 0, false);
  DiagVec *outer = diag_capture();
  bool more = wants_more(&l, text, len);
  diag_restore(outer);
  return more;
}
