/* sort.c -- do the fields of a node hold what the compiler takes for granted that they hold? Nodes
 * that it makes do; those that come from a file (tvm.ir.load_json) may not. sort.def is the table.
 */
#include "ir/ir.h"

static const char *const rows[NK_COUNT + 1] = {
#define SORTS(Kind, text) [NK_##Kind] = text,
#include "ir/sort.def"
};

typedef struct Sort {
  const char *name; /* not terminated */
  size_t len;
  bool optional;
} Sort;

/* The words of a row, one at a time; their first `len` bytes are a field's name. */
static const char *next_word(const char *at, size_t *len) {
  at += strspn(at, " ");
  *len = strcspn(at, ":?= ");
  return *at ? at : NULL;
}

static bool find_in_row(NodeKind kind, const char *field, Sort *out) {
  size_t len;
  if (!rows[kind]) return false;
  for (const char *at = rows[kind]; (at = next_word(at, &len)); at += strcspn(at, " ")) {
    if (at[len] == '=' || strlen(field) != len || memcmp(at, field, len) != 0) continue;
    const char *sort = at + len + (at[len] == ':');
    *out = (Sort){sort, strcspn(sort, "? "), sort[strcspn(sort, "? ")] == '?'};
    return true;
  }
  return false;
}

static const char *family_sort(NodeFamily family, const char *field) {
  if (family == FAMILY_STMT && str_same(field, "body")) return "stmt";
  return family == FAMILY_RELAX_EXPR ? "relax" : family == FAMILY_ATTR ? "any" : "expr";
}

static Sort sort_of(NodeKind kind, const char *field) {
  Sort out;
  if (find_in_row(kind, field, &out) || find_in_row(NK_COUNT, field, &out)) return out;
  const char *name = family_sort(node_family(kind), field);
  return (Sort){name, strlen(name), false};
}

static bool is(const Sort *s, const char *name) {
  return strlen(name) == s->len && memcmp(name, s->name, s->len) == 0;
}

bool node_is_axis(const Node *n) { return IS(IterVar, n) && AS(IterVar, n)->dom; }

static bool fits(const Sort *s, const Node *n) {
  if (!n) return s->optional;
  NodeFamily family = node_family(n->kind);
  bool is_func = IS(PrimFunc, n) || IS(Function, n) || IS(ExternFunc, n);
  return is(s, "any") || is(s, node_kind_name(n->kind)) ||
         (is(s, "expr") && family == FAMILY_PRIM_EXPR) ||
         (is(s, "stmt") && family == FAMILY_STMT) ||
         (is(s, "relax") && family == FAMILY_RELAX_EXPR) ||
         (is(s, "sinfo") && family == FAMILY_SINFO) || (is(s, "func") && is_func) ||
         (is(s, "axis") && node_is_axis(n)) ||
         (is(s, "callee") && (IS(Op, n) || IS(GlobalVar, n))) ||
         (is(s, "binding") && (IS(VarBinding, n) || IS(MatchCast, n)));
}

static const void *place(const Node *n, const NodeField *f) { return (const char *)n + f->offset; }

static bool field_fits(const Node *n, const NodeField *f) {
  Sort s = sort_of(n->kind, f->name);
  const void *at = place(n, f);
  if (str_same(f->type, "Node *")) return fits(&s, *(Node *const *)at);
  if (str_same(f->type, "const char *")) return s.optional || *(const char *const *)at;
  if (str_same(f->type, "StrVec"))
    for each (const char *, text, (const StrVec *)at)
      if (!*text && !s.optional) return false;
  if (str_same(f->type, "NodeVec"))
    for each (Node *, x, (const NodeVec *)at)
      if (!fits(&s, *x)) return false;
  if (str_same(f->type, "IterKind")) return *(const IterKind *)at < ITER_KINDS;
  if (str_same(f->type, "LoopKind")) return *(const LoopKind *)at <= LOOP_THREAD;
  return true;
}

static int length(const Node *n, const char *name, size_t len) {
  for each (NodeField, f, node_fields(n->kind)) {
    if (strlen(f->name) != len || memcmp(f->name, name, len) != 0) continue;
    bool texts = str_same(f->type, "StrVec");
    return texts ? ((const StrVec *)place(n, f))->len : ((const NodeVec *)place(n, f))->len;
  }
  BUG("sort.def: %s has no field '%.*s'", node_kind_name(n->kind), (int)len, name);
}

static const char *uneven(const Node *n) {
  size_t len;
  for (const char *at = rows[n->kind]; at && (at = next_word(at, &len)); at += strcspn(at, " ")) {
    const char *other = at + len + 1;
    if (at[len] == '=' && length(n, at, len) != length(n, other, strcspn(other, " ")))
      return str_intern_n(at, len);
  }
  return NULL;
}

static bool dtype_fits(const Node *n) {
  DataType t = n->dtype;
  if (IS(FloatImm, n)) return dtype_is_float(t) && t.lanes == 1;
  return !IS(IntImm, n) || ((dtype_is_int(t) || dtype_is_bool(t)) && t.lanes == 1);
}

const char *node_misfit(const Node *n) {
  if (!dtype_fits(n)) return "dtype";
  for each (NodeField, f, node_fields(n->kind))
    if (!field_fits(n, f)) return f->name;
  return uneven(n);
}
