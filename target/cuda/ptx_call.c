/* ptx_call.c -- instructions of PTX (target/ptx.h) as assembly within C++. */
#include "target/cuda/cuda.h"
#include "target/ptx.h"

/* ---- places ---- */

/* The element `offset` further on than the pointer, in a variable that points to `type`. */
static const char *pointer_at(CGen *g, Call *n, int i, const char *type) {
  Node *pointer = n->args.at[i];
  DataType elem = n->node.dtype;
  if (IS(Var, pointer) && !dtype_is_void(AS(Var, pointer)->elem)) elem = AS(Var, pointer)->elem;
  const char *name = c_temporary(g);
  CText at = c_element_pointer(g, pointer, elem, n->args.at[i + 1]);
  c_line(g, "%s *%s = (%s *)(%s);", type, name, type, at.at);
  return name;
}

static Node *base_of(Node *pointer) {
  return is_intrin_call(pointer, "tvm_access_ptr") ? AS(Call, pointer)->args.at[1] : pointer;
}

/* An address of shared memory as its instructions take it. */
static const char *shared_at(CGen *g, Call *n, int i) {
  Node *base = base_of(n->args.at[i]);
  const char *scope = IS(Var, base) ? AS(Var, base)->scope : NULL;
  if (!scope || !str_begins(scope, "shared")) ptx_raise_not_shared(n);
  return str_format("(uint32_t)__cvta_generic_to_shared(%s)", pointer_at(g, n, i, "void"));
}

static const char *global_at(CGen *g, Call *n, int i) {
  Node *base = base_of(n->args.at[i]);
  const char *scope = IS(Var, base) ? AS(Var, base)->scope : NULL;
  if (scope && *scope && !str_same(scope, "global"))
    error_raisef("CompileError", n->node.span, "T.%s copies from global memory",
                 intrin_of(n->op)->name);
  return pointer_at(g, n, i, "const void");
}

/* `, "r"(a[0]), "r"(a[1])` */
static void add_registers(Str *s, const char *constraint, const char *array, int n) {
  for (int i = 0; i < n; i++)
    str_printf(s, "%s\"%s\"(%s[%d])", s->len ? ", " : "", constraint, array, i);
}

/* ---- the instructions ---- */

static void do_mma(CGen *g, Call *n) {
  PtxMma m = ptx_mma(g->target, n, '%');
  const char *a = pointer_at(g, n, 6, "uint32_t"), *b = pointer_at(g, n, 8, "uint32_t");
  const char *c = pointer_at(g, n, 10, m.is_float ? "float" : "uint32_t");
  Str in = {0}, out = {0};
  add_registers(&out, m.is_float ? "+f" : "+r", c, m.c);
  add_registers(&in, "r", a, m.a);
  add_registers(&in, "r", b, m.b);
  c_line(g, "asm volatile(%s : %s : %s);", c_string(m.text), str_text(&out), str_text(&in));
}

static void do_ldmatrix(CGen *g, Call *n) {
  int number;
  const char *text = ptx_ldmatrix(g->target, n, '%', &number);
  const char *to = pointer_at(g, n, 3, "uint32_t"), *from = shared_at(g, n, 5);
  Str out = {0};
  add_registers(&out, "=r", to, number);
  c_line(g, "asm volatile(%s : %s : \"r\"(%s) : \"memory\");", c_string(text), str_text(&out),
         from);
}

static void do_cp_async(CGen *g, Call *n) {
  int nbytes;
  const char *text = ptx_cp_async(g->target, n, '%', &nbytes), *read = "";
  const char *to = shared_at(g, n, 0), *from = global_at(g, n, 2);
  if (n->args.len > 5)
    read = str_format(", \"r\"(%s ? %d : 0)",
                      c_within(c_condition(g, n->args.at[5]), BINDS_COMPARE), nbytes);
  c_line(g, "asm volatile(%s : : \"r\"(%s), \"l\"(__cvta_generic_to_global(%s))%s : \"memory\");",
         c_string(text), to, from, read);
}

static void do_commit(CGen *g, Call *n) {
  ptx_need_gpu(g->target, n, 80);
  c_line(g, "asm volatile(\"cp.async.commit_group;\" : : : \"memory\");");
}

static void do_wait(CGen *g, Call *n) {
  ptx_need_gpu(g->target, n, 80);
  c_line(g, "asm volatile(\"cp.async.wait_group %lld;\" : : : \"memory\");",
         (long long)ptx_constant(n, 0));
}

/* (size, pointer, offset): zeroes a fragment */
static void do_mma_fill(CGen *g, Call *n) {
  const char *to = pointer_at(g, n, 1, c_type_in_memory(g, n->node.dtype)), *i = c_temporary(g);
  c_line(g, "for (int32_t %s = 0; %s < %lld; %s++) %s[%s] = 0;", i, i,
         (long long)ptx_constant(n, 0), i, to, i);
}

/* (rows, columns, memory, fragment, offset, pitch) */
static void do_mma_store(CGen *g, Call *n) {
  const char *type = c_type_in_memory(g, n->node.dtype), *to = c_temporary(g);
  ptx_check_store(n);
  c_line(g, "%s *%s = (%s *)%s;", type, to, type, c_within(c_expr(g, n->args.at[2]), BINDS_UNARY));
  const char *from = pointer_at(g, n, 3, type);
  CText pitch = c_cast(g, c_expr(g, n->args.at[5]), n->args.at[5]->dtype, INT32);
  c_line(g, "%s(%s, %s, %s);", c_helper(g, "mma_store", n->node.dtype, VOID_TYPE), to, from,
         pitch.at);
}

/* ---- wmma ---- */

static const char *register_array(CGen *g, Call *n, int i, PtxRegisters r) {
  const char *type = r.kind == 'r' ? "uint32_t" : r.kind == 'd' ? "double" : "float";
  return pointer_at(g, n, i, type);
}

static void add_matrix(Str *s, const char *prefix, const char *array, PtxRegisters r) {
  add_registers(s, str_format("%s%c", prefix, r.kind), array, r.n);
}

/* What a matrix is loaded from or stored to, as an operand. */
static const char *place_of(CGen *g, Call *n, int i, const char **space) {
  Node *base = base_of(n->args.at[i]);
  const char *scope = IS(Var, base) ? AS(Var, base)->scope : NULL, *p = c_temporary(g);
  bool is_shared = scope && str_begins(scope, "shared");
  *space = is_shared ? ".shared" : ".global";
  c_line(g, "const void *%s = (const void *)%s;", p,
         c_within(c_expr(g, n->args.at[i]), BINDS_UNARY));
  return is_shared ? str_format("\"r\"((uint32_t)__cvta_generic_to_shared(%s))", p)
                   : str_format("\"l\"(__cvta_generic_to_global(%s))", p);
}

static const char *row_length(CGen *g, Call *n, int i) {
  CText v = c_cast(g, c_expr(g, n->args.at[i]), n->args.at[i]->dtype, INT32);
  return str_format("\"r\"(%s)", v.at);
}

static void do_wmma_load(CGen *g, Call *n) {
  PtxRegisters r;
  Str out = {0};
  const char *space, *from = place_of(g, n, 5, &space);
  const char *text = ptx_wmma_load(g->target, n, '%', space, &r);
  add_matrix(&out, "=", register_array(g, n, 3, r), r);
  c_line(g, "asm volatile(%s : %s : %s, %s : \"memory\");", c_string(text), str_text(&out), from,
         row_length(g, n, 6));
}

static void do_wmma_store(CGen *g, Call *n) {
  PtxRegisters r;
  Str in = {0};
  const char *space, *to = place_of(g, n, 2, &space);
  const char *text = ptx_wmma_store(g->target, n, '%', space, &r);
  str_add(&in, to);
  add_matrix(&in, "", register_array(g, n, 4, r), r);
  c_line(g, "asm volatile(%s : : %s, %s : \"memory\");", c_string(text), str_text(&in),
         row_length(g, n, 3));
}

static void do_wmma_mma(CGen *g, Call *n) {
  PtxRegisters r[4];
  Str in = {0}, out = {0};
  const char *text = ptx_wmma_mma(g->target, n, '%', r);
  for (int i = 0; i < 3; i++) add_matrix(&in, "", register_array(g, n, 6 + 2 * i, r[i]), r[i]);
  add_matrix(&out, "=", register_array(g, n, 12, r[3]), r[3]);
  c_line(g, "asm volatile(%s : %s : %s);", c_string(text), str_text(&out), str_text(&in));
}

/* ---- wgmma ---- */

static bool is_in_shared(Node *pointer) {
  Node *base = base_of(pointer);
  const char *scope = IS(Var, base) ? AS(Var, base)->scope : NULL;
  return scope && str_begins(scope, "shared");
}

/* What tells the instruction where an operand lies in shared memory. */
static const char *wgmma_place(CGen *g, Call *n, int i, uint64_t rest) {
  const char *name = c_temporary(g), *at = shared_at(g, n, i);
  c_line(g, "uint64_t %s = UINT64_C(%llu) | ((%s) >> 4 & 0x3fff);", name, (unsigned long long)rest,
         at);
  return str_format("\"l\"(%s)", name);
}

static void do_wgmma(CGen *g, Call *n) {
  enum { A = 6, B = 10, C = 14 };
  PtxWgmma m = ptx_wgmma(g->target, n, '%', !is_in_shared(n->args.at[A]));
  Str in = {0}, out = {0};
  if (m.a_in_registers) add_registers(&in, "r", pointer_at(g, n, A, "uint32_t"), 4);
  else str_add(&in, wgmma_place(g, n, A, m.a_place));
  const char *b = wgmma_place(g, n, B, m.b_place);
  add_matrix(&out, "+", register_array(g, n, C, m.c), m.c);
  c_line(g, "asm volatile(%s : %s : %s, %s : \"memory\");", c_string(m.text), str_text(&out),
         str_text(&in), b);
}

static void do_order(CGen *g, Call *n) {
  c_line(g, "asm volatile(\"%s\" : : : \"memory\");", ptx_order(g->target, n));
}

/* ---- bulk copies ---- */

static const char *int32_arg(CGen *g, Call *n, int i) {
  return c_cast(g, c_expr(g, n->args.at[i]), n->args.at[i]->dtype, INT32).at;
}

static void do_barrier(CGen *g, Call *n) {
  bool has_value = false;
  const char *text = ptx_barrier(g->target, n, '%', &has_value);
  const char *value = has_value ? str_format(", \"r\"(%s)", int32_arg(g, n, 1)) : "";
  c_line(g, "asm volatile(%s : : \"r\"(%s)%s : \"memory\");", c_string(text),
         shared_at(g, n, n->args.len - 2), value);
}

static void do_bulk_copy(CGen *g, Call *n) {
  const char *text = ptx_bulk_copy(g->target, n, '%'), *to = shared_at(g, n, 0),
             *from = global_at(g, n, 2), *barrier = shared_at(g, n, n->args.len - 2);
  c_line(
      g,
      "asm volatile(%s : : \"r\"(%s), \"l\"(__cvta_generic_to_global(%s)), \"r\"(%s), \"r\"(%s) : "
      "\"memory\");",
      c_string(text), to, from, int32_arg(g, n, 4), barrier);
}

static const struct {
  const char *name;
  void (*handler)(CGen *g, Call *n);
} handlers[] = {
#define PTX_CALL(builtin, handler) {#builtin, do_##handler},
#include "target/ptx_call.def"
};

bool cuda_ptx_call(CGen *g, Call *n, const char *name) {
  for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
    if (str_same(handlers[i].name, name)) return handlers[i].handler(g, n), true;
  return false;
}
