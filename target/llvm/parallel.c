/* parallel.c -- parallel loops: the body becomes a function that runs a part of the range.
 *
 * Two functions are made. `f.parallel` has the variables that the body uses as parameters, so
 * pointers that are known to be distinct stay so (noalias); it runs iterations [begin, end) and
 * returns a status. `f.closure`, which tvms_parallel calls, unpacks them from a struct that lies on
 * the stack of the function with the loop. */
#include "target/llvm/codegen.h"
#include "target/work.h"

static LLVMTypeRef closure_type(Gen *g, const NodeVec *vars) {
  LLVMTypeRef *fields = NEW_ARRAY(LLVMTypeRef, vars->len + 1);
  for (int i = 0; i < vars->len; i++) fields[i] = LLVMTypeOf(map_get(&g->f->values, vars->at[i]));
  return LLVMStructTypeInContext(g->context, fields, (unsigned)vars->len, false);
}

static LLVMValueRef add_function(Gen *g, const char *suffix, int n, LLVMTypeRef *params) {
  LLVMTypeRef type = LLVMFunctionType(type_int(g, 32), params, (unsigned)n, false);
  LLVMValueRef fn = LLVMAddFunction(g->out, str_format("%s.%s", g->f->name, suffix), type);
  LLVMSetLinkage(fn, LLVMInternalLinkage);
  gen_attribute(g, fn, (unsigned)LLVMAttributeFunctionIndex, "nounwind", 0);
  return fn;
}

/* f.parallel(captured..., begin, end): the loop over its part. */
static LLVMValueRef declare_body(Gen *g, const NodeVec *vars) {
  LLVMTypeRef *params = NEW_ARRAY(LLVMTypeRef, vars->len + 2);
  for (int i = 0; i < vars->len; i++) params[i] = LLVMTypeOf(map_get(&g->f->values, vars->at[i]));
  params[vars->len] = params[vars->len + 1] = type_int(g, 64);
  LLVMValueRef fn = add_function(g, "parallel", vars->len + 2, params);
  for (int i = 0; i < vars->len; i++)
    if (map_has(&g->f->distinct, vars->at[i])) gen_attribute(g, fn, (unsigned)i + 1, "noalias", 0);
  return fn;
}

static void define_body(Gen *g, LLVMValueRef fn, For *n, const NodeVec *vars) {
  Func *outer = g->f;
  LLVMBasicBlockRef back = LLVMGetInsertBlock(g->b);
  Range64 range = range_of_loop(&g->f->ranges, n);
  Func f = {.sort = FUNC_PARALLEL_BODY,
            .name = outer->name,
            .result = VOID_TYPE,
            .fp_flags = outer->fp_flags};
  func_begin(g, &f, fn);
  debug_function(g, str_format("%s.parallel", outer->name), n->node.span);
  for (int i = 0; i < vars->len; i++) {
    Node *var = vars->at[i];
    gen_bind(g, var, LLVMGetParam(fn, (unsigned)i));
    Range64 *known = map_get(&outer->ranges.vars, var);
    if (known) range_bind(&g->f->ranges, var, *known);
    if (map_has(&outer->distinct, var)) map_set(&f.distinct, var, var);
  }
  DataType t = n->var->dtype;
  LLVMValueRef begin = LLVMGetParam(fn, (unsigned)vars->len);
  LLVMValueRef end = LLVMGetParam(fn, (unsigned)vars->len + 1);
  gen_loop(g, n, gen_cast(g, begin, INT64, t), gen_cast(g, end, INT64, t), range);
  gen_return(g, const_i32(g, 0));
  func_end(g);
  g->f = outer;
  LLVMPositionBuilderAtEnd(g->b, back);
  debug_place(g, n->node.span);
}

/* f.closure(closure, begin, end): a TvmsParallelBody. */
static LLVMValueRef define_closure(Gen *g, LLVMValueRef body, LLVMTypeRef closure, int n,
                                   Span span) {
  LLVMTypeRef params[] = {type_ptr(g), type_int(g, 64), type_int(g, 64)};
  LLVMValueRef fn = add_function(g, "closure", 3, params);
  LLVMBasicBlockRef back = LLVMGetInsertBlock(g->b);
  Func *outer = g->f, f = {.llvm = fn};
  g->f = &f;
  debug_function(g, str_format("%s.closure", outer->name), span);
  LLVMPositionBuilderAtEnd(g->b, LLVMAppendBasicBlockInContext(g->context, fn, "entry"));
  LLVMValueRef *args = NEW_ARRAY(LLVMValueRef, n + 2);
  for (int i = 0; i < n; i++) {
    LLVMValueRef at = LLVMBuildStructGEP2(g->b, closure, LLVMGetParam(fn, 0), (unsigned)i, "");
    args[i] = LLVMBuildLoad2(g->b, LLVMStructGetTypeAtIndex(closure, (unsigned)i), at, "");
  }
  args[n] = LLVMGetParam(fn, 1);
  args[n + 1] = LLVMGetParam(fn, 2);
  LLVMTypeRef type = LLVMGlobalGetValueType(body);
  LLVMBuildRet(g->b, LLVMBuildCall2(g->b, type, body, args, (unsigned)n + 2, ""));
  g->f = outer;
  LLVMPositionBuilderAtEnd(g->b, back);
  debug_place(g, span);
  return fn;
}

void gen_parallel(Gen *g, For *n) {
  NodeVec vars = lowered_captures(n, &g->f->values);
  LLVMTypeRef type = closure_type(g, &vars);
  LLVMValueRef min = gen_cast(g, gen_expr(g, n->min), n->min->dtype, INT64);
  LLVMValueRef extent = gen_cast(g, gen_expr(g, n->extent), n->extent->dtype, INT64);
  LLVMValueRef grain = gen_expr(g, work_grain(n)), body = declare_body(g, &vars);
  LLVMValueRef place = gen_alloca(g, type, 1, 0, "closure");
  for (int i = 0; i < vars.len; i++) {
    LLVMValueRef at = LLVMBuildStructGEP2(g->b, type, place, (unsigned)i, "");
    LLVMBuildStore(g->b, map_get(&g->f->values, vars.at[i]), at);
  }
  define_body(g, body, n, &vars);
  LLVMValueRef args[] = {define_closure(g, body, type, vars.len, n->node.span), place, min, extent,
                         grain};
  LLVMValueRef status = gen_runtime_call(g, "tvms_parallel", 5, args);
  gen_fail_if(g, LLVMBuildICmp(g->b, LLVMIntNE, status, const_i32(g, 0), ""));
}
