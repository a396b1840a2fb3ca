/* views.c -- buffers over pointers that no statement declares: text has a line for each,
 * V = T.Buffer((16,), data=p), as soon as all variables that it mentions have names. */
#include "ir/print/print.h"

typedef struct View {
  Node *buffer;
  int missing; /* variables without a name yet */
} View;
typedef VEC(View *) ViewVec;

struct Views {
  Map declared; /* buffers that need no line */
  Map waiting;  /* Var to a ViewVec * of views that mention it */
  ViewVec ready;
};

static void declare_all(Views *v, NodeVec buffers) {
  for each (Node *, b, &buffers)
    if (*b) map_set(&v->declared, *b, *b);
}

static WalkResult note_declared(Walker *w, Node *n) {
  Views *v = w->context;
  if (IS(Block, n)) declare_all(v, AS(Block, n)->alloc_buffers);
  if (IS(MatchBufferRegion, n)) declare_all(v, NODES(AS(MatchBufferRegion, n)->buffer));
  if (IS(DeclBuffer, n)) declare_all(v, NODES(AS(DeclBuffer, n)->buffer));
  return WALK_ON;
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
  if (!IS(Var, n) || map_has(&m->seen, n)) return WALK_ON;
  map_set(&m->seen, n, n);
  ViewVec *list = map_get(&m->views->waiting, n);
  if (!list) map_set(&m->views->waiting, n, list = NEW(ViewVec, 0));
  vec_push(list, m->view);
  m->view->missing++;
  return WALK_ON;
}

static WalkResult note_view(Walker *w, Node *n) {
  Views *v = w->context;
  if (!IS(Buffer, n) || map_has(&v->declared, n)) return WALK_ON;
  map_set(&v->declared, n, n);
  Mentions m = {.views = v, .view = NEW(View, .buffer = n)};
  Walker inner = {.enter = note_mention, .context = &m};
  walk(&inner, n);
  return WALK_ON;
}

Views *views_of(PrimFunc *f) {
  Views *v = NEW(Views, .declared = {0});
  declare_all(v, f->buffers);
  Walker first = {.enter = note_declared, .context = v},
         second = {.enter = note_view, .context = v};
  walk(&first, f->body);
  walk(&second, f->body);
  return v;
}

void views_note_name(Views *v, Node *var) {
  ViewVec *list = v && IS(Var, var) ? map_get(&v->waiting, var) : NULL;
  if (!list) return;
  for each (View *, view, list)
    if (--(*view)->missing == 0) vec_push(&v->ready, *view);
}

void views_note_end(Views *v, Node *var) {
  ViewVec *list = v && IS(Var, var) ? map_get(&v->waiting, var) : NULL;
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
