/* dialect.c -- types, literals, threads and memory of WGSL. */
#include "target/webgpu/webgpu.h"
#include <math.h>

static const char *type(DataType t) {
  if (dtype_is_void(t)) return "void";
  if (dtype_is_bool(t)) return "bool";
  if (wgsl_is_wide(t)) return "vec2<u32>";
  if (t.code == DTYPE_FLOAT && t.bits == 32) return "f32";
  return t.code == DTYPE_INT ? "i32" : "u32";
}

static const char *lacks(DataType t) {
  return t.code == DTYPE_FLOAT && t.bits == 64 ? "compute in float32" : NULL;
}

static const char *declare(const char *of, const char *name) {
  return str_format("var %s: %s", name, of);
}

static const char *bits(DataType to, DataType from) {
  (void)from;
  return str_format("bitcast<%s>", type(to));
}

static const char *helper(const char *name, DataType t) {
  if (!wgsl_is_wide(t)) return name;
  const char *of_two_words = str_format("%s_wide", name);
  for (const CHelper *h = wgsl_helpers; h->name; h++)
    if (str_same(h->name, of_two_words)) return h->name;
  return name;
}

/* ---- literals ---- */

CText wgsl_integer(CGen *g, DataType t, int64_t value) {
  (void)g;
  if (dtype_is_bool(t)) return (CText){value ? "true" : "false", BINDS_ATOM};
  if (wgsl_is_wide(t))
    return c_text(BINDS_ATOM, "vec2<u32>(%uu, %uu)", (unsigned)value,
                  (unsigned)((uint64_t)value >> 32));
  if (t.code != DTYPE_INT) return c_text(BINDS_ATOM, "%uu", (unsigned)value);
  if (value == INT32_MIN) return c_text(BINDS_ATOM, "i32(%lld)", (long long)value);
  return c_text(value < 0 ? BINDS_UNARY : BINDS_ATOM, "%lld", (long long)value);
}

/* A constant expression may be neither infinite nor NaN. */
static CText real(CGen *g, DataType t, double value) {
  if (lowered_is_small_float(t)) return c_text(BINDS_ATOM, "0x%xu", dtype_float_to_bits(t, value));
  float narrow = (float)value;
  uint32_t as_bits;
  memcpy(&as_bits, &narrow, sizeof as_bits);
  if (isnan(narrow) || isinf(narrow))
    return c_text(BINDS_ATOM, "%s(0x%08xu)", c_helper(g, "special", FLOAT32, VOID_TYPE), as_bits);
  const char *size = c_decimal(fabs(value), false);
  return signbit(value) ? c_text(BINDS_UNARY, "-%s", size) : (CText){size, BINDS_ATOM};
}

static CText choose(CText cond, CText then, CText orelse) {
  return c_text(BINDS_ATOM, "select(%s, %s, %s)", orelse.at, then.at, cond.at);
}

/* ---- threads ---- */

static const char *number(bool is_block, char axis) {
  return str_format("%s.%c", is_block ? "blockIdx" : "threadIdx", axis);
}

static bool attribute(CGen *g, AttrStmt *n) { return c_thread(g, n, number); }

/* ---- memory ---- */

DataType wgsl_element(DataType t) {
  if (dtype_is_bool(t)) return DTYPE_OF(UINT, 32);
  if (wgsl_is_wide(t) || (t.code == DTYPE_FLOAT && t.bits == 32)) return t;
  return t.code == DTYPE_INT ? INT32 : DTYPE_OF(UINT, 32);
}

/* What threads share was declared before the kernel, where WGSL wants it. */
static void allocate(CGen *g, Allocate *n) {
  const char *scope = AS(Var, n->var)->scope;
  if (scope && str_begins(scope, "shared")) return;
  int64_t count = c_constant_size(n);
  CVar *v = c_bind(g, n->var);
  v->elem = dtype_element(n->elem);
  v->place = NEW(WgslArray, .elem = wgsl_element(v->elem));
  c_line(g, "var %s: array<%s, %lld>;", v->name, type(wgsl_element(v->elem)), (long long)count);
}

const CDialect wgsl_dialect = {.name = "WGSL",
                               .has_overloads = true,
                               .function = "",
                               .helpers = wgsl_helpers,
                               .helper = helper,
                               .barriers = {"workgroupBarrier();", "storageBarrier();"},
                               .bits = bits,
                               .call = wgsl_call,
                               .attribute = attribute,
                               .allocate = allocate,
                               .lacks = lacks,
                               .type = type,
                               .declare = declare,
                               .discard = "_ = ",
                               .integer = wgsl_integer,
                               .real = real,
                               .cast = wgsl_cast,
                               .select = choose,
                               .binary = wgsl_binary,
                               .load = wgsl_load,
                               .store = wgsl_store,
                               .loop = wgsl_loop};
