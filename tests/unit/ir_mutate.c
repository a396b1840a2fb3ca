/* ir_mutate.c -- walking, rewriting, substitution and copies: what did not change is shared. */
#include "ir/ir.h"
#include "tests/unit/unit.h"

static const Span here = {0};

static Node *imm(int64_t v) { return int_imm(INT32, v, here); }
static Node *ivar(const char *name) { return var_new(name, INT32, here); }
static Node *buffer(const char *name, Node *extent) {
  return buffer_new(name, INT32, NODES(extent), "global", here);
}
static Node *store(Node *b, Node *i, Node *v) { return stmt_store(b, NODES(i), v, here); }
static Node *for_loop(Node *var, Node *extent, Node *body) {
  return MAKE(For, here, VOID_TYPE, .min = imm(0), .extent = extent, .var = var, .body = body);
}

static Node *keep(Mutator *m, Node *n) { return mutate_children(m, n); }

/* ---- walking ---- */

typedef struct Trace {
  Str text;
  NodeKind prune, stop;
} Trace;

static WalkResult trace_enter(Walker *w, Node *n) {
  Trace *t = w->context;
  str_printf(&t->text, "%s ", node_kind_name(n->kind));
  return n->kind == t->prune ? WALK_PRUNE : n->kind == t->stop ? WALK_STOP : WALK_ON;
}

static void trace_leave(Walker *w, Node *n) {
  Trace *t = w->context;
  str_printf(&t->text, "/%s ", node_kind_name(n->kind));
}

TEST(walk_visits_parents_first_and_in_order) {
  Node *A = buffer("A", imm(8)), *i = ivar("i");
  Node *n = store(A, i, expr_add(expr_load(A, NODES(i), here), imm(1)));
  Trace t = {.prune = NK_COUNT, .stop = NK_COUNT};
  Walker w = {.enter = trace_enter, .context = &t};
  CHECK(walk(&w, n));
  CHECK(str_same(str_text(&t.text), "BufferStore Buffer Var Add BufferLoad Buffer Var IntImm "));
  t = (Trace){.prune = NK_BufferLoad, .stop = NK_COUNT};
  w.leave = trace_leave;
  CHECK(walk(&w, n));
  CHECK(str_same(str_text(&t.text),
                 "BufferStore Buffer Var /Var Add BufferLoad IntImm /IntImm /Add /BufferStore "));
  t = (Trace){.prune = NK_COUNT, .stop = NK_Add};
  CHECK(!walk(&w, n));
  CHECK(str_same(str_text(&t.text), "BufferStore Buffer Var /Var Add "));
  CHECK(walk(&w, NULL));
}

static void count_child(void *context, Node *child) {
  (void)child;
  ++*(int *)context;
}

TEST(walk_children_are_those_of_the_rows) {
  Node *A = buffer("A", imm(8)), *i = ivar("i");
  int n = 0;
  node_each_child(store(A, i, imm(1)), count_child, &n);
  CHECK(n == 3);
  NodeVec many = {0};
  for (int k = 0; k < 1000; k++) vec_push(&many, stmt_evaluate(imm(k), here));
  n = 0;
  node_each_child(stmt_seq(many, here), count_child, &n);
  CHECK(n == 1000);
}

static WalkResult count_enter(Walker *w, Node *n) {
  (void)n;
  ++*(long *)w->context;
  return WALK_ON;
}

TEST(walk_once_is_linear_in_shared_nodes) {
  Node *e = ivar("x");
  for (int i = 0; i < 100; i++) e = MAKE(Add, here, INT32, .a = e, .b = e);
  long visits = 0;
  Walker w = {.enter = count_enter, .context = &visits, .once = true};
  CHECK(walk(&w, e) && visits < 1000);
}

/* ---- rewriting ---- */

TEST(mutate_returns_what_it_was_given_if_nothing_changes) {
  Node *A = buffer("A", imm(8)), *i = ivar("i");
  Node *body =
      stmt_seq(NODES(store(A, i, imm(1)), store(A, i, expr_load(A, NODES(i), here))), here);
  Node *n = for_loop(i, imm(8), body);
  Mutator m = {.rewrite = keep};
  CHECK(mutate(&m, n) == n);
  CHECK(mutate(&m, NULL) == NULL);
  NodeVec v = NODES(n, body), out = mutate_vec(&m, v);
  CHECK(out.at == v.at && out.len == 2);
}

static Node *increment(Mutator *m, Node *n) {
  if (IS(IntImm, n) && AS(IntImm, n)->value == 7) return imm(8);
  return mutate_children(m, n);
}

TEST(mutate_shares_what_did_not_change) {
  Node *A = buffer("A", imm(100)), *i = ivar("i");
  Node *left = store(A, i, imm(1)), *right = store(A, i, imm(7)),
       *n = stmt_seq(NODES(left, right), here);
  Mutator m = {.rewrite = increment};
  Node *out = mutate(&m, n);
  CHECK(out != n && AS(SeqStmt, out)->stmts.at[0] == left);
  Node *changed = AS(SeqStmt, out)->stmts.at[1];
  CHECK(changed != right && AS(BufferStore, changed)->buffer == A);
  CHECK(AS(IntImm, AS(BufferStore, changed)->value)->value == 8);
  CHECK(AS(IntImm, AS(BufferStore, right)->value)->value == 7);
}

static Node *rename_var(Mutator *m, Node *n) {
  if (IS(Var, n)) return ivar(str_format("%s_new", AS(Var, n)->name));
  return mutate_children(m, n);
}

TEST(mutate_rewrites_an_identity_once) {
  Node *n = ivar("n"), *A = buffer("A", n), *i = ivar("i");
  Node *loop = for_loop(i, n, store(A, i, expr_add(expr_load(A, NODES(i), here), n)));
  Mutator m = {.rewrite = rename_var};
  For *out = AS(For, mutate(&m, loop));
  BufferStore *s = AS(BufferStore, out->body);
  Binary *sum = (Binary *)(void *)AS(Add, s->value);
  CHECK(out->var != i && s->indices.at[0] == out->var);
  CHECK(AS(BufferLoad, sum->a)->buffer == s->buffer && s->buffer != A);
  CHECK(AS(Buffer, s->buffer)->shape.at[0] == out->extent && sum->b == out->extent);
}

/* ---- sequences ---- */

static Node *edit_marks(Mutator *m, Node *n) {
  if (!IS(Evaluate, n)) return mutate_children(m, n);
  int64_t v = AS(IntImm, AS(Evaluate, n)->value)->value;
  if (v == 0) return NULL;
  if (v == 2)
    return stmt_seq(NODES(stmt_evaluate(imm(21), here), stmt_evaluate(imm(22), here)), here);
  return n;
}

static Node *marks(int n, ...) {
  NodeVec v = {0};
  va_list args;
  va_start(args, n);
  for (int i = 0; i < n; i++) vec_push(&v, stmt_evaluate(imm(va_arg(args, int)), here));
  va_end(args);
  return MAKE(SeqStmt, here, VOID_TYPE, .stmts = v);
}

static const char *marks_text(Node *n) {
  Str s = {0};
  if (!IS(SeqStmt, n))
    return IS(Evaluate, n)
               ? str_format("%lld", (long long)AS(IntImm, AS(Evaluate, n)->value)->value)
               : "?";
  for each (Node *, x, &AS(SeqStmt, n)->stmts) str_printf(&s, "%s ", marks_text(*x));
  return str_text(&s);
}

static const char *edited(Node *n) {
  Mutator m = {.rewrite = edit_marks};
  return marks_text(mutate(&m, n));
}

TEST(mutate_removes_and_splices_in_sequences) {
  CHECK(str_same(edited(marks(3, 1, 3, 4)), "1 3 4 "));
  CHECK(str_same(edited(marks(3, 0, 3, 4)), "3 4 "));
  CHECK(str_same(edited(marks(4, 1, 0, 3, 0)), "1 3 "));
  CHECK(str_same(edited(marks(3, 0, 5, 0)), "5"));
  CHECK(str_same(edited(marks(2, 0, 0)), "0")); /* Evaluate(0) */
  CHECK(str_same(edited(marks(3, 1, 2, 3)), "1 21 22 3 "));
  CHECK(str_same(edited(marks(2, 2, 2)), "21 22 21 22 "));
  CHECK(str_same(edited(marks(2, 0, 2)), "21 22 "));
}

static Node *drop_binding(Mutator *m, Node *n) {
  if (IS(VarBinding, n) && str_same(AS(RelaxVar, AS(VarBinding, n)->var)->name, "dead"))
    return NULL;
  return mutate_children(m, n);
}

TEST(mutate_removes_bindings) {
  NodeVec bindings = {0};
  static const char *const names[] = {"a", "dead", "b"};
  for (int i = 0; i < 3; i++) {
    Node *v = MAKE(RelaxVar, here, VOID_TYPE, .sinfo = sinfo_object(), .name = names[i]);
    vec_push(&bindings, MAKE(VarBinding, here, VOID_TYPE, .value = op_get("relax.x"), .var = v));
  }
  Node *block = MAKE(BindingBlock, here, VOID_TYPE, .bindings = bindings);
  Mutator m = {.rewrite = drop_binding};
  CHECK(AS(BindingBlock, mutate(&m, block))->bindings.len == 2);
}

TEST(mutate_long_sequences_and_deep_nests) {
  enum { LENGTH = 100000, DEPTH = 20000 };
  Node *A = buffer("A", imm(8));
  NodeVec stmts = {0};
  for (int i = 0; i < LENGTH; i++) vec_push(&stmts, store(A, imm(i == LENGTH / 2 ? 7 : 1), imm(2)));
  Node *seq = stmt_seq(stmts, here);
  Mutator m = {.rewrite = increment};
  Node *out = mutate(&m, seq);
  CHECK(out != seq && AS(SeqStmt, out)->stmts.at[1] == stmts.at[1]);
  CHECK(AS(SeqStmt, out)->stmts.at[LENGTH / 2] != stmts.at[LENGTH / 2]);
  Node *body = store(A, imm(7), imm(1));
  for (int i = 0; i < DEPTH; i++)
    body = MAKE(LetStmt, here, VOID_TYPE, .value = imm(i), .var = ivar("v"), .body = body);
  m = (Mutator){.rewrite = keep};
  CHECK(mutate(&m, body) == body);
  m = (Mutator){.rewrite = increment};
  out = mutate(&m, body);
  while (IS(LetStmt, out)) out = AS(LetStmt, out)->body;
  CHECK(AS(IntImm, AS(BufferStore, out)->indices.at[0])->value == 8);
  CHECK(node_equal(copy_with_fresh_vars(body), body, false, NULL));
}

/* ---- substitution ---- */

TEST(substitute_reaches_the_shapes_of_buffers) {
  Node *n = ivar("n"), *A = buffer("A", n), *i = ivar("i");
  Node *s = store(A, i, expr_load(A, NODES(expr_sub(n, i)), here));
  Map map = {0};
  map_set(&map, n, imm(16));
  BufferStore *out = AS(BufferStore, substitute(s, &map));
  CHECK(out->buffer != A && AS(BufferLoad, out->value)->buffer == out->buffer);
  CHECK(AS(IntImm, AS(Buffer, out->buffer)->shape.at[0])->value == 16);
  CHECK(AS(Buffer, out->buffer)->data == AS(Buffer, A)->data);
  CHECK(out->indices.at[0] == i);
  Map none = {0};
  CHECK(substitute(s, &none) == s);
  Map other = {0};
  map_set(&other, ivar("unused"), imm(1));
  CHECK(substitute(s, &other) == s);
}

TEST(substitute_replaces_once_not_again_and_again) {
  Node *x = ivar("x"), *y = ivar("y");
  Map map = {0};
  map_set(&map, x, y);
  map_set(&map, y, x);
  Binary *out = (Binary *)(void *)substitute(expr_sub(x, y), &map);
  CHECK(out->a == y && out->b == x);
  map_set(&map, x, expr_add(x, imm(1)));
  out = (Binary *)(void *)substitute(x, &map);
  CHECK(out->a == x);
}

/* ---- copies ---- */

TEST(copy_makes_bound_variables_new_and_leaves_the_others) {
  Node *k = ivar("k"), *i = ivar("i"), *A = buffer("A", imm(8));
  Node *loop = for_loop(i, k, store(A, i, k)), *out = copy_with_fresh_vars(loop);
  CHECK(AS(For, out)->var != i && AS(For, out)->extent == k);
  CHECK(AS(BufferStore, AS(For, out)->body)->indices.at[0] == AS(For, out)->var);
  CHECK(AS(BufferStore, AS(For, out)->body)->buffer == A);
  CHECK(node_equal(loop, out, false, NULL) && node_hash(loop) == node_hash(out));
}

/* An unrolled body with its own buffers and views: each copy has its own. */
TEST(copy_gives_each_unrolled_body_its_own_buffers) {
  Node *i = ivar("i"), *p = pointer_var_new("p", INT32, "global", here);
  Buffer *view = AS(Buffer, buffer("V", imm(8)));
  view->data = p;
  Node *body = store(&view->node, i, i);
  body = MAKE(DeclBuffer, here, VOID_TYPE, .buffer = &view->node, .body = body);
  body = MAKE(Allocate, here, VOID_TYPE, .extents = NODES(imm(8)), .elem = INT32, .var = p,
              .body = body);
  NodeVec copies = {0};
  for (int k = 0; k < 3; k++) {
    Map map = {0};
    map_set(&map, i, imm(k));
    vec_push(&copies, substitute(copy_with_fresh_vars(body), &map));
  }
  Node *seq = stmt_seq(copies, here);
  CHECK(ir_verify(seq));
  Allocate *first = AS(Allocate, copies.at[0]), *second = AS(Allocate, copies.at[1]);
  Buffer *one = AS(Buffer, AS(DeclBuffer, first->body)->buffer),
         *two = AS(Buffer, AS(DeclBuffer, second->body)->buffer);
  CHECK(first->var != second->var && first->var != p && one != two);
  CHECK(one->data == first->var && two->data == second->var);
}

TEST(copy_of_a_block_has_its_own_variables_and_buffers) {
  Node *A = buffer("A", imm(8)), *C = buffer("C", imm(8)), *v = ivar("v"), *i = ivar("i");
  Node *range = MAKE(Range, here, VOID_TYPE, .min = imm(0), .extent = imm(8));
  Node *iter = MAKE(IterVar, here, VOID_TYPE, .dom = range, .var = v);
  Node *body =
      stmt_seq(NODES(store(C, v, imm(1)), store(A, v, expr_load(C, NODES(v), here))), here);
  Node *point = MAKE(Range, here, VOID_TYPE, .min = v, .extent = imm(1));
  Node *region = MAKE(BufferRegion, here, VOID_TYPE, .buffer = A, .region = NODES(point));
  Node *block = MAKE(Block, here, VOID_TYPE, .iter_vars = NODES(iter), .writes = NODES(region),
                     .alloc_buffers = NODES(C), .name = "b", .body = body);
  Node *realize = MAKE(BlockRealize, here, VOID_TYPE, .iter_values = NODES(i),
                       .predicate = int_imm(BOOL, 1, here), .block = block);
  BlockRealize *out = AS(BlockRealize, copy_with_fresh_vars(realize));
  Block *copy = AS(Block, out->block);
  CHECK(out->iter_values.at[0] == i && AS(IterVar, copy->iter_vars.at[0])->var != v);
  CHECK(copy->alloc_buffers.at[0] != C);
  CHECK(AS(Buffer, copy->alloc_buffers.at[0])->data != AS(Buffer, C)->data);
  CHECK(AS(BufferRegion, copy->writes.at[0])->buffer == A);
  BufferStore *s = AS(BufferStore, AS(SeqStmt, copy->body)->stmts.at[0]);
  CHECK(s->buffer == copy->alloc_buffers.at[0]);
  CHECK(node_equal(realize, &out->node, false, NULL));
}

TEST(copy_of_a_function_has_its_own_dims) {
  Node *n = ivar("n"), *A = buffer("A", n), *i = ivar("i");
  Node *f = MAKE(PrimFunc, here, VOID_TYPE, .params = NODES(var_new("a", HANDLE, here)),
                 .buffers = NODES(A), .ret_dtype = VOID_TYPE, .attrs = dict_new(),
                 .body = for_loop(i, n, store(A, i, n)));
  PrimFunc *out = AS(PrimFunc, copy_with_fresh_vars(f));
  Buffer *b = AS(Buffer, out->buffers.at[0]);
  CHECK(b != AS(Buffer, A) && b->shape.at[0] != n && b->data != AS(Buffer, A)->data);
  CHECK(AS(For, out->body)->extent == b->shape.at[0]);
  CHECK(node_equal(f, &out->node, false, NULL) && ir_verify(&out->node));
}

TEST(sequences_are_flat) {
  Node *a = stmt_evaluate(imm(1), here), *b = stmt_evaluate(imm(2), here);
  Node *n = stmt_seq(NODES(a, stmt_seq(NODES(a, b), here), b), here);
  CHECK(AS(SeqStmt, n)->stmts.len == 4);
  CHECK(stmt_seq(NODES(a), here) == a);
  CHECK(stmt_seq(NODES(stmt_seq(NODES(a), here)), here) == a);
  CHECK(IS(Evaluate, stmt_seq((NodeVec){0}, here)));
}

static Node *plain_all(Mutator *m, Node *n) {
  n = mutate_children(m, n);
  if (!IS(BindingBlock, n)) return n;
  return MAKE(BindingBlock, here, VOID_TYPE, .bindings = AS(BindingBlock, n)->bindings);
}

TEST(mutate_keeps_blocks_of_bindings_in_normal_form) {
  Node *v = MAKE(RelaxVar, here, VOID_TYPE, .sinfo = sinfo_object(), .name = "v");
  Node *bind = MAKE(VarBinding, here, VOID_TYPE, .value = op_get("relax.x"), .var = v);
  Node *plain = MAKE(BindingBlock, here, VOID_TYPE, .bindings = NODES(bind));
  Node *flow =
      MAKE(BindingBlock, here, VOID_TYPE, .is_dataflow = true, .bindings = NODES(bind, bind));
  Node *none = MAKE(BindingBlock, here, VOID_TYPE, .is_dataflow = true);
  NodeVec blocks = NODES(plain, flow, plain);
  CHECK(blocks_normal(blocks).at == blocks.at);
  CHECK(blocks_normal(NODES(plain, none, plain)).len == 1 && blocks_normal(NODES(none)).len == 0);
  Mutator m = {.rewrite = plain_all};
  SeqExpr *out =
      AS(SeqExpr, mutate(&m, MAKE(SeqExpr, here, VOID_TYPE, .blocks = blocks, .body = v)));
  CHECK(out->blocks.len == 1 && AS(BindingBlock, out->blocks.at[0])->bindings.len == 4);
}
