/* node.c -- names and families of node kinds, and vectors of nodes. */
#include "ir/ir.h"

static const struct {
  const char *name, *spelling;
  NodeFamily family;
} kinds[] = {
#define NODE(Kind, family, spelling) {#Kind, spelling, FAMILY_##family},
#define FIELD(type, name, role)
#define END(Kind)
#include "ir/node.def"
};

const char *const iter_kind_names[ITER_KINDS] = {"DataPar", "ThreadIndex", "CommReduce", "Ordered",
                                                 "Opaque"};

const char *node_kind_name(NodeKind kind) { return kinds[kind].name; }
const char *node_spelling(NodeKind kind) { return kinds[kind].spelling; }
NodeFamily node_family(NodeKind kind) { return kinds[kind].family; }

static const bool binary_kinds[NK_COUNT] = {
#define BINARY(Kind, spelling) [NK_##Kind] = true,
#define NODE(Kind, family, spelling)
#define FIELD(type, name, role)
#define END(Kind)
#include "ir/node.def"
};

bool node_is_binary(NodeKind kind) { return binary_kinds[kind]; }

void node_check_failed(const Node *n, NodeKind want, const char *file, int line) {
  const char *found = n ? kinds[n->kind].name : "NULL";
  error_bug(file, line, "expected a %s node, found %s", kinds[want].name, found);
}

NodeVec node_vec(int n, ...) {
  NodeVec v = {.at = NEW_ARRAY(Node *, n), .len = n, .cap = n};
  va_list args;
  va_start(args, n);
  for (int i = 0; i < n; i++) v.at[i] = va_arg(args, Node *);
  va_end(args);
  return v;
}
