/* views.c -- buffers over pointers that no statement declares: text has a line for each,
 * V = T.Buffer((16,), data=p), as soon as all variables and buffers that it mentions have names. */
#include "ir/print/print.h"

typedef struct View {
  Node *buffer;
  int missing; /* of those without a name yet */
} View;
typedef VEC(View *) ViewVec;

struct Views {
  Map declared; /* buffers that need no line */
  Map waiting;  /* Var or Buffer to a ViewVec * of views that mention it */
  ViewVec ready;
};

static void declare_all(Views *v, NodeVec buffers) {
  for each (Node *, b, &buffers)
    if (*b) map_set(&v->declared, *b, *b);
}

/* ---- what a view waits for ---- */

typedef struct Mentions {
  Views *views;
  View *view;
  Map seen;
} Mentions;

static WalkResult note_mention(Walker *w, Node *n) {
  Mentions *m = w->context;
  if (IS(Let, n)) map_set(&m->seen, AS(Let, n)->var, n); /* its own */
  bool named = IS(Var, n) || (IS(Buffer, n) && n != m->view->buffer);
  if (!named || map_has(&m->seen, n)) return WALK_ON;
  map_set(&m->seen, n, n);
  ViewVec *list = map_get(&m->views->waiting, n);
  if (!list) map_set(&m->views->waiting, n, list = NEW(ViewVec, 0));
  vec_push(list, m->view);
  m->view->missing++;
  return WALK_ON;
}

static void note_view(Views *v, Node *buffer) {
  if (map_has(&v->declared, buffer)) return;
  Mentions m = {.views = v, .view = NEW(View, .buffer = buffer)};
  Walker inner = {.enter = note_mention, .context = &m};
  walk(&inner, buffer);
}

/* ---- one look at the whole body, before it is printed ---- */

typedef struct Survey {
  Printer *p;
  Views *views;
  Map seen;
  NodeVec used; /* buffers, as they are met */
} Survey;

static WalkResult survey(Walker *w, Node *n) {
  Survey *s = w->context;
  switch (n->kind) {
  case NK_Buffer:
    if (map_has(&s->seen, n)) return WALK_PRUNE;
    map_set(&s->seen, n, n);
    vec_push(&s->used, n);
    break;
  case NK_Let:
  case NK_Reduce: s->p->lacks_lets = false; break;
  case NK_Block: declare_all(s->views, AS(Block, n)->alloc_buffers); break;
  case NK_MatchBufferRegion: declare_all(s->views, NODES(AS(MatchBufferRegion, n)->buffer)); break;
  case NK_DeclBuffer: declare_all(s->views, NODES(AS(DeclBuffer, n)->buffer)); break;
  default: break;
  }
  s->p->is_today = s->p->is_today || needs_today(s->p, n);
  return WALK_ON;
}

static WalkResult find_let(Walker *w, Node *n) {
  (void)w;
  return IS(Let, n) || IS(Reduce, n) ? WALK_STOP : WALK_ON;
}

void survey_function(Printer *p, PrimFunc *f) {
  Survey s = {.p = p, .views = NEW(Views, .declared = {0})};
  Walker w = {.enter = survey, .context = &s};
  declare_all(s.views, f->buffers);
  p->is_today = false;
  p->lacks_lets = true;
  walk(&w, f->body);
  Walker lets = {.enter = find_let};
  for each (Node *, b, &f->buffers) p->lacks_lets = walk(&lets, *b) && p->lacks_lets;
  for each (Node *, b, &s.used) note_view(s.views, *b);
  p->views = s.views;
}

void views_note_name(Views *v, Node *var) {
  ViewVec *list = v ? map_get(&v->waiting, var) : NULL;
  if (!list) return;
  for each (View *, view, list)
    if (--(*view)->missing == 0) vec_push(&v->ready, *view);
}

void views_note_end(Views *v, Node *var) {
  ViewVec *list = v ? map_get(&v->waiting, var) : NULL;
  if (!list) return;
  for each (View *, view, list) (*view)->missing++;
}

void print_views(Printer *p) {
  Views *v = p->views;
  if (!v) return;
  for (int i = 0; i < v->ready.len; i++) { /* a line may make others ready */
    View *view = v->ready.at[i];
    if (!view->missing && !map_has(&p->names, view->buffer))
      print_buffer_line(p, "T.Buffer", AS(Buffer, view->buffer), NULL, true);
  }
  v->ready.len = 0;
}
