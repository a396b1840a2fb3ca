/* build.c -- constructors of expressions, and what all constructors share: depth and poison.
 *
 * Poison stands for an expression with a fault that was reported. It is an Error of a depth that no
 * tree has, so that taking the greatest depth of the children also finds it. */
#include "parser/parser_impl.h"

enum { POISON = 0x7fff, EXPRESSION_DEPTH_MAX = AST_DEPTH_MAX / 4 * 3 };

bool ast_is_poison(const Ast *e) { return e && e->depth == POISON; }

Ast *ast_poison(Span span) {
  return &NEW(AstError, .ast = {.kind = AST_KIND_Error, .depth = POISON, .span = span})->ast;
}

Ast *ast_error(Parser *p, Span span) {
  if (p) p->failed = true;
  return &NEW(AstError, .ast = {.kind = AST_KIND_Error, .depth = 1, .span = span})->ast;
}

/* ---- memory ---- */

enum { BLOCK = (32 << 10) - 16, LARGE = BLOCK / 8 }; /* the collector adds a byte */

void *ast_alloc(Parser *p, size_t n) {
  if (n >= LARGE) return gc_alloc(n);
  n = (n + 7) & ~(size_t)7;
  if (n > p->block_left) {
    p->block = gc_alloc(BLOCK);
    p->block_left = BLOCK - 1; /* a pointer to its end would be one to what lies behind */
  }
  void *node = p->block;
  p->block += n;
  p->block_left -= n;
  return node;
}

/* ---- finishing ---- */

typedef struct Below {
  unsigned depth; /* of the deepest child */
  bool yields;
} Below;

static inline void look(Below *b, const Ast *child) {
  if (!child) return;
  if (child->depth > b->depth) b->depth = child->depth;
  b->yields |= child->yields;
}

static Below look_below(Ast *node) {
  Below b = {0, false};
#define LOOK_VAL(x)
#define LOOK_NAME(x)
#define LOOK_SUB(x) look(&b, x);
#define LOOK_SUBS(x)                                                                               \
  for each (Ast *, child, &x) look(&b, *child);
  switch ((AstKind)node->kind) {
#define NODE(Kind, family)                                                                         \
  case AST_KIND_##Kind: {                                                                          \
    Ast##Kind *n = AST_AS(Kind, node);                                                             \
    (void)n;
#define FIELD(type, name, role) LOOK_##role(n->name)
#define END(Kind)                                                                                  \
  break;                                                                                           \
  }
#include "parser/ast.def"
  case AST_KIND_COUNT: break;
  }
  return b;
}

static bool is_statement(const Ast *node) {
  switch ((AstKind)node->kind) {
#define FAMILY_EXPR false
#define FAMILY_PART false
#define FAMILY_STMT true
#define NODE(Kind, family)                                                                         \
  case AST_KIND_##Kind:                                                                            \
    return FAMILY_##family;
#define FIELD(type, name, role)
#define END(Kind)
#include "parser/ast.def"
  case AST_KIND_COUNT: break;
  }
  return false;
}

Ast *ast_finish(Parser *p, Ast *node) {
  Below b = look_below(node);
  unsigned most = ast_is_expression(node) ? EXPRESSION_DEPTH_MAX : AST_DEPTH_MAX - 1;
  if (b.depth >= most) {
    if (b.depth != POISON) parse_error(p, E0107, node->span, "nested too deeply");
    return is_statement(node) ? ast_error(p, node->span) : ast_poison(node->span);
  }
  node->depth = (b.depth + 1) & POISON;
  node->yields = b.yields;
  return node;
}

/* ---- vectors ---- */

/* Like nodes, the elements lie in the blocks; a list that grows leaves its old ones behind. */
static void make_room(Parser *p, AstVec *v, int cap) {
  Ast **at = ast_alloc(p, sizeof *at * (size_t)cap);
  if (v->len) memcpy(at, v->at, sizeof *at * (size_t)v->len);
  v->at = at;
  v->cap = cap;
}

void ast_push(Parser *p, AstVec *v, Ast *a) {
  if (v->len == v->cap) make_room(p, v, vec_capacity(v->cap, v->len + 1));
  v->at[v->len++] = a;
}

/* Most lists stay this short: no room for more is kept. */
AstVec ast_one(Parser *p, Ast *a) {
  AstVec v = {0};
  make_room(p, &v, 1);
  ast_push(p, &v, a);
  return v;
}

AstVec ast_two(Parser *p, Ast *a, Ast *b) {
  AstVec v = {0};
  make_room(p, &v, 2);
  ast_push(p, &v, a);
  ast_push(p, &v, b);
  return v;
}

AstVec ast_prepend(Parser *p, Ast *a, AstVec rest) {
  AstVec v = {0};
  make_room(p, &v, rest.len + 1);
  ast_push(p, &v, a);
  ast_append(p, &v, rest);
  return v;
}

void ast_append(Parser *p, AstVec *to, AstVec more) {
  if (!to->len) {
    *to = more;
    return;
  }
  for each (Ast *, e, &more) ast_push(p, to, *e);
}

TokenVec token_one(Parser *p, Token t) {
  TokenVec v = {ast_alloc(p, sizeof t), 1, 1};
  v.at[0] = t;
  return v;
}

void token_push(Parser *p, TokenVec *v, Token t) {
  if (v->len == v->cap) {
    Token *old = v->at;
    v->cap = vec_capacity(v->cap, v->len + 1);
    v->at = ast_alloc(p, sizeof t * (size_t)v->cap);
    memcpy(v->at, old, sizeof t * (size_t)v->len);
  }
  v->at[v->len++] = t;
}

/* ---- atoms ---- */

static Span from(const Parser *p, uint32_t lo) { return (Span){lo, p->last}; }

Ast *ast_name(Parser *p, Token t) { return AST_MAKE(p, Name, t.span, parse_name(p, t)); }

Ast *ast_constant(Parser *p, Token t) {
  switch (t.kind) {
  case T_NONE: return AST_MAKE(p, None, t.span);
  case T_ELLIPSIS: return AST_MAKE(p, Ellipsis, t.span);
  default: return AST_MAKE(p, Bool, t.span, t.kind == T_TRUE);
  }
}

/* ---- primaries ---- */

Ast *ast_attribute(Parser *p, Ast *value, Token name) {
  return AST_MAKE(p, Attribute, from(p, value->span.lo), value, parse_name(p, name), name.span);
}

Ast *ast_call(Parser *p, Ast *func, AstVec args) {
  return AST_MAKE(p, Call, from(p, func->span.lo), func, args);
}

AstVec ast_args(Parser *p, AstVec args) {
  return args_check(p, &args) ? args : ast_one(p, ast_poison(args.at[0]->span));
}

AstVec ast_params(Parser *p, AstVec params) {
  return params_check(p, &params) ? params : ast_one(p, ast_poison(params.at[0]->span));
}

Ast *ast_target(Parser *p, Ast *e) {
  return target_check(p, e, TARGET_ASSIGN) ? e : ast_poison(e->span);
}

Ast *ast_keyword(Parser *p, Token first, const Token *name, Ast *value) {
  return AST_MAKE(p, Keyword, from(p, first.span.lo), name ? parse_name(p, *name) : NULL, value);
}

Ast *ast_starred(Parser *p, Token star, Ast *value) {
  return AST_MAKE(p, Starred, from(p, star.span.lo), value);
}

Ast *ast_not_starred(Parser *p, Ast *e) {
  if (e->kind != AST_KIND_Starred) return e;
  parse_error(p, E0124, e->span,
              "a starred expression must be in a list, a tuple, a set or a call");
  return ast_poison(e->span);
}

Ast *ast_subscript(Parser *p, Ast *value, Ast *index) {
  return AST_MAKE(p, Subscript, from(p, value->span.lo), value, index);
}

Ast *ast_index(Parser *p, Ast *e) {
  return e->kind == AST_KIND_Starred ? ast_tuple(p, ast_one(p, e)) : e;
}

Ast *ast_slice(Parser *p, Token colon, Ast *lo, Ast *hi, Ast *step) {
  return AST_MAKE(p, Slice, from(p, lo ? lo->span.lo : colon.span.lo), lo, hi, step);
}

/* ---- operators ---- */

Ast *ast_unary(Parser *p, Token op, Ast *operand) {
  AstOp kind = op.kind == T_MINUS ? AST_NEG : op.kind == T_PLUS ? AST_POS : token_op(op);
  return AST_MAKE(p, Unary, from(p, op.span.lo), kind, operand);
}

Ast *ast_binary(Parser *p, Ast *left, Token op, Ast *right) {
  return AST_MAKE(p, Binary, from(p, left->span.lo), token_op(op), op.span, left, right);
}

Ast *ast_bool_op(Parser *p, Ast *left, Token op, Ast *right) {
  return AST_MAKE(p, BoolOp, from(p, left->span.lo), token_op(op), left, right);
}

/* A chain is finished when it is whole: one look at all its operands, not one a link. */
Ast *ast_compare(Parser *p, Ast *left, AstOp op, Ast *right) {
  AstCompare *c = AST_NEW(p, Compare, .ast = {.kind = AST_KIND_Compare, .span = left->span}, left);
  return ast_compare_again(p, &c->ast, op, right);
}

Ast *ast_compare_again(Parser *p, Ast *chain, AstOp op, Ast *right) {
  AstCompare *c = AST_AS(Compare, chain);
  vec_push(&c->ops, op);
  ast_push(p, &c->rights, right);
  return chain;
}

Ast *ast_compare_end(Parser *p, Ast *chain) {
  chain->span = from(p, chain->span.lo);
  return ast_finish(p, chain);
}

Ast *ast_if_exp(Parser *p, Ast *then, Ast *cond, Ast *orelse) {
  return AST_MAKE(p, IfExp, from(p, then->span.lo), then, cond, orelse);
}

Ast *ast_named(Parser *p, Token name, Ast *value) {
  return AST_MAKE(p, NamedExpr, from(p, name.span.lo), ast_name(p, name), value);
}

Ast *ast_yield(Parser *p, Token t, Ast *value, bool is_from) {
  Ast *e = AST_MAKE(p, Yield, from(p, t.span.lo), value, is_from);
  e->yields = true;
  return e;
}

/* ---- functions ---- */

Ast *ast_lambda(Parser *p, Token t, AstVec params, Ast *body) {
  Ast *e = AST_MAKE(p, Lambda, from(p, t.span.lo), params, body);
  e->yields = false;
  return e;
}

/* `first` is the star or the slash, or again the name. */
Ast *ast_param(Parser *p, Token first, Token name, Ast *annotation, Ast *value) {
  ParamKind kind = first.kind == T_STAR          ? PARAM_STAR
                   : first.kind == T_DOUBLE_STAR ? PARAM_DOUBLE_STAR
                   : first.kind == T_SLASH       ? PARAM_SLASH
                                                 : PARAM_PLAIN;
  const char *text = name.kind == T_NAME ? parse_name(p, name) : NULL;
  return AST_MAKE(p, Param, from(p, first.span.lo), text, kind, annotation, value);
}

/* ---- displays ---- */

Ast *ast_tuple(Parser *p, AstVec items) {
  return AST_MAKE(p, Tuple, from(p, items.at[0]->span.lo), items);
}

Ast *ast_paren(Parser *p, Token open, Ast *e) {
  e->span = from(p, open.span.lo);
  return e;
}

Ast *ast_paren_tuple(Parser *p, Token open, AstVec items) {
  return AST_MAKE(p, Tuple, from(p, open.span.lo), items, .parenthesized = true);
}

Ast *ast_list(Parser *p, Token open, AstVec items) {
  return AST_MAKE(p, List, from(p, open.span.lo), items);
}

Ast *ast_set(Parser *p, Token open, AstVec items) {
  return AST_MAKE(p, Set, from(p, open.span.lo), items);
}

Ast *ast_dict(Parser *p) { return &AST_NEW(p, Dict, .ast = {.kind = AST_KIND_Dict})->ast; }

Ast *ast_dict_push(Parser *p, Ast *dict, Ast *key, Ast *value) {
  AstDict *d = AST_AS(Dict, dict);
  ast_push(p, &d->keys, key);
  ast_push(p, &d->values, value);
  return dict;
}

Ast *ast_dict_end(Parser *p, Token open, Ast *dict) {
  dict->span = from(p, open.span.lo);
  return ast_finish(p, dict);
}

/* ---- comprehensions ---- */

Ast *ast_comprehension(Parser *p, Token open, AstDisplay display, Ast *element, Ast *value,
                       AstVec clauses) {
  return AST_MAKE(p, Comprehension, from(p, open.span.lo), display, element, value, clauses);
}

Ast *ast_generator(Parser *p, Ast *element, AstVec clauses) {
  Token first = {element->span, T_NAME};
  return ast_comprehension(p, first, AST_GENERATOR, element, NULL, clauses);
}

Ast *ast_comp_for(Parser *p, Token t, Ast *target, Ast *iter, AstVec conds) {
  return AST_MAKE(p, CompFor, from(p, t.span.lo), target, iter, conds);
}
