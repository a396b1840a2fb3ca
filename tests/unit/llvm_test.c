/* llvm_test.c -- see llvm_test.h. */
#include "tests/unit/llvm_test.h"
#include "lower/lower.h"
#include "passes/passes.h"
#include <stdio.h>
#include <stdlib.h>

Case case_new(void) { return (Case){.n = var_new("n", INT64, NOWHERE)}; }

Node *case_buffer(Case *c, const char *name, DataType elem) {
  Node *b = buffer_new(name, elem, NODES(c->n), "global", NOWHERE);
  vec_push(&c->buffers, b);
  return b;
}

Node *i64(int64_t value) { return int_imm(INT64, value, NOWHERE); }

Node *call(const char *name, DataType t, NodeVec args) { return expr_call(name, t, args, NOWHERE); }

Node *load_at(Node *buffer, Node *index) {
  DataType elem = AS(Buffer, buffer)->elem;
  DataType t = dtype_with_lanes(elem, elem.lanes * index->dtype.lanes);
  return MAKE(BufferLoad, NOWHERE, t, .buffer = buffer, .indices = NODES(index));
}

Node *store_at(Node *buffer, Node *index, Node *value) {
  return MAKE(BufferStore, NOWHERE, VOID_TYPE, .buffer = buffer, .indices = NODES(index),
              .value = value);
}

Node *ramp(Node *base, int64_t stride, int lanes) {
  return MAKE(Ramp, NOWHERE, dtype_with_lanes(base->dtype, lanes), .base = base,
              .stride = int_imm(base->dtype, stride, NOWHERE), .lanes = lanes);
}

Node *load_vector(Node *buffer, Node *base, int lanes) {
  return load_at(buffer, ramp(base, 1, lanes));
}

Node *loop(LoopKind kind, Node *var, Node *extent, Node *body) {
  return MAKE(For, NOWHERE, VOID_TYPE, .min = int_imm(var->dtype, 0, NOWHERE), .extent = extent,
              .var = var, .loop_kind = kind, .body = body);
}

Node *raw_binary(NodeKind kind, Node *a, Node *b) {
  DataType t = a->dtype;
  if (kind >= NK_EQ && kind <= NK_Or) t = dtype_with_lanes(BOOL, t.lanes);
  Binary *n = NEW(Binary, .node = {(uint16_t)kind, t, NOWHERE}, .a = a, .b = b);
  return &n->node;
}

/* ---- the packed function ---- */

static Node *text(const char *value) { return string_imm(value, NOWHERE); }
static Node *i32(int64_t value) { return int_imm(INT32, value, NOWHERE); }

static Node *c_call(const char *name, DataType t, NodeVec args) {
  NodeVec all = NODES(text(name));
  for each (Node *, a, &args) vec_push(&all, *a);
  return call("call_extern", t, all);
}

static Node *ret(Node *value) {
  return stmt_evaluate(call("ret", value->dtype, NODES(value)), NOWHERE);
}

static Node *let(Node *v, Node *value, Node *body) {
  return MAKE(LetStmt, NOWHERE, VOID_TYPE, .var = v, .value = value, .body = body);
}

static Node *fail_if(Node *cond, Node *frame) {
  Node *status = c_call("tvms_frame_fail", INT32, NODES(frame));
  return MAKE(IfThenElse, NOWHERE, VOID_TYPE, .cond = cond, .then = ret(status));
}

typedef struct Params {
  Node *args, *types, *count, *frame;
} Params;

/* pointer = the data of argument i; body */
static Node *with_pointer(const Case *c, const Params *p, int i, Node *pointer, Node *body) {
  Node *tensor = var_new("tensor", HANDLE, NOWHERE);
  Node *value = c_call("tvms_arg_tensor", HANDLE,
                       NODES(text("run"), text(AS(Buffer, c->buffers.at[i])->name), p->args,
                             p->types, i32(i), i32(-1), i32(255), i32(0), i32(0)));
  Node *missing = fail_if(call("isnullptr", BOOL, NODES(tensor)), p->frame);
  Node *rest = let(pointer, c_call("tvms_tensor_address", HANDLE, NODES(tensor)), body);
  return let(tensor, value, stmt_seq(NODES(missing, rest), NOWHERE));
}

/* frame = begin; if the number of arguments is wrong: fail; pointers; the kernel; end. */
static Node *packed_function(const Case *c, Node *kernel) {
  Params p = {var_new("args", HANDLE, NOWHERE), var_new("types", HANDLE, NOWHERE),
              var_new("count", INT32, NOWHERE), var_new("frame", HANDLE, NOWHERE)};
  Node *out = var_new("ret", HANDLE, NOWHERE), *out_type = var_new("ret_type", HANDLE, NOWHERE);
  NodeVec operands = {0};
  for each (Node *, b, &c->buffers)
    vec_push(&operands, pointer_var_new("p", AS(Buffer, *b)->elem, "global", NOWHERE));
  vec_push(&operands, c_call("tvms_arg_int", INT64, NODES(p.args, p.types, i32(c->buffers.len))));
  Node *run =
      stmt_evaluate(MAKE(Call, NOWHERE, VOID_TYPE, .op = kernel, .args = operands), NOWHERE);
  Node *end = ret(c_call("tvms_frame_end", INT32, NODES(p.frame, out, out_type, i64(0), i32(0))));
  Node *body = stmt_seq(NODES(run, end), NOWHERE);
  for (int i = c->buffers.len - 1; i >= 0; i--) body = with_pointer(c, &p, i, operands.at[i], body);
  Node *counted = c_call("tvms_arg_count", INT32, NODES(text("run"), p.count, i32(operands.len)));
  Node *check = fail_if(raw_binary(NK_NE, counted, i32(0)), p.frame);
  body = let(p.frame, c_call("tvms_frame_begin", HANDLE, (NodeVec){0}),
             stmt_seq(NODES(check, body), NOWHERE));
  Node *attrs = dict_with(dict_new(), "tvms.packed", i32(1));
  attrs = dict_with(attrs, "global_symbol", text("run"));
  attrs = dict_with(attrs, "tvms.signature", text("(...)"));
  return MAKE(PrimFunc, NOWHERE, VOID_TYPE,
              .params =
                  NODES(var_new("self", HANDLE, NOWHERE), p.args, p.types, p.count, out, out_type),
              .ret_dtype = INT32, .attrs = attrs, .body = body);
}

Node *case_module(const Case *c) {
  NodeVec params = {0};
  for each (Node *, b, &c->buffers) vec_push(&params, AS(Buffer, *b)->data);
  vec_push(&params, c->n);
  Node *kernel = MAKE(PrimFunc, NOWHERE, VOID_TYPE, .params = params, .ret_dtype = VOID_TYPE,
                      .attrs = c->attrs ? c->attrs : dict_new(), .body = c->body);
  Node *k = MAKE(GlobalVar, NOWHERE, VOID_TYPE, .name = str_intern("k"));
  Node *run = MAKE(GlobalVar, NOWHERE, VOID_TYPE, .name = str_intern("run"));
  Node *m = module_with(module_new(), k, kernel);
  return module_with(m, run, packed_function(c, k));
}

/* ---- running ---- */

bool runs_on(const char *kind) {
  const char *asked = getenv("UNIT_TARGET");
  return str_same(asked && *asked ? asked : "llvm", kind);
}

static Node *without_vectors(Node *module) {
  static bool started;
  if (!started) lower_start();
  started = true;
  Pipeline p = pipeline_parse("ScalarizeVectors", NOWHERE);
  return pipeline_run(&p, module, NULL, NULL);
}

TvmsModule *load_module(Node *module, const char *options) {
  if (runs_on("c")) return backend_c.load(without_vectors(module), target_parse("c", NOWHERE));
  return backend_llvm.load(module, target_parse(str_format("llvm %s", options), NOWHERE));
}

int run_case(TvmsModule *m, const Case *c, int64_t n, void **memory) {
  int count = c->buffers.len, ret_type;
  TvmsValue *args = NEW_ARRAY(TvmsValue, count + 1), ret;
  int *types = NEW_ARRAY(int, count + 1);
  for (int i = 0; i < count; i++) {
    DataType t = AS(Buffer, c->buffers.at[i])->elem;
    DLTensor *dl = NEW(DLTensor, .data = memory[i], .device = {kDLCPU, 0}, .ndim = 1,
                       .dtype = {(uint8_t)dtype_dlpack_code(t), t.bits, (uint16_t)t.lanes},
                       .shape = NEW(int64_t, n));
    args[i].p = dl;
    types[i] = TVMS_DLTENSOR;
  }
  args[count].i = n;
  types[count] = TVMS_INT;
  TvmsFunc *run = NULL;
  if (tvms_module_function(&run, m, "run")) return -1;
  int status = tvms_func_call(run, args, types, count + 1, &ret, &ret_type);
  tvms_release(run);
  return status;
}

bool compile_and_run(const Case *c, const char *options, int64_t n, void **memory) {
  TvmsModule *m = load_module(case_module(c), options);
  int status = run_case(m, c, n, memory);
  if (status) printf("the call fails: %s\n", tvms_last_error());
  tvms_release(m);
  return status == 0;
}

static void compile(void *c) { tvms_release(load_module(case_module(c), "")); }

bool compile_raises(const Case *c, const char *kind, const char *message) {
  Error *e = protect(compile, (void *)(uintptr_t)c);
  bool same = e && str_same(e->kind, kind) && strstr(e->text, message);
  if (!same) printf("raised: %s: %s\n", e ? e->kind : "nothing", e ? e->text : "");
  return same;
}

/* ---- elements ---- */

static int element_bytes(DataType t) { return t.bits < 8 ? 1 : t.bits / 8; }

int64_t get_int(DataType t, const void *at, int64_t i) {
  uint64_t bits = 0;
  int n = element_bytes(t);
  memcpy(&bits, (const char *)at + i * n, (size_t)n);
  return dtype_is_bool(t) ? (int64_t)bits : dtype_wrap_int(t, (int64_t)bits);
}

void put_int(DataType t, void *at, int64_t i, int64_t value) {
  int n = element_bytes(t);
  memcpy((char *)at + i * n, &value, (size_t)n);
}

double get_float(DataType t, const void *at, int64_t i) {
  if (t.bits == 32) return (double)((const float *)at)[i];
  if (t.bits == 64) return ((const double *)at)[i];
  return dtype_float_from_bits(t, (uint32_t)get_int(DTYPE_OF(UINT, t.bits), at, i));
}

void put_float(DataType t, void *at, int64_t i, double value) {
  if (t.bits == 32) ((float *)at)[i] = (float)value;
  else if (t.bits == 64) ((double *)at)[i] = value;
  else put_int(DTYPE_OF(UINT, t.bits), at, i, dtype_float_to_bits(t, value));
}
