/* regex.c -- the module _re, on which stdlib/module/re.tvms stands: patterns by PCRE2, a library
 * that every Debian has and that is loaded when a pattern is first compiled.
 *
 * Places are characters outside, bytes inside. */
#include "lang/builtin/builtin.h"
#include "lang/builtin/library.h"

/* Of pcre2.h, for 8-bit units. */
enum {
  PCRE2_CASELESS = 0x8,
  PCRE2_DOTALL = 0x20,
  PCRE2_EXTENDED = 0x80,
  PCRE2_MULTILINE = 0x400,
  PCRE2_UCP = 0x20000,
  PCRE2_UTF = 0x80000,
  PCRE2_NO_UTF_CHECK = 0x40000000,
  PCRE2_INFO_CAPTURECOUNT = 4,
  PCRE2_INFO_NAMECOUNT = 17,
  PCRE2_INFO_NAMEENTRYSIZE = 18,
  PCRE2_INFO_NAMETABLE = 19,
  PCRE2_ERROR_NOMATCH = -1
};
static const uint32_t anchored = 0x80000000u, end_anchored = 0x20000000u;

static struct {
  void *(*compile)(const char *, size_t, uint32_t, int *, size_t *, void *);
  void *(*data_new)(const void *, void *);
  int (*match)(const void *, const char *, size_t, size_t, uint32_t, void *, void *);
  size_t *(*places)(void *);
  int (*info)(const void *, uint32_t, void *);
  int (*message)(int, char *, size_t);
  void (*code_free)(void *);
  void (*data_free)(void *);
} pcre2;

static void load_library(Span span) {
  static const LibraryFunction functions[] = {
      {"pcre2_compile_8", &pcre2.compile},
      {"pcre2_match_data_create_from_pattern_8", &pcre2.data_new},
      {"pcre2_match_8", &pcre2.match},
      {"pcre2_get_ovector_pointer_8", &pcre2.places},
      {"pcre2_pattern_info_8", &pcre2.info},
      {"pcre2_get_error_message_8", &pcre2.message},
      {"pcre2_code_free_8", &pcre2.code_free},
      {"pcre2_match_data_free_8", &pcre2.data_free}};
  static Library library = {.user = "re",
                            .file = "libpcre2-8.so.0",
                            .package = "libpcre2-8-0",
                            .functions = functions,
                            .n = sizeof functions / sizeof *functions};
  library_load(&library, span);
}

typedef struct Pattern {
  void *code, *data;
  uint32_t groups;
} Pattern;

static void release(void *p) {
  Pattern *pattern = p;
  pcre2.data_free(pattern->data);
  pcre2.code_free(pattern->code);
}

static const ValueType type_pattern = {.name = "_Pattern"};

static uint32_t pattern_info(const Pattern *p, uint32_t what) {
  uint32_t x = 0;
  pcre2.info(p->code, what, &x);
  return x;
}

/* The pattern with the escapes of Python that PCRE2 has by other names: \Z is only the very end,
 * and \u0041, \U00000041 are characters. */
static Str pcre2_pattern(const StrObject *text) {
  Str out = {0};
  for (size_t i = 0; i < text->len; i++) {
    char c = text->text[i], next = i + 1 < text->len ? text->text[i + 1] : 0;
    if (c != '\\' || !next) {
      str_add_char(&out, c);
      continue;
    }
    i++;
    size_t digits = next == 'u' ? 4 : next == 'U' ? 8 : 0;
    bool is_code = digits && strspn(text->text + i + 1, "0123456789abcdefABCDEF") >= digits;
    if (is_code) str_printf(&out, "\\x{%.*s}", (int)digits, text->text + i + 1), i += digits;
    else str_printf(&out, "\\%c", next == 'Z' ? 'z' : next);
  }
  return out;
}

/* compile(pattern, flags): flags are letters of "imsx". */
static Value compile(BuiltinCall *c) {
  load_library(c->span);
  StrObject *text = value_plain(c->args[0]).object;
  value_as_text(c->args[0], "the pattern", c->spans[0]);
  uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_NO_UTF_CHECK;
  for (const char *f = value_as_text(c->args[1], "the flags", c->spans[1]); *f; f++)
    options |= *f == 'i'   ? PCRE2_CASELESS
               : *f == 'm' ? PCRE2_MULTILINE
               : *f == 's' ? PCRE2_DOTALL
               : *f == 'x' ? PCRE2_EXTENDED
                           : 0;
  int error;
  size_t at;
  Str pattern = pcre2_pattern(text);
  void *code = pcre2.compile(str_text(&pattern), pattern.len, options, &error, &at, NULL);
  if (!code) {
    char message[128] = "";
    pcre2.message(error, message, sizeof message);
    raise("ValueError", c->spans[0], "%s at position %zu", message, at);
  }
  Pattern *p = NEW(Pattern, .code = code, .data = pcre2.data_new(code, NULL));
  p->groups = pattern_info(p, PCRE2_INFO_CAPTURECOUNT);
  gc_finalizer(p, release);
  return value_of(&type_pattern, p);
}

static Pattern *pattern_arg(BuiltinCall *c) {
  if (c->args[0].type != &type_pattern) raise("TypeError", c->spans[0], "a pattern is needed");
  return c->args[0].object;
}

/* The names of groups with their numbers. */
static Value names(BuiltinCall *c) {
  Pattern *p = pattern_arg(c);
  uint32_t n = pattern_info(p, PCRE2_INFO_NAMECOUNT);
  uint32_t size = pattern_info(p, PCRE2_INFO_NAMEENTRYSIZE);
  const unsigned char *table = NULL;
  pcre2.info(p->code, PCRE2_INFO_NAMETABLE, &table);
  Value dict = value_dict();
  for (uint32_t i = 0; i < n; i++, table += size)
    value_dict_set(dict, value_str((const char *)table + 2), value_int(table[0] << 8 | table[1]),
                   c->span);
  return dict;
}

static Value groups(BuiltinCall *c) { return value_int(pattern_arg(c)->groups); }

static int64_t characters(const StrObject *s, size_t bytes) {
  int64_t n = 0;
  for (size_t i = 0; i < bytes; i++) n += (s->text[i] & 0xc0) != 0x80;
  return n;
}

static size_t bytes_of(const StrObject *s, int64_t chars) {
  size_t i = 0;
  for (; chars > 0 && i < s->len; chars--) do
      i++;
    while (i < s->len && (s->text[i] & 0xc0) == 0x80);
  return i;
}

/* match(pattern, text, start, whole): (start, end) of the match and of each group, or None. `whole`
 * is "" (anywhere), "start" (there), or "all". */
static Value match(BuiltinCall *c) {
  Pattern *p = pattern_arg(c);
  const char *whole = value_as_text(c->args[3], "how", c->spans[3]);
  value_as_text(c->args[1], "the text", c->spans[1]);
  StrObject *s = value_plain(c->args[1]).object;
  uint32_t options =
      PCRE2_NO_UTF_CHECK | (*whole ? anchored : 0) | (strcmp(whole, "all") == 0 ? end_anchored : 0);
  size_t start = bytes_of(s, value_as_int(c->args[2], "the start", c->spans[2]));
  int n = pcre2.match(p->code, s->text, s->len, start, options, p->data, NULL);
  if (n == PCRE2_ERROR_NOMATCH) return value_none();
  if (n < 0) {
    char message[128] = "";
    pcre2.message(n, message, sizeof message);
    raise("RuntimeError", c->span, "the pattern could not be matched: %s", message);
  }
  size_t *places = pcre2.places(p->data);
  Value all = value_tuple_new((int)p->groups + 1);
  for (int i = 0; i <= (int)p->groups; i++) {
    bool set = i < n && places[2 * i] <= s->len;
    value_items(all)->at[i] = set ? value_tuple_of(2, value_int(characters(s, places[2 * i])),
                                                   value_int(characters(s, places[2 * i + 1])))
                                  : value_none();
  }
  return all;
}

static const Builtin rows[] = {
    {"compile", "pattern, flags, /", compile, "a pattern"},
    {"groups", "pattern, /", groups, "how many groups it has"},
    {"names", "pattern, /", names, "names of its groups with their numbers"},
    {"match", "pattern, text, start, how, /", match, "places of a match, or None"},
};

Value regex_load(void) {
  Value ns = value_namespace("_re");
  namespace_add_builtins(ns, rows, sizeof rows / sizeof *rows);
  return ns;
}
