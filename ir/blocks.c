/* blocks.c -- blocks of bindings in normal form: none is empty, no two plain ones side by side. */
#include "ir/ir.h"

/* Plain blocks that stand side by side, first to last. */
static Node *joined(Node **first, Node **last) {
  NodeVec all = {0};
  Span span = {0};
  for (Node **b = first; b <= last; b++) {
    span = span_join(span, (*b)->span);
    for each (Node *, x, &AS(BindingBlock, *b)->bindings) vec_push(&all, *x);
  }
  return MAKE(BindingBlock, span, VOID_TYPE, .bindings = all);
}

static bool is_plain(Node *n) { return !AS(BindingBlock, n)->is_dataflow; }

NodeVec blocks_normal(NodeVec blocks) {
  NodeVec full = {0}, out = {0};
  for each (Node *, b, &blocks)
    if (AS(BindingBlock, *b)->bindings.len) vec_push(&full, *b);
  for (int i = 0, last; i < full.len; i = last + 1) {
    for (last = i; is_plain(full.at[i]) && last + 1 < full.len && is_plain(full.at[last + 1]);)
      last++;
    vec_push(&out, last == i ? full.at[i] : joined(&full.at[i], &full.at[last]));
  }
  return out.len == blocks.len ? blocks : out;
}
