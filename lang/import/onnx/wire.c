/* wire.c -- are these bytes a message of the schema? Asked before protobuf-c reads them, which
 * follows nested messages by recursion without a limit.
 *
 * Numbers of wire types: 0 varint, 1 eight bytes, 2 length and bytes, 5 four bytes. */
#include "lang/import/onnx/onnx_impl.h"

enum { MAX_NESTING = 200, MAX_MESSAGES = 20 * 1000 * 1000 };

typedef struct Wire {
  const OnnxFile *file;
  const uint8_t *at, *end;
  int64_t messages;
} Wire;

static _Noreturn void damaged(const Wire *w) {
  onnx_fault(w->file, "the file is damaged, or is not one of the ONNX format");
}

static uint64_t varint(Wire *w) {
  uint64_t x = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (w->at == w->end) damaged(w);
    uint8_t b = *w->at++;
    if (shift < 64) x |= (uint64_t)(b & 127) << shift;
    if (b < 128) return x;
  }
  damaged(w);
}

static void skip(Wire *w, uint64_t n) {
  if (n > (uint64_t)(w->end - w->at)) damaged(w);
  w->at += n;
}

static void check_message(Wire *w, const ProtobufCMessageDescriptor *d, int depth);

static void check_bytes(Wire *w, const ProtobufCFieldDescriptor *f, int depth) {
  uint64_t n = varint(w);
  const uint8_t *start = w->at, *end = w->end;
  skip(w, n);
  if (!f || f->type != PROTOBUF_C_TYPE_MESSAGE) return;
  const uint8_t *after = w->at;
  w->at = start;
  w->end = after;
  check_message(w, f->descriptor, depth + 1);
  w->at = after;
  w->end = end;
}

static void check_message(Wire *w, const ProtobufCMessageDescriptor *d, int depth) {
  if (depth > MAX_NESTING)
    onnx_fault(w->file, "messages are nested more than %d deep", MAX_NESTING);
  if (++w->messages > MAX_MESSAGES)
    onnx_fault(w->file, "the file has more than %d messages", MAX_MESSAGES);
  while (w->at < w->end) {
    uint64_t tag = varint(w);
    if (tag >> 3 == 0 || tag >> 3 > UINT32_MAX / 8) damaged(w);
    const ProtobufCFieldDescriptor *f =
        protobuf_c_message_descriptor_get_field(d, (unsigned)(tag >> 3));
    switch (tag & 7) {
    case 0: varint(w); break;
    case 1: skip(w, 8); break;
    case 2: check_bytes(w, f, depth); break;
    case 5: skip(w, 4); break;
    default: damaged(w);
    }
  }
}

void onnx_check_wire(const OnnxFile *f, const ProtobufCMessageDescriptor *d, const uint8_t *bytes,
                     size_t n) {
  Wire w = {.file = f, .at = bytes, .end = bytes + n};
  check_message(&w, d, 0);
}
