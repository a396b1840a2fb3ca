/* signature.c -- parameters and how arguments are bound to them, for builtins and functions alike.
 */
#include "lang/value/object.h"
#include <ctype.h>
#include <stdlib.h>

/* ---- the text form ---- */

static const char *skip_blanks(const char *at) {
  while (*at == ' ' || *at == '\n') at++;
  return at;
}

/* The end of one parameter: a comma or the end, outside of brackets and quotes. */
static const char *param_end(const char *at) {
  int depth = 0;
  char quote = 0;
  for (; *at; at++) {
    if (quote) quote = *at == quote ? 0 : quote;
    else if (*at == '\'' || *at == '"') quote = *at;
    else if (strchr("([{", *at)) depth++;
    else if (strchr(")]}", *at)) depth--;
    else if (*at == ',' && !depth) break;
  }
  return at;
}

static Value literal(const char *at, size_t n) {
  const char *text = str_copy_n(at, n);
  if (*text == '\'' || *text == '"') return value_str_n(text + 1, n - 2);
  if (strcmp(text, "None") == 0) return value_none();
  if (strcmp(text, "True") == 0) return value_bool(true);
  if (strcmp(text, "False") == 0) return value_bool(false);
  if (strcmp(text, "()") == 0) return value_tuple((ValueVec){0});
  if (strcmp(text, "...") == 0) return (Value){.type = &type_ellipsis};
  char *end;
  int64_t i = strtoll(text, &end, 10);
  if (!*end) return value_int(i);
  double x = strtod(text, &end);
  REQUIRE(!*end, "a literal default: %s", text);
  return value_float(x);
}

static void parse_param(Signature *s, const char *at, const char *end, bool keyword_only) {
  Param p = {.kind = keyword_only ? PARAM_KEYWORD_ONLY : PARAM_PLAIN};
  if (*at == '*') p.kind = at[1] == '*' ? PARAM_DOUBLE_STAR : PARAM_STAR;
  while (*at == '*') at++;
  const char *name = at;
  while (at < end && (isalnum((unsigned char)*at) || *at == '_')) at++;
  p.name = str_intern_n(name, (size_t)(at - name));
  if (*at == '?') p.optional = true;
  if (*at == '=') {
    while (end > at && end[-1] == ' ') end--;
    p.value = literal(at + 1, (size_t)(end - at - 1));
  }
  if (p.kind == PARAM_STAR) s->star = s->params.len;
  if (p.kind == PARAM_DOUBLE_STAR) s->double_star = s->params.len;
  if (p.kind == PARAM_PLAIN) s->positional++;
  vec_push(&s->params, p);
}

const Signature *signature_parse(const char *text) {
  Signature *s = NEW(Signature, .star = -1, .double_star = -1);
  bool keyword_only = false;
  for (const char *at = skip_blanks(text); *at;) {
    const char *end = param_end(at);
    if (*at == '/') {
      for each (Param, p, &s->params) p->positional_only = true;
    } else if (*at == '*' && end == at + 1) {
      keyword_only = true;
    } else {
      parse_param(s, at, end, keyword_only);
      keyword_only |= *at == '*';
    }
    at = skip_blanks(*end ? end + 1 : end);
  }
  return s;
}

/* ---- errors ---- */

static Span arg_span(const CallArgs *args, int i) {
  return i < args->spans.len ? args->spans.at[i] : args->span;
}

_Noreturn static void too_many(const Signature *s, const char *function, const CallArgs *args) {
  int least = 0, most = s->positional;
  for (int i = 0; i < most; i++) least += !s->params.at[i].value.type && !s->params.at[i].optional;
  raise_code(E0502, arg_span(args, most), "%s() takes %s%d positional argument%s but %d %s given",
             function, least < most ? "at most " : "", most, most == 1 ? "" : "s",
             args->positional.len, args->positional.len == 1 ? "was" : "were");
}

_Noreturn static void unexpected(const Signature *s, const char *function, const char *name,
                                 Span span) {
  StrVec names = {0};
  for each (Param, p, &s->params) {
    if (p->name == name && p->positional_only)
      raise_code(E0230, span, "%s(): argument '%s' is given by position only", function, name);
    if (p->kind <= PARAM_KEYWORD_ONLY && !p->positional_only) vec_push(&names, p->name);
  }
  const char *near = str_near(name, names.at, names.len);
  raise_code(E0501, span, "%s() got an unexpected keyword argument '%s'%s", function, name,
             near ? str_format(" (did you mean '%s'?)", near) : "");
}

/* "f() missing 2 required positional arguments: 'a' and 'b'" */
_Noreturn static void missing(const Signature *s, const char *function, const Value *out,
                              const Value *defaults, Span span) {
  StrVec names = {0};
  bool keyword_only = false;
  for (int i = 0; i < s->params.len; i++) {
    const Param *p = &s->params.at[i];
    if (out[i].type || p->optional || p->kind > PARAM_KEYWORD_ONLY) continue;
    if ((defaults ? defaults[i] : p->value).type) continue;
    if (!names.len) keyword_only = p->kind == PARAM_KEYWORD_ONLY;
    if (keyword_only == (p->kind == PARAM_KEYWORD_ONLY)) vec_push(&names, p->name);
  }
  Str list = {0};
  for (int i = 0; i < names.len; i++) {
    const char *comma = i + 1 < names.len ? ", " : names.len > 2 ? ", and " : " and ";
    str_printf(&list, "%s'%s'", i ? comma : "", names.at[i]);
  }
  raise_code(E0502, span, "%s() missing %d required %s argument%s: %s", function, names.len,
             keyword_only ? "keyword-only" : "positional", names.len == 1 ? "" : "s",
             str_text(&list));
}

/* ---- binding ---- */

static int find_param(const Signature *s, const char *name) {
  for (int i = 0; i < s->params.len; i++) {
    const Param *p = &s->params.at[i];
    if (p->name == name && p->kind <= PARAM_KEYWORD_ONLY && !p->positional_only) return i;
  }
  return -1;
}

static void bind_positional(const Signature *s, const char *function, const CallArgs *args,
                            Value *out, Span *spans) {
  int n = args->positional.len, direct = n < s->positional ? n : s->positional;
  for (int i = 0; i < direct; i++) {
    out[i] = args->positional.at[i];
    if (spans) spans[i] = arg_span(args, i);
  }
  if (s->star < 0) {
    if (n > direct) too_many(s, function, args);
    return;
  }
  ValueVec rest = {0};
  for (int i = direct; i < n; i++) vec_push(&rest, args->positional.at[i]);
  out[s->star] = value_tuple(rest);
}

static void bind_named(const Signature *s, const char *function, const CallArgs *args, Value *out,
                       Span *spans) {
  for (int i = 0; i < args->names.len; i++) {
    const char *name = args->names.at[i];
    Span span = arg_span(args, args->positional.len + i);
    int at = find_param(s, name);
    if (at < 0 && s->double_star < 0) unexpected(s, function, name, span);
    if (at < 0) {
      Value more = out[s->double_star];
      if (value_dict_get(more, value_str(name)).type)
        raise_code(E0230, span, "%s() got multiple values for argument '%s'", function, name);
      value_dict_set(more, value_str(name), args->named.at[i], span);
      continue;
    }
    if (out[at].type)
      raise_code(E0230, span, "%s() got multiple values for argument '%s'", function, name);
    out[at] = args->named.at[i];
    if (spans) spans[at] = span;
  }
}

void signature_bind(const Signature *s, const char *function, const CallArgs *args,
                    const Value *defaults, Value *out, Span *spans) {
  if (!args->names.len && args->positional.len == s->params.len && s->positional == s->params.len)
    return bind_positional(s, function, args, out, spans);
  for (int i = 0; i < s->params.len; i++) {
    out[i] = value_absent();
    if (spans) spans[i] = args->span;
  }
  bind_positional(s, function, args, out, spans);
  if (s->double_star >= 0) out[s->double_star] = value_dict();
  if (args->names.len) bind_named(s, function, args, out, spans);
  for (int i = 0; i < s->params.len; i++) {
    if (out[i].type) continue;
    out[i] = defaults ? defaults[i] : s->params.at[i].value;
    if (!out[i].type && !s->params.at[i].optional) missing(s, function, out, defaults, args->span);
  }
}

static void *copy_array(const void *at, size_t size, int n) {
  return n ? gc_copy(at, size * (size_t)n) : NULL;
}

CallArgs *args_copy(const CallArgs *args) {
  CallArgs *copy = gc_copy(args, sizeof *args);
  copy->positional.at = copy_array(args->positional.at, sizeof(Value), args->positional.len);
  copy->spans.at = copy_array(args->spans.at, sizeof(Span), args->spans.len);
  copy->names.at = copy_array(args->names.at, sizeof(const char *), args->names.len);
  copy->named.at = copy_array(args->named.at, sizeof(Value), args->named.len);
  copy->env = args->env ? env_keep(args->env) : NULL;
  return copy;
}
