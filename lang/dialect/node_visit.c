/* node_visit.c -- visiting and rewriting IR from script: post_order_visit, ir_transform, and the
 * rewriter that the classes of visitors and mutators in stdlib/module/ stand on. */
#include "lang/dialect/node_class.h"
#include "passes/graph/refreshed_info.h"

#define ARG(i)  call->args[i]
#define SPAN(i) call->spans[i]

static Node *node_arg(BuiltinCall *call, int i) {
  if (ARG(i).type == &type_poison) raise(ERROR_POISONED, SPAN(i), "an earlier error");
  if (ARG(i).type != &type_node)
    raise("TypeError", SPAN(i), "expected IR, found %s", value_type_name(ARG(i)));
  return ARG(i).node;
}

/* ---- visiting ---- */

typedef struct Visit {
  Value f;
  Span span;
} Visit;

static Value tell(const Visit *v, Node *n) {
  Value arg = value_node(n);
  return value_call_with(v->f, 1, &arg, v->span);
}

static WalkResult go_on(Walker *w, Node *n) {
  (void)w, (void)n;
  return WALK_ON;
}
static void tell_after(Walker *w, Node *n) { tell(w->context, n); }

static Value post_order_visit(BuiltinCall *call) {
  Visit v = {ARG(1), call->span};
  Walker w = {.enter = go_on, .leave = tell_after, .context = &v, .once = true};
  walk(&w, node_arg(call, 0));
  return value_none();
}

static WalkResult tell_before(Walker *w, Node *n) {
  Visit *v = w->context;
  Value below = tell(v, n);
  return value_is_none(below) || value_truth(below, v->span) ? WALK_ON : WALK_PRUNE;
}

/* f answers False where the walk shall not go below the node. */
static Value pre_order_visit(BuiltinCall *call) {
  Visit v = {ARG(1), call->span};
  Walker w = {.enter = tell_before, .context = &v, .once = true};
  walk(&w, node_arg(call, 0));
  return value_none();
}

static void note_child(void *items, Node *child) { vec_push((ValueVec *)items, value_node(child)); }
static Value children(BuiltinCall *call) {
  ValueVec items = {0};
  node_each_child(node_arg(call, 0), note_child, &items);
  return value_list(items);
}

/* ---- rewriting ---- */

typedef struct Rewriter {
  Mutator mutator; /* first: the rewrite finds the rest by it */
  Value f;
  Span span;
} Rewriter;

static Node *node_or_null(Value v, Span span) {
  if (value_is_none(v)) return NULL;
  if (v.type != &type_node)
    raise("TypeError", span, "a rewrite must return a node, or None to remove it; found %s",
          value_type_name(v));
  return v.node;
}

static Node *ask_script(Mutator *m, Node *n) {
  Rewriter *r = (Rewriter *)(void *)m;
  Value arg = value_node(n);
  return node_or_null(value_call_with(r->f, 1, &arg, r->span), r->span);
}

static Value node_or_nothing(Node *n) { return n ? value_node(n) : value_none(); }

static Value rewriter_visit(BuiltinCall *call) {
  Rewriter *r = call->self.object;
  return node_or_nothing(mutate(&r->mutator, node_arg(call, 0)));
}
static Value rewriter_children(BuiltinCall *call) {
  Rewriter *r = call->self.object;
  return node_or_nothing(mutate_children(&r->mutator, node_arg(call, 0)));
}
static const Builtin rewriter_methods[] = {
    {"visit", "node", rewriter_visit,
     "what f makes of the node; a variable or buffer is rewritten once, where it is first met"},
    {"children", "node", rewriter_children, "the node with its children rewritten by f"},
};
static Value rewriter_attr(Value v, const char *name, Span span) {
  (void)span;
  return builtin_method(rewriter_methods, 2, v, name);
}
static const ValueType type_rewriter = {.name = "rewriter", .get_attr = rewriter_attr};

static Value rewriter(BuiltinCall *call) {
  Rewriter *r = NEW(Rewriter, .mutator = {.rewrite = ask_script}, .f = ARG(0), .span = call->span);
  return value_of(&type_rewriter, r);
}

/* ---- ir_transform ---- */

typedef struct Transform {
  Mutator mutator;
  Value before, after;
  StrVec kinds; /* names of node kinds that are told; empty: all */
  Span span;
} Transform;

static bool is_told(const Transform *t, const Node *n) {
  if (!t->kinds.len) return true;
  for each (const char *, kind, &t->kinds)
    if (str_same(*kind, node_kind_name(n->kind))) return true;
  return false;
}

static Node *transform(Mutator *m, Node *n) {
  Transform *t = (Transform *)(void *)m;
  Value arg = value_node(n);
  bool told = is_told(t, n);
  if (told && !value_is_none(t->before)) {
    Value x = value_call_with(t->before, 1, &arg, t->span);
    if (!value_is_none(x)) return node_or_null(x, t->span);
  }
  Node *out = mutate_children(m, n);
  if (!told || value_is_none(t->after)) return out;
  arg = value_node(out);
  Value x = value_call_with(t->after, 1, &arg, t->span);
  return value_is_none(x) ? out : node_or_null(x, t->span);
}

/* preorder(n) replaces n as a whole, postorder(n) replaces n with rewritten children; None keeps
 * it. only_enable: names such as "tir.For". */
static Value ir_transform(BuiltinCall *call) {
  Transform t = {
      .mutator = {.rewrite = transform}, .before = ARG(1), .after = ARG(2), .span = call->span};
  ValueVec only = value_is_none(ARG(3)) ? (ValueVec){0} : value_to_vec(ARG(3), SPAN(3));
  for each (Value, v, &only) {
    const char *name = value_as_text(*v, "an item of only_enable", SPAN(3));
    const char *dot = strrchr(name, '.');
    vec_push(&t.kinds, dot ? dot + 1 : name);
  }
  return node_or_nothing(mutate(&t.mutator, node_arg(call, 0)));
}

/* vmap: a dict from variables to expressions. */
static Value substitute_vars(BuiltinCall *call) {
  Map map = {0};
  Node *n = node_arg(call, 0);
  if (ARG(1).type != &type_dict)
    raise("TypeError", SPAN(1), "expected a dict of variables, found %s", value_type_name(ARG(1)));
  for (int i = 0; i < value_dict_len(ARG(1)); i++) {
    Value key, x;
    value_dict_entry(ARG(1), i, &key, &x);
    bool is_var = value_is_node(key, NK_Var) || value_is_node(key, NK_RelaxVar) ||
                  value_is_node(key, NK_Buffer);
    if (!is_var)
      raise("TypeError", SPAN(1), "a key must be a variable or a buffer, found %s",
            value_type_name(key));
    bool scalar = IS(Var, key.node);
    Node *to = scalar ? to_expr_for(x, key.node->dtype, SPAN(1)) : node_or_null(x, SPAN(1));
    if (scalar && IS(IntImm, to)) to = expr_cast(key.node->dtype, to, SPAN(1));
    map_set(&map, key.node, to);
  }
  return value_node(node_is_relax(n) ? substitute_refreshed(n, &map) : substitute(n, &map));
}

static Value copy_with_new_vars(BuiltinCall *call) {
  return value_node(copy_with_fresh_vars(node_arg(call, 0)));
}

const Builtin node_visit_names[] = {
    {"post_order_visit", "node, fvisit", post_order_visit,
     "calls fvisit for a node and all below it, children first, each once"},
    {"pre_order_visit", "node, fvisit", pre_order_visit,
     "calls fvisit for a node and all below it, parents first; False: not below this one"},
    {"children", "node", children, "the nodes right below a node"},
    {"rewriter", "f", rewriter,
     "rewrites by f(node), which returns the node to stand in its place"},
    {"ir_transform", "stmt, preorder=None, postorder=None, only_enable=None", ir_transform,
     "rewrites every node by functions that return a node, or None to keep it"},
    {"copy_with_new_vars", "node", copy_with_new_vars, "a copy whose bound variables are new"},
    {"substitute", "node, vmap", substitute_vars, "replaces variables by expressions"},
};
const int node_visit_name_count = sizeof node_visit_names / sizeof *node_visit_names;
