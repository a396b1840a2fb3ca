/* packed.c -- T.call_packed and T.call_cpacked in a tensor program: packed functions with scalars,
 * strings and pointers as arguments, and an integer (or nothing, as 0) as result.
 *
 * Each call has a frame of its own, which owns what the function may return. */
#include "target/c/c.h"

/* ".i = n": a field of a TvmsValue with the argument. */
static const char *value_text(CGen *g, Node *arg, CText v) {
  DataType t = arg->dtype;
  if (IS(StringImm, arg)) return str_format("{.s = %s}", v.at);
  if (dtype_is_handle(t)) return str_format("{.p = %s}", v.at);
  if (dtype_is_float(t)) return str_format("{.f = %s}", c_cast(g, v, t, FLOAT64).at);
  return str_format("{.i = %s}", c_cast(g, v, t, INT64).at);
}

/* What tells the callee: a name in the registry, or the address of an export of this module. */
static const char *callee_of(CGen *g, Call *n, const char *name, bool by_address) {
  if (!by_address) return c_string(name);
  IRModule *m = AS(IRModule, g->module);
  for (int i = 0; i < m->functions.len; i++)
    if (IS(PrimFunc, m->functions.at[i]) && lowered_is_packed(AS(PrimFunc, m->functions.at[i])) &&
        str_same(func_symbol(m->functions.at[i]), name))
      return str_format(
          "(void *)(uintptr_t)%s",
          (char *)map_get(&g->kernels, str_intern(AS(GlobalVar, m->globals.at[i])->name)));
  error_raisef("CompileError", n->node.span, "the module has no packed function '%s'", name);
}

CText c_call_packed(CGen *g, Call *n, const char *name, bool by_address) {
  int count = n->args.len - 1;
  const char *callee = callee_of(g, n, name, by_address);
  CText *args = NEW_ARRAY(CText, count + 1);
  c_operands(g, count, n->args.at + 1, args);
  Str values = {0}, types = {0};
  for (int i = 0; i < count; i++) {
    Node *arg = n->args.at[i + 1];
    str_printf(&types, "%s%d", i ? ", " : "", lowered_value_type(arg));
    str_printf(&values, "%s%s", i ? ", " : "", value_text(g, arg, args[i]));
  }
  const char *t = c_temporary(g);
  c_line(g, "TvmsValue %s_args[] = {%s}, %s_ret = {0};", t, count ? str_text(&values) : "{0}", t);
  c_line(g, "int %s_types[] = {%s}, %s_ret_type = 0;", t, count ? str_text(&types) : "0", t);
  c_line(g, "void *%s_frame = tvms_frame_begin();", t);
  c_fail_if(g, str_format("%s_frame == NULL", t));
  c_line(g, "int32_t %s = %s(%s_frame, %s, %s_args, %s_types, %d, &%s_ret, &%s_ret_type);", t,
         by_address ? "tvms_call_direct" : "tvms_call_packed", t, callee, t, t, count, t, t);
  c_line(g, "tvms_frame_fail(%s_frame);", t);
  c_fail_if(g, str_format("%s != 0", t));
  CText value =
      c_text(BINDS_ATOM, "%s(%s_ret, %s_ret_type)", c_helper(g, "number", INT64, VOID_TYPE), t, t);
  return c_cast(g, c_name_it(g, value, INT64), INT64, n->node.dtype);
}
