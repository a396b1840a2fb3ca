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

/* Names that only today's dialect has: open namespaces, the levels of a device, scalars that can
 * change. */
static WalkResult find_today(Walker *w, Node *n) {
  bool open = IS(Call, n) && family_name(AS(Call, n)->op);
  bool entry = is_intrin_call(n, "device_entry");
  Node *declared = allocated_here(w->context, n);
  bool scalar = declared && is_scalar_buffer(AS(Buffer, AS(DeclBuffer, declared)->buffer));
  return open || entry || scalar || IS(ScopeIdDef, n) ? WALK_STOP : WALK_ON;
}

bool needs_today(Printer *p, Node *body) {
  Walker w = {.enter = find_today, .context = p, .once = true};
  return !walk(&w, body);
}
