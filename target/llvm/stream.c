/* stream.c -- stores past the caches, where the annotation pragma_nontemporal_stores of a loop asks
 * for them.
 *
 * Meant are stores of whole vectors to memory that the function was given. They must be aligned:
 * the loop is written twice, and the one with such stores runs where the pointers are aligned.
 * Other threads would see the stores late, so a fence stands where the function ends. */
#include "ir/arith/arith.h"
#include "target/llvm/codegen.h"

#define LINE         64 /* bytes that pointers are checked to be multiples of */
#define LEAST_VECTOR 16

unsigned stream_alignment(Gen *g, BufferStore *n) {
  Buffer *b = AS(Buffer, n->buffer);
  Node *index = n->indices.len == 1 ? n->indices.at[0] : NULL;
  LLVMValueRef base = map_get(&g->f->values, b->data);
  if (!base || LLVMIsAAllocaInst(base) || n->predicate) return 0;
  if (!index || !IS(Ramp, index) || !expr_is_one(AS(Ramp, index)->stride)) return 0;
  if (b->elem.lanes > 1 || (b->elem_offset && !expr_is_zero(b->elem_offset))) return 0;
  int size = lowered_nbytes(b->elem), bytes = size * index->dtype.lanes;
  int align = bytes < LINE ? bytes : LINE;
  if (align < LEAST_VECTOR || bytes % align || align & (align - 1)) return 0;
  Modular at = arith_modular(arith_new(), AS(Ramp, index)->base);
  return at.coeff % (align / size) || at.base % (align / size) ? 0 : (unsigned)align;
}

typedef struct Search {
  Gen *g;
  LLVMValueRef bits; /* all addresses, or'ed; NULL if there are none */
} Search;

static WalkResult note_pointer(Walker *w, Node *n) {
  Search *s = w->context;
  if (!IS(BufferStore, n)) return node_is_expr(n) ? WALK_PRUNE : WALK_ON;
  if (!stream_alignment(s->g, AS(BufferStore, n))) return WALK_PRUNE;
  LLVMValueRef base = gen_expr(s->g, AS(Buffer, AS(BufferStore, n)->buffer)->data);
  LLVMValueRef address = LLVMBuildPtrToInt(s->g->b, base, type_int(s->g, 64), "");
  s->bits = s->bits ? LLVMBuildOr(s->g->b, s->bits, address, "") : address;
  return WALK_PRUNE;
}

LLVMValueRef stream_condition(Gen *g, For *n) {
  if (g->f->streams || !dict_get_int(n->annotations, "pragma_nontemporal_stores", 0)) return NULL;
  Search s = {.g = g};
  Walker w = {.enter = note_pointer, .context = &s};
  walk(&w, n->body);
  if (!s.bits) return NULL;
  LLVMValueRef odd = LLVMBuildAnd(g->b, s.bits, const_i64(g, LINE - 1), "");
  return LLVMBuildICmp(g->b, LLVMIntEQ, odd, const_i64(g, 0), "aligned");
}

void stream_store(Gen *g, LLVMValueRef store, unsigned align) {
  LLVMSetAlignment(store, align);
  LLVMMetadataRef one = LLVMValueAsMetadata(const_i32(g, 1));
  LLVMMetadataRef node = LLVMMDNodeInContext2(g->context, &one, 1);
  LLVMSetMetadata(store, LLVMGetMDKindIDInContext(g->context, "nontemporal", 11),
                  LLVMMetadataAsValue(g->context, node));
}

void stream_end(Gen *g) {
  if (g->f->has_streamed) LLVMBuildFence(g->b, LLVMAtomicOrderingSequentiallyConsistent, false, "");
}
