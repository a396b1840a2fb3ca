/* atomic.c -- atomic operations (target/atomic.h): what was in memory before. Threads run one after
 * the other, so nothing comes between. */
#include "target/atomic.h"
#include "target/interp/check.h"
#include <inttypes.h>

typedef struct AtomicCode {
  Code code;
  const Code *at, *value, *swapped; /* swapped: of a CAS, else NULL */
  AtomicOp op;
  BinaryOp *combine; /* or NULL */
  const char *name;
  int nbytes;
  uint32_t site;
} AtomicCode;

typedef struct Element {
  const char *at;
  const Memory *memory;
  const AtomicCode *code;
} Element;

static const char *index_text(const void *context) {
  const Element *e = context;
  return str_format("%" PRId64, (int64_t)(e->at - e->memory->lo) / e->code->nbytes);
}

static Scalar stored(const AtomicCode *n, Scalar old, Scalar value, Scalar swapped) {
  bool is_float = dtype_is_float(n->code.t);
  bool less = is_float ? scalar_to_double(n->code.t, value) < scalar_to_double(n->code.t, old)
              : n->code.t.code == DTYPE_UINT ? (uint64_t)value.i < (uint64_t)old.i
                                             : value.i < old.i;
  switch (n->op) {
  case ATOMIC_AND: return scalar_int(old.i & value.i);
  case ATOMIC_OR: return scalar_int(old.i | value.i);
  case ATOMIC_XOR: return scalar_int(old.i ^ value.i);
  case ATOMIC_MAX: return less ? old : value;
  case ATOMIC_MIN: return less ? value : old;
  case ATOMIC_EXCHANGE: return value;
  case ATOMIC_CAS: return swapped;
  default: return n->combine(&n->code, old, value);
  }
}

static Scalar eval_atomic(const Code *c, Frame *f) {
  const AtomicCode *n = (const AtomicCode *)c;
  char *at = code_eval(n->at, f).p;
  Scalar value = code_eval(n->value, f), swapped = {0};
  if (n->swapped) swapped = code_eval(n->swapped, f);
  Memory *m = memory_find(at);
  if (!m || at + n->nbytes > m->end || (uintptr_t)at % (uintptr_t)n->nbytes)
    fault(c->span, "%s at an address that is outside of all buffers, or of no element", n->name);
  if (interp->thread) race_note(m, at, n->nbytes, true, n->site, index_text, &(Element){at, m, n});
  if (m->shadow && memchr(m->shadow + (at - m->lo), 0, (size_t)n->nbytes))
    found_fault(E0604, c->span, (Span){0}, NULL, NULL, "%s by %s reads what was never written",
                n->name, thread_here());
  Scalar old = scalar_load(c->t)(at);
  bool same = memcmp(&old, &value, sizeof old) == 0;
  if (n->op != ATOMIC_CAS || same) scalar_store(c->t)(at, stored(n, old, value, swapped));
  return old;
}

/* Of the buffer that a pointer is of. */
static const char *name_of(Node *pointer) {
  Node *of =
      IS(Call, pointer) && AS(Call, pointer)->args.len ? AS(Call, pointer)->args.at[0] : NULL;
  if (is_intrin_call(pointer, "address_of") && IS(BufferLoad, of))
    return AS(Buffer, AS(BufferLoad, of)->buffer)->name;
  if (is_intrin_call(pointer, "tvm_access_ptr")) of = AS(Call, pointer)->args.at[1];
  return IS(Var, of) ? AS(Var, of)->name : "_";
}

const Code *compile_atomic(Compiler *c, Call *n) {
  Atomic a;
  if (!atomic_of(n, &a)) return NULL;
  DataType t = a.value->dtype;
  if (t.lanes != 1 || dtype_is_handle(t)) unsupported(c->span, "an atomic on vectors");
  AtomicCode *code = NEW(AtomicCode, .code = {eval_atomic, NULL, t, c->span}, .op = a.op,
                         .name = a.name, .nbytes = scalar_nbytes(t));
  code->at = compile_expr(c, a.pointer);
  code->site = site_new((Site){c->span, "atomic access", name_of(a.pointer), true, false});
  code->value = compile_as(c, a.value, t);
  if (a.swapped) code->swapped = compile_as(c, a.swapped, t);
  if (a.op == ATOMIC_ADD || a.op == ATOMIC_SUB)
    code->combine = arith_op(a.op == ATOMIC_ADD ? NK_Add : NK_Sub, t);
  return code_cast(&code->code, n->node.dtype);
}
