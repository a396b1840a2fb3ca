/* value.h -- values of the script language.
 *
 * A Value is its type and a payload. The type is a table of functions, so the evaluator knows no
 * type by name: a new sort of value (an IR node, a schedule, a compiled module) is a new ValueType.
 */
#ifndef LANG_VALUE_VALUE_H
#define LANG_VALUE_VALUE_H

#include "ir/ir.h"
#include "parser/parser.h"

typedef struct ValueType ValueType;

typedef struct Value {
  const ValueType *type; /* NULL: no value (an unset name, an absent argument) */
  union {
    bool boolean;
    int64_t integer;
    double real;
    void *object; /* of the type's own struct */
    Node *node;
  };
} Value;

typedef VEC(Value) ValueVec;

/* ---- names.c: names to values, in insertion order ---- */

typedef struct NameEntry {
  const char *name; /* interned; NULL: removed */
  Value value;      /* no type: a local variable that has no value now */
} NameEntry;
typedef struct Names {
  NameEntry *at;
  int len, cap, live; /* len: entries in `at`, removed ones included */
  int32_t *index;     /* hash to place + 1, 0 if free; NULL while they are few */
  int index_size;
} Names;

int names_find(const Names *n, const char *name);   /* its place, or -1 */
Value *names_get(const Names *n, const char *name); /* NULL if it has no value */
int names_set(Names *n, const char *name, Value x); /* gives its place */
bool names_remove(Names *n, const char *name);      /* false if absent */
void names_list(const Names *n, StrVec *out);       /* those that have a value */
bool name_is_private(const char *name);             /* _x, but not __x__ */

/* The arguments of one call. */
typedef struct CallArgs {
  ValueVec positional;
  StrVec names;    /* of the keyword arguments, interned */
  ValueVec named;  /* beside names */
  Span span;       /* of the whole call */
  VEC(Span) spans; /* of each positional, then each named argument; may be shorter */
  struct Env *env; /* of the caller */
} CallArgs;

/* How values of one type behave. A NULL entry: the operation is a TypeError for this type. Every
 * function may raise (see raise_* below). */
struct ValueType {
  const char *name;                  /* as type(x).__name__ tells it */
  bool (*truth)(Value v, Span span); /* NULL: true */
  void (*repr)(Value v, Str *out);   /* NULL: <name> */
  void (*str)(Value v, Str *out);    /* NULL: as repr */
  Value (*get_attr)(Value v, const char *name,
                    Span span); /* a Value without type: no such attribute */
  bool (*set_attr)(Value v, const char *name, Value x, Span span); /* false: no such attribute */
  bool (*del_attr)(Value v, const char *name, Span span); /* false: there is none to delete */
  void (*attr_names)(Value v, StrVec *out);               /* for "did you mean" and completion */
  Value (*get_item)(Value v, Value index, Span span);
  void (*set_item)(Value v, Value index, Value x, Span span);
  void (*del_item)(Value v, Value index, Span span);
  Value (*call)(Value f, CallArgs *args);
  /* One operand is of this type (the left one's type is asked first). No type: not for these
   * operands. */
  Value (*binary)(AstOp op, Value a, Value b, Span span); /* AST_ADD .. AST_BITXOR */
  Value (*compare)(AstOp op, Value a, Value b,
                   Span span);                  /* AST_EQ .. AST_GE; result may be any value */
  Value (*unary)(AstOp op, Value a, Span span); /* AST_NEG, AST_POS, AST_INVERT; AST_NOT only if
                                                   `not x` is not a bool */
  /* `a and b`, `a or b` when the truth of `a` is not known now. NULL: Python's rule by truth(). */
  Value (*logical)(AstOp op, Value a, Value b, Span span);
  bool (*contains)(Value v, Value x, Span span);
  int64_t (*length)(Value v, Span span);
  /* Iteration: start gives an iterator value; next gives its values and a Value without type at the
   * end. */
  Value (*iter)(Value v, Span span);
  Value (*next)(Value iterator, Span span);
  bool (*equal)(Value a, Value b);    /* for containers and ==; NULL: the same object */
  uint64_t (*hash)(Value v);          /* NULL: not hashable */
  Value (*enter)(Value v, Span span); /* with v as x */
  bool (*leave)(Value v, Error *raised, Span span); /* true: swallows the error */
  /* `a if c else b` when the truth of c is not known now. NULL, or no type: by truth(c). */
  Value (*select)(Value c, Value a, Value b, Span span);
  /* format(v, spec). NULL: the spec is applied to str(v). */
  void (*format)(Value v, const char *spec, Str *out, Span span);
  /* type(v) where values of one type have several classes; no type: none. NULL: the type itself. */
  Value (*class_of)(Value v);
  /* isinstance(v, t) where the values of one type have several classes. NULL: by the type. */
  bool (*is_of_type)(Value v, const ValueType *t);
  /* In a class a value of this type is a method: its object comes first among the arguments. */
  bool is_method;
  /* isinstance(x, v) for values v of this type, which are classes. NULL: they are none. */
  bool (*has_instance)(Value v, Value x);
  /* `a += b` in place; no type: as a + b. NULL: as binary. */
  Value (*inplace)(AstOp op, Value a, Value b, Span span);
  /* Attributes that are methods made in C; after those of get_attr. */
  const struct Builtin *methods;
  int method_count;
};

extern const ValueType type_none, type_bool, type_int, type_big, type_float, type_str, type_list,
    type_tuple, type_dict, type_set, type_range, type_slice, type_ellipsis, type_function,
    type_builtin, type_bound_method, type_class, type_instance, type_namespace, type_iterator,
    type_type, type_descriptor, type_file, type_bytes, type_bytearray, type_memoryview,
    type_missing;

static inline Value value_absent(void) { return (Value){0}; }
static inline Value value_none(void) { return (Value){.type = &type_none}; }
static inline Value value_bool(bool b) { return (Value){.type = &type_bool, .boolean = b}; }
static inline Value value_int(int64_t i) { return (Value){.type = &type_int, .integer = i}; }
static inline Value value_float(double x) { return (Value){.type = &type_float, .real = x}; }
static inline Value value_of(const ValueType *type, void *object) {
  return (Value){.type = type, .object = object};
}
static inline bool value_is(Value v, const ValueType *type) { return v.type == type; }
/* An int of any size (type_big is one that 64 bits do not hold: big_int.h) or a bool. */
static inline bool value_is_integer(Value v) {
  return v.type == &type_int || v.type == &type_bool || v.type == &type_big;
}
static inline bool value_is_none(Value v) { return v.type == &type_none; }

typedef struct StrObject {
  const char *text; /* UTF-8, NUL after len bytes */
  size_t len;
  uint64_t hash;  /* 0: not computed yet */
  int64_t length; /* characters; -1: not counted yet */
} StrObject;
typedef struct ListObject {
  ValueVec items;
} ListObject; /* of lists and tuples */
typedef struct SliceObject {
  Value start, stop, step;
} SliceObject;

Value value_str(const char *text); /* both copy the text */
Value value_str_n(const char *text, size_t len);
Value value_bytes(const void *data, size_t n); /* copies */
Value value_str_take(Str *built); /* what a builder holds, without a copy; it must not grow after */
const char *value_text(Value str); /* of a str value */
Value value_list(ValueVec items);
Value value_tuple(ValueVec items);
Value value_tuple_of(int n, ...); /* n Values */
Value value_tuple_new(int n);     /* its n items are to be set at once */
static inline ValueVec *value_items(Value list_or_tuple) {
  return &((ListObject *)list_or_tuple.object)->items;
}
Value value_dict(void);
Value value_dict_get(Value dict, Value key); /* absent if there is none */
void value_dict_set(Value dict, Value key, Value x, Span span);
int value_dict_len(Value dict);
void value_dict_entry(Value dict, int i, Value *key, Value *x); /* i-th in insertion order */

/* ---- operations on any value; each raises a script exception at `span` if it can't ---- */

bool value_truth(Value v, Span span);
bool value_contains(Value container, Value x, Span span); /* x in container */
bool value_same(Value a, Value b);                        /* a is b */
uint64_t value_hash(Value v, Span span);                  /* raises TypeError if not hashable */
int value_order(Value a, Value b, Span span);             /* by `<`: -1, 0 (neither less), 1 */
void value_add_repr(Value v, Str *out);
void value_add_ascii(Value v, Str *out); /* repr, with \x, \u or \U for all that is not ASCII */
Value value_converted(Value v, char conversion); /* a text: !r, !s or !a of a format field */
void value_add_str(Value v, Str *out);
void value_del_item(Value v, Value index, Span span);
void value_set_attr(Value v, const char *name, Value x, Span span);
void value_del_attr(Value v, const char *name, Span span);
void value_attr_names(Value v, StrVec *out);
Value value_inplace(AstOp op, Value a, Value b, Span span);
void value_format(Value v, const char *spec, Str *out, Span span);
/* The value type(v): of int it is `int`; equal types give equal values. */
Value value_type_of(Value v);
Value value_type(const ValueType *type);
const char *value_type_text(Value v); /* the class name of an instance */
bool value_is_callable(Value v);
const char *value_repr(Value v);
const char *value_to_str(Value v);
bool value_equal(Value a, Value b);
Value value_get_attr(Value v, const char *name,
                     Span span); /* raises AttributeError with a near name */
Value value_find_attr(Value v, const char *name, Span span); /* absent if there is none */
Value value_get_item(Value v, Value index, Span span);
void value_set_item(Value v, Value index, Value x, Span span);
Value value_call(Value f, CallArgs *args);
Value value_call_with(Value f, int n, const Value *args, Span span);
Value value_binary(AstOp op, Value a, Value b, Span span);
Value value_compare(AstOp op, Value a, Value b, Span span);
Value value_unary(AstOp op, Value a, Span span);
Value value_iter(Value v, Span span);
Value value_next(Value iterator, Span span); /* absent at the end */
ValueVec value_to_vec(Value iterable, Span span);
int64_t value_length(Value v, Span span);
int64_t value_as_int(Value v, const char *what,
                     Span span); /* int or bool; raises TypeError naming `what` */
double value_as_float(Value v, const char *what, Span span);
const char *value_as_text(Value v, const char *what, Span span);

/* ---- builtin functions: a row each, their arguments bound by a signature ---- */

/* The call of a builtin after binding: args[i] is the i-th parameter of the signature, absent if it
 * was not given and has no default; *rest and **more hold a tuple and a dict. */
typedef struct BuiltinCall {
  const struct Builtin *builtin;
  Value self; /* of a method; else absent */
  Value *args;
  Span *spans; /* of each argument as written; of the call if defaulted */
  Span span;
  struct Env *env; /* of the caller */
} BuiltinCall;

typedef struct Builtin {
  const char *name;
  const char *signature; /* "x, dtype='float32', *rest, key=None, **more"; literals as defaults; "/"
                            and "*" as in Python; "x?": may be left out and is absent then */
  Value (*fn)(BuiltinCall *call);
  const char *doc;
} Builtin;

Value value_builtin(const Builtin *b);
Value value_method(const Builtin *b, Value self); /* a builtin bound to its object */
/* Looks `name` up in a table of n rows, bound to self: what get_attr of a builtin type does. */
Value builtin_method(const Builtin *table, int n, Value self, const char *name);
const Builtin *builtin_find(const Builtin *table, int n, const char *name); /* or NULL */
Value builtin_call(const Builtin *b, Value self, CallArgs *args);
void builtin_names(const Builtin *table, int n, StrVec *out);

/* ---- namespaces: math, np, T, R, modules read from files ---- */

typedef struct Namespace {
  const char *name;
  Names values;
  /* Asked for names that are not in `values`; absent if unknown. May be NULL. */
  Value (*find)(struct Namespace *ns, const char *name);
  void (*names)(struct Namespace *ns, StrVec *out);
  void (*set)(struct Namespace *ns, const char *name, Value x); /* NULL: into `values` */
  /* What to write for a name that is not here; NULL if unknown. May be NULL. */
  const char *(*elsewhere)(const struct Namespace *ns, const char *name);
  bool is_part; /* of a library that has more: what is not here "is not provided" */
} Namespace;
/* What importing a name gives that such a library may have: each use of it is an ImportError. */
Value value_missing(const char *dotted);
Value value_namespace(const char *name);
void namespace_set(Value ns, const char *name, Value x);
void namespace_add_builtins(Value ns, const Builtin *table, int n);
/* A namespace that `import name` finds; made by load() when first imported. Dotted names are fine.
 */
void namespace_register(const char *name, Value (*load)(void));
Value namespace_import(const char *name,
                       Span span); /* raises ModuleNotFoundError with a near name */

/* Modules that are written in the language and that the program carries: found as registered ones
 * are. */
typedef struct NamespaceLibrary {
  bool (*has)(const char *dotted);
  Value (*load)(const char *dotted);
} NamespaceLibrary;
extern const NamespaceLibrary *namespace_library; /* NULL: none */

bool namespace_is_registered(const char *name); /* it, or a name below it */
void namespace_registered_names(StrVec *out);

/* ---- exceptions of the script language ---- */

/* kind: "TypeError", "ValueError", "NameError", "IndexError", "KeyError", "AttributeError",
 * "ZeroDivisionError", "OverflowError", "AssertionError", "RuntimeError", "ScheduleError", ... */
#define raise(kind, span, ...)      error_raisef(kind, span, __VA_ARGS__)
#define raise_code(code, span, ...) error_raise_code(code, span, __VA_ARGS__)

#endif
