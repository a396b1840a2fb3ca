/* async.c -- T.ptx_cp_async: copies that threads begin, put into groups, and wait for.
 *
 * With a Checker the bytes come when the thread waits for their group; before that, what was in
 * their place counts as never written. Without one a copy is made at once. */
#include "target/interp/check.h"

/* A copy that was begun. */
struct AsyncCopy {
  int thread;
  int64_t group; /* of the thread's; -1: not committed */
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
  AsyncCopy c = {interp->thread - 1, -1, there, to, n->nbytes, n->site, {0}};
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

/* How many a thread has committed: one more than the greatest number among its copies. */
static int64_t groups_of(const Checker *c, int thread) {
  void *n = map_get(&c->groups, (const void *)(intptr_t)(thread + 1));
  return (intptr_t)n;
}

static Scalar eval_commit(const Code *code, Frame *f) {
  Checker *c = interp->checker;
  int thread = interp->thread - 1;
  (void)code, (void)f;
  if (!c) return (Scalar){0};
  int64_t group = groups_of(c, thread);
  for each (AsyncCopy *, x, &c->copies)
    if ((*x)->thread == thread && (*x)->group < 0) (*x)->group = group;
  map_set(&c->groups, (const void *)(intptr_t)(thread + 1), (void *)(intptr_t)(group + 1));
  return (Scalar){0};
}

typedef struct WaitCode {
  Code code;
  const Code *pending;
} WaitCode;

static Scalar eval_wait(const Code *code, Frame *f) {
  Checker *c = interp->checker;
  int thread = interp->thread - 1, kept = 0;
  if (!c) return (Scalar){0};
  int64_t over = groups_of(c, thread) - code_eval(((const WaitCode *)code)->pending, f).i;
  for (int i = 0; i < c->copies.len; i++) {
    AsyncCopy *x = c->copies.at[i];
    bool done = x->thread == thread && x->group >= 0 && x->group < over;
    if (!done) {
      c->copies.at[kept++] = x;
      continue;
    }
    race_note(x->memory, x->to, x->nbytes, true, x->site, place_text, NULL);
    land(x);
  }
  c->copies.len = kept;
  return (Scalar){0};
}

bool async_is_pending(const char *at) {
  if (!interp->checker) return false;
  for each (AsyncCopy *, x, &interp->checker->copies)
    if (at >= (*x)->to && at < (*x)->to + (*x)->nbytes) return true;
  return false;
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

const Code *compile_commit(Compiler *c, Call *n) {
  return NEW(Code, eval_commit, NULL, n->node.dtype, c->span);
}

const Code *compile_wait(Compiler *c, Call *n) {
  return &NEW(WaitCode, .code = {eval_wait, NULL, n->node.dtype, c->span},
              .pending = compile_int(c, n->args.at[0]))
              ->code;
}
