/* special.c -- the special methods of built-in values, as attributes: (5).__add__(3),
 * "a".__len__().
 *
 * Each stands for an operation of value.h, and is there if the type has that operation. */
#include "lang/value/object.h"
#include <stddef.h>

static Value length(BuiltinCall *c) { return value_int(value_length(c->self, c->span)); }
static Value get_item(BuiltinCall *c) { return value_get_item(c->self, c->args[0], c->span); }
static Value set_item(BuiltinCall *c) {
  value_set_item(c->self, c->args[0], c->args[1], c->span);
  return value_none();
}
static Value del_item(BuiltinCall *c) {
  value_del_item(c->self, c->args[0], c->span);
  return value_none();
}
static Value contains(BuiltinCall *c) {
  return value_bool(value_contains(c->self, c->args[0], c->span));
}
static Value iter(BuiltinCall *c) { return value_iter(c->self, c->span); }
static Value next(BuiltinCall *c) {
  Value x = value_next(c->self, c->span);
  if (!x.type) raise_stop_iteration(c->self, c->span);
  return x;
}
static Value hash(BuiltinCall *c) {
  return value_int((int64_t)(value_hash(c->self, c->span) >> 2));
}
static Value enter(BuiltinCall *c) { return c->self.type->enter(c->self, c->span); }
static Value leave(BuiltinCall *c) {
  return value_bool(c->self.type->leave(c->self, NULL, c->span));
}
static Value repr(BuiltinCall *c) { return value_str(value_repr(c->self)); }
static Value str(BuiltinCall *c) { return value_str(value_to_str(c->self)); }
static Value truth(BuiltinCall *c) { return value_bool(value_truth(c->self, c->span)); }
static Value equals(BuiltinCall *c) { return value_bool(value_equal(c->self, c->args[0])); }
static Value differs(BuiltinCall *c) { return value_bool(!value_equal(c->self, c->args[0])); }
static Value format(BuiltinCall *c) {
  Str out = {0};
  value_format(c->self, value_as_text(c->args[0], "the format", c->span), &out, c->span);
  return value_str_take(&out);
}

typedef struct Special {
  Builtin row;
  size_t entry; /* of ValueType: the method is there if it is set */
} Special;

#define ENTRY(field) offsetof(ValueType, field)
static const Special specials[] = {
    {{"__len__", "", length, "len(self)"}, ENTRY(length)},
    {{"__getitem__", "key, /", get_item, "self[key]"}, ENTRY(get_item)},
    {{"__setitem__", "key, value, /", set_item, "self[key] = value"}, ENTRY(set_item)},
    {{"__delitem__", "key, /", del_item, "del self[key]"}, ENTRY(del_item)},
    {{"__contains__", "x, /", contains, "x in self"}, ENTRY(contains)},
    {{"__iter__", "", iter, "iter(self)"}, ENTRY(iter)},
    {{"__next__", "", next, "next(self)"}, ENTRY(next)},
    {{"__hash__", "", hash, "hash(self)"}, ENTRY(hash)},
    {{"__enter__", "", enter, "what `with` does first"}, ENTRY(enter)},
    {{"__exit__", "*exception", leave, "what `with` does last"}, ENTRY(leave)},
    {{"__repr__", "", repr, "repr(self)"}, ENTRY(name)},
    {{"__str__", "", str, "str(self)"}, ENTRY(name)},
    {{"__bool__", "", truth, "bool(self)"}, ENTRY(truth)},
    {{"__eq__", "other, /", equals, "self == other"}, ENTRY(name)},
    {{"__ne__", "other, /", differs, "self != other"}, ENTRY(name)},
    {{"__format__", "spec, /", format, "format(self, spec)"}, ENTRY(name)},
};

/* ---- operators: a row each, made from the spelling ---- */

static const struct {
  const char *name;
  AstOp op;
} operators[] = {
    {"add", AST_ADD},
    {"sub", AST_SUB},
    {"mul", AST_MUL},
    {"truediv", AST_DIV},
    {"floordiv", AST_FLOORDIV},
    {"mod", AST_MOD},
    {"pow", AST_POW},
    {"and", AST_BITAND},
    {"or", AST_BITOR},
    {"xor", AST_BITXOR},
    {"lshift", AST_SHL},
    {"rshift", AST_SHR},
    {"matmul", AST_MATMUL},
    {"lt", AST_LT},
    {"le", AST_LE},
    {"gt", AST_GT},
    {"ge", AST_GE},
};
enum { OPERATORS = sizeof operators / sizeof *operators };

static const Value not_implemented = {.type = &type_not_implemented};

static Value operate(BuiltinCall *c, Value a, Value b, AstOp op) {
  Value r = value_absent();
  if (op >= AST_EQ) r = a.type->compare ? a.type->compare(op, a, b, c->span) : r;
  else r = a.type->binary ? a.type->binary(op, a, b, c->span) : r;
  return r.type ? r : not_implemented;
}

static AstOp operator_of(const char *name) {
  for (int i = 0; i < OPERATORS; i++)
    if (strncmp(name, operators[i].name, strlen(operators[i].name)) == 0 &&
        name[strlen(operators[i].name)] == '_')
      return operators[i].op;
  return AST_NOT;
}

static Value forward(BuiltinCall *c) {
  return operate(c, c->self, c->args[0], operator_of(c->builtin->name + 2));
}
static Value reflected(BuiltinCall *c) {
  return operate(c, c->args[0], c->self, operator_of(c->builtin->name + 3));
}

/* The row of an operator's special method, made when first asked for; NULL: no such name. */
static const Builtin *operator_row(const char *name) {
  static Map rows;
  const Builtin *row = map_get(&rows, name);
  if (row) return row;
  bool plain = operator_of(name + 2) != AST_NOT;
  if (!plain &&
      (name[2] != 'r' || operator_of(name + 3) >= AST_EQ || operator_of(name + 3) == AST_NOT))
    return NULL;
  row = NEW(Builtin, name, "other, /", plain ? forward : reflected, "an operator");
  map_set(&rows, name, (void *)(uintptr_t)row);
  return row;
}

Value special_method(Value v, const char *name) {
  if (name[0] != '_' || name[1] != '_') return value_absent();
  if (name == INTERNED("__class__")) return value_type_of(v);
  for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
    void *set;
    memcpy(&set, (const char *)v.type + specials[i].entry, sizeof set);
    if (set && strcmp(specials[i].row.name, name) == 0) return value_method(&specials[i].row, v);
  }
  const Builtin *row = v.type->binary || v.type->compare ? operator_row(name) : NULL;
  return row ? value_method(row, v) : value_absent();
}
