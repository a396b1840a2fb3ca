/* params.h -- constants of a lowered module that are to lie in a .safetensors file.
 *
 * Such a constant is an AllocateConst annotated with "tvms.param", its name in the file. */
#ifndef TARGET_PARAMS_H
#define TARGET_PARAMS_H

#include "ir/ir.h"

typedef struct Param {
  const char *name; /* interned */
  const ConstData *data;
} Param;
typedef VEC(Param) ParamVec;

/* The module with all constants of its host functions so annotated, `file` as the name of the file;
 * equal data has one name. Raises for a dtype that the file can't hold. */
Node *params_mark(Node *lowered, const char *file);
ParamVec params_of(Node *lowered);        /* in order of first use */
const char *params_file(Node *lowered);   /* NULL: it has none */
const char *param_name(AllocateConst *n); /* NULL: it is no parameter */
const char *param_dtype(DataType t);      /* "F32"; NULL if the file can't hold it */
/* The whole file. */
const char *params_text(const ParamVec *params, size_t *n);

#endif
