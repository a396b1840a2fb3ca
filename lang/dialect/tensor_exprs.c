/* tensor_exprs.c -- names under T. that build scalar expressions, and values such as targets. */
#include "lang/dialect/tensor_names.h"

#define ARG(i)  call->args[i]
#define SPAN(i) call->spans[i]

static Node *expr_arg(BuiltinCall *call, int i) { return to_expr(ARG(i), SPAN(i)); }

static Value binary_of(BuiltinCall *call, NodeKind kind) {
  NodeVec x = to_operands(2, call->args, call->span);
  return value_node(expr_binary(kind, x.at[0], x.at[1], call->span));
}
/* T.min(a, b, c, ...) */
static Value extreme_of(BuiltinCall *call, NodeKind kind) {
  Value x = ARG(0);
  for each (Value, y, value_items(ARG(1))) {
    NodeVec pair = to_operands(2, (Value[]){x, *y}, call->span);
    x = value_node(expr_binary(kind, pair.at[0], pair.at[1], call->span));
  }
  return value_node(to_expr(x, SPAN(0)));
}
Value t_min(BuiltinCall *call) { return extreme_of(call, NK_Min); }
Value t_max(BuiltinCall *call) { return extreme_of(call, NK_Max); }
Value t_floordiv(BuiltinCall *call) { return binary_of(call, NK_FloorDiv); }
Value t_floormod(BuiltinCall *call) { return binary_of(call, NK_FloorMod); }
Value t_truncmod(BuiltinCall *call) { return binary_of(call, NK_Mod); }

/* Div of integers truncates; expr_binary refuses "/" on them, so the operands are matched through
 * another kind. */
Value t_truncdiv(BuiltinCall *call) {
  Node *a = expr_arg(call, 0), *b = expr_arg(call, 1);
  if (dtype_is_float(a->dtype) || dtype_is_float(b->dtype)) return binary_of(call, NK_Div);
  int64_t x, y;
  if (expr_is_zero(b)) raise("ZeroDivisionError", call->span, "division by zero");
  if (expr_is_const_int(a, &x) && expr_is_const_int(b, &y) && y != -1)
    return value_node(int_imm(a->dtype, x / y, call->span));
  Node *matched = expr_binary(NK_Mod, a, b, call->span);
  if (!IS(Mod, matched)) return value_node(a); /* a % 1 folded: a / 1 */
  return value_node(
      MAKE(Div, call->span, matched->dtype, .a = AS(Mod, matched)->a, .b = AS(Mod, matched)->b));
}

Value t_ceildiv(BuiltinCall *call) {
  Node *a = expr_arg(call, 0), *b = expr_arg(call, 1);
  Node *up = expr_binary(NK_Sub, expr_binary(NK_Add, a, b, call->span),
                         int_imm(INT32, 1, call->span), call->span);
  return value_node(expr_binary(NK_FloorDiv, up, b, call->span));
}

Value t_abs(BuiltinCall *call) {
  Node *x = expr_arg(call, 0);
  if (!dtype_is_int(x->dtype) && !dtype_is_bool(x->dtype))
    return value_node(expr_call("fabs", x->dtype, NODES(x), call->span));
  Node *zero = int_imm(dtype_element(x->dtype), 0, call->span);
  return value_node(
      expr_select(expr_binary(NK_GE, x, zero, call->span), x, expr_neg(x, call->span), call->span));
}

Value t_cast(BuiltinCall *call) {
  DataType t = to_dtype(ARG(1), SPAN(1));
  return value_node(expr_cast(t, to_expr_for(ARG(0), t, SPAN(0)), call->span));
}

Value t_Cast(BuiltinCall *call) {
  return value_node(MAKE(Cast, call->span, to_dtype(ARG(0), SPAN(0)), .value = expr_arg(call, 1)));
}

static Value limit_of(BuiltinCall *call, bool low) {
  DataType t = to_dtype(ARG(0), SPAN(0));
  if (dtype_is_float(t))
    return value_node(float_imm(t, low ? -dtype_max_float(t) : dtype_max_float(t), call->span));
  if (dtype_is_int(t))
    return value_node(int_imm(t, low ? dtype_min_int(t) : dtype_max_int(t), call->span));
  if (dtype_is_bool(t)) return value_node(int_imm(t, !low, call->span));
  raise("TypeError", SPAN(0), "%s has no least or greatest value", dtype_text(t));
}
Value t_min_value(BuiltinCall *call) { return limit_of(call, true); }
Value t_max_value(BuiltinCall *call) { return limit_of(call, false); }

Value t_infinity(BuiltinCall *call) {
  DataType t = to_dtype(ARG(0), SPAN(0));
  if (!dtype_is_float(t)) raise("TypeError", SPAN(0), "%s has no infinity", dtype_text(t));
  return value_node(float_imm(t, __builtin_inf(), call->span));
}

/* Always a node, also where the condition is known. */
Value t_select(BuiltinCall *call) {
  Node *cond = expr_arg(call, 0), *asked = cond;
  int64_t truth;
  if (expr_is_const_int(cond, &truth)) {
    asked = var_new("c", BOOL, call->span);
    cond = int_imm(BOOL, truth, cond->span);
  }
  NodeVec arms = to_operands(2, call->args + 1, call->span);
  Select s = *AS(Select, expr_select(asked, arms.at[0], arms.at[1], call->span));
  if (cond != asked && IS(IntImm, cond)) s.cond = cond;
  return value_node(gc_copy(&s, sizeof s));
}

Value t_if_then_else(BuiltinCall *call) {
  NodeVec arms = to_operands(2, call->args + 1, call->span);
  Node *t = arms.at[0], *f = arms.at[1];
  if (!dtype_equal(t->dtype, f->dtype)) {
    Node *pair = expr_select(int_imm(BOOL, 1, call->span), t, f, call->span);
    t = expr_cast(pair->dtype, t, call->span);
    f = expr_cast(pair->dtype, f, call->span);
  }
  return value_node(
      expr_call("if_then_else", t->dtype, NODES(expr_arg(call, 0), t, f), call->span));
}

/* k of T.vscale() * k, or 0. */
static int64_t vscale_factor(Node *n) {
  int64_t k;
  if (is_intrin_call(n, "vscale")) return 1;
  if (!IS(Mul, n)) return 0;
  Node *a = AS(Mul, n)->a, *b = AS(Mul, n)->b;
  if (is_intrin_call(a, "vscale") && expr_is_const_int(b, &k)) return k;
  return is_intrin_call(b, "vscale") && expr_is_const_int(a, &k) ? k : 0;
}

int lanes_of_value(Value v, Span span) {
  int64_t n, scale = 1;
  if (v.type == &type_node && expr_is_const_int(v.node, &n)) v = value_int(n);
  if (v.type == &type_node && vscale_factor(v.node))
    v = value_int(vscale_factor(v.node)), scale = -1;
  n = value_as_int(v, "the number of lanes", span);
  if (n < 1 || n > INT16_MAX)
    raise("ValueError", span, "the number of lanes must be from 1 to %d, found %ld", INT16_MAX,
          (long)n);
  return (int)(n * scale);
}

static int lanes_arg(BuiltinCall *call, int i) { return lanes_of_value(ARG(i), SPAN(i)); }

Value t_ramp(BuiltinCall *call) {
  Node *base = expr_arg(call, 0), *stride = expr_cast(base->dtype, expr_arg(call, 1), call->span);
  int lanes = lanes_arg(call, 2);
  if (lanes == 1) return value_node(base);
  return value_node(MAKE(Ramp, call->span, dtype_with_lanes(base->dtype, lanes), .base = base,
                         .stride = stride, .lanes = lanes));
}

Value t_broadcast(BuiltinCall *call) {
  Node *x = expr_arg(call, 0);
  int lanes = lanes_arg(call, 1);
  if (lanes == 1) return value_node(x);
  return value_node(
      MAKE(Broadcast, call->span, dtype_with_lanes(x->dtype, lanes), .value = x, .lanes = lanes));
}

Value t_shuffle(BuiltinCall *call) {
  NodeVec vectors = to_exprs(ARG(0), SPAN(0)), indices = to_exprs(ARG(1), SPAN(1));
  if (!vectors.len || !indices.len)
    raise("ValueError", call->span, "T.Shuffle needs vectors and indices");
  DataType t = dtype_with_lanes(vectors.at[0]->dtype, indices.len);
  return value_node(MAKE(Shuffle, call->span, t, .vectors = vectors, .indices = indices));
}

Value t_const(BuiltinCall *call) {
  if (value_is_none(ARG(1))) return value_node(to_expr(ARG(0), SPAN(0)));
  return value_call_with(value_dtype(to_dtype(ARG(1), SPAN(1))), 1, &ARG(0), call->span);
}

static Value joined(BuiltinCall *call, NodeKind kind) {
  Node *all = NULL;
  for each (Value, v, value_items(ARG(0))) {
    Node *x = to_expr(*v, call->span);
    all = all ? expr_binary(kind, all, x, call->span) : x;
  }
  return value_node(all ? all : int_imm(BOOL, kind == NK_And, call->span));
}
Value t_all(BuiltinCall *call) { return joined(call, NK_And); }
Value t_any(BuiltinCall *call) { return joined(call, NK_Or); }

Value t_not(BuiltinCall *call) {
  Node *a = expr_arg(call, 0);
  return value_node(MAKE(Not, call->span, a->dtype, .a = a));
}

Value t_int_imm(BuiltinCall *call) {
  DataType t = to_dtype(ARG(0), SPAN(0));
  int64_t i = value_as_int(ARG(1), "the value", SPAN(1));
  if (!(dtype_is_int(t) || dtype_is_bool(t)) || t.lanes != 1)
    raise("TypeError", SPAN(0), "an integer constant can't be of dtype %s", dtype_text(t));
  check_int_fits(t, i, SPAN(1));
  return value_node(int_imm(t, i, call->span));
}
Value t_float_imm(BuiltinCall *call) {
  DataType t = to_dtype(ARG(0), SPAN(0));
  double x = value_as_float(ARG(1), "the value", SPAN(1));
  if (!dtype_is_float(t) || t.lanes != 1)
    raise("TypeError", SPAN(0), "a float constant can't be of dtype %s", dtype_text(t));
  return value_node(float_imm(t, x, call->span));
}
Value t_string_imm(BuiltinCall *call) {
  return value_node(string_imm(value_as_text(ARG(0), "the text", SPAN(0)), call->span));
}

Value t_buffer_load(BuiltinCall *call) {
  if (!value_is_node(ARG(0), NK_Buffer))
    raise("TypeError", SPAN(0), "expected a buffer, found %s", value_type_name(ARG(0)));
  return value_node(expr_load(ARG(0).node, to_exprs(ARG(1), SPAN(1)), call->span));
}

/* T.Let(body, where={x: value}) */
Value t_let(BuiltinCall *call) {
  Node *body = expr_arg(call, 0);
  if (ARG(1).type != &type_dict)
    raise("TypeError", SPAN(1), "expected where={var: value}, found %s", value_type_name(ARG(1)));
  for (int i = value_dict_len(ARG(1)) - 1; i >= 0; i--) {
    Value var, x;
    value_dict_entry(ARG(1), i, &var, &x);
    if (!value_is_node(var, NK_Var))
      raise("TypeError", SPAN(1), "expected a variable, found %s", value_type_name(var));
    body = MAKE(Let, call->span, body->dtype, .value = to_expr(x, SPAN(1)), .var = var.node,
                .body = body);
  }
  return value_node(body);
}

/* ---- reducers: the lambda is called with fresh variables ---- */

static NodeVec call_lambda(Value f, NodeVec vars, Span span) {
  ValueVec args = {0};
  for each (Node *, v, &vars) vec_push(&args, value_node(*v));
  return to_exprs(value_call_with(f, args.len, args.at, span), span);
}

static void rename_fresh(NodeVec vars, const char *letter) {
  for (int i = 0; i < vars.len; i++)
    AS(Var, vars.at[i])->name = str_intern(str_format("%s%d", letter, i));
}

Value t_comm_reducer(BuiltinCall *call) {
  NodeVec identity = to_exprs(ARG(1), SPAN(1)), lhs = {0}, rhs = {0}, all = {0};
  for each (Node *, id, &identity) vec_push(&lhs, var_new("x", (*id)->dtype, call->span));
  for each (Node *, id, &identity) vec_push(&rhs, var_new("y", (*id)->dtype, call->span));
  rename_fresh(lhs, "x");
  rename_fresh(rhs, "y");
  for each (Node *, v, &lhs) vec_push(&all, *v);
  for each (Node *, v, &rhs) vec_push(&all, *v);
  NodeVec results = call_lambda(ARG(0), all, SPAN(0));
  if (results.len != identity.len)
    raise("ValueError", call->span, "the reducer gives %d values for %d identities", results.len,
          identity.len);
  return value_node(MAKE(CommReducer, call->span, VOID_TYPE, .lhs = lhs, .rhs = rhs,
                         .results = results, .identity = identity));
}

Node *axis_of_reduce(Value v, Span span) {
  if (v.type == &type_poison) raise(ERROR_POISONED, span, "an earlier error");
  if (v.type == &type_node && node_is_axis(v.node)) return v.node;
  raise("TypeError", span, "an axis of a reduction is an IterVar with a domain, found %s%s",
        value_type_name(v), value_is_node(v, NK_IterVar) ? " without one" : "");
}

/* T.reduce(combiner, [source], [axis], condition, value_index, init) */
Value t_reduce(BuiltinCall *call) {
  if (!value_is_node(ARG(0), NK_CommReducer))
    raise("TypeError", SPAN(0), "expected T.comm_reducer(...), found %s", value_type_name(ARG(0)));
  NodeVec sources = to_exprs(ARG(1), SPAN(1)), axes = {0};
  ValueVec rdom = value_to_vec(ARG(2), SPAN(2));
  for each (Value, v, &rdom) vec_push(&axes, axis_of_reduce(*v, SPAN(2)));
  int64_t index = value_as_int(ARG(4), "value_index", SPAN(4));
  if (index < 0 || index >= sources.len)
    raise("IndexError", SPAN(4), "T.reduce has %d values, and none of number %ld", sources.len,
          (long)index);
  return value_node(MAKE(Reduce, call->span, sources.at[index]->dtype, .reducer = ARG(0).node,
                         .axes = axes, .sources = sources, .cond = to_expr(ARG(3), SPAN(3)),
                         .value_index = (int)index, .init = to_exprs(ARG(5), SPAN(5))));
}

/* ---- calls by name ---- */

const char *builtin_of_op(const char *name) {
  if (strncmp(name, "tir.", 4) == 0) name += 4;
  else if (strncmp(name, "tirx.", 5) == 0) name += 5;
  /* tvm_call_packed and its like: as operators their names begin so. */
  return strncmp(name, "tvm_call_", 9) == 0 && intrin_find(name + 4) ? name + 4 : name;
}

static const char *builtin_name(Value op, Span span) {
  return builtin_of_op(value_is_node(op, NK_Op) ? AS(Op, op.node)->name
                                                : value_as_text(op, "the name of a builtin", span));
}

/* A builtin that no table knows is a call of call_intrin with its name. */
static Node *call_by_name(DataType t, Value op, NodeVec args, Node *attrs, Span span) {
  if (value_is_node(op, NK_GlobalVar)) return MAKE(Call, span, t, .op = op.node, .args = args);
  const char *name = builtin_name(op, span);
  bool known = intrin_find(name) || family_has(name);
  NodeVec all = {0};
  if (!known)
    vec_push(&all,
             string_imm(value_is_node(op, NK_Op) ? AS(Op, op.node)->name : value_text(op), span));
  for each (Node *, a, &args) vec_push(&all, *a);
  Node *callee = op_get(str_format("tir.%s", known ? name : "call_intrin"));
  return MAKE(Call, span, t, .op = callee, .args = all, .attrs = attrs);
}

Value t_call_intrin(BuiltinCall *call) {
  NodeVec args = {0};
  for each (Value, v, value_items(ARG(2))) vec_push(&args, intrin_argument(*v, call->span));
  Node *attrs = value_is_none(ARG(3)) ? NULL : to_attr(ARG(3), SPAN(3));
  return value_node(call_by_name(to_dtype(ARG(0), SPAN(0)), ARG(1), args, attrs, call->span));
}

Value t_call(BuiltinCall *call) {
  NodeVec args = {0};
  ValueVec values = value_to_vec(ARG(2), SPAN(2));
  for each (Value, v, &values) vec_push(&args, intrin_argument(*v, SPAN(2)));
  return value_node(call_by_name(to_dtype(ARG(0), SPAN(0)), ARG(1), args, NULL, call->span));
}

/* ---- variables and other values ---- */

Value t_tensor_map(BuiltinCall *call) {
  return value_node(MAKE(Var, call->span, HANDLE, .elem = VOID_TYPE, .scope = "tensormap"));
}

/* T.handle, T.handle("float32", "shared"), T.Ptr[T.int32]: a pointer variable. */
Value t_handle(BuiltinCall *call) {
  if (ARG(0).type == &type_str && str_same(value_text(ARG(0)), "tensormap"))
    return t_tensor_map(call);
  DataType elem = value_is_none(ARG(0)) ? VOID_TYPE : to_dtype(ARG(0), SPAN(0));
  const char *scope = value_as_text(ARG(1), "storage_scope", SPAN(1));
  return value_node(MAKE(Var, call->span, HANDLE, .elem = elem,
                         .scope = dtype_is_void(elem) ? NULL : str_intern(scope)));
}

Value t_var(BuiltinCall *call) {
  const char *name = value_as_text(ARG(1), "the name of a variable", SPAN(1));
  return value_node(MAKE(Var, call->span, to_dtype(ARG(0), SPAN(0)), .elem = VOID_TYPE,
                         .name = *name ? str_intern(name) : NULL));
}

/* The dtype may also come first, as in T.var. */
static Value named_var(BuiltinCall *call, bool is_size) {
  DataType t;
  bool swapped = is_dtype(ARG(0)) ||
                 (ARG(0).type == &type_str && ARG(1).type == &type_str &&
                  dtype_parse(value_text(ARG(0)), &t) && !dtype_parse(value_text(ARG(1)), &t));
  if (swapped) {
    Value name = ARG(1);
    ARG(1) = ARG(0);
    ARG(0) = name;
  }
  const char *name = value_as_text(ARG(0), "the name of a variable", SPAN(0));
  Node *var = var_new(*name ? name : NULL, to_dtype(ARG(1), SPAN(1)), call->span);
  AS(Var, var)->is_size = is_size;
  if (tensor) map_set(&tensor->unbound, var, var);
  return value_node(var);
}
Value t_Var(BuiltinCall *call) { return named_var(call, false); }
Value t_SizeVar(BuiltinCall *call) { return named_var(call, true); }

Value t_iter_var(BuiltinCall *call) {
  const char *kind = value_as_text(ARG(2), "the kind of an iteration variable", SPAN(2));
  for (int i = 0; i < ITER_KINDS; i++) {
    if (!str_same(kind, iter_kind_names[i])) continue;
    Node *var = expr_arg(call, 0);
    if (!IS(Var, var))
      raise("TypeError", SPAN(0), "T.iter_var needs a variable, found %s",
            node_kind_name(var->kind));
    if (!value_is_none(ARG(1)) && !value_is_node(ARG(1), NK_Range))
      raise("TypeError", SPAN(1),
            "the domain of an iteration variable is a Range or None, found %s",
            value_type_name(ARG(1)));
    Node *dom = value_is_none(ARG(1)) ? NULL : ARG(1).node;
    const char *tag = value_as_text(ARG(3), "the thread", SPAN(3));
    return value_node(MAKE(IterVar, call->span, VOID_TYPE, .var = var, .dom = dom,
                           .iter_kind = (IterKind)i, .thread_tag = *tag ? str_intern(tag) : NULL));
  }
  raise("ValueError", SPAN(2),
        "expected DataPar, CommReduce, Ordered, Opaque or ThreadIndex, found \"%s\"", kind);
}

static const char *target_arg(Value v, Span span) {
  if (v.type != &type_dict && v.type != &type_str) v = value_node(to_attr(v, span));
  if (value_is_node(v, NK_TargetAttr)) return AS(TargetAttr, v.node)->text;
  if (v.type != &type_dict) return value_as_text(v, "a target", span);
  Str text = {0}; /* {"kind": "cuda", "arch": "sm_80"} as "cuda -arch=sm_80" */
  Value kind = value_dict_get(v, value_str("kind"));
  str_add(&text, kind.type ? value_to_str(kind) : "llvm");
  for (int i = 0; i < value_dict_len(v); i++) {
    Value key, x;
    value_dict_entry(v, i, &key, &x);
    const char *name = value_to_str(key);
    if (str_same(name, "kind") || str_same(name, "tag") || str_same(name, "host")) continue;
    if (x.type != &type_list) str_printf(&text, " -%s=%s", name, value_to_str(x));
    else if (value_items(x)->len) {
      str_printf(&text, " -%s=", name);
      for (int k = 0; k < value_items(x)->len; k++)
        str_printf(&text, "%s%s", k ? "," : "", value_to_str(value_items(x)->at[k]));
    }
  }
  return str_text(&text);
}

Value t_target(BuiltinCall *call) {
  Value target = ARG(0), host = ARG(1);
  if (value_is_none(host) && target.type == &type_dict)
    host = value_dict_get(target, value_str("host"));
  bool has_host = host.type && !value_is_none(host);
  return value_node(MAKE(TargetAttr, call->span, VOID_TYPE, .text = target_arg(target, SPAN(0)),
                         .host = has_host ? target_arg(host, call->span) : NULL));
}

Value t_range(BuiltinCall *call) {
  Node *begin = expr_arg(call, 0), *end = begin;
  if (value_is_none(ARG(1))) begin = int_imm(end->dtype, 0, call->span);
  else end = expr_arg(call, 1);
  return value_node(range_between(begin, end, call->span));
}

/* A name bound to a MetaVar is the value itself, not a let. The assignment unwraps it. */
Value t_meta_var(BuiltinCall *call) { return value_meta(ARG(0)); }

/* Objects of the script are values of the script already. */
Value t_meta_class(BuiltinCall *call) { return ARG(0); }

Value t_tvm_tuple(BuiltinCall *call) {
  NodeVec items = {0};
  for each (Value, v, value_items(ARG(0)))
    vec_push(&items, v->type == &type_node ? v->node : to_attr(*v, call->span));
  return value_node(MAKE(Array, call->span, VOID_TYPE, .items = items, .is_tuple = true));
}
