/* report.c -- how well the storage of a planned function is used, as numbers and as a picture. */
#include "lower/memory/report.h"
#include <stdlib.h>

/* ---- numbers ---- */

typedef struct Numbers {
  Map values; /* variables to numbers */
  Analyzer *arith;
  bool typical;
} Numbers;

static int64_t number_of(Numbers *n, Node *e) {
  int64_t value = 0;
  Node *found = arith_simplify(n->arith, substitute(e, &n->values));
  REQUIRE(expr_is_const_int(found, &value), "the number %s", ir_print(found, NULL));
  return value;
}

static WalkResult give_number(Walker *w, Node *n) {
  Numbers *numbers = w->context;
  if (!IS(Var, n) || map_has(&numbers->values, n)) return WALK_ON;
  numbers->typical = true;
  map_set(&numbers->values, n, int_imm(n->dtype, MEMORY_TYPICAL_DIM, n->span));
  return WALK_ON;
}

static void give_numbers(Numbers *n, Function *f) {
  for each (Node *, p, &f->params) {
    NodeVec dims;
    if (!sinfo_tensor_shape(sinfo_of(*p), &dims)) continue;
    for each (Node *, d, &dims) {
      int64_t bound = IS(Var, *d) ? memory_upper_bound(f, AS(Var, *d)->name) : -1;
      if (bound >= 0) map_set(&n->values, *d, int_imm((*d)->dtype, bound, (*d)->span));
    }
  }
  Walker w = {.enter = give_number, .context = n};
  for each (Node *, p, &f->params) walk(&w, sinfo_of(*p));
}

/* ---- reading the plan ---- */

typedef struct Read {
  MemoryUse *use;
  Numbers *numbers;
  const Liveness *live;
  Map storages; /* storages to the bytes of those before + 1: they are drawn one above the other */
} Read;

static void add_placed(Read *r, Node *var, RelaxCall *c) {
  int i = (int)(intptr_t)map_get(&r->live->index, var) - 1;
  REQUIRE(i >= 0, "a root");
  int64_t nbytes = number_of(r->numbers, memory_nbytes(c->sinfo));
  int64_t size = (nbytes + MEMORY_ALIGN - 1) & ~(int64_t)(MEMORY_ALIGN - 1);
  int64_t base = (intptr_t)map_get(&r->storages, c->args.at[0]) - 1;
  PlanItem item = {.life = &r->live->lives.at[i],
                   .size = size ? size : MEMORY_ALIGN,
                   .offset = base + number_of(r->numbers, AS(PrimValue, c->args.at[1])->value)};
  vec_push(&r->use->items, item);
}

static void read_cast(Read *r, MatchCast *m) {
  Walker w = {.enter = give_number, .context = r->numbers};
  bool defines = IS(ShapeExpr, m->value) && IS(ShapeStructInfo, m->sinfo);
  if (!defines) {
    walk(&w, m->sinfo);
    return;
  }
  NodeVec vars = AS(ShapeStructInfo, m->sinfo)->values, values = AS(ShapeExpr, m->value)->values;
  for (int i = 0; i < vars.len; i++)
    map_set(&r->numbers->values, vars.at[i], substitute(values.at[i], &r->numbers->values));
}

static WalkResult read_plan(Walker *w, Node *n) {
  Read *r = w->context;
  if (IS(MatchCast, n)) read_cast(r, AS(MatchCast, n));
  if (!IS(VarBinding, n)) return WALK_ON;
  Node *value = AS(VarBinding, n)->value;
  if (is_op_call(value, "relax.memory.alloc_storage")) {
    map_set(&r->storages, AS(VarBinding, n)->var, (void *)(intptr_t)(r->use->bytes + 1));
    r->use->bytes +=
        number_of(r->numbers, AS(ShapeExpr, AS(RelaxCall, value)->args.at[0])->values.at[0]);
  }
  if (is_op_call(value, "relax.memory.alloc_tensor"))
    add_placed(r, AS(VarBinding, n)->var, AS(RelaxCall, value));
  if (is_op_call(value, "relax.builtin.alloc_tensor")) r->use->unplanned++;
  return WALK_ON;
}

MemoryUse *memory_use(Node *module, const char *name) {
  Node *f = module_find(module, name);
  if (!IS(Function, f)) return NULL;
  Liveness *live = memory_liveness(module, f);
  Numbers n = {.arith = memory_analyzer(AS(Function, f))};
  MemoryUse *use = NEW(MemoryUse, .function = name, .places = live->places);
  give_numbers(&n, AS(Function, f));
  Read r = {.use = use, .numbers = &n, .live = live};
  Walker w = {.enter = read_plan, .context = &r};
  walk(&w, AS(Function, f)->body);
  use->lower_bound = plan_lower_bound(&use->items, use->places);
  use->typical = n.typical;
  return use;
}

/* ---- the picture ---- */

enum { WIDTH = 960, HEIGHT = 480, LEFT = 70, TOP = 30 };

static double x_of(const MemoryUse *u, int place) {
  return LEFT + (double)WIDTH * place / (u->places ? u->places : 1);
}

static double y_of(const MemoryUse *u, int64_t byte) {
  return TOP + HEIGHT - (double)HEIGHT * (double)byte / (double)(u->bytes ? u->bytes : 1);
}

static void add_item(Str *s, const MemoryUse *u, const PlanItem *item, int number) {
  const char *name = AS(RelaxVar, item->life->root)->name;
  for each (const Segment, at, &item->life->segments) {
    double x = x_of(u, at->begin), y = y_of(u, item->offset + item->size);
    str_printf(
        s,
        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"hsl(%d,55%%,70%%)\" "
        "stroke=\"#444\" stroke-width=\"0.4\"><title>%s: %lld bytes at %lld</title></rect>\n",
        x, y, x_of(u, at->end + 1) - x, y_of(u, item->offset) - y, number * 137 % 360, name,
        (long long)item->size, (long long)item->offset);
  }
}

/* The bytes that are live at each place: what no plan can do without. */
static void add_live_line(Str *s, const MemoryUse *u) {
  int64_t *change = NEW_ARRAY(int64_t, u->places + 2), live = 0;
  for each (const PlanItem, item, &u->items)
    for each (const Segment, at, &item->life->segments) {
      change[at->begin] += item->size;
      change[at->end + 1] -= item->size;
    }
  str_add(s, "<polyline fill=\"none\" stroke=\"#c00\" stroke-width=\"1.2\" points=\"");
  for (int i = 0; i <= u->places; i++) {
    live += change[i];
    str_printf(s, "%.1f,%.1f %.1f,%.1f ", x_of(u, i), y_of(u, live), x_of(u, i + 1), y_of(u, live));
  }
  str_add(s, "\"/>\n");
}

const char *memory_use_svg(const MemoryUse *u) {
  Str s = {0};
  str_printf(&s,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
             "font-family=\"sans-serif\" font-size=\"12\">\n"
             "<text x=\"%d\" y=\"18\">%s: storage over time, %lld bytes; live at most %lld (red)"
             "</text>\n"
             "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#f6f6f6\"/>\n",
             WIDTH + LEFT + 20, HEIGHT + TOP + 30, LEFT, u->function, (long long)u->bytes,
             (long long)u->lower_bound, LEFT, TOP, WIDTH, HEIGHT);
  for (int i = 0; i < u->items.len; i++) add_item(&s, u, &u->items.at[i], i);
  add_live_line(&s, u);
  for (int k = 0; k <= 4; k++)
    str_printf(&s, "<text x=\"4\" y=\"%.1f\">%lld</text>\n", y_of(u, u->bytes * k / 4) + 4,
               (long long)(u->bytes * k / 4));
  str_printf(&s, "<text x=\"%d\" y=\"%d\">bindings, in order</text>\n</svg>\n", LEFT,
             HEIGHT + TOP + 20);
  return str_text(&s);
}
