/* expr.c -- evaluates expressions, one function a kind. */
#include "lang/eval/eval_impl.h"
#include "lang/value/big_int.h"

/* ---- literals and names ---- */

/* Values of literals that are objects, made once; the tree has the place + 1. */
static ValueVec constants;

static uint32_t new_constant(Value v) {
  vec_push(&constants, v);
  return (uint32_t)constants.len;
}

static Value big_literal(Ast *e) {
  const Source *s = source_locate(e->span.lo).source;
  const char *text = s->text + (e->span.lo - s->base);
  size_t n = e->span.hi - e->span.lo;
  char mark = (char)(text[1] | 0x20);
  int base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
  if (base != 10) text += 2, n -= 2;
  return big_from_digits(text, n, base, false);
}

static Value text_literal(Ast *e) {
  AstStr *s = AST_AS(Str, e);
  if (s->bytes) return value_bytes(s->text, s->len);
  return value_of(&type_str, NEW(StrObject, .text = s->text, .len = s->len, .length = -1));
}

static Value eval_int(Env *env, Ast *e) {
  (void)env;
  AstInt *i = AST_AS(Int, e);
  if (!i->too_large && i->value <= INT64_MAX) return value_int((int64_t)i->value);
  if (!e->hint) e->hint = new_constant(big_literal(e));
  return constants.at[e->hint - 1];
}

static Value eval_float(Env *env, Ast *e) {
  return (void)env, value_float(AST_AS(Float, e)->value);
}

/* Equal short texts have one pointer (the parser interns them), and one value. */
static uint32_t place_of_text(Ast *e) {
  static Map places;
  AstStr *s = AST_AS(Str, e);
  uint32_t place = s->bytes ? 0 : (uint32_t)(uintptr_t)map_get(&places, s->text);
  if (place) return place;
  place = new_constant(text_literal(e));
  if (!s->bytes) map_set(&places, s->text, (void *)(uintptr_t)place);
  return place;
}

static Value eval_str(Env *env, Ast *e) {
  (void)env;
  if (!e->hint) e->hint = place_of_text(e);
  return constants.at[e->hint - 1];
}

static Value eval_none(Env *env, Ast *e) { return (void)env, (void)e, value_none(); }
static Value eval_bool(Env *env, Ast *e) { return (void)env, value_bool(AST_AS(Bool, e)->value); }
static Value eval_ellipsis(Env *env, Ast *e) {
  return (void)env, (void)e, (Value){.type = &type_ellipsis};
}

static void add_field(Env *env, AstFormatField *f, Str *out) {
  Value v = eval(env, f->value);
  if (f->debug) str_add(out, f->debug);
  int conversion = f->conversion;
  if (!conversion && f->debug && !f->spec) conversion = 'r';
  if (conversion) v = value_converted(v, (char)conversion);
  const char *spec = f->spec ? value_text(eval(env, f->spec)) : "";
  value_format(v, spec, out, f->value->span);
}

static Value eval_fstring(Env *env, Ast *e) {
  Str out = {0};
  for each (Ast *, part, &AST_AS(FString, e)->parts) {
    if ((*part)->kind == AST_KIND_FormatField) add_field(env, AST_AS(FormatField, *part), &out);
    else value_add_str(eval(env, *part), &out);
  }
  return value_str_take(&out);
}

/* ---- operators ---- */

static Value eval_binary(Env *env, Ast *e) {
  AstBinary *b = AST_AS(Binary, e);
  Value x = eval(env, b->left), y = eval(env, b->right), r = arith_at_once(b->op, x, y);
  if (r.type) return r;
  eval_span = e->span;
  return value_binary(b->op, x, y, e->span);
}

static Value eval_unary(Env *env, Ast *e) {
  AstUnary *u = AST_AS(Unary, e);
  return value_unary(u->op, eval(env, u->operand), e->span);
}

static inline Value compare_pair(AstOp op, Value a, Value b, Span span) {
  Value r = compare_at_once(op, a, b);
  if (r.type) return r;
  eval_span = span;
  return value_compare(op, a, b, span);
}

/* a < b < c is (a < b) and (b < c), with b evaluated once. */
static Value eval_compare(Env *env, Ast *e) {
  AstCompare *c = AST_AS(Compare, e);
  Value left = eval(env, c->left), result = value_absent();
  if (c->ops.len == 1) return compare_pair(c->ops.at[0], left, eval(env, c->rights.at[0]), e->span);
  for (int i = 0; i < c->ops.len; i++) {
    Value right = eval(env, c->rights.at[i]);
    Value pair = compare_pair(c->ops.at[i], left, right, e->span);
    if (!result.type) result = pair;
    else if (result.type->logical) {
      Value both = result.type->logical(AST_AND, result, pair, e->span);
      result = both.type ? both : pair;
    } else result = pair;
    bool last = i + 1 == c->ops.len;
    if (!last && !result.type->logical && !value_truth(result, e->span)) return result;
    left = right;
  }
  return result;
}

static Value eval_bool_op(Env *env, Ast *e) {
  AstBoolOp *b = AST_AS(BoolOp, e);
  Value left = eval(env, b->left);
  if (left.type->logical) {
    Value right = eval(env, b->right);
    Value r = left.type->logical(b->op, left, right, e->span);
    if (r.type) return r;
    return value_truth(left, e->span) == (b->op == AST_AND) ? right : left;
  }
  if (value_truth(left, b->left->span) == (b->op == AST_OR)) return left;
  return eval(env, b->right);
}

static Value eval_if_exp(Env *env, Ast *e) {
  AstIfExp *i = AST_AS(IfExp, e);
  Value cond = eval(env, i->cond);
  if (cond.type->select) {
    Value then = eval(env, i->then), orelse = eval(env, i->orelse);
    Value r = cond.type->select(cond, then, orelse, e->span);
    if (r.type) return r;
    return value_truth(cond, i->cond->span) ? then : orelse;
  }
  return eval(env, value_truth(cond, i->cond->span) ? i->then : i->orelse);
}

static Value eval_named(Env *env, Ast *e) {
  AstNamedExpr *n = AST_AS(NamedExpr, e);
  Value x = eval(env, n->value);
  assign_name(env, n->target, x);
  return x;
}

/* ---- access ---- */

static Value eval_attribute(Env *env, Ast *e) {
  AstAttribute *a = AST_AS(Attribute, e);
  Value v = eval(env, a->value);
  if (v.type == &type_instance) {
    Names *own = &((InstanceObject *)v.object)->attrs;
    if (e->hint < (uint32_t)own->len && own->at[e->hint].name == a->name)
      return own->at[e->hint].value;
    int place = names_find(own, a->name);
    if (place >= 0) return e->hint = (uint32_t)place, own->at[place].value;
  }
  return value_get_attr(v, a->name, a->name_span.hi ? a->name_span : e->span);
}

static Value eval_subscript(Env *env, Ast *e) {
  AstSubscript *s = AST_AS(Subscript, e);
  Value v = eval(env, s->value), index = eval(env, s->index);
  Value *item = item_at_once(v, index);
  if (item) return *item;
  eval_span = e->span;
  return value_get_item(v, index, e->span);
}

static Value eval_slice(Env *env, Ast *e) {
  AstSlice *s = AST_AS(Slice, e);
  Value lo = s->lo ? eval(env, s->lo) : value_none();
  Value hi = s->hi ? eval(env, s->hi) : value_none();
  return value_slice(lo, hi, s->step ? eval(env, s->step) : value_none());
}

/* ---- displays ---- */

bool has_starred(const AstVec *items) {
  for each (Ast *, item, items)
    if ((*item)->kind == AST_KIND_Starred) return true;
  return false;
}

static ValueVec eval_items(Env *env, const AstVec *items) {
  ValueVec out = {0};
  vec_reserve(&out, items->len);
  for each (Ast *, item, items) {
    if ((*item)->kind != AST_KIND_Starred) {
      Value x = eval(env, *item);
      vec_push(&out, x);
      continue;
    }
    Ast *inner = AST_AS(Starred, *item)->value;
    ValueVec more = value_to_vec(eval(env, inner), inner->span);
    for each (Value, x, &more) vec_push(&out, *x);
  }
  return out;
}

static Value eval_tuple(Env *env, Ast *e) {
  const AstVec *items = &AST_AS(Tuple, e)->items;
  if (has_starred(items)) return value_tuple(eval_items(env, items));
  Value tuple = value_tuple_new(items->len);
  for (int i = 0; i < items->len; i++) value_items(tuple)->at[i] = eval(env, items->at[i]);
  return tuple;
}
static Value eval_list(Env *env, Ast *e) {
  return value_list(eval_items(env, &AST_AS(List, e)->items));
}
static Value eval_set(Env *env, Ast *e) {
  ValueVec items = eval_items(env, &AST_AS(Set, e)->items);
  Value set = value_set();
  eval_span = e->span;
  for each (Value, x, &items) set_add(set, *x, e->span);
  return set;
}

static Value eval_dict(Env *env, Ast *e) {
  AstDict *d = AST_AS(Dict, e);
  Value dict = value_dict();
  for (int i = 0; i < d->keys.len; i++) {
    Ast *key = d->keys.at[i], *value = d->values.at[i];
    if (key) {
      Value k = eval(env, key);
      Value x = eval(env, value);
      eval_span = key->span;
      value_dict_set(dict, k, x, key->span);
      continue;
    }
    Value more = value_plain(eval(env, value)), k, x;
    if (more.type != &type_dict)
      raise("TypeError", value->span, "'%s' object is not a mapping", value_type_text(more));
    for (int j = 0, n = value_dict_len(more); j < n; j++) {
      value_dict_entry(more, j, &k, &x);
      value_dict_set(dict, k, x, value->span);
    }
  }
  return dict;
}

/* ---- the rest ---- */

static Value eval_starred(Env *env, Ast *e) {
  (void)env;
  raise("SyntaxError", e->span, "a starred expression cannot stand here");
}

static Value eval_lambda(Env *env, Ast *e) { return function_new(env, e); }

/* Indexed by AstKind; NULL: not an expression. */
static Value (*const evaluators[AST_KIND_COUNT])(Env *env, Ast *e) = {
    [AST_KIND_Name] = eval_name,
    [AST_KIND_Int] = eval_int,
    [AST_KIND_Float] = eval_float,
    [AST_KIND_Str] = eval_str,
    [AST_KIND_FString] = eval_fstring,
    [AST_KIND_None] = eval_none,
    [AST_KIND_Bool] = eval_bool,
    [AST_KIND_Ellipsis] = eval_ellipsis,
    [AST_KIND_Attribute] = eval_attribute,
    [AST_KIND_Subscript] = eval_subscript,
    [AST_KIND_Slice] = eval_slice,
    [AST_KIND_Call] = eval_call,
    [AST_KIND_Starred] = eval_starred,
    [AST_KIND_Unary] = eval_unary,
    [AST_KIND_Binary] = eval_binary,
    [AST_KIND_Compare] = eval_compare,
    [AST_KIND_BoolOp] = eval_bool_op,
    [AST_KIND_IfExp] = eval_if_exp,
    [AST_KIND_NamedExpr] = eval_named,
    [AST_KIND_Lambda] = eval_lambda,
    [AST_KIND_Tuple] = eval_tuple,
    [AST_KIND_List] = eval_list,
    [AST_KIND_Set] = eval_set,
    [AST_KIND_Dict] = eval_dict,
    [AST_KIND_Comprehension] = eval_comprehension,
    [AST_KIND_Yield] = eval_yield,
};

Value eval(Env *env, Ast *e) {
  stack_check(e->span);
  REQUIRE(evaluators[e->kind], "an expression, found %s", ast_kind_name(e->kind));
  return evaluators[e->kind](env, e);
}
