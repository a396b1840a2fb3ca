/* today.c -- which dialect the text of a prim_func follows: the classic one, or today's, in which
 * names can be assigned again, and memory is allocated where it is asked for. */
#include "ir/print/print.h"

bool says_today(const Printer *p) { return p->options.tvm_style || p->is_today; }

const char *block_word(const Printer *p, const char *classic) {
  return says_today(p)
             ? str_format("s%s%s", strncmp(classic, "block", 5) == 0 ? "" : "block_", classic)
             : classic;
}

static bool same_dims(NodeVec a, NodeVec b) {
  if (a.len != b.len) return false;
  for (int i = 0; i < a.len; i++)
    if (a.at[i] != b.at[i] && !node_equal(a.at[i], b.at[i], false, NULL)) return false;
  return true;
}

static bool has_annotations(const Allocate *a) {
  return a->annotations && AS(Dict, a->annotations)->keys.len;
}

Node *allocated_here(const Printer *p, Node *n) {
  if (!IS(Allocate, n) || !IS(DeclBuffer, AS(Allocate, n)->body)) return NULL;
  Allocate *a = AS(Allocate, n);
  if (has_annotations(a) && !p->options.tvm_style) return NULL;
  Buffer *b = AS(Buffer, AS(DeclBuffer, a->body)->buffer);
  const Var *data = AS(Var, a->var);
  bool whole = b->data == a->var && dtype_equal(a->elem, b->elem) && !a->cond && data->scope &&
               dtype_equal(data->elem, b->elem) && !data->is_size &&
               same_dims(a->extents, b->shape);
  return whole ? a->body : NULL;
}

bool is_scalar_buffer(const Buffer *b) {
  return b->shape.len == 1 && expr_is_one(b->shape.at[0]) &&
         dtype_equal(b->shape.at[0]->dtype, INT32) && !b->strides.len && !b->elem_offset &&
         b->align == 64 && b->offset_factor == 1 && !b->auto_broadcast && !b->axis_separators.len &&
         !b->layout && !b->allocated_addr.len && str_same(buffer_scope(&b->node), "local");
}

/* What a program of blocks calls, too, once device functions have left it. */
static bool launches(const char *family) { return str_same(family, "call_ffi_kernel"); }

bool needs_today(const Printer *p, Node *n) {
  if (IS(ScopeIdDef, n)) return true;
  if (IS(Call, n)) {
    const Intrin *in = intrin_of(AS(Call, n)->op);
    const char *open = in ? NULL : family_name(AS(Call, n)->op);
    return in ? str_same(in->name, "device_entry") : open && !launches(open);
  }
  Node *declared = allocated_here(p, n);
  return declared && is_scalar_buffer(AS(Buffer, AS(DeclBuffer, declared)->buffer));
}
