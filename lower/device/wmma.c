/* wmma.c -- see wmma.h. */
#include "lower/device/wmma.h"

typedef struct Finder {
  const char *kernel;
  Map *found;
} Finder;

static char matrix_of_scope(const char *scope) {
  const char *kind = scope && str_begins(scope, "wmma.") ? scope + strlen("wmma.") : "";
  return str_same(kind, "matrix_a")      ? 'a'
         : str_same(kind, "matrix_b")    ? 'b'
         : str_same(kind, "accumulator") ? 'c'
                                         : '\0';
}

static void note_shape(Finder *c, Call *n, WmmaFragment *f) {
  int64_t dims[3];
  for (int i = 0; i < 3; i++)
    if (!expr_is_const_int(n->args.at[1 + i], &dims[i]))
      error_raisef("LowerError", n->node.span, "kernel %s: the shape of a matrix must be constants",
                   c->kernel);
  bool same = !f->m || (f->m == dims[0] && f->n == dims[1] && f->k == dims[2]);
  if (!same)
    error_raisef("LowerError", n->node.span,
                 "kernel %s: '%s' holds matrices of %d x %d x %d, but a call takes them for %lld x "
                 "%lld x %lld",
                 c->kernel, AS(Var, n->args.at[0])->name, f->m, f->n, f->k, (long long)dims[0],
                 (long long)dims[1], (long long)dims[2]);
  f->m = (int)dims[0], f->n = (int)dims[1], f->k = (int)dims[2];
}

static void note_layout(Finder *c, Call *n, WmmaFragment *f) {
  Node *arg = n->args.at[7];
  const char *layout = IS(StringImm, arg) ? AS(StringImm, arg)->value : "";
  if (!str_same(layout, "row_major") && !str_same(layout, "col_major"))
    error_raisef("LowerError", n->node.span,
                 "kernel %s: a matrix is loaded \"row_major\" or \"col_major\", not %s", c->kernel,
                 ir_print(arg, NULL));
  if (f->layout && !str_same(f->layout, layout))
    error_raisef("LowerError", n->node.span,
                 "kernel %s: '%s' is loaded by rows and by columns: give each its own memory",
                 c->kernel, AS(Var, n->args.at[0])->name);
  f->layout = str_intern(layout);
}

static WmmaFragment *fragment_at(Finder *c, Node *pointer) {
  char matrix = IS(Var, pointer) ? matrix_of_scope(AS(Var, pointer)->scope) : '\0';
  if (!matrix) return NULL;
  WmmaFragment *f = map_get(c->found, pointer);
  if (f) return f;
  f = NEW(WmmaFragment, .matrix = matrix);
  map_set(c->found, pointer, f);
  return f;
}

static WalkResult enter(Walker *w, Node *n) {
  Finder *c = w->context;
  bool loads = is_intrin_call(n, "tvm_load_matrix_sync");
  bool tells =
      loads || is_intrin_call(n, "tvm_fill_fragment") || is_intrin_call(n, "tvm_store_matrix_sync");
  if (!tells || AS(Call, n)->args.len < (loads ? 8 : 6)) return WALK_ON;
  WmmaFragment *f = fragment_at(c, AS(Call, n)->args.at[0]);
  if (f) note_shape(c, AS(Call, n), f);
  if (f && loads) note_layout(c, AS(Call, n), f);
  return WALK_ON;
}

void wmma_fragments(const char *kernel, Node *body, Map *out) {
  Finder c = {kernel, out};
  Walker w = {.enter = enter, .context = &c};
  walk(&w, body);
}
