/* dialect.c -- what OpenCL C spells in its own way: address spaces, threads, barriers, bits. */
#include "target/opencl/opencl.h"

/* as_int, as_uint, as_float, ...: as what the types of stdint.h are there. */
static const char *bits(DataType to, DataType from) {
  (void)from;
  if (to.code == DTYPE_FLOAT && to.bits >= 32) return to.bits == 32 ? "as_float" : "as_double";
  const char *sign = to.code == DTYPE_INT ? "" : "u";
  const char *size = to.bits == 64   ? "long"
                     : to.bits == 32 ? "int"
                     : to.bits == 16 ? "short"
                                     : "char";
  return str_format("as_%s%s", sign, size);
}

/* ---- threads ---- */

static const char *number(bool is_block, char axis) {
  return str_format("%s(%d)", is_block ? "get_group_id" : "get_local_id", axis - 'x');
}

static bool attribute(CGen *g, AttrStmt *n) { return c_thread(g, n, number); }

/* ---- vectors: those of the language, loaded and stored at any element ---- */

static const char *make(const char *type, const char *lanes) {
  return str_format("(%s)(%s)", type, lanes);
}

static const char *load(DataType t, const char *space, const char *type, const char *pointer,
                        bool is_aligned) {
  if (is_aligned) return str_format("*(const %s%s *)(%s)", space, type, pointer);
  return str_format("vload%d(0, %s)", t.lanes, pointer);
}

static const char *store(DataType t, const char *space, const char *type, const char *pointer,
                         const char *value, bool is_aligned) {
  if (is_aligned) return str_format("*(%s%s *)(%s) = %s", space, type, pointer, value);
  return str_format("vstore%d(%s, 0, %s)", t.lanes, value, pointer);
}

static const CVectors vectors = {c_vector_name, c_vector_lane, make, load, store};

const CDialect opencl_dialect = {
    .name = "OpenCL C",
    .has_overloads = true,
    .vectors = &vectors,
    .function = "static inline ",
    .spaces = {"__global ", "__local ", "__private "},
    .barriers = {"barrier(CLK_LOCAL_MEM_FENCE);", "barrier(CLK_GLOBAL_MEM_FENCE);"},
    .bits = bits,
    .call = c_device_call,
    .attribute = attribute,
    .allocate = c_allocate_local};
