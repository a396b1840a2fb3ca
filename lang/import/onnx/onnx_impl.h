/* onnx_impl.h -- what the files of lang/import/onnx/ share. */
#ifndef LANG_IMPORT_ONNX_ONNX_IMPL_H
#define LANG_IMPORT_ONNX_ONNX_IMPL_H

#include "lang/import/onnx.pb-c.h"
#include "lang/import/onnx/onnx.h"

/* The file that is read: its name for messages, and the folder that external data is below. */
typedef struct OnnxFile {
  const char *path, *folder;
} OnnxFile;

_Noreturn void onnx_fault(const OnnxFile *f, const char *format, ...) PRINTF_LIKE(2, 3);

/* Raises unless the bytes are a message of this kind, nested at most LIMIT deep (wire.c). */
void onnx_check_wire(const OnnxFile *f, const ProtobufCMessageDescriptor *d, const uint8_t *bytes,
                     size_t n);

/* Text of the format as a str; bytes if it is no UTF-8. NULL is "". */
Value onnx_text(const char *text);
Value onnx_bytes(const ProtobufCBinaryData *s);

/* "float32" of element type 1; NULL if there is none of this number. */
const char *onnx_dtype(int element_type);
int onnx_element_type(const char *dtype); /* 0 if there is none */

Value onnx_tensor(const OnnxFile *f, const Onnx__Tensor *t);
Value onnx_sparse(const OnnxFile *f, const Onnx__SparseTensor *t);
Value onnx_type(const OnnxFile *f, const Onnx__Type *t); /* None for NULL */
Value onnx_model(const OnnxFile *f, const Onnx__Model *m);

/* The bytes of a tensor value as a message: {"name", dims, type, raw}. */
Value onnx_tensor_message(const char *name, Value tensor, Span span);

#endif
