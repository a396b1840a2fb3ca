/* sref_value.c -- places in a schedule, as sch.get_sref gives them: a block or loop where it stands
 * in the module as it is now. */
#include "lang/dialect/schedule_place.h"

typedef struct Place {
  const Schedule *schedule;
  NodeVec path; /* blocks and loops from the root to the statement itself */
} Place;

static const Place *place_of(Value v) { return v.object; }
static Node *stmt_of(const Place *p) { return vec_last(&p->path); }

Value value_sref(const Schedule *s, Node *stmt, Span span) {
  return value_of(&type_sref, NEW(Place, .schedule = s, .path = schedule_path(s, stmt, span)));
}

Node *sref_stmt(Value v) { return stmt_of(place_of(v)); }

/* Its place in the sequence right above it; -1 if there is none. */
static int64_t seq_index(const Place *p) {
  Node *parent = p->path.len > 1 ? p->path.at[p->path.len - 2] : NULL, *body = NULL;
  if (parent) body = IS(Block, parent) ? AS(Block, parent)->body : AS(For, parent)->body;
  if (!IS(SeqStmt, body)) return -1;
  NodeVec items = AS(SeqStmt, body)->stmts;
  for (int i = 0; i < items.len; i++) {
    Node *n = IS(BlockRealize, items.at[i]) ? AS(BlockRealize, items.at[i])->block : items.at[i];
    if (n == stmt_of(p)) return i;
  }
  return -1;
}

static bool same(Value a, Value b) {
  return b.type == &type_sref && place_of(a)->schedule == place_of(b)->schedule &&
         sref_stmt(a) == sref_stmt(b);
}
static Value same_as(BuiltinCall *call) { return value_bool(same(call->self, call->args[0])); }
static const Builtin methods[] = {
    {"same_as", "other, /", same_as, "is it the same place of the same schedule?"}};

static Value get_attr(Value v, const char *name, Span span) {
  (void)span;
  const Place *p = place_of(v);
  if (str_same(name, "stmt")) return value_node(stmt_of(p));
  if (str_same(name, "seq_index")) return value_int(seq_index(p));
  if (!str_same(name, "parent")) return value_absent();
  if (p->path.len == 1) return value_none();
  Place *up = gc_copy(p, sizeof *p);
  up->path.len--;
  return value_of(&type_sref, up);
}
static void attr_names(Value v, StrVec *out) {
  (void)v;
  vec_push(out, "stmt");
  vec_push(out, "parent");
  vec_push(out, "seq_index");
}
static uint64_t hash(Value v) { return (uint64_t)(uintptr_t)sref_stmt(v) >> 4; }

const ValueType type_sref = {.name = "StmtSRef",
                             .get_attr = get_attr,
                             .attr_names = attr_names,
                             .equal = same,
                             .hash = hash,
                             .methods = methods,
                             .method_count = sizeof methods / sizeof *methods};
