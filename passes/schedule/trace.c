/* trace.c -- the steps of a schedule as a script, and run again on another schedule. */
#include "passes/schedule/schedule_impl.h"

/* ---- as text ---- */

static void add_value(Str *s, Node *n) {
  if (IS(Array, n)) {
    const Array *a = AS(Array, n);
    str_add(s, a->is_tuple ? "(" : "[");
    for (int i = 0; i < a->items.len; i++) {
      str_add(s, i ? ", " : "");
      add_value(s, a->items.at[i]);
    }
    str_add(s, !a->is_tuple ? "]" : a->items.len == 1 ? ",)" : ")");
  } else if (!n) str_add(s, "None");
  else if (IS(Var, n)) str_add(s, AS(Var, n)->name);
  else if (IS(IntImm, n) && dtype_is_bool(n->dtype)) str_add(s, expr_is_one(n) ? "True" : "False");
  else str_add(s, ir_print(n, NULL));
}

/* The parameters of a signature in order: their names, and whether one is "*rest". */
static const char *next_param(const char *at, const char **name, size_t *len, bool *rest) {
  at += strspn(at, ", ");
  if (at[0] == '*' && at[1] == ',') at += strspn(at, "*, "); /* what follows goes by its name */
  if (!*at) return NULL;
  *rest = *at == '*';
  at += *rest;
  *name = at;
  *len = strcspn(at, ",=");
  const char *end = at + *len;
  int depth = 0;
  while (*end && (depth || *end != ',')) {
    depth += (*end == '(') - (*end == ')');
    end++;
  }
  return end;
}

static void add_args(Str *s, const Instruction *i) {
  const char *at = i->primitive->signature, *name;
  size_t len;
  bool rest;
  int given = 0;
  for (int k = 0; (at = next_param(at, &name, &len, &rest)); k++) {
    if (k == i->args.len) break; /* the decision, which is told below */
    Node *arg = i->args.at[k];
    if (rest) {
      for each (Node *, x, &AS(Array, arg)->items) {
        str_add(s, given++ ? ", " : "");
        add_value(s, *x);
      }
      continue;
    }
    str_printf(s, "%s%.*s=", given++ ? ", " : "", (int)len, name);
    add_value(s, arg);
  }
  if (i->decision) {
    str_add(s, given ? ", decision=" : "decision=");
    add_value(s, i->decision);
  }
}

const char *trace_text(const Trace *t) {
  Str s = {0};
  for each (Instruction, i, t) {
    for (int k = 0; k < i->results.len; k++)
      str_printf(&s, "%s%s", k ? ", " : "", AS(Var, i->results.at[k])->name);
    if (i->results.len)
      str_add(&s, i->primitive->gives == GIVES_LIST && i->results.len == 1 ? ", = " : " = ");
    str_printf(&s, "sch.%s(", i->primitive->name);
    add_args(&s, i);
    str_add(&s, ")\n");
  }
  return str_text(&s);
}

/* ---- again ---- */

/* Arguments with the random variables of the old run replaced by those of the new one. */
static Node *translated(Node *n, const Map *vars) {
  if (!n) return NULL;
  if (IS(IndexMap, n)) {
    IndexMap map = *AS(IndexMap, n);
    map.outputs = (NodeVec){0};
    for each (Node *, e, &AS(IndexMap, n)->outputs) vec_push(&map.outputs, substitute(*e, vars));
    return gc_copy(&map, sizeof map);
  }
  if (!IS(Array, n)) return node_is_expr(n) ? substitute(n, vars) : n;
  Array copy = *AS(Array, n);
  copy.items = (NodeVec){0};
  for each (Node *, x, &AS(Array, n)->items) vec_push(&copy.items, translated(*x, vars));
  return gc_copy(&copy, sizeof copy);
}

void trace_replay(const Trace *t, Schedule *s, bool decisions, Span span) {
  Map vars = {0};
  for each (Instruction, i, t) {
    NodeVec args = {0};
    for each (Node *, a, &i->args) vec_push(&args, translated(*a, &vars));
    NodeVec results = schedule_apply(s, i->primitive, args, decisions ? i->decision : NULL, span);
    for (int k = 0; k < results.len && k < i->results.len; k++)
      map_set(&vars, i->results.at[k], results.at[k]);
  }
}
