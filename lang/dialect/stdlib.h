/* stdlib.h -- the standard library's files, embedded in the program, and the index of their names.
 */
#ifndef LANG_DIALECT_STDLIB_H
#define LANG_DIALECT_STDLIB_H

typedef struct StdlibFile {
  const char *path, *text, *end; /* `end` is one past the NUL that ends the text */
} StdlibFile;
typedef struct StdlibName {
  const char *name; /* as given to its decorator: "relax.nn.conv2d" */
  int file;
} StdlibName;

extern const StdlibFile stdlib_files[];
extern const int stdlib_file_count;
extern const StdlibName stdlib_names[];
extern const int stdlib_name_count;

#endif
