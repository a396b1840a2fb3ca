/* product.c -- the order of T.ptx_wgmma with what is around it, where kernels are checked.
 *
 * Tensor cores read registers and shared memory while the threads go on. Registers that a thread
 * changed are there only behind T.ptx_wgmma_fence; shared memory may change only when the product
 * was waited for. When sums may be read, async.c knows. */
#include "target/interp/check.h"

struct Product {
  int thread;
  int64_t group; /* of the thread's; -1: not committed */
  bool is_done;
  uint32_t site;
};

enum { PIECE = 16, WORD = 4 }; /* bytes of shared memory that have one reader; of a register */

/* ---- registers ---- */

/* Only memory that the kernel made may be registers. */
void product_changed(Memory *m, const char *at, int nbytes) {
  const Checker *c = interp->checker;
  if (c->running || !m->block) return; /* the product does it itself */
  if (!m->changed) m->changed = NEW_ARRAY(uint32_t, (size_t)(m->hi - m->lo) / WORD + 1);
  for (int64_t i = (at - m->lo) / WORD; i <= (at + nbytes - 1 - m->lo) / WORD; i++)
    m->changed[i] = c->fence + 1;
}

void product_takes(const Memory *m, const char *from, const char *end, uint32_t site) {
  const Checker *c = interp->checker;
  const Site *s = site_at(site);
  uint32_t fence = (uint32_t)(uintptr_t)map_get(&c->fences, (void *)(intptr_t)interp->thread);
  bool changed = false;
  for (const char *at = from; m->changed && at < end; at += WORD)
    changed |= m->changed[(at - m->lo) / WORD] > fence;
  if (changed)
    found_fault(E0607, s->span, (Span){0}, NULL, "put T.ptx_wgmma_fence() before it",
                "a product by %s takes '%s', which the thread changed after the last fence",
                thread_here(), s->name);
}

static Scalar eval_fence(const Code *code, Frame *f) {
  Checker *c = interp->checker;
  (void)code, (void)f;
  if (c) map_set(&c->fences, (void *)(intptr_t)interp->thread, (void *)(uintptr_t)++c->fence);
  return (Scalar){0};
}

const Code *compile_fence(Compiler *c, Call *n) {
  return NEW(Code, eval_fence, NULL, n->node.dtype, c->span);
}

/* ---- shared memory ---- */

void product_begin(uint32_t site) {
  interp->checker->running = NEW(Product, interp->thread - 1, -1, false, site);
}

void product_end(void) {
  Checker *c = interp->checker;
  if (c->running) vec_push(&c->products, c->running);
  c->running = NULL;
}

void product_reads(Memory *m, const char *at, int nbytes) {
  if (!m->products) {
    size_t pieces = (size_t)(m->hi - m->lo) / PIECE + 1;
    m->products = NEW_ARRAY(Product *, pieces);
  }
  for (int64_t i = (at - m->lo) / PIECE; i <= (at + nbytes - 1 - m->lo) / PIECE; i++)
    m->products[i] = interp->checker->running;
}

void product_overwritten(const Memory *m, const char *at, int nbytes, uint32_t site) {
  for (int64_t i = (at - m->lo) / PIECE; i <= (at + nbytes - 1 - m->lo) / PIECE; i++) {
    const Product *p = m->products[i];
    if (!p || p->is_done) continue;
    const Site *is = site_at(site), *was = site_at(p->site);
    found_fault(E0607, is->span, was->span,
                str_format("the product of %s", thread_text(interp->checker->block, p->thread)),
                p->group < 0 ? "put T.ptx_wgmma_commit_group() behind the product, and "
                               "T.ptx_wgmma_wait_group(0) and a barrier before this"
                             : "put T.ptx_wgmma_wait_group(0) and a barrier before it",
                "the %s of '%s' by %s changes what a product reads that was not waited for",
                is->doing, is->name, thread_here());
    return;
  }
}

/* ---- groups ---- */

void product_commit(int thread, int64_t group) {
  for each (Product *, p, &interp->checker->products)
    if ((*p)->thread == thread && (*p)->group < 0) (*p)->group = group;
}

void product_wait(int thread, int64_t over) {
  Checker *c = interp->checker;
  int kept = 0;
  for (int i = 0; i < c->products.len; i++) {
    Product *p = c->products.at[i];
    p->is_done = p->thread == thread && p->group >= 0 && p->group < over;
    if (!p->is_done) c->products.at[kept++] = p;
  }
  c->products.len = kept;
}
