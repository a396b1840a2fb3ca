/* frame.c -- frames: the values that `with` and `for` take inside a decorated body. */
#include "lang/dialect/dialect_impl.h"

static void frame_repr(Value v, Str *out) {
  static const char *const names[] = {"a loop", "a block", "an init suite", "a scope",
                                      "a dataflow block"};
  str_add(out, names[((Frame *)v.object)->kind]);
}

/* range and T.serial over constants may feed a comprehension of the host language. */
static Value frame_iter(Value v, Span span) {
  Frame *f = v.object;
  int64_t lo, n, end;
  if (f->kind != FRAME_FOR || f->extents.len != 1 || !expr_is_const_int(f->mins.at[0], &lo) ||
      !expr_is_const_int(f->extents.at[0], &n))
    raise("TypeError", span, "only a loop over constants can be iterated here");
  if (__builtin_add_overflow(lo, n, &end))
    raise("OverflowError", span, "the end of the loop does not fit in 64 bits");
  return value_iter(value_range(lo, end, 1, span), span);
}

const ValueType type_frame = {.name = "frame", .repr = frame_repr, .iter = frame_iter};

Value value_frame(Frame *f) { return value_of(&type_frame, f); }

Node *wrap_body(Node *wrapper, Node *body) {
  Node **rest = stmt_rest(wrapper);
  REQUIRE(rest, "a wrapper scopes over a suite");
  *rest = *rest ? wrap_body(*rest, body)
                : body; /* an Allocate may hold the DeclBuffer of its memory already */
  return wrapper;
}

/* ---- values that stay values of the script ---- */

/* The parts of what is a value of the script are, too. */
static Value meta_iter(Value v, Span span) {
  ValueVec whole = value_to_vec(*(Value *)v.object, span), *parts = NEW(ValueVec);
  for each (Value, part, &whole) vec_push(parts, value_meta(*part));
  return iter_over_vec(parts, "meta_var");
}

const ValueType type_meta = {.name = "meta_var", .iter = meta_iter};
Value value_meta(Value v) { return value_of(&type_meta, gc_copy(&v, sizeof v)); }

void name_fresh(Value v, const char *name) {
  stack_check((Span){0});
  if (v.type == &type_tuple || v.type == &type_list) {
    ValueVec *items = value_items(v);
    for (int i = 0; i < items->len; i++) name_fresh(items->at[i], str_format("%s_%d", name, i));
    return;
  }
  if (value_is_node(v, NK_Var) && !AS(Var, v.node)->name) AS(Var, v.node)->name = str_intern(name);
  if (value_is_node(v, NK_IterVar)) name_fresh(value_node(AS(IterVar, v.node)->var), name);
  if (value_is_node(v, NK_Buffer) && !AS(Buffer, v.node)->name) {
    Buffer *b = AS(Buffer, v.node);
    b->name = str_intern(name);
    name_fresh(value_node(b->data), name);
    /* Strides and offsets that were asked for without a name: A_s0, A_elem_offset. */
    for (int i = 0; i < b->strides.len; i++)
      if (IS(Var, b->strides.at[i]))
        name_fresh(value_node(b->strides.at[i]), str_format("%s_s%d", name, i));
    if (b->elem_offset && IS(Var, b->elem_offset))
      name_fresh(value_node(b->elem_offset), str_format("%s_elem_offset", name));
  }
}
