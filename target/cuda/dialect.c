/* dialect.c -- what CUDA C++ spells in its own way: threads, memory, bits, float16. */
#include "target/cuda/cuda.h"
#include "lower/lower.h"

static const char *bits(DataType to, DataType from) {
  DataType word = to.code == DTYPE_FLOAT ? from : to;
  bool to_float = to.code == DTYPE_FLOAT, is_unsigned = word.code != DTYPE_INT;
  if (word.bits == 64) return to_float ? "__longlong_as_double" : "__double_as_longlong";
  if (is_unsigned) return to_float ? "__uint_as_float" : "__float_as_uint";
  return to_float ? "__int_as_float" : "__float_as_int";
}

static const char *helper(const char *name, DataType t) {
  bool is_half = t.code == DTYPE_FLOAT && t.bits == 16;
  if (is_half && str_same(name, "widen")) return "widen_half";
  if (is_half && str_same(name, "narrow")) return "narrow_half";
  if (str_same(name, "popcount")) return "popcount_cuda";
  return str_same(name, "clz") ? "clz_cuda" : name;
}

static const char *number(bool is_block, char axis) {
  return str_format("%s.%c", is_block ? "blockIdx" : "threadIdx", axis);
}

static bool attribute(CGen *g, AttrStmt *n) { return c_thread(g, n, number); }

/* Dynamic shared memory was declared at the head of the kernel. */
static void allocate(CGen *g, Allocate *n) {
  const char *scope = AS(Var, n->var)->scope;
  if (map_has(&g->f->values, n->var)) return;
  bool is_shared = scope && str_begins(scope, "shared");
  int64_t count = c_constant_size(n);
  CVar *v = c_bind(g, n->var);
  v->elem = dtype_element(n->elem);
  const char *place =
      is_shared ? str_format("__shared__ __align__(%lld)", (long long)lower_shared_align(n))
                : "__align__(16)";
  v->align = 16;
  c_line(g, "%s %s %s[%lld];", place, c_type_in_memory(g, v->elem), v->name, (long long)count);
}

/* ---- vectors: CUDA's own of up to four lanes, and Lanes<T, n> of source.c ---- */

static const char *type(DataType t, const char *elem) {
  bool is_signed = t.code == DTYPE_INT;
  if (t.lanes > 4)
    return str_format("Lanes<%sint%d_t, %d>", is_signed ? "" : "u", lowered_nbytes(t) * 8, t.lanes);
  if (str_same(elem, "long") || str_same(elem, "ulong"))
    elem = is_signed ? "longlong" : "ulonglong";
  return str_format("%s%d", elem, t.lanes);
}

static CText lane(const char *vector, int lanes, int lane) {
  if (lanes <= 4) return c_vector_lane(vector, lanes, lane);
  return c_text(BINDS_ATOM, "%s.at[%d]", vector, lane);
}

static const char *make(const char *type, const char *lanes) {
  return str_begins(type, "Lanes") ? str_format("%s{{%s}}", type, lanes)
                                   : str_format("make_%s(%s)", type, lanes);
}

static const char *load(DataType t, const char *space, const char *type, const char *pointer,
                        bool is_aligned) {
  (void)t, (void)space;
  return is_aligned ? str_format("*(const %s *)(%s)", type, pointer) : NULL;
}

static const char *store(DataType t, const char *space, const char *type, const char *pointer,
                         const char *value, bool is_aligned) {
  (void)t, (void)space;
  return is_aligned ? str_format("*(%s *)(%s) = %s", type, pointer, value) : NULL;
}

static const CVectors vectors = {type, lane, make, load, store};

const CDialect cuda_dialect = {.name = "CUDA C++",
                               .function = "static __device__ inline ",
                               .helper = helper,
                               .vectors = &vectors,
                               .spaces = {"", "", ""}, /* pointers are generic */
                               .bits = bits,
                               .call = cuda_call,
                               .attribute = attribute,
                               .allocate = allocate};
