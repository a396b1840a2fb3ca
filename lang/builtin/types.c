/* types.c -- int(), str(), type(), isinstance(), ...: types as functions. */
#include "lang/builtin/builtin.h"
#include "lang/builtin/tensor.h"
#include "lang/value/big_int.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

/* ---- int, float, bool ---- */

_Noreturn static void bad_int(Value text, int base, Span span) {
  raise("ValueError", span, "invalid literal for int() with base %d: %s", base, value_repr(text));
}

/* "  -0x_ff " in a base of 2 to 36; 0 takes the base from the prefix. */
static Value int_from_text(Value v, int64_t base, Span span) {
  if (base != 0 && (base < 2 || base > 36))
    raise("ValueError", span, "int() base must be >= 2 and <= 36, or 0");
  StrObject *s = v.object;
  const char *at = s->text, *end = s->text + s->len;
  while (at < end && isspace((unsigned char)*at)) at++;
  while (end > at && isspace((unsigned char)end[-1])) end--;
  bool negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+')) at++;
  if (end - at > 2 && at[0] == '0' && isalpha((unsigned char)at[1])) {
    int low = tolower(at[1]), prefix = low == 'x' ? 16 : low == 'o' ? 8 : low == 'b' ? 2 : -1;
    if (prefix > 0 && (base == 0 || base == prefix)) at += 2, base = prefix;
  }
  if (base == 0) base = 10;
  if (at == end || *at == '_' || end[-1] == '_') bad_int(v, (int)base, span);
  for (const char *p = at; p < end; p++) {
    if (*p == '_' && p[-1] != '_') continue;
    int digit = isdigit((unsigned char)*p)   ? *p - '0'
                : isalpha((unsigned char)*p) ? tolower(*p) - 'a' + 10
                                             : 99;
    if (digit >= base) bad_int(v, (int)base, span);
  }
  return big_from_digits(at, (size_t)(end - at), (int)base, negative);
}

_Noreturn static void not_a_number(const char *type, Value x, Span span) {
  raise("TypeError", span, "%s() argument must be a number or a string, not '%s'", type,
        value_type_text(x));
}

static Value new_int(BuiltinCall *c) {
  Value x = c->args[0];
  if (!x.type) return value_int(0);
  if (value_plain(x).type == &type_str) x = value_plain(x);
  if (c->args[1].type && x.type != &type_str)
    raise("TypeError", c->span, "int() can't convert non-string with explicit base");
  if (x.type == &type_str)
    return int_from_text(
        x, c->args[1].type ? value_as_int(c->args[1], "the base", c->spans[1]) : 10, c->spans[0]);
  if (x.type == &type_float) {
    if (isnan(x.real)) raise("ValueError", c->spans[0], "cannot convert float NaN to integer");
    if (isinf(x.real))
      raise("OverflowError", c->spans[0], "cannot convert float infinity to integer");
    return big_from_double(trunc(x.real));
  }
  Value method = x.type == &type_instance
                     ? instance_special(x, INTERNED("__int__"), 0, NULL, c->span)
                     : value_absent();
  if (method.type) return method;
  method =
      x.type == &type_instance ? value_absent() : value_find_attr(x, INTERNED("__int__"), c->span);
  if (method.type) return value_call_with(method, 0, NULL, c->span);
  if (x.type == &type_big) return x;
  int64_t i;
  if (!value_to_index(x, &i, c->spans[0])) not_a_number("int", x, c->spans[0]);
  return value_int(i);
}

/* strtod alone would take "0x1p3" and "nan(...)". */
static Value float_from_text(Value v, Span span) {
  Str clean = {0};
  StrObject *s = v.object;
  size_t lo = 0, hi = s->len;
  while (lo < hi && isspace((unsigned char)s->text[lo])) lo++;
  while (hi > lo && isspace((unsigned char)s->text[hi - 1])) hi--;
  for (size_t i = lo; i < hi; i++) {
    bool joins = s->text[i] == '_' && i > lo && isdigit((unsigned char)s->text[i - 1]) &&
                 i + 1 < hi && isdigit((unsigned char)s->text[i + 1]);
    if (!joins) str_add_char(&clean, s->text[i]);
  }
  const char *text = str_text(&clean), *word = text + (*text == '-' || *text == '+');
  bool named = strcasecmp(word, "inf") == 0 || strcasecmp(word, "infinity") == 0 ||
               strcasecmp(word, "nan") == 0;
  char *end;
  double x = strtod(text, &end);
  if (!*text || end != text + clean.len ||
      (!named && strspn(word, "0123456789.eE+-") != strlen(word)))
    raise("ValueError", span, "could not convert string to float: %s", value_repr(v));
  return value_float(x);
}

static Value new_float(BuiltinCall *c) {
  Value x = c->args[0];
  if (!x.type) return value_float(0);
  if (value_plain(x).type == &type_str) x = value_plain(x);
  if (x.type == &type_str) return float_from_text(x, c->spans[0]);
  Value method = x.type == &type_instance ? value_absent()
                                          : value_find_attr(x, INTERNED("__float__"), c->span);
  if (method.type) return value_call_with(method, 0, NULL, c->span);
  if (value_is_none(x) || x.type == &type_list || x.type == &type_tuple || x.type == &type_dict)
    not_a_number("float", x, c->spans[0]);
  return value_float(value_as_float(x, "the argument of float()", c->spans[0]));
}

static Value new_bool(BuiltinCall *c) {
  return value_bool(c->args[0].type && value_truth(c->args[0], c->span));
}

static Value new_str(BuiltinCall *c) {
  if (!c->args[0].type) return value_str("");
  if (c->args[1].type || c->args[2].type) { /* the text of bytes */
    Value decode = value_is_bytes_like(c->args[0])
                       ? value_find_attr(c->args[0], INTERNED("decode"), c->span)
                       : value_absent();
    if (!decode.type)
      raise("TypeError", c->spans[0], "decoding to str: need a bytes-like object, %s found",
            value_type_text(c->args[0]));
    return value_call_with(decode, c->args[2].type ? 2 : 1,
                           (Value[]){c->args[1].type ? c->args[1] : value_str("utf-8"), c->args[2]},
                           c->span);
  }
  if (c->args[0].type == &type_str) return c->args[0];
  Str out = {0};
  value_add_str(c->args[0], &out);
  return value_str_take(&out);
}

/* ---- range, slice, property, ... ---- */

static Value new_range(BuiltinCall *c) {
  int64_t n[3] = {0, 0, 1};
  for (int i = 0; i < 3; i++)
    if (c->args[i].type) n[i] = value_as_int(c->args[i], "the argument of range()", c->spans[i]);
  if (c->args[1].type) return value_range(n[0], n[1], n[2], c->span);
  return value_range(0, n[0], 1, c->span);
}

static Value new_slice(BuiltinCall *c) {
  if (!c->args[1].type) return value_slice(value_none(), c->args[0], value_none());
  return value_slice(c->args[0], c->args[1], c->args[2].type ? c->args[2] : value_none());
}

static Value descriptor(BuiltinCall *c, DescriptorKind kind) {
  return value_of(&type_descriptor, NEW(DescriptorObject, .kind = kind, .get = c->args[0]));
}
static Value new_property(BuiltinCall *c) {
  Value v = descriptor(c, DESCRIPTOR_PROPERTY);
  DescriptorObject *d = v.object;
  d->set = value_is_none(c->args[1]) ? value_absent() : c->args[1];
  d->del = value_is_none(c->args[2]) ? value_absent() : c->args[2];
  return v;
}
static Value new_staticmethod(BuiltinCall *c) { return descriptor(c, DESCRIPTOR_STATIC); }
static Value new_classmethod(BuiltinCall *c) { return descriptor(c, DESCRIPTOR_CLASS); }

static Value builtin_isinstance(BuiltinCall *c) {
  return value_bool(value_is_instance(c->args[0], c->args[1], c->spans[1]));
}

static bool is_subtype(Value a, Value b, Span span) {
  if (b.type == &type_tuple) {
    stack_check(span);
    for each (Value, t, value_items(b))
      if (is_subtype(a, *t, span)) return true;
    return false;
  }
  if (a.type == &type_scalar_class || b.type == &type_scalar_class)
    return a.type == b.type ? scalar_class_is_below(a, b)
                            : b.type == &type_class && b.object == &object_class;
  bool types = (a.type == &type_class || a.type == &type_type) &&
               (b.type == &type_class || b.type == &type_type);
  if (!types)
    raise("TypeError", span, "issubclass() takes a class, and a class or a tuple of them");
  if (a.type == &type_class && b.type == &type_class) return class_is_subclass(a.object, b.object);
  if (b.type == &type_class) return b.object == &object_class;
  const TypeObject *inner = a.type == &type_class ? ((ClassObject *)a.object)->inner_type : NULL;
  if (inner) a = value_type(inner->type);
  if (a.type != &type_type) return false;
  const ValueType *x = ((TypeObject *)a.object)->type, *y = ((TypeObject *)b.object)->type;
  return x == y || (x == &type_bool && y == &type_int);
}

static Value builtin_issubclass(BuiltinCall *c) {
  return value_bool(is_subtype(c->args[0], c->args[1], c->span));
}

/* type(x), or a class of a name, its bases and its attributes. */
static Value new_type(BuiltinCall *c) {
  if (!c->args[1].type) return value_type_of(c->args[0]);
  if (!c->args[2].type) raise("TypeError", c->span, "type() takes 1 or 3 arguments");
  ValueVec bases = value_to_vec(c->args[1], c->spans[1]);
  Names attrs = {0};
  ClassObject *class =
      NEW(ClassObject, .name = str_intern(value_as_text(c->args[0], "the name", c->spans[0])));
  class_set_bases(class, &bases, c->spans[1]);
  if (c->args[2].type != &type_dict)
    raise("TypeError", c->spans[2], "type() argument 3 must be dict, not %s",
          value_type_text(c->args[2]));
  for (int i = 0, n = value_dict_len(c->args[2]); i < n; i++) {
    Value key, x;
    value_dict_entry(c->args[2], i, &key, &x);
    names_set(&attrs, str_intern(value_as_text(key, "the name of an attribute", c->spans[2])), x);
  }
  CallArgs none = {.span = c->span};
  return class_make(class, &attrs, &none);
}

static const Builtin constructors[] = {
    {"int", "x?, base?", new_int, "an int of a number or a text"},
    {"float", "x?, /", new_float, "a float of a number or a text"},
    {"bool", "x?, /", new_bool, "is it true?"},
    {"str", "object?, encoding?, errors?", new_str, "the text of a value, or of bytes"},
    {"range", "start, stop?, step?, /", new_range, "the ints from start up to stop, by step"},
    {"slice", "start, stop?, step?, /", new_slice, "what [start:stop:step] gives"},
    {"type", "object, bases?, dict?, /", new_type, "the type of a value; or a new class"},
};
static const TypeObject types[] = {
    {.type = &type_int,
     .constructor = &constructors[0],
     .get_static = int_static,
     .as_base = FIXED_BASE},
    {.type = &type_float,
     .constructor = &constructors[1],
     .get_static = float_static,
     .as_base = FIXED_BASE},
    {.type = &type_bool, .constructor = &constructors[2]},
    {.type = &type_str,
     .constructor = &constructors[3],
     .get_static = str_static,
     .as_base = FIXED_BASE},
    {.type = &type_range, .constructor = &constructors[4]},
    {.type = &type_slice, .constructor = &constructors[5]},
    {.type = &type_type, .constructor = &constructors[6]},
};

static void define(const TypeObject *t) {
  type_define(t);
  env_set(env_builtins(), str_intern(t->type->name), value_type(t->type));
}

void types_start(void) {
  REQUIRE(str_methods[STR_METHODS - 1].name, "%d methods of str", STR_METHODS);
  REQUIRE(bytes_methods[BYTES_METHODS - 1].name, "%d methods of bytes", BYTES_METHODS);
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) define(&types[i]);
  define(&list_type_object);
  define(&tuple_type_object);
  define(&dict_type_object);
  define(&set_type_object);
  define(&bytes_type_object);
  define(&bytearray_type_object);
  define(&memoryview_type_object);
  define(&frozenset_type_object);
}

static const Builtin rows[] = {
    {"isinstance", "object, type, /", builtin_isinstance,
     "is it of this type, or of one of a tuple?"},
    {"issubclass", "cls, type, /", builtin_issubclass, "is the class the same or derived?"},
    {"property", "fget=None, fset=None, fdel=None, doc=None", new_property,
     "a method that is read as an attribute"},
    {"staticmethod", "function, /", new_staticmethod, "a method without self"},
    {"classmethod", "function, /", new_classmethod, "a method that takes the class"},
};
const BuiltinTable type_builtins = {rows, sizeof rows / sizeof *rows};
