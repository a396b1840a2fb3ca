/* call.c -- calls: of kernels, of the runtime (abi.def), of C functions. */
#include "target/c/c.h"
#include "target/abi_table.h"
#include <dlfcn.h>

const char *c_join(int n, const CText *args) {
  Str s = {0};
  for (int i = 0; i < n; i++) str_printf(&s, "%s%s", i ? ", " : "", args[i].at);
  return str_text(&s);
}

/* ---- the runtime ---- */

/* A call_extern of a function of abi.def: integers take the width that it wants. */
static CText runtime_call(CGen *g, Call *n, const RuntimeFunction *function) {
  DataType want[RUNTIME_PARAMS_MAX], ret = runtime_function_result(function);
  CText args[RUNTIME_PARAMS_MAX];
  int count = runtime_function_params(function, want), given = n->args.len - 1;
  if (given != count)
    error_raisef("CompileError", n->node.span, "%s takes %d arguments, %d given", function->name,
                 count, given);
  c_operands(g, count, n->args.at + 1, args);
  for (int i = 0; i < count; i++) {
    Node *arg = n->args.at[i + 1];
    DataType have = IS(StringImm, arg) || IS(GlobalVar, arg) ? HANDLE : arg->dtype;
    if (dtype_is_handle(have) != dtype_is_handle(want[i]))
      error_raisef("CompileError", n->node.span, "argument %d of %s must be %s, but is %s", i + 1,
                   function->name, dtype_text(want[i]), dtype_text(have));
    bool is_literal = IS(IntImm, arg);
    if (!is_literal && !dtype_is_handle(want[i])) args[i] = c_cast(g, args[i], have, want[i]);
  }
  CText v = c_text(BINDS_ATOM, "%s(%s)", function->name, c_join(count, args));
  return dtype_is_void(ret) ? v : c_cast(g, v, ret, n->node.dtype);
}

/* ---- C functions ---- */

/* Those of the headers that the text includes are declared there. */
static bool is_declared(const char *name) {
  static const char *const functions =
      " abort abs acos acosh aligned_alloc asin asinh atan atan2 atanh atexit atof atoi atol atoll "
      "bsearch calloc cbrt ceil copysign cos cosh div erf erfc exit exp exp2 expm1 fabs fdim floor "
      "fma fmax fmin fmod free frexp getenv hypot ilogb labs ldexp lgamma llabs llrint llround log "
      "log10 log1p log2 logb lrint lround malloc memchr memcmp memcpy memmove memset modf nan "
      "nearbyint nextafter nexttoward pow qsort rand realloc remainder remquo rint round scalbln "
      "scalbn sin sinh sqrt srand strcat strchr strcmp strcoll strcpy strcspn strerror strlen "
      "strncat strncmp strncpy strpbrk strrchr strspn strstr strtod strtof strtok strtol strtoll "
      "strtoul strtoull strxfrm system tan tanh tgamma trunc ";
  size_t n = strlen(name);
  bool has_suffix = n > 1 && (name[n - 1] == 'f' || name[n - 1] == 'l');
  const char *stem = has_suffix ? str_copy_n(name, n - 1) : name;
  return strstr(functions, str_format(" %s ", name)) || strstr(functions, str_format(" %s ", stem));
}

static DataType argument_type(Node *arg) {
  return IS(StringImm, arg) || IS(GlobalVar, arg) ? HANDLE : arg->dtype;
}

static void check_c_type(CGen *g, Node *n, DataType t) {
  if (dtype_is_void(t)) return;
  if (lowered_is_small_float(t))
    error_raisef("CompileError", n->span, "C functions can't take or return %s", dtype_text(t));
  c_check_type(g, t, n->span);
}

static const char *parameter_types(CGen *g, Call *n) {
  Str s = {0};
  for (int i = 1; i < n->args.len; i++)
    str_printf(&s, "%s%s", i > 1 ? ", " : "", c_type(g, argument_type(n->args.at[i])));
  return n->args.len > 1 ? str_text(&s) : "void";
}

static void declare(CGen *g, Call *n, const char *name) {
  Str s = {0};
  str_printf(&s, "%s%s%s(%s);", c_type(g, n->node.dtype), dtype_is_handle(n->node.dtype) ? "" : " ",
             name, parameter_types(g, n));
  const char *key = str_intern(name), *old = map_get(&g->externs, key);
  if (old && !str_same(old, str_text(&s)))
    error_raisef("CompileError", n->node.span,
                 "the C function '%s' is called as `%s` here and as `%s` elsewhere", name,
                 str_text(&s), old);
  map_set(&g->externs, key, (void *)(uintptr_t)str_text(&s));
}

/* A function of a library, whose address stays in a slot of the function: as a pointer of its type.
 */
static const char *library_function(CGen *g, Call *n, const char *name) {
  const char *slot = c_temporary(g), *fn = c_temporary(g), *type = c_type(g, n->node.dtype);
  c_line(g, "static void *%s;", slot);
  c_line(g, "void *%s = tvms_extern_function(&%s, %s);", fn, slot, c_string(name));
  c_fail_if(g, str_format("%s == NULL", fn));
  return str_format("((%s(*)(%s))(uintptr_t)%s)", type, parameter_types(g, n), fn);
}

CText c_extern(CGen *g, Call *n, const char *name) {
  const RuntimeFunction *function = runtime_function_find(name);
  if (function) return runtime_call(g, n, function);
  bool in_library = lowered_is_in_library(name);
  if (!in_library && !c_is_identifier(name))
    error_raisef("CompileError", n->node.span, "'%s' can't be the name of a C function", name);
  if (g->in_process && !in_library && !dlsym(RTLD_DEFAULT, name))
    error_raisef("CompileError", n->node.span, "there is no C function '%s' in this process", name);
  int count = n->args.len - 1;
  CText *args = NEW_ARRAY(CText, count + 1);
  for (int i = 0; i < count; i++) check_c_type(g, &n->node, argument_type(n->args.at[i + 1]));
  check_c_type(g, &n->node, n->node.dtype);
  c_operands(g, count, n->args.at + 1, args);
  if (in_library)
    return c_text(BINDS_ATOM, "%s(%s)", library_function(g, n, name), c_join(count, args));
  if (!is_declared(name)) declare(g, n, name);
  CText v = c_text(BINDS_ATOM, "%s(%s)", name, c_join(count, args));
  if (!is_declared(name) || dtype_is_void(n->node.dtype)) return v;
  return c_text(BINDS_UNARY, "(%s)%s", c_type(g, n->node.dtype), v.at);
}

/* ---- kernels ---- */

CText c_kernel_call(CGen *g, Call *n) {
  const char *name = AS(GlobalVar, n->op)->name, *label = map_get(&g->kernels, str_intern(name));
  Node *callee = module_find(g->module, name);
  if (!label || !IS(PrimFunc, callee)) BUG("'%s' is no function of the module", name);
  PrimFunc *f = AS(PrimFunc, callee);
  int count = f->params.len;
  if (count != n->args.len)
    error_raisef("CompileError", n->node.span, "%s takes %d arguments, %d given", name, count,
                 n->args.len);
  bool has_result = !lowered_is_packed(f) && !dtype_is_void(f->ret_dtype);
  CText *args = NEW_ARRAY(CText, count + 1);
  c_operands(g, count, n->args.at, args);
  for (int i = 0; i < count; i++)
    if (!IS(IntImm, n->args.at[i]) || dtype_is_float(f->params.at[i]->dtype))
      args[i] = c_cast(g, args[i], argument_type(n->args.at[i]), f->params.at[i]->dtype);
  const char *result = "0";
  if (has_result) {
    result = c_temporary(g);
    c_line(g, "%s;", c_declare_as(g, f->ret_dtype, result));
    args[count] = c_text(BINDS_UNARY, "&%s", result);
  }
  c_fail_if(g, str_format("%s(%s) != 0", label, c_join(count + has_result, args)));
  if (!has_result) return (CText){dtype_is_void(n->node.dtype) ? "" : "0", BINDS_ATOM};
  return c_cast(g, (CText){result, BINDS_ATOM}, f->ret_dtype, n->node.dtype);
}
