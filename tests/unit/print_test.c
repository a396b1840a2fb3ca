/* print_test.c -- prints modules, reads them back, compares. */
#include "tests/unit/print_test.h"
#include "lang/tool/tool.h"
#include <stdlib.h>

uint64_t print_seed;

static uint64_t random_bits(void) {
  print_seed = print_seed * 6364136223846793005u + 1442695040888963407u;
  return print_seed ^ print_seed >> 29;
}
int below(int n) { return (int)(random_bits() % (uint64_t)n); }
bool one_in(int n) { return below(n) == 0; }

const char *random_name(void) {
  static const char *const names[] = {"i",      "i",   "x",   "A",     "A",      "n",   "for",
                                      "T",      "R",   "cls", "float", "range",  "x y", "0",
                                      "",       "_",   "a.b", "min",   "v",      "i_1", "Module",
                                      "lambda", "b-c", "len", "True",  "A_data", "def"};
  return names[below(sizeof names / sizeof *names)];
}

/* The module that the text defines; NULL, with diagnostics, if it doesn't. */
static Node *reread(const char *text) {
  Session *s = session_definitions(source_add("<printed>", text, strlen(text)), NULL);
  NamedModuleVec modules = session_modules(s);
  return diag_error_count() || modules.len != 1 ? NULL : modules.at[0].module;
}

static bool survives(Node *m, const PrintOptions *style) {
  const char *text = ir_print(m, style), *why = NULL;
  Node *again = reread(text);
  bool good = again && node_equal(m, again, false, &why);
  if (!again) diag_flush(stdout, DIAG_PLAIN);
  else if (!good) printf("  differs at %s\n", why);
  if (good && node_hash(m) != node_hash(again)) good = false, puts("  hashes differ");
  if (good && !str_same(text, ir_print(again, style)))
    good = false, puts("  prints differently again");
  if (!good) printf("%s\n", text);
  return good;
}

static bool survives_both(Node *m) {
  if (!ir_verify(m)) {
    printf("  ill-formed\n%s\n", ir_print(m, NULL));
    diag_flush(stdout, DIAG_PLAIN);
    return false;
  }
  return survives(m, &(PrintOptions){.constants = CONSTANTS_INLINE}) &&
         survives(m, &(PrintOptions){.constants = CONSTANTS_INLINE, .tvm_style = true});
}

bool print_survives_all(Node *(*make)(void), long runs) {
  const char *given = getenv("PRINT_RUNS"), *start = getenv("PRINT_SEED");
  uint64_t first = start ? strtoull(start, NULL, 10) : 1;
  if (given) runs = atol(given);
  int faults = 0;
  lang_start(0, NULL);
  for (long i = 0; i < runs && faults < 3; i++) {
    print_seed = (first + (uint64_t)i) * 0x9e3779b97f4a7c15u;
    if (survives_both(make())) continue;
    printf("  PRINT_SEED=%llu PRINT_RUNS=1\n", (unsigned long long)(first + (uint64_t)i));
    faults++;
  }
  return !faults;
}
