/* str_methods.c -- the methods of str. */
#include "lang/value/object.h"
#include <ctype.h>

static Text self_text(BuiltinCall *c) {
  StrObject *s = c->self.object;
  return (Text){s->text, s->len};
}

static Text text_arg(BuiltinCall *c, int i, const char *what) {
  value_as_text(c->args[i], what, c->spans[i]);
  StrObject *s = value_plain(c->args[i]).object;
  return (Text){s->text, s->len};
}

static Value text_value(Text t) { return value_str_n(t.at, t.len); }

static bool is_ascii(char c) { return (unsigned char)c < 0x80; }

/* The bytes of the white space at `at`, where a character begins; 0 if there is none. */
static size_t space_size(const char *at) {
  char c = *at;
  if (is_ascii(c)) return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 28 && c <= 31);
  size_t n;
  return unicode_is_space(utf8_decode(at, &n)) ? n : 0;
}

/* Where the character before `hi` begins. */
static size_t char_before(Text t, size_t hi) {
  do hi--;
  while (hi > 0 && (t.at[hi] & 0xc0) == 0x80);
  return hi;
}

/* ---- case ---- */

static bool is_upper(uint32_t c) { return unicode_lower(c) != c; }
static bool is_lower(uint32_t c) { return unicode_upper(c) != c && !is_upper(c); }

static void add_char(Str *out, uint32_t c) {
  char text[4];
  str_add_n(out, text, utf8_encode(c, text));
}

static Value map_chars(BuiltinCall *c, uint32_t (*map)(uint32_t)) {
  Text t = self_text(c);
  Str out = {0};
  size_t n;
  for (size_t i = 0; i < t.len; i += n) add_char(&out, map(utf8_decode(t.at + i, &n)));
  return value_str_take(&out);
}
static uint32_t swap_char(uint32_t c) { return is_upper(c) ? unicode_lower(c) : unicode_upper(c); }
static Value upper(BuiltinCall *c) { return map_chars(c, unicode_upper); }
static Value lower(BuiltinCall *c) { return map_chars(c, unicode_lower); }
static Value swapcase(BuiltinCall *c) { return map_chars(c, swap_char); }

static Value title_case(BuiltinCall *c, bool every_word) {
  Text t = self_text(c);
  Str out = {0};
  bool inside = false;
  size_t n;
  for (size_t i = 0; i < t.len; i += n) {
    uint32_t x = utf8_decode(t.at + i, &n);
    add_char(&out, inside ? unicode_lower(x) : unicode_upper(x));
    inside = every_word ? unicode_is_alpha(x) : true;
  }
  return value_str_take(&out);
}
static Value capitalize(BuiltinCall *c) { return title_case(c, false); }
static Value title(BuiltinCall *c) { return title_case(c, true); }

/* ---- classes ---- */

static bool all_chars(BuiltinCall *c, bool (*is)(uint32_t)) {
  Text t = self_text(c);
  size_t n;
  for (size_t i = 0; i < t.len; i += n)
    if (!is(utf8_decode(t.at + i, &n))) return false;
  return t.len > 0;
}
static bool is_alnum(uint32_t c) { return unicode_is_alpha(c) || unicode_is_digit(c); }
static Value isdigit_(BuiltinCall *c) { return value_bool(all_chars(c, unicode_is_digit)); }
static Value isalpha_(BuiltinCall *c) { return value_bool(all_chars(c, unicode_is_alpha)); }
static Value isalnum_(BuiltinCall *c) { return value_bool(all_chars(c, is_alnum)); }
static Value isspace_(BuiltinCall *c) { return value_bool(all_chars(c, unicode_is_space)); }
static Value isprintable_(BuiltinCall *c) {
  return value_bool(!self_text(c).len || all_chars(c, unicode_is_printable));
}
static Value isascii_(BuiltinCall *c) {
  Text t = self_text(c);
  for (size_t i = 0; i < t.len; i++)
    if (!is_ascii(t.at[i])) return value_bool(false);
  return value_bool(true);
}

/* One cased letter at least, and none of the other case. */
static Value one_case(BuiltinCall *c, bool (*is)(uint32_t), bool (*not )(uint32_t)) {
  Text t = self_text(c);
  bool any = false;
  size_t n;
  for (size_t i = 0; i < t.len; i += n) {
    uint32_t x = utf8_decode(t.at + i, &n);
    if (not(x)) return value_bool(false);
    any |= is(x);
  }
  return value_bool(any);
}
static Value isupper_(BuiltinCall *c) { return one_case(c, is_upper, is_lower); }
static Value islower_(BuiltinCall *c) { return one_case(c, is_lower, is_upper); }

static Value isidentifier_(BuiltinCall *c) {
  Text t = self_text(c);
  for (size_t i = 0; i < t.len; i++)
    if (is_ascii(t.at[i]) && t.at[i] != '_' && !(i ? isalnum(t.at[i]) : isalpha(t.at[i])))
      return value_bool(false);
  return value_bool(t.len > 0);
}

/* ---- stripping ---- */

static bool in_set(const char *at, Text set) {
  size_t n = 1;
  while ((at[n] & 0xc0) == 0x80) n++;
  return memmem(set.at, set.len, at, n) != NULL;
}

static Value strip_ends(BuiltinCall *c, bool left, bool right) {
  Text t = self_text(c), set = {0};
  bool spaces = value_is_none(c->args[0]);
  if (!spaces) set = text_arg(c, 0, "the argument of strip");
  size_t lo = 0, hi = t.len;
  while (left && lo < hi && (spaces ? space_size(t.at + lo) != 0 : in_set(t.at + lo, set))) {
    lo++;
    while (lo < hi && (t.at[lo] & 0xc0) == 0x80) lo++;
  }
  while (right && hi > lo) {
    size_t start = char_before(t, hi);
    if (!(spaces ? space_size(t.at + start) != 0 : in_set(t.at + start, set))) break;
    hi = start;
  }
  return text_value((Text){t.at + lo, hi - lo});
}
static Value strip(BuiltinCall *c) { return strip_ends(c, true, true); }
static Value lstrip(BuiltinCall *c) { return strip_ends(c, true, false); }
static Value rstrip(BuiltinCall *c) { return strip_ends(c, false, true); }

static Value removeprefix(BuiltinCall *c) {
  Text t = self_text(c), p = text_arg(c, 0, "the prefix");
  return text_begins(t, p) ? text_value((Text){t.at + p.len, t.len - p.len}) : c->self;
}
static Value removesuffix(BuiltinCall *c) {
  Text t = self_text(c), p = text_arg(c, 0, "the suffix");
  return p.len && text_ends(t, p) ? text_value((Text){t.at, t.len - p.len}) : c->self;
}

/* ---- searching ---- */

/* The part of self that start and end (arguments 1 and 2) select; *first is its first character.
 * Without a place between them, not even "" is there: `at` is NULL. */
static Text part_of(BuiltinCall *c, int64_t *first) {
  StrObject *s = c->self.object;
  int64_t from;
  if (value_to_index(c->args[1], &from, c->span) && from > str_length(s)) return (Text){0};
  SliceBounds b =
      slice_bounds(value_slice(c->args[1], c->args[2], value_none()), str_length(s), c->span);
  *first = b.start;
  if (b.start > b.stop) return (Text){0};
  if (b.start == 0 && b.count == str_length(s)) return (Text){s->text, s->len};
  StrObject *part = str_slice_chars(s, b.start, b.count).object;
  return (Text){part->text, part->len};
}

static Value any_affix(BuiltinCall *c, bool (*has)(Text, Text)) {
  int64_t first;
  Text t = part_of(c, &first);
  if (!t.at) return value_bool(false);
  if (c->args[0].type != &type_tuple) return value_bool(has(t, text_arg(c, 0, "the argument")));
  for each (Value, v, value_items(c->args[0])) {
    value_as_text(*v, "each of the texts", c->spans[0]);
    StrObject *s = value_plain(*v).object;
    if (has(t, (Text){s->text, s->len})) return value_bool(true);
  }
  return value_bool(false);
}
static Value startswith(BuiltinCall *c) { return any_affix(c, text_begins); }
static Value endswith(BuiltinCall *c) { return any_affix(c, text_ends); }

static int64_t chars_before(Text t, const char *at) {
  int64_t n = 0;
  for (const char *p = t.at; p < at; p++) n += (*p & 0xc0) != 0x80;
  return n;
}

static int64_t search(BuiltinCall *c, bool last) {
  int64_t first;
  Text p = text_arg(c, 0, "the text to find"), t = part_of(c, &first);
  const char *at = t.at ? text_find(t, p, last) : NULL;
  return at ? first + chars_before(t, at) : -1;
}
static int64_t search_or_raise(BuiltinCall *c, bool last) {
  int64_t i = search(c, last);
  if (i < 0) raise("ValueError", c->span, "substring not found");
  return i;
}
static Value find(BuiltinCall *c) { return value_int(search(c, false)); }
static Value rfind(BuiltinCall *c) { return value_int(search(c, true)); }
static Value find_index(BuiltinCall *c) { return value_int(search_or_raise(c, false)); }
static Value rfind_index(BuiltinCall *c) { return value_int(search_or_raise(c, true)); }

static Value count(BuiltinCall *c) {
  int64_t first;
  Text p = text_arg(c, 0, "the text to count"), t = part_of(c, &first);
  if (!t.at) return value_int(0);
  return value_int(p.len ? text_count(t, p) : chars_before(t, t.at + t.len) + 1);
}

static Value replace(BuiltinCall *c) {
  Text t = self_text(c), old = text_arg(c, 0, "the old text"), new = text_arg(c, 1, "the new text");
  int64_t limit = value_as_int(c->args[2], "the count", c->spans[2]);
  Str out = {0};
  const char *at = t.at, *end = t.at + t.len;
  while (limit != 0) {
    const char *hit = old.len ? memmem(at, (size_t)(end - at), old.at, old.len) : at;
    if (!hit) break;
    str_add_n(&out, at, (size_t)(hit - at));
    str_add_n(&out, new.at, new.len);
    at = hit + old.len;
    limit--;
    if (old.len) continue;
    if (at >= end) break;
    size_t n;
    utf8_decode(at, &n);
    str_add_n(&out, at, n);
    at += n;
  }
  str_add_n(&out, at, (size_t)(end - at));
  return value_str_take(&out);
}

/* ---- splitting and joining ---- */

static void push_text(ValueVec *out, const char *at, const char *end) {
  Value s = value_str_n(at, (size_t)(end - at));
  vec_push(out, s);
}

static Value split_spaces(Text t, int64_t limit) {
  ValueVec out = {0};
  const char *at = t.at, *end = t.at + t.len;
  while (1) {
    for (size_t n; at < end && (n = space_size(at));) at += n;
    if (at == end) break;
    const char *stop = at;
    if (limit-- == 0) {
      push_text(&out, at, end);
      break;
    }
    while (stop < end && !space_size(stop)) stop++;
    push_text(&out, at, stop);
    at = stop;
  }
  return value_list(out);
}

static Value split(BuiltinCall *c) {
  Text t = self_text(c);
  int64_t limit = value_as_int(c->args[1], "maxsplit", c->spans[1]);
  if (value_is_none(c->args[0])) return split_spaces(t, limit);
  Text sep = text_arg(c, 0, "the separator");
  if (!sep.len) raise("ValueError", c->span, "empty separator");
  ValueVec out = {0};
  const char *at = t.at, *end = t.at + t.len, *hit;
  while (limit-- != 0 && (hit = memmem(at, (size_t)(end - at), sep.at, sep.len))) {
    push_text(&out, at, hit);
    at = hit + sep.len;
  }
  push_text(&out, at, end);
  return value_list(out);
}

static void reverse(ValueVec *v) {
  for (int i = 0, j = v->len - 1; i < j; i++, j--) {
    Value x = v->at[i];
    v->at[i] = v->at[j];
    v->at[j] = x;
  }
}

/* The end of the text up to `hi` without the white space at its end. */
static size_t without_spaces(Text t, size_t hi) {
  while (hi > 0 && space_size(t.at + char_before(t, hi))) hi = char_before(t, hi);
  return hi;
}

static Value rsplit(BuiltinCall *c) {
  Text t = self_text(c);
  int64_t limit = value_as_int(c->args[1], "maxsplit", c->spans[1]);
  if (limit < 0) return split(c);
  ValueVec out = {0};
  bool spaces = value_is_none(c->args[0]);
  Text sep = spaces ? (Text){" ", 1} : text_arg(c, 0, "the separator");
  if (!sep.len) raise("ValueError", c->span, "empty separator");
  size_t hi = t.len;
  while (limit-- != 0) {
    if (spaces) hi = without_spaces(t, hi);
    size_t lo = hi;
    if (spaces) {
      while (lo > 0 && !space_size(t.at + char_before(t, lo))) lo = char_before(t, lo);
      if (lo == hi) break;
      push_text(&out, t.at + lo, t.at + hi);
      hi = lo;
    } else {
      const char *hit = text_find((Text){t.at, hi}, sep, true);
      if (!hit) break;
      push_text(&out, hit + sep.len, t.at + hi);
      hi = (size_t)(hit - t.at);
    }
  }
  if (spaces) hi = without_spaces(t, hi);
  if (!spaces || hi) push_text(&out, t.at, t.at + hi);
  reverse(&out);
  return value_list(out);
}

/* The bytes of what ends a line at `at`, or 0: of bytes, "\n", "\r" and both; of texts, what
 * separates lines, pages, groups and paragraphs, too. */
static size_t line_end(const char *at, bool of_bytes) {
  if (is_ascii(*at) && *at > 30) return 0;
  if (*at == '\r') return at[1] == '\n' ? 2 : 1;
  if (of_bytes) return *at == '\n';
  if (is_ascii(*at)) return (*at >= '\n' && *at <= '\f') || (*at >= 28 && *at <= 30);
  size_t n;
  uint32_t c = utf8_decode(at, &n);
  return c == 0x85 || c == 0x2028 || c == 0x2029 ? n : 0;
}

static Value lines_of(BuiltinCall *c, bool of_bytes) {
  Text t = self_text(c);
  bool keep = value_truth(c->args[0], c->span);
  ValueVec out = {0};
  const char *at = t.at, *end = t.at + t.len;
  while (at < end) {
    const char *stop = at;
    size_t n = 0;
    while (stop < end && !(n = line_end(stop, of_bytes))) stop++;
    push_text(&out, at, keep ? stop + n : stop);
    at = stop + n;
  }
  return value_list(out);
}
static Value splitlines(BuiltinCall *c) { return lines_of(c, false); }
Value str_lines_of_bytes(BuiltinCall *c) { return lines_of(c, true); }

static Value cut(BuiltinCall *c, bool last) {
  Text t = self_text(c), sep = text_arg(c, 0, "the separator");
  if (!sep.len) raise("ValueError", c->span, "empty separator");
  const char *hit = last ? text_find(t, sep, true) : memmem(t.at, t.len, sep.at, sep.len);
  if (!hit && last) return value_tuple_of(3, value_str(""), value_str(""), c->self);
  if (!hit) return value_tuple_of(3, c->self, value_str(""), value_str(""));
  const char *rest = hit + sep.len;
  return value_tuple_of(3, value_str_n(t.at, (size_t)(hit - t.at)), c->args[0],
                        value_str_n(rest, (size_t)(t.at + t.len - rest)));
}
static Value partition(BuiltinCall *c) { return cut(c, false); }
static Value rpartition(BuiltinCall *c) { return cut(c, true); }

static Value join(BuiltinCall *c) {
  Text sep = self_text(c);
  Str out = {0};
  Value it = value_iter(c->args[0], c->spans[0]);
  int n = 0;
  for (Value x; (x = value_plain(value_next(it, c->span))).type; n++) {
    if (x.type != &type_str)
      raise("TypeError", c->spans[0], "sequence item %d: expected str instance, %s found", n,
            value_type_text(x));
    if (n) str_add_n(&out, sep.at, sep.len);
    str_add_n(&out, value_str_object(x)->text, value_str_object(x)->len);
  }
  return value_str_take(&out);
}

/* ---- padding ---- */

static Value pad(BuiltinCall *c, int side) { /* -1: text at the left, 0: in the middle, 1: right */
  StrObject *s = c->self.object;
  Text fill = text_arg(c, 1, "the fill character");
  if (str_length(c->args[1].object) != 1)
    raise("TypeError", c->spans[1], "the fill character must be exactly one character long");
  int64_t width = value_as_int(c->args[0], "the width", c->spans[0]), n = width - str_length(s);
  if (n <= 0) return c->self;
  if (n > INT32_MAX) raise("OverflowError", c->spans[0], "the width is too large");
  int64_t before = side < 0 ? 0 : side > 0 ? n : n / 2 + (n & width & 1);
  Str out = {0};
  for (int64_t i = 0; i < before; i++) str_add_n(&out, fill.at, fill.len);
  str_add_n(&out, s->text, s->len);
  for (int64_t i = before; i < n; i++) str_add_n(&out, fill.at, fill.len);
  return value_str_take(&out);
}
static Value ljust(BuiltinCall *c) { return pad(c, -1); }
static Value center(BuiltinCall *c) { return pad(c, 0); }
static Value rjust(BuiltinCall *c) { return pad(c, 1); }

static Value zfill(BuiltinCall *c) {
  StrObject *s = c->self.object;
  int64_t n = value_as_int(c->args[0], "the width", c->spans[0]) - str_length(s);
  if (n <= 0) return c->self;
  if (n > INT32_MAX) raise("OverflowError", c->spans[0], "the width is too large");
  size_t sign = s->len && (s->text[0] == '-' || s->text[0] == '+');
  Str out = {0};
  str_add_n(&out, s->text, sign);
  for (int64_t i = 0; i < n; i++) str_add_char(&out, '0');
  str_add_n(&out, s->text + sign, s->len - sign);
  return value_str_take(&out);
}

static Value expandtabs(BuiltinCall *c) {
  Text t = self_text(c);
  int64_t size = value_as_int(c->args[0], "tabsize", c->spans[0]), column = 0;
  if (size > 10000) raise("OverflowError", c->spans[0], "the tab size is too large");
  Str out = {0};
  for (size_t i = 0; i < t.len; i++) {
    if (t.at[i] == '\t') {
      int64_t n = size > 0 ? size - column % size : 0;
      for (column += n; n > 0; n--) str_add_char(&out, ' ');
      continue;
    }
    str_add_char(&out, t.at[i]);
    if (t.at[i] == '\n' || t.at[i] == '\r') column = 0;
    else column += (t.at[i] & 0xc0) != 0x80;
  }
  return value_str_take(&out);
}

/* ---- the rest ---- */

static Value format_method(BuiltinCall *c) {
  Text t = self_text(c);
  ValueVec *args = value_items(c->args[0]);
  return format_call(t.at, t.len, args->at, args->len, c->args[1], c->span);
}

static Value format_map(BuiltinCall *c) {
  Text t = self_text(c);
  return format_call(t.at, t.len, NULL, 0, c->args[0], c->span);
}

static Value istitle_(BuiltinCall *c) {
  Text t = self_text(c);
  bool inside = false, any = false;
  for (size_t i = 0; i < t.len; i++) {
    bool up = isupper((unsigned char)t.at[i]) != 0, low = islower((unsigned char)t.at[i]) != 0;
    if (up ? inside : low && !inside) return value_bool(false);
    inside = up || low;
    any |= inside;
  }
  return value_bool(any);
}

/* The table maps codes to codes, to texts, or to None. */
static Value translate(BuiltinCall *c) {
  Text t = self_text(c);
  Str out = {0};
  size_t n;
  for (size_t i = 0; i < t.len; i += n) {
    char text[4];
    Value key = value_int(utf8_decode(t.at + i, &n));
    bool known = value_contains(c->args[0], key, c->spans[0]);
    Value to = known ? value_get_item(c->args[0], key, c->spans[0]) : value_absent();
    if (!known) str_add_n(&out, t.at + i, n);
    else if (to.type == &type_int)
      str_add_n(&out, text, utf8_encode((uint32_t)to.integer & 0x1fffff, text));
    else if (!value_is_none(to))
      str_add(&out, value_as_text(to, "what the table gives", c->spans[0]));
  }
  return value_str_take(&out);
}

/* str.maketrans: of a dict, or of two texts of one length and characters to drop. */
static Value maketrans(BuiltinCall *c) {
  Value table = value_dict();
  if (!c->args[1].type) {
    for (int i = 0, n = value_dict_len(c->args[0]); i < n; i++) {
      Value key, x;
      value_dict_entry(c->args[0], i, &key, &x);
      size_t size;
      if (key.type == &type_str) key = value_int(utf8_decode(value_text(key), &size));
      value_dict_set(table, key, x, c->span);
    }
    return table;
  }
  const char *from = value_as_text(c->args[0], "x", c->spans[0]);
  const char *to = value_as_text(c->args[1], "y", c->spans[1]);
  if (str_length(value_plain(c->args[0]).object) != str_length(value_plain(c->args[1]).object))
    raise("ValueError", c->span, "the first two maketrans arguments must have equal length");
  for (size_t n, m; *from; from += n, to += m) {
    Value key = value_int(utf8_decode(from, &n));
    value_dict_set(table, key, value_int(utf8_decode(to, &m)), c->span);
  }
  const char *drop = c->args[2].type ? value_as_text(c->args[2], "z", c->spans[2]) : "";
  for (size_t n; *drop; drop += n)
    value_dict_set(table, value_int(utf8_decode(drop, &n)), value_none(), c->span);
  return table;
}
static const Builtin maketrans_row = {"maketrans", "x, y?, z?, /", maketrans,
                                      "a table for str.translate"};
Value str_static(const char *name) {
  return strcmp(name, "maketrans") == 0 ? value_builtin(&maketrans_row) : value_absent();
}

const Builtin str_methods[] = {
    {"capitalize", "", capitalize, "first character upper case, the rest lower case"},
    {"center", "width, fillchar=' ', /", center, "padded on both sides"},
    {"count", "sub, start=None, end=None, /", count, "how often sub occurs, without overlap"},
    {"encode", "encoding='utf-8', errors='strict'", str_encode, "the bytes of the text"},
    {"endswith", "suffix, start=None, end=None, /", endswith,
     "does it end so? a tuple gives alternatives"},
    {"expandtabs", "tabsize=8", expandtabs, "tabs become blanks"},
    {"find", "sub, start=None, end=None, /", find, "first place of sub, or -1"},
    {"format", "*args, **kwargs", format_method, "fills in {} fields"},
    {"format_map", "mapping, /", format_map, "fills in {name} fields from a dict"},
    {"index", "sub, start=None, end=None, /", find_index, "first place of sub, or ValueError"},
    {"isalnum", "", isalnum_, "letters and digits only?"},
    {"isalpha", "", isalpha_, "letters only?"},
    {"isascii", "", isascii_, "ASCII only?"},
    {"isdecimal", "", isdigit_, "decimal digits only?"},
    {"isdigit", "", isdigit_, "digits only?"},
    {"isidentifier", "", isidentifier_, "could it be a name?"},
    {"islower", "", islower_, "no upper case letters, and some lower case ones?"},
    {"isnumeric", "", isdigit_, "digits only?"},
    {"isprintable", "", isprintable_, "printable characters only?"},
    {"isspace", "", isspace_, "white space only?"},
    {"istitle", "", istitle_, "does each word begin with its only upper case letter?"},
    {"isupper", "", isupper_, "no lower case letters, and some upper case ones?"},
    {"join", "iterable, /", join, "the texts with this one between them"},
    {"ljust", "width, fillchar=' ', /", ljust, "padded on the right"},
    {"lower", "", lower, "lower case"},
    {"casefold", "", lower, "lower case"},
    {"lstrip", "chars=None, /", lstrip, "without these characters at the start"},
    {"partition", "sep, /", partition, "before, separator, after the first separator"},
    {"removeprefix", "prefix, /", removeprefix, "without the prefix, if it has it"},
    {"removesuffix", "suffix, /", removesuffix, "without the suffix, if it has it"},
    {"replace", "old, new, count=-1, /", replace, "every old becomes new"},
    {"rfind", "sub, start=None, end=None, /", rfind, "last place of sub, or -1"},
    {"rindex", "sub, start=None, end=None, /", rfind_index, "last place of sub, or ValueError"},
    {"rjust", "width, fillchar=' ', /", rjust, "padded on the left"},
    {"rpartition", "sep, /", rpartition, "before, separator, after the last separator"},
    {"rsplit", "sep=None, maxsplit=-1", rsplit, "split, counting from the right"},
    {"rstrip", "chars=None, /", rstrip, "without these characters at the end"},
    {"split", "sep=None, maxsplit=-1", split, "the parts between separators"},
    {"splitlines", "keepends=False", splitlines, "the lines"},
    {"startswith", "prefix, start=None, end=None, /", startswith,
     "does it start so? a tuple gives alternatives"},
    {"strip", "chars=None, /", strip, "without these characters at both ends"},
    {"swapcase", "", swapcase, "lower and upper case exchanged"},
    {"title", "", title, "each word capitalised"},
    {"translate", "table, /", translate, "each character as a dict of codes says"},
    {"upper", "", upper, "upper case"},
    {"zfill", "width, /", zfill, "padded with zeros after the sign"},
};
