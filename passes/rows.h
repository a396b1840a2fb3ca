/* rows.h -- expands a table of passes into `static const Pass rows[]` with its prototypes and
 * options. Define PASS_FILE as the table to include, then include this file, once in a .c file. */
#include "passes/passes.h"

#define PASS(Name, function, level, doc) Node *pass_##function(Node *n, const PassContext *context);
#define LIBRARY_PASS(Name, file, level, doc)
#define OPT(type, name, otherwise, doc)
#define END
#include PASS_FILE

#define PASS(Name, function, level, doc)     static const PassOption Name##_options[] = {
#define LIBRARY_PASS(Name, file, level, doc) PASS(Name, file, level, doc)
#define OPT(type, name, otherwise, doc)      {OPTION_##type, #name, otherwise, doc},
#define END                                                                                        \
  { OPTION_INT, NULL, NULL, NULL }                                                                 \
  }                                                                                                \
  ;
#include PASS_FILE

#define ROW(Name, level, doc, run, file)                                                           \
  {#Name,                                                                                          \
   PASS_##level,                                                                                   \
   doc,                                                                                            \
   run,                                                                                            \
   Name##_options,                                                                                 \
   (int)(sizeof Name##_options / sizeof *Name##_options) - 1,                                      \
   NULL,                                                                                           \
   file},
static const Pass rows[] = {
#define PASS(Name, function, level, doc)     ROW(Name, level, doc, pass_##function, NULL)
#define LIBRARY_PASS(Name, file, level, doc) ROW(Name, level, doc, pass_of_library, #file)
#define OPT(type, name, otherwise, doc)
#define END
#include PASS_FILE
};
#undef ROW
enum { ROWS = sizeof rows / sizeof *rows };
