/* json.c -- the module json: loads, dumps, load, dump. */
#include "lang/builtin/builtin.h"
#include "lang/value/big_int.h"
#include "lang/builtin/file.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* ---- reading ---- */

typedef struct Reader {
  const char *text, *at, *end;
  Span span;
} Reader;

_Noreturn static void bad(Reader *r, const char *expected) {
  int line = 1, column = 1;
  for (const char *p = r->text; p < r->at; p++) {
    column++;
    if (*p == '\n') line++, column = 1;
  }
  raise("JSONDecodeError", r->span, "expected %s: line %d column %d (char %lld)", expected, line,
        column, (long long)(r->at - r->text));
}

static void skip(Reader *r) {
  while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at) r->at++;
}

static bool take(Reader *r, char c) {
  skip(r);
  if (r->at >= r->end || *r->at != c) return false;
  r->at++;
  return true;
}

static uint32_t read_hex4(Reader *r) {
  uint32_t code = 0;
  if (r->end - r->at < 4) bad(r, "four hex digits");
  for (int i = 0; i < 4; i++, r->at++) {
    if (!isxdigit((unsigned char)*r->at)) bad(r, "a hex digit");
    code = code * 16 +
           (uint32_t)(isdigit((unsigned char)*r->at) ? *r->at - '0' : tolower(*r->at) - 'a' + 10);
  }
  return code;
}

static void read_escape(Reader *r, Str *out) {
  static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  if (r->at >= r->end) bad(r, "an escape");
  char c = *r->at++;
  const char *name = c ? strchr(names, c) : NULL;
  if (name) return str_add_char(out, values[name - names]);
  if (c != 'u') r->at--, bad(r, "an escape");
  uint32_t code = read_hex4(r);
  if (code >= 0xd800 && code < 0xdc00 && r->end - r->at >= 6 && r->at[0] == '\\' &&
      r->at[1] == 'u') {
    r->at += 2;
    uint32_t low = read_hex4(r);
    if (low < 0xdc00 || low > 0xdfff) bad(r, "the second half of a pair");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  if (code >= 0xd800 && code < 0xe000) code = 0xfffd;
  char text[4];
  str_add_n(out, text, utf8_encode(code, text));
}

static Value read_string(Reader *r) { /* after the opening quote */
  Str out = {0};
  while (1) {
    if (r->at >= r->end || (unsigned char)*r->at < 0x20) bad(r, "the end of a string");
    char c = *r->at++;
    if (c == '"') return value_str_take(&out);
    if (c == '\\') read_escape(r, &out);
    else str_add_char(&out, c);
  }
}

static Value read_number(Reader *r) {
  const char *start = r->at;
  if (*r->at == '-') r->at++;
  if (r->at >= r->end || !isdigit((unsigned char)*r->at)) bad(r, "a value");
  if (*r->at == '0' && isdigit((unsigned char)r->at[1])) bad(r, "no digit after a leading zero");
  while (isdigit((unsigned char)*r->at)) r->at++;
  bool whole = true;
  if (*r->at == '.' && isdigit((unsigned char)r->at[1])) {
    whole = false;
    for (r->at++; isdigit((unsigned char)*r->at);) r->at++;
  }
  if (tolower(*r->at) == 'e') {
    const char *digits = r->at + 1 + (r->at[1] == '+' || r->at[1] == '-');
    if (isdigit((unsigned char)*digits)) {
      whole = false;
      for (r->at = digits; isdigit((unsigned char)*r->at);) r->at++;
    }
  }
  if (whole) {
    bool negative = *start == '-';
    return big_from_digits(start + negative, (size_t)(r->at - start) - negative, 10, negative);
  }
  return value_float(strtod(start, NULL));
}

static bool take_word(Reader *r, const char *word) {
  size_t n = strlen(word);
  if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0) return false;
  r->at += n;
  return true;
}

static Value read_value(Reader *r);

static Value read_list(Reader *r) {
  ValueVec items = {0};
  if (take(r, ']')) return value_list(items);
  do {
    Value x = read_value(r);
    vec_push(&items, x);
  } while (take(r, ','));
  if (!take(r, ']')) bad(r, "',' or ']'");
  return value_list(items);
}

static Value read_dict(Reader *r) {
  Value dict = value_dict();
  if (take(r, '}')) return dict;
  do {
    if (!take(r, '"')) bad(r, "a name in double quotes");
    Value key = read_string(r);
    if (!take(r, ':')) bad(r, "':'");
    value_dict_set(dict, key, read_value(r), r->span);
  } while (take(r, ','));
  if (!take(r, '}')) bad(r, "',' or '}'");
  return dict;
}

static Value read_value(Reader *r) {
  stack_check(r->span);
  if (take(r, '[')) return read_list(r);
  if (take(r, '{')) return read_dict(r);
  if (take(r, '"')) return read_string(r);
  if (take_word(r, "true")) return value_bool(true);
  if (take_word(r, "false")) return value_bool(false);
  if (take_word(r, "null")) return value_none();
  if (take_word(r, "NaN")) return value_float(NAN);
  if (take_word(r, "Infinity")) return value_float(INFINITY);
  if (take_word(r, "-Infinity")) return value_float(-INFINITY);
  if (r->at >= r->end) bad(r, "a value");
  return read_number(r);
}

static Value read_all(Value text, Span span) {
  if (value_is_bytes_like(text)) {
    Value decode = value_find_attr(text, INTERNED("decode"), span);
    text = value_call_with(decode, 0, NULL, span);
  }
  value_as_text(text, "JSON text", span);
  StrObject *s = value_plain(text).object;
  Reader r = {.text = s->text, .at = s->text, .end = s->text + s->len, .span = span};
  Value v = read_value(&r);
  skip(&r);
  if (r.at != r.end) bad(&r, "the end of the text");
  return v;
}

/* ---- writing ---- */

typedef struct Writer {
  Str out;
  const char *indent; /* NULL: on one line */
  const char *item, *colon;
  bool sorted, ascii;
  Span span;
  Value otherwise; /* called for what JSON does not have; or None */
} Writer;

static void write_text(Writer *w, const char *text, size_t len) {
  str_add_char(&w->out, '"');
  for (size_t i = 0, n = 1; i < len; i += n) {
    unsigned char c = (unsigned char)text[i];
    n = 1;
    if (c == '"' || c == '\\') str_printf(&w->out, "\\%c", c);
    else if (c == '\n') str_add(&w->out, "\\n");
    else if (c == '\t') str_add(&w->out, "\\t");
    else if (c == '\r') str_add(&w->out, "\\r");
    else if (c == '\b') str_add(&w->out, "\\b");
    else if (c == '\f') str_add(&w->out, "\\f");
    else if (c < 0x20 || (c == 0x7f && w->ascii)) str_printf(&w->out, "\\u%04x", c);
    else if (c < 0x80 || !w->ascii) str_add_char(&w->out, (char)c);
    else {
      uint32_t code = utf8_decode(text + i, &n);
      if (code < 0x10000) str_printf(&w->out, "\\u%04x", code);
      else
        str_printf(&w->out, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10),
                   0xdc00 + ((code - 0x10000) & 0x3ff));
    }
  }
  str_add_char(&w->out, '"');
}

static void new_line(Writer *w, int depth) {
  if (!w->indent) return;
  str_add_char(&w->out, '\n');
  for (int i = 0; i < depth; i++) str_add(&w->out, w->indent);
}

static void write_value(Writer *w, Value v, int depth);

static void write_list(Writer *w, const ValueVec *items, int depth) {
  str_add_char(&w->out, '[');
  for (int i = 0; i < items->len; i++) {
    if (i) str_add(&w->out, w->item);
    new_line(w, depth + 1);
    write_value(w, items->at[i], depth + 1);
  }
  if (items->len) new_line(w, depth);
  str_add_char(&w->out, ']');
}

static void write_dict(Writer *w, Value dict, int depth) {
  ValueVec keys = value_to_vec(dict, w->span);
  if (w->sorted) sequence_sort(&keys, value_none(), false, w->span);
  str_add_char(&w->out, '{');
  for (int i = 0; i < keys.len; i++) {
    Value key = keys.at[i];
    if (i) str_add(&w->out, w->item);
    new_line(w, depth + 1);
    const char *name = key.type == &type_none   ? "null"
                       : key.type == &type_bool ? (key.boolean ? "true" : "false")
                                                : value_to_str(key);
    if (key.type != &type_str && !value_is_integer(key) && key.type != &type_float &&
        key.type != &type_bool && key.type != &type_none)
      raise("TypeError", w->span, "a key must be a str, int, float, bool or None, not '%s'",
            value_type_text(key));
    write_text(w, name, strlen(name));
    str_add(&w->out, w->colon);
    write_value(w, value_dict_get(dict, key), depth + 1);
  }
  if (keys.len) new_line(w, depth);
  str_add_char(&w->out, '}');
}

static void write_value(Writer *w, Value v, int depth) {
  stack_check(w->span);
  v = value_plain(v);
  if (v.type == &type_none) str_add(&w->out, "null");
  else if (v.type == &type_bool) str_add(&w->out, v.boolean ? "true" : "false");
  else if (v.type == &type_float && !isfinite(v.real))
    str_add(&w->out, isnan(v.real) ? "NaN" : v.real < 0 ? "-Infinity" : "Infinity");
  else if (value_is_integer(v) || v.type == &type_float) value_add_repr(v, &w->out);
  else if (v.type == &type_str) write_text(w, value_text(v), value_str_object(v)->len);
  else if (v.type == &type_list || v.type == &type_tuple) write_list(w, value_items(v), depth);
  else if (v.type == &type_dict) write_dict(w, v, depth);
  else if (!value_is_none(w->otherwise))
    write_value(w, value_call_with(w->otherwise, 1, &v, w->span), depth + 1);
  else
    raise("TypeError", w->span, "Object of type %s is not JSON serializable", value_type_text(v));
}

/* Arguments from 1 on: indent, sort_keys, ensure_ascii, separators. */
static Value write_all(BuiltinCall *c, Value v, Value *options) {
  Writer w = {.item = ", ", .colon = ": ", .span = c->span};
  Value indent = options[0];
  if (indent.type == &type_str) w.indent = value_text(indent);
  else if (!value_is_none(indent))
    w.indent = str_format("%*s", (int)(value_as_int(indent, "indent", c->span) & 63), "");
  if (w.indent) w.item = ",";
  w.sorted = value_truth(options[1], c->span);
  w.ascii = value_truth(options[2], c->span);
  if (!value_is_none(options[3])) {
    ValueVec two = value_to_vec(options[3], c->span);
    if (two.len != 2) raise("ValueError", c->span, "separators must be a pair");
    w.item = value_as_text(two.at[0], "a separator", c->span);
    w.colon = value_as_text(two.at[1], "a separator", c->span);
  }
  w.otherwise = options[4];
  write_value(&w, v, 0);
  return value_str_take(&w.out);
}

static Value json_loads(BuiltinCall *c) { return read_all(c->args[0], c->spans[0]); }
static Value json_load_file(BuiltinCall *c) {
  Value read = value_get_attr(c->args[0], str_intern("read"), c->spans[0]);
  return read_all(value_call_with(read, 0, NULL, c->span), c->span);
}
static Value json_dumps(BuiltinCall *c) { return write_all(c, c->args[0], c->args + 1); }
static Value json_dump(BuiltinCall *c) {
  Value text = write_all(c, c->args[0], c->args + 2);
  file_write(c->args[1], value_text(text), value_str_object(text)->len, c->spans[1]);
  return value_none();
}

static const Builtin rows[] = {
    {"loads", "text, /", json_loads, "the value of a JSON text"},
    {"load", "file, /", json_load_file, "the value of a JSON file"},
    {"dumps",
     "value, /, indent=None, sort_keys=False, ensure_ascii=True, separators=None, default=None",
     json_dumps, "a value as JSON text"},
    {"dump",
     "value, file, /, indent=None, sort_keys=False, ensure_ascii=True, separators=None, "
     "default=None",
     json_dump, "writes a value as JSON"},
};

Value json_load(void) {
  Value ns = value_namespace("json");
  namespace_add_builtins(ns, rows, sizeof rows / sizeof *rows);
  namespace_set(ns, "JSONDecodeError", value_class(exception_class("JSONDecodeError")));
  return ns;
}
