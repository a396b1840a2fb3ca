/* op.c -- operator nodes, one for each name; the table of scalar builtins; the registry of graph
 * operators. */
#include "ir/ir.h"

static Map ops;   /* interned name to its Op node */
static Map infos; /* interned name to its OpInfo */

bool (*op_load_hook)(const char *name);

Node *op_get(const char *name) {
  name = str_intern(name);
  Node *op = map_get(&ops, name);
  if (!op) map_set(&ops, name, op = MAKE(Op, (Span){0}, VOID_TYPE, .name = name));
  return op;
}

static Intrin intrins[] = {
#define INTRIN(name, params, takes, rule, effect, doc)                                             \
  {#name, params, 0, TAKES_##takes, RULE_##rule, EFFECT_##effect, doc},
#include "ir/intrin.def"
};
enum { INTRINS = sizeof intrins / sizeof *intrins };

/* How many arguments the parameters take; -1: that is not fixed. */
static int count_params(const char *params) {
  if (strpbrk(params, "*=")) return -1;
  int n = *params != '\0';
  for (; *params; params++) n += *params == ',';
  return n;
}

const Intrin *intrin_find(const char *name) {
  static Map by_name;
  for (int i = 0; i < INTRINS && by_name.live < INTRINS; i++) {
    intrins[i].args = count_params(intrins[i].params);
    map_set(&by_name, str_intern(intrins[i].name), &intrins[i]);
  }
  return map_get(&by_name, str_intern(name));
}

/* Asked for every call of a program: known operators are found by pointer. */
const Intrin *intrin_of(const Node *op) {
  static Map by_op;
  if (!IS(Op, op)) return NULL;
  if (map_has(&by_op, op)) return map_get(&by_op, op);
  const char *name = AS(Op, op)->name;
  const Intrin *in = strncmp(name, "tir.", 4) == 0 ? intrin_find(name + 4) : NULL;
  if (map_get(&ops, name) == op) map_set(&by_op, op, (void *)(uintptr_t)in);
  return in;
}

bool is_intrin_call(const Node *n, const char *name) {
  if (!IS(Call, n)) return false;
  const Intrin *in = intrin_of(AS(Call, n)->op);
  return in && str_same(in->name, name);
}

/* `name` is interned. */
static const OpInfo *find_info(const char *name) {
  OpInfo *info = map_get(&infos, name);
  if (info || !op_load_hook || !op_load_hook(name)) return info;
  return map_get(&infos, name);
}

const OpInfo *op_info(const char *name) { return find_info(str_intern(name)); }
const OpInfo *op_info_of(const Node *op) { return find_info(AS(Op, op)->name); }

void op_register(OpInfo *info) { map_set(&infos, str_intern(info->name), info); }
