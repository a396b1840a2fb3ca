/* instance.c -- objects of classes: every operation asks the class for its special method. */
#include "lang/value/object.h"

static InstanceObject *object_of(Value v) { return v.object; }

/* The entries of as many attributes as objects of the class had so far lie behind the object. */
Value value_instance(ClassObject *c) {
  InstanceObject *o = gc_alloc(sizeof *o + sizeof(NameEntry) * (size_t)c->room);
  o->class = c;
  o->attrs.at = (NameEntry *)(o + 1);
  o->attrs.cap = c->room;
  return value_of(&type_instance, o);
}

Value instance_get(const InstanceObject *o, const char *name) {
  Value *x = names_get(&o->attrs, name);
  return x ? *x : value_absent();
}

void instance_set(InstanceObject *o, const char *name, Value x) {
  enum { MOST = 8 };
  names_set(&o->attrs, name, x);
  if (o->attrs.len > o->class->room && o->attrs.len <= MOST) o->class->room = o->attrs.len;
}

Value instance_method(const InstanceObject *o, const char *name) {
  if (names_get(&o->attrs, name)) return value_absent();
  Value found = class_lookup(o->class, name);
  return found.type == &type_function ? found : value_absent();
}

Value instance_special(Value v, const char *name, int n, const Value *args, Span span) {
  Value f = class_lookup(object_of(v)->class, name);
  if (!f.type || value_is_none(f)) return value_absent();
  f = class_bind(f, v, object_of(v)->class, span);
  Value r = value_call_with(f, n, args, span);
  return r.type == &type_not_implemented ? value_absent() : r;
}

static Value inner_of(Value v) { return object_of(v)->inner; }

static bool has(Value v, const char *name) {
  return class_lookup(object_of(v)->class, name).type != NULL;
}

/* The special method must be there. */
static Value demand(Value v, const char *name, int n, const Value *args, const char *what,
                    Span span) {
  if (!has(v, name)) raise("TypeError", span, "'%s' object %s", object_of(v)->class->name, what);
  return instance_special(v, name, n, args, span);
}

/* ---- attributes ---- */

Value names_dict(const Names *names) {
  Value dict = value_dict();
  for each (NameEntry, e, names)
    if (e->name) value_dict_set(dict, value_str(e->name), e->value, (Span){0});
  return dict;
}

static Value get_attr(Value v, const char *name, Span span) {
  InstanceObject *o = object_of(v);
  Value *own = names_get(&o->attrs, name);
  if (own) return *own;
  Value found = class_lookup(o->class, name);
  if (found.type) return class_bind(found, v, o->class, span);
  if (inner_of(v).type && strcmp(name, "__class__") != 0 && strcmp(name, "__dict__") != 0) {
    Value x = value_find_attr(inner_of(v), name, span);
    if (x.type) return x;
  }
  if (name[0] == '_' && name[1] == '_') {
    if (strcmp(name, "__class__") == 0) return value_class(o->class);
    if (strcmp(name, "__dict__") == 0) return names_dict(&o->attrs);
    if (strcmp(name, "__doc__") == 0)
      return o->class->doc ? value_str(o->class->doc) : value_none();
    Value x = o->class->is_exception ? exception_attr(o, name) : value_absent();
    return x.type ? x : builtin_method(object_methods, object_method_count, v, name);
  }
  Value text = value_str(name), x = instance_special(v, INTERNED("__getattr__"), 1, &text, span);
  return x.type || !o->class->is_exception ? x : exception_attr(o, name);
}

/* The property of that name, or NULL. */
static DescriptorObject *property_of(const InstanceObject *o, const char *name) {
  Value found = class_lookup(o->class, name);
  DescriptorObject *d = found.type == &type_descriptor ? found.object : NULL;
  return d && d->kind == DESCRIPTOR_PROPERTY ? d : NULL;
}

static bool set_attr(Value v, const char *name, Value x, Span span) {
  InstanceObject *o = object_of(v);
  if (class_sets_plainly(o->class)) return instance_set(o, name, x), true;
  DescriptorObject *d = property_of(o, name);
  Value with_name[] = {value_str(name), x}, with_self[] = {v, x}, found;
  if (d && !d->set.type)
    raise("AttributeError", span, "property '%s' of '%s' object has no setter", name,
          o->class->name);
  if (has(v, INTERNED("__setattr__")))
    return instance_special(v, INTERNED("__setattr__"), 2, with_name, span), true;
  if (d) return value_call_with(d->set, 2, with_self, span), true;
  found = class_lookup(o->class, name);
  if (found.type == &type_instance &&
      instance_special(found, INTERNED("__set__"), 2, with_self, span).type)
    return true;
  instance_set(o, name, x);
  return true;
}

void instance_delete(InstanceObject *o, const char *name, Span span) {
  if (!names_remove(&o->attrs, name))
    raise("AttributeError", span, "'%s' object has no attribute '%s'", o->class->name, name);
}

static bool del_attr(Value v, const char *name, Span span) {
  InstanceObject *o = object_of(v);
  DescriptorObject *d = property_of(o, name);
  if (d && !d->del.type)
    raise("AttributeError", span, "property '%s' of '%s' object has no deleter", name,
          o->class->name);
  Value text = value_str(name), found = class_lookup(o->class, name);
  if (d) return value_call_with(d->del, 1, &v, span), true;
  if (has(v, INTERNED("__delattr__")))
    return instance_special(v, INTERNED("__delattr__"), 1, &text, span), true;
  if (found.type == &type_instance &&
      instance_special(found, INTERNED("__delete__"), 1, &v, span).type)
    return true;
  return names_remove(&o->attrs, name);
}

static void attr_names(Value v, StrVec *out) {
  InstanceObject *o = object_of(v);
  names_list(&o->attrs, out);
  for each (ClassObject *, c, &o->class->line) names_list(&(*c)->attrs, out);
}

/* ---- text ---- */

static void text_result(Value r, const char *name, Str *out) {
  if (r.type != &type_str)
    raise("TypeError", (Span){0}, "%s returned non-string (type %s)", name, value_type_text(r));
  value_add_str(r, out);
}

static void repr(Value v, Str *out) {
  InstanceObject *o = object_of(v);
  if (has(v, INTERNED("__repr__")))
    return text_result(instance_special(v, INTERNED("__repr__"), 0, NULL, (Span){0}), "__repr__",
                       out);
  if (o->inner.type) return value_add_repr(o->inner, out);
  if (!o->class->is_exception) return str_printf(out, "<%s object>", o->class->name);
  Value args = instance_get(o, str_intern("args"));
  str_printf(out, "%s(", o->class->name);
  if (args.type == &type_tuple) sequence_add_items(out, value_items(args));
  str_add(out, ")");
}

static void str(Value v, Str *out) {
  if (has(v, INTERNED("__str__")))
    text_result(instance_special(v, INTERNED("__str__"), 0, NULL, (Span){0}), "__str__", out);
  else if (object_of(v)->class->is_exception) exception_add_text(object_of(v), out);
  else if (inner_of(v).type && !has(v, INTERNED("__repr__"))) value_add_str(inner_of(v), out);
  else repr(v, out);
}

static void format(Value v, const char *spec, Str *out, Span span) {
  Value arg = value_str(spec);
  if (has(v, INTERNED("__format__")))
    return text_result(instance_special(v, INTERNED("__format__"), 1, &arg, span), "__format__",
                       out);
  if (inner_of(v).type && !has(v, INTERNED("__str__")) && !has(v, INTERNED("__repr__")))
    return value_format(inner_of(v), spec, out, span);
  Str text = {0};
  str(v, &text);
  format_text(out, str_text(&text), text.len, spec, span);
}

static bool truth(Value v, Span span) {
  Value r = instance_special(v, INTERNED("__bool__"), 0, NULL, span);
  if (r.type && r.type != &type_bool)
    raise("TypeError", span, "__bool__ should return bool, returned %s", value_type_text(r));
  if (r.type) return r.boolean;
  r = instance_special(v, INTERNED("__len__"), 0, NULL, span);
  if (r.type) return value_truth(r, span);
  return inner_of(v).type ? value_truth(inner_of(v), span) : true;
}

/* ---- operators ---- */

/* The special methods of an operator or a comparison; interned. */
typedef struct OperatorNames {
  const char *plain, *reflected, *inplace;
} OperatorNames;

static const OperatorNames *operator_names(AstOp op) {
  static const char *const words[] = {[AST_ADD] = "add",
                                      [AST_SUB] = "sub",
                                      [AST_MUL] = "mul",
                                      [AST_DIV] = "truediv",
                                      [AST_FLOORDIV] = "floordiv",
                                      [AST_MOD] = "mod",
                                      [AST_POW] = "pow",
                                      [AST_MATMUL] = "matmul",
                                      [AST_SHL] = "lshift",
                                      [AST_SHR] = "rshift",
                                      [AST_BITAND] = "and",
                                      [AST_BITOR] = "or",
                                      [AST_BITXOR] = "xor",
                                      [AST_EQ] = "eq",
                                      [AST_NE] = "ne",
                                      [AST_LT] = "lt",
                                      [AST_LE] = "le",
                                      [AST_GT] = "gt",
                                      [AST_GE] = "ge"};
  static OperatorNames names[sizeof words / sizeof *words];
  OperatorNames *n = &names[op];
  if (!n->plain) {
    n->plain = str_intern(str_format("__%s__", words[op]));
    n->reflected = str_intern(str_format("__r%s__", words[op]));
    n->inplace = str_intern(str_format("__i%s__", words[op]));
  }
  return n;
}

static bool holds_inner(Value a, Value b) {
  return value_plain(a).type != a.type || value_plain(b).type != b.type;
}

static Value binary(AstOp op, Value a, Value b, Span span) {
  const OperatorNames *names = operator_names(op);
  Value r = value_absent();
  if (a.type == &type_instance) r = instance_special(a, names->plain, 1, &b, span);
  if (!r.type && b.type == &type_instance) r = instance_special(b, names->reflected, 1, &a, span);
  return r.type || !holds_inner(a, b) ? r : value_binary(op, value_plain(a), value_plain(b), span);
}

static Value inplace(AstOp op, Value a, Value b, Span span) {
  Value r = instance_special(a, operator_names(op)->inplace, 1, &b, span), inner = inner_of(a);
  if (r.type || !inner.type || !inner.type->inplace) return r;
  r = inner.type->inplace(op, inner, value_plain(b), span);
  return r.type && r.object == inner.object ? a : r;
}

static Value unary(AstOp op, Value a, Span span) {
  const char *name = op == AST_NEG      ? INTERNED("__neg__")
                     : op == AST_POS    ? INTERNED("__pos__")
                     : op == AST_INVERT ? INTERNED("__invert__")
                                        : NULL;
  if (!name) return value_absent();
  Value r = instance_special(a, name, 0, NULL, span);
  return r.type || !inner_of(a).type ? r : value_unary(op, inner_of(a), span);
}

static AstOp swapped(AstOp op) {
  switch (op) {
  case AST_LT: return AST_GT;
  case AST_LE: return AST_GE;
  case AST_GT: return AST_LT;
  case AST_GE: return AST_LE;
  default: return op;
  }
}

/* a is an instance; b's own method is asked for the mirrored operator. */
static Value compare(AstOp op, Value a, Value b, Span span) {
  Value r = instance_special(a, operator_names(op)->plain, 1, &b, span);
  if (!r.type && b.type == &type_instance)
    r = instance_special(b, operator_names(swapped(op))->plain, 1, &a, span);
  if (!r.type && op == AST_NE) {
    r = instance_special(a, INTERNED("__eq__"), 1, &b, span);
    if (r.type) return value_unary(AST_NOT, r, span);
  }
  return r.type || !holds_inner(a, b) ? r : value_compare(op, value_plain(a), value_plain(b), span);
}

static bool equal(Value a, Value b) {
  if (value_same(a, b)) return true;
  Value r = compare(AST_EQ, a, b, (Span){0});
  return r.type && value_truth(r, (Span){0});
}

static uint64_t hash(Value v) {
  Value r = instance_special(v, INTERNED("__hash__"), 0, NULL, (Span){0});
  if (r.type) /* as the int's, whose equal it may be */
    return value_hash(value_int(value_as_int(r, "the result of __hash__", (Span){0})), (Span){0});
  if (has(v, INTERNED("__eq__")))
    raise("TypeError", (Span){0}, "unhashable type: '%s'", object_of(v)->class->name);
  if (inner_of(v).type) return value_hash(inner_of(v), (Span){0});
  return (uint64_t)(uintptr_t)v.object >> 4;
}

/* ---- items, calls, iteration ---- */

static Value get_item(Value v, Value index, Span span) {
  Value inner = inner_of(v);
  if (!inner.type || has(v, INTERNED("__getitem__")))
    return demand(v, INTERNED("__getitem__"), 1, &index, "is not subscriptable", span);
  bool missing = inner.type == &type_dict && has(v, INTERNED("__missing__"));
  if (missing && !value_contains(inner, index, span))
    return instance_special(v, INTERNED("__missing__"), 1, &index, span);
  return value_get_item(inner, index, span);
}
static void set_item(Value v, Value index, Value x, Span span) {
  Value args[] = {index, x}, inner = inner_of(v);
  if (inner.type && !has(v, INTERNED("__setitem__"))) value_set_item(inner, index, x, span);
  else demand(v, INTERNED("__setitem__"), 2, args, "does not support item assignment", span);
}
static void del_item(Value v, Value index, Span span) {
  Value inner = inner_of(v);
  if (inner.type && !has(v, INTERNED("__delitem__"))) value_del_item(inner, index, span);
  else demand(v, INTERNED("__delitem__"), 1, &index, "does not support item deletion", span);
}

static int64_t length(Value v, Span span) {
  if (inner_of(v).type && !has(v, INTERNED("__len__"))) return value_length(inner_of(v), span);
  if (!has(v, INTERNED("__len__")))
    raise("TypeError", span, "object of type '%s' has no len()", object_of(v)->class->name);
  Value r = instance_special(v, INTERNED("__len__"), 0, NULL, span);
  int64_t n = value_as_int(r, "the result of __len__", span);
  if (n < 0) raise("ValueError", span, "__len__() should return >= 0");
  return n;
}

static Value call(Value v, CallArgs *args) {
  Value f = class_lookup(object_of(v)->class, INTERNED("__call__"));
  if (!f.type)
    raise("TypeError", args->span, "'%s' object is not callable", object_of(v)->class->name);
  return value_call_first(f, v, args);
}

typedef struct Step {
  Value (*step)(Value v, Span span);
  Value v, result;
  Span span;
} Step;

static void run_step(void *context) {
  Step *s = context;
  s->result = s->step(s->v, s->span);
}

Value next_until_stop(Value (*step)(Value v, Span span), Value v, Span span) {
  Step s = {.step = step, .v = v, .span = span};
  Error *e = eval_protect(run_step, &s);
  if (!e) return s.result;
  if (!exception_matches(e, exception_class("StopIteration"))) error_raise(e);
  return value_absent();
}

static Value call_next(Value v, Span span) {
  return demand(v, INTERNED("__next__"), 0, NULL, "is not an iterator", span);
}
static Value next(Value v, Span span) { return next_until_stop(call_next, v, span); }

/* The old protocol: __getitem__(0), (1), ... until IndexError. */
typedef struct ItemStep {
  Value v, result;
  int64_t i;
  Span span;
} ItemStep;
static void run_item(void *context) {
  ItemStep *s = context;
  s->result = get_item(s->v, value_int(s->i), s->span);
}
static Value next_item(IteratorObject *it, Span span) {
  ItemStep s = {.v = it->source, .i = it->i++, .span = span};
  Error *e = eval_protect(run_item, &s);
  if (e && !exception_matches(e, exception_class("IndexError"))) error_raise(e);
  return e ? value_absent() : s.result;
}

static Value iter(Value v, Span span) {
  if (has(v, INTERNED("__iter__"))) {
    Value r = instance_special(v, INTERNED("__iter__"), 0, NULL, span);
    if (!r.type || !r.type->next)
      raise("TypeError", span, "__iter__() returned non-iterator of type '%s'", value_type_text(r));
    return r;
  }
  if (inner_of(v).type) return value_iter(inner_of(v), span);
  if (has(v, INTERNED("__next__"))) return v;
  if (!has(v, INTERNED("__getitem__")))
    raise("TypeError", span, "'%s' object is not iterable", object_of(v)->class->name);
  return value_iterator((IteratorObject){.next = next_item, .name = "iterator", .source = v});
}

static bool contains(Value v, Value x, Span span) {
  if (has(v, INTERNED("__contains__")))
    return value_truth(instance_special(v, INTERNED("__contains__"), 1, &x, span), span);
  if (inner_of(v).type) return value_contains(inner_of(v), x, span);
  Value it = iter(v, span);
  for (Value y; (y = value_next(it, span)).type;)
    if (value_same(x, y) || value_equal(x, y)) return true;
  return false;
}

/* ---- with ---- */

static Value enter(Value v, Span span) {
  return demand(v, INTERNED("__enter__"), 0, NULL, "does not support the context manager protocol",
                span);
}

static bool leave(Value v, Error *raised, Span span) {
  Value args[] = {value_none(), value_none(), value_none()};
  if (raised) {
    args[1] = exception_of(raised);
    args[0] = value_type_of(args[1]);
  }
  Value r = demand(v, INTERNED("__exit__"), 3, args,
                   "does not support the context manager protocol", span);
  return raised && value_truth(r, span);
}

const ValueType type_instance = {.name = "object",
                                 .truth = truth,
                                 .repr = repr,
                                 .str = str,
                                 .get_attr = get_attr,
                                 .set_attr = set_attr,
                                 .del_attr = del_attr,
                                 .attr_names = attr_names,
                                 .get_item = get_item,
                                 .set_item = set_item,
                                 .del_item = del_item,
                                 .call = call,
                                 .binary = binary,
                                 .compare = compare,
                                 .unary = unary,
                                 .contains = contains,
                                 .length = length,
                                 .iter = iter,
                                 .next = next,
                                 .equal = equal,
                                 .hash = hash,
                                 .enter = enter,
                                 .leave = leave,
                                 .format = format,
                                 .inplace = inplace};
