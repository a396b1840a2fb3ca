/* inject_software_pipeline.c -- the statements of a loop, assigned to stages, run for different
 * iterations at the same time.
 *
 * In:  a loop annotated with "software_pipeline_stage" and "software_pipeline_order": for each
 *      statement of its body (which may be an opaque block with buffers) how many steps later than
 *      its iteration it runs, and its place among the statements of a step. Matched buffers are
 * gone (after LowerMatchBuffer). A pipelined loop inside of another one is one statement or, if the
 * annotations count so, three: its first steps, the loop and its last steps. Out: the steps in
 * which only the first stages run, a loop of the steps in which all run, and those in which only
 * the last ones do. A buffer of the body gets as many versions as iterations need it at one time.
 * Not: what the iterations share (buffers from outside) is not looked into: that iterations may
 * overlap is the promise of the annotation.
 *
 * "software_pipeline_async_stages": where the target has copies that a thread does not wait for,
 * and the first stage only brings shared memory that later ones only read, it is marked for such
 * copies
 * ("async_scope"); each step commits those it began, and one that uses them first waits for those
 * of its iteration. Then one barrier at the start of a step is all that the threads need
 * ("async_pipeline": ThreadSync adds none). Elsewhere the list is a hint, and dropped.
 *
 * Products by T.ptx_wgmma run on while threads go on: those of a step are a group, and the next
 * step waits for it. What they read has one version more, so that copies don't overtake them. */
#include "ir/arith/arith.h"
#include "lower/device/wmma.h"

/* On a block: it is what a pipelined loop inside of another one became. */
#define NESTED "tvms.nested_pipeline"
#define STAGE  "software_pipeline_stage"
#define ORDER  "software_pipeline_order"
#define ASYNC  "software_pipeline_async_stages"

typedef struct Part {
  Node *stmt;
  int64_t stage, order;
  Map reads, writes; /* buffers */
  bool runs_on;      /* it has products that no one waits for */
} Part;

typedef struct SoftwarePipeline {
  For *loop;
  BlockRealize *realize; /* or NULL */
  VEC(Part) parts;       /* as in the body */
  Map versions;          /* buffer to the number of them, if that is more than one */
  Map buffers;           /* such a buffer to the one with all versions */
  NodeVec hoisted;       /* buffers of pipelined loops inside */
  const Map *fragments;  /* of wmma: pointer to WmmaFragment */
  Node *iteration;       /* counts from 0: which version is used */
  int64_t last_stage;
  bool is_nested;   /* another pipelined loop is around */
  bool has_async;   /* the target has copies that no one waits for */
  int64_t distance; /* stages from such copies to their use; 0: there are none */
  Analyzer *analyzer;
} SoftwarePipeline;

_Noreturn static void refuse(SoftwarePipeline *p, const char *why) {
  error_raisef("LowerError", p->loop->node.span, "the loop '%s' can't be pipelined: %s",
               AS(Var, p->loop->var)->name, why);
}

/* ---- parts ---- */

static WalkResult note_access(Walker *w, Node *n) {
  Part *part = w->context;
  if (IS(BufferStore, n)) map_set(&part->writes, AS(BufferStore, n)->buffer, n);
  if (IS(BufferLoad, n)) map_set(&part->reads, AS(BufferLoad, n)->buffer, n);
  /* The address of an element may be written to. */
  if (is_intrin_call(n, "address_of") && IS(BufferLoad, AS(Call, n)->args.at[0]))
    map_set(&part->writes, AS(BufferLoad, AS(Call, n)->args.at[0])->buffer, n);
  if (IS(BufferRegion, n) && !map_has(&part->writes, AS(BufferRegion, n)->buffer))
    map_set(&part->reads, AS(BufferRegion, n)->buffer, n);
  part->runs_on |= is_intrin_call(n, "ptx_wgmma");
  if (IS(Block, n))
    for each (Node *, r, &AS(Block, n)->writes)
      map_set(&part->writes, AS(BufferRegion, *r)->buffer, n);
  return WALK_ON;
}

static int64_t annotated(SoftwarePipeline *p, const char *key, int i) {
  Node *list = dict_get(p->loop->annotations, key);
  int64_t value;
  if (!IS(Array, list) || AS(Array, list)->items.len <= i ||
      !expr_is_const_int(AS(Array, list)->items.at[i], &value) || value < 0)
    refuse(p, str_format("%s must be a list with a number for each of the %d statements", key,
                         p->parts.len));
  return value;
}

static void check_order(SoftwarePipeline *p) {
  for each (Part, a, &p->parts) {
    if (a->order >= p->parts.len) refuse(p, "an order is larger than the number of statements");
    for each (Part, b, &p->parts)
      if (a != b && a->order == b->order) refuse(p, "two statements have the same order");
  }
}

static bool is_marked(Node *n) {
  return IS(For, n) &&
         (dict_get(AS(For, n)->annotations, STAGE) || dict_get(AS(For, n)->annotations, ORDER));
}

/* How many statements the annotations tell of. */
static int annotated_parts(const SoftwarePipeline *p) {
  Node *list = dict_get(p->loop->annotations, STAGE);
  return IS(Array, list) ? AS(Array, list)->items.len : 0;
}

/* Of a pipelined loop inside: its three statements, whose buffers become those of this loop. */
static NodeVec take_apart(SoftwarePipeline *p, Node *stmt) {
  Block *b = IS(BlockRealize, stmt) ? AS(Block, AS(BlockRealize, stmt)->block) : NULL;
  if (!b || !dict_get(b->annotations, NESTED) || !IS(SeqStmt, b->body)) return NODES(stmt);
  for each (Node *, x, &b->alloc_buffers) vec_push(&p->hoisted, *x);
  return AS(SeqStmt, b->body)->stmts;
}

static void add_parts(SoftwarePipeline *p, NodeVec stmts, Node *cond) {
  bool is_apart = stmts.len != annotated_parts(p);
  for each (Node *, stmt, &stmts) {
    NodeVec parts = is_apart ? take_apart(p, *stmt) : NODES(*stmt);
    for each (Node *, x, &parts) {
      Node *part = cond ? MAKE(IfThenElse, (*x)->span, VOID_TYPE, .cond = cond, .then = *x) : *x;
      vec_push(&p->parts, ((Part){.stmt = part}));
    }
  }
}

static void find_parts(SoftwarePipeline *p) {
  Node *body = p->loop->body, *cond = NULL;
  if (IS(BlockRealize, body) && !AS(BlockRealize, body)->iter_values.len) {
    p->realize = AS(BlockRealize, body);
    Block *b = AS(Block, p->realize->block);
    if (b->init || b->match_buffers.len) refuse(p, "run LowerInitBlock and LowerMatchBuffer first");
    if (!expr_is_one(p->realize->predicate)) cond = p->realize->predicate;
    body = b->body;
  }
  add_parts(p, IS(SeqStmt, body) ? AS(SeqStmt, body)->stmts : NODES(body), cond);
  for (int i = 0; i < p->parts.len; i++) {
    Part *part = &p->parts.at[i];
    part->stage = annotated(p, STAGE, i);
    part->order = annotated(p, ORDER, i);
    if (part->stage > p->last_stage) p->last_stage = part->stage;
    Walker w = {.enter = note_access, .context = part};
    walk(&w, part->stmt);
  }
  enum { MAX_STAGES = 64 };
  if (p->last_stage > MAX_STAGES) refuse(p, "there are too many stages");
  check_order(p);
}

/* ---- versions of buffers ---- */

static bool uses(const Part *p, Node *buffer) {
  return map_has(&p->reads, buffer) || map_has(&p->writes, buffer);
}

/* Does b of an iteration come after a of it? */
static bool follows(const Part *a, const Part *b) {
  return b->stage > a->stage || (b->stage == a->stage && b->order > a->order);
}

static void check_dependence(SoftwarePipeline *p, Part *a, Part *b) {
  if (follows(a, b)) return;
  for each (MapEntry, e, &b->reads)
    if (map_has(&a->writes, e->key))
      refuse(p, str_format("'%s' would be read before it is written",
                           AS(Buffer, (Node *)(uintptr_t)e->key)->name));
  for each (MapEntry, e, &b->writes)
    if (uses(a, (Node *)(uintptr_t)e->key))
      refuse(p, str_format("'%s' would be written before an earlier statement uses it",
                           AS(Buffer, (Node *)(uintptr_t)e->key)->name));
}

static bool is_shared(const Node *buffer) { return str_begins(buffer_scope(buffer), "shared"); }

/* An iteration needs its version until the last statement that uses it has run; the first statement
 * that uses it is the first to touch it again. */
static int64_t versions_of(SoftwarePipeline *p, Node *buffer) {
  Part *first = NULL;
  int64_t count = 1;
  for each (Part, x, &p->parts) {
    if (!uses(x, buffer)) continue;
    if (!first) first = x;
    int64_t n = x->stage - first->stage + (first->order < x->order);
    n += x->runs_on && is_shared(buffer);
    if (n > count) count = n;
  }
  return count;
}

static void make_versions(SoftwarePipeline *p, Node *buffer) {
  int64_t count = versions_of(p, buffer);
  if (count == 1) return;
  Buffer b = *AS(Buffer, buffer);
  Span s = b.node.span;
  NodeVec shape = NODES(int_imm(INT32, count, s)), strides = {0};
  if (b.strides.len) vec_push(&strides, expr_mul(b.shape.at[0], b.strides.at[0]));
  for each (Node *, x, &b.shape) vec_push(&shape, *x);
  for each (Node *, x, &b.strides) vec_push(&strides, *x);
  b.shape = shape;
  b.strides = strides;
  map_set(&p->versions, buffer, (void *)(intptr_t)count);
  map_set(&p->buffers, buffer, gc_copy(&b, sizeof b));
}

static Node *version(SoftwarePipeline *p, Node *buffer, Span span) {
  int64_t count = (intptr_t)map_get(&p->versions, buffer);
  return expr_floormod(p->iteration, int_imm(p->iteration->dtype, count, span));
}

static NodeVec prefixed(Node *first, NodeVec rest) {
  NodeVec out = NODES(first);
  for each (Node *, x, &rest) vec_push(&out, *x);
  return out;
}

/* Elements of one version. */
static Node *version_size(const Buffer *b, Span span) {
  if (b->strides.len) return expr_mul(b->shape.at[0], b->strides.at[0]);
  Node *size = int_imm(INT32, 1, span);
  for each (Node *, x, &b->shape) size = expr_mul(size, *x);
  return size;
}

/* Instructions that take memory by its pointer, and an offset behind it in elements or, of wmma, in
 * matrices. */
static const struct {
  const char *name;
  int pointer, offset;
  bool counts_matrices;
} by_pointer[] = {{"ptx_ldmatrix", 5, 6, false},        {"tvm_access_ptr", 1, 2, false},
                  {"tvm_load_matrix_sync", 0, 4, true}, {"tvm_store_matrix_sync", 0, 4, true},
                  {"tvm_fill_fragment", 0, 4, true},    {"tvm_mma_sync", 0, 1, true},
                  {"tvm_mma_sync", 2, 3, true},         {"tvm_mma_sync", 4, 5, true},
                  {"tvm_mma_sync", 6, 7, true},         {"ptx_wgmma", 6, 7, false},
                  {"ptx_wgmma", 10, 11, false}};
enum { BY_POINTER = sizeof by_pointer / sizeof *by_pointer };

static Node *versioned_buffer(SoftwarePipeline *p, Node *data) {
  for each (MapEntry, e, &p->versions) {
    Node *buffer = (Node *)(uintptr_t)e->key;
    if (buffer && AS(Buffer, buffer)->data == data) return buffer;
  }
  return NULL;
}

/* Where the version begins, counted as the offset counts. */
static Node *begin_of(SoftwarePipeline *p, Node *buffer, bool counts_matrices, Span span) {
  Node *size = version_size(AS(Buffer, buffer), span);
  const WmmaFragment *f = counts_matrices ? map_get(p->fragments, AS(Buffer, buffer)->data) : NULL;
  if (f) size = expr_floordiv(size, int_imm(INT32, wmma_rows(f) * wmma_columns(f), span));
  return expr_mul(version(p, buffer, span), size);
}

/* A call that takes such memory; NULL: it does not. */
static Node *use_version_of_pointers(SoftwarePipeline *p, Mutator *m, Call *call) {
  Node *begins[BY_POINTER] = {0};
  bool any = false;
  for (int i = 0; i < BY_POINTER; i++) {
    if (!is_intrin_call(&call->node, by_pointer[i].name)) continue;
    Node *buffer = versioned_buffer(p, call->args.at[by_pointer[i].pointer]);
    if (!buffer) continue;
    begins[i] = begin_of(p, buffer, by_pointer[i].counts_matrices, call->node.span);
    any = true;
  }
  if (!any) return NULL;
  Call copy = *call;
  copy.args = (NodeVec){0};
  for each (Node *, x, &call->args)
    vec_push(&copy.args, versioned_buffer(p, *x) ? *x : mutate(m, *x));
  for (int i = 0; i < BY_POINTER; i++)
    if (begins[i]) {
      Node **offset = &copy.args.at[by_pointer[i].offset];
      *offset = expr_add(begins[i], *offset);
    }
  return gc_copy(&copy, sizeof copy);
}

static Node *use_version(Mutator *m, Node *n) {
  SoftwarePipeline *p = m->context;
  Node *call = IS(Call, n) ? use_version_of_pointers(p, m, AS(Call, n)) : NULL;
  if (call) return call;
  if (IS(BufferLoad, n) && map_has(&p->versions, AS(BufferLoad, n)->buffer)) {
    BufferLoad l = *AS(BufferLoad, n);
    l.indices = prefixed(version(p, l.buffer, n->span), mutate_vec(m, l.indices));
    l.predicate = mutate(m, l.predicate);
    l.buffer = map_get(&p->buffers, l.buffer);
    return gc_copy(&l, sizeof l);
  }
  if (IS(BufferStore, n) && map_has(&p->versions, AS(BufferStore, n)->buffer)) {
    BufferStore s = *AS(BufferStore, n);
    s.indices = prefixed(version(p, s.buffer, n->span), mutate_vec(m, s.indices));
    s.value = mutate(m, s.value);
    s.predicate = mutate(m, s.predicate);
    s.buffer = map_get(&p->buffers, s.buffer);
    return gc_copy(&s, sizeof s);
  }
  if (IS(BufferRegion, n) && map_has(&p->versions, AS(BufferRegion, n)->buffer)) {
    BufferRegion r = *AS(BufferRegion, n);
    Node *at = version(p, r.buffer, n->span);
    Node *one =
        MAKE(Range, n->span, VOID_TYPE, .min = at, .extent = int_imm(at->dtype, 1, n->span));
    r.region = prefixed(one, mutate_vec(m, r.region));
    r.buffer = map_get(&p->buffers, r.buffer);
    return gc_copy(&r, sizeof r);
  }
  if (IS(Buffer, n)) return n;
  if (IS(Var, n) && versioned_buffer(p, n))
    refuse(p, str_format("the address of '%s' is used as a whole", AS(Var, n)->name));
  return mutate_children(m, n);
}

/* ---- copies that no one waits for ---- */

/* Do the parts touch shared memory in no other way than the copies need it? */
static bool keeps_to_copies(const SoftwarePipeline *p) {
  for each (const Part, x, &p->parts) {
    for each (MapEntry, e, &x->writes) {
      bool shared = e->key && is_shared(e->key);
      if (x->stage == 0 ? e->key && !(shared && map_has(&p->versions, e->key)) : shared)
        return false;
    }
    for each (MapEntry, e, &x->reads)
      if (x->stage == 0 && e->key && is_shared(e->key)) return false;
  }
  return true;
}

static bool runs_on(const SoftwarePipeline *p) {
  for each (const Part, x, &p->parts)
    if (x->runs_on) return true;
  return false;
}

static void find_distance(SoftwarePipeline *p) {
  Node *list = dict_get(p->loop->annotations, ASYNC);
  int64_t stage = -1;
  bool first = IS(Array, list) && AS(Array, list)->items.len == 1 &&
               expr_is_const_int(AS(Array, list)->items.at[0], &stage) && stage == 0;
  if (!p->has_async || !first || !keeps_to_copies(p)) return;
  for each (const Part, x, &p->parts)
    for each (MapEntry, e, &x->reads) {
      if (!e->key || !is_shared(e->key) || !map_has(&p->versions, e->key)) continue;
      if (p->distance && p->distance != x->stage) {
        p->distance = 0;
        return;
      }
      p->distance = x->stage;
    }
}

static Node *call_stmt(const char *name, DataType t, NodeVec args, Span span) {
  return stmt_evaluate(expr_call(name, t, args, span), span);
}

static Node *marked(const char *key, Node *body) {
  Span s = body->span;
  return MAKE(AttrStmt, s, VOID_TYPE, .subject = int_imm(INT32, 0, s), .key = str_intern(key),
              .value = int_imm(INT32, 1, s), .body = body);
}

static void add_call(NodeVec *out, const char *name, Span s) {
  vec_push(out, call_stmt(name, VOID_TYPE, (NodeVec){0}, s));
}

/* All products but those of the last `pending` groups are there. */
static void wait_for_products(NodeVec *out, int64_t pending, Span s) {
  vec_push(out, call_stmt("ptx_wgmma_wait_group", VOID_TYPE, NODES(int_imm(INT32, pending, s)), s));
}

/* A group of products, while that of the step before goes on where copies leave it its operands. */
static void add_products(SoftwarePipeline *p, NodeVec *out, Node *stmt, Span s) {
  add_call(out, "ptx_wgmma_fence", s);
  vec_push(out, stmt);
  add_call(out, "ptx_wgmma_commit_group", s);
  wait_for_products(out, p->distance ? 1 : 0, s);
}

/* All copies but those of the last `pending` steps have come, for all threads; for products that
 * see memory by a way of their own, too. */
static void wait_for_copies(SoftwarePipeline *p, NodeVec *out, int64_t pending, Span s) {
  vec_push(out, call_stmt("ptx_wait_group", VOID_TYPE, NODES(int_imm(INT32, pending, s)), s));
  if (runs_on(p)) add_call(out, "ptx_fence_proxy_async", s);
  vec_push(out, call_stmt("tvm_storage_sync", INT32, NODES(string_imm("shared", s)), s));
}

/* ---- steps ---- */

/* The statements of one step. `step` counts from the first one; `begins`, `ends`: some iterations
 * may not be there yet, or any more. `only`: the stages from this one on, up to that one. */
static Node *step_of(SoftwarePipeline *p, Node *step, int64_t from, int64_t to, Node *cond) {
  For *f = p->loop;
  Span s = f->node.span;
  NodeVec out = {0};
  if (p->distance && from <= p->distance && to >= p->distance)
    wait_for_copies(p, &out, p->distance - 1 - (from ? from - 1 : 0), s);
  int copies_left = 0;
  for each (Part, x, &p->parts) copies_left += !x->stage;
  for (int64_t order = 0; order < p->parts.len; order++)
    for each (Part, x, &p->parts) {
      if (x->order != order || x->stage < from || x->stage > to) continue;
      Node *iteration = expr_sub(step, int_imm(step->dtype, x->stage, s));
      Map map = {0};
      map_set(&map, f->var, arith_simplify(p->analyzer, expr_add(f->min, iteration)));
      p->iteration = expr_sub(f->var, f->min);
      Mutator m = {.rewrite = use_version, .context = p};
      Node *stmt = copy_with_fresh_vars(substitute(mutate(&m, x->stmt), &map));
      Node *in_time = expr_binary(NK_LT, iteration, f->extent, s);
      if (!cond && !arith_can_prove(p->analyzer, in_time))
        stmt = MAKE(IfThenElse, s, VOID_TYPE, .cond = in_time, .then = stmt);
      bool copies = p->distance && !x->stage;
      if (x->runs_on) add_products(p, &out, stmt, s);
      else vec_push(&out, copies ? marked("async_scope", stmt) : stmt);
      if (copies && !--copies_left) add_call(&out, "ptx_commit_group", s);
    }
  Node *body = stmt_seq(out, s);
  if (!cond || !out.len || arith_can_prove(p->analyzer, cond)) return body;
  return MAKE(IfThenElse, s, VOID_TYPE, .cond = cond, .then = body);
}

static Node *without_marks(Node *annotations) {
  annotations = dict_with(annotations, STAGE, NULL);
  annotations = dict_with(annotations, ORDER, NULL);
  annotations = dict_with(annotations, ASYNC, NULL);
  return AS(Dict, annotations)->keys.len ? annotations : NULL;
}

/* The steps in which all stages have an iteration. */
static Node *full_steps(SoftwarePipeline *p) {
  For f = *p->loop;
  Node *last = int_imm(f.var->dtype, p->last_stage, f.node.span);
  Node *step = var_new(AS(Var, f.var)->name, f.var->dtype, f.var->span);
  int mark = arith_enter(p->analyzer, int_imm(BOOL, 1, f.node.span));
  arith_bind_range(p->analyzer, step, last, expr_sub(f.extent, last));
  Node *always = int_imm(BOOL, 1, f.node.span);
  f.body = step_of(p, step, 0, p->last_stage, always);
  arith_leave(p->analyzer, mark);
  f.var = step;
  f.min = last;
  f.extent = arith_simplify(p->analyzer, expr_sub(p->loop->extent, last));
  f.annotations = without_marks(f.annotations);
  int64_t n;
  return expr_is_const_int(f.extent, &n) && n <= 0 ? NULL : gc_copy(&f, sizeof f);
}

/* Several steps as one statement. */
static Node *as_one(NodeVec steps, Span s) {
  Node *block = MAKE(Block, s, VOID_TYPE, .name = str_intern(""), .body = stmt_seq(steps, s));
  return MAKE(BlockRealize, s, VOID_TYPE, .predicate = int_imm(BOOL, 1, s), .block = block);
}

static NodeVec pipelined_steps(SoftwarePipeline *p) {
  For *f = p->loop;
  Span s = f->node.span;
  DataType t = f->var->dtype;
  NodeVec first = {0}, last = {0}, out = {0};
  for (int64_t step = 0; step < p->last_stage; step++)
    vec_push(&first, step_of(p, int_imm(t, step, s), 0, step, NULL));
  Node *full = full_steps(p);
  for (int64_t k = 0; k < p->last_stage; k++) { /* of a short loop some have been done already */
    Node *step = arith_simplify(p->analyzer, expr_add(f->extent, int_imm(t, k, s)));
    Node *later = expr_binary(NK_GE, step, int_imm(t, p->last_stage, s), s);
    vec_push(&last, step_of(p, step, k + 1, p->last_stage, later));
  }
  if (first.len) vec_push(&out, p->is_nested ? as_one(first, s) : stmt_seq(first, s));
  if (full) vec_push(&out, full);
  if (runs_on(p) && p->distance) wait_for_products(&last, 0, s);
  if (last.len) vec_push(&out, p->is_nested ? as_one(last, s) : stmt_seq(last, s));
  return out;
}

/* ---- loops ---- */

/* Whether the body had one or not. */
static Node *realize_of(SoftwarePipeline *p) {
  Span s = p->loop->node.span;
  if (p->realize) return &p->realize->node;
  Node *block = MAKE(Block, s, VOID_TYPE, .name = str_intern(""), .body = p->loop->body);
  return MAKE(BlockRealize, s, VOID_TYPE, .predicate = int_imm(BOOL, 1, s), .block = block);
}

/* The block of the body, around the steps now. */
static Node *with_block(SoftwarePipeline *p, Node *body, NodeVec buffers) {
  if (!p->realize && !p->is_nested && !buffers.len) return body;
  BlockRealize r = *AS(BlockRealize, realize_of(p));
  Block b = *AS(Block, r.block);
  NodeVec made = {0}, none = {0};
  for each (Node *, x, &buffers)
    vec_push(&made, map_has(&p->buffers, *x) ? map_get(&p->buffers, *x) : *x);
  b.alloc_buffers = made;
  b.body = body;
  b.reads = b.writes = none;
  NodeVec reads = {0}, writes = {0};
  if (block_access_regions(gc_copy(&b, sizeof b), NULL, &reads, &writes)) {
    b.reads = reads;
    b.writes = writes;
  }
  if (p->is_nested)
    b.annotations = dict_with(b.annotations, NESTED, int_imm(INT32, 1, b.node.span));
  r.predicate = int_imm(BOOL, 1, r.node.span);
  r.block = gc_copy(&b, sizeof b);
  return gc_copy(&r, sizeof r);
}

static NodeVec buffers_of(const SoftwarePipeline *p) {
  NodeVec out = {0};
  if (p->realize)
    for each (Node *, x, &AS(Block, p->realize->block)->alloc_buffers) vec_push(&out, *x);
  for each (Node *, x, &p->hoisted) vec_push(&out, *x);
  return out;
}

/* All pipelined loops of a function. */
typedef struct Pipelines {
  bool has_async;
  Map fragments;
  int depth; /* of loops to pipeline around */
} Pipelines;

static Node *pipelined(For *loop, const Pipelines *all) {
  SoftwarePipeline p = {.loop = loop,
                        .has_async = all->has_async,
                        .is_nested = all->depth > 0,
                        .fragments = &all->fragments,
                        .analyzer = arith_new()};
  if (loop->loop_kind != LOOP_SERIAL && loop->loop_kind != LOOP_UNROLLED)
    refuse(&p, "its iterations do not run one after the other");
  find_parts(&p);
  for (int i = 0; i < p.parts.len; i++)
    for (int j = i + 1; j < p.parts.len; j++) check_dependence(&p, &p.parts.at[i], &p.parts.at[j]);
  NodeVec buffers = buffers_of(&p);
  for each (Node *, b, &buffers) make_versions(&p, *b);
  find_distance(&p);
  NodeVec steps = pipelined_steps(&p);
  Node *body = p.is_nested ? MAKE(SeqStmt, loop->node.span, VOID_TYPE, .stmts = steps)
                           : stmt_seq(steps, loop->node.span);
  return with_block(&p, p.distance ? marked("async_pipeline", body) : body, buffers);
}

static Node *rewrite(Mutator *m, Node *n) {
  Pipelines *all = m->context;
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  bool is_one = is_marked(n);
  all->depth += is_one;
  n = mutate_children(m, n);
  all->depth -= is_one;
  return is_one ? pipelined(AS(For, n), all) : n;
}

Node *pass_inject_software_pipeline(Node *n, const PassContext *context) {
  const TargetGpu *gpu = target_gpu(context->target);
  Pipelines all = {.has_async = target_gpu_number(gpu) >= 80}; /* of NVIDIA's, or a simulated one */
  wmma_fragments(func_symbol(n) ? func_symbol(n) : "main", AS(PrimFunc, n)->body, &all.fragments);
  Mutator m = {.rewrite = rewrite, .context = &all};
  return mutate_children(&m, n);
}
