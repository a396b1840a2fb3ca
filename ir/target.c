/* target.c -- targets: text to struct and back, driven by target.def. */
#include "ir/target.h"
#include <errno.h>
#include <stdlib.h>

static const TargetKind kinds[] = {
#define TARGET(kind, device, keys, doc) {#kind, device, keys, doc},
#define OPTION(kind, name, type, value, doc)
#include "ir/target.def"
};

static const TargetOption options[] = {
#define TARGET(kind, device, keys, doc)
#define OPTION(kind, name, type, value, doc) {#kind, #name, #type, value, doc},
#include "ir/target.def"
};

#define LENGTH(a) ((int)(sizeof(a) / sizeof *(a)))

const TargetKind *target_kinds(int *n) {
  *n = LENGTH(kinds);
  return kinds;
}

const TargetOption *target_options(int *n) {
  *n = LENGTH(options);
  return options;
}

/* "<fault> 'name'; there are a, b, c; did you mean 'b'?" */
static _Noreturn void raise_unknown(Span span, const char *fault, const char *name, StrVec *known) {
  Str s = {0};
  str_printf(&s, "%s '%s'; there ", fault, name);
  str_add(&s, known->len == 0 ? "are none" : known->len == 1 ? "is " : "are ");
  for (int i = 0; i < known->len; i++) str_printf(&s, "%s%s", i ? ", " : "", known->at[i]);
  const char *near = str_near(name, known->at, known->len);
  if (near) str_printf(&s, "; did you mean '%s'?", near);
  error_raisef("TargetError", span, "%s", str_text(&s));
}

static const TargetKind *find_kind(const char *name, Span span) {
  StrVec known = {0};
  for (int i = 0; i < LENGTH(kinds); i++) {
    if (str_same(kinds[i].name, name)) return &kinds[i];
    vec_push(&known, kinds[i].name);
  }
  raise_unknown(span, "unknown target kind", name, &known);
}

static const TargetOption *find_option(const char *kind, const char *name, Span span) {
  StrVec known = {0};
  for (int i = 0; i < LENGTH(options); i++) {
    if (!str_same(options[i].kind, kind)) continue;
    if (str_same(options[i].name, name)) return &options[i];
    vec_push(&known, options[i].name);
  }
  raise_unknown(span, str_format("target '%s' has no option", kind), name, &known);
}

static const char *parse_bool(const TargetOption *o, const char *value, Span span) {
  static const char *const words[][2] = {{"0", "0"},    {"1", "1"},     {"false", "0"},
                                         {"true", "1"}, {"False", "0"}, {"True", "1"}};
  for (int i = 0; i < LENGTH(words); i++)
    if (str_same(words[i][0], value)) return words[i][1];
  error_raisef("TargetError", span, "option -%s is 0 or 1, not '%s'", o->name, value);
}

static const char *parse_int(const TargetOption *o, const char *value, Span span) {
  char *end;
  errno = 0;
  long long n = strtoll(value, &end, 10);
  if (!*value || *end || errno || n < 0 || value[0] == ' ' || value[0] == '+')
    error_raisef("TargetError", span, "option -%s is a number from 0 on, not '%s'", o->name, value);
  return str_format("%lld", n);
}

static const char *parse_value(const TargetOption *o, const char *value, Span span) {
  bool is_bool = str_same(o->type, "BOOL"), is_int = str_same(o->type, "INT");
  if (is_bool) return parse_bool(o, value ? value : "1", span);
  if (!value)
    error_raisef("TargetError", span, "option -%s has no value: write -%s=%s", o->name, o->name,
                 is_int ? "4" : "...");
  return is_int ? parse_int(o, value, span) : value;
}

/* One word of the text: -name=value, --name=value, or -name alone for a BOOL. */
static void parse_word(Target *t, Map *given, const char *word, Span span) {
  if (word[0] != '-')
    error_raisef("TargetError", span,
                 "expected an option such as -num-cores=4 in the target, found '%s' (a value "
                 "follows its option after '=', without a blank)",
                 word);
  word += word[1] == '-' ? 2 : 1;
  const char *equals = strchr(word, '=');
  const char *name = equals ? str_copy_n(word, (size_t)(equals - word)) : word;
  const TargetOption *o = find_option(t->kind, name, span);
  const char *key = str_intern(o->name);
  if (map_has(given, key)) error_raisef("TargetError", span, "option -%s is given twice", o->name);
  map_set(given, key, t);
  const char *value = parse_value(o, equals ? equals + 1 : NULL, span);
  map_set(&t->options, key, (void *)(uintptr_t)str_intern(value));
}

static StrVec split_words(const char *text) {
  StrVec words = {0};
  static const char blanks[] = " \t\r\n";
  for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
    size_t n = strcspn(text, blanks);
    vec_push(&words, str_copy_n(text, n));
    text += n;
  }
  return words;
}

/* Limits that are not given (0) are those of the GPU that the target is for, or simulates. */
static void take_gpu(Target *t, Span span) {
  const char *arch = map_get(&t->options, str_intern("arch"));
  const char *name = arch ? arch : map_get(&t->options, str_intern("model"));
  if (!name) return;
  int n;
  const TargetGpu *g = target_gpu_find(name), *all = target_gpus(&n);
  StrVec known = {0};
  for (int i = 0; i < n; i++)
    if (!arch || all[i].ptx) vec_push(&known, all[i].name);
  if (!g || (arch && (!g->ptx || !str_same(g->name, arch))))
    raise_unknown(span, arch ? "unknown architecture" : "unknown model", name, &known);
  for (int i = 0; i < LENGTH(options); i++) {
    if (!str_same(options[i].kind, t->kind)) continue;
    int64_t limit = target_gpu_limit(g, options[i].name);
    const char *key = str_intern(options[i].name);
    if (limit && str_same(map_get(&t->options, key), "0"))
      map_set(&t->options, key,
              (void *)(uintptr_t)str_intern(str_format("%lld", (long long)limit)));
  }
}

const Target *target_parse(const char *text, Span span) {
  StrVec words = split_words(text);
  if (!words.len)
    error_raisef("TargetError", span, "the target is empty; expected one such as \"llvm\"");
  const TargetKind *kind = find_kind(words.at[0], span);
  Target *t = NEW(Target, .kind = str_intern(kind->name), .device = kind->device);
  for (int i = 0; i < LENGTH(options); i++)
    if (str_same(options[i].kind, kind->name))
      map_set(&t->options, str_intern(options[i].name),
              (void *)(uintptr_t)str_intern(options[i].value));
  Map given = {0};
  for (int i = 1; i < words.len; i++) parse_word(t, &given, words.at[i], span);
  take_gpu(t, span);
  return t;
}

const char *target_text(const Target *t) {
  Str s = {0};
  const TargetGpu *gpu = target_gpu(t);
  str_add(&s, t->kind);
  for (int i = 0; i < LENGTH(options); i++) {
    if (!str_same(options[i].kind, t->kind)) continue;
    const char *value = target_option(t, options[i].name);
    int64_t limit = gpu ? target_gpu_limit(gpu, options[i].name) : 0;
    const char *usual = limit ? str_format("%lld", (long long)limit) : options[i].value;
    if (!str_same(value, usual)) str_printf(&s, " -%s=%s", options[i].name, value);
  }
  return str_text(&s);
}

const Target *target_with(const Target *t, const char *name, const char *value) {
  Target *copy = NEW(Target, .kind = t->kind, .device = t->device, .whole = t->whole);
  for (int i = 0; i < LENGTH(options); i++)
    if (str_same(options[i].kind, t->kind)) {
      const char *v = str_same(options[i].name, name) ? value : target_option(t, options[i].name);
      map_set(&copy->options, str_intern(options[i].name), (void *)(uintptr_t)str_intern(v));
    }
  return copy;
}

bool target_is(const Target *t, const char *kind) { return t && str_same(t->kind, kind); }

bool target_is_gpu(const Target *t) {
  for (int i = 0; t && i < LENGTH(kinds); i++)
    if (str_same(kinds[i].name, t->kind)) return strstr(kinds[i].keys, "gpu") != NULL;
  return false;
}

const Target *target_host(const Target *t) {
  Target host = *target_parse("llvm", (Span){0});
  host.whole = target_text(t);
  return gc_copy(&host, sizeof host);
}

const char *target_module_text(const Target *t) { return t->whole ? t->whole : target_text(t); }

const char *target_option(const Target *t, const char *name) {
  if (!t)
    error_raisef("TargetError", (Span){0},
                 "no target is told, and its option '%s' is needed: give one by --target, or by "
                 "`with tvm.target.Target(...)`",
                 name);
  const char *value = map_get(&t->options, str_intern(name));
  if (!value) {
    Str having = {0};
    for (int i = 0; i < LENGTH(options); i++)
      if (str_same(options[i].name, name))
        str_printf(&having, "%s'%s'", having.len ? ", " : "", options[i].kind);
    error_raisef("TargetError", (Span){0},
                 "target '%s' has no option '%s', and it is needed: targets that have it are %s",
                 t->kind, name, str_text(&having));
  }
  return value;
}

int64_t target_option_int(const Target *t, const char *name) {
  return strtoll(target_option(t, name), NULL, 10);
}

int64_t target_most_buffers(const Target *t) {
  static const char option[] = "max_storage_buffers";
  return t && map_has(&t->options, str_intern(option)) ? target_option_int(t, option) : 0;
}
