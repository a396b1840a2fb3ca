/* packed.c -- T.call_packed and T.call_cpacked in a tensor program: packed functions with scalars,
 * strings and pointers as arguments, and an integer (or nothing, as 0) as result.
 *
 * Each call has a frame of its own, which owns what the function may return. */
#include "target/llvm/codegen.h"

/* As the 64 bits of a TvmsValue. */
static LLVMValueRef value_bits(Gen *g, Node *arg) {
  LLVMValueRef v = gen_expr(g, arg);
  if (IS(StringImm, arg)) return LLVMBuildPtrToInt(g->b, v, type_int(g, 64), "");
  if (!dtype_is_float(arg->dtype)) return gen_cast(g, v, arg->dtype, INT64);
  return LLVMBuildBitCast(g->b, gen_cast(g, v, arg->dtype, FLOAT64), type_int(g, 64), "");
}

typedef struct Slots {
  LLVMValueRef values, types, ret, ret_type;
} Slots;

static Slots fill_slots(Gen *g, Call *n) {
  int count = n->args.len - 1, room = count ? count : 1;
  LLVMTypeRef i64 = type_int(g, 64), i32 = type_int(g, 32);
  Slots s = {gen_alloca(g, i64, room, 8, "args"), gen_alloca(g, i32, room, 4, "types"),
             gen_alloca(g, i64, 1, 8, "ret"), gen_alloca(g, i32, 1, 4, "ret_type")};
  for (int i = 0; i < count; i++) {
    Node *arg = n->args.at[i + 1];
    int type = lowered_value_type(arg);
    LLVMValueRef index = const_i64(g, i), bits = value_bits(g, arg);
    LLVMBuildStore(g->b, bits, gen_element_pointer(g, s.values, INT64, index));
    LLVMBuildStore(g->b, const_i32(g, type), gen_element_pointer(g, s.types, INT32, index));
  }
  return s;
}

/* What tells the callee: a name in the registry, or the address of an export of this module. */
static LLVMValueRef callee_of(Gen *g, Call *n, const char *name, bool by_address) {
  if (!by_address) return const_text(g, name);
  LLVMValueRef fn = LLVMGetNamedFunction(g->out, str_format(EXPORT_PREFIX "%s", name));
  if (!fn)
    error_raisef("CompileError", n->node.span, "the module has no packed function '%s'", name);
  return fn;
}

LLVMValueRef gen_call_packed(Gen *g, Call *n, const char *name, bool by_address) {
  LLVMValueRef callee = callee_of(g, n, name, by_address);
  Slots s = fill_slots(g, n);
  LLVMValueRef frame = gen_runtime_call(g, "tvms_frame_begin", 0, NULL);
  gen_fail_if(g, LLVMBuildIsNull(g->b, frame, ""));
  LLVMValueRef args[] = {frame, callee,    s.values, s.types, const_i32(g, n->args.len - 1),
                         s.ret, s.ret_type};
  const char *by = by_address ? "tvms_call_direct" : "tvms_call_packed";
  LLVMValueRef status = gen_runtime_call(g, by, 7, args);
  gen_runtime_call(g, "tvms_frame_fail", 1, &frame);
  gen_fail_if(g, LLVMBuildICmp(g->b, LLVMIntNE, status, const_i32(g, 0), ""));
  LLVMValueRef type = LLVMBuildLoad2(g->b, type_int(g, 32), s.ret_type, "");
  LLVMValueRef value = LLVMBuildLoad2(g->b, type_int(g, 64), s.ret, "");
  LLVMValueRef is_int = LLVMBuildICmp(g->b, LLVMIntEQ, type, const_i32(g, TVMS_INT), "");
  LLVMValueRef is_bool = LLVMBuildICmp(g->b, LLVMIntEQ, type, const_i32(g, TVMS_BOOL), "");
  LLVMValueRef is_number = LLVMBuildOr(g->b, is_int, is_bool, "");
  value = LLVMBuildSelect(g->b, is_number, value, const_i64(g, 0), "");
  return gen_cast(g, value, INT64, n->node.dtype);
}
