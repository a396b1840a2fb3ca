/* file.c -- open(): text files for reading and writing, as context managers. */
#include "lang/builtin/file.h"
#include "lang/builtin/builtin.h"
#include <errno.h>
#include <stdlib.h>

typedef struct FileObject {
  FILE *file; /* NULL: closed */
  const char *name, *mode;
  bool reads, writes, binary;
} FileObject;

static FileObject *file_of(Value v) { return v.object; }

void raise_os_error(const char *path, Span span) {
  const char *kind = errno == ENOENT    ? "FileNotFoundError"
                     : errno == EEXIST  ? "FileExistsError"
                     : errno == EISDIR  ? "IsADirectoryError"
                     : errno == ENOTDIR ? "NotADirectoryError"
                     : errno == EACCES  ? "PermissionError"
                                        : "OSError";
  Value args[] = {value_int(errno), value_str(strerror(errno)), value_str(path)};
  exception_raise(exception_new(kind, 3, args), span);
}

static void close_finalizer(void *p) {
  FileObject *f = p;
  if (f->file) fclose(f->file);
  f->file = NULL;
}

Value value_file(FILE *file, const char *name, bool reads, bool writes) {
  return value_of(&type_file, NEW(FileObject, .file = file, .name = name, .reads = reads,
                                  .writes = writes, .mode = reads ? "r" : "w"));
}

static FILE *handle(Value v, bool to_write, Span span) {
  FileObject *f = file_of(v);
  if (!f->file) raise("ValueError", span, "I/O operation on closed file '%s'", f->name);
  if (to_write ? !f->writes : !f->reads)
    raise("OSError", span, "the file '%s' is not open for %s", f->name,
          to_write ? "writing" : "reading");
  return f->file;
}

void file_write(Value v, const char *text, size_t n, Span span) {
  if (v.type == &type_file) {
    FILE *f = handle(v, true, span);
    if (fwrite(text, 1, n, f) != n) raise_os_error(file_of(v)->name, span);
    if (f == stderr) fflush(f);
    return;
  }
  Value write = value_get_attr(v, str_intern("write"), span), arg = value_str_n(text, n);
  value_call_with(write, 1, &arg, span);
}

/* ---- methods ---- */

static Value text_read(const char *text, size_t n, BuiltinCall *c) {
  if (file_of(c->self)->binary) return value_bytes(text, n);
  if (utf8_valid_length(text, n) != n)
    raise("UnicodeDecodeError", c->span, "'%s' is not UTF-8 text: bad byte at offset %zu",
          file_of(c->self)->name, utf8_valid_length(text, n));
  return value_str_n(text, n);
}

static Value read_line(FILE *f, BuiltinCall *c) {
  char *line = NULL;
  size_t cap = 0;
  ssize_t n = getline(&line, &cap, f);
  const char *copy = n > 0 ? str_copy_n(line, (size_t)n) : "";
  free(line);
  return text_read(copy, n > 0 ? (size_t)n : 0, c);
}

static Value file_read(BuiltinCall *c) {
  FILE *f = handle(c->self, false, c->span);
  int64_t limit =
      value_is_none(c->args[0]) ? -1 : value_as_int(c->args[0], "the size", c->spans[0]);
  Str out = {0};
  int64_t chars = 0;
  for (int ch; (limit < 0 || chars < limit) && (ch = fgetc(f)) != EOF;) {
    str_add_char(&out, (char)ch);
    int next = fgetc(f); /* a character is whole when the next one begins */
    if (next == EOF || (next & 0xc0) != 0x80) chars++;
    if (next != EOF) ungetc(next, f);
  }
  if (ferror(f)) raise_os_error(file_of(c->self)->name, c->span);
  return text_read(str_text(&out), out.len, c);
}

static Value file_readline(BuiltinCall *c) { return read_line(handle(c->self, false, c->span), c); }

static Value file_readlines(BuiltinCall *c) {
  FILE *f = handle(c->self, false, c->span);
  ValueVec out = {0};
  for (Value line; value_str_object(line = read_line(f, c))->len;) vec_push(&out, line);
  return value_list(out);
}

static Value file_write_method(BuiltinCall *c) {
  bool binary = file_of(c->self)->binary;
  Value x = value_plain(c->args[0]);
  if (x.type != (binary ? &type_bytes : &type_str))
    raise("TypeError", c->spans[0], "what is written must be %s, not '%s'",
          binary ? "bytes" : "a str", value_type_text(x));
  StrObject *s = x.object;
  file_write(c->self, s->text, s->len, c->span);
  return value_int(binary ? (int64_t)s->len : str_length(s));
}

static Value file_writelines(BuiltinCall *c) {
  ValueVec lines = value_to_vec(c->args[0], c->span);
  for each (Value, v, &lines) {
    value_as_text(*v, "each line", c->spans[0]);
    file_write(c->self, value_text(value_plain(*v)), value_str_object(value_plain(*v))->len,
               c->span);
  }
  return value_none();
}

static void close_file(Value v, Span span) {
  FileObject *f = file_of(v);
  FILE *file = f->file;
  f->file = NULL;
  if (file && file != stdout && file != stderr && file != stdin && fclose(file) != 0)
    raise_os_error(f->name, span);
}

static Value file_close(BuiltinCall *c) {
  close_file(c->self, c->span);
  return value_none();
}

static Value file_flush(BuiltinCall *c) {
  if (fflush(handle(c->self, true, c->span)) != 0) raise_os_error(file_of(c->self)->name, c->span);
  return value_none();
}

static Value file_fileno(BuiltinCall *c) {
  return value_int(fileno(handle(c->self, file_of(c->self)->writes, c->span)));
}

static const Builtin methods[] = {
    {"read", "size=None, /", file_read, "the rest of the text, or so many characters"},
    {"readline", "", file_readline, "one line with its end; '' at the end"},
    {"readlines", "", file_readlines, "all lines"},
    {"write", "text, /", file_write_method, "writes text"},
    {"writelines", "lines, /", file_writelines, "writes several texts"},
    {"close", "", file_close, "closes the file"},
    {"flush", "", file_flush, "writes out what is buffered"},
    {"fileno", "", file_fileno, "its descriptor"},
};
enum { METHODS = sizeof methods / sizeof *methods };

static Value get_attr(Value v, const char *name, Span span) {
  (void)span;
  if (strcmp(name, "closed") == 0) return value_bool(!file_of(v)->file);
  if (strcmp(name, "name") == 0) return value_str(file_of(v)->name);
  if (strcmp(name, "mode") == 0) return value_str(file_of(v)->mode);
  return builtin_method(methods, METHODS, v, name);
}
static void attr_names(Value v, StrVec *out) {
  (void)v;
  builtin_names(methods, METHODS, out);
}

static void repr(Value v, Str *out) {
  str_printf(out, "<file '%s' mode='%s'>", file_of(v)->name, file_of(v)->mode);
}

static Value next_line(Value v, Span span) {
  BuiltinCall c = {.self = v, .span = span};
  Value line = read_line(handle(v, false, span), &c);
  return value_str_object(line)->len ? line : value_absent();
}

static Value enter(Value v, Span span) { return (void)span, v; }
static bool leave(Value v, Error *raised, Span span) {
  (void)raised;
  close_file(v, span);
  return false;
}

const ValueType type_file = {.name = "file",
                             .repr = repr,
                             .get_attr = get_attr,
                             .attr_names = attr_names,
                             .next = next_line,
                             .enter = enter,
                             .leave = leave};

static Value builtin_open(BuiltinCall *c) {
  Value name = c->args[0];
  if (name.type == &type_instance) {
    Value text = instance_special(name, INTERNED("__fspath__"), 0, NULL, c->span);
    if (text.type) name = text;
  }
  const char *path = value_as_text(name, "the path", c->spans[0]);
  const char *mode = value_as_text(c->args[1], "the mode", c->spans[1]);
  if (!*mode || !strchr("rwax", *mode) || strspn(mode + 1, "bt+") != strlen(mode + 1))
    raise("ValueError", c->spans[1],
          "invalid mode '%s': expected 'r', 'w', 'a' or 'x', with '+' for both ways", mode);
  bool both = strchr(mode, '+') != NULL;
  const char *c_mode = str_format("%s%s%se", *mode == 'x' ? "w" : str_format("%c", *mode),
                                  both ? "+" : "", *mode == 'x' ? "x" : "");
  errno = 0;
  FILE *file = fopen(path, c_mode);
  if (file && *mode == 'r') { /* reading a folder fails only later */
    int ch = fgetc(file);
    if (ch != EOF) ungetc(ch, file);
    else if (ferror(file)) {
      int why = errno;
      fclose(file);
      errno = why;
      file = NULL;
    }
  }
  if (!file) raise_os_error(path, c->span);
  Value v = value_file(file, path, *mode == 'r' || both, *mode != 'r' || both);
  file_of(v)->mode = mode;
  file_of(v)->binary = strchr(mode, 'b') != NULL;
  gc_finalizer(v.object, close_finalizer);
  return v;
}

static const Builtin rows[] = {
    {"open", "path, mode='r', encoding=None, newline=None", builtin_open,
     "a file of text, or of bytes with 'b': 'r' reads, 'w' writes, 'a' appends, 'x' makes a new "
     "one"},
};
const BuiltinTable file_builtins = {rows, 1};
