/* build_stmt.c -- constructors of statements. */
#include "parser/parser_impl.h"

static Span from(const Parser *p, Token t) { return (Span){t.span.lo, p->last}; }

/* ---- simple statements ---- */

Ast *ast_expr_stmt(Parser *p, Ast *value) { return AST_MAKE(p, ExprStmt, value->span, value); }

/* `a = b = c = value` is finished when it is whole; until then `value` may be the next target. */
Ast *ast_assign(Parser *p, Ast *target, Ast *value) {
  AstVec targets = ast_one(p, ast_target(p, target));
  Ast head = {.kind = AST_KIND_Assign, .span = target->span};
  return &AST_NEW(p, Assign, .ast = head, targets, value)->ast;
}

Ast *ast_assign_again(Parser *p, Ast *assign, Ast *value) {
  AstAssign *s = AST_AS(Assign, assign);
  ast_push(p, &s->targets, ast_target(p, s->value));
  s->value = value;
  return assign;
}

Ast *ast_assign_end(Parser *p, Ast *assign) {
  assign->span.hi = p->last;
  return ast_finish(p, assign);
}

Ast *ast_aug_assign(Parser *p, Ast *target, Token op, Ast *value) {
  Span span = {target->span.lo, p->last};
  if (!target_check(p, target, TARGET_AUGMENT)) return ast_error(p, span);
  return AST_MAKE(p, AugAssign, span, token_op(op), target, value);
}

Ast *ast_ann_assign(Parser *p, Ast *target, Ast *annotation, Ast *value) {
  Span span = {target->span.lo, p->last};
  if (!target_check(p, target, TARGET_ANNOTATE)) return ast_error(p, span);
  return AST_MAKE(p, AnnAssign, span, target, annotation, value);
}

Ast *ast_word(Parser *p, Token t) {
  switch (t.kind) {
  case T_PASS: return AST_MAKE(p, Pass, t.span);
  case T_BREAK: return AST_MAKE(p, Break, t.span);
  default: return AST_MAKE(p, Continue, t.span);
  }
}

Ast *ast_return(Parser *p, Token t, Ast *value) { return AST_MAKE(p, Return, from(p, t), value); }

Ast *ast_raise(Parser *p, Token t, Ast *value, Ast *cause) {
  return AST_MAKE(p, Raise, from(p, t), value, cause);
}

Ast *ast_assert(Parser *p, Token t, Ast *cond, Ast *message) {
  return AST_MAKE(p, Assert, from(p, t), cond, message);
}

/* `del a, b` has the targets a and b; `del (a, b)` has one. */
Ast *ast_delete(Parser *p, Token t, Ast *targets) {
  if (!target_check(p, targets, TARGET_DELETE)) return ast_error(p, from(p, t));
  bool several = targets->kind == AST_KIND_Tuple && !AST_AS(Tuple, targets)->parenthesized;
  AstVec list = several ? AST_AS(Tuple, targets)->items : ast_one(p, targets);
  return AST_MAKE(p, Delete, from(p, t), list);
}

Ast *ast_scope(Parser *p, Token t, AstVec names) {
  if (t.kind == T_GLOBAL) return AST_MAKE(p, Global, from(p, t), names);
  return AST_MAKE(p, Nonlocal, from(p, t), names);
}

/* ---- imports ---- */

static const char *join_dotted(const Parser *p, const TokenVec *dotted) {
  if (dotted->len == 1) return parse_name(p, dotted->at[0]);
  Str out = {0};
  for each (Token, t, dotted) {
    if (t != dotted->at) str_add_char(&out, '.');
    str_add_n(&out, parse_text(p, t->span), t->span.hi - t->span.lo);
  }
  return str_intern_n(out.at, out.len);
}

Ast *ast_alias(Parser *p, TokenVec dotted, const Token *as) {
  return AST_MAKE(p, Alias, from(p, dotted.at[0]), join_dotted(p, &dotted),
                  as ? parse_name(p, *as) : NULL);
}

Ast *ast_alias_all(Parser *p, Token star) {
  return AST_MAKE(p, Alias, star.span, str_intern("*"), NULL);
}

Ast *ast_import(Parser *p, Token t, AstVec names) { return AST_MAKE(p, Import, from(p, t), names); }

Ast *ast_import_from(Parser *p, Token t, int level, const TokenVec *module, AstVec names) {
  Span span = from(p, t);
  if (!module && !level) {
    parse_error(p, E0109, span, "expected a module name after 'from', found 'import'");
    return ast_error(p, span);
  }
  return AST_MAKE(p, ImportFrom, span, level, module ? join_dotted(p, module) : NULL, names);
}

/* ---- branches and loops ---- */

/* A clause of a chain; ast_if finishes it. */
Ast *ast_elif(Parser *p, Token t, Ast *cond, AstVec body) {
  return &AST_NEW(p, If, .ast = {.kind = AST_KIND_If, .span = from(p, t)}, cond, body)->ast;
}

/* Hangs each clause of the chain into the one before it, from the last on. */
Ast *ast_if(Parser *p, Token t, Ast *cond, AstVec body, AstVec elifs, AstVec orelse) {
  for (int i = elifs.len - 1; i >= 0; i--) {
    AstIf *clause = AST_AS(If, elifs.at[i]);
    clause->orelse = orelse;
    clause->ast.span.hi = p->last;
    orelse = ast_one(p, ast_finish(p, &clause->ast));
  }
  return AST_MAKE(p, If, from(p, t), cond, body, orelse);
}

Ast *ast_while(Parser *p, Token t, Ast *cond, AstVec body, AstVec orelse) {
  return AST_MAKE(p, While, from(p, t), cond, body, orelse);
}

Ast *ast_for(Parser *p, Token t, Ast *target, Ast *iter, AstVec body, AstVec orelse) {
  return AST_MAKE(p, For, from(p, t), target, iter, body, orelse);
}

/* ---- try, with ---- */

static bool handlers_check(const AstVec *handlers) {
  for (int i = 0; i + 1 < handlers->len; i++) {
    const Ast *h = handlers->at[i];
    if (h->kind != AST_KIND_Handler || AST_AS(Handler, h)->type) continue;
    Span word = {h->span.lo, h->span.lo + 6};
    diag_fault(E0123, word, "an 'except' without a type must be the last one");
    return false;
  }
  return true;
}

/* Called when the next line has begun: reports here are not of that line, so not by parse_error. */
Ast *ast_try(Parser *p, Token t, AstVec body, AstVec handlers, AstVec orelse, AstVec finally) {
  Span span = from(p, t);
  if (!handlers.len && (!finally.len || orelse.len)) {
    diag_fault(E0123, t.span, "expected 'except'%s after the 'try' block",
               orelse.len ? "" : " or 'finally'");
    return ast_error(p, span);
  }
  if (!handlers_check(&handlers)) return ast_error(p, span);
  return AST_MAKE(p, Try, span, body, handlers, orelse, finally);
}

Ast *ast_handler(Parser *p, Token t, Ast *type, const Token *name, AstVec body) {
  return AST_MAKE(p, Handler, from(p, t), type, name ? parse_name(p, *name) : NULL, body);
}

Ast *ast_with(Parser *p, Token t, AstVec items, AstVec body) {
  return AST_MAKE(p, With, from(p, t), items, body);
}

Ast *ast_with_item(Parser *p, Ast *context, Ast *target) {
  Span span = {context->span.lo, p->last};
  return AST_MAKE(p, WithItem, span, context, target ? ast_target(p, target) : NULL);
}

/* ---- definitions ---- */

/* The statement begins at its first decorator. */
Ast *ast_decorate(Parser *p, AstVec decorators, Ast *definition) {
  definition->span.lo = decorators.at[0]->span.lo;
  if (definition->kind == AST_KIND_Def) AST_AS(Def, definition)->decorators = decorators;
  else if (definition->kind == AST_KIND_Class) AST_AS(Class, definition)->decorators = decorators;
  else return definition;
  bool yields = definition->yields;
  Ast *done = ast_finish(p, definition);
  done->yields = yields;
  return done;
}

Ast *ast_def(Parser *p, Token t, Token name, AstVec type_params, AstVec params, Ast *result,
             AstVec body) {
  bool generator = false;
  for each (Ast *, s, &body) generator |= (*s)->yields;
  Ast *def = AST_MAKE(p, Def, from(p, t), .name = parse_name(p, name), .name_span = name.span,
                      .type_params = type_params, .params = params, .result = result, .body = body,
                      .generator = generator);
  def->yields = false;
  return def;
}

Ast *ast_class(Parser *p, Token t, Token name, AstVec bases, AstVec body) {
  return AST_MAKE(p, Class, from(p, t), .name = parse_name(p, name), .name_span = name.span,
                  .bases = bases, .body = body);
}
