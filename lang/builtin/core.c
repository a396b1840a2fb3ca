/* core.c -- print, len, repr, getattr, hash, ...: what works on any value. */
#include "lang/builtin/builtin.h"
#include "lang/builtin/file.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static Value builtin_print(BuiltinCall *c) {
  Str out = {0};
  ValueVec *args = value_items(c->args[0]);
  const char *sep = value_is_none(c->args[1]) ? " " : value_as_text(c->args[1], "sep", c->spans[1]);
  const char *end =
      value_is_none(c->args[2]) ? "\n" : value_as_text(c->args[2], "end", c->spans[2]);
  for (int i = 0; i < args->len; i++) {
    if (i) str_add(&out, sep);
    value_add_str(args->at[i], &out);
  }
  str_add(&out, end);
  Value file = value_is_none(c->args[3]) ? sys_stdout() : c->args[3];
  if (!file.type) fwrite(str_text(&out), 1, out.len, stdout);
  else file_write(file, str_text(&out), out.len, c->spans[3]);
  if (value_truth(c->args[4], c->span)) fflush(stdout);
  return value_none();
}

static Value builtin_input(BuiltinCall *c) {
  fputs(value_to_str(c->args[0]), stdout);
  fflush(stdout);
  char *line = NULL;
  size_t cap = 0;
  ssize_t n = getline(&line, &cap, stdin);
  if (n < 0) {
    free(line);
    raise("EOFError", c->span, "input has ended");
  }
  if (n && line[n - 1] == '\n') n--;
  Value v = value_str_n(line, (size_t)n);
  free(line);
  return v;
}

static Value builtin_len(BuiltinCall *c) {
  return value_int(value_length(c->args[0], c->spans[0]));
}

static Value builtin_repr(BuiltinCall *c) {
  Str out = {0};
  value_add_repr(c->args[0], &out);
  return value_str_take(&out);
}

static Value builtin_ascii(BuiltinCall *c) {
  Str out = {0};
  value_add_ascii(c->args[0], &out);
  return value_str_take(&out);
}

static Value builtin_hash(BuiltinCall *c) {
  Value x = c->args[0];
  if (x.type == &type_instance) {
    Value own = instance_special(x, INTERNED("__hash__"), 0, NULL, c->span);
    if (own.type && !value_is_integer(own))
      raise("TypeError", c->span, "__hash__ method should return an integer");
    if (own.type) return own;
  }
  x = value_plain(x);
  if (x.type == &type_float && x.real == floor(x.real) && fabs(x.real) < 9e18)
    x = value_int((int64_t)x.real);
  if (x.type == &type_bool) x = value_int(x.boolean);
  if (x.type == &type_int) return value_int(x.integer == -1 ? -2 : x.integer);
  uint64_t h = value_hash(x, c->spans[0]);
  return value_int((int64_t)(x.type == &type_instance ? h : h >> 2));
}

static Value builtin_callable(BuiltinCall *c) { return value_bool(value_is_callable(c->args[0])); }

/* ---- attributes ---- */

static const char *attr_name(BuiltinCall *c) {
  return str_intern(value_as_text(c->args[1], "the name of an attribute", c->spans[1]));
}

typedef struct Lookup {
  Value v, found;
  const char *name;
  Span span;
} Lookup;

static void look_up(void *context) {
  Lookup *l = context;
  l->found = value_find_attr(l->v, l->name, l->span);
}

/* Absent, too, where a property or __getattr__ says by an AttributeError that there is none. */
static Value attribute_if_any(BuiltinCall *c) {
  Lookup l = {.v = c->args[0], .name = attr_name(c), .span = c->span};
  Error *e = eval_protect(look_up, &l);
  if (e && !exception_matches(e, exception_class("AttributeError"))) error_raise(e);
  return e ? value_absent() : l.found;
}

static Value builtin_getattr(BuiltinCall *c) {
  if (!c->args[2].type) return value_get_attr(c->args[0], attr_name(c), c->span);
  Value x = attribute_if_any(c);
  return x.type ? x : c->args[2];
}

static Value builtin_hasattr(BuiltinCall *c) {
  return value_bool(attribute_if_any(c).type != NULL);
}

static Value builtin_setattr(BuiltinCall *c) {
  value_set_attr(c->args[0], attr_name(c), c->args[2], c->span);
  return value_none();
}

static Value builtin_delattr(BuiltinCall *c) {
  value_del_attr(c->args[0], attr_name(c), c->span);
  return value_none();
}

static Value builtin_dir(BuiltinCall *c) {
  StrVec names = {0};
  ValueVec out = {0};
  if (c->args[0].type) value_attr_names(c->args[0], &names);
  else env_names(env_module(c->env), &names);
  Value set = value_set();
  for each (const char *, n, &names) /* "nn.relu" is the attribute relu of the attribute nn */
    set_add(set, value_str(str_intern_n(*n, strcspn(*n, "."))), c->span);
  out = value_to_vec(set, c->span);
  sequence_sort(&out, value_none(), false, c->span);
  return value_list(out);
}

static Value scope_dict(Env *env) {
  Value dict = value_dict();
  for each (NameEntry, e, &env->names)
    if (e->value.type) value_dict_set(dict, value_str(e->name), e->value, (Span){0});
  return dict;
}
static Value builtin_globals(BuiltinCall *c) { return scope_dict(env_module(c->env)); }
static Value builtin_locals(BuiltinCall *c) { return scope_dict(c->env); }

static Value builtin_vars(BuiltinCall *c) {
  return value_get_attr(c->args[0], str_intern("__dict__"), c->span);
}

/* ---- super ---- */

static Value builtin_super(BuiltinCall *c) {
  if (c->args[0].type) {
    if (c->args[0].type != &type_class || !c->args[1].type)
      raise("TypeError", c->span, "super() takes no arguments, or a class and an object");
    ClassObject *class = c->args[0].object;
    return value_of(&type_super, NEW(SuperObject, .after = class, .self = c->args[1]));
  }
  for (Env *e = c->env; e; e = e->outer) {
    FunctionObject *f = e->function;
    if (!f || !f->class_scope) continue;
    const char *first = function_first_param(f);
    Value *self = first ? names_get(&e->names, first) : NULL;
    if (!self) break;
    return value_of(&type_super,
                    NEW(SuperObject, .after = f->class_scope->class_object, .self = *self));
  }
  raise("RuntimeError", c->span, "super() without arguments stands only in a method");
}

/* ---- texts as programs ---- */

/* What the parser reports of the text becomes a SyntaxError. */
static void *parsed(BuiltinCall *c, bool expression) {
  value_as_text(c->args[0], "the text", c->spans[0]);
  StrObject *s = value_plain(c->args[0]).object;
  const Source *source = source_add("<text>", s->text, s->len);
  if (!source) raise("MemoryError", c->span, "the texts read so far are 4 GB together");
  DiagVec *old = diag_capture();
  void *tree = expression ? (void *)parse_expression(source) : (void *)parse_module(source);
  DiagVec *found = diag_restore(old);
  for each (Diag *, d, found)
    if ((*d)->severity == DIAG_ERROR) raise("SyntaxError", (*d)->span, "%s", (*d)->text);
  if (!tree) raise("SyntaxError", c->spans[0], "no expression");
  return tree;
}

static Value builtin_eval(BuiltinCall *c) { return eval(env_keep(c->env), parsed(c, true)); }

static Value builtin_exec(BuiltinCall *c) {
  AstModule *m = parsed(c, false);
  exec_block(env_keep(c->env), &m->body);
  return value_none();
}

static Value builtin_format(BuiltinCall *c) {
  Str out = {0};
  value_format(c->args[0], value_as_text(c->args[1], "the format", c->spans[1]), &out, c->span);
  return value_str_take(&out);
}

static Value builtin_id(BuiltinCall *c) {
  static Map numbers; /* small numbers in the order of asking: addresses would differ each time */
  const void *key = c->args[0].object ? c->args[0].object : (const void *)c->args[0].type;
  if (c->args[0].type == &type_int) /* odd ones are of ints */
    return value_int((int64_t)((uint64_t)c->args[0].integer * 2 + 1));
  intptr_t n = (intptr_t)map_get(&numbers, key);
  if (!n) {
    n = numbers.live + 1;
    map_set(&numbers, key, (void *)n);
  }
  return value_int(n * 2);
}

static const Builtin rows[] = {
    {"print", "*values, sep=' ', end='\n', file=None, flush=False", builtin_print,
     "writes values as text"},
    {"input", "prompt='', /", builtin_input, "reads a line"},
    {"len", "object, /", builtin_len, "how many items"},
    {"repr", "object, /", builtin_repr, "the text that shows a value"},
    {"ascii", "object, /", builtin_ascii, "repr, in ASCII"},
    {"format", "value, spec='', /", builtin_format, "a value as text by a format specification"},
    {"hash", "object, /", builtin_hash, "a number that equal values share"},
    {"id", "object, /", builtin_id, "a number of this object"},
    {"callable", "object, /", builtin_callable, "can it be called?"},
    {"getattr", "object, name, default?, /", builtin_getattr, "an attribute by name"},
    {"hasattr", "object, name, /", builtin_hasattr, "has it such an attribute?"},
    {"setattr", "object, name, value, /", builtin_setattr, "sets an attribute by name"},
    {"delattr", "object, name, /", builtin_delattr, "deletes an attribute"},
    {"eval", "text, /", builtin_eval, "the value of an expression given as text"},
    {"exec", "text, /", builtin_exec, "runs statements given as text, in this scope"},
    {"dir", "object?, /", builtin_dir, "names of attributes, or of this module, sorted"},
    {"vars", "object, /", builtin_vars, "an object's attributes as a dict"},
    {"globals", "", builtin_globals, "the module's names, as a copy"},
    {"locals", "", builtin_locals, "the names of this scope, as a copy"},
    {"super", "type?, object?, /", builtin_super, "the methods of the base class"},
};
const BuiltinTable core_builtins = {rows, sizeof rows / sizeof *rows};
