/* vector.c -- vectors, in dialects that have them: what ScalarizeVectors leaves of them.
 *
 * These are variables, contiguous loads and stores, vectors made of scalars, lanes of variables,
 * and sums, products and the like of floats. Every other expression has one lane.
 *
 * An access is one of the whole vector where the dialect needs no more than the elements'
 * alignment, or where more is proven: the array begins at such a multiple, and so does the index.
 * What is not proven is written lane by lane. */
#include "target/c/c.h"
#include "ir/arith/arith.h"

const char *c_vector_type(CGen *g, DataType t) {
  bool is_float = t.code == DTYPE_FLOAT && t.bits >= 32;
  const char *name = is_float       ? (t.bits == 32 ? "float" : "double")
                     : t.bits == 64 ? "long"
                     : t.bits == 32 ? "int"
                     : t.bits == 16 ? "short"
                                    : "char";
  const char *sign = is_float || t.code == DTYPE_INT ? "" : "u";
  return g->dialect->vectors->type(t, str_format("%s%s", sign, name));
}

bool c_has_vector(CGen *g, DataType t) {
  return t.lanes == 1 || (g->dialect->vectors && t.lanes <= 16 && !(t.lanes & (t.lanes - 1)));
}

const char *c_vector_name(DataType t, const char *elem) {
  return str_format("%s%d", elem, t.lanes);
}

CText c_vector_lane(const char *vector, int lanes, int lane) {
  if (lanes <= 4) return c_text(BINDS_ATOM, "%s.%c", vector, "xyzw"[lane]);
  return c_text(BINDS_ATOM, "%s.s%x", vector, (unsigned)lane);
}

/* ---- values ---- */

static CText lane_of(CGen *g, Node *vector, int lane) {
  CText v = c_expr(g, vector);
  if (v.binds > BINDS_ATOM) v = c_name_it(g, v, vector->dtype);
  return g->dialect->vectors->lane(v.at, vector->dtype.lanes, lane);
}

/* One lane, or a vector of scalars in their order. */
CText c_shuffle(CGen *g, Shuffle *n) {
  int64_t lane;
  NodeVec vectors = n->vectors;
  if (n->node.dtype.lanes == 1 && vectors.len == 1 && expr_is_const_int(n->indices.at[0], &lane))
    return lane_of(g, vectors.at[0], (int)lane);
  CText *lanes = NEW_ARRAY(CText, vectors.len);
  bool in_order = vectors.len == n->node.dtype.lanes;
  for (int i = 0; in_order && i < vectors.len; i++)
    in_order =
        vectors.at[i]->dtype.lanes == 1 && expr_is_const_int(n->indices.at[i], &lane) && lane == i;
  if (!in_order) c_unsupported(g, &n->node, "T.Shuffle");
  c_operands(g, vectors.len, vectors.at, lanes);
  const char *type = c_vector_type(g, n->node.dtype);
  return c_text(BINDS_ATOM, "%s", g->dialect->vectors->make(type, c_join(vectors.len, lanes)));
}

CText c_broadcast(CGen *g, Broadcast *n) {
  CText v = c_expr(g, n->value);
  const char *type = c_vector_type(g, n->node.dtype);
  return c_text(BINDS_ATOM, "%s", g->dialect->vectors->make(type, v.at));
}

/* The lesser or the greater: the second operand where a comparison does not hold. */
CText c_vector_choice(CGen *g, Binary *n, CText a, CText b) {
  DataType t = n->node.dtype;
  if (a.binds > BINDS_ATOM) a = c_name_it(g, a, t);
  if (b.binds > BINDS_ATOM) b = c_name_it(g, b, t);
  return c_text(BINDS_ATOM, "select(%s, %s, %s %c %s)", b.at, a.at, a.at,
                n->node.kind == NK_Min ? '<' : '>', b.at);
}

/* ---- memory ---- */

/* Is the place, of so many elements, at a multiple of all their bytes? */
static bool is_aligned(CGen *g, const CPlace *p, Node *base, DataType t) {
  CVar *v = IS(Var, p->buffer->data) ? map_get(&g->f->values, p->buffer->data) : NULL;
  if (!v || v->align < t.lanes * lowered_nbytes(t)) return false;
  Modular m = arith_modular(arith_new(), base);
  return m.coeff % t.lanes == 0 && m.base % t.lanes == 0;
}

typedef struct VectorPlace {
  CPlace at;
  const char *pointer; /* to the first element */
  const char *index;
  bool is_aligned;
} VectorPlace;

static VectorPlace vector_place(CGen *g, Node *n, Node *buffer, const NodeVec *indices,
                                DataType t) {
  Ramp *ramp = IS(Ramp, indices->at[0]) ? AS(Ramp, indices->at[0]) : NULL;
  if (!ramp || !expr_is_one(ramp->stride)) c_unsupported(g, n, "an access of vectors like this");
  NodeVec first = NODES(ramp->base);
  VectorPlace p = {.at = c_place(g, n, buffer, &first)};
  p.is_aligned = is_aligned(g, &p.at, p.at.index, t);
  CText index = c_index(g, p.at.index);
  p.index = c_within(index, BINDS_ADD);
  p.pointer = str_format("%s + %s", p.at.pointer, c_within(index, BINDS_MUL));
  return p;
}

static const char *element_at(const VectorPlace *p, int lane) {
  return lane ? str_format("%s[%s + %d]", p->at.pointer, p->index, lane)
              : str_format("%s[%s]", p->at.pointer, p->index);
}

static const char *pointer_space(CGen *g, Node *data) {
  CVar *v = IS(Var, data) ? map_get(&g->f->values, data) : NULL;
  return v && v->space ? v->space : "";
}

CText c_vector_load(CGen *g, BufferLoad *n) {
  const CVectors *v = g->dialect->vectors;
  DataType t = n->node.dtype;
  VectorPlace p = vector_place(g, &n->node, n->buffer, &n->indices, t);
  const char *space = pointer_space(g, p.at.buffer->data), *type = c_vector_type(g, t);
  const char *whole = v->load(t, space, type, p.pointer, p.is_aligned);
  if (whole) return c_text(BINDS_UNARY, "%s", whole);
  CText lanes[16];
  for (int i = 0; i < t.lanes; i++) lanes[i] = (CText){element_at(&p, i), BINDS_ATOM};
  return c_text(BINDS_ATOM, "%s", v->make(type, c_join(t.lanes, lanes)));
}

void c_vector_store(CGen *g, BufferStore *n, CText value) {
  const CVectors *v = g->dialect->vectors;
  DataType t = n->value->dtype;
  VectorPlace p = vector_place(g, &n->node, n->buffer, &n->indices, t);
  const char *space = pointer_space(g, p.at.buffer->data), *type = c_vector_type(g, t);
  const char *whole = v->store(t, space, type, p.pointer, value.at, p.is_aligned);
  if (whole) {
    c_line(g, "%s;", whole);
    return;
  }
  if (!IS(Var, n->value)) value = c_name_it(g, value, t); /* evaluated once, before any element */
  for (int i = 0; i < t.lanes; i++)
    c_line(g, "%s = %s;", element_at(&p, i), v->lane(value.at, t.lanes, i).at);
}
