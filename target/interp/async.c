/* async.c -- T.ptx_cp_async and T.ptx_wgmma: copies, and products, that threads begin, put into
 * groups, and wait for.
 *
 * With a Checker the bytes come when the thread waits for their group; before that, what was in
 * their place counts as never written. Without one a copy is made at once. */
#include "target/interp/check.h"

/* A copy that was begun. */
struct AsyncCopy {
  int thread;
  int64_t group;   /* of the thread's; -1: not committed */
  bool is_product; /* what comes are sums of T.ptx_wgmma */
  Memory *memory;
  char *to;
  int nbytes;
  uint32_t site;
  char bytes[16];
};

typedef struct AsyncCode {
  Code code;
  const Code *to, *to_offset, *from, *from_offset, *predicate;
  int to_size, from_size; /* bytes that an offset counts */
  int nbytes;
  uint32_t site, source_site;
} AsyncCode;

/* Which of an element is not told: copies have no index. */
static const char *place_text(const void *context) {
  (void)context;
  return "...";
}

/* Bytes of known memory; NULL with a fault if they are not. */
static Memory *memory_of(const AsyncCode *n, const char *at, const char *what) {
  Memory *m = memory_find(at);
  if (m && at + n->nbytes <= m->end) return m;
  found_fault(E0605, n->code.span, (Span){0}, NULL, NULL,
              "an asynchronous copy by %s is out of bounds: its %s is outside of '%s'",
              thread_here(), what, site_at(what[0] == 's' ? n->source_site : n->site)->name);
  return NULL;
}

static void land(const AsyncCopy *c) {
  memcpy(c->to, c->bytes, (size_t)c->nbytes);
  memory_wrote(c->to, c->nbytes);
}

static Scalar eval_copy(const Code *code, Frame *f) {
  const AsyncCode *n = (const AsyncCode *)code;
  char *to = (char *)code_eval(n->to, f).p + code_eval(n->to_offset, f).i * n->to_size;
  const char *from =
      (char *)code_eval(n->from, f).p + code_eval(n->from_offset, f).i * n->from_size;
  bool reads = !n->predicate || code_eval(n->predicate, f).i;
  Memory *there = memory_of(n, to, "destination"),
         *here = reads ? memory_of(n, from, "source") : NULL;
  AsyncCopy c = {interp->thread - 1, -1, false, there, to, n->nbytes, n->site, {0}};
  Checker *checker = interp->checker;
  if (!there || (reads && !here)) return (Scalar){0};
  if (reads && here->shadow && memchr(here->shadow + (from - here->lo), 0, (size_t)n->nbytes))
    found_fault(E0604, code->span, (Span){0}, NULL, NULL,
                "an asynchronous copy by %s reads '%s' where it was never written", thread_here(),
                site_at(n->source_site)->name);
  if (reads) memcpy(c.bytes, from, (size_t)n->nbytes);
  if (interp->thread && reads)
    race_note(here, from, n->nbytes, false, n->source_site, place_text, n);
  if (interp->thread) race_note(there, to, n->nbytes, true, n->site, place_text, n);
  if (!checker) return land(&c), (Scalar){0};
  if (there->shadow) memset(there->shadow + (to - there->lo), 0, (size_t)n->nbytes);
  vec_push(&checker->copies, (AsyncCopy *)gc_copy(&c, sizeof c));
  return (Scalar){0};
}

/* ---- groups ---- */

typedef struct WaitCode {
  Code code;
  const Code *pending;
  bool of_products;
} WaitCode;

/* Groups of a thread, of copies or of products, are counted apart. */
static const void *counter_of(int thread, bool of_products) {
  return (const void *)(intptr_t)(2 * (thread + 1) + of_products);
}

/* How many a thread has committed: one more than the greatest number among its copies. */
static int64_t groups_of(const Checker *c, int thread, bool of_products) {
  return (intptr_t)map_get(&c->groups, counter_of(thread, of_products));
}

static Scalar eval_commit(const Code *code, Frame *f) {
  Checker *c = interp->checker;
  bool of_products = ((const WaitCode *)code)->of_products;
  int thread = interp->thread - 1;
  (void)f;
  if (!c) return (Scalar){0};
  int64_t group = groups_of(c, thread, of_products);
  for each (AsyncCopy *, x, &c->copies) {
    bool is_new = (*x)->thread == thread && (*x)->group < 0 && (*x)->is_product == of_products;
    if (is_new) (*x)->group = group;
  }
  if (of_products) product_commit(thread, group);
  map_set(&c->groups, counter_of(thread, of_products), (void *)(intptr_t)(group + 1));
  return (Scalar){0};
}

static Scalar eval_wait(const Code *code, Frame *f) {
  Checker *c = interp->checker;
  int thread = interp->thread - 1, kept = 0;
  if (!c) return (Scalar){0};
  const WaitCode *n = (const WaitCode *)code;
  int64_t over = groups_of(c, thread, n->of_products) - code_eval(n->pending, f).i;
  for (int i = 0; i < c->copies.len; i++) {
    AsyncCopy *x = c->copies.at[i];
    bool done =
        x->thread == thread && x->is_product == n->of_products && x->group >= 0 && x->group < over;
    if (!done) {
      c->copies.at[kept++] = x;
      continue;
    }
    if (!x->is_product) race_note(x->memory, x->to, x->nbytes, true, x->site, place_text, NULL);
    land(x);
  }
  c->copies.len = kept;
  if (n->of_products) product_wait(thread, over);
  return (Scalar){0};
}

/* ---- products ---- */

typedef struct RegistersCode {
  Code code;
  const Code *at, *offset;
  int size, count;                   /* bytes of a register; registers */
  enum { ENDS, BEGINS, TAKES } when; /* TAKES: registers that are read only */
  uint32_t site;
} RegistersCode;

/* A product may add to what the ones before it make, though no one waited for them. */
static void take_sums(Checker *c, const char *from, const char *end) {
  int kept = 0;
  for (int i = 0; i < c->copies.len; i++) {
    AsyncCopy *x = c->copies.at[i];
    bool is_here = x->is_product && x->to >= from && x->to < end;
    if (is_here) land(x);
    else c->copies.at[kept++] = x;
  }
  c->copies.len = kept;
}

static Scalar eval_registers(const Code *code, Frame *f) {
  const RegistersCode *n = (const RegistersCode *)code;
  Checker *c = interp->checker;
  char *from = (char *)code_eval(n->at, f).p + code_eval(n->offset, f).i * n->size;
  char *end = from + n->count * n->size;
  Memory *m = memory_find(from);
  if (!c || !m || end > m->end) return (Scalar){0}; /* its elements were checked one by one */
  if (n->when != ENDS) product_takes(m, from, end, n->site);
  if (n->when == TAKES) return (Scalar){0};
  if (n->when == BEGINS) return product_begin(n->site), take_sums(c, from, end), (Scalar){0};
  product_end();
  for (char *at = from; at < end; at += sizeof((AsyncCopy *)0)->bytes) {
    AsyncCopy x = {interp->thread - 1, -1, true, m, at, (int)sizeof x.bytes, n->site, {0}};
    if (end - at < x.nbytes) x.nbytes = (int)(end - at);
    memcpy(x.bytes, at, (size_t)x.nbytes);
    if (m->shadow) memset(m->shadow + (at - m->lo), 0, (size_t)x.nbytes);
    vec_push(&c->copies, (AsyncCopy *)gc_copy(&x, sizeof x));
  }
  return (Scalar){0};
}

const char *async_pending(const char *at) {
  if (!interp->checker) return NULL;
  for each (AsyncCopy *, x, &interp->checker->copies)
    if (at >= (*x)->to && at < (*x)->to + (*x)->nbytes)
      return (*x)->is_product ? "product" : "copy";
  return NULL;
}

/* ---- compiling ---- */

/* The bytes of an element that an offset to the pointer counts, and the name of its memory. */
static int element_of(Node *pointer, DataType otherwise, const char **name) {
  DataType t = otherwise;
  Node *data = pointer;
  if (is_intrin_call(pointer, "tvm_access_ptr")) {
    data = AS(Call, pointer)->args.at[1];
    t = AS(Call, pointer)->args.at[0]->dtype;
  } else if (is_intrin_call(pointer, "address_of") &&
             IS(BufferLoad, AS(Call, pointer)->args.at[0])) {
    Buffer *b = AS(Buffer, AS(BufferLoad, AS(Call, pointer)->args.at[0])->buffer);
    data = b->data;
    t = b->elem;
  }
  *name = IS(Var, data) && AS(Var, data)->name ? AS(Var, data)->name : "_";
  if (IS(Var, data) && !dtype_is_void(AS(Var, data)->elem)) t = AS(Var, data)->elem;
  return scalar_nbytes(t) * t.lanes;
}

const Code *compile_async(Compiler *c, Call *n) {
  AsyncCode *code = NEW(AsyncCode, .code = {eval_copy, NULL, n->node.dtype, c->span});
  const char *to, *from;
  int64_t nbytes = 0;
  bool known =
      n->args.len >= 5 && expr_is_const_int(n->args.at[4], &nbytes) && nbytes > 0 && nbytes <= 16;
  if (!known) unsupported(c->span, "T.ptx_cp_async but of 4, 8 or 16 bytes");
  c->meetings++;
  code->nbytes = (int)nbytes;
  code->to_size = element_of(n->args.at[0], n->node.dtype, &to);
  code->from_size = element_of(n->args.at[2], n->node.dtype, &from);
  code->to = compile_expr(c, n->args.at[0]);
  code->to_offset = compile_int(c, n->args.at[1]);
  code->from = compile_expr(c, n->args.at[2]);
  code->from_offset = compile_int(c, n->args.at[3]);
  if (n->args.len > 5) code->predicate = compile_condition(c, n->args.at[5]);
  code->site = site_new((Site){c->span, "asynchronous store", to, false, true});
  code->source_site = site_new((Site){c->span, "asynchronous load", from, false, false});
  return &code->code;
}

static bool is_of_products(Call *n) { return str_begins(intrin_of(n->op)->name, "ptx_wgmma"); }

const Code *compile_commit(Compiler *c, Call *n) {
  return &NEW(WaitCode, .code = {eval_commit, NULL, n->node.dtype, c->span},
              .of_products = is_of_products(n))
              ->code;
}

const Code *compile_wait(Compiler *c, Call *n) {
  return &NEW(WaitCode, .code = {eval_wait, NULL, n->node.dtype, c->span},
              .pending = compile_int(c, n->args.at[0]), .of_products = is_of_products(n))
              ->code;
}

const Code *compile_registers(Compiler *c, Call *n) {
  RegistersCode *code = NEW(RegistersCode, .code = {eval_registers, NULL, n->node.dtype, c->span});
  int64_t count = 0, when = 0;
  const char *name;
  expr_is_const_int(n->args.at[2], &count);
  expr_is_const_int(n->args.at[3], &when);
  code->size = element_of(n->args.at[0], n->node.dtype, &name);
  code->at = compile_expr(c, n->args.at[0]);
  code->offset = compile_int(c, n->args.at[1]);
  code->count = (int)count;
  code->when = (int)when;
  code->site = site_new((Site){c->span, "product", name, false, true});
  return &code->code;
}
