/* yield.c -- statements with a yield inside an expression, made ready step by step.
 *
 * A suspended expression must not live on the C stack. So before each yield what stands to the left
 * of it is evaluated into hidden local names, in a copy of the statement in which those names, and
 * one for what the yield will give, take the places of the expressions. When no yield is left, the
 * copy runs like any statement. */
#include "lang/eval/eval_impl.h"

typedef struct Settle {
  Env *env;
  int *names; /* how many hidden names the statement has */
  YieldPlace found;
} Settle;

static Ast *settle(Settle *s, Ast *e);

/* ---- trees ---- */

static Ast *copied(const Ast *node) {
  static const size_t sizes[] = {
#define NODE(Kind, family) sizeof(Ast##Kind),
#define FIELD(type, name, role)
#define END(Kind)
#include "parser/ast.def"
  };
  return gc_copy(node, sizes[node->kind]);
}

static void note_yield(void *context, Ast *child) { *(bool *)context |= child->yields; }

/* A copy that has changed: does it still yield? */
static Ast *finished(Ast *copy) {
  bool yields = copy->kind == AST_KIND_Yield;
  ast_each_child(copy, note_yield, &yields);
  copy->yields = yields;
  return copy;
}

static const char *hidden_name(int i) { return str_intern(str_format("(%d)", i)); }

static Ast *hidden(Settle *s, Span span) {
  Ast ast = {.kind = AST_KIND_Name, .depth = 1, .span = span};
  return &NEW(AstName, .ast = ast, .name = hidden_name((*s->names)++))->ast;
}

/* ---- expressions ---- */

static void settle_slot(Settle *s, Ast **slot);

static Ast *evaluated(Settle *s, Ast *e) {
  Value v = eval(s->env, e);
  Ast *name = hidden(s, e->span);
  env_set(s->env, AST_AS(Name, name)->name, v);
  return name;
}

/* Each kind of expression with the parts that are evaluated, in that order. Lists are copied by
 * settle_list. */
static void settle_list(Settle *s, AstVec *list) {
  AstVec items = {0};
  for each (Ast *, x, list) vec_push(&items, *x);
  for each (Ast *, x, &items) settle_slot(s, x);
  *list = items;
}

static void settle_dict(Settle *s, AstDict *d) {
  AstVec keys = {0}, values = {0};
  for (int i = 0; i < d->keys.len; i++) {
    vec_push(&keys, d->keys.at[i]);
    vec_push(&values, d->values.at[i]);
    settle_slot(s, &vec_last(&keys));
    settle_slot(s, &vec_last(&values));
  }
  d->keys = keys, d->values = values;
}

/* Only the first source of a comprehension is evaluated in the function itself. */
static void settle_source(Settle *s, AstComprehension *c) {
  AstVec clauses = {0};
  for each (Ast *, x, &c->clauses) vec_push(&clauses, *x);
  AstCompFor *first = AST_AS(CompFor, copied(clauses.at[0]));
  if (!first->iter->yields) raise("SyntaxError", c->ast.span, "'yield' inside a comprehension");
  first->iter = settle(s, first->iter);
  clauses.at[0] = finished(&first->ast);
  c->clauses = clauses;
}

#define PARTS(Kind, ...)                                                                           \
  case AST_KIND_##Kind: {                                                                          \
    Ast##Kind *n = AST_AS(Kind, e);                                                                \
    Ast **parts[] = {__VA_ARGS__};                                                                 \
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) settle_slot(s, parts[i]);            \
    break;                                                                                         \
  }

/* The parts of a copy. */
static void settle_parts(Settle *s, Ast *e) {
  switch (e->kind) {
    PARTS(Attribute, &n->value)
    PARTS(Subscript, &n->value, &n->index)
    PARTS(Slice, &n->lo, &n->hi, &n->step)
    PARTS(Keyword, &n->value)
    PARTS(Starred, &n->value)
    PARTS(Unary, &n->operand)
    PARTS(Binary, &n->left, &n->right)
    PARTS(NamedExpr, &n->value)
    PARTS(FormatField, &n->value, &n->spec)
  case AST_KIND_Call:
    settle_slot(s, &AST_AS(Call, e)->func);
    settle_list(s, &AST_AS(Call, e)->args);
    break;
  case AST_KIND_Compare:
    settle_slot(s, &AST_AS(Compare, e)->left);
    settle_list(s, &AST_AS(Compare, e)->rights);
    break;
  case AST_KIND_Tuple: settle_list(s, &AST_AS(Tuple, e)->items); break;
  case AST_KIND_List: settle_list(s, &AST_AS(List, e)->items); break;
  case AST_KIND_Set: settle_list(s, &AST_AS(Set, e)->items); break;
  case AST_KIND_FString: settle_list(s, &AST_AS(FString, e)->parts); break;
  case AST_KIND_Dict: settle_dict(s, AST_AS(Dict, e)); break;
  case AST_KIND_Comprehension: settle_source(s, AST_AS(Comprehension, e)); break;
  default: raise("SyntaxError", e->span, "a yield cannot stand inside this expression");
  }
}

static void settle_slot(Settle *s, Ast **slot) {
  Ast *e = *slot;
  if (!e || s->found.yield) return;
  switch (e->kind) {
  case AST_KIND_Int:
  case AST_KIND_Float:
  case AST_KIND_Str:
  case AST_KIND_None:
  case AST_KIND_Bool: return;
  case AST_KIND_Keyword: /* these are no expressions of their own */
  case AST_KIND_Starred:
  case AST_KIND_FormatField: *slot = settle(s, e); return;
  default: *slot = e->yields ? settle(s, e) : evaluated(s, e);
  }
}

/* `a and b`, `a or b`: b only if a does not decide. */
static Ast *settle_bool_op(Settle *s, Ast *e) {
  AstBoolOp *b = AST_AS(BoolOp, e);
  if (b->left->yields) {
    AstBoolOp *copy = AST_AS(BoolOp, copied(e));
    copy->left = settle(s, b->left);
    return finished(&copy->ast);
  }
  Ast *left = evaluated(s, b->left);
  bool goes_on = value_truth(eval(s->env, left), left->span) == (b->op == AST_AND);
  return goes_on && b->right->yields ? settle(s, b->right) : goes_on ? b->right : left;
}

static Ast *settle_if(Settle *s, Ast *e) {
  AstIfExp *i = AST_AS(IfExp, e);
  if (i->cond->yields) {
    AstIfExp *copy = AST_AS(IfExp, copied(e));
    copy->cond = settle(s, i->cond);
    return finished(&copy->ast);
  }
  Ast *taken = value_truth(eval(s->env, i->cond), i->cond->span) ? i->then : i->orelse;
  return taken->yields ? settle(s, taken) : taken;
}

static Ast *settle_yield(Settle *s, Ast *e) {
  AstYield *y = AST_AS(Yield, e);
  if (y->value && y->value->yields) {
    AstYield *copy = AST_AS(Yield, copied(e));
    copy->value = settle(s, y->value);
    return finished(&copy->ast);
  }
  s->found = (YieldPlace){.yield = y, .target = hidden(s, e->span)};
  return s->found.target;
}

/* The expression up to its first yield, which goes to s->found. */
static Ast *settle(Settle *s, Ast *e) {
  stack_check(e->span);
  switch (e->kind) {
  case AST_KIND_Yield: return settle_yield(s, e);
  case AST_KIND_BoolOp: return settle_bool_op(s, e);
  case AST_KIND_IfExp: return settle_if(s, e);
  default: break;
  }
  Ast *copy = copied(e);
  settle_parts(s, copy);
  return finished(copy);
}

/* ---- statements ---- */

/* `while c: body  else: rest` as `while True: if c: body  else: rest; break`: c yields anew in each
 * round. */
static Ast *endless_while(Ast *s) {
  AstWhile *w = AST_AS(While, s), *loop = AST_AS(While, copied(s));
  AstBreak *stop = NEW(AstBreak, .ast = {.kind = AST_KIND_Break, .depth = 1, .span = s->span});
  AstBool *always = NEW(AstBool, .ast = {.kind = AST_KIND_Bool, .depth = 1, .span = w->cond->span},
                        .value = true);
  AstVec rest = {0};
  for each (Ast *, x, &w->orelse) vec_push(&rest, *x);
  vec_push(&rest, &stop->ast);
  AstIf *choice = NEW(AstIf, .ast = *s, .cond = w->cond, .body = w->body, .orelse = rest);
  choice->ast.kind = AST_KIND_If;
  loop->cond = &always->ast;
  loop->body = loop->orelse = (AstVec){0};
  vec_push(&loop->body, &choice->ast);
  return &loop->ast;
}

static void settle_items(Settle *s, AstWith *w) {
  AstVec items = {0};
  for each (Ast *, x, &w->items) {
    AstWithItem *item = AST_AS(WithItem, *x);
    if (item->context->yields && !s->found.yield) {
      item = AST_AS(WithItem, copied(*x));
      item->context = settle(s, item->context);
      finished(&item->ast);
    }
    vec_push(&items, &item->ast);
  }
  w->items = items;
}

/* The expression that a statement evaluates first; NULL if it has none or it may not yield. */
static Ast **head_of(Ast *s) {
  switch (s->kind) {
  case AST_KIND_ExprStmt: return &AST_AS(ExprStmt, s)->value;
  case AST_KIND_Assign: return &AST_AS(Assign, s)->value;
  case AST_KIND_AugAssign: return &AST_AS(AugAssign, s)->value;
  case AST_KIND_AnnAssign: return &AST_AS(AnnAssign, s)->value;
  case AST_KIND_Return: return &AST_AS(Return, s)->value;
  case AST_KIND_Raise: return &AST_AS(Raise, s)->value;
  case AST_KIND_Assert: return &AST_AS(Assert, s)->cond;
  case AST_KIND_If: return &AST_AS(If, s)->cond;
  case AST_KIND_For: return &AST_AS(For, s)->iter;
  default: return NULL;
  }
}

static bool with_yields(Ast *s) {
  for each (Ast *, x, &AST_AS(With, s)->items)
    if (AST_AS(WithItem, *x)->context->yields) return true;
  return false;
}

bool yield_in_head(Ast *s) {
  if (s->kind == AST_KIND_While) return AST_AS(While, s)->cond->yields;
  if (s->kind == AST_KIND_With) return with_yields(s);
  Ast **head = head_of(s);
  return head && *head && (*head)->yields;
}

Ast *yield_settle(Env *env, Ast *statement, int *names, YieldPlace *found) {
  Settle s = {.env = env, .names = names};
  if (statement->kind == AST_KIND_While) return endless_while(statement);
  Ast *copy = copied(statement);
  if (copy->kind == AST_KIND_With) settle_items(&s, AST_AS(With, copy));
  else *head_of(copy) = settle(&s, *head_of(copy));
  *found = s.found;
  return finished(copy);
}

void yield_forget(Env *env, int names) {
  for (int i = 0; i < names; i++) env_remove(env, hidden_name(i));
}
