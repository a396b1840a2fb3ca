/* file.h -- text files as values. */
#ifndef LANG_BUILTIN_FILE_H
#define LANG_BUILTIN_FILE_H

#include "lang/value/object.h"
#include <stdio.h>

Value value_file(FILE *file, const char *name, bool reads, bool writes);
/* To a file, or to any object with a method `write`. */
void file_write(Value file, const char *text, size_t n, Span span);
/* Raises the exception for errno after an operation on `path`. */
_Noreturn void raise_os_error(const char *path, Span span);

#endif
