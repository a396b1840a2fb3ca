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

const CDialect opencl_dialect = {
    .name = "OpenCL C",
    .has_overloads = true,
    .function = "static inline ",
    .spaces = {"__global ", "__local ", "__private "},
    .barriers = {"barrier(CLK_LOCAL_MEM_FENCE);", "barrier(CLK_GLOBAL_MEM_FENCE);"},
    .bits = bits,
    .call = c_device_call,
    .attribute = attribute,
    .allocate = c_allocate_local};
