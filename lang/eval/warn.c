/* warn.c -- warnings: names that nothing reads or that hide others, statements that do nothing.
 *
 * One walk over the tree. A name counts as read wherever it stands but as the target of an
 * assignment, a loop or an import, so a warning about what is unused is never wrong about code that
 * the walk does not understand. */
#include "lang/eval/warn.h"
#include "ir/support/diag.h"
#include "ir/support/map.h"
#include "lang/eval/eval.h"

/* ---- the names that a subtree reads ---- */

static void note_read(void *context, Ast *node);

static void note_all(Map *reads, const AstVec *nodes) {
  for each (Ast *, n, nodes)
    if (*n) note_read(reads, *n);
}

/* A name that is assigned is not read; of a[i] and a.b both are. */
static void note_target(Map *reads, Ast *target) {
  switch (target->kind) {
  case AST_KIND_Name: return;
  case AST_KIND_Starred: note_target(reads, AST_AS(Starred, target)->value); return;
  case AST_KIND_Tuple:
    for each (Ast *, t, &AST_AS(Tuple, target)->items) note_target(reads, *t);
    return;
  case AST_KIND_List:
    for each (Ast *, t, &AST_AS(List, target)->items) note_target(reads, *t);
    return;
  default: note_read(reads, target);
  }
}

static void note_read(void *context, Ast *node) {
  Map *reads = context;
  switch (node->kind) {
  case AST_KIND_Name: map_set(reads, AST_AS(Name, node)->name, node); return;
  case AST_KIND_Assign:
    for each (Ast *, t, &AST_AS(Assign, node)->targets) note_target(reads, *t);
    note_read(reads, AST_AS(Assign, node)->value);
    return;
  case AST_KIND_AnnAssign:
    note_target(reads, AST_AS(AnnAssign, node)->target);
    note_read(reads, AST_AS(AnnAssign, node)->annotation);
    if (AST_AS(AnnAssign, node)->value) note_read(reads, AST_AS(AnnAssign, node)->value);
    return;
  case AST_KIND_For:
    note_target(reads, AST_AS(For, node)->target);
    note_read(reads, AST_AS(For, node)->iter);
    note_all(reads, &AST_AS(For, node)->body);
    note_all(reads, &AST_AS(For, node)->orelse);
    return;
  case AST_KIND_CompFor:
    note_target(reads, AST_AS(CompFor, node)->target);
    note_read(reads, AST_AS(CompFor, node)->iter);
    note_all(reads, &AST_AS(CompFor, node)->conds);
    return;
  case AST_KIND_WithItem:
    note_read(reads, AST_AS(WithItem, node)->context);
    if (AST_AS(WithItem, node)->target) note_target(reads, AST_AS(WithItem, node)->target);
    return;
  default: ast_each_child(node, note_read, reads);
  }
}

/* ---- names that are bound ---- */

static bool is_plain(const char *name) { return name && name[0] != '_'; }

/* Warns of names that statements of a function bind and `reads` has not. */
typedef struct Binds {
  Map *reads;
  Map told;
} Binds;

static void check_bound(Binds *b, Ast *target) {
  if (target->kind != AST_KIND_Name) return; /* of a tuple some items are seldom of interest */
  const char *name = AST_AS(Name, target)->name;
  if (!is_plain(name) || map_has(b->reads, name) || map_has(&b->told, name)) return;
  map_set(&b->told, name, target);
  diag_warning(W0101, target->span, "'%s' is assigned, but never used", name);
}

/* n = T.int64(): a dim that the signature names in quotes. */
static bool declares_dim(Ast *value) {
  return value->kind == AST_KIND_Call && !AST_AS(Call, value)->args.len &&
         AST_AS(Call, value)->func->kind == AST_KIND_Attribute;
}

static void check_binds(void *context, Ast *node) {
  Binds *b = context;
  switch (node->kind) {
  case AST_KIND_Def:
  case AST_KIND_Class:
  case AST_KIND_Lambda: return; /* functions of their own */
  case AST_KIND_Assign:
    if (declares_dim(AST_AS(Assign, node)->value)) return;
    for each (Ast *, t, &AST_AS(Assign, node)->targets) check_bound(b, *t);
    return;
  case AST_KIND_AnnAssign:
    if (AST_AS(AnnAssign, node)->value) check_bound(b, AST_AS(AnnAssign, node)->target);
    return;
  default: ast_each_child(node, check_binds, b);
  }
}

static void check_hides_builtin(const char *name, Span span) {
  if (is_plain(name) && env_find(env_builtins(), name))
    diag_warning(W0103, span, "'%s' hides the builtin of that name", name);
}

/* ---- functions ---- */

static bool is_stub(const AstVec *body) {
  for each (Ast *, s, body) {
    bool text =
        (*s)->kind == AST_KIND_ExprStmt && (AST_AS(ExprStmt, *s)->value->kind == AST_KIND_Str ||
                                            AST_AS(ExprStmt, *s)->value->kind == AST_KIND_Ellipsis);
    if (!text && (*s)->kind != AST_KIND_Pass && (*s)->kind != AST_KIND_Raise) return false;
  }
  return true;
}

static void check_param(AstParam *p, bool may_be_unused, Map *reads) {
  Ast *value = p->value;
  bool mutable = value && (value->kind == AST_KIND_List || value->kind == AST_KIND_Dict ||
                           value->kind == AST_KIND_Set);
  if (mutable) diag_warning(W0108, value->span, "all calls share this default of '%s'", p->name);
  check_hides_builtin(p->name, p->ast.span);
  if (!may_be_unused && is_plain(p->name) && !map_has(reads, p->name))
    diag_warning(W0105, p->ast.span, "parameter '%s' is never used", p->name);
}

static void check_function(AstDef *def, bool is_method) {
  Map reads = {0};
  note_all(&reads, &def->body);
  note_all(&reads, &def->params);
  bool any = is_method || def->decorators.len || is_stub(&def->body);
  for each (Ast *, p, &def->params) check_param(AST_AS(Param, *p), any, &reads);
  Binds b = {.reads = &reads};
  for each (Ast *, s, &def->body) check_binds(&b, *s);
}

/* ---- buffers of tensor programs ---- */

/* A call T.alloc_buffer(...) and the like; its first argument, or NULL. */
static bool declares_buffer(Ast *value, Ast **first) {
  static const char *const names[] = {"alloc_buffer", "sblock_alloc_buffer", "match_buffer",
                                      "decl_buffer", "Buffer"};
  if (value->kind != AST_KIND_Call) return false;
  AstCall *call = AST_AS(Call, value);
  if (call->func->kind != AST_KIND_Attribute) return false;
  *first = call->args.len ? call->args.at[0] : NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(AST_AS(Attribute, call->func)->name, names[i]) == 0) return true;
  return false;
}

/* `seen`: buffers and parameters of this suite and of those around it. */
static void check_buffers(const AstVec *suite, const Map *around) {
  Map seen = {0};
  for (int i = 0; i < around->len; i++)
    if (around->at[i].key) map_set(&seen, around->at[i].key, around->at[i].value);
  for each (Ast *, s, suite) {
    Ast *target = (*s)->kind == AST_KIND_Assign ? AST_AS(Assign, *s)->targets.at[0] : NULL, *first;
    if (target && target->kind == AST_KIND_Name &&
        declares_buffer(AST_AS(Assign, *s)->value, &first)) {
      const char *name = AST_AS(Name, target)->name;
      bool itself = first && first->kind == AST_KIND_Name && AST_AS(Name, first)->name == name;
      Ast *old = itself ? NULL : map_get(&seen, name);
      Diag *d =
          old ? diag_warning(W0104, target->span, "'%s' hides another of that name", name) : NULL;
      if (d) diag_note(d, old->span, "the other is here");
      map_set(&seen, name, target);
    }
    switch ((*s)->kind) {
    case AST_KIND_For: check_buffers(&AST_AS(For, *s)->body, &seen); break;
    case AST_KIND_While: check_buffers(&AST_AS(While, *s)->body, &seen); break;
    case AST_KIND_With: check_buffers(&AST_AS(With, *s)->body, &seen); break;
    case AST_KIND_If:
      check_buffers(&AST_AS(If, *s)->body, &seen);
      check_buffers(&AST_AS(If, *s)->orelse, &seen);
      break;
    default: break;
    }
  }
}

static bool is_prim_func(const AstDef *def) {
  for each (Ast *, d, &def->decorators) {
    Ast *name = (*d)->kind == AST_KIND_Call ? AST_AS(Call, *d)->func : *d;
    if (name->kind == AST_KIND_Attribute && strcmp(AST_AS(Attribute, name)->name, "prim_func") == 0)
      return true;
  }
  return false;
}

static void check_prim_func(AstDef *def) {
  Map params = {0};
  for each (Ast *, p, &def->params)
    if (AST_AS(Param, *p)->name) map_set(&params, AST_AS(Param, *p)->name, *p);
  check_buffers(&def->body, &params);
}

/* ---- suites ---- */

static bool leaves(const Ast *s) {
  return s->kind == AST_KIND_Return || s->kind == AST_KIND_Raise || s->kind == AST_KIND_Break ||
         s->kind == AST_KIND_Continue;
}

static void check_reached(const AstVec *suite) {
  for (int i = 0; i + 1 < suite->len; i++) {
    Ast *next = suite->at[i + 1];
    if (!leaves(suite->at[i]) || next->yields) continue; /* a yield makes a generator of it */
    Diag *d = diag_warning(W0106, next->span, "this statement is never reached");
    if (d) diag_note(d, suite->at[i]->span, "the suite is left here");
    return;
  }
}

static void forget_reads(Map *names, Ast *statement) {
  Map reads = {0};
  note_read(&reads, statement);
  for (int i = 0; i < reads.len; i++)
    if (reads.at[i].key) map_remove(names, reads.at[i].key);
}

/* Of two functions of one name without a decorator, with nothing between them that reads it. */
static void check_redefined(const AstVec *suite) {
  Map last = {0};
  for each (Ast *, s, suite) {
    AstDef *def = (*s)->kind == AST_KIND_Def ? AST_AS(Def, *s) : NULL;
    if (def && !def->decorators.len) {
      AstDef *old = map_get(&last, def->name);
      Diag *d = old ? diag_warning(W0109, def->name_span, "'%s' is defined a second time, unused",
                                   def->name)
                    : NULL;
      if (d) diag_note(d, old->name_span, "the first one is here");
    }
    if (last.live) forget_reads(&last, *s);
    if (def && !def->decorators.len) map_set(&last, def->name, def);
  }
}

static void check_suite(const AstVec *suite) {
  check_reached(suite);
  check_redefined(suite);
}

/* ---- expressions ---- */

static bool same_literal(const Ast *a, const Ast *b) {
  if (a->kind != b->kind) return false;
  if (a->kind == AST_KIND_Int) return AST_AS(Int, a)->value == AST_AS(Int, b)->value;
  if (a->kind != AST_KIND_Str) return false;
  const AstStr *s = AST_AS(Str, a), *t = AST_AS(Str, b);
  return s->len == t->len && s->bytes == t->bytes && memcmp(s->text, t->text, s->len) == 0;
}

static void check_keys(AstDict *d) {
  Map texts = {0};
  for (int i = 0; i < d->keys.len; i++) {
    Ast *key = d->keys.at[i];
    if (!key || (key->kind != AST_KIND_Str && key->kind != AST_KIND_Int)) continue;
    const char *text = key->kind == AST_KIND_Str
                           ? str_intern_n(AST_AS(Str, key)->text, AST_AS(Str, key)->len)
                           : str_intern(str_format("%lu", AST_AS(Int, key)->value));
    Ast *old = map_get(&texts, text);
    map_set(&texts, text, key);
    if (!old || !same_literal(old, key)) continue;
    Diag *w = diag_warning(W0107, key->span, "the dict has this key already");
    if (w) diag_note(w, old->span, "the value here is lost");
  }
}

static void check_compare(AstCompare *c) {
  for (int i = 0; i < c->ops.len; i++) {
    AstKind kind = c->rights.at[i]->kind;
    if ((c->ops.at[i] == AST_IS || c->ops.at[i] == AST_IS_NOT) &&
        (kind == AST_KIND_Int || kind == AST_KIND_Str || kind == AST_KIND_Float))
      diag_warning(W0111, c->rights.at[i]->span, "'%s' with a literal: write '%s'",
                   ast_op_text(c->ops.at[i]), c->ops.at[i] == AST_IS ? "==" : "!=");
  }
}

/* ---- the walk ---- */

typedef struct Walk {
  const AstModule *tree;
  Map *reads;    /* names that the whole text reads, noted when first asked for */
  bool in_class; /* directly */
} Walk;

static void visit(void *context, Ast *node);

static void visit_children(Walk *w, Ast *node, bool in_class) {
  Walk inner = {.tree = w->tree, .reads = w->reads, .in_class = in_class};
  ast_each_child(node, visit, &inner);
}

static void check_imports(Walk *w, const AstVec *names) {
  if (!w->reads->live) note_all(w->reads, &w->tree->body);
  for each (Ast *, n, names) {
    AstAlias *a = AST_AS(Alias, *n);
    const char *name = a->as ? a->as : str_intern_n(a->name, strcspn(a->name, "."));
    if (is_plain(name) && strcmp(name, "*") != 0 && !map_has(w->reads, name))
      diag_warning(W0102, a->ast.span, "'%s' is imported, but never used", name);
  }
}

static void visit(void *context, Ast *node) {
  Walk *w = context;
  switch (node->kind) {
  case AST_KIND_Def:
    check_function(AST_AS(Def, node), w->in_class);
    if (is_prim_func(AST_AS(Def, node))) check_prim_func(AST_AS(Def, node));
    if (!w->in_class) check_hides_builtin(AST_AS(Def, node)->name, AST_AS(Def, node)->name_span);
    check_suite(&AST_AS(Def, node)->body);
    break;
  case AST_KIND_Class:
    check_suite(&AST_AS(Class, node)->body);
    visit_children(w, node, true);
    return;
  case AST_KIND_If:
    check_suite(&AST_AS(If, node)->body);
    check_suite(&AST_AS(If, node)->orelse);
    break;
  case AST_KIND_For: check_suite(&AST_AS(For, node)->body); break;
  case AST_KIND_While: check_suite(&AST_AS(While, node)->body); break;
  case AST_KIND_With: check_suite(&AST_AS(With, node)->body); break;
  case AST_KIND_Try: check_suite(&AST_AS(Try, node)->body); break;
  case AST_KIND_Import: check_imports(w, &AST_AS(Import, node)->names); break;
  case AST_KIND_ImportFrom:
    if (!str_same(AST_AS(ImportFrom, node)->module, "__future__"))
      check_imports(w, &AST_AS(ImportFrom, node)->names);
    break;
  case AST_KIND_Assert: {
    Ast *cond = AST_AS(Assert, node)->cond;
    if (cond->kind == AST_KIND_Tuple && AST_AS(Tuple, cond)->items.len)
      diag_warning(W0110, cond->span, "a tuple is always true: write assert condition, message");
    break;
  }
  case AST_KIND_Dict: check_keys(AST_AS(Dict, node)); break;
  case AST_KIND_Compare: check_compare(AST_AS(Compare, node)); break;
  default: break;
  }
  visit_children(w, node, false);
}

void warn_about(const AstModule *tree) {
  Map reads = {0};
  Walk w = {.tree = tree, .reads = &reads};
  check_suite(&tree->body);
  for each (Ast *, s, &tree->body) visit(&w, *s);
}
