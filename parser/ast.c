/* ast.c -- what is derived from ast.def for readers of the tree: names, children, the dump. */
#include "parser/parser.h"
#include "ir/support/str.h"

const char *ast_kind_name(AstKind kind) {
  static const char *const names[] = {
#define NODE(Kind, family) #Kind,
#define FIELD(type, name, role)
#define END(Kind)
#include "parser/ast.def"
  };
  return names[kind];
}

const char *ast_op_text(AstOp op) {
  static const char *const texts[] = {
#define X(name, text) text,
      AST_OPS(X)
#undef X
  };
  return texts[op];
}

bool ast_is_expression(const Ast *node) {
  static const bool expressions[] = {
#define FAMILY_EXPR        true
#define FAMILY_PART        false
#define FAMILY_STMT        false
#define NODE(Kind, family) FAMILY_##family,
#define FIELD(type, name, role)
#define END(Kind)
#include "parser/ast.def"
  };
  return expressions[node->kind];
}

typedef void Visit(void *context, Ast *child);

static void visit_list(const AstVec *list, Visit *visit, void *context) {
  for each (Ast *, child, list)
    if (*child) visit(context, *child);
}

void ast_each_child(const Ast *node, Visit *visit, void *context) {
#define VISIT_VAL(x)
#define VISIT_NAME(x)
#define VISIT_SUB(x)                                                                               \
  if (x) visit(context, x);
#define VISIT_SUBS(x) visit_list(&x, visit, context);
  switch ((AstKind)node->kind) {
#define NODE(Kind, family)                                                                         \
  case AST_KIND_##Kind: {                                                                          \
    Ast##Kind *n = AST_AS(Kind, node);                                                             \
    (void)n;
#define FIELD(type, name, role) VISIT_##role(n->name)
#define END(Kind)                                                                                  \
  break;                                                                                           \
  }
#include "parser/ast.def"
  case AST_KIND_COUNT: break;
  }
}

/* ---- the dump: "field: Kind value=..." with the children below, indented ---- */

static void dump_text(Str *out, const char *name, const char *text) {
  if (!text) return;
  str_printf(out, " %s=", name);
  str_add_quoted(out, text, strlen(text));
}

static void dump_bool(Str *out, const char *name, bool value) {
  if (value) str_printf(out, " %s", name);
}

static void dump_number(Str *out, const char *name, uint64_t value) {
  str_printf(out, " %s=%llu", name, (unsigned long long)value);
}

static void dump_int(Str *out, const char *name, int value) {
  if (value) str_printf(out, " %s=%d", name, value);
}

static void dump_double(Str *out, const char *name, double value) {
  str_printf(out, " %s=", name);
  str_add_double(out, value);
}

static void dump_op(Str *out, const char *name, AstOp op) {
  str_printf(out, " %s=%s", name, ast_op_text(op));
}

static void dump_ops(Str *out, const char *name, AstOpVec ops) {
  for each (AstOp, op, &ops) dump_op(out, name, *op);
}

static void dump_display(Str *out, const char *name, AstDisplay display) {
  static const char *const words[] = {"list", "set", "dict", "generator"};
  str_printf(out, " %s=%s", name, words[display]);
}

static void dump_param_kind(Str *out, const char *name, ParamKind kind) {
  static const char *const words[] = {"plain", "keyword-only", "*", "**", "/"};
  str_printf(out, " %s=%s", name, words[kind]);
}

static void dump_place(Str *out, const char *name, Span span) { (void)out, (void)name, (void)span; }

static void dump_comments(Str *out, const char *name, CommentVec comments) {
  if (comments.len) str_printf(out, " %s=%d", name, comments.len);
}

#define DUMP_VALUE(x)                                                                              \
  _Generic((x), const char *: dump_text, bool: dump_bool, uint64_t: dump_number, int: dump_int,    \
      double: dump_double, AstOp: dump_op, AstOpVec: dump_ops, AstDisplay: dump_display,           \
      ParamKind: dump_param_kind, Span: dump_place, CommentVec: dump_comments)

/* The values of a node, after its kind. The text of a Str may hold NUL bytes. */
static void dump_values(Str *out, const Ast *node) {
  if (node->kind == AST_KIND_Str) {
    const AstStr *s = AST_AS(Str, node);
    str_add(out, s->bytes ? " b" : " ");
    str_add_quoted(out, s->text, s->len);
    return;
  }
#define DUMP_VAL(x)  DUMP_VALUE(n->x)(out, #x, n->x);
#define DUMP_NAME(x) dump_text(out, #x, n->x);
#define DUMP_SUB(x)
#define DUMP_SUBS(x)
  switch ((AstKind)node->kind) {
#define NODE(Kind, family)                                                                         \
  case AST_KIND_##Kind: {                                                                          \
    const Ast##Kind *n = AST_AS(Kind, node);                                                       \
    (void)n;
#define FIELD(type, name, role) DUMP_##role(name)
#define END(Kind)                                                                                  \
  break;                                                                                           \
  }
#include "parser/ast.def"
  case AST_KIND_COUNT: break;
  }
}

static void dump(Str *out, const char *field, const Ast *node, int indent);

static void dump_child(Str *out, const char *field, const Ast *child, int indent) {
  if (child) dump(out, field, child, indent);
}

static void dump_list(Str *out, const char *field, const AstVec *list, int indent) {
  for each (Ast *, child, list) {
    if (*child) dump(out, field, *child, indent);
    else str_printf(out, "%*s%s: -\n", indent, "", field);
  }
}

static void dump_children(Str *out, const Ast *node, int indent) {
#undef DUMP_VAL
#undef DUMP_NAME
#undef DUMP_SUB
#undef DUMP_SUBS
#define DUMP_VAL(x)
#define DUMP_NAME(x)
#define DUMP_SUB(x)  dump_child(out, #x, n->x, indent);
#define DUMP_SUBS(x) dump_list(out, #x, &n->x, indent);
  switch ((AstKind)node->kind) {
#define NODE(Kind, family)                                                                         \
  case AST_KIND_##Kind: {                                                                          \
    const Ast##Kind *n = AST_AS(Kind, node);                                                       \
    (void)n;
#define FIELD(type, name, role) DUMP_##role(name)
#define END(Kind)                                                                                  \
  break;                                                                                           \
  }
#include "parser/ast.def"
  case AST_KIND_COUNT: break;
  }
}

static void dump(Str *out, const char *field, const Ast *node, int indent) {
  str_printf(out, "%*s%s%s%s", indent, "", field ? field : "", field ? ": " : "",
             ast_kind_name(node->kind));
  dump_values(out, node);
  str_add_char(out, '\n');
  dump_children(out, node, indent + 2);
}

const char *ast_dump(const Ast *node) {
  Str out = {0};
  dump(&out, NULL, node, 0);
  return str_text(&out);
}
