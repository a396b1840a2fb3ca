/* module.c -- the module _onnx: files to values and back. */
#include "lang/import/onnx/onnx_impl.h"
#include "lang/dialect/dialect.h"
#include "lang/value/object.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void onnx_fault(const OnnxFile *f, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char text[1024];
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  raise("ValueError", (Span){0}, "%s: %s", f->path, text);
}

/* The bytes of a file that is mapped while it is read, the message made of them, and the value. */
typedef struct Load {
  OnnxFile file;
  const ProtobufCMessageDescriptor *descriptor;
  Value (*convert)(const OnnxFile *f, const void *message);
  uint8_t *bytes;
  size_t nbytes;
  ProtobufCMessage *message;
  Value value;
} Load;

static const char *folder_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? str_copy_n(path, (size_t)(slash - path) + (slash == path)) : ".";
}

static void map_file(Load *l, Span span) {
  int fd = open(l->file.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat s;
  if (fd < 0 || fstat(fd, &s) != 0)
    raise("OSError", span, "can't read '%s': %s", l->file.path, strerror(errno));
  l->nbytes = S_ISREG(s.st_mode) ? (size_t)s.st_size : 0;
  void *at = l->nbytes ? mmap(NULL, l->nbytes, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  close(fd);
  if (at == MAP_FAILED && l->nbytes)
    raise("OSError", span, "can't read '%s': %s", l->file.path, strerror(errno));
  if (!S_ISREG(s.st_mode)) raise("OSError", span, "'%s' is no file", l->file.path);
  l->bytes = l->nbytes ? at : NULL;
}

static void read_message(void *context) {
  Load *l = context;
  onnx_check_wire(&l->file, l->descriptor, l->bytes, l->nbytes);
  l->message = protobuf_c_message_unpack(l->descriptor, NULL, l->nbytes, l->bytes);
  if (!l->message) onnx_fault(&l->file, "the file is damaged, or is not one of the ONNX format");
  l->value = l->convert(&l->file, l->message);
}

static Value load_message(const char *path, const ProtobufCMessageDescriptor *d,
                          Value (*convert)(const OnnxFile *f, const void *message), Span span) {
  Load l = {.file = {path, folder_of(path)}, .descriptor = d, .convert = convert};
  map_file(&l, span);
  Error *e = eval_protect(read_message, &l);
  if (l.message) protobuf_c_message_free_unpacked(l.message, NULL);
  if (l.bytes) munmap(l.bytes, l.nbytes);
  if (e) error_raise(e);
  return l.value;
}

/* ---- what is read ---- */

static Value convert_model(const OnnxFile *f, const void *message) {
  return onnx_model(f, message);
}

static Value convert_tensor(const OnnxFile *f, const void *message) {
  return onnx_tensor(f, message);
}

static Value convert_optional(const OnnxFile *f, const void *message);

static Value convert_sequence(const OnnxFile *f, const void *message) {
  const Onnx__Sequence *s = message;
  ValueVec v = {0};
  for (size_t i = 0; i < s->n_tensor_values; i++) vec_push(&v, onnx_tensor(f, s->tensor_values[i]));
  for (size_t i = 0; i < s->n_sequence_values; i++)
    vec_push(&v, convert_sequence(f, s->sequence_values[i]));
  for (size_t i = 0; i < s->n_optional_values; i++)
    vec_push(&v, convert_optional(f, s->optional_values[i]));
  return value_list(v);
}

static Value convert_optional(const OnnxFile *f, const void *message) {
  const Onnx__Optional *o = message;
  if (o->tensor_value) return onnx_tensor(f, o->tensor_value);
  if (o->sequence_value) return convert_sequence(f, o->sequence_value);
  if (o->optional_value) return convert_optional(f, o->optional_value);
  return value_none();
}

/* ---- the module ---- */

static Value load(BuiltinCall *c) {
  const char *path = value_as_text(c->args[0], "a path", c->spans[0]);
  return load_message(path, &onnx__model__descriptor, convert_model, c->span);
}

static Value load_value(BuiltinCall *c) {
  static const struct {
    const char *kind;
    const ProtobufCMessageDescriptor *descriptor;
    Value (*convert)(const OnnxFile *f, const void *message);
  } kinds[] = {{"tensor", &onnx__tensor__descriptor, convert_tensor},
               {"sequence", &onnx__sequence__descriptor, convert_sequence},
               {"optional", &onnx__optional__descriptor, convert_optional}};
  const char *path = value_as_text(c->args[0], "a path", c->spans[0]);
  const char *kind = value_as_text(c->args[1], "the kind of value", c->spans[1]);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (str_same(kinds[i].kind, kind))
      return load_message(path, kinds[i].descriptor, kinds[i].convert, c->span);
  raise("ValueError", c->spans[1], "there are tensors, sequences and optionals, not '%s'", kind);
}

static Value tensor_bytes(BuiltinCall *c) {
  const char *name = value_as_text(c->args[1], "a name", c->spans[1]);
  return onnx_tensor_message(name, c->args[0], c->span);
}

static Value dtype_of_number(BuiltinCall *c) {
  int64_t number = value_as_int(c->args[0], "the element type", c->spans[0]);
  const char *dtype = number == (int)number ? onnx_dtype((int)number) : NULL;
  return dtype ? value_str(dtype) : value_none();
}

static Value load_converter(BuiltinCall *c) {
  const char *module = library_home(value_as_text(c->args[0], "a name", c->spans[0]));
  if (module) namespace_import(module, c->span);
  return value_bool(module != NULL);
}

static const Builtin rows[] = {
    {"load", "path, /", load, "a model file as dicts, lists and tensors"},
    {"load_value", "path, kind, /", load_value, "a file of a tensor, sequence or optional"},
    {"tensor_bytes", "tensor, name, /", tensor_bytes, "a tensor as the bytes of such a file"},
    {"dtype", "number, /", dtype_of_number, "the dtype of an element type's number, or None"},
    {"load_converter", "operator, /", load_converter,
     "read the file that converts it; is there one?"},
};

Value onnx_load(void) {
  Value ns = value_namespace("_onnx");
  namespace_add_builtins(ns, rows, sizeof rows / sizeof *rows);
  return ns;
}
