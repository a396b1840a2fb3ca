/* value.c -- operations on any value: each looks into the type's table, or says what is missing. */
#include "lang/value/big_int.h"
#include "lang/value/object.h"
#include <math.h>

const char *value_type_text(Value v) {
  if (v.type == &type_instance) return ((InstanceObject *)v.object)->class->name;
  return v.type ? v.type->name : "nothing";
}

bool value_truth(Value v, Span span) {
  if (v.type == &type_bool) return v.boolean;
  if (v.type->truth) return v.type->truth(v, span);
  if (v.type->length) return v.type->length(v, span) != 0;
  return true;
}

/* ---- text ---- */

/* Containers whose repr is being written: one met again inside itself is written as "...". Each
 * mark tells where on the C stack its repr runs; a repr that raised has left marks that lie deeper
 * than the present frame, and those are dropped. */
typedef struct Mark {
  const void *object;
  const char *frame;
} Mark;
static VEC(Mark) writing;

static bool is_container(Value v) {
  return v.type == &type_list || v.type == &type_dict || v.type == &type_set ||
         v.type == &type_tuple;
}

static void add_container_repr(Value v, Str *out) {
  const char *frame = __builtin_frame_address(0);
  while (writing.len && vec_last(&writing).frame <= frame) writing.len--;
  for each (Mark, m, &writing)
    if (m->object == v.object)
      return str_add(out, v.type == &type_list    ? "[...]"
                          : v.type == &type_tuple ? "(...)"
                                                  : "{...}");
  Mark here = {v.object, frame};
  int outer = writing.len;
  vec_push(&writing, here);
  v.type->repr(v, out);
  writing.len = outer;
}

void value_add_repr(Value v, Str *out) {
  stack_check((Span){0});
  if (!v.type) str_add(out, "<nothing>");
  else if (is_container(v)) add_container_repr(v, out);
  else if (v.type->repr) v.type->repr(v, out);
  else str_printf(out, "<%s>", v.type->name);
}

void value_add_str(Value v, Str *out) {
  if (v.type && v.type->str) v.type->str(v, out);
  else value_add_repr(v, out);
}

const char *value_repr(Value v) {
  Str out = {0};
  value_add_repr(v, &out);
  return str_text(&out);
}

void value_add_ascii(Value v, Str *out) {
  const char *text = value_repr(v);
  for (size_t n; *text; text += n) {
    uint32_t code = utf8_decode(text, &n);
    if (code < 0x80) str_add_char(out, (char)code);
    else str_add_code_escape(out, code);
  }
}

Value value_converted(Value v, char conversion) {
  Str text = {0};
  if (conversion == 's') value_add_str(v, &text);
  else if (conversion == 'r') value_add_repr(v, &text);
  else value_add_ascii(v, &text);
  return value_str_take(&text);
}

const char *value_to_str(Value v) {
  if (v.type == &type_str) return value_str_object(v)->text;
  Str out = {0};
  value_add_str(v, &out);
  return str_text(&out);
}

void value_format(Value v, const char *spec, Str *out, Span span) {
  if (v.type->format) return v.type->format(v, spec, out, span);
  if (*spec)
    raise("TypeError", span,
          "unsupported format string passed to %s.__format__: format str() of it",
          value_type_text(v));
  value_add_str(v, out);
}

/* ---- sameness, equality, hash, order ---- */

bool value_same(Value a, Value b) {
  if (a.type != b.type) return false;
  if (a.type == &type_none || a.type == &type_ellipsis) return true;
  if (a.type == &type_bool) return a.boolean == b.boolean;
  if (a.type == &type_builtin) {
    BuiltinObject *x = a.object, *y = b.object;
    return x->builtin == y->builtin && x->self.type == y->self.type &&
           (!x->self.type || value_same(x->self, y->self));
  }
  if (a.type == &type_float) return memcmp(&a.real, &b.real, sizeof a.real) == 0;
  return a.object == b.object; /* of ints: the same bits */
}

bool value_equal(Value a, Value b) {
  stack_check((Span){0});
  if (a.type->equal && a.type->equal(a, b)) return true;
  if (b.type != a.type && b.type->equal && b.type->equal(b, a)) return true;
  return !a.type->equal && !b.type->equal && value_same(a, b);
}

uint64_t value_hash(Value v, Span span) {
  stack_check(span);
  if (!v.type->hash) raise_code(E0235, span, "unhashable type: '%s'", value_type_text(v));
  return v.type->hash(v);
}

static Value compare_by_type(AstOp op, Value a, Value b, Span span) {
  static const AstOp swapped[] = {[AST_EQ] = AST_EQ, [AST_NE] = AST_NE, [AST_LT] = AST_GT,
                                  [AST_LE] = AST_GE, [AST_GT] = AST_LT, [AST_GE] = AST_LE};
  Value r = value_absent();
  if (a.type->compare) r = a.type->compare(op, a, b, span);
  if (!r.type && b.type != a.type && b.type->compare) {
    /* Types other than instances are asked with the operands as written. */
    r = b.type == &type_instance ? b.type->compare(swapped[op], b, a, span)
                                 : b.type->compare(op, a, b, span);
  }
  return r;
}

Value value_compare(AstOp op, Value a, Value b, Span span) {
  switch (op) {
  case AST_IS: return value_bool(value_same(a, b));
  case AST_IS_NOT: return value_bool(!value_same(a, b));
  case AST_IN: return value_bool(value_contains(b, a, span));
  case AST_NOT_IN: return value_bool(!value_contains(b, a, span));
  default: break;
  }
  Value r = compare_by_type(op, a, b, span);
  if (r.type) return r;
  if (op == AST_EQ || op == AST_NE) return value_bool(value_equal(a, b) == (op == AST_EQ));
  raise_code(E0231, span, "'%s' not supported between instances of '%s' and '%s'", ast_op_text(op),
             value_type_text(a), value_type_text(b));
}

int value_order(Value a, Value b, Span span) {
  if (value_truth(value_compare(AST_LT, a, b, span), span)) return -1;
  return value_truth(value_compare(AST_LT, b, a, span), span) ? 1 : 0;
}

bool value_contains(Value container, Value x, Span span) {
  if (container.type->contains) return container.type->contains(container, x, span);
  if (!container.type->iter && !container.type->next)
    raise_code(E0233, span, "argument of type '%s' is not iterable", value_type_text(container));
  Value it = value_iter(container, span);
  for (Value y; (y = value_next(it, span)).type;)
    if (value_same(x, y) || value_equal(x, y)) return true;
  return false;
}

/* ---- attributes ---- */

Value value_find_attr(Value v, const char *name, Span span) {
  Value x = v.type->get_attr ? v.type->get_attr(v, name, span) : value_absent();
  if (!x.type) x = builtin_method(v.type->methods, v.type->method_count, v, name);
  return x.type || v.type == &type_instance || v.type == &type_class ? x : special_method(v, name);
}

void value_attr_names(Value v, StrVec *out) {
  if (v.type->attr_names) v.type->attr_names(v, out);
  builtin_names(v.type->methods, v.type->method_count, out);
}

static const char *owner_text(Value v) {
  if (v.type == &type_namespace) return str_format("module '%s'", ((Namespace *)v.object)->name);
  if (v.type == &type_class) return str_format("type object '%s'", ((ClassObject *)v.object)->name);
  return str_format("'%s' object", value_type_text(v));
}

_Noreturn static void no_attribute(Value v, const char *name, Span span) {
  StrVec names = {0};
  value_attr_names(v, &names);
  const char *near = str_near(name, names.at, names.len);
  const char *hint = near ? str_format(" (did you mean '%s'?)", near) : "";
  Namespace *ns = v.type == &type_namespace ? v.object : NULL;
  const char *instead = ns && ns->elsewhere ? ns->elsewhere(ns, name) : NULL;
  if (instead) hint = str_format(": %s", instead);
  if (ns && ns->is_part) raise_code(E0237, span, "%s.%s is not provided%s", ns->name, name, hint);
  raise("AttributeError", span, "%s has no attribute '%s'%s", owner_text(v), name, hint);
}

Value value_get_attr(Value v, const char *name, Span span) {
  Value x = value_find_attr(v, name, span);
  if (!x.type) no_attribute(v, name, span);
  return x;
}

void value_set_attr(Value v, const char *name, Value x, Span span) {
  if (v.type->set_attr && v.type->set_attr(v, name, x, span)) return;
  if (value_find_attr(v, name, span).type)
    raise("AttributeError", span, "attribute '%s' of '%s' objects is not writable", name,
          value_type_text(v));
  if (v.type->set_attr) no_attribute(v, name, span);
  raise("AttributeError", span,
        "cannot set attribute '%s': '%s' objects have no writable attributes", name,
        value_type_text(v));
}

void value_del_attr(Value v, const char *name, Span span) {
  if (v.type->del_attr && v.type->del_attr(v, name, span)) return;
  value_get_attr(v, name, span);
  raise("AttributeError", span, "attribute '%s' of '%s' object cannot be deleted", name,
        value_type_text(v));
}

/* ---- items ---- */

Value value_get_item(Value v, Value index, Span span) {
  if (!v.type->get_item)
    raise("TypeError", span, "'%s' object is not subscriptable", value_type_text(v));
  return v.type->get_item(v, index, span);
}

void value_set_item(Value v, Value index, Value x, Span span) {
  if (!v.type->set_item)
    raise("TypeError", span, "'%s' object does not support item assignment", value_type_text(v));
  v.type->set_item(v, index, x, span);
}

void value_del_item(Value v, Value index, Span span) {
  if (!v.type->del_item)
    raise("TypeError", span, "'%s' object doesn't support item deletion", value_type_text(v));
  v.type->del_item(v, index, span);
}

int64_t value_length(Value v, Span span) {
  if (!v.type->length)
    raise("TypeError", span, "object of type '%s' has no len()", value_type_text(v));
  return v.type->length(v, span);
}

/* ---- calls ---- */

bool value_is_callable(Value v) {
  if (v.type != &type_instance) return v.type->call != NULL;
  return class_lookup(((InstanceObject *)v.object)->class, INTERNED("__call__")).type != NULL;
}

Value value_call(Value f, CallArgs *args) {
  if (!f.type->call)
    raise_code(E0232, args->span, "'%s' object is not callable", value_type_text(f));
  interrupt_check(args->span);
  stack_check(args->span);
  return f.type->call(f, args);
}

Value value_call_with(Value f, int n, const Value *args, Span span) {
  CallArgs call = {.span = span,
                   .env = env_builtins(),
                   .positional = {.at = (Value *)(uintptr_t)args, .len = n, .cap = n}};
  return value_call(f, &call);
}

Value value_call_first(Value f, Value first, const CallArgs *args) {
  int n = args->positional.len, spans = args->spans.len;
  Value values[n + 1];
  Span places[spans + 1];
  values[0] = first;
  places[0] = args->span;
  if (n) memcpy(values + 1, args->positional.at, sizeof(Value) * (size_t)n);
  if (spans) memcpy(places + 1, args->spans.at, sizeof(Span) * (size_t)spans);
  CallArgs more = *args;
  more.positional = (ValueVec){.at = values, .len = n + 1, .cap = n + 1};
  more.spans.at = places;
  more.spans.len = more.spans.cap = spans + 1;
  return value_call(f, &more);
}

/* ---- operators ---- */

Value value_binary(AstOp op, Value a, Value b, Span span) {
  Value r = value_absent();
  if (a.type->binary) r = a.type->binary(op, a, b, span);
  if (!r.type && b.type != a.type && b.type->binary) r = b.type->binary(op, a, b, span);
  if (r.type) return r;
  if (op == AST_ADD && a.type == &type_str)
    raise_code(E0231, span, "can only concatenate str (not \"%s\") to str", value_type_text(b));
  raise_code(E0231, span, "unsupported operand type(s) for %s: '%s' and '%s'", ast_op_text(op),
             value_type_text(a), value_type_text(b));
}

Value value_inplace(AstOp op, Value a, Value b, Span span) {
  if (a.type->inplace) {
    Value r = a.type->inplace(op, a, b, span);
    if (r.type) return r;
  }
  return value_binary(op, a, b, span);
}

Value value_unary(AstOp op, Value a, Span span) {
  if (a.type->unary) {
    Value r = a.type->unary(op, a, span);
    if (r.type) return r;
  }
  if (op == AST_NOT) return value_bool(!value_truth(a, span));
  raise_code(E0231, span, "bad operand type for unary %s: '%s'", ast_op_text(op),
             value_type_text(a));
}

/* ---- iteration ---- */

Value value_iter(Value v, Span span) {
  if (v.type->iter) return v.type->iter(v, span);
  if (v.type->next) return v;
  raise_code(E0233, span, "'%s' object is not iterable", value_type_text(v));
}

Value value_next(Value iterator, Span span) {
  if (!iterator.type->next)
    raise_code(E0233, span, "'%s' object is not an iterator", value_type_text(iterator));
  return iterator.type->next(iterator, span);
}

ValueVec value_to_vec(Value iterable, Span span) {
  ValueVec out = {0};
  if (iterable.type == &type_list || iterable.type == &type_tuple) {
    ValueVec *items = value_items(iterable);
    if (items->len) {
      out.at = gc_copy(items->at, sizeof(Value) * (size_t)items->len);
      out.len = out.cap = items->len;
    }
    return out;
  }
  Value it = value_iter(iterable, span);
  for (Value x; (x = value_next(it, span)).type;) {
    vec_push(&out, x);
    interrupt_check(span);
  }
  return out;
}

/* ---- conversions that arguments need ---- */

/* What the special method gives, of instances and of types that have it as an attribute. */
static Value special(Value v, const char *name, Span span) {
  if (v.type == &type_instance) return instance_special(v, name, 0, NULL, span);
  Value f = value_find_attr(v, name, span);
  return f.type ? value_call_with(f, 0, NULL, span) : f;
}

bool value_to_index(Value v, int64_t *i, Span span) {
  v = value_plain(v);
  if (v.type == &type_big) raise("OverflowError", span, "the int does not fit in 64 bits");
  if (v.type == &type_bool) v = value_int(v.boolean);
  else if (v.type != &type_int && v.type != &type_float && v.type != &type_str)
    v = special(v, INTERNED("__index__"), span);
  *i = v.integer;
  return v.type == &type_int;
}

int64_t value_as_int(Value v, const char *what, Span span) {
  int64_t i;
  v = value_plain(v);
  if (v.type == &type_int) return v.integer;
  if (v.type == &type_big)
    raise("OverflowError", span, "%s does not fit in 64 bits", *what ? what : "the int");
  if (!value_to_index(v, &i, span))
    raise("TypeError", span, "%s must be an int, not '%s'", what, value_type_text(v));
  return i;
}

double value_as_float(Value v, const char *what, Span span) {
  v = value_plain(v);
  if (v.type == &type_float) return v.real;
  if (v.type == &type_int) return (double)v.integer;
  if (v.type == &type_bool) return v.boolean;
  if (v.type == &type_big) return big_to_double(v, span);
  Value r = v.type == &type_str ? value_absent() : special(v, INTERNED("__float__"), span);
  if (r.type == &type_float) return r.real;
  raise("TypeError", span, "%s must be a number, not '%s'", what, value_type_text(v));
}

const char *value_as_text(Value v, const char *what, Span span) {
  v = value_plain(v);
  if (v.type == &type_str) return value_str_object(v)->text;
  raise("TypeError", span, "%s must be a str, not '%s'", what, value_type_text(v));
}
