/* rows.h -- expands a table of passes into `static const Pass rows[]` with its prototypes and
 * options. Define PASS_FILE as the table to include, then include this file, once in a .c file. */
#include "passes/passes.h"

#define PASS(Name, function, level, doc) Node *pass_##function(Node *n, const PassContext *context);
#define OPT(type, name, otherwise, doc)
#define END
#include PASS_FILE

#define PASS(Name, function, level, doc) static const PassOption Name##_options[] = {
#define OPT(type, name, otherwise, doc)  {OPTION_##type, #name, otherwise, doc},
#define END                                                                                        \
  { OPTION_INT, NULL, NULL, NULL }                                                                 \
  }                                                                                                \
  ;
#include PASS_FILE

static const Pass rows[] = {
#define PASS(Name, function, level, doc)                                                           \
  {#Name,                                                                                          \
   PASS_##level,                                                                                   \
   doc,                                                                                            \
   pass_##function,                                                                                \
   Name##_options,                                                                                 \
   (int)(sizeof Name##_options / sizeof *Name##_options) - 1,                                      \
   NULL},
#define OPT(type, name, otherwise, doc)
#define END
#include PASS_FILE
};
enum { ROWS = sizeof rows / sizeof *rows };
