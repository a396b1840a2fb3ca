/* memory.c -- loads, stores and allocations.
 *
 * A pointer is declared with the type of its elements, and accesses of that type are subscripts.
 * One of another type (memory that was planned for several buffers) copies bytes, as C wants it. */
#include "target/c/c.h"

CPlace c_place(CGen *g, Node *n, Node *buffer, const NodeVec *indices) {
  Buffer *b = AS(Buffer, buffer);
  if (indices->len != 1 || b->strides.len > 0)
    BUG("%s of buffer '%s' with %d indices is not flat", node_kind_name(n->kind), b->name,
        indices->len);
  c_check_type(g, dtype_element(b->elem), n->span);
  Node *index = indices->at[0];
  if (b->elem_offset && !expr_is_zero(b->elem_offset)) index = expr_add(b->elem_offset, index);
  CVar *v = IS(Var, b->data) ? map_get(&g->f->values, b->data) : NULL;
  bool same = v && dtype_equal(v->elem, dtype_element(b->elem)) && !g->f->may_alias;
  const char *pointer = c_within(c_expr(g, b->data), BINDS_ATOM), *space = v ? v->space : NULL;
  if (!same && g->dialect->spaces[0]) {
    const CVar cast = {.elem = dtype_element(b->elem), .space = space};
    pointer = str_format("((%s)%s)", c_pointer_to(g, &cast), pointer);
    same = true;
  }
  return (CPlace){b, pointer, index, same};
}

static CText load_text(CGen *g, const CPlace *p, const char *index) {
  DataType t = p->buffer->elem;
  DataType stored = dtype_is_bool(t) ? UINT8 : t;
  CText v = p->is_subscript ? c_text(BINDS_ATOM, "%s[%s]", p->pointer, index)
                            : c_text(BINDS_ATOM, "%s(%s, %s)",
                                     c_helper(g, "load", stored, VOID_TYPE), p->pointer, index);
  if (dtype_is_bool(t)) return c_text(BINDS_COMPARE, "%s != 0", v.at);
  return dtype_is_int(t) && t.bits < 8 ? c_fit(g, t, v.at) : v;
}

/* What a predicate masks out is not touched, and 0. */
static CText guarded_load(CGen *g, BufferLoad *n) {
  Node *zero = dtype_is_float(n->node.dtype) ? float_imm(n->node.dtype, 0, n->node.span)
                                             : int_imm(n->node.dtype, 0, n->node.span);
  BufferLoad bare = *n;
  bare.predicate = NULL;
  return c_choice(g, n->predicate, &bare.node, zero);
}

static bool is_always(Node *predicate) {
  int64_t value;
  return !predicate || (expr_is_const_int(predicate, &value) && value);
}

CText c_load(CGen *g, BufferLoad *n) {
  if (!is_always(n->predicate)) return guarded_load(g, n);
  if (n->node.dtype.lanes > 1) return c_vector_load(g, n);
  if (g->dialect->load) return g->dialect->load(g, n);
  CPlace p = c_place(g, &n->node, n->buffer, &n->indices);
  CText v = load_text(g, &p, c_index(g, p.index).at);
  return c_cast(g, v, p.buffer->elem, n->node.dtype);
}

static void store_at(CGen *g, const CPlace *p, const char *index, CText v) {
  DataType t = p->buffer->elem;
  DataType stored = dtype_is_bool(t) ? UINT8 : t;
  if (p->is_subscript) c_line(g, "%s[%s] = %s;", p->pointer, index, v.at);
  else
    c_line(g, "%s(%s, %s, %s);", c_helper(g, "store", stored, VOID_TYPE), p->pointer, index, v.at);
}

static void store_plain(CGen *g, BufferStore *n, CText v) {
  CPlace p = c_place(g, &n->node, n->buffer, &n->indices);
  store_at(g, &p, c_index(g, p.index).at, v);
}

void c_store(CGen *g, BufferStore *n) {
  DataType elem = AS(Buffer, n->buffer)->elem;
  bool ordered =
      expr_effect(n->value) == EFFECT_STATE && expr_effect(n->indices.at[0]) != EFFECT_PURE;
  if (n->value->dtype.lanes > 1) {
    c_vector_store(g, n, c_expr(g, n->value));
    return;
  }
  CText v = c_cast(g, c_operand(g, n->value), n->value->dtype, elem);
  if (ordered) v = c_name_it(g, v, elem);
  if (!is_always(n->predicate)) {
    c_line(g, "if (%s) {", c_condition(g, n->predicate).at);
    g->f->depth++;
  }
  if (g->dialect->store) g->dialect->store(g, n, v);
  else store_plain(g, n, v);
  if (is_always(n->predicate)) return;
  g->f->depth--;
  c_line(g, "}");
}

/* ---- addresses ---- */

CText c_element_pointer(CGen *g, Node *pointer, DataType elem, Node *index) {
  CVar *v = IS(Var, pointer) ? map_get(&g->f->values, pointer) : NULL;
  CText base = c_expr(g, pointer), at = c_index(g, index);
  if (elem.lanes > 1) at = c_text(BINDS_MUL, "%s * %d", c_within(at, BINDS_MUL), elem.lanes);
  DataType scalar = dtype_element(elem);
  if (v && dtype_equal(v->elem, scalar))
    return c_text(BINDS_ADD, "%s + %s", base.at, c_within(at, BINDS_MUL));
  const CVar cast = {.elem = scalar, .space = v ? v->space : NULL};
  return c_text(BINDS_ADD, "(%s)%s + %s", c_pointer_to(g, &cast), c_within(base, BINDS_UNARY),
                c_within(at, BINDS_MUL));
}

CText c_address(CGen *g, Node *buffer, Node *index) {
  Buffer *b = AS(Buffer, buffer);
  CText at = c_element_pointer(g, b->data, b->elem, index);
  return c_text(BINDS_UNARY, "(void *)%s", c_within(at, BINDS_ATOM));
}

/* ---- allocations ---- */

/* The size in bytes, rounded up to a multiple of the alignment and not 0. */
static const char *size_in_bytes(CGen *g, Allocate *n) {
  CText size = c_text(BINDS_ATOM, "%d", lowered_nbytes(n->elem) * n->elem.lanes);
  for each (Node *, e, &n->extents) {
    CText extent = c_cast(g, c_expr(g, *e), (*e)->dtype, INT64);
    size = c_text(BINDS_MUL, "%s * %s", c_within(extent, BINDS_MUL), c_within(size, BINDS_UNARY));
  }
  return str_format("((size_t)(%s) + %d) / %d * %d", size.at, STACK_ALIGN, STACK_ALIGN,
                    STACK_ALIGN);
}

static void allocate_on_heap(CGen *g, Allocate *n) {
  const char *size = size_in_bytes(g, n);
  CVar *v = c_bind(g, n->var);
  c_line(g, "%s = aligned_alloc(%d, %s);", c_declare(g, n->var, v), STACK_ALIGN, size);
  c_out_of_memory_if(g, str_format("%s == NULL", v->name));
  int depth = g->f->heap.len;
  vec_push(&g->f->heap, v->name);
  c_stmt(g, n->body);
  c_free_heap(g, depth);
  g->f->heap.len = depth;
}

bool c_allocate(CGen *g, Allocate *n) {
  DataType elem = dtype_element(n->elem);
  c_check_type(g, elem, n->node.span);
  map_set(&g->f->distinct, n->var, n);
  if (g->dialect->allocate) return g->dialect->allocate(g, n), false;
  int64_t nbytes = lowered_stack_bytes(n, g->f->stack_bytes);
  if (nbytes < 0) return allocate_on_heap(g, n), true;
  g->f->stack_bytes += nbytes;
  int64_t count = nbytes / lowered_nbytes(elem);
  CVar *v = c_bind(g, n->var);
  v->elem = elem;
  c_line(g, "_Alignas(%d) %s%s%s[%lld];", STACK_ALIGN, c_type_in_memory(g, elem),
         dtype_is_handle(elem) ? "" : " ", v->name, (long long)(count ? count : 1));
  if (!c_is_read(g, n->var)) c_line(g, "(void)%s;", v->name);
  return false;
}

/* ---- constants ---- */

static const char *element_text(CGen *g, DataType t, const char *at) {
  float f;
  double d;
  int64_t bits = 0;
  if (t.code == DTYPE_FLOAT && t.bits == 32) return memcpy(&f, at, 4), c_float(g, t, f).at;
  if (t.code == DTYPE_FLOAT && t.bits == 64) return memcpy(&d, at, 8), c_float(g, t, d).at;
  memcpy(&bits, at, (size_t)lowered_nbytes(t));
  if (dtype_is_float(t)) return str_format("0x%llx", (unsigned long long)bits);
  return c_int(g, t, dtype_wrap_int(t, bits), true).at;
}

/* C can't spell the bits of a NaN. */
static bool has_nan(const ConstData *data, DataType elem) {
  const char *bytes = data->bytes;
  double d;
  float f;
  for (size_t i = 0; elem.code == DTYPE_FLOAT && elem.bits >= 32 && i < data->nbytes;
       i += elem.bits / 8) {
    if (elem.bits == 32) memcpy(&f, bytes + i, 4), d = (double)f;
    else memcpy(&d, bytes + i, 8);
    if (d != d) return true;
  }
  return false;
}

static const char *elements_text(CGen *g, const ConstData *data, DataType t) {
  size_t each = (size_t)lowered_nbytes(t), count = data->nbytes / each;
  Str s = {0};
  for (size_t i = 0; i < count; i++)
    str_printf(&s, "%s%s",
               i == 0  ? ""
               : i % 8 ? ", "
                       : ",\n        ",
               element_text(g, t, (const char *)data->bytes + i * each));
  return count ? str_text(&s) : "0";
}

/* Floats with a NaN among them are initialised by their bits. */
void c_allocate_const(CGen *g, AllocateConst *n) {
  const ConstData *data = n->data;
  DataType elem = dtype_element(data->elem), bits = DTYPE_OF(UINT, elem.bits);
  c_check_type(g, elem, n->node.span);
  CVar *v = c_bind(g, n->var);
  v->elem = elem;
  const char *array = c_name(str_format("%s_data", v->name), &g->f->names, &g->names);
  const char *type = c_type_in_memory(g, elem), *values = array;
  if (has_nan(data, elem)) {
    long long count = (long long)(data->nbytes / (size_t)lowered_nbytes(elem));
    c_line(g, "static const union { _Alignas(%d) %s bits[%lld]; %s values[%lld]; } %s = {{%s}};",
           STACK_ALIGN, c_type(g, bits), count, type, count, array, elements_text(g, data, bits));
    values = str_format("%s.values", array);
  } else
    c_line(g, "static const _Alignas(%d) %s %s[] = {%s};", STACK_ALIGN, type, array,
           elements_text(g, data, dtype_is_bool(elem) ? UINT8 : elem));
  c_line(g, "%s = (%s)(uintptr_t)%s;", c_declare(g, n->var, v), c_pointer(g, v->elem), values);
  if (!c_is_used(g, n->var)) c_line(g, "(void)%s;", v->name);
}
