/* open_names.c -- names below T.ptx, T.cuda, T.nki, ..., and Tx: calls of builtins that no table
 * lists one by one (family.def). */
#include "lang/dialect/dialect_impl.h"
#include <ctype.h>

Value value_open(const char *name) {
  return value_of(&type_open, (void *)(uintptr_t)str_intern(name));
}

static const char *open_name(Value v) { return v.object; }

static void open_repr(Value v, Str *out) { str_printf(out, "T.%s", open_name(v)); }

static Value open_attr(Value v, const char *name, Span span) {
  (void)span;
  return value_open(str_format("%s.%s", open_name(v), name));
}

static bool is_word(const char *text) {
  for (const char *c = text; *c; c++)
    if (!isalnum((unsigned char)*c) && *c != '_') return false;
  return *text != 0;
}

static bool is_keyword(const char *word) {
  static const char *const words[] = {"and", "or", "not", "async", "global", "is", "in"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (str_same(word, words[i])) return true;
  return false;
}

/* T.ptx["cp.async.shared::cta"] is T.ptx.cp.async_.shared__cta. */
static Value open_item(Value v, Value index, Span span) {
  const char *text = value_as_text(index, "an instruction", span);
  Str name = {0};
  str_add(&name, open_name(v));
  while (*text) {
    size_t n = strcspn(text, ".");
    const char *word = str_copy_n(text, n);
    str_add_char(&name, '.');
    for (const char *c = word; *c; c++) {
      bool colons = c[0] == ':' && c[1] == ':';
      if (colons) str_add(&name, "__"), c++;
      else str_add_char(&name, *c);
    }
    if (is_keyword(word)) str_add_char(&name, '_');
    text += n + (text[n] == '.');
    if (!is_word(strrchr(str_text(&name), '.') + 1))
      raise("ValueError", span, "'%s' is no part of an instruction's name", word);
  }
  return value_open(str_text(&name));
}

/* ---- arguments ---- */

/* All of a buffer; of one without dimensions, its element. */
static Node *whole_region(Node *buffer, Span span) {
  NodeVec region = {0};
  if (!AS(Buffer, buffer)->shape.len) return expr_load(buffer, region, span);
  for each (Node *, d, &AS(Buffer, buffer)->shape)
    vec_push(&region,
             MAKE(Range, span, VOID_TYPE, .min = int_imm((*d)->dtype, 0, span), .extent = *d));
  return MAKE(BufferRegion, span, VOID_TYPE, .buffer = buffer, .region = region);
}

static Node *open_attribute(Value v, Span span);

static Node *open_items(Value list, Span span) {
  NodeVec items = {0};
  for each (Value, x, value_items(list)) vec_push(&items, open_attribute(*x, span));
  return MAKE(Array, span, VOID_TYPE, .items = items);
}

static Node *open_dict(Value dict, Span span) {
  Node *out = dict_new();
  for (int i = 0; i < value_dict_len(dict); i++) {
    Value key, x;
    value_dict_entry(dict, i, &key, &x);
    out = dict_with(out, value_as_text(key, "the key of an attribute", span),
                    open_attribute(x, span));
  }
  return out;
}

/* An argument in a list, a dict or by keyword: buffers are regions, numbers attributes. */
static Node *open_attribute(Value v, Span span) {
  stack_check(span);
  bool scalar = value_is_node(v, NK_Buffer) && tensor && map_has(&tensor->scalars, v.node);
  if (scalar || v.type == &type_open) return to_expr(v, span);
  if (value_is_node(v, NK_Buffer)) return whole_region(v.node, span);
  if (v.type == &type_list || v.type == &type_tuple) return open_items(v, span);
  if (v.type == &type_dict) return open_dict(v, span);
  return to_attr(v, span);
}

static Node *open_argument(Value v, Span span) {
  bool number = v.type == &type_float || value_is_integer(v) || value_is_node(v, NK_PrimValue) ||
                value_is_node(v, NK_IterVar);
  return number ? to_expr(v, span) : open_attribute(v, span);
}

Node *open_call(Value f, CallArgs *args) {
  const char *name = open_name(f);
  NodeVec operands = {0};
  Node *attrs = NULL;
  DataType given = VOID_TYPE;
  bool has_dtype = false;
  for each (Value, v, &args->positional) vec_push(&operands, open_argument(*v, args->span));
  for (int i = 0; i < args->names.len; i++) {
    if (str_same(args->names.at[i], "dtype") || str_same(args->names.at[i], "ret_ty")) {
      given = to_dtype(args->named.at[i], args->span), has_dtype = true;
      continue;
    }
    if (!is_word(args->names.at[i]) || isdigit((unsigned char)*args->names.at[i]))
      raise("TypeError", args->span, "'%s' can't be the name of an argument", args->names.at[i]);
    attrs = dict_with(attrs ? attrs : dict_new(), args->names.at[i],
                      open_attribute(args->named.at[i], args->span));
  }
  return MAKE(Call, args->span, has_dtype ? given : family_dtype(name, operands),
              .op = op_get(str_format("tir.%s", name)), .args = operands, .attrs = attrs);
}

static Value call_open(Value f, CallArgs *args) { return value_node(open_call(f, args)); }

const ValueType type_open = {.name = "instruction",
                             .repr = open_repr,
                             .get_attr = open_attr,
                             .get_item = open_item,
                             .call = call_open};
