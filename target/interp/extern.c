/* extern.c -- calls that leave the program: C functions by libffi, the runtime's functions among
 * them; packed functions; other programs of the module.
 *
 * What the runtime hands out (workspace, tensors) becomes known memory here. Memory whose address a
 * foreign function is given counts as written after the call. */
#include "target/interp/interp.h"
#include "target/abi_table.h"
#include "target/lowered.h"
#include <dlfcn.h>
#include <ffi.h>

enum { MAX_ARGS = 64 };

typedef struct ExternCode ExternCode;
/* What a call of the runtime means to the interpreter, after it was made. */
typedef void After(const ExternCode *n, const Scalar *args, Scalar result);

struct ExternCode {
  Code code;
  CodeVec args;
  ffi_cif cif;
  ffi_type **types;
  void *address;
  const char *library_symbol; /* "FILE:SYMBOL" of the address, which a call looks for; or NULL */
  DataType result;            /* of the C function */
  After *after;               /* or NULL */
};

/* ---- the runtime ---- */

static void after_frame_begin(const ExternCode *n, const Scalar *args, Scalar result) {
  (void)n, (void)args;
  if (result.p) vec_push(&interp->frames, result.p);
}

static void after_frame_end(const ExternCode *n, const Scalar *args, Scalar result) {
  (void)n, (void)result;
  int i = interp->frames.len - 1;
  while (i >= 0 && interp->frames.at[i] != args[0].p) i--;
  if (i >= 0) interp->frames.len = i;
}

static void after_alloc(const ExternCode *n, const Scalar *args, Scalar result) {
  (void)n;
  if (args[1].i > 0) memory_note(result.p, (size_t)args[1].i, false, "workspace");
}

static void after_tensor(const ExternCode *n, const Scalar *args, Scalar result) {
  (void)n, (void)args;
  if (result.p) memory_note_tensor(result.p, false, "tensor");
}

static void after_address(const ExternCode *n, const Scalar *args, Scalar result) {
  (void)n, (void)result;
  memory_note_tensor(args[0].p, true, "tensor");
}

/* (frame, callee, args, types, n, ...): the callee may have written its tensors. */
static void after_call(const ExternCode *n, const Scalar *args, Scalar result) {
  (void)n, (void)result;
  const TvmsValue *values = args[2].p;
  const int *types = args[3].p;
  for (int i = 0; i < args[4].i; i++)
    if ((types[i] == TVMS_TENSOR || types[i] == TVMS_DLTENSOR) && values[i].p)
      memory_written(tvms_tensor_address(values[i].p));
}

static const struct {
  const char *name;
  After *after;
} after_rows[] = {
    {"tvms_frame_begin", after_frame_begin}, {"tvms_frame_end", after_frame_end},
    {"tvms_frame_fail", after_frame_end},    {"tvms_frame_alloc", after_alloc},
    {"tvms_frame_tensor", after_tensor},     {"tvms_tensor_address", after_address},
    {"tvms_call_packed", after_call},        {"tvms_call_direct", after_call},
};

/* ---- preparing ---- */

static ffi_type *ffi_of(DataType t, Span span) {
  if (dtype_is_void(t)) return &ffi_type_void;
  if (dtype_is_handle(t)) return &ffi_type_pointer;
  bool is_signed = t.code == DTYPE_INT;
  if (t.code == DTYPE_FLOAT && t.bits == 32) return &ffi_type_float;
  if (t.code == DTYPE_FLOAT && t.bits == 64) return &ffi_type_double;
  if (dtype_is_float(t) || t.lanes != 1)
    fault(span, "C functions can't take or return %s", dtype_text(t));
  switch (t.bits) {
  case 64: return is_signed ? &ffi_type_sint64 : &ffi_type_uint64;
  case 32: return is_signed ? &ffi_type_sint32 : &ffi_type_uint32;
  case 16: return is_signed ? &ffi_type_sint16 : &ffi_type_uint16;
  default: return is_signed ? &ffi_type_sint8 : &ffi_type_uint8;
  }
}

static void prepare(ExternCode *n, Span span) {
  int count = n->args.len;
  if (count > MAX_ARGS) unsupported(span, "a C function of that many arguments");
  n->types = NEW_ARRAY(ffi_type *, count + 1);
  for (int i = 0; i < count; i++) n->types[i] = ffi_of(n->args.at[i]->t, span);
  ffi_type *result = ffi_of(n->result, span);
  if (ffi_prep_cif(&n->cif, FFI_DEFAULT_ABI, (unsigned)count, result, n->types) != FFI_OK)
    unsupported(span, "this C function");
}

static void add_runtime_args(Compiler *c, Call *n, ExternCode *code,
                             const RuntimeFunction *function) {
  DataType want[RUNTIME_PARAMS_MAX];
  const char *name = function->name;
  int count = runtime_function_params(function, want);
  if (n->args.len - 1 != count)
    fault(c->span, "%s takes %d arguments, %d given", name, count, n->args.len - 1);
  for (int i = 0; i < count; i++) {
    const Code *arg = compile_expr(c, n->args.at[i + 1]);
    if (dtype_is_handle(arg->t) != dtype_is_handle(want[i]) || arg->t.lanes != 1)
      fault(c->span, "argument %d of %s must be %s, but is %s", i + 1, name, dtype_text(want[i]),
            dtype_text(arg->t));
    vec_push(&code->args, code_cast(arg, want[i]));
  }
  for (int i = 0; i < (int)(sizeof after_rows / sizeof *after_rows); i++)
    if (str_same(after_rows[i].name, name)) code->after = after_rows[i].after;
}

/* ---- calling ---- */

/* What libffi leaves: integers are widened to a word. */
static Scalar result_of(DataType t, const void *at) {
  if (dtype_is_void(t)) return (Scalar){0};
  Scalar v = {0};
  memcpy(&v, at, t.code == DTYPE_FLOAT && t.bits == 32 ? sizeof v.s : sizeof v);
  return dtype_is_int(t) || dtype_is_bool(t) ? scalar_int(dtype_wrap_int(t, v.i)) : v;
}

static Scalar eval_extern(const Code *c, Frame *f) {
  const ExternCode *n = (const ExternCode *)c;
  Scalar args[n->args.len + 1];
  void *values[n->args.len + 1];
  union {
    ffi_arg word;
    double d;
    void *p;
  } result = {0};
  for (int i = 0; i < n->args.len; i++) {
    args[i] = code_eval(n->args.at[i], f);
    values[i] = &args[i];
  }
  void *address = n->address;
  if (n->library_symbol)
    address =
        tvms_extern_function((void *)(uintptr_t)&n->address, (void *)(uintptr_t)n->library_symbol);
  if (!address) fault_runtime(c->span);
  ffi_call((ffi_cif *)(uintptr_t)&n->cif, FFI_FN(address), &result, values);
  for (int i = 0; i < n->args.len; i++)
    if (dtype_is_handle(n->args.at[i]->t)) memory_written(args[i].p);
  Scalar v = result_of(n->result, &result);
  if (n->after) n->after(n, args, v);
  if (dtype_is_void(n->result)) return v;
  return scalar_cast(n->result, c->t)(n->result, c->t, v);
}

static void *address_of(void (*function)(void)) {
  void *p;
  memcpy(&p, &function, sizeof p); /* ISO C has no cast from function to object pointer */
  return p;
}

const Code *compile_extern(Compiler *c, Call *n) {
  const char *name = compile_text_arg(c, n);
  const RuntimeFunction *function = runtime_function_find(name);
  ExternCode *code =
      NEW(ExternCode, .code = {.eval = eval_extern, .t = n->node.dtype, .span = c->span},
          .result = n->node.dtype);
  if (n->node.dtype.lanes != 1) ffi_of(n->node.dtype, c->span);
  if (function) {
    add_runtime_args(c, n, code, function);
    code->result = runtime_function_result(function);
    code->address = address_of(function->address);
  } else {
    if (lowered_is_in_library(name)) code->library_symbol = name;
    else code->address = dlsym(RTLD_DEFAULT, name);
    if (!code->address && !code->library_symbol)
      fault(c->span, "there is no C function '%s' in this process", name);
    for (int i = 1; i < n->args.len; i++) vec_push(&code->args, compile_expr(c, n->args.at[i]));
  }
  prepare(code, c->span);
  return &code->code;
}

/* ---- packed functions ---- */

typedef struct PackedCode {
  Code code;
  const char *name;
  CodeVec args;
  IntVec types; /* beside args */
} PackedCode;

static int packed_type(const Node *arg, DataType t) {
  if (IS(StringImm, arg)) return TVMS_STR;
  if (is_intrin_call(arg, "tvm_stack_make_array")) return TVMS_DLTENSOR;
  if (dtype_is_handle(t)) return TVMS_PTR;
  return dtype_is_float(t) ? TVMS_FLOAT : dtype_is_bool(t) ? TVMS_BOOL : TVMS_INT;
}

static Scalar packed_result(const Code *c, int type, TvmsValue v) {
  if (type == TVMS_INT || type == TVMS_BOOL) return scalar_int(dtype_wrap_int(c->t, v.i));
  if (type == TVMS_FLOAT) return scalar_int(dtype_wrap_int(c->t, (int64_t)v.f));
  tvms_value_release(type, v);
  return scalar_int(0);
}

static Scalar eval_packed(const Code *c, Frame *f) {
  const PackedCode *n = (const PackedCode *)c;
  TvmsValue args[n->args.len + 1], ret = {0};
  int ret_type = TVMS_NONE;
  TvmsFunc *callee;
  for (int i = 0; i < n->args.len; i++) args[i].i = code_eval(n->args.at[i], f).i;
  if (tvms_func_find(&callee, n->name)) fault_runtime(c->span);
  int status = tvms_func_call(callee, args, n->types.at, n->args.len, &ret, &ret_type);
  tvms_release(callee);
  if (status) fault_runtime(c->span);
  for (int i = 0; i < n->args.len; i++)
    if (n->types.at[i] == TVMS_PTR) memory_written(args[i].p);
    else if (n->types.at[i] == TVMS_DLTENSOR) memory_written(((const DLTensor *)args[i].p)->data);
  return packed_result(c, ret_type, ret);
}

const Code *compile_packed_call(Compiler *c, Call *n) {
  PackedCode *code =
      NEW(PackedCode, .code = {.eval = eval_packed, .t = n->node.dtype, .span = c->span},
          .name = compile_text_arg(c, n));
  for (int i = 1; i < n->args.len; i++) {
    const Code *arg = compile_expr(c, n->args.at[i]);
    int type = packed_type(n->args.at[i], arg->t);
    if (arg->t.lanes != 1) fault(c->span, "a packed function can't take %s", dtype_text(arg->t));
    vec_push(&code->args, type == TVMS_FLOAT ? code_cast(arg, FLOAT64) : arg);
    vec_push(&code->types, type);
  }
  return &code->code;
}

/* ---- programs of the module ---- */

typedef struct ProgramCode {
  Code code;
  Module *module;
  const char *name;
  CodeVec args;
  DataType result;
} ProgramCode;

static Scalar eval_program(const Code *c, Frame *f) {
  const ProgramCode *n = (const ProgramCode *)c;
  Scalar args[n->args.len + 1];
  for (int i = 0; i < n->args.len; i++) args[i] = code_eval(n->args.at[i], f);
  Program *p = module_program(n->module, n->name, c->span);
  Scalar v = program_call_raw(p, args, n->args.len, c->span);
  if (dtype_is_void(n->result)) return (Scalar){0};
  return scalar_cast(n->result, c->t)(n->result, c->t, v);
}

const Code *compile_program_call(Compiler *c, Call *n) {
  Module *m = c->program->module;
  const char *name = AS(GlobalVar, n->op)->name;
  Node *callee = module_find(m->node, name);
  if (!IS(PrimFunc, callee)) fault(c->span, "'%s' is no tensor program of the module", name);
  PrimFunc *f = AS(PrimFunc, callee);
  bool packed = dict_get_int(f->attrs, "tvms.packed", 0) != 0;
  ProgramCode *code =
      NEW(ProgramCode, .code = {.eval = eval_program, .t = n->node.dtype, .span = c->span},
          .module = m, .name = name, .result = packed ? INT32 : f->ret_dtype);
  for (int i = 0; i < n->args.len; i++) {
    DataType t = i < f->params.len ? f->params.at[i]->dtype : n->args.at[i]->dtype;
    vec_push(&code->args, compile_as(c, n->args.at[i], t));
  }
  return &code->code;
}
