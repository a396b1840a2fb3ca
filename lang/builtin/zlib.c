/* zlib.c -- the module _zlib: checksums and compression of bytes, for archives of tensors. */
#include "lang/builtin/builtin.h"
#include <zlib.h>

static Value checksum(BuiltinCall *c) {
  StrObject *b = value_as_bytes(c->args[0], c->spans[0]);
  return value_int((int64_t)crc32_z(0, (const Bytef *)b->text, b->len));
}

enum { RAW = -15, MEMORY = 8 }; /* a raw stream of deflate, as archives hold it */

static Value deflate_bytes(BuiltinCall *c) {
  StrObject *b = value_as_bytes(c->args[0], c->spans[0]);
  if (b->len > UINT32_MAX / 2)
    raise("ValueError", c->spans[0], "more than 2 GB can't be compressed");
  z_stream z = {.next_in = (Bytef *)(uintptr_t)b->text, .avail_in = (uInt)b->len};
  if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, RAW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
    raise("MemoryError", c->span, "no memory to compress");
  uLong most = deflateBound(&z, (uLong)b->len);
  z.next_out = (Bytef *)NEW_BYTES(most + 1);
  z.avail_out = (uInt)most;
  Bytef *start = z.next_out;
  int status = deflate(&z, Z_FINISH);
  deflateEnd(&z);
  if (status != Z_STREAM_END) raise("RuntimeError", c->span, "compression failed");
  return value_bytes(start, (size_t)(z.next_out - start));
}

/* `size` is what the archive says: a stream that holds anything else is refused. */
static Value inflate_bytes(BuiltinCall *c) {
  StrObject *b = value_as_bytes(c->args[0], c->spans[0]);
  int64_t size = value_as_int(c->args[1], "the size", c->spans[1]);
  if (size < 0 || size > UINT32_MAX / 2 || b->len > UINT32_MAX / 2)
    raise("ValueError", c->span, "the size is 0 to 2 GB");
  z_stream z = {.next_in = (Bytef *)(uintptr_t)b->text, .avail_in = (uInt)b->len};
  if (inflateInit2(&z, RAW) != Z_OK) raise("MemoryError", c->span, "no memory to decompress");
  Bytef *start = (Bytef *)NEW_BYTES((size_t)size + 1);
  z.next_out = start;
  z.avail_out = (uInt)size + 1;
  int status = inflate(&z, Z_FINISH);
  inflateEnd(&z);
  if (status != Z_STREAM_END || z.next_out - start != size)
    raise("ValueError", c->span, "the compressed data is damaged");
  return value_bytes(start, (size_t)size);
}

static const Builtin rows[] = {
    {"crc32", "data, /", checksum, "the CRC-32 of bytes"},
    {"deflate", "data, /", deflate_bytes, "bytes compressed, without a header"},
    {"inflate", "data, size, /", inflate_bytes, "bytes that were compressed so"},
};

Value zlib_load(void) {
  Value ns = value_namespace("_zlib");
  namespace_add_builtins(ns, rows, sizeof rows / sizeof *rows);
  return ns;
}
