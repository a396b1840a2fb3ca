/* ir_verify.c -- every rule of the verifier: ill-formed IR, and what is said about it. */
#include "ir/ir.h"
#include "tests/unit/unit.h"
#include <stdio.h>

static const Span here = {0};

static Node *imm(int64_t v) { return int_imm(INT32, v, here); }
static Node *ivar(const char *name) { return var_new(name, INT32, here); }
static Node *real(double v) { return float_imm(FLOAT32, v, here); }
static Node *yes(void) { return int_imm(BOOL, 1, here); }
static Node *nothing(void) { return stmt_evaluate(imm(0), here); }

static Node *buffer(const char *name, NodeVec shape) {
  return buffer_new(name, FLOAT32, shape, "global", here);
}

/* Is there a fault, and one of this text? */
static bool says(Node *n, const char *text) {
  DiagVec *outer = diag_capture();
  bool good = ir_verify(n);
  DiagVec *told = diag_restore(outer);
  bool found = false;
  for each (Diag *, d, told) found |= strstr((*d)->text, text) != NULL;
  if (!found)
    for each (Diag *, d, told) printf("  said: %s\n", (*d)->text);
  return !good && found;
}

static Node *for_loop(Node *var, Node *extent, Node *body) {
  return MAKE(For, here, VOID_TYPE, .min = imm(0), .extent = extent, .var = var, .body = body);
}

/* A function with one buffer parameter A of shape (8,). */
static Node *function(Node *A, Node *body) {
  return MAKE(PrimFunc, here, VOID_TYPE, .params = NODES(var_new("a", HANDLE, here)),
              .buffers = NODES(A), .ret_dtype = VOID_TYPE, .attrs = dict_new(), .body = body);
}

static Node *raw(NodeKind kind, DataType t, Node *a, Node *b) {
  Binary n = {{(uint16_t)kind, t, here}, a, b};
  return gc_copy(&n, sizeof n);
}

static Node *range(Node *min, Node *extent) {
  return MAKE(Range, here, VOID_TYPE, .min = min, .extent = extent);
}

/* ---- scopes ---- */

TEST(verify_accepts_a_good_function) {
  Node *A = buffer("A", NODES(imm(8))), *i = ivar("i");
  CHECK(ir_verify(function(A, for_loop(i, imm(8), stmt_store(A, NODES(i), real(0), here)))));
}

TEST(verify_variables_are_defined_once_and_before_use) {
  Node *A = buffer("A", NODES(imm(8))), *i = ivar("i");
  Node *store = stmt_store(A, NODES(i), real(0), here);
  CHECK(says(function(A, store), "'i' is not defined"));
  Node *after = stmt_seq(NODES(for_loop(i, imm(8), store), store), here);
  CHECK(says(function(A, after), "'i' is used outside the scope that defines it"));
  Node *twice = for_loop(i, imm(8), for_loop(i, imm(8), store));
  CHECK(says(function(A, twice), "'i' is defined twice"));
  Node *again = stmt_seq(NODES(for_loop(i, imm(8), store), for_loop(i, imm(8), store)), here);
  CHECK(says(function(A, again), "'i' is defined twice"));
  Node *late = for_loop(i, i, nothing());
  CHECK(says(function(A, late), "'i' is not defined"));
}

TEST(verify_lets_end_with_their_bodies) {
  Node *A = buffer("A", NODES(imm(8))), *x = ivar("x");
  Node *let = MAKE(LetStmt, here, VOID_TYPE, .value = imm(1), .var = x, .body = nothing());
  Node *use = stmt_store(A, NODES(x), real(0), here);
  CHECK(says(function(A, stmt_seq(NODES(let, use), here)), "'x' is used outside the scope"));
  Node *e = MAKE(Let, here, INT32, .value = imm(1), .var = x, .body = x);
  CHECK(says(function(A, stmt_evaluate(expr_add(e, x), here)), "'x' is used outside the scope"));
  CHECK(ir_verify(
      function(A, stmt_evaluate(raw(NK_Add, INT32, e, e), here)))); /* one let in two places */
  Node *inner = MAKE(Let, here, INT32, .value = x, .var = x, .body = x);
  CHECK(says(function(A, stmt_evaluate(inner, here)), "'x' is not defined"));
}

TEST(verify_branches_do_not_share_what_they_define) {
  Node *A = buffer("A", NODES(imm(8))), *x = ivar("x");
  Node *then = MAKE(LetStmt, here, VOID_TYPE, .value = imm(1), .var = x, .body = nothing());
  Node *orelse = stmt_store(A, NODES(x), real(0), here);
  Node *n = MAKE(IfThenElse, here, VOID_TYPE, .cond = yes(), .then = then, .orelse = orelse);
  CHECK(says(function(A, n), "'x' is used outside the scope"));
}

TEST(verify_compound_dims_define_nothing) {
  Node *n = ivar("n"), *A = buffer("A", NODES(expr_mul(n, imm(2))));
  CHECK(says(function(A, nothing()), "'n' is not defined"));
  CHECK(ir_verify(function(buffer("A", NODES(n, expr_mul(n, imm(2)))), nothing())));
}

/* ---- buffers ---- */

TEST(verify_buffers_are_declared) {
  Node *A = buffer("A", NODES(imm(8))), *B = buffer("B", NODES(imm(8)));
  CHECK(says(function(A, stmt_store(B, NODES(imm(0)), real(0), here)), "'B' is not defined"));
  CHECK(says(function(A, stmt_evaluate(expr_load(B, NODES(imm(0)), here), here)),
             "'B' is not defined"));
  Buffer *view = AS(Buffer, buffer("V", NODES(ivar("n"))));
  view->data = AS(Buffer, A)->data;
  CHECK(says(function(A, stmt_store(&view->node, NODES(imm(0)), real(0), here)),
             "'n' is not defined"));
  view->shape = NODES(imm(2));
  CHECK(ir_verify(function(A, stmt_store(&view->node, NODES(imm(0)), real(0), here))));
}

static Node *bad_load(Node *A, NodeVec indices) {
  return stmt_evaluate(MAKE(BufferLoad, here, FLOAT32, .buffer = A, .indices = indices), here);
}

TEST(verify_indices_match_ranks_and_are_integers) {
  Node *A = buffer("A", NODES(imm(8), imm(8)));
  CHECK(says(function(A, bad_load(A, NODES(imm(0)))),
             "buffer 'A' has 2 dimensions, but 1 index is given"));
  CHECK(says(function(A, bad_load(A, NODES(imm(0), imm(0), imm(0)))), "but 3 indices are given"));
  CHECK(says(function(A, bad_load(A, NODES(imm(0), real(0)))),
             "an index of 'A' must be an integer, found float32"));
  Node *store =
      MAKE(BufferStore, here, VOID_TYPE, .buffer = A, .indices = NODES(imm(0)), .value = real(0));
  CHECK(says(function(A, store), "but 1 index is given"));
  Node *region =
      MAKE(BufferRegion, here, VOID_TYPE, .buffer = A, .region = NODES(range(imm(0), imm(1))));
  Node *block =
      MAKE(Block, here, VOID_TYPE, .name = "b", .reads = NODES(region), .body = nothing());
  CHECK(says(function(A, block), "but 1 index is given"));
}

TEST(verify_buffers_have_as_many_strides_as_dims_and_pointers) {
  Buffer *A = AS(Buffer, buffer("A", NODES(imm(8), imm(8))));
  A->strides = NODES(imm(1));
  CHECK(says(function(&A->node, nothing()), "buffer 'A' has 2 dimensions, but 1 stride"));
  Buffer *B = AS(Buffer, buffer("B", NODES(imm(8))));
  B->data = ivar("p");
  CHECK(
      says(function(&B->node, nothing()), "the data of buffer 'B' must be a pointer, found int32"));
}

TEST(verify_stores_keep_the_dtype) {
  Node *A = buffer("A", NODES(imm(8)));
  Node *store =
      MAKE(BufferStore, here, VOID_TYPE, .buffer = A, .indices = NODES(imm(0)), .value = imm(1));
  CHECK(says(function(A, store), "dtypes differ: 'A' holds float32, the value is int32"));
}

/* ---- operands ---- */

static Node *evaluated(Node *e) {
  return function(buffer("A", NODES(imm(8))), stmt_evaluate(e, here));
}

TEST(verify_operands_have_one_dtype) {
  Node *l = int_imm(INT64, 1, here);
  CHECK(says(evaluated(raw(NK_Add, INT32, imm(1), l)),
             "the operands of '+' have different dtypes: int32 and int64"));
  CHECK(says(evaluated(raw(NK_Add, INT64, imm(1), imm(2))), "'+' of int32 gives int32, not int64"));
  CHECK(says(evaluated(raw(NK_LT, INT32, imm(1), imm(2))), "'<' of int32 gives bool, not int32"));
  CHECK(says(evaluated(raw(NK_And, BOOL, imm(1), yes())),
             "the operands of 'and' must be bools, found int32 and bool"));
  CHECK(says(evaluated(MAKE(Not, here, BOOL, .a = imm(1))), "'not' takes a bool, found int32"));
  Node *select = MAKE(Select, here, INT32, .cond = imm(1), .then = imm(1), .orelse = imm(2));
  CHECK(says(evaluated(select), "the condition of T.Select must be a bool, found int32"));
  select = MAKE(Select, here, INT32, .cond = yes(), .then = imm(1), .orelse = l);
  CHECK(says(evaluated(select), "the arms of T.Select have different dtypes: int32 and int64"));
}

TEST(verify_builtins_exist_and_take_their_arguments) {
  Node *call = MAKE(Call, here, FLOAT32, .op = op_get("tir.no_such"), .args = NODES(real(1)));
  CHECK(says(evaluated(call), "there is no builtin 'tir.no_such'"));
  call = MAKE(Call, here, FLOAT32, .op = op_get("tir.exp"), .args = NODES(real(1), real(2)));
  CHECK(says(evaluated(call), "T.exp takes 1 argument, not 2"));
}

/* ---- statements ---- */

TEST(verify_conditions_are_bools) {
  Node *A = buffer("A", NODES(imm(8)));
  CHECK(says(function(A, MAKE(IfThenElse, here, VOID_TYPE, .cond = imm(1), .then = nothing())),
             "a condition must be a bool, found int32"));
  CHECK(says(function(A, MAKE(While, here, VOID_TYPE, .cond = imm(1), .body = nothing())),
             "a condition must be a bool"));
  CHECK(says(function(A, MAKE(AssertStmt, here, VOID_TYPE, .cond = imm(1),
                              .message = string_imm("m", here), .body = nothing())),
             "a condition must be a bool"));
}

TEST(verify_loops_run_over_integers_of_one_dtype) {
  Node *A = buffer("A", NODES(imm(8)));
  CHECK(says(function(A, for_loop(ivar("i"), real(4), nothing())),
             "the extent of a loop must be an integer, found float32"));
  CHECK(says(function(A, for_loop(ivar("i"), int_imm(INT64, 4, here), nothing())),
             "loop 'i' of int32 goes from int32 over int64"));
  For *f = AS(For, for_loop(ivar("i"), imm(4), nothing()));
  f->loop_kind = LOOP_THREAD;
  CHECK(says(function(A, &f->node), "a loop is bound to a thread exactly if it names one"));
  f->loop_kind = LOOP_SERIAL;
  f->thread_tag = "threadIdx.x";
  CHECK(says(function(A, &f->node), "a loop is bound to a thread exactly if it names one"));
}

TEST(verify_lets_have_the_dtype_of_their_value) {
  Node *A = buffer("A", NODES(imm(8)));
  Node *let = MAKE(LetStmt, here, VOID_TYPE, .value = real(1), .var = ivar("x"), .body = nothing());
  CHECK(says(function(A, let), "'x' is int32, but its value is float32"));
}

TEST(verify_breaks_stand_in_loops) {
  Node *A = buffer("A", NODES(imm(8)));
  Node *leave = stmt_evaluate(expr_call("break_loop", VOID_TYPE, (NodeVec){0}, here), here);
  Node *next = stmt_evaluate(expr_call("continue_loop", VOID_TYPE, (NodeVec){0}, here), here);
  CHECK(says(function(A, leave), "'break' stands outside a loop"));
  CHECK(says(function(A, next), "'continue' stands outside a loop"));
  CHECK(ir_verify(function(A, for_loop(ivar("i"), imm(4), leave))));
}

TEST(verify_blocks_bind_each_variable) {
  Node *A = buffer("A", NODES(imm(8)));
  Node *iter = MAKE(IterVar, here, VOID_TYPE, .dom = range(imm(0), imm(8)), .var = ivar("v"));
  Node *block =
      MAKE(Block, here, VOID_TYPE, .name = "b", .iter_vars = NODES(iter), .body = nothing());
  Node *realize = MAKE(BlockRealize, here, VOID_TYPE, .predicate = yes(), .block = block);
  CHECK(says(function(A, realize), "block 'b' has 1 variable, but 0 values are bound to them"));
  AS(BlockRealize, realize)->iter_values = NODES(imm(0));
  CHECK(ir_verify(function(A, realize)));
  AS(BlockRealize, realize)->predicate = imm(1);
  CHECK(says(function(A, realize), "a condition must be a bool"));
  AS(IterVar, iter)->dom = NULL;
  CHECK(says(function(A, realize), "the block variable 'v' has no domain"));
  AS(IterVar, iter)->dom = range(real(0), real(8));
  CHECK(says(function(A, realize), "the domain of 'v' must be integers"));
}

TEST(verify_matched_buffers_show_their_source) {
  Node *A = buffer("A", NODES(imm(8)));
  Node *region =
      MAKE(BufferRegion, here, VOID_TYPE, .buffer = A, .region = NODES(range(imm(0), imm(4))));
  Node *other = buffer_new("M", INT32, NODES(imm(4)), "global", here),
       *large = buffer("M", NODES(imm(2), imm(2)));
  Node *match = MAKE(MatchBufferRegion, here, VOID_TYPE, .source = region, .buffer = other);
  Node *block =
      MAKE(Block, here, VOID_TYPE, .name = "b", .match_buffers = NODES(match), .body = nothing());
  CHECK(says(function(A, block),
             "'M' of int32 is matched with a region of 'A', which holds float32"));
  AS(MatchBufferRegion, match)->buffer = large;
  CHECK(says(function(A, block), "'M' has 2 dimensions, but is matched with a region of 1"));
}

TEST(verify_block_variables_stay_in_their_block) {
  Node *A = buffer("A", NODES(imm(8))), *v = ivar("v"), *C = buffer("C", NODES(imm(4)));
  Node *iter = MAKE(IterVar, here, VOID_TYPE, .dom = range(imm(0), imm(8)), .var = v);
  Node *block = MAKE(Block, here, VOID_TYPE, .name = "b", .iter_vars = NODES(iter),
                     .alloc_buffers = NODES(C), .body = nothing());
  Node *realize = MAKE(BlockRealize, here, VOID_TYPE, .iter_values = NODES(imm(0)),
                       .predicate = yes(), .block = block);
  Node *use = stmt_store(A, NODES(v), real(0), here),
       *load = stmt_evaluate(expr_load(C, NODES(imm(0)), here), here);
  CHECK(says(function(A, stmt_seq(NODES(realize, use), here)), "'v' is used outside the scope"));
  CHECK(says(function(A, stmt_seq(NODES(realize, load), here)), "'C' is used outside the scope"));
}

TEST(verify_what_is_no_statement_is_none) {
  Node *A = buffer("A", NODES(imm(8)));
  CHECK(says(function(A, imm(1)), "IntImm is no statement"));
  PrimFunc *f = AS(PrimFunc, function(A, nothing()));
  f->buffers = (NodeVec){0};
  CHECK(says(&f->node, "the function has 1 parameters, but 0 places for their buffers"));
}

/* ---- graph functions ---- */

static Node *tensor(NodeVec dims) { return sinfo_tensor(dims, FLOAT32, here); }
static Node *dim(const char *name) { return var_new(name, INT64, here); }

static Node *rvar(const char *name, Node *sinfo, bool is_dataflow) {
  return MAKE(RelaxVar, here, VOID_TYPE, .sinfo = sinfo, .name = name, .is_dataflow = is_dataflow);
}
static Node *bind(Node *var, Node *value) {
  return MAKE(VarBinding, here, VOID_TYPE, .value = value, .var = var);
}
static Node *block_of(bool is_dataflow, NodeVec bindings) {
  return MAKE(BindingBlock, here, VOID_TYPE, .is_dataflow = is_dataflow, .bindings = bindings);
}
static Node *seq(NodeVec blocks, Node *body) {
  return MAKE(SeqExpr, here, VOID_TYPE, .sinfo = sinfo_of(body), .blocks = blocks, .body = body);
}
static Node *graph(NodeVec params, Node *body) {
  return MAKE(Function, here, VOID_TYPE, .params = params, .ret_sinfo = sinfo_object(),
              .is_pure = true, .attrs = dict_new(), .body = body);
}
static Node *packed(const char *name, Node *arg) {
  Node *f = MAKE(ExternFunc, here, VOID_TYPE, .sinfo = sinfo_object(), .symbol = "f");
  return MAKE(RelaxCall, here, VOID_TYPE, .sinfo = sinfo_object(), .op = op_get(name),
              .args = NODES(f, arg));
}
static Node *pure(Node *arg) { return packed("relax.call_pure_packed", arg); }
static Node *impure(Node *arg) { return packed("relax.call_packed", arg); }
static Node *four(void) { return tensor(NODES(int_imm(INT64, 4, here))); }

TEST(verify_graph_variables_are_bound_once_and_before_use) {
  Node *x = rvar("x", four(), false), *y = rvar("y", sinfo_object(), false),
       *z = rvar("z", sinfo_object(), false);
  CHECK(ir_verify(graph(NODES(x), seq(NODES(block_of(false, NODES(bind(y, pure(x))))), y))));
  CHECK(says(graph(NODES(x), seq((NodeVec){0}, y)), "'y' is not defined"));
  CHECK(says(
      graph(NODES(x), seq(NODES(block_of(false, NODES(bind(y, pure(z)), bind(z, pure(x))))), y)),
      "'z' is not defined"));
  CHECK(says(
      graph(NODES(x), seq(NODES(block_of(false, NODES(bind(y, pure(x)), bind(y, pure(x))))), y)),
      "'y' is defined twice"));
}

TEST(verify_dataflow_variables_stay_in_their_block) {
  Node *x = rvar("x", four(), false), *y = rvar("y", sinfo_object(), true),
       *z = rvar("z", sinfo_object(), false);
  Node *flow = block_of(true, NODES(bind(y, pure(x)), bind(z, pure(y))));
  CHECK(ir_verify(graph(NODES(x), seq(NODES(flow), z))));
  CHECK(says(graph(NODES(x), seq(NODES(flow), y)), "'y' is used outside the scope"));
  CHECK(says(graph(NODES(x), seq(NODES(block_of(false, NODES(bind(y, pure(x))))), x)),
             "'y' is a dataflow variable, but is bound outside a dataflow block"));
}

TEST(verify_effects_have_their_place) {
  Node *x = rvar("x", four(), false), *y = rvar("y", sinfo_object(), false);
  CHECK(says(graph(NODES(x), seq(NODES(block_of(true, NODES(bind(y, impure(x))))), y)),
             "a call with effects can't stand in a dataflow block"));
  Node *f = graph(NODES(x), seq(NODES(block_of(false, NODES(bind(y, impure(x))))), y));
  CHECK(says(f, "a call with effects can't stand in a pure function"));
  AS(Function, f)->is_pure = false;
  CHECK(ir_verify(f));
}

TEST(verify_operands_have_names) {
  Node *x = rvar("x", four(), false), *y = rvar("y", sinfo_object(), false);
  CHECK(says(graph(NODES(x), seq(NODES(block_of(false, NODES(bind(y, pure(pure(x)))))), y)),
             "an operand must have a name: bind the RelaxCall first"));
  CHECK(says(graph(NODES(x), seq((NodeVec){0}, pure(x))), "an operand must have a name"));
  Node *tuple = MAKE(Tuple, here, VOID_TYPE, .sinfo = sinfo_tuple(NODES(four()), here),
                     .fields = NODES(pure(x)));
  CHECK(says(graph(NODES(x), seq(NODES(block_of(false, NODES(bind(y, tuple)))), y)),
             "an operand must have a name"));
  CHECK(says(graph(NODES(x), x),
             "the body of a function or branch is a sequence of bindings, found RelaxVar"));
}

TEST(verify_blocks_of_bindings_are_in_normal_form) {
  Node *x = rvar("x", four(), false), *y = rvar("y", sinfo_object(), false),
       *z = rvar("z", sinfo_object(), false);
  Node *one = block_of(false, NODES(bind(y, pure(x)))),
       *two = block_of(false, NODES(bind(z, pure(y))));
  CHECK(says(graph(NODES(x), seq(NODES(one, two), z)),
             "two plain blocks of bindings stand side by side"));
  CHECK(says(graph(NODES(x), seq(NODES(block_of(true, (NodeVec){0})), x)),
             "a block has no bindings"));
}

TEST(verify_struct_info_is_there_and_known) {
  Node *x = rvar("x", four(), false), *y = rvar("y", NULL, false);
  CHECK(says(graph(NODES(x), seq(NODES(block_of(false, NODES(bind(y, pure(x))))), y)),
             "'y' has no struct info"));
  y = rvar("y", tensor(NODES(dim("m"))), false);
  CHECK(says(graph(NODES(x), seq(NODES(block_of(false, NODES(bind(y, pure(x))))), y)),
             "the struct info of 'y' mentions 'm', which is not defined"));
  CHECK(says(
      graph(NODES(rvar("x", tensor(NODES(expr_mul(dim("n"), int_imm(INT64, 2, here)))), false)),
            seq((NodeVec){0}, rvar("x", NULL, false))),
      "mentions 'n', which is not defined"));
  TensorStructInfo *t = AS(TensorStructInfo, four());
  t->ndim = 2;
  y = rvar("y", &t->node, false);
  CHECK(says(graph(NODES(x), seq(NODES(block_of(false, NODES(bind(y, pure(x))))), y)),
             "the struct info of 'y' has rank 2, but 1 dims"));
  Node *shape =
      MAKE(ShapeStructInfo, here, VOID_TYPE, .known = true, .values = NODES(imm(1)), .ndim = 3);
  y = rvar("y", shape, false);
  CHECK(says(graph(NODES(x), seq(NODES(block_of(false, NODES(bind(y, pure(x))))), y)),
             "has rank 3, but 1 dims"));
}

TEST(verify_match_cast_defines_its_dims) {
  Node *x = rvar("x", sinfo_object(), false), *m = dim("m"), *info = tensor(NODES(m)),
       *y = rvar("y", info, false);
  Node *cast = MAKE(MatchCast, here, VOID_TYPE, .value = x, .var = y, .sinfo = info);
  Node *z = rvar("z", tensor(NODES(m)), false);
  CHECK(ir_verify(graph(NODES(x), seq(NODES(block_of(false, NODES(cast, bind(z, pure(y))))), z))));
}

static Node *branch(Node *cond, Node *x) {
  return MAKE(RelaxIf, here, VOID_TYPE, .sinfo = sinfo_object(), .cond = cond,
              .then = seq((NodeVec){0}, x), .orelse = seq((NodeVec){0}, x));
}

TEST(verify_branches_have_scalar_bools_and_no_place_in_dataflow) {
  Node *x = rvar("x", four(), false), *c = rvar("c", sinfo_tensor((NodeVec){0}, BOOL, here), false),
       *y = rvar("y", sinfo_object(), false);
  CHECK(
      ir_verify(graph(NODES(c, x), seq(NODES(block_of(false, NODES(bind(y, branch(c, x))))), y))));
  CHECK(says(graph(NODES(c, x), seq(NODES(block_of(false, NODES(bind(y, branch(x, x))))), y)),
             "the condition of a branch must be a scalar bool"));
  CHECK(says(graph(NODES(c, x), seq(NODES(block_of(true, NODES(bind(y, branch(c, x))))), y)),
             "a branch can't stand in a dataflow block"));
}

TEST(verify_tuples_have_the_item) {
  Node *x = rvar("x", sinfo_tuple(NODES(four(), four()), here), false),
       *y = rvar("y", four(), false);
  Node *item = MAKE(TupleGetItem, here, VOID_TYPE, .sinfo = four(), .tuple = x, .index = 2);
  CHECK(says(graph(NODES(x), seq(NODES(block_of(false, NODES(bind(y, item)))), y)),
             "index 2 is out of range for a tuple of 2"));
}

/* ---- modules ---- */

static Node *named(const char *name) {
  return MAKE(GlobalVar, here, VOID_TYPE, .sinfo = sinfo_object(), .name = name);
}

TEST(verify_calls_fit_their_functions) {
  Node *A = buffer("A", NODES(imm(4))), *kernel = function(A, nothing());
  Node *x = rvar("x", four(), false), *y = rvar("y", four(), false);
  Node *inputs =
      MAKE(Tuple, here, VOID_TYPE, .sinfo = sinfo_tuple(NODES(four()), here), .fields = NODES(x));
  Node *call = MAKE(RelaxCall, here, VOID_TYPE, .sinfo = four(), .op = op_get("relax.call_tir"),
                    .args = NODES(named("k"), inputs), .sinfo_args = NODES(four()));
  Node *main = graph(NODES(x), seq(NODES(block_of(false, NODES(bind(y, call)))), y));
  Node *m = module_with(module_new(), named("main"), main);
  CHECK(says(m, "the module has no function 'k'"));
  CHECK(says(module_with(m, named("k"), kernel), "'k' takes 1 arguments, but the call gives 2"));
  PrimFunc *two = AS(PrimFunc, function(A, nothing()));
  vec_push(&two->params, ivar("n"));
  vec_push(&two->buffers, NULL);
  CHECK(says(module_with(m, named("k"), &two->node), "but it is a scalar, int32"));
  PrimFunc *other = AS(PrimFunc, function(buffer("B", NODES(imm(4))), nothing()));
  two->params.at[1] = other->params.at[0];
  two->buffers.at[1] = other->buffers.at[0];
  CHECK(ir_verify(module_with(m, named("k"), &two->node)));
  AS(RelaxCall, call)->op = named("k");
  CHECK(
      says(module_with(m, named("k"), graph(NODES(rvar("a", four(), false)), seq((NodeVec){0}, x))),
           "'k' takes 1 arguments, but the call gives 2"));
}

TEST(verify_what_a_module_holds) {
  Node *f = func_with_attr(function(buffer("A", NODES(imm(4))), nothing()), "global_symbol",
                           string_imm("s", here));
  Node *g = func_with_attr(function(buffer("A", NODES(imm(4))), nothing()), "global_symbol",
                           string_imm("s", here));
  Node *m = module_with(module_with(module_new(), named("f"), f), named("g"), g);
  CHECK(ir_verify(m)); /* a warning at most */
  CHECK(says(module_with(module_new(), named("f"), imm(1)),
             "a module holds functions, found IntImm"));
  IRModule *broken = AS(IRModule, module_with(module_new(), named("f"), f));
  broken->globals = (NodeVec){0};
  CHECK(says(&broken->node, "the module has 0 names for 1 functions"));
}

TEST(verify_deep_nests_and_shared_expressions_end) {
  enum { DEPTH = 100000 };
  Node *A = buffer("A", NODES(imm(8))), *body = nothing(), *e = imm(1);
  for (int i = 0; i < DEPTH; i++)
    body = MAKE(LetStmt, here, VOID_TYPE, .value = imm(i), .var = ivar("v"), .body = body);
  for (int i = 0; i < 60; i++) e = raw(NK_Add, INT32, e, e);
  CHECK(ir_verify(function(A, stmt_seq(NODES(body, stmt_evaluate(e, here)), here))));
}
