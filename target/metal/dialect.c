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

const CDialect metal_dialect = {.name = "MSL",
                                .has_overloads = true,
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
