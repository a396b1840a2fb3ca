/* dialect.c -- what MSL spells in its own way: address spaces, threads, barriers, bits. */
#include "target/metal/metal.h"

static const char *bits(DataType to, DataType from) {
  (void)from;
  if (to.code == DTYPE_FLOAT && to.bits == 32) return "as_type<float>";
  return str_format("as_type<%sint%d_t>", to.code == DTYPE_INT ? "" : "u", to.bits);
}

static const char *lacks(DataType t) {
  return t.code == DTYPE_FLOAT && t.bits == 64 ? "compute in float32" : NULL;
}

static const char *helper(const char *name, DataType t) {
  return str_same(name, "nextafter") && t.bits == 32 ? "nextafter_float" : name;
}

static const char *number(bool is_block, char axis) {
  return str_format("%s.%c", is_block ? "blockIdx" : "threadIdx", axis);
}

static bool attribute(CGen *g, AttrStmt *n) { return c_thread(g, n, number); }

/* ---- vectors: packed ones lie at any element; there is none of 64 bits ---- */

static const char *make(const char *type, const char *lanes) {
  return str_format("%s(%s)", type, lanes);
}

static const char *packing(DataType t, bool is_aligned) {
  return is_aligned ? "" : t.bits > 32 ? NULL : "packed_";
}

static const char *load(DataType t, const char *space, const char *type, const char *pointer,
                        bool is_aligned) {
  const char *packed = packing(t, is_aligned);
  return packed ? str_format("%s(*(const %s%s%s *)(%s))", type, space, packed, type, pointer)
                : NULL;
}

static const char *store(DataType t, const char *space, const char *type, const char *pointer,
                         const char *value, bool is_aligned) {
  const char *packed = packing(t, is_aligned);
  if (!packed) return NULL;
  if (*packed) value = str_format("%s%s(%s)", packed, type, value);
  return str_format("*(%s%s%s *)(%s) = %s", space, packed, type, pointer, value);
}

static const CVectors vectors = {c_vector_name, c_vector_lane, make, load, store};

const CDialect metal_dialect = {.name = "MSL",
                                .has_overloads = true,
                                .vectors = &vectors,
                                .function = "static inline ",
                                .helpers = metal_helpers,
                                .helper = helper,
                                .spaces = {"device ", "threadgroup ", "thread "},
                                .barriers = {"threadgroup_barrier(mem_flags::mem_threadgroup);",
                                             "threadgroup_barrier(mem_flags::mem_device);"},
                                .bits = bits,
                                .call = c_device_call,
                                .attribute = attribute,
                                .allocate = c_allocate_local,
                                .lacks = lacks};
