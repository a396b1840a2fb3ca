/* pattern_value.c -- dataflow patterns as values: what stdlib/module/tvm/relax/dpl.tvms is made of.
 */
#include "lang/dialect/packed.h"
#include "passes/graph/binding_order.h"
#include "passes/graph/dead_code.h"
#include "passes/graph/fuse_ops_by_pattern.h"
#include "passes/graph/normalize.h"
#include "passes/graph/pattern_graph.h"
#include "passes/graph/pattern_rewrite.h"

#define ARG(i)  call->args[i]
#define SPAN(i) call->spans[i]

typedef struct PatternValue {
  Pattern pattern; /* first: matches tell patterns */
  Value owner;     /* the object of the script that it is the pattern of */
} PatternValue;

static const ValueType type_pattern = {.name = "pattern"};

static Pattern *pattern_of_value(Value v, Span span) {
  if (v.type == &type_instance) v = value_get_attr(v, str_intern("_pattern"), span);
  if (v.type != &type_pattern)
    raise("TypeError", span, "expected a pattern, found %s", value_type_name(v));
  return v.object;
}

static PatternVec patterns_of(Value list, Span span) {
  PatternVec out = {0};
  ValueVec items = value_to_vec(list, span);
  for each (Value, v, &items) vec_push(&out, pattern_of_value(*v, span));
  return out;
}

static PatternKind kind_of(BuiltinCall *call) {
  const char *name = value_as_text(ARG(1), "the kind of a pattern", SPAN(1));
  for (int i = 0; i < PATTERN_KINDS; i++)
    if (str_same(pattern_kind_names[i], name)) return (PatternKind)i;
  raise("ValueError", SPAN(1), "there are no patterns of kind '%s'", name);
}

static Value pattern_make(BuiltinCall *call) {
  PatternValue *p = NEW(PatternValue, .owner = ARG(0));
  p->pattern.kind = kind_of(call);
  p->pattern.parts = patterns_of(ARG(2), SPAN(2));
  if (!value_is_none(ARG(3))) p->pattern.name = value_as_text(ARG(3), "a name", SPAN(3));
  if (!value_is_none(ARG(4))) p->pattern.node = to_attr(ARG(4), SPAN(4));
  p->pattern.index = (int)value_as_int(ARG(5), "an index", SPAN(5));
  p->pattern.open = value_truth(ARG(6), SPAN(6));
  return value_of(&type_pattern, p);
}

/* ---- matches as dicts: the script's patterns to what they stand for ---- */

static Value found_of(const PatternMatch *m, Span span) {
  Value d = value_dict();
  for (int i = 0; i < m->patterns.len; i++)
    value_dict_set(d, ((PatternValue *)(void *)m->patterns.at[i])->owner,
                   value_node(m->exprs.at[i]), span);
  return d;
}

static Map values_of_dict(Value v, Span span) {
  Map values = {0};
  if (value_is_none(v)) return values;
  for (int i = 0; i < value_dict_len(v); i++) {
    Value key, x;
    value_dict_entry(v, i, &key, &x);
    map_set(&values, to_relax(key, span), to_relax(x, span));
  }
  return values;
}

static Value pattern_match_value(BuiltinCall *call) {
  Map values = values_of_dict(ARG(2), SPAN(2));
  PatternMatch m = {.values = &values};
  bool fits = pattern_match(pattern_of_value(ARG(0), SPAN(0)), to_relax(ARG(1), SPAN(1)), &m);
  return fits ? found_of(&m, call->span) : value_none();
}

static Node *node_of(Value v, NodeKind kind, Span span) {
  if (!value_is_node(v, kind))
    raise("TypeError", span, "expected a %s, found %s", node_kind_name(kind), value_type_name(v));
  return v.node;
}

/* match_block(nodes, edges, conditions, block, func): edges are (producer, consumer, index, only).
 */
static Value pattern_match_block_value(BuiltinCall *call) {
  PatternGraph g = {.nodes = patterns_of(ARG(0), SPAN(0))};
  ValueVec edges = value_to_vec(ARG(1), SPAN(1));
  for each (Value, v, &edges) {
    ValueVec e = value_to_vec(*v, SPAN(1));
    PatternEdge edge = {pattern_of_value(e.at[0], SPAN(1)), pattern_of_value(e.at[1], SPAN(1)),
                        (int)value_as_int(e.at[2], "an index", SPAN(1)),
                        value_truth(e.at[3], SPAN(1))};
    vec_push(&g.edges, edge);
  }
  g.conditions = patterns_of(ARG(2), SPAN(2));
  Node *block = node_of(ARG(3), NK_BindingBlock, SPAN(3));
  Map values = values_of(value_is_none(ARG(4)) ? block : node_of(ARG(4), NK_Function, SPAN(4)));
  PatternMatch m;
  bool fits = pattern_match_block(&g, AS(BindingBlock, block), &values, &m);
  return fits ? found_of(&m, call->span) : value_none();
}

/* ---- rewriting ---- */

typedef struct Callback {
  Value f;
  Span span;
} Callback;

static Node *ask_script(void *context, Node *expr, const PatternMatch *m) {
  Callback *c = context;
  Value args[] = {value_node(expr), found_of(m, c->span)};
  return to_relax(value_call_with(c->f, 2, args, c->span), c->span);
}

static Value pattern_rewrite_value(BuiltinCall *call) {
  Callback c = {ARG(1), SPAN(1)};
  Node *func = node_of(ARG(2), NK_Function, SPAN(2));
  return value_node(pattern_rewrite(func, pattern_of_value(ARG(0), SPAN(0)), ask_script, &c));
}

/* with_values(func, {var: expr}): the variables are bound to these expressions, where those that
 * they mention are known. */
static Node *set_values(Mutator *m, Node *n) {
  const Map *values = m->context;
  if (IS(Var, n) || IS(RelaxVar, n)) return n;
  n = mutate_children(m, n);
  if (!IS(BindingBlock, n)) return n;
  BindingBlock b = *AS(BindingBlock, n);
  NormalForm f = {.is_dataflow = b.is_dataflow};
  bool changed = false;
  for each (Node *, x, &b.bindings) {
    Node *value = IS(VarBinding, *x) ? map_get(values, AS(VarBinding, *x)->var) : NULL;
    changed |= value != NULL;
    Node *binding = *x;
    if (value) {
      VarBinding v = *AS(VarBinding, *x);
      v.value = normal_value(&f, value);
      binding = gc_copy(&v, sizeof v);
    }
    vec_push(&f.bindings, binding);
  }
  b.bindings = b.is_dataflow ? bindings_in_order(f.bindings) : f.bindings;
  return changed ? gc_copy(&b, sizeof b) : n;
}

static Value pattern_with_values(BuiltinCall *call) {
  Map values = values_of_dict(ARG(1), SPAN(1));
  Mutator m = {.rewrite = set_values, .context = &values};
  Node *func = mutate(&m, node_of(ARG(0), NK_Function, SPAN(0)));
  return value_node(without_dead_bindings(pass_canonicalize_bindings(func, NULL)));
}

static Value pattern_apply_rewriter(BuiltinCall *call) {
  Node *n = ARG(1).type == &type_node ? ARG(1).node : NULL;
  if (!IS(Function, n) && !IS(IRModule, n))
    raise("TypeError", SPAN(1), "a rewriter takes a module or a graph function, found %s",
          value_type_name(ARG(1)));
  return value_node(rewriter_apply(node_of(ARG(0), NK_IRModule, SPAN(0)), n));
}

/* ---- what FuseOpsByPattern and RunCodegen ask for: rows of stdlib/module/tvm/relax/backend.tvms
 * ---- */

static FusionPatternVec registered_patterns(const char *names, Span span) {
  Value arg = value_str(names);
  Value rows = value_call_with(library_attr("tvm.relax.backend", "patterns_named"), 1, &arg, span);
  ValueVec items = value_to_vec(rows, span);
  FusionPatternVec out = {0};
  for each (Value, row, &items) {
    Value name = value_get_attr(*row, str_intern("name"), span);
    Value pattern = value_get_attr(*row, str_intern("pattern"), span);
    FusionPattern p = {value_as_text(name, "the name of a pattern", span),
                       pattern_of_value(pattern, span), NEW(Value, 0)};
    *(Value *)p.rule = *row;
    vec_push(&out, p);
  }
  return out;
}

static bool passes_check(const FusionPattern *p, Node *expr, const PatternMatch *m,
                         NodeVec bindings, Node *func) {
  ValueVec list = {0};
  for each (Node *, b, &bindings) vec_push(&list, value_node(*b));
  Value args[] = {*(Value *)p->rule, value_node(expr), found_of(m, expr->span), value_list(list),
                  value_node(func)};
  Value check = library_attr("tvm.relax.backend", "passes_check");
  return value_truth(value_call_with(check, 5, args, expr->span), expr->span);
}

static Node *run_codegen(const char *codegen, Node *func) {
  Value args[] = {value_str(codegen), value_node(func)};
  Value out =
      value_call_with(library_attr("tvm.relax.backend", "run_codegen"), 2, args, func->span);
  return out.type == &type_node ? out.node : NULL;
}

void pattern_hooks_start(void) {
  codegen_hook = run_codegen;
  fusion_patterns_hook = registered_patterns;
  fusion_check_hook = passes_check;
}

static const Builtin builtins[] = {
    {"make", "owner, kind, parts, name=None, node=None, index=-1, open=False", pattern_make,
     "a pattern of a kind of passes/graph/pattern.def"},
    {"match", "pattern, expr, values=None", pattern_match_value,
     "what the patterns inside stand for, by their owners; None if it does not fit"},
    {"match_block", "nodes, edges, conditions, block, func=None", pattern_match_block_value,
     "the same for patterns that hang together in a block"},
    {"rewrite", "pattern, f, func", pattern_rewrite_value,
     "the function with f(expr, found) in the place of what fits"},
    {"with_values", "func, values", pattern_with_values, "the function with variables bound anew"},
    {"apply_rewriter", "rewriter, mod", pattern_apply_rewriter, "an R.rewriter applied"},
};

Value pattern_namespace(void) {
  static Value ns;
  if (ns.type) return ns;
  ns = value_namespace("_pattern");
  namespace_add_builtins(ns, builtins, sizeof builtins / sizeof *builtins);
  return ns;
}
