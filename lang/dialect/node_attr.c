/* node_attr.c -- attributes of IR nodes: buffers (.data, .shape, ...), graph values (.astype),
 * modules (a function by its name), struct info. */
#include "lang/dialect/node_class.h"
#include "lang/dialect/op.h"
#include "lang/dialect/op.h"

/* Constants of dtype `plain` as ints: what the dialect makes of an int again. */
Value dims_value(NodeVec v, DataType plain) {
  ValueVec items = {0};
  for each (Node *, n, &v) {
    int64_t i;
    bool is_plain = expr_is_const_int(*n, &i) && dtype_equal((*n)->dtype, plain);
    vec_push(&items, is_plain ? value_int(i) : value_node(*n));
  }
  return value_tuple(items);
}
static Value exprs_value(NodeVec v) { return dims_value(v, INT32); }
static Value graph_dims_value(NodeVec v) { return dims_value(v, INT64); }

/* ---- graph values ---- */

static Value relax_astype(BuiltinCall *call) {
  Value operands[] = {call->self, call->args[0]};
  return value_call_with(op_value("astype"), 2, operands, call->span);
}

static const Builtin relax_methods[] = {
    {"astype", "dtype", relax_astype, "the same values in another dtype"},
};

static Value dtype_or_empty(DataType t) { return value_str(dtype_is_void(t) ? "" : dtype_text(t)); }

/* A scalar stands in for a tensor of one element. */
static Value prim_info_attr(PrimStructInfo *p, const char *name) {
  if (str_same(name, "value")) return p->value ? value_node(p->value) : value_none();
  if (str_same(name, "dtype")) return dtype_or_empty(p->elem);
  if (str_same(name, "ndim")) return value_int(1);
  if (str_same(name, "shape")) return value_tuple_of(1, value_int(1));
  return value_absent();
}

static Value sinfo_attr(Value v, const char *name) {
  NodeVec dims;
  if (IS(TensorStructInfo, v.node)) {
    TensorStructInfo *t = AS(TensorStructInfo, v.node);
    if (str_same(name, "shape"))
      return !sinfo_tensor_shape(v.node, &dims)         ? value_none()
             : op_in_rule() || !IS(ShapeExpr, t->shape) ? graph_dims_value(dims)
                                                        : value_node(t->shape);
    if (str_same(name, "dtype")) return dtype_or_empty(t->elem);
    if (str_same(name, "ndim")) return value_int(t->ndim);
    if (str_same(name, "vdevice")) return t->vdevice ? value_node(t->vdevice) : value_none();
    if (str_same(name, "device_mesh")) return t->mesh ? value_node(t->mesh) : value_none();
    if (str_same(name, "placement")) return t->placement ? value_str(t->placement) : value_none();
  }
  if (IS(ShapeStructInfo, v.node)) {
    ShapeStructInfo *s = AS(ShapeStructInfo, v.node);
    if (str_same(name, "values")) return s->known ? graph_dims_value(s->values) : value_none();
    if (str_same(name, "ndim")) return value_int(s->ndim);
  }
  Value of_scalar = IS(PrimStructInfo, v.node) ? prim_info_attr(AS(PrimStructInfo, v.node), name)
                                               : value_absent();
  if (of_scalar.type) return of_scalar;
  if (IS(TupleStructInfo, v.node) && str_same(name, "fields"))
    return exprs_value(AS(TupleStructInfo, v.node)->fields);
  return value_absent();
}

/* ---- what a tensor is at run time: x.dtype.bits, x.shape[i], x.ndim ---- */

static Value inspect(const char *what, Node *x, const Value *axis, Span span) {
  Value operands[] = {value_node(x), axis ? *axis : value_none()};
  return value_call_with(op_value(str_format("inspect.%s", what)), axis ? 2 : 1, operands, span);
}

static const struct {
  const char *attr, *op;
} dtype_parts[] = {{"type_code", "tensor_dtype_code"},
                   {"bits", "tensor_dtype_bits"},
                   {"lanes", "tensor_dtype_lanes"}};

static DataType tensor_elem(Node *x) { return AS(TensorStructInfo, sinfo_of(x))->elem; }

static Value tensor_dtype_attr(Value v, const char *name, Span span) {
  for (int i = 0; i < 3; i++)
    if (str_same(dtype_parts[i].attr, name))
      return inspect(dtype_parts[i].op, v.object, NULL, span);
  return value_absent();
}

static const char *tensor_dtype_text(Value v) {
  return v.type == &type_str ? value_text(v) : dtype_text(tensor_elem(v.object));
}

static void tensor_dtype_repr(Value v, Str *out) { str_add(out, tensor_dtype_text(v)); }
static bool tensor_dtype_same(Value a, Value b) {
  bool comparable = (a.type == b.type || a.type == &type_str || b.type == &type_str);
  return comparable && str_same(tensor_dtype_text(a), tensor_dtype_text(b));
}

const ValueType type_tensor_dtype = {.name = "dtype of a tensor",
                                     .repr = tensor_dtype_repr,
                                     .equal = tensor_dtype_same,
                                     .get_attr = tensor_dtype_attr};

static Value unknown_shape_item(Value v, Value index, Span span) {
  return inspect("tensor_shape_i", v.object, &index, span);
}
static Value strides_item(Value v, Value index, Span span) {
  return inspect("tensor_stride_i", v.object, &index, span);
}
static const ValueType type_unknown_shape = {.name = "shape of a tensor",
                                             .get_item = unknown_shape_item};
static const ValueType type_strides = {.name = "strides of a tensor", .get_item = strides_item};

/* What struct info tells is known now; the rest is asked at run time, in a graph function. */
static Value tensor_attr(Node *x, const char *name, Span span) {
  Node *info = sinfo_of(x);
  TensorStructInfo *t = AS(TensorStructInfo, info);
  NodeVec dims;
  if (str_same(name, "dtype") && graph) return value_of(&type_tensor_dtype, x);
  if (str_same(name, "shape") && graph && !sinfo_tensor_shape(info, &dims))
    return value_of(&type_unknown_shape, x);
  if (str_same(name, "strides")) return value_of(&type_strides, x);
  bool asks = (str_same(name, "ndim") && t->ndim < 0 && graph) || str_same(name, "byte_offset") ||
              str_same(name, "elem_offset");
  if (asks) return inspect(str_format("tensor_%s", name), x, NULL, span);
  return sinfo_attr(value_node(info), name);
}

/* Types of outputs, of which several are a tuple's. */
static Value out_infos(RelaxCall *c) {
  NodeVec infos = c->sinfo_args;
  if (infos.len < 2 || !call_has_outputs(c->op)) return value_absent();
  return exprs_value(NODES(sinfo_tuple(infos, c->node.span)));
}

/* What an operator is registered with, under TVM's names. */
static Value op_get_attr(BuiltinCall *call) {
  Value find = library_attr("tvm.relax.op_attrs", "find");
  Value args[] = {call->self, call->args[0]};
  return value_call_with(find, 2, args, call->span);
}
static Value op_has_attr(BuiltinCall *call) {
  return value_bool(!value_is_none(op_get_attr(call)));
}
static const Builtin op_methods[] = {
    {"get_attr", "attr_name", op_get_attr, "what the operator is registered with, or None"},
    {"has_attr", "attr_name", op_has_attr, "is it registered with such?"},
};

static Value relax_attr(Value v, const char *name, Span span) {
  if (IS(RelaxCall, v.node) && str_same(name, "sinfo_args"))
    return out_infos(AS(RelaxCall, v.node));
  Value said = IS(Op, v.node) ? op_definition_attr(v.node, name) : value_absent();
  if (!said.type && IS(Op, v.node)) said = builtin_method(op_methods, 2, v, name);
  if (said.type) return said;
  Node *info = sinfo_of(v.node);
  if (str_same(name, "struct_info")) return info ? value_node(info) : value_none();
  Value x = IS(TensorStructInfo, info)  ? tensor_attr(v.node, name, span)
            : IS(ShapeStructInfo, info) ? sinfo_attr(value_node(info), name)
                                        : value_absent();
  return x.type ? x : builtin_method(relax_methods, 1, v, name);
}

static Value expr_astype(BuiltinCall *call) {
  DataType t = to_dtype(call->args[0], call->spans[0]);
  return value_node(expr_cast(t, call->self.node, call->span));
}

/* Constants are numbers to the host as well: range(n), int(n). */
static Value constant_number(BuiltinCall *call) { return from_attr(call->self.node); }

static Value expr_equal(BuiltinCall *call) {
  NodeVec x = to_operands(2, (Value[]){call->self, call->args[0]}, call->span);
  return value_node(expr_binary(NK_EQ, x.at[0], x.at[1], call->span));
}

static const Builtin expr_methods[] = {
    {"equal", "other", expr_equal, "the comparison of the two, as an expression"},
    {"astype", "dtype", expr_astype, "the same value in another dtype"},
};
enum { EXPR_METHODS = sizeof expr_methods / sizeof *expr_methods };
static const Builtin constant_methods[] = {
    {"__int__", "", constant_number, "the constant as an int"},
    {"__index__", "", constant_number, "the constant as an int"},
    {"__float__", "", constant_number, "the constant as a float"},
};

static Value constant_method(Value v, const char *name) {
  Value m = IS(IntImm, v.node)     ? builtin_method(constant_methods, 2, v, name)
            : IS(FloatImm, v.node) ? builtin_method(constant_methods + 2, 1, v, name)
                                   : value_absent();
  return m.type ? m : builtin_method(expr_methods, EXPR_METHODS, v, name);
}

/* tvm.ir.PrimType, or tvm.ir.PointerType of what is pointed to. */
static Value type_of_var(Var *var) {
  Span span = var->node.span;
  bool points = !dtype_is_void(var->elem);
  Node *info = MAKE(PrimStructInfo, span, VOID_TYPE, .elem = points ? var->elem : var->node.dtype);
  Value args[] = {value_node(info), value_str(var->scope ? var->scope : "")};
  return points ? value_call_with(library_attr("tvm.ir", "PointerType"), 2, args, span) : args[0];
}

/* What today's .ty of a scalar is. */
static Value type_of_scalar(Node *n) {
  if (IS(Var, n)) return type_of_var(AS(Var, n));
  return value_node(MAKE(PrimStructInfo, n->span, VOID_TYPE, .elem = n->dtype));
}

static Value expr_attr(Value v, const char *name) {
  if (str_same(name, "dtype")) return value_str(dtype_text(v.node->dtype));
  if (IS(Var, v.node) && str_same(name, "name")) return value_str(AS(Var, v.node)->name);
  if (IS(Var, v.node) && str_same(name, "type_annotation")) return type_of_var(AS(Var, v.node));
  if (IS(IntImm, v.node) && str_same(name, "value")) return int_of_imm(v.node);
  if (IS(FloatImm, v.node) && str_same(name, "value"))
    return value_float(AS(FloatImm, v.node)->value);
  return constant_method(v, name);
}

/* ---- functions and modules ---- */

static Value func_with_attrs_method(BuiltinCall *call);
static Value func_with_attr_method(BuiltinCall *call) {
  if (call->args[0].type == &type_dict) return func_with_attrs_method(call);
  if (!call->args[1].type) raise("TypeError", call->span, "with_attr() needs a value");
  const char *key = attr_key(call->args[0], call->spans[0]);
  return value_node(func_with_attr(call->self.node, key, to_attr(call->args[1], call->spans[1])));
}
static Value func_without_attr_method(BuiltinCall *call) {
  const char *key = attr_key(call->args[0], call->spans[0]);
  return value_node(func_with_attr(call->self.node, key, NULL));
}
static Value func_with_attrs_method(BuiltinCall *call) {
  Dict *attrs = AS(Dict, dict_from_value(call->args[0], call->spans[0]));
  Node *f = call->self.node;
  for (int i = 0; i < attrs->keys.len; i++)
    f = func_with_attr(f, attrs->keys.at[i], attrs->values.at[i]);
  return value_node(f);
}
static Value func_with_body_method(BuiltinCall *call) {
  Value body = call->args[0];
  bool is_prim = IS(PrimFunc, call->self.node);
  if (body.type != &type_node ||
      (is_prim ? node_family(body.node->kind) != FAMILY_STMT : !node_is_relax(body.node)))
    raise("TypeError", call->spans[0], "expected %s, found %s",
          is_prim ? "a statement" : "a graph expression", value_type_name(body));
  if (!is_prim) {
    Function f = *AS(Function, call->self.node);
    f.body = body.node;
    return value_node(gc_copy(&f, sizeof f));
  }
  PrimFunc f = *AS(PrimFunc, call->self.node);
  f.body = body.node;
  return value_node(gc_copy(&f, sizeof f));
}

/* show_meta=True: with the metadata of large constants, so that the text can be read back. */
static const char *script_text(BuiltinCall *call) {
  bool show_meta = value_truth(call->args[1], call->span);
  PrintOptions options = {.constants = show_meta ? CONSTANTS_METADATA : CONSTANTS_BY_REFERENCE};
  options.declares = value_truth(call->args[3], call->span);
  const char *style = value_as_text(call->args[2], "style", call->span);
  bool is_color = str_same(style, "light") || str_same(style, "dark") || str_same(style, "ansi");
  if (!is_color && !print_style_parse(style, &options))
    raise("ValueError", call->span, "'style' is 'default' or 'tvm', found '%s'", style);
  return ir_print(call->self.node, &options);
}
static Value node_script(BuiltinCall *call) { return value_str(script_text(call)); }
static Value node_show(BuiltinCall *call) {
  fputs(script_text(call), stdout);
  return value_none();
}
static const Builtin specialize_method = {"specialize", "param_map", func_specialize,
                                          "with parameters fixed: {n: 16}"};
/* Methods of graph functions that are passes of the standard library. */
static Value bound_by(BuiltinCall *call, const char *home) {
  Value args[] = {call->self, call->args[0]};
  return value_call_with(library_attr(home, "bound"), 2, args, call->span);
}
static Value func_bind_params(BuiltinCall *call) {
  return bound_by(call, "tvm.relax.passes.bind_params");
}
static Value func_bind_symbolic_vars(BuiltinCall *call) {
  return bound_by(call, "tvm.relax.passes.bind_symbolic_vars");
}
static Value func_inline_functions(BuiltinCall *call) {
  return bound_by(call, "tvm.relax.passes.inline_functions");
}
static const Builtin graph_func_methods[] = {
    {"inline_functions", "function_map", func_inline_functions,
     "with what functions do in the place of their calls: {name or GlobalVar: function}"},
    {"bind_params", "binding_map", func_bind_params,
     "with values in the place of parameters: {name: value}"},
    {"bind_symbolic_vars", "binding_map", func_bind_symbolic_vars,
     "with dims replaced: {name: value}"},
};
enum { GRAPH_FUNC_METHODS = sizeof graph_func_methods / sizeof *graph_func_methods };

static const Builtin func_methods[] = {
    {"with_attr", "key, value?", func_with_attr_method,
     "a copy with an attribute, or those of a dict"},
    {"with_body", "body", func_with_body_method, "the function with another body"},
    {"without_attr", "key", func_without_attr_method, "a copy without that attribute"},
    {"with_attrs", "attrs", func_with_attrs_method, "a copy with attributes from a dict"},
};
enum { FUNC_METHODS = sizeof func_methods / sizeof *func_methods };

/* From each handle parameter to its buffer. */
static Value buffer_map(Node *func) {
  PrimFunc *f = AS(PrimFunc, func);
  Value all = value_dict();
  for (int i = 0; i < f->params.len; i++)
    if (f->buffers.at[i])
      value_dict_set(all, value_node(f->params.at[i]), value_node(f->buffers.at[i]), func->span);
  return all;
}

static Value func_attr_value(Value v, const char *name) {
  if (str_same(name, "attrs")) {
    Node *attrs = IS(PrimFunc, v.node)   ? AS(PrimFunc, v.node)->attrs
                  : IS(Function, v.node) ? AS(Function, v.node)->attrs
                                         : NULL;
    return attrs ? from_attr(attrs) : value_dict();
  }
  if (IS(PrimFunc, v.node) && str_same(name, "buffer_map")) return buffer_map(v.node);
  if (IS(PrimFunc, v.node) && str_same(name, "ret_type"))
    return value_str(dtype_text(AS(PrimFunc, v.node)->ret_dtype));
  if (str_same(name, "struct_info"))
    return value_node(IS(Function, v.node) ? sinfo_of(v.node)
                                           : prim_func_info(AS(PrimFunc, v.node)));
  if (str_same(name, "__name__"))
    return value_str(func_symbol(v.node) ? func_symbol(v.node) : "main");
  if (IS(PrimFunc, v.node) && str_same(name, "specialize"))
    return value_method(&specialize_method, v);
  Value method = IS(Function, v.node)
                     ? builtin_method(graph_func_methods, GRAPH_FUNC_METHODS, v, name)
                     : value_absent();
  if (method.type) return method;
  return builtin_method(func_methods, FUNC_METHODS, v, name);
}

/* ---- every node ---- */

static Value node_same_as(BuiltinCall *call) {
  Value other = call->args[0];
  return value_bool(other.type == &type_node && other.node == call->self.node);
}
static Value sinfo_is_base_of(BuiltinCall *call) {
  Node *derived = to_sinfo(call->args[0], call->spans[0]);
  return value_bool(sinfo_check(call->self.node, derived, NULL) == SINFO_YES);
}
static const Builtin sinfo_methods[] = {
    {"is_base_of", "derived", sinfo_is_base_of, "does every value of the other belong to it?"},
};

static const Builtin node_methods[] = {
    {"same_as", "other", node_same_as, "the same node, not only an equal one?"},
    {"script", "*rest, show_meta=False, style='default', verbose_expr=False, **more", node_script,
     "the text of the node"},
    {"show", "*rest, show_meta=False, style='default', verbose_expr=False, **more", node_show,
     "prints the text of the node"},
};
enum { NODE_METHODS = sizeof node_methods / sizeof *node_methods };

/* The thread that a loop is bound to, as an IterVar; None if it is none. */
static Value thread_of(Node *n) {
  For *loop = AS(For, n);
  if (!loop->thread_tag) return value_none();
  Node *dom = MAKE(Range, n->span, VOID_TYPE, .min = loop->min, .extent = loop->extent);
  return value_node(MAKE(IterVar, n->span, VOID_TYPE, .dom = dom, .var = loop->var,
                         .iter_kind = ITER_THREAD, .thread_tag = loop->thread_tag));
}

/* The lanes of a vector: a number, or T.vscale() * k. */
static Value lanes_value(Node *n) {
  int lanes = IS(Ramp, n) ? AS(Ramp, n)->lanes : AS(Broadcast, n)->lanes;
  if (lanes >= 0) return value_node(int_imm(INT32, lanes, n->span));
  Node *vscale = expr_call("vscale", INT32, (NodeVec){0}, n->span);
  return value_node(expr_mul(vscale, int_imm(INT32, -lanes, n->span)));
}

/* Today's names of what was struct info. */
static const char *name_of_then(const char *name) {
  static const char *const names[][2] = {{"ty_args", "sinfo_args"},
                                         {"ret_ty", "ret_struct_info"},
                                         {"ty", "struct_info"},
                                         {"struct_info_", "struct_info"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (str_same(name, names[i][0])) return names[i][1];
  return name;
}

/* What its kind calls by that name, beyond the fields. */
static Value special_attr(Value v, const char *name, Span span) {
  Node *n = v.node;
  if (IS(Buffer, n)) return buffer_attr(v, name);
  if (IS(For, n) && str_same(name, "thread_binding")) return thread_of(n);
  if (IS(IterVar, n) && str_same(name, "dtype"))
    return value_str(dtype_text(AS(IterVar, n)->var->dtype));
  if ((IS(Ramp, n) || IS(Broadcast, n)) && str_same(name, "lanes")) return lanes_value(n);
  if (IS(IRModule, n)) return module_value_attr(v, name);
  if (IS(IndexMap, n)) return index_map_attr(v, name);
  if (IS(PrimFunc, n) || IS(Function, n)) return func_attr_value(v, name);
  if (IS(GlobalVar, n) && str_same(name, "name")) return value_str(AS(GlobalVar, n)->name);
  if (node_is_sinfo(n)) {
    Value x = sinfo_attr(v, name);
    return x.type ? x : builtin_method(sinfo_methods, 1, v, name);
  }
  if (node_is_relax(n)) return relax_attr(v, name, span);
  return node_is_expr(n) ? expr_attr(v, name) : value_absent();
}

Value node_get_attr(Value v, const char *name, Span span) {
  bool is_scalar = node_is_expr(v.node) && !node_is_relax(v.node);
  if (is_scalar && str_same(name, "ty"))
    return type_of_scalar(v.node); /* they had no struct info */
  name = name_of_then(name);
  Value x = special_attr(v, name, span);
  if (!x.type) x = node_field_attr(v.node, name);
  if (!x.type) x = builtin_method(node_methods, NODE_METHODS, v, name);
  Value class = x.type ? x : node_class_of(v.node);
  return x.type || !class.type ? x : class.type->get_attr(class, name, span);
}

void node_attr_names(Value v, StrVec *out) {
  static const char *const of_tensor[] = {"shape", "dtype", "ndim", "struct_info", "astype"};
  if (IS(Buffer, v.node)) {
    buffer_attr_names(out);
  } else if (IS(IRModule, v.node)) {
    module_value_names(v, out);
  } else if (node_is_relax(v.node)) {
    for (int i = 0; i < 5; i++) vec_push(out, of_tensor[i]);
  }
  node_field_names(v.node, out);
  builtin_names(node_methods, NODE_METHODS, out);
}
