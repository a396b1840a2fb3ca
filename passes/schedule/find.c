/* find.c -- primitives that find blocks and loops. They change nothing. */
#include "passes/schedule/schedule_impl.h"

typedef struct ByName {
  const char *name;
  NodeVec found;
  StrVec names; /* of all blocks, for the message */
} ByName;

static WalkResult note_block(Walker *w, Node *n) {
  ByName *b = w->context;
  if (IS(Block, n)) {
    vec_push(&b->names, AS(Block, n)->name);
    if (str_same(AS(Block, n)->name, b->name)) vec_push(&b->found, n);
  }
  return node_family(n->kind) == FAMILY_STMT ? WALK_ON : WALK_PRUNE;
}

/* The function that a name of a block is looked up in. A schedule of one function knows it as
 * "main", too. */
static const char *function_for(ScheduleCall *c, const char *func) {
  Node *module = schedule_module(c->schedule);
  bool is_alone = AS(IRModule, module)->functions.len == 1;
  if (!func || (is_alone && str_same(func, "main"))) func = schedule_working_on(c->schedule);
  if (func) {
    if (!IS(PrimFunc, module_find(module, func)))
      schedule_fail(c, NULL, "the module has no tensor program '%s'", func);
    return str_intern(func);
  }
  for each (Node *, f, &AS(IRModule, module)->functions)
    if (IS(PrimFunc, *f))
      error_raisef("ValueError", c->span,
                   "the schedule does not know which function to be working on: give func_name, or "
                   "call work_on");
  schedule_fail(c, NULL, "the module has no tensor program");
}

BlockRef *find_block(ScheduleCall *c, const char *name, const char *func) {
  func = function_for(c, func);
  ByName b = {.name = name};
  Walker w = {.enter = note_block, .context = &b};
  walk(&w, AS(PrimFunc, prim_func_of(c, func))->body);
  if (b.found.len == 1) return block_ref(c, func, b.found.at[0]);
  if (b.found.len)
    schedule_fail(c, NULL, "function '%s' has %d blocks '%s'", func, b.found.len, name);
  const char *near = str_near(name, b.names.at, b.names.len);
  schedule_fail(c, NULL, "function '%s' has no block '%s'%s", func, name,
                near ? str_format("; did you mean '%s'?", near) : "");
}

void primitive_get_block(ScheduleCall *c) {
  const char *func = c->args.at[1] ? text_arg(c, 1, "func_name") : NULL;
  BlockRef *ref = find_block(c, text_arg(c, 0, "the name of a block"), func);
  give_block(c, ref->func, ref->node);
}

void primitive_get_loops(ScheduleCall *c) {
  BlockRef *ref = block_arg(c, 0);
  Place p = place_of(c, ref->func, ref->node);
  NodeVec loops = loops_around(&p);
  for each (Node *, l, &loops) give_loop(c, ref->func, AS(For, *l)->var);
}

static void give_blocks(ScheduleCall *c, const char *func, NodeVec blocks) {
  for each (Node *, b, &blocks) give_block(c, func, *b);
}

static NodeVec blocks_of(NodeVec realizes) {
  NodeVec blocks = {0};
  for each (Node *, r, &realizes) vec_push(&blocks, AS(BlockRealize, *r)->block);
  return blocks;
}

void primitive_get_child_blocks(ScheduleCall *c) {
  Node *stmt;
  const char *func;
  if (is_block_arg(c, 0)) {
    BlockRef *ref = block_arg(c, 0);
    stmt = ref->node;
    func = ref->func;
  } else {
    Place p = loop_arg(c, 0);
    stmt = vec_last(&p.path);
    func = p.func;
  }
  give_blocks(c, func, blocks_of(child_realizes(stmt)));
}

void primitive_get_producers(ScheduleCall *c) {
  BlockRef *ref = block_arg(c, 0);
  Place p = place_of(c, ref->func, ref->node);
  if (scope_block(&p)) give_blocks(c, ref->func, producers_of(scope_block(&p), ref->node));
}

void primitive_get_consumers(ScheduleCall *c) {
  BlockRef *ref = block_arg(c, 0);
  Place p = place_of(c, ref->func, ref->node);
  if (scope_block(&p)) give_blocks(c, ref->func, consumers_of(scope_block(&p), ref->node));
}

/* Buffers that blocks between the function and the scope own are not seen outside. */
void primitive_get_output_blocks(ScheduleCall *c) {
  BlockRef *ref = block_arg(c, 0);
  Map owned = {0};
  Place p = place_of(c, ref->func, ref->node);
  for each (Node *, s, &p.path)
    if (IS(Block, *s))
      for each (Node *, b, &AS(Block, *s)->alloc_buffers) map_set(&owned, *b, *b);
  NodeVec realizes = child_realizes(ref->node);
  for each (Node *, r, &realizes) {
    Block *b = AS(Block, AS(BlockRealize, *r)->block);
    bool seen = false;
    for each (Node *, region, &b->writes)
      seen |= !map_has(&owned, AS(BufferRegion, *region)->buffer);
    if (seen) give_block(c, ref->func, &b->node);
  }
}
