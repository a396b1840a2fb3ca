/* dump.c -- every field of every node by name, for debugging.
 *
 * One node a line, its fields below it and further to the right. A node that was shown before is
 * shown as its number only, so that shared parts don't multiply. */
#include "ir/ir_impl.h"

enum { MAX_INDENT = 60 }; /* columns: text of very deep trees stays linear in their size */

const char *text_of_int(int64_t x) { return str_format("%lld", (long long)x); }
const char *text_of_bool(bool x) { return x ? "true" : "false"; }

const char *text_of_double(double x) {
  Str s = {0};
  str_add_double(&s, x);
  return str_text(&s);
}

const char *text_of_string(const char *text) {
  Str s = {0};
  if (!text) return "NULL";
  str_add_quoted(&s, text, strlen(text));
  return str_text(&s);
}

/* A line that is still to be written: a node under its field's name, or finished text. */
typedef struct Line {
  Node *node;
  const char *label, *text;
  int depth;
} Line;

typedef struct Dump {
  Str out;
  Map numbers; /* node to its number */
  VEC(Line) todo;
  int depth; /* of the fields that are being gathered */
} Dump;

static void add_text(Dump *d, const char *name, const char *text) {
  Line line = {.label = name, .text = text, .depth = d->depth};
  vec_push(&d->todo, line);
}

static void add_node(Dump *d, const char *name, Node *n) {
  Line line = {.node = n, .label = name, .depth = d->depth};
  if (n) vec_push(&d->todo, line);
  else add_text(d, name, "NULL");
}

static void add_nodes(Dump *d, const char *name, NodeVec v) {
  if (!v.len) add_text(d, name, "[]");
  for (int i = 0; i < v.len; i++) add_node(d, str_format("%s[%d]", name, i), v.at[i]);
}

static void add_texts(Dump *d, const char *name, StrVec v) {
  Str s = {0};
  for each (const char *, text, &v) str_printf(&s, "%s%s", s.len ? ", " : "", text_of_string(*text));
  add_text(d, name, str_format("[%s]", str_text(&s)));
}

static void add_ints(Dump *d, const char *name, IntVec v) {
  Str s = {0};
  for each (int, x, &v) str_printf(&s, "%s%d", s.len ? ", " : "", *x);
  add_text(d, name, str_format("[%s]", str_text(&s)));
}

static const char *data_text(const ConstData *data) {
  Str s = {0};
  if (!data) return "NULL";
  str_printf(&s, "%s (", dtype_text(data->elem));
  for (int i = 0; i < data->ndim; i++)
    str_printf(&s, "%s%lld", i ? ", " : "", (long long)data->shape[i]);
  str_printf(&s, "), %zu bytes", data->nbytes);
  return str_text(&s);
}

static void add_fields(Dump *d, Node *node) {
#define DUMP_SUB(x)    add_node(d, #x, n->x);
#define DUMP_SUBS(x)   add_nodes(d, #x, n->x);
#define DUMP_DEF(x)    DUMP_SUB(x)
#define DUMP_DEFS(x)   DUMP_SUBS(x)
#define DUMP_USE(x)    DUMP_SUB(x)
#define DUMP_INFO(x)   DUMP_SUB(x)
#define DUMP_VAL(x)    add_text(d, #x, TEXT_OF(n->x));
#define DUMP_INTS(x)   add_ints(d, #x, n->x);
#define DUMP_STR(x)    add_text(d, #x, text_of_string(n->x));
#define DUMP_STRS(x)   add_texts(d, #x, n->x);
#define DUMP_NAME(x)   DUMP_STR(x)
#define DUMP_TENSOR(x) add_text(d, #x, data_text(n->x));
  switch (node->kind) {
#define NODE(Kind, family, spelling)                                                               \
  case NK_##Kind: {                                                                                \
    Kind *n = (Kind *)(void *)node;                                                                \
    (void)n;
#define FIELD(type, name, role) DUMP_##role(name)
#define END(Kind)                                                                                  \
  break;                                                                                           \
  }
#include "ir/node.def"
  }
}

/* What was gathered since `mark` is to be taken from the end: first things last. */
static void reverse_since(Dump *d, int mark) {
  for (int i = mark, j = d->todo.len - 1; i < j; i++, j--) {
    Line t = d->todo.at[i];
    d->todo.at[i] = d->todo.at[j];
    d->todo.at[j] = t;
  }
}

static void write_node(Dump *d, Node *n) {
  int number = (int)(intptr_t)map_get(&d->numbers, n);
  if (number) {
    str_printf(&d->out, "%s #%d, shown above\n", node_kind_name(n->kind), number);
    return;
  }
  number = d->numbers.len + 1;
  map_set(&d->numbers, n, (void *)(intptr_t)number);
  str_printf(&d->out, "%s #%d", node_kind_name(n->kind), number);
  if (!dtype_is_void(n->dtype)) str_printf(&d->out, " %s", dtype_text(n->dtype));
  str_add_char(&d->out, '\n');
  int mark = d->todo.len;
  add_fields(d, n);
  reverse_since(d, mark);
}

const char *ir_dump(Node *n) {
  Dump d = {0};
  if (!n) return "NULL\n";
  add_node(&d, NULL, n);
  while (d.todo.len) {
    Line line = vec_pop(&d.todo);
    int indent = line.depth * 2 < MAX_INDENT ? line.depth * 2 : MAX_INDENT;
    str_printf(&d.out, "%*s", indent, "");
    if (line.label) str_printf(&d.out, "%s: ", line.label);
    d.depth = line.depth + 1;
    if (line.node) write_node(&d, line.node);
    else str_printf(&d.out, "%s\n", line.text);
  }
  return str_text(&d.out);
}
