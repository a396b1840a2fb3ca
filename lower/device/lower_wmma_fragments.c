/* lower_wmma_fragments.c -- matrices that the threads of a warp hold together (wmma) become the
 * part that each thread holds.
 *
 * In:  flat programs with memory of scope wmma.*, which only T.tvm_fill_fragment,
 *      T.tvm_load_matrix_sync, T.tvm_store_matrix_sync and T.tvm_mma_sync touch.
 * Out: memory of scope local, matrix by matrix, and the instructions T.ptx_wmma_load, _store, _mma
 *      on it. A thread has a 32nd of the elements, but of operands of float16 twice as many.
 *
 * For NVIDIA's GPUs; the simulated one keeps matrices whole (LowerMatrixInstructions). */
#include "lower/device/wmma.h"

enum { WARP = 32 };

typedef struct Wmma {
  const char *kernel;
  Map fragments; /* pointer to WmmaFragment */
  Map parts;     /* pointer to that of what a thread holds */
} Wmma;

static const WmmaFragment *fragment_of(Wmma *w, Node *pointer) {
  const WmmaFragment *f = map_get(&w->fragments, pointer);
  if (f && f->m) return f;
  error_raisef("LowerError", pointer->span,
               "kernel %s: matrices of wmma lie in memory of scope wmma.matrix_a, .matrix_b or "
               ".accumulator, and are filled, loaded or stored by a call that tells their shape",
               w->kernel);
}

static int64_t part_of(const WmmaFragment *f, DataType t) {
  bool is_twice = f->matrix != 'c' && t.code == DTYPE_FLOAT && t.bits == 16;
  return is_twice ? 16 : wmma_rows(f) * wmma_columns(f) / WARP;
}

static Node *allocate_part(Mutator *m, Allocate *a) {
  Wmma *w = m->context;
  const WmmaFragment *f = fragment_of(w, a->var);
  int64_t count = 1, extent;
  for each (Node *, e, &a->extents) {
    if (!expr_is_const_int(*e, &extent))
      error_raisef("LowerError", a->node.span,
                   "kernel %s: the size of the matrices '%s' must be a constant, but is %s",
                   w->kernel, AS(Var, a->var)->name, ir_print(*e, NULL));
    count *= extent;
  }
  int64_t size = wmma_rows(f) * wmma_columns(f);
  if (count % size)
    error_raisef("LowerError", a->node.span,
                 "kernel %s: '%s' has %lld elements, but its matrices have %lld", w->kernel,
                 AS(Var, a->var)->name, (long long)count, (long long)size);
  Allocate copy = *a;
  copy.var = pointer_var_new(AS(Var, a->var)->name, a->elem, "local", a->var->span);
  copy.extents = NODES(int_imm(INT32, count / size * part_of(f, a->elem), a->node.span));
  map_set(&w->parts, a->var, copy.var);
  copy.body = mutate(m, a->body);
  return gc_copy(&copy, sizeof copy);
}

/* ---- calls ---- */

/* A matrix by its number: the registers, and from where on they are. */
typedef struct Registers {
  const WmmaFragment *f;
  DataType elem;
  Node *data, *offset;
} Registers;

static Registers registers_of(Wmma *w, Node *pointer, Node *index) {
  const WmmaFragment *f = fragment_of(w, pointer);
  DataType elem = AS(Var, pointer)->elem;
  Node *part = int_imm(INT32, part_of(f, elem), index->span);
  Node *offset = expr_mul(expr_cast(INT32, index, index->span), part);
  return (Registers){f, elem, map_get(&w->parts, pointer), offset};
}

static Node *shape_text(const WmmaFragment *f, int k, Span span) {
  return string_imm(str_format("m%dn%dk%d", f->m, f->n, k), span);
}

static Node *layout_text(Node *layout) {
  bool by_columns = IS(StringImm, layout) && str_same(AS(StringImm, layout)->value, "col_major");
  return string_imm(by_columns ? "col" : "row", layout->span);
}

static Node *lower_fill(Wmma *w, Call *n) {
  Span span = n->node.span;
  Registers r = registers_of(w, n->args.at[0], n->args.at[4]);
  int64_t count = part_of(r.f, r.elem);
  Node *buffer =
      MAKE(Buffer, span, VOID_TYPE, .name = AS(Var, r.data)->name, .elem = r.elem, .data = r.data,
           .shape = NODES(int_imm(INT32, INT32_MAX, span)), .align = 16, .offset_factor = 1);
  NodeVec stores = {0};
  for (int i = 0; i < count; i++)
    vec_push(&stores, stmt_store(buffer, NODES(expr_add(r.offset, int_imm(INT32, i, span))),
                                 expr_cast(r.elem, n->args.at[5], span), span));
  return stmt_seq(stores, span);
}

static Node *lower_load(Wmma *w, Call *n) {
  Span span = n->node.span;
  NodeVec x = n->args;
  Registers r = registers_of(w, x.at[0], x.at[4]);
  NodeVec args =
      NODES(string_imm(str_format("%c", r.f->matrix), span), shape_text(r.f, r.f->k, span),
            layout_text(x.at[7]), r.data, r.offset, x.at[5], x.at[6]);
  return stmt_evaluate(expr_call("ptx_wmma_load", r.elem, args, span), span);
}

static Node *lower_store(Wmma *w, Call *n) {
  Span span = n->node.span;
  NodeVec x = n->args;
  Registers r = registers_of(w, x.at[0], x.at[4]);
  NodeVec args = NODES(shape_text(r.f, r.f->k, span), layout_text(x.at[7]), x.at[5], x.at[6],
                       r.data, r.offset);
  return stmt_evaluate(expr_call("ptx_wmma_store", r.elem, args, span), span);
}

static Node *layout_of(Wmma *w, Registers r, Span span) {
  if (!r.f->layout)
    error_raisef("LowerError", span, "kernel %s: an operand of T.tvm_mma_sync is never loaded",
                 w->kernel);
  return string_imm(str_same(r.f->layout, "col_major") ? "col" : "row", span);
}

static Node *lower_mma(Wmma *w, Call *n) {
  Span span = n->node.span;
  NodeVec x = n->args;
  Registers d = registers_of(w, x.at[0], x.at[1]), a = registers_of(w, x.at[2], x.at[3]),
            b = registers_of(w, x.at[4], x.at[5]), c = registers_of(w, x.at[6], x.at[7]);
  NodeVec args = NODES(shape_text(d.f, a.f->k, span), layout_of(w, a, span), layout_of(w, b, span),
                       string_imm(dtype_text(a.elem), span), string_imm(dtype_text(c.elem), span),
                       string_imm(dtype_text(d.elem), span), a.data, a.offset, b.data, b.offset,
                       c.data, c.offset, d.data, d.offset);
  return stmt_evaluate(expr_call("ptx_wmma_mma", d.elem, args, span), span);
}

static Node *rewrite(Mutator *m, Node *n) {
  static const struct {
    const char *name;
    Node *(*lower)(Wmma *w, Call *n);
  } rows[] = {{"tvm_fill_fragment", lower_fill},
              {"tvm_load_matrix_sync", lower_load},
              {"tvm_store_matrix_sync", lower_store},
              {"tvm_mma_sync", lower_mma}};
  Wmma *w = m->context;
  if (IS(Allocate, n) && map_has(&w->fragments, AS(Allocate, n)->var))
    return allocate_part(m, AS(Allocate, n));
  if (IS(DeclBuffer, n) && map_has(&w->fragments, AS(Buffer, AS(DeclBuffer, n)->buffer)->data))
    return mutate(m, AS(DeclBuffer, n)->body);
  Node *buffer = accessed_buffer(n);
  if (buffer && map_has(&w->fragments, AS(Buffer, buffer)->data))
    error_raisef("LowerError", n->span,
                 "kernel %s: an element of the matrix '%s' has no address: only tensor intrinsics "
                 "touch memory of scope %s",
                 w->kernel, AS(Buffer, buffer)->name, buffer_scope(buffer));
  Node *value = IS(Evaluate, n) ? AS(Evaluate, n)->value : NULL;
  for (size_t i = 0; value && i < sizeof rows / sizeof *rows; i++)
    if (is_intrin_call(value, rows[i].name)) return rows[i].lower(w, AS(Call, value));
  return mutate_children(m, n);
}

Node *pass_lower_wmma_fragments(Node *n, const PassContext *context) {
  PrimFunc *f = AS(PrimFunc, n);
  Wmma w = {.kernel = func_symbol(n) ? func_symbol(n) : "main"};
  if (!target_is(context->target, "cuda")) return n;
  wmma_fragments(w.kernel, f->body, &w.fragments);
  if (!w.fragments.len) return n;
  Mutator m = {.rewrite = rewrite, .context = &w};
  PrimFunc copy = *f;
  copy.body = mutate(&m, f->body);
  return gc_copy(&copy, sizeof copy);
}
