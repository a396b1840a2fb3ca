/* target.c -- checks of shape that the grammar leaves open: what may be assigned to, the order of
 * parameters and of arguments. */
#include "parser/parser_impl.h"
#include "ir/support/map.h"

/* ---- targets ---- */

static const char *phrase(const Ast *e) {
  switch ((AstKind)e->kind) {
  case AST_KIND_Int:
  case AST_KIND_Float:
  case AST_KIND_Str: return "a literal";
  case AST_KIND_FString: return "an f-string";
  case AST_KIND_None: return "None";
  case AST_KIND_Bool: return AST_AS(Bool, e)->value ? "True" : "False";
  case AST_KIND_Ellipsis: return "'...'";
  case AST_KIND_Call: return "a call";
  case AST_KIND_Compare: return "a comparison";
  case AST_KIND_IfExp: return "a conditional expression";
  case AST_KIND_Lambda: return "a lambda";
  case AST_KIND_NamedExpr: return "an assignment expression";
  case AST_KIND_Yield: return "a yield expression";
  case AST_KIND_Set: return "a set";
  case AST_KIND_Dict: return "a dict";
  case AST_KIND_Tuple: return "a tuple";
  case AST_KIND_List: return "a list";
  case AST_KIND_Starred: return "a starred expression";
  case AST_KIND_Comprehension:
    return AST_AS(Comprehension, e)->display == AST_GENERATOR ? "a generator expression"
                                                              : "a comprehension";
  default: return "an expression";
  }
}

static bool refuse(Parser *p, const Ast *e, TargetUse use) {
  static const char *const verbs[] = {"assign to", "use augmented assignment on", "annotate",
                                      "delete"};
  Diag *d = parse_error(p, E0116, e->span, "cannot %s %s", verbs[use], phrase(e));
  if (d && use == TARGET_ASSIGN && e->kind == AST_KIND_Compare) diag_help(d, "write '=' to assign");
  return false;
}

static bool list_check(Parser *p, const AstVec *items, TargetUse use);

/* `starred`: a starred target may stand here. */
static bool one_check(Parser *p, const Ast *e, TargetUse use, bool starred) {
  if (ast_is_poison(e)) return true; /* reported; its statement will be an Error */
  bool several = use == TARGET_ASSIGN || use == TARGET_DELETE;
  switch ((AstKind)e->kind) {
  case AST_KIND_Name:
  case AST_KIND_Attribute:
  case AST_KIND_Subscript: return true;
  case AST_KIND_Tuple:
    return several ? list_check(p, &AST_AS(Tuple, e)->items, use) : refuse(p, e, use);
  case AST_KIND_List:
    return several ? list_check(p, &AST_AS(List, e)->items, use) : refuse(p, e, use);
  case AST_KIND_Starred:
    if (!starred || use != TARGET_ASSIGN) return refuse(p, e, use);
    return one_check(p, AST_AS(Starred, e)->value, use, false);
  default: return refuse(p, e, use);
  }
}

static bool list_check(Parser *p, const AstVec *items, TargetUse use) {
  const Ast *star = NULL;
  for each (Ast *, e, items) {
    if (!one_check(p, *e, use, true)) return false;
    if ((*e)->kind != AST_KIND_Starred) continue;
    if (star) {
      Diag *d =
          parse_error(p, E0116, (*e)->span, "only one starred target may be in an assignment");
      if (d) diag_note(d, star->span, "the first one");
      return false;
    }
    star = *e;
  }
  return true;
}

bool target_check(Parser *p, const Ast *e, TargetUse use) { return one_check(p, e, use, false); }

/* ---- parameters ---- */

typedef struct ParamOrder {
  const AstParam *star, *double_star, *defaulted;
  bool slash, bare; /* `bare`: a bare "*" still lacks its keyword-only parameter */
  int count;
  Map names;
} ParamOrder;

static bool fault(Parser *p, const AstParam *a, const char *text) {
  parse_error(p, E0117, a->ast.span, "%s", text);
  return false;
}

static bool named_check(Parser *p, ParamOrder *o, AstParam *a) {
  if (map_has(&o->names, a->name)) {
    parse_error(p, E0117, a->ast.span, "parameter '%s' is there twice", a->name);
    return false;
  }
  map_set(&o->names, a->name, a);
  if (a->kind != PARAM_PLAIN) return true;
  if (o->star) a->kind = PARAM_KEYWORD_ONLY;
  else if (a->value) o->defaulted = a;
  else if (o->defaulted)
    return fault(p, a, "a parameter without default follows one with a default");
  o->bare = false;
  return true;
}

static bool param_check(Parser *p, ParamOrder *o, AstParam *a) {
  if (o->double_star) return fault(p, a, "no parameter may follow '**'");
  if (a->name && !named_check(p, o, a)) return false;
  switch (a->kind) {
  case PARAM_SLASH:
    if (o->slash) return fault(p, a, "only one '/' may be among the parameters");
    if (o->star) return fault(p, a, "'/' must come before '*'");
    if (!o->count) return fault(p, a, "at least one parameter must come before '/'");
    o->slash = true;
    break;
  case PARAM_STAR:
    if (o->star) return fault(p, a, "only one '*' may be among the parameters");
    o->star = a;
    o->bare = !a->name;
    break;
  case PARAM_DOUBLE_STAR:
    if (o->bare) return fault(p, o->star, "a parameter must follow '*'");
    o->double_star = a;
    break;
  case PARAM_PLAIN:
  case PARAM_KEYWORD_ONLY: break;
  }
  o->count++;
  return true;
}

bool params_check(Parser *p, const AstVec *params) {
  ParamOrder o = {0};
  for each (Ast *, e, params)
    if (!ast_is_poison(*e) && !param_check(p, &o, AST_AS(Param, *e))) return false;
  return o.bare ? fault(p, o.star, "a parameter must follow '*'") : true;
}

/* ---- arguments ---- */

bool args_check(Parser *p, const AstVec *args) {
  const AstKeyword *keyword = NULL, *unpacked = NULL;
  for each (Ast *, e, args) {
    if ((*e)->kind == AST_KIND_Keyword) {
      AstKeyword *k = AST_AS(Keyword, *e);
      if (k->name) keyword = k;
      else unpacked = k;
    } else if (unpacked || (keyword && (*e)->kind != AST_KIND_Starred)) {
      parse_error(p, E0118, (*e)->span, "a positional argument follows %s",
                  unpacked ? "'**'" : "a keyword argument");
      return false;
    }
  }
  return true;
}
