/* bytes_methods.c -- the methods of bytes. Those of searching work on the bytes themselves. The
 * others are those of str, on a text whose characters stand for the bytes: ASCII for itself, and
 * for the others characters of a private area, which belong to no class and have no case. */
#include "lang/value/object.h"

typedef StrObject BytesObject; /* `length` is not used */

static BytesObject *bytes_of(Value v) { return v.object; }

static Value take(Str *built) { return value_bytes(str_text(built), built->len); }

static BytesObject *bytes_arg(BuiltinCall *c, int i) {
  return value_as_bytes(c->args[i], c->spans[i]);
}

/* ---- text and digits ---- */

static bool is_utf8(const char *encoding) {
  return strcasecmp(encoding, "utf-8") == 0 || strcasecmp(encoding, "utf8") == 0;
}
static const char *encoding_arg(BuiltinCall *c, int i) {
  const char *name = value_as_text(c->args[i], "the encoding", c->spans[i]);
  if (!is_utf8(name) && strcasecmp(name, "ascii") != 0 && strcasecmp(name, "latin-1") != 0)
    raise("LookupError", c->spans[i], "unknown encoding: %s (there are utf-8, ascii, latin-1)",
          name);
  return name;
}

/* What stands for a byte or a character that an encoding lacks: the parameter `errors`. */
typedef enum OnFault { FAULT_RAISES, FAULT_IGNORED, FAULT_REPLACED, FAULT_ESCAPED } OnFault;

static OnFault on_fault_arg(BuiltinCall *c, int i) {
  static const char *const names[] = {"strict", "ignore", "replace", "backslashreplace"};
  const char *name = value_as_text(c->args[i], "errors", c->spans[i]);
  for (int k = 0; k < 4; k++)
    if (strcmp(name, names[k]) == 0) return (OnFault)k;
  raise("LookupError", c->spans[i],
        "unknown error handler name '%s' (there are strict, ignore, replace, backslashreplace)",
        name);
}

/* Bytes at the start of the text that begin a character of UTF-8, but do not end it; at least 1. */
static size_t cut_character(const char *text, size_t n) {
  unsigned char c = (unsigned char)text[0];
  size_t whole = c < 0xc2 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 1, i = 1;
  while (i < whole && i < n && utf8_may_follow(c, i, (unsigned char)text[i])) i++;
  return i;
}

static Value decode(BuiltinCall *c) {
  BytesObject *b = bytes_of(c->self);
  const char *encoding = encoding_arg(c, 0);
  OnFault on_fault = on_fault_arg(c, 1);
  if (strcasecmp(encoding, "latin-1") == 0) {
    Str out = {0};
    for (size_t i = 0; i < b->len; i++) {
      char text[4];
      str_add_n(&out, text, utf8_encode((unsigned char)b->text[i], text));
    }
    return value_str_take(&out);
  }
  Str out = {0};
  for (size_t at = 0;;) {
    const char *text = b->text + at;
    size_t good = utf8_valid_length(text, b->len - at), bad = 1;
    for (size_t i = 0; !is_utf8(encoding) && i < good; i++)
      if ((unsigned char)text[i] > 0x7f) good = i;
    if (!at && good == b->len) return value_str_n(text, good);
    str_add_n(&out, text, good);
    if ((at += good) == b->len) return value_str_take(&out);
    if (on_fault == FAULT_RAISES)
      raise("UnicodeDecodeError", c->span, "'%s' codec can't decode byte 0x%02x in position %zu",
            encoding, (unsigned char)b->text[at], at);
    if (is_utf8(encoding)) bad = cut_character(b->text + at, b->len - at);
    if (on_fault == FAULT_REPLACED) str_add(&out, "\xef\xbf\xbd");
    for (size_t i = 0; on_fault == FAULT_ESCAPED && i < bad; i++)
      str_printf(&out, "\\x%02x", (unsigned char)b->text[at + i]);
    at += bad;
  }
}

Value str_encode(BuiltinCall *c) {
  StrObject *s = c->self.object;
  const char *encoding = encoding_arg(c, 0);
  OnFault on_fault = on_fault_arg(c, 1);
  if (is_utf8(encoding)) return value_bytes(s->text, s->len);
  uint32_t most = strcasecmp(encoding, "ascii") == 0 ? 0x7f : 0xff;
  Str out = {0};
  size_t n;
  for (size_t i = 0; i < s->len; i += n) {
    uint32_t code = utf8_decode(s->text + i, &n);
    if (code <= most) str_add_char(&out, (char)code);
    else if (on_fault == FAULT_REPLACED) str_add_char(&out, '?');
    else if (on_fault == FAULT_ESCAPED) str_add_code_escape(&out, code);
    else if (on_fault == FAULT_RAISES)
      raise("UnicodeEncodeError", c->span, "'%s' codec can't encode character U+%04X", encoding,
            code);
  }
  return take(&out);
}

/* hex(sep, bytes_per_sep): groups are counted from the right, or from the left if below zero. */
static Value hex(BuiltinCall *c) {
  BytesObject *b = bytes_of(c->self);
  const char *sep = c->args[0].type ? value_as_text(c->args[0], "sep", c->spans[0]) : "";
  int64_t group = value_as_int(c->args[1], "bytes_per_sep", c->spans[1]);
  Str out = {0};
  for (size_t i = 0; i < b->len; i++) {
    int64_t before = (int64_t)(group > 0 ? b->len - i : i);
    if (i && group && before % (group > 0 ? group : -group) == 0) str_add(&out, sep);
    str_printf(&out, "%02x", (unsigned char)b->text[i]);
  }
  return value_str_take(&out);
}

/* ---- searching ---- */

static Text text_in(const BytesObject *b) { return (Text){b->text, b->len}; }

/* The part of self that start and end (arguments 1 and 2) select, at place *first. */
static Text part_of(BuiltinCall *c, int64_t *first) {
  BytesObject *b = bytes_of(c->self);
  Value range = value_slice(c->args[1], c->args[2], value_none());
  SliceBounds s = slice_bounds(range, (int64_t)b->len, c->span);
  *first = s.start;
  return (Text){b->text + s.start, (size_t)s.count};
}

/* What is looked for: bytes, or an int that is one. */
static Text part_arg(BuiltinCall *c) {
  if (!value_is_integer(c->args[0])) return text_in(bytes_arg(c, 0));
  int64_t byte = value_as_int(c->args[0], "a byte", c->spans[0]);
  if (byte < 0 || byte > 255) raise("ValueError", c->spans[0], "bytes must be in range(0, 256)");
  char text = (char)byte;
  return text_in(value_bytes(&text, 1).object);
}

static int64_t search(BuiltinCall *c, bool last) {
  int64_t first;
  Text part = part_arg(c), in = part_of(c, &first);
  const char *at = text_find(in, part, last);
  return at ? first + (at - in.at) : -1;
}
static int64_t search_or_raise(BuiltinCall *c, bool last) {
  int64_t at = search(c, last);
  if (at < 0) raise("ValueError", c->span, "subsection not found");
  return at;
}
static Value find(BuiltinCall *c) { return value_int(search(c, false)); }
static Value rfind(BuiltinCall *c) { return value_int(search(c, true)); }
static Value find_index(BuiltinCall *c) { return value_int(search_or_raise(c, false)); }
static Value rfind_index(BuiltinCall *c) { return value_int(search_or_raise(c, true)); }

static Value count(BuiltinCall *c) {
  int64_t first;
  Text part = part_arg(c), in = part_of(c, &first);
  return value_int(part.len ? text_count(in, part) : (int64_t)in.len + 1);
}

static Value any_affix(BuiltinCall *c, bool (*has)(Text, Text)) {
  int64_t first;
  Text in = part_of(c, &first);
  if (c->args[0].type != &type_tuple) return value_bool(has(in, text_in(bytes_arg(c, 0))));
  for each (Value, v, value_items(c->args[0]))
    if (has(in, text_in(value_as_bytes(*v, c->spans[0])))) return value_bool(true);
  return value_bool(false);
}
static Value starts_with(BuiltinCall *c) { return any_affix(c, text_begins); }
static Value ends_with(BuiltinCall *c) { return any_affix(c, text_ends); }

static Value join(BuiltinCall *c) {
  ValueVec parts = value_to_vec(c->args[0], c->spans[0]);
  Str out = {0};
  for (int i = 0; i < parts.len; i++) {
    if (!value_is_bytes_like(parts.at[i]))
      raise("TypeError", c->spans[0], "sequence item %d: expected bytes, %s found", i,
            value_type_text(parts.at[i]));
    if (i) str_add_n(&out, bytes_of(c->self)->text, bytes_of(c->self)->len);
    BytesObject *part = value_as_bytes(parts.at[i], c->spans[0]);
    str_add_n(&out, part->text, part->len);
  }
  return take(&out);
}

/* ---- as text ---- */

enum { PRIVATE = 0xf700 }; /* the private character of byte b is PRIVATE + b */

static Value text_of(const BytesObject *b) {
  Str out = {0};
  for (size_t i = 0; i < b->len; i++) {
    unsigned char byte = (unsigned char)b->text[i];
    char text[4];
    str_add_n(&out, text, utf8_encode(byte < 0x80 ? byte : (uint32_t)PRIVATE + byte, text));
  }
  return value_str_take(&out);
}

/* The inverse, through lists and tuples of texts; what is no text stays as it is. */
static Value bytes_from(Value v) {
  if (v.type == &type_list || v.type == &type_tuple) {
    ValueVec items = {0};
    for each (Value, item, value_items(v)) {
      Value part = bytes_from(*item);
      vec_push(&items, part);
    }
    return v.type == &type_list ? value_list(items) : value_tuple(items);
  }
  if (v.type != &type_str) return v;
  StrObject *s = v.object;
  Str out = {0};
  size_t n;
  for (size_t i = 0; i < s->len; i += n) str_add_char(&out, (char)utf8_decode(s->text + i, &n));
  return take(&out);
}

/* Calls the method of str of the same name. */
static Value as_text(BuiltinCall *c) {
  CallArgs args = {.span = c->span};
  for (int i = 0; i < builtin_signature(c->builtin)->params.len && c->args[i].type; i++) {
    if (c->args[i].type == &type_str) value_as_bytes(c->args[i], c->spans[i]);
    Value x = c->args[i];
    if (value_is_bytes_like(x)) x = text_of(value_as_bytes(x, c->spans[i]));
    vec_push(&args.positional, x);
  }
  Value self = text_of(bytes_of(c->self));
  return bytes_from(
      value_call(builtin_method(str_methods, STR_METHODS, self, c->builtin->name), &args));
}

static Value splitlines(BuiltinCall *c) {
  BuiltinCall of_text = *c;
  of_text.self = text_of(bytes_of(c->self));
  return bytes_from(str_lines_of_bytes(&of_text));
}

Value bytes_as_text(Value bytes, Span span) { return text_of(value_as_bytes(bytes, span)); }
Value bytes_of_text(Value text) { return bytes_from(text); }

Value bytes_percent(Value format, Value args, Span span) {
  return bytes_from(format_percent(bytes_as_text(format, span), args, true, span));
}

/* translate(table, delete): what is deleted is looked for before it is translated. */
static Value translate(BuiltinCall *c) {
  BytesObject *b = bytes_of(c->self), *omitted = c->args[1].type ? bytes_arg(c, 1) : NULL;
  BytesObject *table = value_is_none(c->args[0]) ? NULL : bytes_arg(c, 0);
  if (table && table->len != 256)
    raise("ValueError", c->spans[0], "translation table must be 256 characters long");
  Str out = {0};
  for (size_t i = 0; i < b->len; i++) {
    if (omitted && memchr(omitted->text, b->text[i], omitted->len)) continue;
    str_add_char(&out, table ? table->text[(unsigned char)b->text[i]] : b->text[i]);
  }
  return take(&out);
}

const Builtin bytes_methods[] = {
    {"capitalize", "", as_text, "first letter upper case, the rest lower case"},
    {"center", "width, fillchar?, /", as_text, "padded on both sides"},
    {"count", "sub, start=None, end=None, /", count, "how often the part is there"},
    {"decode", "encoding='utf-8', errors='strict'", decode, "the text of the bytes"},
    {"endswith", "suffix, start=None, end=None, /", ends_with,
     "does it end so? a tuple gives alternatives"},
    {"expandtabs", "tabsize=8", as_text, "tabs become blanks"},
    {"find", "sub, start=None, end=None, /", find, "first place of the part, or -1"},
    {"hex", "sep?, bytes_per_sep=1", hex, "two digits a byte"},
    {"index", "sub, start=None, end=None, /", find_index, "first place of the part, or ValueError"},
    {"isalnum", "", as_text, "ASCII letters and digits only?"},
    {"isalpha", "", as_text, "ASCII letters only?"},
    {"isascii", "", as_text, "ASCII only?"},
    {"isdigit", "", as_text, "ASCII digits only?"},
    {"islower", "", as_text, "no upper case letters, and some lower case ones?"},
    {"isspace", "", as_text, "white space only?"},
    {"istitle", "", as_text, "does each word begin with its only upper case letter?"},
    {"isupper", "", as_text, "no lower case letters, and some upper case ones?"},
    {"join", "iterable, /", join, "the items with these bytes between them"},
    {"ljust", "width, fillchar?, /", as_text, "padded on the right"},
    {"lower", "", as_text, "ASCII letters in lower case"},
    {"lstrip", "bytes=None, /", as_text, "without these bytes at the start"},
    {"partition", "sep, /", as_text, "before, separator, after the first separator"},
    {"removeprefix", "prefix, /", as_text, "without the prefix, if it has it"},
    {"removesuffix", "suffix, /", as_text, "without the suffix, if it has it"},
    {"replace", "old, new, count=-1, /", as_text, "each old part replaced"},
    {"rfind", "sub, start=None, end=None, /", rfind, "last place of the part, or -1"},
    {"rindex", "sub, start=None, end=None, /", rfind_index,
     "last place of the part, or ValueError"},
    {"rjust", "width, fillchar?, /", as_text, "padded on the left"},
    {"rpartition", "sep, /", as_text, "before, separator, after the last separator"},
    {"rsplit", "sep=None, maxsplit=-1", as_text, "split, counting from the right"},
    {"rstrip", "bytes=None, /", as_text, "without these bytes at the end"},
    {"split", "sep=None, maxsplit=-1", as_text, "the parts between separators, or between blanks"},
    {"splitlines", "keepends=False", splitlines, "the lines"},
    {"startswith", "prefix, start=None, end=None, /", starts_with,
     "does it begin so? a tuple gives alternatives"},
    {"strip", "bytes=None, /", as_text, "without these bytes at both ends"},
    {"swapcase", "", as_text, "lower and upper case exchanged"},
    {"title", "", as_text, "each word capitalised"},
    {"translate", "table, /, delete?", translate,
     "each byte exchanged for that of a table of 256, or none of those to delete"},
    {"upper", "", as_text, "ASCII letters in upper case"},
    {"zfill", "width, /", as_text, "zeros in front, after a sign"},
};
