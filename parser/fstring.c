/* fstring.c -- splits f-string literals into text and fields.
 *
 * The lexer sees an f-string as one string, so a field cannot hold the quotes that enclose it, nor
 * a backslash: the rules of Python before 3.12. The expression of a field is parsed by a parser of
 * its own, one level further in; format specs may hold fields, whose specs may not. */
#include "parser/parser_impl.h"

enum { SPEC_LEVELS = 2 };

typedef struct FString {
  Parser *p;
  StringParts s;
  const char *at, *end; /* what is left of the content */
  int level;            /* 0: the literal itself, 1: a spec, 2: the spec of a field in a spec */
} FString;

static uint32_t place(const FString *f, const char *at) {
  return f->s.hi - (uint32_t)(f->end - at);
}

static bool fault(const FString *f, const char *lo, const char *hi, const char *text) {
  parse_error(f->p, E0121, (Span){place(f, lo), place(f, hi)}, "f-string: %s", text);
  return false;
}

void fstring_flush(Parser *p, AstVec *parts, Str *pending, Span *pending_span) {
  if (!pending->len) return;
  const char *text = str_copy_n(str_text(pending), pending->len);
  ast_push(p, parts, AST_MAKE(p, Str, *pending_span, text, pending->len, false));
  pending->len = 0;
  *pending_span = (Span){0, 0};
}

/* ---- where the expression of a field ends ---- */

/* After a string literal inside the expression. */
static const char *skip_string(const char *at, const char *end) {
  char quote = *at;
  bool triple = end - at >= 3 && at[1] == quote && at[2] == quote;
  int n = triple ? 3 : 1;
  for (at += n; at < end; at++)
    if (*at == quote && (!triple || (end - at >= 3 && at[1] == quote && at[2] == quote)))
      return at + n;
  return end;
}

/* Of the characters that end the expression, '!' and '=' may also belong to a comparison. */
static bool ends_expression(const char *at, const char *end) {
  if (*at == '}' || *at == ':') return true;
  return *at == '!' && !(at + 1 < end && at[1] == '=');
}

static const char *find_end(const FString *f) {
  int depth = 0;
  const char *at = f->at;
  while (at < f->end) {
    if (*at == '\'' || *at == '"') {
      at = skip_string(at, f->end);
      continue;
    }
    if (!depth && ends_expression(at, f->end)) return at;
    depth += *at == '(' || *at == '[' || *at == '{';
    depth -= depth && (*at == ')' || *at == ']' || *at == '}');
    at++;
  }
  return at;
}

/* The '=' that ends `{expression=}`; NULL if there is none in [lo, hi). */
static const char *debug_sign(const char *lo, const char *hi) {
  while (hi > lo && (hi[-1] == ' ' || hi[-1] == '\t' || hi[-1] == '\n' || hi[-1] == '\r')) hi--;
  if (hi - lo < 2 || hi[-1] != '=') return NULL;
  return strchr("=!<>", hi[-2]) ? NULL : hi - 1;
}

/* ---- a field ---- */

static bool parse_parts(FString *f, AstVec *parts, Str *pending, Span *pending_span);

static bool parse_conversion(FString *f, int *conversion) {
  const char *from = f->at++;
  if (f->at == f->end || !strchr("rsa", *f->at))
    return fault(f, from, f->at, "expected 'r', 's' or 'a' after '!'");
  *conversion = *f->at++;
  return true;
}

static bool parse_spec(FString *f, Ast **spec) {
  const char *from = ++f->at;
  if (f->level == SPEC_LEVELS) return fault(f, from - 1, from, "format specs nested too deeply");
  AstVec parts = {0};
  Str pending = {0};
  Span pending_span = {0, 0};
  f->level++;
  bool good = parse_parts(f, &parts, &pending, &pending_span);
  f->level--;
  if (!good) return false;
  fstring_flush(f->p, &parts, &pending, &pending_span);
  *spec = AST_MAKE(f->p, FString, ((Span){place(f, from), place(f, f->at)}), parts);
  return true;
}

/* The expression, which ends at `end`, and the text of `{expression=}`. */
static bool parse_value(FString *f, const char *end, AstFormatField *field) {
  const char *from = f->at, *sign = debug_sign(from, end), *blank = from;
  const char *to = sign ? sign : end, *bad = memchr(from, '\\', (size_t)(end - from));
  if (bad) return fault(f, bad, bad + 1, "a backslash cannot be in a field");
  while (blank < to && strchr(" \t\r\n\f", *blank)) blank++;
  if (blank == to)
    return fault(f, from - 1, end < f->end ? end + 1 : end, "expected expression in a field");
  f->at = end;
  if (sign) field->debug = str_copy_n(from, (size_t)(end - from));
  field->value = parse_inner(f->p, from, (size_t)(to - from), place(f, from));
  return field->value;
}

/* At '{'. */
static bool parse_field(FString *f, AstVec *parts) {
  const char *from = f->at++;
  AstFormatField *field = AST_NEW(f->p, FormatField, .ast = {.kind = AST_KIND_FormatField});
  if (!parse_value(f, find_end(f), field)) return false;
  if (f->at < f->end && *f->at == '!' && !parse_conversion(f, &field->conversion)) return false;
  if (f->at < f->end && *f->at == ':' && !parse_spec(f, &field->spec)) return false;
  if (f->at == f->end || *f->at != '}') return fault(f, from, f->at, "'{' is never closed by '}'");
  f->at++;
  field->ast.span = (Span){place(f, from), place(f, f->at)};
  Ast *done = ast_finish(f->p, &field->ast);
  ast_push(f->p, parts, done);
  return true;
}

/* ---- text ---- */

/* Text up to the next brace; "{{" and "}}" stand for one. */
static bool parse_text_part(FString *f, Str *pending, Span *pending_span) {
  const char *from = f->at;
  while (f->at < f->end && *f->at != '{' && *f->at != '}') f->at++;
  Span span = {place(f, from), place(f, f->at)};
  *pending_span = span_join(*pending_span, span);
  return literal_decode(f->p, pending, f->s, span.lo, span.hi);
}

static bool doubled(const FString *f) {
  return f->level == 0 && f->at + 1 < f->end && f->at[1] == *f->at;
}

/* Up to the end of the literal or, in a spec, up to its '}'. */
static bool parse_parts(FString *f, AstVec *parts, Str *pending, Span *pending_span) {
  while (f->at < f->end) {
    bool good = true;
    if (*f->at != '{' && *f->at != '}') {
      good = parse_text_part(f, pending, pending_span);
    } else if (doubled(f)) {
      *pending_span = span_join(*pending_span, (Span){place(f, f->at), place(f, f->at) + 2});
      str_add_char(pending, *f->at);
      f->at += 2;
    } else if (*f->at == '{') {
      fstring_flush(f->p, parts, pending, pending_span);
      good = parse_field(f, parts);
    } else {
      return f->level ? true
                      : fault(f, f->at, f->at + 1, "single '}': write '}}' for the character");
    }
    if (!good) return false;
  }
  return true;
}

bool fstring_parse(Parser *p, StringParts s, AstVec *parts, Str *pending, Span *pending_span) {
  const char *text = parse_text(p, (Span){s.lo, s.hi});
  FString f = {p, s, text, text + (s.hi - s.lo), 0};
  return parse_parts(&f, parts, pending, pending_span);
}
