/* family.c -- builtins of the open namespaces (family.def): which names are in one, and the dtype
 * of a call's result. */
#include "ir/ir_impl.h"

static const char *const roots[] = {
#define FAMILY(root, doc) #root,
#include "ir/family.def"
};

static const struct {
  const char *prefix;
  int rule;
} members[] = {
#define MEMBER(prefix, rule) {prefix, RULE_##rule},
#include "ir/family.def"
};

/* Is `name` the prefix, or below it? */
static bool is_below(const char *name, const char *prefix) {
  size_t n = strlen(prefix);
  return !n || (strncmp(name, prefix, n) == 0 && (!name[n] || name[n] == '.'));
}

bool family_has(const char *name) {
  for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
    if (is_below(name, roots[i])) return true;
  return false;
}

/* A type modifier of an instruction: "u32", "bf16x2", "pred". */
static bool modifier_type(const char *text, DataType *t) {
  if (str_same(text, "pred")) return *t = BOOL, true;
  if (*text == 'b' && text[1] >= '1' && text[1] <= '9') text = str_format("uint%s", text + 1);
  else if (*text == 's' && text[1] >= '1' && text[1] <= '9') text = str_format("int%s", text + 1);
  bool known = *text && dtype_parse(text, t) && t->lanes > 0;
  if (known && t->lanes > 1 && t->bits < 32) /* packed into a register */
    *t = DTYPE_OF(UINT, (uint8_t)(t->bits * t->lanes));
  return known && t->bits <= 64;
}

static DataType last_type(const char *name) {
  DataType t;
  for (const char *end = name + strlen(name); end > name;) {
    const char *start = end;
    while (start > name && start[-1] != '.') start--;
    if (modifier_type(str_intern_n(start, (size_t)(end - start)), &t)) return t;
    end = start > name ? start - 1 : name;
  }
  return INT32;
}

DataType family_dtype(const char *name, NodeVec args) {
  int rule = RULE_INT32;
  size_t best = 0;
  for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
    size_t n = strlen(members[i].prefix);
    if (n >= best && is_below(name, members[i].prefix)) best = n, rule = members[i].rule;
  }
  return rule == RULE_TYPE ? last_type(name) : intrin_result(rule, args);
}

const char *family_name(const Node *op) {
  if (!IS(Op, op)) return NULL;
  const char *name = ((const Op *)(const void *)op)->name;
  return strncmp(name, "tir.", 4) == 0 && family_has(name + 4) ? name + 4 : NULL;
}
