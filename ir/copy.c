/* copy.c -- substitution of variables, and copies whose bound variables are new. */
#include "ir/ir.h"

static Node *substitute_node(Mutator *m, Node *n) {
  const Map *map = m->context;
  bool replaceable = IS(Var, n) || IS(Buffer, n) || IS(RelaxVar, n) || IS(GlobalVar, n);
  Node *to = replaceable ? map_get(map, n) : NULL;
  return to ? to : mutate_children(m, n);
}

Node *substitute(Node *n, const Map *map) {
  if (!map->live) return n;
  Mutator m = {.rewrite = substitute_node, .context = (void *)(uintptr_t)map};
  return mutate(&m, n);
}

/* ---- what is bound inside a node ---- */

/* Variables to their copies; buffers to themselves: they are rebuilt around their variables. */
typedef struct Fresh {
  Map map;
} Fresh;

static void bind_leaf(Fresh *f, Node *n) {
  if (map_has(&f->map, n)) return;
  size_t size = IS(Var, n) ? sizeof(Var) : IS(RelaxVar, n) ? sizeof(RelaxVar) : 0;
  map_set(&f->map, n, size ? gc_copy(n, size) : n);
}

static WalkResult bind_mentioned(Walker *w, Node *n) {
  if (IS(Var, n)) bind_leaf(w->context, n);
  return WALK_ON;
}

/* The free variables of a parameter's shape or type are bound with the parameter. */
static void bind_vars_of(Fresh *f, Node *n) {
  Walker w = {.enter = bind_mentioned, .context = f, .once = true};
  walk(&w, n);
}

/* `open`: variables of its shape, strides and offset are bound with it if nothing bound them
 * before. Otherwise they belong to the surroundings; the pointer is the buffer's own. */
static void bind_buffer(Fresh *f, Node *n, bool open) {
  Buffer *b = AS(Buffer, n);
  bind_leaf(f, n);
  if (IS(Var, b->data)) bind_leaf(f, b->data);
  if (!open) return;
  for each (Node *, d, &b->shape) bind_vars_of(f, *d);
  for each (Node *, d, &b->strides) bind_vars_of(f, *d);
  bind_vars_of(f, b->elem_offset);
}

static void bind_def(Fresh *f, Node *n, bool open) {
  if (!n) return;
  if (IS(Buffer, n)) bind_buffer(f, n, open);
  else bind_leaf(f, n);
  if (open && IS(RelaxVar, n)) bind_vars_of(f, AS(RelaxVar, n)->sinfo);
}

static void bind_defs(Fresh *f, NodeVec v, bool open) {
  for each (Node *, n, &v) bind_def(f, *n, open);
}

/* A view of a pointer that something else made: its pointer is not bound here. */
static bool is_view(const Node *n) { return IS(DeclBuffer, n); }

/* Do the definitions of this node bind the variables that they mention? */
static bool binds_mentioned(const Node *n) {
  return IS(PrimFunc, n) || IS(Function, n) || IS(MatchCast, n) || IS(MatchBufferRegion, n);
}

static WalkResult bind_definitions(Walker *w, Node *node) {
  Fresh *f = w->context;
  bool open = binds_mentioned(node);
  if (is_view(node)) {
    bind_leaf(f, AS(DeclBuffer, node)->buffer);
    return WALK_ON;
  }
  if (IS(IRModule, node)) return WALK_ON; /* global names stay */
#define BIND_SUB(x)
#define BIND_SUBS(x)
#define BIND_DEF(x)  bind_def(f, n->x, open);
#define BIND_DEFS(x) bind_defs(f, n->x, open);
#define BIND_USE(x)
#define BIND_INFO(x)
#define BIND_VAL(x)
#define BIND_INTS(x)
#define BIND_STR(x)
#define BIND_STRS(x)
#define BIND_NAME(x)
#define BIND_TENSOR(x)
  switch (node->kind) {
#define NODE(Kind, family, spelling)                                                               \
  case NK_##Kind: {                                                                                \
    Kind *n = (Kind *)(void *)node;                                                                \
    (void)n;
#define FIELD(type, name, role) BIND_##role(name)
#define END(Kind)                                                                                  \
  break;                                                                                           \
  }
#include "ir/node.def"
  }
  if (IS(MatchCast, node)) bind_vars_of(f, AS(MatchCast, node)->sinfo);
  return WALK_ON;
}

/* ---- the copy ---- */

static Node *rename_node(Mutator *m, Node *n) {
  Fresh *f = m->context;
  Node *copy = IS(Var, n) || IS(Buffer, n) || IS(RelaxVar, n) ? map_get(&f->map, n) : NULL;
  if (!copy) return mutate_children(m, n);
  if (IS(RelaxVar, copy)) AS(RelaxVar, copy)->sinfo = mutate(m, AS(RelaxVar, n)->sinfo);
  if (!IS(Buffer, copy)) return copy;
  copy = mutate_children(m, n);
  return copy != n ? copy : gc_copy(n, sizeof(Buffer));
}

Node *copy_with_fresh_vars(Node *n) {
  Fresh f = {0};
  Walker w = {.enter = bind_definitions, .context = &f};
  walk(&w, n);
  Mutator m = {.rewrite = rename_node, .context = &f};
  return mutate(&m, n);
}
