/* metadata.c -- what a text names as metadata[...]: constants, as upstream's JSON before the text.
 *
 *   metadata = tvm.ir.load_json("""{"root": 1, "nodes": [...], "b64ndarrays": [...]}""")
 *
 * Node 0 is nothing, node 1 the dict from type keys to lists, node 2 the list of constants, each of
 * which names its tensor among b64ndarrays. A tensor is its header and its elements in base64:
 *   u64 magic, u64 0, i32 device type, i32 device, i32 ndim, u8 dtype code, u8 bits, u16 lanes,
 *   i64 dims[ndim], i64 nbytes, bytes; all little-endian. */
#include "ir/print/print.h"

static void add_number(Str *out, uint64_t x, int nbytes) {
  for (int i = 0; i < nbytes; i++) str_add_char(out, (char)(x >> 8 * i));
}

static Str tensor_bytes(const ConstData *d) {
  Str out = {0};
  add_number(&out, METADATA_TENSOR_MAGIC, 8);
  add_number(&out, 0, 8);
  add_number(&out, 1, 4); /* on the CPU */
  add_number(&out, 0, 4);
  add_number(&out, (uint64_t)d->ndim, 4);
  add_number(&out, (uint64_t)dtype_dlpack_code(d->elem), 1);
  add_number(&out, d->elem.bits, 1);
  add_number(&out, (uint64_t)d->elem.lanes, 2);
  for (int i = 0; i < d->ndim; i++) add_number(&out, (uint64_t)d->shape[i], 8);
  add_number(&out, d->nbytes, 8);
  str_add_n(&out, d->bytes, d->nbytes);
  return out;
}

static void add_base64(Str *out, const Str *bytes) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  int n = bytes->len;
  for (int i = 0; i < n; i += 3) {
    uint32_t group = 0;
    for (int k = 0; k < 3; k++)
      group = group << 8 | (i + k < n ? (unsigned char)bytes->at[i + k] : 0);
    for (int k = 0; k < 4; k++)
      str_add_char(out, k && i + k > n ? '=' : digits[group >> (18 - 6 * k) & 63]);
  }
}

void metadata_add_tensor(Str *out, const ConstData *d) {
  Str bytes = tensor_bytes(d);
  add_base64(out, &bytes);
}

void print_metadata(Str *out, const NodeVec *constants) {
  str_add(out, "metadata = tvm.ir.load_json(\"\"\"{\n  \"root\": 1,\n  \"nodes\": [\n"
               "    {\"type_key\": \"\"},\n"
               "    {\"type_key\": \"Map\", \"keys\": [\"relax.expr.Constant\"], \"data\": [2]},\n"
               "    {\"type_key\": \"Array\", \"data\": [");
  for (int i = 0; i < constants->len; i++) str_printf(out, "%s%d", i ? ", " : "", i + 3);
  str_add(out, "]}");
  for (int i = 0; i < constants->len; i++)
    str_printf(
        out,
        ",\n    {\"type_key\": \"relax.expr.Constant\", \"attrs\": {\"_checked_type_\": \"0\", "
        "\"data\": \"%d\", \"span\": \"0\", \"struct_info_\": \"0\"}}",
        i);
  str_add(out, "\n  ],\n  \"b64ndarrays\": [");
  for (int i = 0; i < constants->len; i++) {
    str_add(out, i ? ",\n    \"" : "\n    \"");
    metadata_add_tensor(out, AS(Constant, constants->at[i])->data);
    str_add_char(out, '"');
  }
  str_add(out, "\n  ]\n}\"\"\")\n\n");
}
