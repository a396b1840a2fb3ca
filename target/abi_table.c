/* abi_table.c -- the table of the runtime's functions, made from abi.def. */
#include "target/abi_table.h"
#include "target/runtime/abi.h"

const RuntimeFunction runtime_functions[] = {
#define ABI(ret, name, args, doc) {#name, #ret, #args, (void (*)(void))name},
#include "target/runtime/abi.def"
};
const int runtime_function_count = sizeof runtime_functions / sizeof *runtime_functions;

const RuntimeFunction *runtime_function_find(const char *name) {
  for (int i = 0; i < runtime_function_count; i++)
    if (str_same(runtime_functions[i].name, name)) return &runtime_functions[i];
  return NULL;
}

/* Of the word that `text` starts with; void for "v" and C's "void". */
static DataType type_of_word(const char *text) {
  static const struct {
    const char *word;
    DataType t;
  } words[] = {{"i32", DTYPE_OF(INT, 32)},
               {"i64", DTYPE_OF(INT, 64)},
               {"f64", DTYPE_OF(FLOAT, 64)},
               {"p", DTYPE_OF(HANDLE, 64)}};
  size_t n = strcspn(text, " ,)");
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strlen(words[i].word) == n && strncmp(words[i].word, text, n) == 0) return words[i].t;
  return VOID_TYPE;
}

DataType runtime_function_result(const RuntimeFunction *f) { return type_of_word(f->ret); }

int runtime_function_params(const RuntimeFunction *f, DataType *out) {
  int n = 0;
  for (const char *text = f->params + 1; text; text = strchr(text, ',')) {
    text += strspn(text, ", ");
    DataType t = type_of_word(text);
    if (!dtype_is_void(t)) out[n++] = t;
  }
  return n;
}
