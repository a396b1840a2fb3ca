/* atomic.c -- T.cuda.atomic_add and T.cuda.atomic_cas: what was in memory before. Threads run one
 * after the other, so nothing comes between. */
#include "target/interp/check.h"
#include <inttypes.h>

typedef struct AtomicCode {
  Code code;
  const Code *at, *value, *swapped; /* swapped: of a cas, else NULL */
  BinaryOp *add;
  const char *name;
  int nbytes;
  uint32_t site;
} AtomicCode;

bool is_atomic(const char *name) {
  return str_same(name, "cuda.atomic_add") || str_same(name, "cuda.atomic_cas");
}

typedef struct Element {
  const char *at;
  const Memory *memory;
  const AtomicCode *code;
} Element;

static const char *index_text(const void *context) {
  const Element *e = context;
  return str_format("%" PRId64, (int64_t)(e->at - e->memory->lo) / e->code->nbytes);
}

static Scalar eval_atomic(const Code *c, Frame *f) {
  const AtomicCode *n = (const AtomicCode *)c;
  char *at = code_eval(n->at, f).p;
  Scalar value = code_eval(n->value, f), swapped = {0};
  if (n->swapped) swapped = code_eval(n->swapped, f);
  Memory *m = memory_find(at);
  if (!m || at + n->nbytes > m->end || (uintptr_t)at % (uintptr_t)n->nbytes)
    fault(c->span, "T.%s at an address that is outside of all buffers, or of no element", n->name);
  if (interp->thread) race_note(m, at, n->nbytes, true, n->site, index_text, &(Element){at, m, n});
  if (m->shadow && memchr(m->shadow + (at - m->lo), 0, (size_t)n->nbytes))
    found_fault(E0604, c->span, (Span){0}, NULL, NULL, "T.%s by %s reads what was never written",
                n->name, thread_here());
  Scalar old = scalar_load(c->t)(at);
  bool same = memcmp(&old, &value, sizeof old) == 0;
  if (n->add) scalar_store(c->t)(at, n->add(c, old, value));
  else if (same) scalar_store(c->t)(at, swapped);
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

const Code *compile_atomic(Compiler *c, Call *n, const char *name) {
  bool swaps = str_same(name, "cuda.atomic_cas");
  int count = 2 + swaps;
  if (n->args.len < count)
    fault(c->span, "T.%s takes %d arguments, %d given", name, count, n->args.len);
  DataType t = n->args.at[1]->dtype;
  if (t.lanes != 1 || dtype_is_handle(t)) unsupported(c->span, "an atomic on vectors");
  AtomicCode *code = NEW(AtomicCode, .code = {eval_atomic, NULL, t, c->span}, .name = name,
                         .nbytes = scalar_nbytes(t));
  code->at = compile_expr(c, n->args.at[0]);
  code->site = site_new((Site){c->span, "atomic access", name_of(n->args.at[0]), true, false});
  code->value = compile_as(c, n->args.at[1], t);
  if (swaps) code->swapped = compile_as(c, n->args.at[2], t);
  else code->add = arith_op(NK_Add, t);
  return &code->code;
}
