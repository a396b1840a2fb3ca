/* device_names.c -- names under T. of today's low-level dialect: levels of a device, memory of a
 * scope, scalars, layouts, hints. */
#include "lang/dialect/tensor_names.h"

#define ARG(i)  call->args[i]
#define SPAN(i) call->spans[i]

static Value wrapper_frame(Node *wrapper, Value bound) {
  return value_frame(NEW(Frame, .kind = FRAME_WRAP, .wrapper = wrapper, .bound = bound));
}

/* ---- levels of a device: T.cta_id([4]) ---- */

static NodeVec extents_of(Value v, Span span) {
  NodeVec extents = value_is_none(v) ? (NodeVec){0} : to_exprs(v, span);
  for each (Node *, e, &extents)
    if (!dtype_is_int((*e)->dtype))
      raise("TypeError", span, "an extent must be an integer, found %s",
            IS(StringImm, *e) ? "text" : dtype_text((*e)->dtype));
  return extents;
}

static Value scope_ids(BuiltinCall *call, StrVec between, NodeVec preferred, DataType t) {
  need_tensor(call->builtin->name, call->span);
  NodeVec extents = extents_of(ARG(0), SPAN(0)), vars = {0};
  ValueVec values = {0};
  for (int i = 0; i < (extents.len ? extents.len : 1); i++) {
    vec_push(&vars, MAKE(Var, call->span, t, .elem = VOID_TYPE));
    vec_push(&values, value_node(vars.at[i]));
  }
  Node *wrapper =
      MAKE(ScopeIdDef, call->span, VOID_TYPE, .scope = str_intern(call->builtin->name),
           .extents = extents, .preferred = preferred, .between = between, .vars = vars);
  return wrapper_frame(wrapper, vars.len == 1 ? values.at[0] : value_list(values));
}

Value t_level_id(BuiltinCall *call) {
  return scope_ids(call, (StrVec){0}, extents_of(ARG(1), SPAN(1)), to_dtype(ARG(2), SPAN(2)));
}

Value t_scope_id(BuiltinCall *call) {
  StrVec between = {0};
  vec_push(&between, str_intern(value_as_text(ARG(1), "the outer scope", SPAN(1))));
  vec_push(&between, str_intern(value_as_text(ARG(2), "the inner scope", SPAN(2))));
  return scope_ids(call, between, (NodeVec){0}, to_dtype(ARG(3), SPAN(3)));
}

/* ---- memory ---- */

Node *allocation_of(Node *buffer, Node *annotations) {
  Buffer *b = AS(Buffer, buffer);
  Node *declared = MAKE(DeclBuffer, buffer->span, VOID_TYPE, .buffer = buffer);
  return MAKE(Allocate, buffer->span, VOID_TYPE, .extents = b->shape, .elem = b->elem,
              .var = b->data, .annotations = annotations, .body = declared);
}

static Value allocate_in(BuiltinCall *call, const char *scope) {
  need_tensor(call->builtin->name, call->span);
  if (scope) ARG(5) = value_str(scope);
  Node *buffer = buffer_from_args(call, 0);
  Node *annotations = value_is_none(ARG(13)) ? NULL : to_attr(ARG(13), SPAN(13));
  return wrapper_frame(allocation_of(buffer, annotations), value_node(buffer));
}
Value t_alloc_local(BuiltinCall *call) { return allocate_in(call, "local"); }
Value t_alloc_shared(BuiltinCall *call) { return allocate_in(call, "shared"); }
Value t_alloc_tmem(BuiltinCall *call) { return allocate_in(call, "tmem"); }
Value t_alloc_here(BuiltinCall *call) { return allocate_in(call, NULL); }

static Value scalar_in(BuiltinCall *call, const char *scope) {
  need_tensor(call->builtin->name, call->span);
  Node *buffer = buffer_new(NULL, to_dtype(ARG(0), SPAN(0)), NODES(int_imm(INT32, 1, call->span)),
                            scope, call->span);
  map_set(&tensor->scalars, buffer, buffer);
  return wrapper_frame(allocation_of(buffer, NULL), value_node(buffer));
}
Value t_local_scalar(BuiltinCall *call) { return scalar_in(call, "local"); }
Value t_shared_scalar(BuiltinCall *call) { return scalar_in(call, "shared"); }
Value t_alloc_scalar(BuiltinCall *call) {
  return scalar_in(call, value_as_text(ARG(1), "the scope", SPAN(1)));
}

/* A scalar over memory that is there already. */
Value t_decl_scalar(BuiltinCall *call) {
  need_tensor("decl_scalar", call->span);
  Node *buffer = buffer_new(NULL, to_dtype(ARG(0), SPAN(0)), NODES(int_imm(INT32, 1, call->span)),
                            value_as_text(ARG(2), "the scope", SPAN(2)), call->span);
  Buffer *b = AS(Buffer, buffer);
  b->data = to_expr(ARG(1), SPAN(1));
  if (!value_is_none(ARG(3))) b->elem_offset = to_expr(ARG(3), SPAN(3));
  map_set(&tensor->scalars, buffer, buffer);
  return wrapper_frame(MAKE(DeclBuffer, call->span, VOID_TYPE, .buffer = buffer),
                       value_node(buffer));
}

/* ---- lets ---- */

static Value let_type_item(Value v, Value index, Span span) {
  (void)v, (void)span;
  return value_of(&type_let, gc_copy(&index, sizeof index));
}

/* T.let(v, value): for the rest of the suite; with a body, an expression. */
static Value let_call(Value v, CallArgs *args) {
  (void)v;
  if (args->positional.len < 2 || args->positional.len > 3 || args->names.len)
    raise("TypeError", args->span, "T.let takes a variable, its value, and perhaps a body");
  Node *var = to_expr(args->positional.at[0], args->span);
  if (!IS(Var, var))
    raise("TypeError", args->span, "T.let names a variable, found %s", node_kind_name(var->kind));
  Node *value = expr_cast(var->dtype, to_expr(args->positional.at[1], args->span), args->span);
  if (args->positional.len == 2)
    return wrapper_frame(MAKE(LetStmt, args->span, VOID_TYPE, .value = value, .var = var),
                         value_node(var));
  Node *body = to_expr(args->positional.at[2], args->span);
  return value_node(MAKE(Let, args->span, body->dtype, .value = value, .var = var, .body = body));
}

const ValueType type_let = {.name = "let", .get_item = let_type_item, .call = let_call};

/* ---- layouts ---- */

static Node *layout_term(const char *form, NodeVec args, StrVec keys, Span span) {
  return MAKE(Layout, span, VOID_TYPE, .form = str_intern(form), .args = args, .keys = keys);
}

Value t_layout(BuiltinCall *call) {
  NodeVec args = {0};
  StrVec keys = {0};
  for each (Value, v, value_items(ARG(0))) {
    SliceObject *slice = v->type == &type_slice ? v->object : NULL; /* T.S[(8, 4) : (4, 1)] */
    vec_push(&args, to_attr(slice ? slice->start : *v, call->span));
    if (slice) vec_push(&args, to_attr(slice->stop, call->span));
  }
  for (int i = 0; i < value_dict_len(ARG(1)); i++) {
    Value key, x;
    value_dict_entry(ARG(1), i, &key, &x);
    vec_push(&keys, str_intern(value_text(key)));
    vec_push(&args, to_attr(x, call->span));
  }
  return value_node(layout_term(call->builtin->name, args, keys, call->span));
}

static Value find_axis(Namespace *ns, const char *name) {
  (void)ns;
  const char *form = str_format("Axis.%s", name);
  return value_node(layout_term(form, (NodeVec){0}, (StrVec){0}, (Span){0}));
}

/* Axis.laneid: a dimension of the machine that layouts place values on. */
Value axis_namespace(void) {
  static Value ns;
  if (ns.type) return ns;
  ns = value_namespace("Axis");
  ((Namespace *)ns.object)->find = find_axis;
  return ns;
}

Value layout_operator(AstOp op, Value a, Value b, Span span) {
  if (op != AST_ADD && op != AST_MATMUL)
    raise("TypeError", span, "'%s' has no meaning on layouts", ast_op_text(op));
  return value_node(layout_term(op == AST_ADD ? "+" : "@",
                                NODES(to_attr(a, span), to_attr(b, span)), (StrVec){0}, span));
}

/* ---- hints ---- */

static Value attr_frame(Node *subject, const char *key, Node *value, Span span) {
  return wrapper_frame(
      MAKE(AttrStmt, span, VOID_TYPE, .subject = subject, .key = str_intern(key), .value = value),
      value_absent());
}

/* T.hint("message", name=value) */
Value t_hint(BuiltinCall *call) {
  need_tensor("hint", call->span);
  const char *message = value_as_text(ARG(0), "the message of T.hint", SPAN(0));
  return attr_frame(string_imm(message, call->span), "hint", to_attr(ARG(1), call->span),
                    call->span);
}

/* T.attr({"key": value}) */
Value attr_of_dict(Value dict, Span span) {
  return attr_frame(string_imm("", span), "hint", to_attr(dict, span), span);
}
