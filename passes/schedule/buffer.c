/* buffer.c -- primitives on buffers: the scope of memory and the pitch of an axis. */
#include "passes/schedule/schedule_impl.h"

/* What stands before a dot is known; so are fragments of matrix instructions of any shape,
 * "m16n8k16.matrixA". */
const char *scope_arg(ScheduleCall *c, int i) {
  static const char *const words[] = {"global", "shared", "local",   "warp",
                                      "wmma",   "metal",  "texture", "amx"};
  enum { WORDS = sizeof words / sizeof *words };
  const char *scope = text_arg(c, i, "storage_scope");
  const char *word = str_copy_n(scope, strcspn(scope, "."));
  if (str_begins(scope + strlen(word), ".matrix")) return scope;
  for (int k = 0; k < WORDS; k++)
    if (str_same(words[k], word)) return scope;
  const char *near = str_near(word, words, WORDS);
  schedule_fail(c, NULL, "there is no storage scope '%s'%s", scope,
                near ? str_format("; did you mean '%s'?", near) : "");
}

void primitive_set_scope(ScheduleCall *c) {
  BlockRef *ref = block_arg(c, 0);
  Block *b = AS(Block, ref->node);
  Node *buffer = buffer_arg(c, b, b->writes, "writes");
  const char *to = scope_arg(c, 2);
  PrimFunc f = *AS(PrimFunc, prim_func_of(c, ref->func));
  for each (Node *, param, &f.buffers)
    if (*param == buffer)
      schedule_fail(c, ref->node, "the buffer '%s' is a parameter of the function",
                    AS(Buffer, buffer)->name);
  if (str_same(buffer_scope(buffer), to)) return;
  Buffer copy = *AS(Buffer, buffer);
  Var data = *AS(Var, copy.data);
  data.scope = str_intern(to);
  copy.data = gc_copy(&data, sizeof data);
  Map map = {0};
  map_set(&map, buffer, gc_copy(&copy, sizeof copy));
  map_set(&map, AS(Buffer, buffer)->data, copy.data);
  schedule_substitute(c, ref->func, &map);
}

/* [[buffer_index, axis, factor, offset], ...], one of a buffer and axis. */
void primitive_storage_align(ScheduleCall *c) {
  BlockRef *ref = block_arg(c, 0);
  Block copy = *AS(Block, ref->node);
  Node *buffer = buffer_arg(c, &copy, copy.writes, "writes");
  Place place = place_of(c, ref->func, ref->node);
  need_internal_buffer(c, &place, buffer);
  int64_t axis = int_arg(c, 2, "axis"), factor = int_arg(c, 3, "factor");
  int ndim = AS(Buffer, buffer)->shape.len;
  if (axis < 0) axis += ndim;
  if (axis < 0 || axis >= ndim)
    schedule_fail(c, ref->node, "the buffer '%s' has %d axes, but axis is %lld",
                  AS(Buffer, buffer)->name, ndim, (long long)axis);
  if (factor <= 0) schedule_fail(c, ref->node, "factor must be positive");
  NodeVec row = NODES(c->args.at[1], int_imm(INT32, axis, c->span), int_imm(INT32, factor, c->span),
                      int_imm(INT32, int_arg(c, 4, "offset"), c->span)),
          rows = {0};
  Node *old = dict_get(copy.annotations, "buffer_dim_align");
  for (int i = 0; old && i < AS(Array, old)->items.len; i++) {
    NodeVec known = AS(Array, AS(Array, old)->items.at[i])->items;
    bool same = node_equal(known.at[0], row.at[0], false, NULL) &&
                node_equal(known.at[1], row.at[1], false, NULL);
    if (!same) vec_push(&rows, AS(Array, old)->items.at[i]);
  }
  vec_push(&rows, MAKE(Array, c->span, VOID_TYPE, .items = row));
  copy.annotations = dict_with(copy.annotations, "buffer_dim_align",
                               MAKE(Array, c->span, VOID_TYPE, .items = rows));
  Node *before = ref->node, *after = gc_copy(&copy, sizeof copy);
  schedule_renew(c, before, after);
  schedule_replace(c, ref->func, before, after);
}
