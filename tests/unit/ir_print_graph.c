/* ir_print_graph.c -- text and back: random graph functions are printed, read and compared. */
#include "tests/unit/print_test.h"
#include "tests/unit/unit.h"

static const Span here = {0};

typedef struct Scope {
  NodeVec vars; /* RelaxVar */
  NodeVec dims; /* Var */
} Scope;

typedef struct Gen {
  Scope scope;
  NodeVec globals, functions; /* of the module so far */
  bool in_dataflow, pure;
  NodeVec bindings, blocks;
} Gen;

static Node *num(int64_t v) { return int_imm(INT64, v, here); }

/* ---- struct info ---- */

static Node *random_dim(Scope *s) {
  if (!s->dims.len || one_in(2)) return num(below(5));
  Node *n = s->dims.at[below(s->dims.len)];
  return one_in(4) ? expr_add(expr_mul(n, num(2 + below(2))), num(below(2))) : n;
}

static NodeVec random_dims(Scope *s) {
  NodeVec dims = {0};
  for (int n = below(4); n > 0; n--) vec_push(&dims, random_dim(s));
  return dims;
}

static DataType random_dtype(void) {
  static const char *const texts[] = {"float32", "float32", "float16", "int32",    "int64",
                                      "bool",    "uint8",   "float64", "bfloat16", "float8_e4m3fn"};
  DataType t;
  CHECK(dtype_parse(texts[below(10)], &t));
  return t;
}

static Node *random_info(Scope *s, int depth) {
  switch (below(depth > 0 ? 9 : 7)) {
  case 0: return sinfo_object();
  case 1: return sinfo_tensor_unknown(one_in(2) ? VOID_TYPE : random_dtype(), below(4) - 1, here);
  case 2: {
    NodeVec dims = random_dims(s);
    if (one_in(2))
      return MAKE(ShapeStructInfo, here, VOID_TYPE, .known = true, .values = dims,
                  .ndim = dims.len);
    return MAKE(ShapeStructInfo, here, VOID_TYPE, .ndim = below(4) - 1);
  }
  case 3: return MAKE(PrimStructInfo, here, VOID_TYPE, .elem = one_in(2) ? INT64 : FLOAT32);
  case 7: {
    NodeVec fields = {0};
    for (int n = below(3); n > 0; n--) vec_push(&fields, random_info(s, depth - 1));
    return sinfo_tuple(fields, here);
  }
  case 8: {
    NodeVec params = {0};
    Scope none = {0};
    bool known = one_in(2);
    for (int n = known ? below(3) : 0; n > 0; n--) vec_push(&params, random_info(&none, depth - 1));
    return MAKE(FuncStructInfo, here, VOID_TYPE, .known = known, .params = params,
                .ret = random_info(&none, depth - 1), .is_pure = one_in(2));
  }
  default: return sinfo_tensor(random_dims(s), one_in(8) ? VOID_TYPE : random_dtype(), here);
  }
}

static Node *relax_var(Gen *g, Node *info, const char *name) {
  return MAKE(RelaxVar, here, VOID_TYPE, .sinfo = info, .name = name,
              .is_dataflow = g->in_dataflow && !one_in(4));
}

/* ---- values ---- */

static Node *any_var(Gen *g) { return g->scope.vars.at[below(g->scope.vars.len)]; }

static Node *random_constant(void) {
  DataType t = random_dtype();
  int ndim = below(3);
  int64_t *shape = NEW_ARRAY(int64_t, 2), n = 1;
  for (int i = 0; i < ndim; i++) n *= shape[i] = 1 + below(3);
  size_t nbytes = (size_t)n * (size_t)dtype_nbytes(t);
  char *bytes = NEW_BYTES(nbytes + 1);
  for (size_t i = 0; i < nbytes; i++) bytes[i] = (char)(dtype_is_bool(t) ? below(2) : below(256));
  NodeVec dims = {0};
  for (int i = 0; i < ndim; i++) vec_push(&dims, num(shape[i]));
  return MAKE(Constant, here, VOID_TYPE, .sinfo = sinfo_tensor(dims, t, here),
              .data = NEW(ConstData, t, ndim, shape, bytes, nbytes));
}

static Node *prim_info(Node *value) {
  return MAKE(PrimStructInfo, here, VOID_TYPE, .elem = value->dtype, .value = value);
}

static Node *extern_func(const char *symbol) {
  return MAKE(ExternFunc, here, VOID_TYPE, .sinfo = sinfo_object(), .symbol = symbol);
}

static Node *random_leaf(Gen *g) {
  switch (below(8)) {
  case 0: return random_constant();
  case 1: {
    NodeVec dims = random_dims(&g->scope);
    Node *info =
        MAKE(ShapeStructInfo, here, VOID_TYPE, .known = true, .values = dims, .ndim = dims.len);
    return MAKE(ShapeExpr, here, VOID_TYPE, .sinfo = info, .values = dims);
  }
  case 2: {
    Node *value = one_in(2)   ? random_dim(&g->scope)
                  : one_in(2) ? int_imm(INT32, below(9), here)
                              : float_imm(FLOAT32, 0.5, here);
    return MAKE(PrimValue, here, VOID_TYPE, .sinfo = prim_info(value), .value = value);
  }
  case 3: return MAKE(StringValue, here, VOID_TYPE, .sinfo = sinfo_object(), .value = "a\"b\n");
  default: return any_var(g);
  }
}

static Node *with_info(Node *call) {
  AS(RelaxCall, call)->sinfo = sinfo_infer_call(call);
  return call;
}

static NodeVec random_args(Gen *g) {
  NodeVec args = {0};
  for (int n = below(3); n > 0; n--) vec_push(&args, random_leaf(g));
  return args;
}

static Node *random_packed(Gen *g) {
  bool pure = g->pure || one_in(2);
  NodeVec args = random_args(g), infos = {0}, all = NODES(extern_func("ext.f"));
  for each (Node *, a, &args) vec_push(&all, *a);
  for (int n = below(3); n > 0; n--) vec_push(&infos, random_info(&g->scope, 1));
  return with_info(MAKE(RelaxCall, here, VOID_TYPE,
                        .op = op_get(pure ? "relax.call_pure_packed" : "relax.call_packed"),
                        .args = all, .sinfo_args = infos));
}

static Node *tuple_of(NodeVec fields) {
  NodeVec infos = {0};
  for each (Node *, f, &fields) vec_push(&infos, sinfo_of(*f));
  return MAKE(Tuple, here, VOID_TYPE, .sinfo = sinfo_tuple(infos, here), .fields = fields);
}

static Node *random_dps(Gen *g) {
  NodeVec args = {0}, outs = {0};
  for (int n = below(3); n > 0; n--) vec_push(&args, any_var(g));
  for (int n = 1 + below(2); n > 0; n--)
    vec_push(&outs, sinfo_tensor(random_dims(&g->scope), random_dtype(), here));
  return with_info(MAKE(RelaxCall, here, VOID_TYPE, .op = op_get("relax.call_dps_packed"),
                        .args = NODES(extern_func("ext.g"), tuple_of(args)), .sinfo_args = outs));
}

/* An operator of one or two tensors of one known shape and float dtype. */
static Node *random_operator(Gen *g) {
  for (int i = 0; i < 8; i++) {
    Node *x = any_var(g);
    NodeVec dims;
    bool fits = sinfo_tensor_shape(sinfo_of(x), &dims) &&
                dtype_equal(AS(TensorStructInfo, sinfo_of(x))->elem, FLOAT32);
    if (!fits) continue;
    if (one_in(2))
      return with_info(
          MAKE(RelaxCall, here, VOID_TYPE, .op = op_get("relax.exp"), .args = NODES(x)));
    return with_info(
        MAKE(RelaxCall, here, VOID_TYPE, .op = op_get("relax.add"), .args = NODES(x, x)));
  }
  return random_leaf(g);
}

static Node *random_item(Gen *g) {
  for (int i = 0; i < 8; i++) {
    Node *x = any_var(g), *info = sinfo_of(x);
    if (!IS(TupleStructInfo, info) || !AS(TupleStructInfo, info)->fields.len) continue;
    int index = below(AS(TupleStructInfo, info)->fields.len);
    return MAKE(TupleGetItem, here, VOID_TYPE, .sinfo = AS(TupleStructInfo, info)->fields.at[index],
                .tuple = x, .index = index);
  }
  NodeVec fields = {0};
  for (int n = below(3); n > 0; n--) vec_push(&fields, random_leaf(g));
  return tuple_of(fields);
}

/* ---- bindings ---- */

static void random_binding(Gen *g, int depth);

static void end_block(Gen *g) {
  if (!g->bindings.len) return;
  vec_push(&g->blocks, MAKE(BindingBlock, here, VOID_TYPE, .is_dataflow = g->in_dataflow,
                            .bindings = g->bindings));
  g->bindings = (NodeVec){0};
}

static Node *random_seq(Gen *outer, int depth, int count) {
  Gen g = *outer;
  g.bindings = g.blocks = (NodeVec){0};
  g.scope = (Scope){0};
  for each (Node *, v, &outer->scope.vars) vec_push(&g.scope.vars, *v);
  for each (Node *, v, &outer->scope.dims) vec_push(&g.scope.dims, *v);
  for (int n = count; n > 0; n--) random_binding(&g, depth);
  Node *body = one_in(6) && count ? random_leaf(&g) : any_var(&g);
  end_block(&g);
  return MAKE(SeqExpr, here, VOID_TYPE, .sinfo = sinfo_of(body), .blocks = g.blocks, .body = body);
}

static void bind(Gen *g, Node *value) {
  Node *var = relax_var(g, sinfo_of(value), random_name());
  vec_push(&g->bindings, MAKE(VarBinding, here, VOID_TYPE, .value = value, .var = var));
  vec_push(&g->scope.vars, var);
}

static void random_cast(Gen *g) {
  Node *m = var_new(random_name(), INT64, here);
  NodeVec dims = NODES(m);
  if (one_in(2)) vec_push(&dims, random_dim(&g->scope));
  Node *info = sinfo_tensor(dims, FLOAT32, here), *var = relax_var(g, info, random_name());
  vec_push(&g->bindings,
           MAKE(MatchCast, here, VOID_TYPE, .value = any_var(g), .var = var, .sinfo = info));
  vec_push(&g->scope.vars, var);
  vec_push(&g->scope.dims, m);
}

static void random_dataflow(Gen *g) {
  if (g->in_dataflow) return;
  end_block(g);
  int mark = g->scope.vars.len;
  bool pure = g->pure;
  g->in_dataflow = g->pure = true;
  for (int n = 1 + below(4); n > 0; n--) random_binding(g, 0);
  end_block(g);
  g->in_dataflow = false;
  g->pure = pure;
  int kept = mark;
  for (int i = mark; i < g->scope.vars.len; i++)
    if (!AS(RelaxVar, g->scope.vars.at[i])->is_dataflow)
      g->scope.vars.at[kept++] = g->scope.vars.at[i];
  g->scope.vars.len = kept;
}

static void random_branch(Gen *g, int depth) {
  for (int i = 0; i < 8; i++) {
    Node *c = any_var(g), *info = sinfo_of(c);
    NodeVec dims;
    bool scalar = sinfo_tensor_shape(info, &dims) && !dims.len &&
                  dtype_is_bool(AS(TensorStructInfo, info)->elem);
    if (!scalar) continue;
    Node *then = random_seq(g, depth - 1, below(3)), *orelse = random_seq(g, depth - 1, below(3));
    Node *joined = sinfo_join(sinfo_of(then), sinfo_of(orelse));
    Map known = {0};
    for each (Node *, v, &g->scope.dims) map_set(&known, *v, *v);
    return bind(g, MAKE(RelaxIf, here, VOID_TYPE, .sinfo = sinfo_erase_vars(joined, &known),
                        .cond = c, .then = then, .orelse = orelse));
  }
}

static Node *random_function(Gen *outer, int depth, bool local);

static void random_binding(Gen *g, int depth) {
  switch (below(depth > 0 && !g->in_dataflow ? 12 : 7)) {
  case 0: return bind(g, random_leaf(g));
  case 1: return bind(g, random_item(g));
  case 2: return bind(g, random_packed(g));
  case 3: return bind(g, random_dps(g));
  case 4: return random_cast(g);
  case 7: return random_branch(g, depth);
  case 8: return bind(g, random_function(g, depth - 1, true));
  case 9:
  case 10: return random_dataflow(g);
  default: return bind(g, random_operator(g));
  }
}

/* ---- functions ---- */

static Node *random_function(Gen *outer, int depth, bool local) {
  Gen g = {.globals = outer->globals, .functions = outer->functions, .pure = one_in(2)};
  if (local)
    for each (Node *, v, &outer->scope.vars)
      if (!IS(FuncStructInfo, sinfo_of(*v))) vec_push(&g.scope.vars, *v);
  if (local)
    for each (Node *, v, &outer->scope.dims) vec_push(&g.scope.dims, *v);
  NodeVec params = {0}, own = {0};
  for (int n = below(3); n > 0; n--) {
    vec_push(&own, var_new(random_name(), INT64, here));
    vec_push(&g.scope.dims, vec_last(&own));
  }
  if (own.len) vec_push(&params, relax_var(&g, sinfo_tensor(own, FLOAT32, here), random_name()));
  vec_push(&params, relax_var(&g, sinfo_tensor((NodeVec){0}, BOOL, here), random_name()));
  for (int n = below(4); n > 0; n--)
    vec_push(&params, relax_var(&g, random_info(&g.scope, 2), random_name()));
  for each (Node *, p, &params) vec_push(&g.scope.vars, *p);
  Node *body = random_seq(&g, depth, below(8));
  Node *ret = sinfo_finer(sinfo_object(), sinfo_of_result(params, body));
  Node *attrs = one_in(3) ? dict_with(dict_new(), random_name(), num(3)) : dict_new();
  if (!local && one_in(2)) attrs = dict_with(attrs, "global_symbol", string_imm("main", here));
  Node *info = sinfo_function(params, ret, g.pure, here);
  return MAKE(Function, here, VOID_TYPE, .sinfo = info, .params = params, .ret_sinfo = ret,
              .is_pure = g.pure, .attrs = attrs, .body = body);
}

static Node *random_module(void) {
  Gen g = {0};
  Node *f = random_function(&g, 2, false);
  return module_with(module_new(),
                     MAKE(GlobalVar, here, VOID_TYPE, .sinfo = sinfo_of(f), .name = "main"), f);
}

TEST(print_of_graph_functions_reads_back) { CHECK(print_survives_all(random_module, 500)); }
