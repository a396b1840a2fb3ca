/* tensor_assign.c -- assignments in a prim_func: lets, mutable scalars, names of buffers and
 * scopes, stores.
 *
 * Two dialects write `x = e` for different things. Where the function is of today's low-level one,
 * or assigns the name again, x is a scalar that can change: a local buffer of one element.
 * Otherwise it is a let. */
#include "lang/dialect/tensor_names.h"
#include "lang/dialect/tensor_stmt.h"

typedef struct NameBinder {
  Binder base;
  Suite *suite;
  Node *let_type; /* of `x: T.int32 = e`: a Var of that dtype, or NULL */
  bool is_let;    /* x: T.let = e */
} NameBinder;

static void bind_let(NameBinder *b, const char *name, Value v, Span span) {
  Node *value = b->let_type ? to_expr_for(v, b->let_type->dtype, span) : to_expr(v, span);
  DataType t = b->let_type ? b->let_type->dtype : value->dtype;
  if (b->let_type) value = expr_cast(t, value, span);
  Node *var = var_new(name, t, span);
  bool typed = b->let_type && !dtype_is_void(AS(Var, b->let_type)->elem);
  Node *pointer = typed ? b->let_type : value;
  if (dtype_is_handle(t) && IS(Var, pointer)) {
    AS(Var, var)->elem = AS(Var, pointer)->elem;
    AS(Var, var)->scope = AS(Var, pointer)->scope;
  }
  suite_add(b->suite, MAKE(LetStmt, span, VOID_TYPE, .value = value, .var = var), true);
  env_set(b->suite->env, name, value_node(var));
}

/* ---- scalars that can change ---- */

static Node *first_element(Node *buffer, Span span) {
  return int_imm(AS(Buffer, buffer)->shape.at[0]->dtype, 0, span);
}

static Node *declare_scalar(Suite *s, const char *name, DataType t, Span span) {
  Node *buffer = buffer_new(name, t, NODES(int_imm(INT32, 1, span)), "local", span);
  map_set(&tensor->scalars, buffer, buffer);
  suite_add(s, allocation_of(buffer, NULL), true);
  env_set(s->env, name, value_node(buffer));
  return buffer;
}

static void set_scalar(Suite *s, Node *buffer, Value v, Span span) {
  Node *value = to_expr_for(v, AS(Buffer, buffer)->elem, span);
  suite_add(s, stmt_store(buffer, NODES(first_element(buffer, span)), value, span), false);
}

/* The scalar that the name stands for in this function, or NULL. */
static Node *scalar_named(Env *env, const char *name) {
  Value *old = env_find(env, name);
  bool is_scalar = old && value_is_node(*old, NK_Buffer) && map_has(&tensor->scalars, old->node);
  return is_scalar ? old->node : NULL;
}

static void bind_number(NameBinder *b, const char *name, Value v, Span span) {
  Node *scalar = b->is_let ? NULL : scalar_named(b->suite->env, name);
  if (scalar) return set_scalar(b->suite, scalar, v, span);
  Node *value = b->let_type ? b->let_type : to_expr(v, span);
  DataType t = value->dtype;
  bool number = dtype_is_int(t) || dtype_is_float(t) || dtype_is_bool(t);
  bool can_change = tensor->is_today || map_has(&tensor->reassigned, name);
  if (b->is_let || !can_change || !number) return bind_let(b, name, v, span);
  set_scalar(b->suite, declare_scalar(b->suite, name, t, span), v, span);
}

/* ---- names ---- */

static bool is_number_value(const NameBinder *b, const char *name, Value v) {
  if (value_is_integer(v) || v.type == &type_float || v.type == &type_open) return true;
  if (v.type != &type_node || is_fresh_var(v)) return false;
  bool scalar = IS(Buffer, v.node) && map_has(&tensor->scalars, v.node);
  /* Today a slice stays a region, unless a let or a scalar takes its value. */
  bool wanted = b->is_let || !tensor->is_today || scalar_named(b->suite->env, name);
  bool vector = IS(BufferRegion, v.node) && wanted;
  return node_is_expr(v.node) || vector || scalar;
}

static void bind_frame(NameBinder *b, const char *name, Frame *f, Span span) {
  if (f->kind != FRAME_WRAP)
    raise("TypeError", span, "%s can't be assigned; use 'with' or 'for'",
          value_repr(value_frame(f)));
  suite_add(b->suite, f->wrapper, true);
  Value v = f->bound.type ? f->bound : value_none();
  name_fresh(v, name);
  env_set(b->suite->env, name, v);
}

/* Scopes in a list or tuple begin here, one after the other; it holds what they bind instead, and
 * what T.meta_var held. */
static Value open_frames(Suite *s, Value v) {
  if (v.type == &type_meta) return *(Value *)v.object;
  if (v.type == &type_frame && ((Frame *)v.object)->kind == FRAME_WRAP) {
    Frame *f = v.object;
    suite_add(s, f->wrapper, true);
    return f->bound.type ? f->bound : value_none();
  }
  if (v.type != &type_list && v.type != &type_tuple) return v;
  stack_check((Span){0});
  ValueVec items = {0};
  bool changed = false;
  for each (Value, x, value_items(v)) {
    Value y = open_frames(s, *x);
    changed |= y.type != x->type;
    vec_push(&items, y);
  }
  if (!changed) return v;
  return v.type == &type_list ? value_list(items) : value_tuple(items);
}

static void bind_name(Binder *binder, Ast *target, Value v) {
  NameBinder *b = (NameBinder *)binder;
  const char *name = AST_AS(Name, target)->name;
  Env *env = b->suite->env;
  if (v.type == &type_frame) return bind_frame(b, name, v.object, target->span);
  if (v.type == &type_meta) return env_set(env, name, *(Value *)v.object);
  if (value_is_node(v, NK_Var) && map_remove(&tensor->unbound, v.node))
    AS(Var, v.node)->name = NULL;
  if (is_number_value(b, name, v)) return bind_number(b, name, v, target->span);
  if (is_fresh_var(v) && map_has(&tensor->dims, name)) { /* n = T.int64() */
    Node *dim = map_get(&tensor->dims, name);
    AS(Var, dim)->is_size |= AS(Var, v.node)->is_size;
    v = value_node(dim);
  }
  v = open_frames(b->suite, v);
  name_fresh(v, name);
  if (value_is_node(v, NK_Buffer) && map_remove(&tensor->views, v.node))
    suite_add(b->suite, MAKE(DeclBuffer, target->span, VOID_TYPE, .buffer = v.node), true);
  env_set(env, name, v);
}

static void assign(NameBinder *b, Ast *target, Value v, Span span) {
  bool several = target->kind == AST_KIND_Tuple || target->kind == AST_KIND_List;
  Frame *f = v.type == &type_frame ? v.object : NULL;
  if (several && f && f->kind == FRAME_WRAP) { /* bx, by = T.cta_id([4, 2]) */
    suite_add(b->suite, f->wrapper, true);
    v = f->bound;
  }
  bind_target(&b->base, target, v, span);
}

static NameBinder binder_of(Suite *s) {
  return (NameBinder){.base = {.bind = bind_name, .env = s->env}, .suite = s};
}

/* ---- stores ---- */

/* A[i, j] = x, A[0:4] = x. */
static void store(Suite *s, AstSubscript *target, Value x, Span span) {
  Value object = eval(s->env, target->value);
  Value index = eval(s->env, target->index);
  if (!value_is_node(object, NK_Buffer)) {
    if (object.type == &type_poison) raise(ERROR_POISONED, span, "an earlier error");
    if (object.type == &type_dict || object.type == &type_list) /* of the script */
      return value_set_item(object, index, x, span);
    raise("TypeError", target->value->span, "only a buffer can be stored to, found %s",
          value_type_name(object));
  }
  /* The load of the same place has checked indices, with slices as ramps. */
  Node *load = to_expr(value_get_item(object, index, target->ast.span), target->ast.span);
  BufferLoad *at = AS(BufferLoad, load);
  Node *value = to_expr_for(x, load->dtype, span);
  if (value->dtype.lanes == 1 && load->dtype.lanes != 1)
    value = MAKE(Broadcast, span, dtype_with_lanes(value->dtype, load->dtype.lanes), .value = value,
                 .lanes = load->dtype.lanes);
  suite_add(s, stmt_store(at->buffer, at->indices, value, span), false);
}

/* ---- statements ---- */

void assign_statement(Suite *s, AstAssign *a) {
  if (a->targets.len > 1)
    raise("SyntaxError", a->ast.span,
          "a = b = value has no meaning in a prim_func; write two statements");
  Ast *target = a->targets.at[0];
  Value v = eval(s->env, a->value);
  if (target->kind == AST_KIND_Subscript)
    return store(s, AST_AS(Subscript, target), v, a->ast.span);
  NameBinder b = binder_of(s);
  assign(&b, target, v, a->ast.span);
}

/* x: T.int32, x: T.float32[8]: memory without a value. */
static void declaration(Suite *s, AstAnnAssign *a, Value type) {
  Span span = a->ast.span;
  if (a->target->kind != AST_KIND_Name)
    raise("SyntaxError", a->target->span, "only a name can be declared");
  if (type.type == &type_dtype) {
    declare_scalar(s, AST_AS(Name, a->target)->name, to_dtype(type, span), span);
    return;
  }
  if (type.type != &type_frame)
    raise("TypeError", a->annotation->span,
          "a declaration needs a dtype such as T.int32 or T.float32[8], found %s",
          value_type_name(type));
  NameBinder b = binder_of(s);
  assign(&b, a->target, type, span);
}

void annotated_assignment(Suite *s, AstAnnAssign *a) {
  Value type = eval(s->env, a->annotation);
  if (!a->value) return declaration(s, a, type);
  NameBinder b = binder_of(s);
  if (type.type == &type_let) {
    b.is_let = true;
    type = *(Value *)type.object;
  }
  if (type.type == &type_annotation || type.type == &type_dtype)
    type = value_call_with(type, 0, NULL, a->annotation->span);
  if (type.type && !value_is_node(type, NK_Var))
    raise("TypeError", a->annotation->span, "expected a dtype such as T.int32, found %s",
          value_type_name(type));
  b.let_type = type.type ? type.node : NULL;
  assign(&b, a->target, eval(s->env, a->value), a->ast.span);
}

void augmented_assignment(Suite *s, AstAugAssign *a) {
  Value old = eval(s->env, a->target);
  Value v = value_binary(a->op, old, eval(s->env, a->value), a->ast.span);
  if (a->target->kind == AST_KIND_Subscript)
    return store(s, AST_AS(Subscript, a->target), v, a->ast.span);
  NameBinder b = binder_of(s);
  assign(&b, a->target, v, a->ast.span);
}
