/* atomic.c -- see atomic.h. */
#include "target/atomic.h"

static const struct {
  const char *name;
  AtomicOp op;
} rows[] = {
    {"cuda.atomic_add", ATOMIC_ADD}, {"cuda.atomic_cas", ATOMIC_CAS}, {"atomicAdd", ATOMIC_ADD},
    {"atomicSub", ATOMIC_SUB},       {"atomicExch", ATOMIC_EXCHANGE}, {"atomicAnd", ATOMIC_AND},
    {"atomicOr", ATOMIC_OR},         {"atomicXor", ATOMIC_XOR},       {"atomicMax", ATOMIC_MAX},
    {"atomicMin", ATOMIC_MIN},       {"atomicCAS", ATOMIC_CAS}};

/* The name of a builtin of a family, or of a C function that is called; *first: its arguments. */
static const char *callee(const Call *n, int *first) {
  const Node *call = &n->node;
  *first = 0;
  if (family_name(n->op)) return family_name(n->op);
  bool is_extern = is_intrin_call(call, "call_extern") || is_intrin_call(call, "call_pure_extern");
  if (!is_extern || !n->args.len || !IS(StringImm, n->args.at[0])) return NULL;
  *first = 1;
  return AS(StringImm, n->args.at[0])->value;
}

bool atomic_of(const Call *n, Atomic *out) {
  int first;
  const char *name = callee(n, &first);
  for (size_t i = 0; name && i < sizeof rows / sizeof *rows; i++) {
    if (!str_same(rows[i].name, name)) continue;
    int want = rows[i].op == ATOMIC_CAS ? 3 : 2, given = n->args.len - first;
    if (given < want)
      error_raisef("CompileError", n->node.span, "%s takes %d arguments, %d given", name, want,
                   given);
    *out = (Atomic){rows[i].op, name, n->args.at[first], n->args.at[first + 1],
                    want == 3 ? n->args.at[first + 2] : NULL};
    return true;
  }
  return false;
}

void atomic_check(const Call *n, const Atomic *a) {
  DataType t = a->value->dtype;
  bool counts = dtype_is_int(t) || t.code == DTYPE_FLOAT;
  if (t.lanes != 1 || !counts || (t.bits != 32 && t.bits != 64))
    error_raisef("CompileError", n->node.span, "%s works on 32 or 64 bits, not on %s", a->name,
                 dtype_text(t));
}

void atomic_raise_other(const Call *n) {
  Node *first = n->args.len ? n->args.at[0] : NULL;
  error_raisef("CompileError", n->node.span,
               "device code can't call '%s': it can call atomicAdd, atomicSub, atomicExch, "
               "atomicAnd, atomicOr, atomicXor, atomicMax, atomicMin and atomicCAS",
               IS(StringImm, first) ? AS(StringImm, first)->value : "");
}
