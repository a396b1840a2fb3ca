/* field.c -- the fields of each node kind by name, for code that handles nodes as data. */
#include "ir/ir.h"

static void add(NodeFields *out, const char *name, const char *type, const void *field,
                const void *node) {
  NodeField f = {name, type, (size_t)((const char *)field - (const char *)node)};
  vec_push(out, f);
}

#define NODE(Kind, family, spelling)                                                               \
  static void describe_##Kind(NodeFields *out) {                                                   \
    static const Kind sample;                                                                      \
    const Kind *n = &sample;                                                                       \
    (void)n, (void)out;
#define FIELD(type, field, role) add(out, #field, #type, &n->field, n);
#define END(Kind)                }
#include "ir/node.def"

static const struct {
  void (*describe)(NodeFields *out);
  size_t size;
} kinds[] = {
#define NODE(Kind, family, spelling) {describe_##Kind, sizeof(Kind)},
#define FIELD(type, field, role)
#define END(Kind)
#include "ir/node.def"
};

size_t node_size(NodeKind kind) { return kinds[kind].size; }

const NodeFields *node_fields(NodeKind kind) {
  static NodeFields known[NK_COUNT];
  if (!known[kind].len) kinds[kind].describe(&known[kind]);
  return &known[kind];
}
