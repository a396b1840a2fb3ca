/* vector.c -- what works lane by lane, and what makes vectors of lanes. */
#include "target/interp/interp.h"

/* ---- lane by lane ---- */

enum { MAX_ARGS = 4 };

typedef struct LanewiseCode {
  Code code;
  LaneOp *op;
  int n;
  const Code *args[MAX_ARGS];
} LanewiseCode;

static Scalar eval_lanewise(const Code *c, Frame *f) {
  const LanewiseCode *n = (const LanewiseCode *)c;
  Scalar x[MAX_ARGS];
  for (int i = 0; i < n->n; i++) x[i] = code_eval(n->args[i], f);
  return n->op(c, x);
}

static void lanes_lanewise(const Code *c, Frame *f, Scalar *out) {
  const LanewiseCode *n = (const LanewiseCode *)c;
  int lanes = c->t.lanes;
  Scalar x[MAX_ARGS];
  LANES(all, n->n * lanes);
  for (int k = 0; k < n->n; k++) code_lanes(n->args[k], f, lanes, all + k * lanes);
  for (int i = 0; i < lanes; i++) {
    for (int k = 0; k < n->n; k++) x[k] = all[k * lanes + i];
    out[i] = n->op(c, x);
  }
}

const Code *code_lanewise(DataType t, Span span, LaneOp *op, int n, const Code **args) {
  LanewiseCode *c = NEW(LanewiseCode, .code = {eval_lanewise, lanes_lanewise, t, span}, .op = op);
  REQUIRE(n <= MAX_ARGS, "%d arguments", n);
  for (int i = 0; i < n; i++) {
    if (args[i]->t.lanes != t.lanes && args[i]->t.lanes != 1)
      unsupported(span, str_format("%s beside %s", dtype_text(args[i]->t), dtype_text(t)));
    c->args[c->n++] = args[i];
  }
  return &c->code;
}

DataType lanewise_type(const Code *c, int arg) { return ((const LanewiseCode *)c)->args[arg]->t; }

/* ---- making vectors ---- */

typedef struct VectorCode {
  Code code;
  const Code *a, *b;
} VectorCode;

static void lanes_ramp(const Code *c, Frame *f, Scalar *out) {
  const VectorCode *n = (const VectorCode *)c;
  int64_t base = code_eval(n->a, f).i, stride = code_eval(n->b, f).i;
  for (int i = 0; i < c->t.lanes; i++) {
    uint64_t v = (uint64_t)base + (uint64_t)stride * (uint64_t)i;
    out[i] = scalar_int(dtype_wrap_int(c->t, (int64_t)v));
  }
}

const Code *compile_ramp(Compiler *c, Ramp *n) {
  DataType t = n->node.dtype;
  if (n->base->dtype.lanes != 1 || !dtype_is_int(t))
    unsupported(c->span, str_format("T.Ramp from %s", dtype_text(n->base->dtype)));
  const Code *base = compile_as(c, n->base, t), *stride = compile_as(c, n->stride, t);
  return &NEW(VectorCode, .code = {NULL, lanes_ramp, t, c->span}, .a = base, .b = stride)->code;
}

static void lanes_broadcast(const Code *c, Frame *f, Scalar *out) {
  const VectorCode *n = (const VectorCode *)c;
  int lanes = n->a->t.lanes;
  code_lanes(n->a, f, lanes, out);
  for (int i = lanes; i < c->t.lanes; i++) out[i] = out[i % lanes];
}

const Code *compile_broadcast(Compiler *c, Broadcast *n) {
  const Code *value = compile_as(c, n->value, n->node.dtype);
  return &NEW(VectorCode, .code = {NULL, lanes_broadcast, n->node.dtype, c->span}, .a = value)
              ->code;
}

/* ---- picking lanes ---- */

/* Lanes `pick` of all vectors, one behind the other. */
typedef struct PickCode {
  Code code;
  CodeVec vectors;
  IntVec pick;
  int total;
} PickCode;

static void lanes_pick(const Code *c, Frame *f, Scalar *out) {
  const PickCode *n = (const PickCode *)c;
  LANES(all, n->total);
  int at = 0;
  for each (const Code *, v, &n->vectors) {
    code_lanes(*v, f, (*v)->t.lanes, all + at);
    at += (*v)->t.lanes;
  }
  for (int i = 0; i < n->pick.len; i++) out[i] = all[n->pick.at[i]];
}

static Scalar eval_pick(const Code *c, Frame *f) {
  Scalar v;
  lanes_pick(c, f, &v);
  return v;
}

static PickCode *pick_new(Compiler *c, DataType t, NodeVec vectors) {
  PickCode *p = NEW(PickCode, .code = {eval_pick, lanes_pick, t, c->span});
  for each (Node *, v, &vectors) {
    vec_push(&p->vectors, compile_as(c, *v, t));
    p->total += (*v)->dtype.lanes;
  }
  return p;
}

const Code *compile_shuffle(Compiler *c, Shuffle *n) {
  PickCode *p = pick_new(c, n->node.dtype, n->vectors);
  for (int i = 0; i < n->indices.len; i++) {
    int64_t index;
    if (!expr_is_const_int(n->indices.at[i], &index) || index < 0 || index >= p->total)
      fault(c->span, "T.Shuffle: index %d is no constant from 0 to %d", i, p->total - 1);
    vec_push(&p->pick, (int)index);
  }
  return &p->code;
}

const Code *compile_part(Compiler *c, Call *n, int from) {
  PickCode *p = pick_new(c, n->node.dtype, n->args);
  int lanes = n->node.dtype.lanes;
  bool whole = n->args.len > 1;
  if (p->total != lanes * (whole ? 1 : 2))
    fault(c->span, "%s can't be made of %d lanes this way", dtype_text(n->node.dtype), p->total);
  for (int i = 0; i < lanes; i++) vec_push(&p->pick, from + i);
  return &p->code;
}
