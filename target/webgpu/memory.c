/* memory.c -- loads and stores in WGSL.
 *
 * An index is computed in 32 bits: buffers have fewer elements than that, so what is above the low
 * word does not count. */
#include "target/webgpu/webgpu.h"

/* ---- elements ---- */

typedef struct Element {
  const WgslArray *array;
  const char *name, *index; /* of an element of the buffer's own size */
  DataType type;
} Element;

static int size_class(DataType t) {
  int bytes = lowered_nbytes(t);
  return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
}

static Element element_of(CGen *g, Node *n, Node *buffer, Node *index) {
  Buffer *b = AS(Buffer, buffer);
  CVar *v = IS(Var, b->data) ? map_get(&g->f->values, b->data) : NULL;
  DataType t = dtype_element(b->elem);
  c_check_type(g, t, n->span);
  if (!v || !v->place)
    c_unsupported(g, n, str_format("memory by an address, as of '%s',", b->name));
  const WgslArray *array = v->place;
  if (!array->is_words && !dtype_equal(array->elem, wgsl_element(t)))
    c_unsupported(g, n,
                  str_format("memory of %s that is read as %s ('%s')", dtype_text(array->elem),
                             dtype_text(t), b->name));
  if (b->elem_offset && !expr_is_zero(b->elem_offset)) index = expr_add(b->elem_offset, index);
  CText at = wgsl_low(g, index);
  const char *first = array->first[size_class(t)];
  if (first)
    at = str_same(at.at, "0") ? (CText){first, BINDS_ATOM}
                              : c_text(BINDS_ADD, "%s + %s", first, c_within(at, BINDS_ADD));
  bool again = array->is_words && size_class(t) != 2;
  if (again && strcspn(at.at, " (.") != strlen(at.at)) at = c_name_it(g, at, INT32);
  return (Element){array, v->name, at.at, t};
}

static const char *word(const Element *e, const char *index) {
  return str_format(e->array->is_atomic ? "atomicLoad(&%s[%s])" : "%s[%s]", e->name, index);
}

/* The bit of the word where an element of less begins. */
static const char *bit_of(const Element *e) {
  int bytes = lowered_nbytes(e->type);
  return str_format("u32(%s & %d) * %du", e->index, 4 / bytes - 1, bytes * 8);
}

static const char *word_index(const Element *e) {
  return str_format("%s >> %du", e->index, 2 - size_class(e->type));
}

static CText load_part(CGen *g, const Element *e) {
  bool is_signed = e->type.code == DTYPE_INT;
  const char *of = word(e, word_index(e));
  CText v = c_text(BINDS_ATOM, "extractBits(%s, %s, %du)",
                   is_signed ? str_format("bitcast<i32>(%s)", of) : of, bit_of(e),
                   lowered_nbytes(e->type) * 8);
  return dtype_is_int(e->type) && e->type.bits < 8 ? wgsl_fit(g, e->type, v) : v;
}

static CText load_words(CGen *g, const Element *e) {
  if (size_class(e->type) < 2) return load_part(g, e);
  if (wgsl_is_wide(e->type))
    return c_text(BINDS_ATOM, "vec2<u32>(%s, %s)", word(e, str_format("%s * 2", e->index)),
                  word(e, str_format("%s * 2 + 1", e->index)));
  CText v = {word(e, e->index), BINDS_ATOM};
  bool is_word = str_same(c_type(g, e->type), "u32");
  return is_word ? v : c_text(BINDS_ATOM, "bitcast<%s>(%s)", c_type(g, e->type), v.at);
}

CText wgsl_load(CGen *g, BufferLoad *n) {
  Element e = element_of(g, &n->node, n->buffer, n->indices.at[0]);
  CText v = e.array->is_words ? load_words(g, &e) : (CText){word(&e, e.index), BINDS_ATOM};
  if (dtype_is_bool(e.type)) v = c_text(BINDS_COMPARE, "%s != 0", v.at);
  return c_cast(g, v, e.type, n->node.dtype);
}

/* ---- stores ---- */

static void store_word(CGen *g, const Element *e, const char *index, const char *v) {
  c_line(g, e->array->is_atomic ? "atomicStore(&%s[%s], %s);" : "%s[%s] = %s;", e->name, index, v);
}

/* Other threads may write the other elements of the word meanwhile. The value, which may be made
 * from the element itself, has a name. */
static void store_part(CGen *g, const Element *e, const char *v) {
  uint32_t mask = lowered_nbytes(e->type) == 1 ? 0xff : 0xffff;
  const char *bit = c_name_it(g, (CText){bit_of(e), BINDS_MUL}, DTYPE_OF(UINT, 32)).at;
  c_line(g, "atomicAnd(&%s[%s], ~(0x%xu << %s));", e->name, word_index(e), mask, bit);
  c_line(g, "atomicOr(&%s[%s], (%s & 0x%xu) << %s);", e->name, word_index(e), v, mask, bit);
}

void wgsl_store(CGen *g, BufferStore *n, CText v) {
  Element e = element_of(g, &n->node, n->buffer, n->indices.at[0]);
  DataType t = e.type;
  if (dtype_is_bool(t)) v = c_text(BINDS_ATOM, "u32(%s)", v.at);
  if (!e.array->is_words) {
    store_word(g, &e, e.index, v.at);
    return;
  }
  if (wgsl_is_wide(t)) {
    v = c_name_it(g, v, t);
    store_word(g, &e, str_format("%s * 2", e.index), str_format("%s.x", v.at));
    store_word(g, &e, str_format("%s * 2 + 1", e.index), str_format("%s.y", v.at));
    return;
  }
  if (t.code == DTYPE_INT || (t.code == DTYPE_FLOAT && t.bits == 32))
    v = c_text(BINDS_ATOM, "bitcast<u32>(%s)", v.at);
  if (size_class(t) < 2) store_part(g, &e, c_name_it(g, v, DTYPE_OF(UINT, 32)).at);
  else store_word(g, &e, e.index, v.at);
}
