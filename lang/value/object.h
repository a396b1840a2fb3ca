/* object.h -- what the payloads of the built-in values look like; for the files of lang/ only. */
#ifndef LANG_VALUE_OBJECT_H
#define LANG_VALUE_OBJECT_H

#include "ir/support/interrupt.h"
#include "lang/eval/eval.h"
#include "lang/value/value.h"

/* ---- table.c: the hash table of dicts and sets; iterates in insertion order ---- */

typedef struct TableEntry {
  Value key; /* no type: removed */
  Value value;
  uint64_t hash;
} TableEntry;
typedef struct Table {
  TableEntry *at;
  int len; /* entries in `at`, removed ones included */
  int cap, live;
  int32_t *slots; /* hash to index + 1, 0 if free */
  int slot_count;
} Table;

/* `hash` is value_hash(key). */
TableEntry *table_find(const Table *t, Value key, uint64_t hash); /* NULL if absent */
TableEntry *table_add(Table *t, Value key, uint64_t hash); /* found, or new without a value */
bool table_remove(Table *t, Value key, uint64_t hash);
void table_clear(Table *t);
Table table_copy(const Table *t);
/* The next entry from index *i on; NULL at the end. */
TableEntry *table_next(const Table *t, int *i);

typedef struct DictObject {
  Table table;
  bool is_attrs; /* of a node: what stands under a key is an attribute, too */
} DictObject;
Value value_attrs(void);
typedef struct SetObject {
  Table table;
  bool frozen;
} SetObject;
static inline Table *value_table(Value dict_or_set) {
  return &((DictObject *)dict_or_set.object)->table;
}
Value value_set(void);
extern const ValueType type_frozenset;
void set_add(Value set, Value x, Span span);

/* ---- range, slice ---- */

/* An int, a bool, or what has __index__; false for all else. */
bool value_to_index(Value v, int64_t *i, Span span);

typedef struct RangeObject {
  int64_t start, stop, step, length;
} RangeObject;
Value value_range(int64_t start, int64_t stop, int64_t step, Span span);
Value value_slice(Value start, Value stop, Value step);

/* A slice over a sequence of `length` items: first index, step, and how many. */
typedef struct SliceBounds {
  int64_t start, stop, step, count; /* start and stop clipped to the sequence */
} SliceBounds;
SliceBounds slice_bounds(Value slice, int64_t length, Span span);
/* The index with what its __index__ methods give: to be asked before the length of a list is read,
 * which they may change. */
Value index_settled(Value index, Span span);
/* An index that may be negative; raises IndexError "<what> index out of range". */
int64_t index_in_range(Value index, int64_t length, const char *what, Span span);

/* ---- iterators ---- */

typedef struct IteratorObject IteratorObject;
struct IteratorObject {
  Value (*next)(IteratorObject *it, Span span);
  const char *name; /* "list_iterator" */
  Value source, second;
  int64_t i, n;
  ValueVec many;
  void *state;
};
Value value_iterator(IteratorObject it);
static inline IteratorObject *value_iterator_object(Value v) { return v.object; }
Value iter_over_vec(const ValueVec *items, const char *name); /* sees items added meanwhile */

/* ---- sequences: what lists and tuples have in common (sequence.c) ---- */

void sequence_add_items(Str *out, const ValueVec *items);
bool sequence_equal(const ValueVec *a, const ValueVec *b);
Value sequence_compare(AstOp op, const ValueVec *a, const ValueVec *b, Span span);
ValueVec sequence_slice(const ValueVec *items, Value slice, Span span);
ValueVec sequence_repeat(const ValueVec *items, int64_t n, Span span);
ValueVec sequence_concat(const ValueVec *a, const ValueVec *b);
bool sequence_contains(const ValueVec *items, Value x);
Value sequence_count(BuiltinCall *c);
Value sequence_index(BuiltinCall *c);
/* Stable; key may be None. Raises what the comparison raises, with `items` unchanged. */
void sequence_sort(ValueVec *items, Value key, bool reverse, Span span);

/* ---- functions, classes ---- */

typedef struct FunctionObject {
  const char *name;
  const char *qualname; /* of a method, with its class: A.f */
  Ast *def;             /* AstDef or AstLambda */
  Env *closure;
  ValueVec defaults; /* beside the parameters; absent where there is none */
  const struct FunctionPlan *plan;
  Env *class_scope; /* the class body that defined it, for super(); or NULL */
  Names attrs;      /* __doc__ is among them if set */
} FunctionObject;

typedef VEC(struct ClassObject *) ClassVec;
typedef struct ClassObject {
  const char *name;
  ClassVec bases; /* without object, and without a built-in type */
  ClassVec line;  /* where attributes are searched: itself, then the classes above (mro.c) */
  Names attrs;
  bool is_exception;
  const struct TypeObject *inner_type; /* the built-in type below it, or NULL */
  int room;                            /* for how many attributes new objects get room */
  bool has_setters; /* `x.a = y` may call something: a property, or __setattr__ */
  bool is_builtin;  /* not made by a class statement: it cannot be changed */
  const char *doc, *module;
  const char *abstract; /* an abstract method that it still lacks; NULL: objects can be made */
  Ast *definition;      /* an AstClass; NULL if built in */
} ClassObject;

typedef struct InstanceObject {
  ClassObject *class;
  Names attrs;
  Value inner;           /* of a class below a built-in type: a value of that type */
  Error *raised;         /* of an exception: as it was raised last, or NULL */
  const Error *context;  /* ... and what was being handled then, or its cause */
  bool context_is_cause; /* by raise ... from */
} InstanceObject;

typedef struct MethodObject {
  Value self, function;
} MethodObject;

typedef enum { DESCRIPTOR_PROPERTY, DESCRIPTOR_STATIC, DESCRIPTOR_CLASS } DescriptorKind;
typedef struct DescriptorObject {
  DescriptorKind kind;
  Value get, set, del; /* of a property; else get is the function */
} DescriptorObject;

typedef struct SuperObject {
  ClassObject *after; /* behind which, in the line of self's class, the search starts */
  Value self;         /* an instance or a class */
} SuperObject;
extern const ValueType type_super;

extern ClassObject object_class; /* `object`: above every class and type */
Value value_class(ClassObject *c);
Value class_lookup(const ClassObject *c, const char *name); /* in it and its bases; or absent */
bool class_sets_plainly(const ClassObject *c);              /* `x.a = y` calls nothing */
bool class_is_subclass(const ClassObject *c, const ClassObject *base);
void class_set(ClassObject *c, const char *name, Value x);
/* The __init__ of a class whose objects are made by it alone; absent if there is none. */
Value class_plain_init(const ClassObject *c);
void class_check_init(Value result, Span span);                       /* raises unless it is None */
Value class_bind(Value found, Value self, ClassObject *c, Span span); /* functions become methods */
Value value_instance(ClassObject *c);
/* The value itself, or the built-in value inside an object of a class below a built-in type. */
static inline Value value_plain(Value v) {
  if (v.type != &type_instance || !((InstanceObject *)v.object)->inner.type) return v;
  return ((InstanceObject *)v.object)->inner;
}
Value special_method(Value v, const char *name); /* of a built-in value; or absent (special.c) */
/* A class of these attributes, with what its making calls: __set_name__ of the attributes and
 * __init_subclass__ of its base, which gets the keywords `named`. */
void class_set_bases(ClassObject *c, const ValueVec *bases, Span span);
void class_set_line(ClassObject *c, Span span); /* from its bases */
Value class_make(ClassObject *c, const Names *attrs, const CallArgs *named);
Value names_dict(const Names *names);                          /* as a dict of the script */
Value instance_get(const InstanceObject *o, const char *name); /* own attributes only */
void instance_set(InstanceObject *o, const char *name, Value x);
/* The function of its class that o.name would bind; absent if it is anything else. */
Value instance_method(const InstanceObject *o, const char *name);
void instance_delete(InstanceObject *o, const char *name, Span span); /* its own attribute */
/* What every object can do, for super() and `object`. */
extern const Builtin object_methods[];
extern const int object_method_count;
extern const ValueType type_not_implemented;
/* Calls a special method (its name interned) if the class has it; absent if not, or if it gives
 * NotImplemented. */
Value instance_special(Value v, const char *name, int n, const Value *args, Span span);

/* ---- types as values ---- */

typedef struct TypeObject {
  const ValueType *type;
  const Builtin *constructor;                           /* or NULL */
  enum { NOT_A_BASE, FIXED_BASE, FILLED_BASE } as_base; /* FILLED: its __init__ gives the items */
  Value (*get_static)(const char *name);                /* dict.fromkeys; may be NULL */
} TypeObject;
/* Gives a type its constructor; `definition` is kept. */
void type_define(const TypeObject *definition);
void namespace_set_class(Value ns, const char *name, const TypeObject *definition);
extern const TypeObject list_type_object, tuple_type_object, dict_type_object, set_type_object,
    frozenset_type_object, bytes_type_object, bytearray_type_object, memoryview_type_object;
bool value_is_instance(Value v, Value type_or_tuple, Span span);
Value class_binary(AstOp op, Value a, Value b, Span span); /* int | None: any of them, as a tuple */

/* ---- builtins ---- */

typedef struct BuiltinObject {
  const Builtin *builtin;
  Value self;
  const ValueType *owner; /* of `str.upper`: takes a value of this type as its first argument */
} BuiltinObject;
/* "__init__" and the like, interned once. */
#define INTERNED(text)                                                                             \
  ({                                                                                               \
    static const char *interned;                                                                   \
    interned ? interned : (interned = str_intern(text));                                           \
  })
Value value_unbound_method(const Builtin *b, const ValueType *owner);

/* ---- signatures: of builtins from their text, of functions from their tree (signature.c) ---- */

typedef struct Param {
  const char *name; /* interned */
  ParamKind kind;   /* PLAIN, KEYWORD_ONLY, STAR or DOUBLE_STAR */
  bool positional_only, optional;
  Value value; /* default; absent if none */
} Param;
typedef struct Signature {
  VEC(Param) params;     /* without the bare "*" and "/" */
  int positional;        /* how many of them take arguments by position: the first ones */
  int star, double_star; /* where *rest and **more are, or -1 */
} Signature;
const Signature *signature_parse(const char *text);
const Signature *builtin_signature(const Builtin *b);
const Signature *function_signature(const FunctionObject *f); /* without default values */
/* Puts the arguments into out[0..params.len); defaults[i] (if `defaults`) replaces params[i].value.
 * `spans` may be NULL. Raises TypeError if they do not fit. */
void signature_bind(const Signature *s, const char *function, const CallArgs *args,
                    const Value *defaults, Value *out, Span *spans);
CallArgs *args_copy(const CallArgs *args);                          /* which may be kept */
Value value_call_first(Value f, Value first, const CallArgs *args); /* f(first, *args) */

Value int_static(const char *name);   /* int.from_bytes */
Value float_static(const char *name); /* float.fromhex */
Value str_static(const char *name);   /* str.maketrans */

/* ---- text.c ---- */

/* A stretch of text, or of bytes. */
typedef struct Text {
  const char *at;
  size_t len;
} Text;
bool text_begins(Text t, Text part);
bool text_ends(Text t, Text part);
const char *text_find(Text t, Text part, bool last); /* the first place, or the last; NULL: none */
int64_t text_count(Text t, Text part); /* places without overlap of a part that is not empty */

/* ---- str.c ---- */

static inline StrObject *value_str_object(Value v) { return v.object; }
int64_t str_length(StrObject *s); /* in characters */
Value str_slice_chars(StrObject *s, int64_t start, int64_t count);
/* May `next` be byte `i` of a character of UTF-8 whose first byte is `first`? */
bool utf8_may_follow(unsigned char first, size_t i, unsigned char next);
void str_add_code_escape(Str *out, uint32_t code); /* \x.., \u...., \U........ */
Value str_lines_of_bytes(BuiltinCall *c);          /* splitlines: "\n" and "\r" alone end a line */
size_t utf8_valid_length(const char *text, size_t n); /* bytes until the first that is not UTF-8 */
Value str_encode(BuiltinCall *c);                     /* the method, of the type str */
size_t utf8_encode(uint32_t c, char out[4]);
/* The character at `text` (of at least one byte), and its size. */
uint32_t utf8_decode(const char *text, size_t *size);
enum { STR_METHODS = 46 }; /* rows of str_methods; checked at start */
extern const Builtin str_methods[STR_METHODS];
enum { BYTES_METHODS = 40 }; /* rows of bytes_methods; checked at start */
extern const Builtin bytes_methods[BYTES_METHODS];
/* Raises TypeError unless it is bytes, a bytearray or, of which this is a copy, a memoryview. */
StrObject *value_as_bytes(Value v, Span span);
bool value_is_bytes_like(Value v);
Value memoryview_bytes(Value v, Span span);               /* a copy */
Value bytes_percent(Value format, Value args, Span span); /* b"..." % args */
Value bytes_as_text(Value bytes,
                    Span span);  /* a character for each byte: ASCII, or a private one */
Value bytes_of_text(Value text); /* the inverse */
void str_add_python_repr(Str *out, const char *text, size_t len);
Value str_binary(AstOp op, Value a, Value b, Span span);

/* ---- unicode.c ---- */

uint32_t unicode_upper(uint32_t c);
uint32_t unicode_lower(uint32_t c);
bool unicode_is_alpha(uint32_t c), unicode_is_space(uint32_t c), unicode_is_digit(uint32_t c),
    unicode_is_printable(uint32_t c);

/* ---- format.c, format_calls.c ---- */

void format_float(Str *out, double x, const char *spec, Span span);
void format_int(Str *out, Value x, const char *spec, Span span);
void format_text(Str *out, const char *text, size_t len, const char *spec, Span span);
/* of_bytes: the texts stand for bytes, as bytes_as_text makes them, and so must arguments. */
Value format_percent(Value format, Value args, bool of_bytes, Span span);
Value format_call(const char *format, size_t len, const Value *args, int n, Value named, Span span);

/* ---- exceptions (eval/exceptions.c) ---- */

void exceptions_start(void); /* puts the classes into the builtins */

extern Error *handling; /* what the innermost `except` is handling; NULL outside */
ClassObject *exception_class(const char *kind); /* a new RuntimeError subclass if unknown */
Value exception_new(const char *kind, int n, const Value *args);
_Noreturn void exception_raise(Value instance, Span span);
_Noreturn void raise_key_error(Value key, Span span);
Value generator_result(Value v); /* what a generator returned; None of all else */
_Noreturn void raise_stop_iteration(Value iterator, Span span); /* with its result */
Value exception_of(Error *e); /* the exception value of a caught error, made if need be */
bool exception_matches(const Error *e, const ClassObject *c);
void exception_add_text(const InstanceObject *o, Str *out); /* str(e) */
Value exception_attr(InstanceObject *o, const char *name);  /* that is not its own; or absent */
/* As protect, and puts the evaluator's own state back in order after an error, whose trace then
 * holds the calls that it passed through. */
Error *eval_protect(void (*body)(void *context), void *context);
/* One step of an iterator that ends by StopIteration. */
Value next_until_stop(Value (*step)(Value v, Span span), Value v, Span span);

/* Calls a function of the language (eval/call.c). */
Value function_call(Value f, CallArgs *args);
const char *function_first_param(const FunctionObject *f); /* NULL if there is none */

/* ---- the C stack (value/stack.c) ---- */

extern _Thread_local char *stack_limit; /* NULL: not measured yet */
void stack_start(void);                 /* of the main thread, near the top of its stack */
void stack_exceeded(Span span);
static inline void stack_check(Span span) {
  if (__builtin_expect((char *)__builtin_frame_address(0) < stack_limit || !stack_limit, 0))
    stack_exceeded(span);
}

#endif
