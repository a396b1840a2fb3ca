/* inject_prefetch.c -- loops that ask for it bring near what they will read of parameters.
 *
 * In:  flat loops of one index. The annotation software_prefetch says how many bytes before a load
 *      its memory is asked for.
 * Out: such a loop begins its steps with T.prefetch, of each line of the cache that a step reads,
 *      where the parameter is read in order: the next step begins where this one ends. What a
 * kernel has stored itself is near already. */
#include "ir/arith/arith.h"
#include "passes/tensor/tensor.h"

enum {
  LINE = 64,
  LEAST = 16,
  MOST = 16 * LINE
}; /* bytes, of a step: beyond them it is no stream */

typedef struct Streams {
  Map *parameters; /* the pointers of buffers that callers pass */
  Map inside;      /* variables that the loop defines */
  For *loop;
  Analyzer *analyzer;
  int64_t ahead;
  NodeVec loads; /* one for each stream: the first one met */
  NodeVec prefetches;
} Streams;

static Node *first_index(Node *index) { return IS(Ramp, index) ? AS(Ramp, index)->base : index; }

/* How many elements a load moves on with each step; 0 if that differs. */
static int64_t elements_of_step(Streams *s, Node *index) {
  Node *one = int_imm(s->loop->var->dtype, 1, index->span);
  Map next = {0};
  map_set(&next, s->loop->var, expr_add(s->loop->var, one));
  int64_t n;
  Node *step = arith_simplify(s->analyzer, expr_sub(substitute(index, &next), index));
  return expr_is_const_int(step, &n) ? n : 0;
}

/* Does a load read what a step of another stream reads? */
static bool is_of_stream(Streams *s, BufferLoad *l, BufferLoad *stream, int64_t step) {
  if (l->buffer != stream->buffer) return false;
  Node *from = first_index(stream->indices.at[0]), *to = first_index(l->indices.at[0]);
  int64_t distance;
  return expr_is_const_int(arith_simplify(s->analyzer, expr_sub(to, from)), &distance) &&
         distance > -step && distance < step;
}

static void add_stream(Streams *s, BufferLoad *l, int64_t bytes) {
  int64_t size = dtype_nbytes(AS(Buffer, l->buffer)->elem);
  Node *index = first_index(l->indices.at[0]);
  vec_push(&s->loads, (Node *)l);
  for (int64_t at = 0; at < bytes; at += LINE) {
    Node *min = expr_add(index, int_imm(index->dtype, (s->ahead + at) / size, index->span));
    Node *line = MAKE(Range, index->span, VOID_TYPE, .min = min,
                      .extent = int_imm(index->dtype, LINE / size, index->span));
    Node *region =
        MAKE(BufferRegion, index->span, VOID_TYPE, .buffer = l->buffer, .region = NODES(line));
    Node *call = expr_call("prefetch", VOID_TYPE, NODES(region), index->span);
    vec_push(&s->prefetches, stmt_evaluate(call, index->span));
  }
}

static WalkResult find_load(Walker *w, Node *n) {
  Streams *s = w->context;
  if (!IS(BufferLoad, n)) return WALK_ON;
  BufferLoad *l = AS(BufferLoad, n);
  Buffer *b = AS(Buffer, l->buffer);
  Node *index = first_index(l->indices.at[0]);
  if (!map_get(s->parameters, b->data) || l->indices.len != 1 || mentions_any(index, &s->inside))
    return WALK_ON;
  int64_t size = dtype_nbytes(b->elem), step = elements_of_step(s, index);
  if (step * size < LEAST || step * size > MOST || s->ahead % size) return WALK_ON;
  for each (Node *, stream, &s->loads)
    if (is_of_stream(s, l, AS(BufferLoad, *stream), step)) return WALK_ON;
  add_stream(s, l, step * size);
  return WALK_ON;
}

static Node *with_prefetches(Map *parameters, For *f, int64_t ahead) {
  Streams s = {.parameters = parameters, .loop = f, .analyzer = arith_new(), .ahead = ahead};
  add_definitions(f->body, &s.inside);
  Walker w = {.enter = find_load, .context = &s};
  walk(&w, f->body);
  For out = *f;
  out.annotations = dict_with(f->annotations, "software_prefetch", NULL);
  if (!AS(Dict, out.annotations)->keys.len) out.annotations = NULL;
  vec_push(&s.prefetches, f->body);
  out.body = stmt_seq(s.prefetches, f->node.span);
  return gc_copy(&out, sizeof out);
}

static Node *rewrite(Mutator *m, Node *n) {
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  n = mutate_children(m, n);
  int64_t ahead = IS(For, n) ? dict_get_int(AS(For, n)->annotations, "software_prefetch", 0) : 0;
  return ahead > 0 ? with_prefetches(m->context, AS(For, n), ahead) : n;
}

Node *pass_inject_prefetch(Node *n, const PassContext *context) {
  (void)context;
  Map parameters = {0};
  PrimFunc *f = AS(PrimFunc, n);
  for each (Node *, b, &f->buffers)
    if (*b) map_set(&parameters, AS(Buffer, *b)->data, *b);
  Mutator m = {.rewrite = rewrite, .context = &parameters};
  return prim_func_with_body(n, mutate(&m, f->body));
}
