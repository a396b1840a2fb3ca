/* range.c -- ranges as text has them, [begin, end), and as nodes have them, min and extent. */
#include "ir/arith/arith.h"
#include "ir/ir_impl.h"

static Node *extent_between(Node *begin, Node *end, Span span) {
  DataType t = begin->dtype;
  if (IS(Add, end) && node_equal(AS(Add, end)->a, begin, false, NULL)) return AS(Add, end)->b;
  if (node_equal(begin, end, false, NULL)) return int_imm(t, 0, span);
  Node *d = expr_binary(NK_Sub, end, begin, span);
  return d == end || IS(IntImm, d) ? d : arith_simplify(arith_new(), d);
}

Node *range_between(Node *begin, Node *end, Span span) {
  for (int i = 0; i < 2; i++) {
    const Node *n = i ? end : begin;
    if (!dtype_is_int(n->dtype) || IS(StringImm, n))
      error_raise_code(E0319, span, "the ends of a range are integers, found %s",
                       IS(StringImm, n) ? "a string" : dtype_text(n->dtype));
  }
  expr_match("range", &begin, &end, span);
  Node *extent = extent_between(begin, end, span);
  return MAKE(Range, span, VOID_TYPE, .min = begin, .extent = extent);
}

static Node *raw_add(Node *a, Node *b) { return MAKE(Add, a->span, a->dtype, .a = a, .b = b); }

static WalkResult stop_at_let(Walker *w, Node *n) {
  (void)w;
  return IS(Let, n) ? WALK_STOP : WALK_ON;
}

/* A short form of min + extent, or NULL. The variables of lets must all stand in the text. */
static Node *short_end(Node *min, Node *extent) {
  Walker w = {.enter = stop_at_let, .once = true};
  if (expr_is_zero(min)) return extent;
  if (expr_is_zero(extent)) return min;
  Node *sum = fold_binary(NK_Add, min, extent, min->span);
  if (sum) return sum;
  if (IS(Var, min) && (IS(IntImm, extent) || IS(Var, extent))) return NULL;
  return walk(&w, extent) ? arith_simplify(arith_new(), raw_add(min, extent)) : NULL;
}

Node *range_end(Node *min, Node *extent) {
  if (!dtype_equal(min->dtype, extent->dtype)) return expr_binary(NK_Add, min, extent, min->span);
  Node *end = short_end(min, extent);
  bool gives_back = end && node_equal(extent_between(min, end, min->span), extent, false, NULL);
  return gives_back ? end : raw_add(min, extent);
}
