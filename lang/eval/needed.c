/* needed.c -- the slice of a script that its decorated definitions depend on.
 *
 * A name that a definition uses and does not bind itself is needed where it stands; so the last
 * statements before that which assign it, or call a method of it (weights.append(w)), are needed,
 * with the names that they use. What a function of the script uses is needed where the function
 * is. Calls of methods of imported modules change no value of the script, but for seeds. */
#include "lang/eval/needed.h"
#include "ir/support/map.h"

typedef struct Slice {
  const AstVec *statements;
  bool *wanted;
  Map last; /* name to 1 + the last statement that needs it */
  Map made; /* names that statements assign, but for those that imports and definitions bind */
  bool changed;
} Slice;

/* ---- names that a subtree uses and does not bind ---- */

typedef struct Uses {
  Map read, bound;
} Uses;

static void note_bound(Uses *u, const char *name) { map_set(&u->bound, name, (void *)1); }

static void note_target(Uses *u, Ast *t) {
  if (!t) return;
  if (t->kind == AST_KIND_Name) note_bound(u, AST_AS(Name, t)->name);
  else if (t->kind == AST_KIND_Starred) note_target(u, AST_AS(Starred, t)->value);
  else if (t->kind == AST_KIND_Tuple)
    for each (Ast *, x, &AST_AS(Tuple, t)->items) note_target(u, *x);
  else if (t->kind == AST_KIND_List)
    for each (Ast *, x, &AST_AS(List, t)->items) note_target(u, *x);
}

static void note_use(void *context, Ast *n) {
  Uses *u = context;
  switch (n->kind) {
  case AST_KIND_Name: map_set(&u->read, AST_AS(Name, n)->name, n); return;
  case AST_KIND_Assign:
    for each (Ast *, t, &AST_AS(Assign, n)->targets) note_target(u, *t);
    break;
  case AST_KIND_AnnAssign: note_target(u, AST_AS(AnnAssign, n)->target); break;
  case AST_KIND_NamedExpr: note_target(u, AST_AS(NamedExpr, n)->target); break;
  case AST_KIND_For: note_target(u, AST_AS(For, n)->target); break;
  case AST_KIND_CompFor: note_target(u, AST_AS(CompFor, n)->target); break;
  case AST_KIND_WithItem: note_target(u, AST_AS(WithItem, n)->target); break;
  case AST_KIND_Param:
    if (AST_AS(Param, n)->name) note_bound(u, AST_AS(Param, n)->name);
    break;
  case AST_KIND_Def: note_bound(u, AST_AS(Def, n)->name); break;
  case AST_KIND_Class: note_bound(u, AST_AS(Class, n)->name); break;
  default: break;
  }
  ast_each_child(n, note_use, u);
}

/* ---- what a statement makes or changes ---- */

static const char *root_name(Ast *e) {
  while (e->kind == AST_KIND_Attribute || e->kind == AST_KIND_Subscript)
    e = e->kind == AST_KIND_Attribute ? AST_AS(Attribute, e)->value : AST_AS(Subscript, e)->value;
  return e->kind == AST_KIND_Name ? AST_AS(Name, e)->name : NULL;
}

typedef struct Makes {
  Slice *slice;
  int at; /* the statement */
  bool needed;
} Makes;

static int last_need(const Slice *s, const char *name) {
  return (int)(intptr_t)map_get(&s->last, name) - 1;
}

static void made(Makes *m, const char *name) {
  if (name && last_need(m->slice, name) > m->at) m->needed = true;
}

static void made_target(Makes *m, Ast *t) {
  if (t->kind == AST_KIND_Tuple)
    for each (Ast *, x, &AST_AS(Tuple, t)->items) made_target(m, *x);
  else if (t->kind == AST_KIND_List)
    for each (Ast *, x, &AST_AS(List, t)->items) made_target(m, *x);
  else made(m, root_name(t->kind == AST_KIND_Starred ? AST_AS(Starred, t)->value : t));
}

/* weights.append(w), np.random.seed(0) */
static void made_by_call(Makes *m, Ast *call) {
  if (call->kind != AST_KIND_Call || AST_AS(Call, call)->func->kind != AST_KIND_Attribute) return;
  AstAttribute *method = AST_AS(Attribute, AST_AS(Call, call)->func);
  const char *root = root_name(method->value);
  bool changes = root && map_has(&m->slice->made, root);
  if (changes || (root && strcmp(method->name, "seed") == 0)) made(m, root);
}

static void made_by(void *context, Ast *n) {
  Makes *m = context;
  switch (n->kind) {
  case AST_KIND_Assign:
    for each (Ast *, t, &AST_AS(Assign, n)->targets) made_target(m, *t);
    return;
  case AST_KIND_AugAssign: made_target(m, AST_AS(AugAssign, n)->target); return;
  case AST_KIND_AnnAssign:
    if (AST_AS(AnnAssign, n)->value) made_target(m, AST_AS(AnnAssign, n)->target);
    return;
  case AST_KIND_ExprStmt: made_by_call(m, AST_AS(ExprStmt, n)->value); return;
  case AST_KIND_Def: made(m, AST_AS(Def, n)->name); return;
  case AST_KIND_Class: made(m, AST_AS(Class, n)->name); return;
  case AST_KIND_For: made_target(m, AST_AS(For, n)->target); break;
  default: break;
  }
  ast_each_child(n, made_by, m);
}

/* ---- the slice ---- */

static void need_uses(Slice *s, Ast *statement, int at) {
  Uses u = {0};
  note_use(&u, statement);
  bool is_own = statement->kind == AST_KIND_Def || statement->kind == AST_KIND_Class;
  for (int i = 0; i < u.read.len; i++) {
    const char *name = u.read.at[i].key;
    if (!name || (is_own && map_has(&u.bound, name)) || last_need(s, name) >= at) continue;
    map_set(&s->last, name, (void *)(intptr_t)(at + 1));
    s->changed = true;
  }
}

static bool is_decorated(Ast *s) {
  return (s->kind == AST_KIND_Def && AST_AS(Def, s)->decorators.len) ||
         (s->kind == AST_KIND_Class && AST_AS(Class, s)->decorators.len);
}

/* if __name__ == "__main__": is what runs, not what defines. */
static bool is_main(Ast *s) {
  Uses u = {0};
  if (s->kind == AST_KIND_If) note_use(&u, AST_AS(If, s)->cond);
  for (int i = 0; i < u.read.len; i++)
    if (u.read.at[i].key && strcmp(u.read.at[i].key, "__name__") == 0) return true;
  return false;
}

static void note_made(Slice *s) {
  for each (Ast *, statement, s->statements) {
    if ((*statement)->kind == AST_KIND_Def || (*statement)->kind == AST_KIND_Class) continue;
    Uses u = {0};
    note_use(&u, *statement);
    for (int i = 0; i < u.bound.len; i++)
      if (u.bound.at[i].key) map_set(&s->made, u.bound.at[i].key, (void *)1);
  }
}

void needed_statements(const AstVec *statements, bool *wanted) {
  Slice s = {.statements = statements, .wanted = wanted};
  bool all = true;
  for (int i = 0; i < statements->len; i++) all &= wanted[i];
  if (all) return;
  note_made(&s);
  for (int i = 0; i < statements->len; i++)
    if (is_decorated(statements->at[i])) need_uses(&s, statements->at[i], i);
  for (s.changed = true; s.changed;) {
    s.changed = false;
    for (int i = statements->len - 1; i >= 0; i--) {
      Ast *n = statements->at[i];
      Makes m = {.slice = &s, .at = i};
      if (is_decorated(n) || is_main(n)) continue;
      made_by(&m, n);
      if (!m.needed) continue;
      wanted[i] = true;
      /* What a function uses is needed where it is called. */
      bool is_def = n->kind == AST_KIND_Def || n->kind == AST_KIND_Class;
      const char *name = n->kind == AST_KIND_Def     ? AST_AS(Def, n)->name
                         : n->kind == AST_KIND_Class ? AST_AS(Class, n)->name
                                                     : NULL;
      need_uses(&s, n, is_def ? last_need(&s, name) : i);
    }
  }
}
