/* fuse_ops.c -- operators that can be computed in one go become one private function, with the
 * attribute Primitive.
 *
 * In:  dataflow blocks of call_tir whose programs say their patterns (AnnotateTIROpPattern). Out:
 * calls of private functions that hold the call_tirs; FuseTIR makes programs of them. The algorithm
 * is the one of Roesch et al., "Relay: A High-Level Compiler for Deep Learning" (2019): an operator
 * may join the operator that all uses of its result lead to (its post-dominator), if all on the
 * ways between may,
 * and if the program has no more tensors than kernels of the target have buffers. Not: what is not
 * in a dataflow block; programs with a schedule. */
#include "passes/graph/fusion_graph.h"
#include "passes/graph/group_function.h"

typedef struct Fusion {
  FusionGraph graph;
  int max_depth;
  int64_t most_buffers; /* of a kernel; 0: any number */
} Fusion;

/* ---- the ways from a node to its dominator ---- */

typedef bool (*Fits)(OpPattern group, bool is_sink);

typedef struct Ways {
  FusionGraph *graph;
  Map seen; /* FusionNodes between the two, both included */
  int sink;
  Fits fits;
} Ways;

/* Do all nodes up to the sink fit? They are added to those seen, which serve as the list of what is
 * to be done. */
static bool follow(Ways *w, int from, int max_depth) {
  FusionNode *nodes = w->graph->nodes.at;
  map_set(&w->seen, &nodes[from], &nodes[from]);
  for (int k = 0; k < w->seen.len; k++) {
    int i = (int)((FusionNode *)w->seen.at[k].value - nodes);
    if (i != from && !w->fits(fusion_group(w->graph, i)->group_pattern, i == w->sink)) return false;
    if (k > 2 * max_depth) return false; /* at best, every second node takes a field */
    if (i == w->sink) continue;
    for each (FusionEdge, e, &nodes[i].users) map_set(&w->seen, &nodes[e->user], &nodes[e->user]);
  }
  return true;
}

/* Operators of the groups on the ways. */
static int calls_on(Ways *w) {
  Map groups = {0};
  int calls = 0;
  for (int i = 0; i < w->seen.len; i++) {
    FusionNode *n = w->seen.at[i].value;
    FusionNode *group = fusion_group(w->graph, (int)(n - w->graph->nodes.at));
    if (!map_has(&groups, group)) calls += group->calls;
    map_set(&groups, group, group);
  }
  return calls;
}

/* ---- what a kernel of the target may have ---- */

typedef struct Operands {
  Map made, taken; /* RelaxVars of the group, constants and RelaxVars of elsewhere */
} Operands;

static WalkResult note_operand(Walker *w, Node *n) {
  Operands *o = w->context;
  bool is_tensor = (IS(RelaxVar, n) && IS(TensorStructInfo, sinfo_of(n))) || IS(Constant, n);
  if (is_tensor && !map_has(&o->made, n)) map_set(&o->taken, n, n);
  return WALK_ON;
}

/* Would the groups on the ways, as one, have more tensors than a kernel has buffers? */
static bool has_many_operands(Fusion *f, Ways *w) {
  Map groups = {0};
  Operands o = {0};
  FusionNode *nodes = f->graph.nodes.at;
  if (!f->most_buffers) return false;
  for (int i = 0; i < w->seen.len; i++) {
    FusionNode *group = fusion_group(&f->graph, (int)((FusionNode *)w->seen.at[i].value - nodes));
    map_set(&groups, group, group);
  }
  Walker walker = {.enter = note_operand, .context = &o};
  for (int i = 0; i < f->graph.nodes.len; i++) {
    FusionNode *n = &nodes[i];
    if (!map_has(&groups, fusion_group(&f->graph, i))) continue;
    Node *value = IS(VarBinding, n->binding) ? AS(VarBinding, n->binding)->value : NULL;
    if (IS(TupleGetItem, value) && !map_has(&o.made, AS(TupleGetItem, value)->tuple))
      continue; /* a field of what is made elsewhere */
    map_set(&o.made, n->var, n->var);
    if (value) walk(&walker, value);
  }
  return o.taken.len + 1 > f->most_buffers;
}

static void join(Fusion *f, int i, Fits fits) {
  FusionNode *n = &f->graph.nodes.at[i];
  Ways w = {.graph = &f->graph, .sink = n->dominator, .fits = fits};
  if (!follow(&w, i, f->max_depth) || calls_on(&w) > f->max_depth || has_many_operands(f, &w))
    return;
  for (int k = 0; k < w.seen.len; k++)
    fusion_merge(&f->graph, (int)((FusionNode *)w.seen.at[k].value - f->graph.nodes.at),
                 n->dominator);
}

/* ---- what may join ---- */

static bool fits_after_product(OpPattern group, bool is_sink) {
  (void)is_sink;
  return group <= PATTERN_BROADCAST;
}

static bool fits_elementwise(OpPattern group, bool is_sink) {
  return group <= PATTERN_INJECTIVE ||
         (is_sink && (group == PATTERN_REDUCE || group == PATTERN_OUT_FUSABLE));
}

static bool fits_injective(OpPattern group, bool is_sink) {
  (void)is_sink;
  return group <= PATTERN_INJECTIVE;
}

/* Products take what follows them first; injective operators join only what is left then. */
typedef enum Phase { PHASE_PRODUCTS, PHASE_INJECTIVE, PHASES } Phase;

static void visit(Fusion *f, int i, Phase phase) {
  FusionNode *n = &f->graph.nodes.at[i];
  if (n->dominator < 0 || fusion_group(&f->graph, i) == fusion_group(&f->graph, n->dominator))
    return;
  switch (fusion_group(&f->graph, i)->group_pattern) {
  case PATTERN_OUT_FUSABLE:
    if (phase == PHASE_PRODUCTS && n->to_dominator == PATTERN_ELEMENTWISE)
      join(f, i, fits_after_product);
    break;
  case PATTERN_ELEMENTWISE:
  case PATTERN_BROADCAST:
    if (n->to_dominator <= PATTERN_REDUCE) join(f, i, fits_elementwise);
    break;
  case PATTERN_INJECTIVE:
    if (phase == PHASE_INJECTIVE) join(f, i, fits_injective);
    break;
  case PATTERN_REDUCE:
  case PATTERN_TUPLE:
  case PATTERN_OPAQUE: break;
  }
}

/* ---- functions for the groups ---- */

static const char *called_name(Node *value) {
  return AS(GlobalVar, AS(RelaxCall, value)->args.at[0])->name;
}

/* "fused_matmul_add_relu", not too long. */
static const char *name_of(NodeVec bindings) {
  enum { LONG = 80 };
  Str s = {0};
  str_add(&s, "fused");
  for each (Node *, b, &bindings)
    if (IS(RelaxCall, AS(VarBinding, *b)->value) && s.len < LONG)
      str_printf(&s, "_%s", called_name(AS(VarBinding, *b)->value));
  return str_text(&s);
}

static Node *primitive_call(SharedFunctions *functions, NodeVec bindings) {
  Node *attrs = dict_with(dict_new(), "Primitive", int_imm(BOOL, 1, bindings.at[0]->span));
  Node *output = AS(VarBinding, vec_last(&bindings))->var;
  return group_call(functions, &(BindingGroup){.bindings = bindings,
                                               .outputs = NODES(output),
                                               .attrs = attrs,
                                               .name = name_of(bindings)});
}

/* Fields of what another group computes stay outside. */
static bool is_inside(Fusion *f, int i, const Map *numbers) {
  Node *binding = f->graph.nodes.at[i].binding;
  if (f->graph.nodes.at[i].is_call) return true;
  int from =
      (int)(intptr_t)map_get(numbers, AS(TupleGetItem, AS(VarBinding, binding)->value)->tuple);
  return from && fusion_group(&f->graph, from - 1) == fusion_group(&f->graph, i);
}

/* For each node the bindings of its group (a NodeVec *), if that is of several operators. */
static Map members_of_groups(Fusion *f) {
  Map groups = {0}, members = {0}, numbers = {0};
  for (int i = 0; i < f->graph.nodes.len; i++) {
    FusionNode *n = &f->graph.nodes.at[i], *group = fusion_group(&f->graph, i);
    map_set(&numbers, n->var, (void *)(intptr_t)(i + 1));
    if (group->calls < 2 || !is_inside(f, i, &numbers)) continue;
    NodeVec *of_group = map_get(&groups, group);
    if (!of_group) map_set(&groups, group, of_group = NEW(NodeVec, 0));
    vec_push(of_group, n->binding);
    map_set(&members, n, of_group);
  }
  return members;
}

/* The bindings with each group of several operators as one call, where its last one stood. */
static NodeVec grouped(Fusion *f, SharedFunctions *functions) {
  Map members = members_of_groups(f);
  NodeVec out = {0};
  for each (FusionNode, n, &f->graph.nodes) {
    NodeVec *group = map_get(&members, n);
    if (!group) vec_push(&out, n->binding);
    if (!group || n->binding != vec_last(group)) continue;
    VarBinding b = *AS(VarBinding, n->binding);
    b.value = primitive_call(functions, *group);
    vec_push(&out, gc_copy(&b, sizeof b));
  }
  return out;
}

/* ---- the pass ---- */

typedef struct FuseOps {
  SharedFunctions functions;
  int max_depth;
  int64_t most_buffers;
} FuseOps;

static Node *fuse_block(FuseOps *p, Node *n) {
  BindingBlock b = *AS(BindingBlock, n);
  Fusion f = {fusion_graph(p->functions.module, &b), p->max_depth, p->most_buffers};
  for (Phase phase = 0; phase < PHASES; phase++)
    for (int i = 0; i < f.graph.nodes.len; i++) visit(&f, i, phase);
  NodeVec bindings = grouped(&f, &p->functions);
  if (bindings.len == b.bindings.len) return n;
  b.bindings = bindings;
  return gc_copy(&b, sizeof b);
}

static Node *rewrite(Mutator *m, Node *n) {
  if (IS(RelaxVar, n) || IS(Var, n) || IS(GlobalVar, n)) return n;
  n = mutate_children(m, n);
  bool is_dataflow = IS(BindingBlock, n) && AS(BindingBlock, n)->is_dataflow;
  return is_dataflow ? fuse_block(m->context, n) : n;
}

Node *pass_fuse_ops(Node *module, const PassContext *context) {
  int64_t max_depth = pass_option_int(context, "max_depth");
  FuseOps p = {.functions = {.module = module},
               .max_depth = max_depth > INT32_MAX ? INT32_MAX : (int)max_depth,
               .most_buffers = target_most_buffers(context->target)};
  if (pass_option_int(context, "fuse_opt_level") == 0) return module;
  IRModule *m = AS(IRModule, module);
  for (int i = 0; i < m->functions.len; i++) {
    Node *f = m->functions.at[i];
    if (!IS(Function, f) || dict_get_int(AS(Function, f)->attrs, "Primitive", 0)) continue;
    Mutator mutator = {.rewrite = rewrite, .context = &p};
    Node *fused = mutate(&mutator, f);
    if (fused != f) p.functions.module = module_with(p.functions.module, m->globals.at[i], fused);
  }
  return p.functions.module;
}
