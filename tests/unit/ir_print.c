/* ir_print.c -- text and back: random tensor programs are printed, read and compared. */
#include "ir/ir_impl.h"
#include "tests/unit/print_test.h"
#include "tests/unit/unit.h"

static const Span here = {0};

/* ---- what is in scope ---- */

typedef struct Scope {
  NodeVec vars, buffers, pointers;
  NodeVec loops; /* those of `vars` that are loop variables */
} Scope;

static Scope copied(const Scope *s) {
  Scope c = {0};
  for each (Node *, v, &s->vars) vec_push(&c.vars, *v);
  for each (Node *, v, &s->loops) vec_push(&c.loops, *v);
  for each (Node *, v, &s->buffers) vec_push(&c.buffers, *v);
  for each (Node *, v, &s->pointers) vec_push(&c.pointers, *v);
  return c;
}

static DataType random_dtype(void) {
  static const char *const texts[] = {
      "int32",   "int32",   "int64",    "int64",         "float32",    "float32",
      "float16", "float64", "bfloat16", "uint8",         "int8",       "uint64",
      "bool",    "uint32",  "int16",    "float8_e4m3fn", "float8_e5m2"};
  DataType t;
  CHECK(dtype_parse(texts[below(sizeof texts / sizeof *texts)], &t));
  return t;
}

static DataType random_int_dtype(void) { return one_in(3) ? INT64 : INT32; }

/* ---- expressions ---- */

static Node *random_expr(Scope *s, DataType t, int depth);
static Node *random_bool(Scope *s, int depth);

static Node *random_number(DataType t) {
  static const double reals[] = {0, -0.0, 1, -1, 0.1, 3.5, 1e-7, 65504, 1e30, 123456789, 1.0 / 3};
  if (dtype_is_float(t)) {
    double x = reals[below(sizeof reals / sizeof *reals)];
    if (one_in(12))
      x = one_in(2) ? __builtin_inf() : one_in(2) ? -__builtin_inf() : __builtin_nan("");
    return float_imm(t, x, here);
  }
  static const int64_t ints[] = {0,  1,  2,         3,         4,         7,         255,
                                 -1, -5, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 5000000000};
  return int_imm(t, ints[below(sizeof ints / sizeof *ints)], here);
}

static Node *random_leaf(Scope *s, DataType t) {
  NodeVec fit = {0};
  for each (Node *, v, &s->vars)
    if (dtype_equal((*v)->dtype, t)) vec_push(&fit, *v);
  if (fit.len && !one_in(4)) return fit.at[below(fit.len)];
  return random_number(t);
}

static NodeVec random_indices(Scope *s, Node *buffer, int depth) {
  NodeVec at = {0};
  for (int i = 0; i < AS(Buffer, buffer)->shape.len; i++)
    vec_push(&at, random_expr(s, random_int_dtype(), depth));
  return at;
}

static Node *raw_binary(NodeKind kind, Node *a, Node *b) {
  DataType t = kind_gives_bool(kind) ? BOOL : a->dtype;
  Binary n = {{(uint16_t)kind, t, here}, a, b};
  return gc_copy(&n, sizeof n);
}

static Node *random_arithmetic(Scope *s, DataType t, int depth) {
  static const NodeKind floats[] = {NK_Add, NK_Sub, NK_Mul, NK_Div, NK_Min, NK_Max};
  NodeKind kind =
      dtype_is_float(t) ? floats[below(6)] : NK_Add + (NodeKind)below(NK_Max - NK_Add + 1);
  return raw_binary(kind, random_expr(s, t, depth - 1), random_expr(s, t, depth - 1));
}

static Node *random_call(Scope *s, DataType t, int depth) {
  Node *x = random_expr(s, t, depth - 1), *y = random_expr(s, t, depth - 1);
  if (dtype_is_float(t)) {
    static const char *const one[] = {"exp", "sqrt", "floor", "tanh", "fabs"};
    if (one_in(3)) return expr_call("pow", t, NODES(x, y), here);
    return expr_call(one[below(5)], t, NODES(x), here);
  }
  if (one_in(3))
    return expr_call("call_extern", t, NODES(string_imm("f", here), x, random_bool(s, 0)), here);
  if (one_in(2)) return expr_call("bitwise_not", t, NODES(x), here);
  return expr_call(one_in(2) ? "shift_left" : "bitwise_xor", t, NODES(x, y), here);
}

static Node *random_load(Scope *s, DataType t, int depth) {
  for (int i = 0; i < 4 && s->buffers.len; i++) {
    Node *b = s->buffers.at[below(s->buffers.len)];
    if (dtype_equal(AS(Buffer, b)->elem, t))
      return expr_load(b, random_indices(s, b, depth - 1), here);
  }
  return random_leaf(s, t);
}

static Node *random_let(Scope *s, DataType t, int depth) {
  Scope inner = copied(s);
  DataType u = random_dtype();
  Node *value = random_expr(s, u, depth - 1), *var = var_new(random_name(), u, here);
  vec_push(&inner.vars, var);
  return MAKE(Let, here, t, .value = value, .var = var, .body = random_expr(&inner, t, depth - 1));
}

static Node *random_bool(Scope *s, int depth) {
  if (depth <= 0) return random_leaf(s, BOOL);
  if (one_in(3)) {
    Node *a = random_bool(s, depth - 1);
    if (one_in(3)) return MAKE(Not, here, BOOL, .a = a);
    return raw_binary(one_in(2) ? NK_And : NK_Or, a, random_bool(s, depth - 1));
  }
  DataType t = random_dtype();
  return raw_binary(NK_EQ + (NodeKind)below(NK_GE - NK_EQ + 1), random_expr(s, t, depth - 1),
                    random_expr(s, t, depth - 1));
}

static Node *random_expr(Scope *s, DataType t, int depth) {
  if (dtype_is_bool(t)) return random_bool(s, depth);
  if (depth <= 0) return random_leaf(s, t);
  switch (below(10)) {
  case 0: return random_leaf(s, t);
  case 1: return random_load(s, t, depth);
  case 2: return random_call(s, t, depth);
  case 3: {
    Node *x = random_expr(s, random_dtype(), depth - 1);
    return dtype_equal(x->dtype, t) ? x : MAKE(Cast, here, t, .value = x);
  }
  case 4: {
    Node *c = random_bool(s, depth - 1), *a = random_expr(s, t, depth - 1),
         *b = random_expr(s, t, depth - 1);
    if (one_in(2)) return expr_call("if_then_else", t, NODES(c, a, b), here);
    return MAKE(Select, here, t, .cond = c, .then = a, .orelse = b);
  }
  case 5: return one_in(3) ? random_let(s, t, depth) : random_arithmetic(s, t, depth);
  default: return random_arithmetic(s, t, depth);
  }
}

/* ---- buffers ---- */

static NodeVec random_shape(Scope *s, int max_rank) {
  NodeVec shape = {0};
  for (int n = below(max_rank + 1); n > 0; n--) {
    Node *dim = int_imm(random_int_dtype(), 1 + below(64), here);
    if (s && one_in(4)) dim = random_leaf(s, random_int_dtype());
    vec_push(&shape, dim);
  }
  return shape;
}

static const char *random_scope_name(void) {
  return one_in(3) ? "shared" : one_in(3) ? "local" : "global";
}

/* An allocated or matched one: its pointer, and perhaps strides and offset, are its own. */
static Node *random_buffer(Scope *s, bool matched) {
  Node *n =
      buffer_new(random_name(), random_dtype(), random_shape(s, 3), random_scope_name(), here);
  Buffer *b = AS(Buffer, n);
  if (one_in(4)) b->align = 16;
  if (!matched || !one_in(3)) return n;
  for (int i = 0; i < b->shape.len; i++) {
    DataType t = random_int_dtype();
    Node *stride = one_in(3) ? int_imm(t, 1 + below(9), here) : var_new(random_name(), t, here);
    vec_push(&b->strides, stride);
  }
  if (one_in(2)) b->elem_offset = var_new(random_name(), random_int_dtype(), here);
  if (one_in(2)) b->offset_factor = 1 << below(4);
  return n;
}

static void enter_buffer(Scope *s, Node *n) {
  Buffer *b = AS(Buffer, n);
  vec_push(&s->buffers, n);
  vec_push(&s->pointers, b->data);
  for each (Node *, v, &b->strides)
    if (IS(Var, *v)) vec_push(&s->vars, *v);
  if (IS(Var, b->elem_offset)) vec_push(&s->vars, b->elem_offset);
}

static Node *random_view(Scope *s) {
  if (!s->pointers.len) return NULL;
  Node *pointer = s->pointers.at[below(s->pointers.len)];
  Buffer *b =
      AS(Buffer, buffer_new(random_name(), random_dtype(), random_shape(s, 2), "global", here));
  b->data = pointer;
  return &b->node;
}

/* ---- statements ---- */

typedef struct Gen {
  bool saw_block;
} Gen;

static Node *random_stmt(Gen *g, Scope *s, int depth);

static Node *random_body(Gen *g, Scope *outer, int depth) {
  Scope s = copied(outer);
  NodeVec stmts = {0};
  for (int n = 1 + below(3); n > 0; n--) vec_push(&stmts, random_stmt(g, &s, depth));
  return stmt_seq(stmts, here);
}

static Node *random_store(Scope *s, int depth) {
  if (!s->buffers.len) return stmt_evaluate(random_expr(s, INT32, depth), here);
  Node *b = s->buffers.at[below(s->buffers.len)];
  return MAKE(BufferStore, here, VOID_TYPE, .buffer = b, .indices = random_indices(s, b, 1),
              .value = random_expr(s, AS(Buffer, b)->elem, depth));
}

static Node *random_dict(void) {
  Node *d = dict_new();
  for (int n = below(3); n > 0; n--)
    d = dict_with(d, random_name(),
                  one_in(2) ? string_imm("a\"b\n", here) : random_number(random_int_dtype()));
  return d;
}

static Node *random_for(Gen *g, Scope *outer, int depth) {
  Scope s = copied(outer);
  DataType t = random_int_dtype();
  For f = {.node = {NK_For, VOID_TYPE, here}, .loop_kind = (LoopKind)below(5)};
  f.min = one_in(2) ? int_imm(t, 0, here) : random_expr(outer, t, 1);
  f.extent = random_expr(outer, t, 1);
  f.var = var_new(random_name(), t, here);
  f.thread_tag = f.loop_kind == LOOP_THREAD ? "threadIdx.x" : NULL;
  if (one_in(4)) f.annotations = random_dict();
  vec_push(&s.vars, f.var);
  vec_push(&s.loops, f.var);
  f.body = random_body(g, &s, depth - 1);
  return gc_copy(&f, sizeof f);
}

static NodeVec random_regions(Scope *s) {
  NodeVec regions = {0};
  for (int n = below(3); n > 0 && s->buffers.len; n--) {
    Node *b = s->buffers.at[below(s->buffers.len)];
    NodeVec ranges = {0};
    for each (Node *, d, &AS(Buffer, b)->shape) {
      DataType t = random_int_dtype();
      Node *min = one_in(2) ? int_imm(t, 0, here) : random_expr(s, t, 1);
      Node *extent = one_in(2) ? int_imm(t, 1, here) : random_expr(s, t, 1);
      vec_push(&ranges, MAKE(Range, here, VOID_TYPE, .min = min, .extent = extent));
      (void)d;
    }
    vec_push(&regions, MAKE(BufferRegion, here, VOID_TYPE, .buffer = b, .region = ranges));
  }
  return regions;
}

/* The buffer gets the dtype of the source and the last dims of the region. */
static void match_source(Buffer *b, BufferRegion *r) {
  b->elem = AS(Buffer, r->buffer)->elem;
  AS(Var, b->data)->elem = b->elem;
  b->shape = (NodeVec){0};
  for (int i = below(2); i < r->region.len; i++)
    vec_push(&b->shape, AS(Range, r->region.at[i])->extent);
  b->strides = (NodeVec){0};
  for (int i = 0; i < b->shape.len && one_in(2); i++)
    vec_push(&b->strides, var_new(random_name(), INT64, here));
  if (b->strides.len != b->shape.len) b->strides = (NodeVec){0};
}

/* What a block with variables of its own may use. */
static Scope without_loops(const Scope *s) {
  Scope c = copied(s);
  c.vars.len = 0;
  for each (Node *, v, &s->vars) {
    bool is_loop = false;
    for each (Node *, l, &s->loops) is_loop |= *l == *v;
    if (!is_loop) vec_push(&c.vars, *v);
  }
  c.loops.len = 0;
  return c;
}

static Node *random_block(Gen *g, Scope *outer, int depth) {
  static const IterKind kinds[] = {ITER_SPATIAL, ITER_REDUCE, ITER_SCAN, ITER_OPAQUE};
  Scope s = copied(outer);
  Block b = {.node = {NK_Block, VOID_TYPE, here}, .name = random_name()};
  NodeVec values = {0};
  g->saw_block = true;
  for (int n = below(3); n > 0; n--) {
    DataType t = random_int_dtype();
    Node *min = one_in(2) ? int_imm(t, 0, here) : random_expr(outer, t, 1);
    Node *dom = MAKE(Range, here, VOID_TYPE, .min = min, .extent = random_expr(outer, t, 1));
    Node *var = var_new(random_name(), t, here);
    vec_push(&b.iter_vars,
             MAKE(IterVar, here, VOID_TYPE, .dom = dom, .var = var, .iter_kind = kinds[below(4)]));
    vec_push(&values, random_expr(outer, t, 1));
    vec_push(&s.vars, var);
  }
  Scope around = b.iter_vars.len ? without_loops(outer) : *outer;
  if (b.iter_vars.len) s = without_loops(&s);
  for (int n = below(2); n > 0; n--) {
    vec_push(&b.alloc_buffers, random_buffer(&s, false));
    enter_buffer(&s, vec_last(&b.alloc_buffers));
  }
  NodeVec sources = random_regions(&s);
  if (sources.len && one_in(3)) {
    Node *match = random_buffer(&s, true);
    match_source(AS(Buffer, match), AS(BufferRegion, sources.at[0]));
    vec_push(&b.match_buffers,
             MAKE(MatchBufferRegion, here, VOID_TYPE, .source = sources.at[0], .buffer = match));
    enter_buffer(&s, match);
  }
  b.reads = random_regions(&around);
  b.writes = random_regions(&around);
  if (one_in(3)) b.annotations = random_dict();
  if (one_in(3)) b.init = random_body(g, &s, depth - 1);
  b.body = random_body(g, &s, depth - 1);
  Node *predicate = one_in(3) ? random_bool(outer, 1) : int_imm(BOOL, 1, here);
  return MAKE(BlockRealize, here, VOID_TYPE, .iter_values = values, .predicate = predicate,
              .block = gc_copy(&b, sizeof b));
}

static Node *random_wrapper(Gen *g, Scope *outer, int depth) {
  Scope s = copied(outer);
  switch (below(6)) {
  case 0: {
    Node *value = random_expr(outer, random_dtype(), 2),
         *var = var_new(random_name(), value->dtype, here);
    vec_push(&s.vars, var);
    return MAKE(LetStmt, here, VOID_TYPE, .value = value, .var = var,
                .body = random_body(g, &s, depth - 1));
  }
  case 1: {
    Node *value = outer->pointers.len && one_in(2)
                      ? outer->pointers.at[below(outer->pointers.len)]
                      : expr_call("call_extern", HANDLE, NODES(string_imm("p", here)), here);
    Node *var = one_in(3)
                    ? var_new(random_name(), HANDLE, here)
                    : pointer_var_new(random_name(), random_dtype(), random_scope_name(), here);
    vec_push(&s.pointers, var);
    return MAKE(LetStmt, here, VOID_TYPE, .value = value, .var = var,
                .body = random_body(g, &s, depth - 1));
  }
  case 2: {
    Node *subject =
        outer->pointers.len && one_in(2) ? outer->pointers.at[0] : int_imm(INT32, 0, here);
    return MAKE(AttrStmt, here, VOID_TYPE, .subject = subject, .key = "key",
                .value = one_in(2) ? string_imm("v", here) : random_expr(outer, INT32, 2),
                .body = random_body(g, &s, depth - 1));
  }
  case 3:
    return MAKE(AssertStmt, here, VOID_TYPE, .cond = random_bool(outer, 2),
                .message = string_imm("no \"good\"\n", here),
                .body = random_body(g, &s, depth - 1));
  case 4: {
    DataType t = random_dtype();
    Node *var = pointer_var_new(random_name(), t, random_scope_name(), here);
    vec_push(&s.pointers, var);
    return MAKE(Allocate, here, VOID_TYPE, .extents = NODES(random_leaf(outer, INT32)),
                .cond = one_in(3) ? random_bool(outer, 1) : NULL, .elem = t,
                .annotations = one_in(3) ? random_dict() : NULL, .var = var,
                .body = random_body(g, &s, depth - 1));
  }
  default: {
    Node *view = random_view(outer);
    if (!view) return random_store(outer, 2);
    vec_push(&s.buffers, view);
    return MAKE(DeclBuffer, here, VOID_TYPE, .buffer = view, .body = random_body(g, &s, depth - 1));
  }
  }
}

static Node *random_stmt(Gen *g, Scope *s, int depth) {
  if (depth <= 0 || one_in(4)) return random_store(s, 2);
  switch (below(8)) {
  case 0:
  case 1: return random_for(g, s, depth);
  case 2: return random_block(g, s, depth);
  case 3:
    return MAKE(IfThenElse, here, VOID_TYPE, .cond = random_bool(s, 2),
                .then = random_body(g, s, depth - 1),
                .orelse = one_in(2) ? random_body(g, s, depth - 1) : NULL);
  case 4:
    return MAKE(While, here, VOID_TYPE, .cond = random_bool(s, 2),
                .body = random_body(g, s, depth - 1));
  case 5: { /* a view that no statement declares */
    Node *view = random_view(s);
    if (view) vec_push(&s->buffers, view);
    return random_store(s, 2);
  }
  default: return random_wrapper(g, s, depth);
  }
}

/* ---- functions ---- */

static Node *random_parameter(Scope *s, Node **buffer) {
  *buffer = NULL;
  if (one_in(3)) {
    Node *v = var_new(random_name(), random_dtype(), here);
    AS(Var, v)->is_size = dtype_is_int(v->dtype) && one_in(5);
    vec_push(&s->vars, v);
    return v;
  }
  if (one_in(4)) {
    Node *v = one_in(2) ? var_new(random_name(), HANDLE, here)
                        : pointer_var_new(random_name(), random_dtype(), random_scope_name(), here);
    vec_push(&s->pointers, v);
    return v;
  }
  *buffer = random_buffer(NULL, one_in(2));
  Buffer *b = AS(Buffer, *buffer);
  for each (Node *, d, &b->shape) {
    if (one_in(3)) *d = var_new(random_name(), random_int_dtype(), here);
    else if (one_in(3)) *d = random_leaf(s, random_int_dtype());
    if (IS(Var, *d)) vec_push(&s->vars, *d);
  }
  return var_new(random_name(), HANDLE, here);
}

static Node *random_function(void) {
  Scope s = {0};
  Gen g = {false};
  NodeVec params = {0}, buffers = {0};
  for (int n = below(5); n > 0; n--) {
    Node *buffer;
    vec_push(&params, random_parameter(&s, &buffer));
    vec_push(&buffers, buffer);
    if (buffer) enter_buffer(&s, buffer);
  }
  NodeVec allocs = {0};
  for (int n = one_in(3); n > 0; n--) {
    vec_push(&allocs, random_buffer(&s, false));
    enter_buffer(&s, vec_last(&allocs));
  }
  Node *body = random_body(&g, &s, 3);
  bool lone = IS(BlockRealize, body) && !AS(BlockRealize, body)->iter_values.len;
  if (allocs.len || (g.saw_block && !lone)) {
    Node *root =
        MAKE(Block, here, VOID_TYPE, .name = "root", .alloc_buffers = allocs, .body = body);
    body = MAKE(BlockRealize, here, VOID_TYPE, .predicate = int_imm(BOOL, 1, here), .block = root);
  }
  Node *attrs = one_in(2) ? random_dict() : dict_new();
  if (one_in(2)) attrs = dict_with(attrs, "global_symbol", string_imm("f", here));
  return MAKE(PrimFunc, here, VOID_TYPE, .params = params, .buffers = buffers,
              .ret_dtype = VOID_TYPE, .attrs = attrs, .body = body);
}

static Node *random_module(void) {
  Node *global = MAKE(GlobalVar, here, VOID_TYPE, .sinfo = sinfo_object(), .name = "f");
  return module_with(module_new(), global, random_function());
}

TEST(print_of_tensor_programs_reads_back) { CHECK(print_survives_all(random_module, 500)); }

TEST(print_shows_what_has_no_other_text) {
  Node *A = buffer_new("A", INT32, NODES(int_imm(INT32, 8, here)), "shared", here),
       *i = int_imm(INT32, 0, here);
  Node *yes = int_imm(BOOL, 1, here);
  Node *load = MAKE(BufferLoad, here, INT32, .buffer = A, .indices = NODES(i), .predicate = yes);
  Node *store = MAKE(BufferStore, here, VOID_TYPE, .buffer = A, .indices = NODES(i), .value = load,
                     .predicate = yes);
  Node *range = MAKE(Range, here, VOID_TYPE, .min = i, .extent = int_imm(INT32, 8, here));
  Node *n =
      MAKE(BufferRealize, here, VOID_TYPE, .bounds = NODES(range), .buffer = A, .body = store);
  CHECK(str_same(ir_print(n, NULL), "A = T.Buffer((8,), \"int32\", scope=\"shared\")\n"
                                    "T.realize(A[0:8], \"\")\nA.vstore([0], A.vload([0], "
                                    "predicate=T.bool(True)), predicate=T.bool(True))\n"));
  CHECK(str_same(ir_print(NULL, NULL), "None"));
}

/* Deep programs end, and names that clash a hundred thousand times are found at once. */
TEST(print_of_deep_nests_and_many_equal_names) {
  enum { DEPTH = 100000 };
  Node *x = var_new("x", INT32, here), *e = x, *body = stmt_evaluate(x, here);
  for (int i = 0; i < DEPTH; i++)
    body = MAKE(LetStmt, here, VOID_TYPE, .value = int_imm(INT32, i, here),
                .var = var_new("v", INT32, here), .body = body);
  for (int i = 0; i < DEPTH; i++) e = MAKE(Cast, here, i & 1 ? INT32 : INT64, .value = e);
  body = stmt_seq(NODES(stmt_evaluate(e, here), body), here);
  const char *text = ir_print(body, NULL);
  CHECK(strstr(text, "\nv_99999 = 0\n") && strstr(text, "v = 99999\n"));
}
