/* analysis_names.c -- the module _analysis: what stdlib/module/tvm/relax/analysis.tvms asks of the
 * IR about struct info, calls and kernels. */
#include "lang/dialect/dialect_impl.h"
#include "ir/arith/arith.h"
#include "lower/memory/memory.h"

#define ARG(i)  call->args[i]
#define SPAN(i) call->spans[i]

static Node *sinfo_arg(BuiltinCall *call, int i) { return to_sinfo(ARG(i), SPAN(i)); }

static Value analysis_join(BuiltinCall *call) {
  return value_node(sinfo_join(sinfo_arg(call, 0), sinfo_arg(call, 1)));
}

static Value analysis_check(BuiltinCall *call) {
  return value_int(sinfo_check(sinfo_arg(call, 0), sinfo_arg(call, 1), NULL));
}

static Node *simplify(Mutator *m, Node *n) {
  if (node_is_expr(n)) return arith_simplify(m->context, n);
  return IS(RelaxVar, n) ? n : mutate_children(m, n);
}

/* known: from variables to what stands for them; dims that mention others are not kept. */
static Value analysis_erase(BuiltinCall *call) {
  Map known = {0};
  ValueVec pairs = value_to_vec(ARG(1), SPAN(1));
  for each (Value, pair, &pairs) {
    ValueVec *p = value_items(*pair);
    Node *var = p->at[0].node;
    map_set(&known, var,
            IS(Var, var) ? expr_cast(var->dtype, to_expr(p->at[1], SPAN(1)), SPAN(1))
                         : p->at[1].node);
  }
  Node *erased = sinfo_erase_vars(sinfo_arg(call, 0), &known), *out = substitute(erased, &known);
  Mutator m = {.rewrite = simplify, .context = arith_new()};
  return value_node(out == erased ? out : mutate(&m, out));
}

static Value analysis_call_result(BuiltinCall *call) {
  NodeVec args = {0};
  ValueVec items = value_to_vec(ARG(1), SPAN(1));
  for each (Value, v, &items) vec_push(&args, to_sinfo(*v, SPAN(1)));
  return value_node(sinfo_of_call_result(sinfo_arg(call, 0), args, call->span));
}

static Value analysis_has_effects(BuiltinCall *call) {
  if (!value_is_node(ARG(0), NK_RelaxCall))
    raise("TypeError", SPAN(0), "expected a call, found %s", value_type_name(ARG(0)));
  return value_bool(relax_call_has_effects(ARG(0).node));
}

/* The last parameter gets all elements of another one, in their order. */
static Value analysis_is_reshape(BuiltinCall *call) {
  KernelParts parts;
  if (!value_is_node(ARG(0), NK_PrimFunc))
    raise("TypeError", SPAN(0), "expected a tensor program, found %s", value_type_name(ARG(0)));
  PrimFunc *f = AS(PrimFunc, ARG(0).node);
  int out = f->params.len - 1;
  bool copies = out > 0 && kernel_copies(f, out, &parts) && parts.len == 1 &&
                expr_is_zero(parts.at[0].from) && expr_is_zero(parts.at[0].to);
  if (!copies) return value_bool(false);
  Node *source = f->buffers.at[parts.at[0].param], *n = int_imm(INT64, 1, call->span);
  for each (Node *, d, &AS(Buffer, source)->shape) n = expr_mul(n, expr_cast(INT64, *d, call->span));
  return value_bool(arith_can_prove_equal(arith_new(), n, parts.at[0].count));
}

static const Builtin builtins[] = {
    {"join", "a, b", analysis_join, "the most precise struct info that covers both"},
    {"check", "base, derived", analysis_check, "0: no, 1: maybe, 2: yes"},
    {"erase", "struct_info, known", analysis_erase, "without dims of unknown variables"},
    {"call_result", "func, args", analysis_call_result, "of a call with such operands"},
    {"has_effects", "call", analysis_has_effects, "may it do more than give its result?"},
    {"is_reshape", "func", analysis_is_reshape, "does a tensor program only copy?"},
};

Value analysis_namespace(void) {
  static Value ns;
  if (ns.type) return ns;
  ns = value_namespace("_analysis");
  namespace_add_builtins(ns, builtins, sizeof builtins / sizeof *builtins);
  return ns;
}
