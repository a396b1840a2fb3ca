/* metadata.c -- metadata["relax.expr.Constant"][0]: constants that a text names instead of holding.
 *
 * tvm.ir.load_json reads the JSON that upstream prints before such a text, in both of its forms
 * (ir/print/metadata.c has the older one), and what tvm.ir.save_json writes (node_json.c). Where
 * the JSON is missing, `metadata` is a value of its own: an entry stays a reference, of which no
 * more is known than its type key. */
#include "lang/dialect/dialect_impl.h"
#include "ir/print/metadata.h"
#include <stdlib.h>

/* ---- base64 and tensors ---- */

static int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static Str base64_bytes(const char *text, Span span) {
  Str out = {0};
  uint32_t group = 0;
  int bits = 0;
  for (; *text && *text != '='; text++) {
    int digit = base64_digit(*text);
    if (digit < 0 && (*text == '\n' || *text == ' ')) continue;
    if (digit < 0) raise("ValueError", span, "'%c' is no digit of base64", *text);
    group = group << 6 | (uint32_t)digit;
    bits += 6;
    if (bits >= 8) bits -= 8, str_add_char(&out, (char)(group >> bits));
  }
  return out;
}

typedef struct TensorReader {
  const Str *bytes;
  int at;
  Span span;
} TensorReader;

static uint64_t take(TensorReader *r, int nbytes) {
  uint64_t x = 0;
  if ((int)r->bytes->len - r->at < nbytes)
    raise("ValueError", r->span, "the text of a tensor ends too early");
  for (int i = 0; i < nbytes; i++) x |= (uint64_t)(unsigned char)r->bytes->at[r->at++] << 8 * i;
  return x;
}

Value tensor_of_text(Value text, Span span) {
  Str bytes = base64_bytes(value_as_text(text, "a tensor in base64", span), span);
  TensorReader r = {&bytes, 0, span};
  if (take(&r, 8) != METADATA_TENSOR_MAGIC) raise("ValueError", span, "this is no tensor's text");
  take(&r, 8);
  take(&r, 8); /* the device */
  int ndim = (int)take(&r, 4), code = (int)take(&r, 1), bits = (int)take(&r, 1);
  DataType t = dtype_from_dlpack(code, bits, (int)take(&r, 2));
  if (ndim < 0 || ndim > 64) raise("ValueError", span, "a tensor of rank %d", ndim);
  int64_t dims[64], n = dtype_nbytes(t);
  for (int i = 0; i < ndim; i++) {
    dims[i] = (int64_t)take(&r, 8);
    if (dims[i] < 0 || __builtin_mul_overflow(n, dims[i], &n))
      raise("ValueError", span, "a tensor with a dimension of %lld", (long long)dims[i]);
  }
  int64_t nbytes = (int64_t)take(&r, 8);
  if (nbytes != n || nbytes != (int64_t)bytes.len - r.at)
    raise("ValueError", span, "a tensor of %lld bytes is given %lld", (long long)n,
          (long long)bytes.len - r.at);
  return value_node(constant_of_bytes(t, ndim, dims, bytes.at + r.at, span));
}

/* ---- nodes of the JSON ---- */

typedef struct Loader {
  Value nodes, tensors; /* lists; tensors absent in the newer form */
  int depth;
  Span span;
} Loader;

static Value field(Value dict, const char *name) {
  Value v = dict.type == &type_dict ? value_dict_get(dict, value_str(name)) : value_absent();
  return v.type ? v : value_none();
}

/* Indices are numbers, or texts of numbers. */
static int index_of(Loader *l, Value v) {
  if (v.type != &type_str) return (int)value_as_int(v, "the number of a node", l->span);
  char *end;
  long i = strtol(value_text(v), &end, 10);
  if (*end) raise("ValueError", l->span, "'%s' is no number of a node", value_text(v));
  return (int)i;
}

static Value item(Loader *l, Value list, int i) {
  if (list.type != &type_list || i < 0 || i >= value_items(list)->len)
    raise("ValueError", l->span, "the JSON has no entry %d", i);
  return value_items(list)->at[i];
}

static Value node_value(Loader *l, int i);

static Value list_value(Loader *l, Value indices) {
  ValueVec out = {0}, at = value_to_vec(indices, l->span);
  for each (Value, i, &at) vec_push(&out, node_value(l, index_of(l, *i)));
  return value_list(out);
}

/* The older form has keys beside the values, the newer one keys and values in turn. */
static Value map_value(Loader *l, Value node) {
  Value out = value_dict(), keys = field(node, "keys");
  ValueVec at = value_to_vec(field(node, "data"), l->span);
  int step = value_is_none(keys) ? 2 : 1;
  for (int i = 0; i + step <= at.len; i += step) {
    Value key = step == 1 ? item(l, keys, i) : node_value(l, index_of(l, at.at[i]));
    value_dict_set(out, key, node_value(l, index_of(l, at.at[i + step - 1])), l->span);
  }
  return out;
}

static Value constant_value_of(Loader *l, Value node) {
  Value attrs = field(node, "attrs");
  if (!value_is_none(attrs))
    return tensor_of_text(item(l, l->tensors, index_of(l, field(attrs, "data"))), l->span);
  return node_value(l, index_of(l, field(field(node, "data"), "data")));
}

/* Nodes that are no constant, and no list or dict of such, are None. */
static Value node_value(Loader *l, int i) {
  Value node = item(l, l->nodes, i), key = field(node, "type_key");
  if (value_is_none(key)) key = field(node, "type");
  const char *type = key.type == &type_str ? value_text(key) : "";
  if (++l->depth > 64) raise("ValueError", l->span, "the JSON's nodes are nested too deeply");
  Value v = value_none();
  if (str_same(type, "Map") || str_same(type, "ffi.Map")) v = map_value(l, node);
  else if (str_same(type, "Array") || str_same(type, "ffi.Array"))
    v = list_value(l, field(node, "data"));
  else if (str_same(type, "relax.expr.Constant")) v = constant_value_of(l, node);
  else if (str_same(type, "ffi.String")) v = field(node, "data");
  else if (str_same(type, "ffi.Tensor") || str_same(type, "ffi.NDArray"))
    v = tensor_of_text(field(node, "data"), l->span);
  l->depth--;
  return v;
}

Value tvm_load_json(BuiltinCall *call) {
  Value loads =
      value_get_attr(namespace_import("json", call->span), str_intern("loads"), call->span);
  Value json = value_call_with(loads, 1, call->args, call->span);
  if (!value_is_none(field(json, "tvms_nodes")))
    return nodes_from_json(field(json, "tvms_nodes"), field(json, "crc32"), call->span);
  Value root = field(json, "root");
  Loader l = {
      .nodes = field(json, "nodes"), .tensors = field(json, "b64ndarrays"), .span = call->span};
  if (value_is_none(root)) root = field(json, "root_index");
  if (value_is_none(root) || value_is_none(l.nodes))
    raise("ValueError", call->span, "the JSON has no \"root\" and \"nodes\"");
  return node_value(&l, index_of(&l, root));
}

/* ---- without the JSON ---- */

static const ValueType type_metadata_list;

static Value metadata_item(Value v, Value index, Span span) {
  (void)v;
  const char *key = value_as_text(index, "the type key of metadata", span);
  return value_of(&type_metadata_list, (void *)(uintptr_t)str_intern(key));
}

/* A constant is some tensor, other entries are any object. */
static Value metadata_list_item(Value v, Value index, Span span) {
  const char *key = v.object;
  int64_t i = value_as_int(index, "the number of an entry", span);
  bool constant = str_ends(key, "Constant") || str_ends(key, "Const");
  Node *info = constant ? sinfo_tensor_unknown(VOID_TYPE, -1, span) : sinfo_object();
  return value_node(
      MAKE(MetadataRef, span, VOID_TYPE, .sinfo = info, .type_key = key, .index = (int)i));
}

static const ValueType type_metadata = {.name = "metadata", .get_item = metadata_item};
static const ValueType type_metadata_list = {.name = "list of metadata",
                                             .get_item = metadata_list_item};

Value metadata_value(void) { return value_of(&type_metadata, NULL); }
