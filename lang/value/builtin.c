/* builtin.c -- functions made in C: rows with a signature, bound when called. */
#include "lang/value/big_int.h"
#include "lang/value/object.h"

Value value_builtin(const Builtin *b) { return value_method(b, value_absent()); }

Value value_method(const Builtin *b, Value self) {
  return value_of(&type_builtin, NEW(BuiltinObject, .builtin = b, .self = self));
}

Value value_unbound_method(const Builtin *b, const ValueType *owner) {
  return value_of(&type_builtin, NEW(BuiltinObject, .builtin = b, .owner = owner));
}

/* Recent look-ups in tables of methods; a row is found again by one comparison. */
static struct {
  const Builtin *table, *row;
  const char *name;
} recent[512];

const Builtin *builtin_find(const Builtin *table, int n, const char *name) {
  size_t at = ((uintptr_t)table >> 4 ^ (uintptr_t)name >> 3) % (sizeof recent / sizeof *recent);
  if (recent[at].table == table && recent[at].name == name) return recent[at].row;
  const Builtin *row = NULL;
  for (int i = 0; i < n && !row; i++)
    if (strcmp(table[i].name, name) == 0) row = &table[i];
  recent[at].table = table;
  recent[at].name = name;
  recent[at].row = row;
  return row;
}

Value builtin_method(const Builtin *table, int n, Value self, const char *name) {
  const Builtin *row = builtin_find(table, n, name);
  return row ? value_method(row, self) : value_absent();
}

void builtin_names(const Builtin *table, int n, StrVec *out) {
  for (int i = 0; i < n; i++) vec_push(out, table[i].name);
}

const Signature *builtin_signature(const Builtin *b) {
  static Map signatures;
  Signature *s = map_get(&signatures, b);
  if (!s) {
    s = (Signature *)(uintptr_t)signature_parse(b->signature);
    map_set(&signatures, b, s);
  }
  return s;
}

static bool is_of(Value v, const ValueType *owner) {
  return v.type == owner || (owner == &type_int && value_is_integer(v));
}

Value builtin_call(const Builtin *b, Value self, CallArgs *args) {
  const Signature *s = builtin_signature(b);
  int n = s->params.len;
  Value values[n + 1];
  Span spans[n + 1];
  signature_bind(s, b->name, args, NULL, values, spans);
  BuiltinCall c = {.builtin = b,
                   .self = self,
                   .args = values,
                   .spans = spans,
                   .span = args->span,
                   .env = args->env};
  return b->fn(&c);
}

static Value call(Value f, CallArgs *args) {
  BuiltinObject *o = f.object;
  const Builtin *b = o->builtin;
  CallArgs rest;
  Value self = o->self;
  if (o->owner) {
    if (!args->positional.len || !is_of(args->positional.at[0], o->owner))
      raise("TypeError", args->span, "%s() needs a '%s' as its first argument", b->name,
            o->owner->name);
    rest = *args;
    self = args->positional.at[0];
    rest.positional.at++, rest.positional.len--;
    if (rest.spans.len) rest.spans.at++, rest.spans.len--;
    args = &rest;
  }
  return builtin_call(b, self, args);
}

static void repr(Value v, Str *out) {
  BuiltinObject *o = v.object;
  if (o->self.type)
    str_printf(out, "<built-in method %s of %s object>", o->builtin->name,
               value_type_text(o->self));
  else if (o->owner)
    str_printf(out, "<method '%s' of '%s' objects>", o->builtin->name, o->owner->name);
  else str_printf(out, "<built-in function %s>", o->builtin->name);
}

static Value get_attr(Value v, const char *name, Span span) {
  (void)span;
  BuiltinObject *o = v.object;
  if (strcmp(name, "__name__") == 0 || strcmp(name, "__qualname__") == 0)
    return value_str(o->builtin->name);
  if (strcmp(name, "__doc__") == 0)
    return o->builtin->doc ? value_str(o->builtin->doc) : value_none();
  if (strcmp(name, "__self__") == 0 && o->self.type) return o->self;
  return value_absent();
}

static bool equal(Value a, Value b) { return value_same(a, b); }
static uint64_t hash(Value v) { return (uint64_t)(uintptr_t)((BuiltinObject *)v.object)->builtin; }

const ValueType type_builtin = {.name = "builtin_function_or_method",
                                .repr = repr,
                                .get_attr = get_attr,
                                .call = call,
                                .equal = equal,
                                .hash = hash};
