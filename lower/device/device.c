/* device.c -- see device.h and lower/lower_impl.h. */
#include "lower/device/device.h"

LowerDevice lower_device(const Target *target) {
  static const struct {
    const char *name;
    DLDeviceType type;
    int align;
    bool takes_sizes;
  } kinds[] = {{"opencl", kDLOpenCL, 1, false},
               {"cuda", kDLCUDA, 16, false},
               {"metal", kDLMetal, 16, false},
               {"webgpu", kDLWebGPU, 256, true}};
  for (size_t i = 0; target && i < sizeof kinds / sizeof *kinds; i++)
    if (str_same(kinds[i].name, target->device))
      return (LowerDevice){true, kinds[i].type, (int)target_option_int(target, "device-id"),
                           kinds[i].align, kinds[i].takes_sizes};
  return (LowerDevice){false, kDLCPU, 0, 1, false};
}

static WalkResult find_launch(Walker *w, Node *n) {
  (void)w;
  return is_launch(n) ? WALK_STOP : node_is_expr(n) ? WALK_PRUNE : WALK_ON;
}

bool has_launch(Node *n) {
  Walker w = {.enter = find_launch};
  return n && !walk(&w, n);
}

Node *launch_new(const char *tag, Node *var, Node *extent, Node *body) {
  Node *iter =
      MAKE(IterVar, var->span, VOID_TYPE, .var = var, .iter_kind = ITER_THREAD, .thread_tag = tag);
  return MAKE(AttrStmt, var->span, VOID_TYPE, .subject = iter, .key = str_intern("thread_extent"),
              .value = extent, .body = body);
}

Node *accessed_buffer(const Node *n) {
  if (IS(BufferLoad, n)) return ((const BufferLoad *)(const void *)n)->buffer;
  return IS(BufferStore, n) ? ((const BufferStore *)(const void *)n)->buffer : NULL;
}

/* ---- barriers ---- */

bool is_of_warp(const Call *sync) {
  Node *scope = sync->args.len ? sync->args.at[0] : NULL;
  return IS(StringImm, scope) && str_same(AS(StringImm, scope)->value, "warp");
}

bool waits_for_block(Node *call) {
  bool syncs = is_intrin_call(call, "tvm_storage_sync") && !is_of_warp(AS(Call, call));
  return syncs || is_intrin_call(call, "tvm_thread_allreduce");
}

/* ---- axes ---- */

int launch_axis(const char *tag) {
  static const char *const tags[LAUNCH_AXES] = {"blockIdx.x",  "blockIdx.y",  "blockIdx.z",
                                                "threadIdx.x", "threadIdx.y", "threadIdx.z"};
  for (int i = 0; i < LAUNCH_AXES; i++)
    if (tag && str_same(tag, tags[i])) return i;
  return -1;
}

bool is_device_function(Node *f) {
  return IS(PrimFunc, f) && dict_get_int(AS(PrimFunc, f)->attrs, "tvms.device", 0) != 0;
}

/* ---- matrix instructions ---- */

Node *warp_thread(Node *const vars[3], const int64_t extents[3], Span span) {
  Node *thread = int_imm(INT32, 0, span);
  int64_t before = 1;
  for (int d = 0; d < 3; d++) {
    if (!vars[d]) continue;
    Node *var = expr_cast(INT32, vars[d], span);
    thread = expr_add(thread, expr_mul(var, int_imm(INT32, before, span)));
    before *= extents[d];
  }
  return thread;
}

Node *warp_lane(Node *const vars[3], const int64_t extents[3], Span span) {
  return expr_floormod(warp_thread(vars, extents, span), int_imm(INT32, 32, span));
}

Node *mma_store_pair(const Call *store, Node *lane, int pair) {
  Span span = lane->span;
  Call *pointer = AS(Call, store->args.at[2]);
  Node *pitch = expr_cast(INT32, store->args.at[5], span), *four = int_imm(INT32, 4, span);
  Node *row = expr_add(expr_floordiv(lane, four), int_imm(INT32, pair / 2 * 8, span));
  Node *column = expr_mul(expr_floormod(lane, four), int_imm(INT32, 2, span));
  column = expr_add(column, int_imm(INT32, pair % 2 * 8, span));
  Node *first = expr_cast(INT32, pointer->args.at[2], span);
  return expr_add(first, expr_add(expr_mul(row, pitch), column));
}

static bool is_value(Node *n, double value) {
  if (IS(Broadcast, n)) n = AS(Broadcast, n)->value;
  return IS(FloatImm, n) && AS(FloatImm, n)->value == value;
}

/* The other one, if one operand of a sum or product is that value. */
static Node *beside(Node *n, NodeKind kind, double value) {
  if (n->kind != kind) return NULL;
  Binary *both = (Binary *)(void *)n;
  return is_value(both->a, value) ? both->b : is_value(both->b, value) ? both->a : NULL;
}

Node *one_and_erf(Node *n, double *times) {
  bool is_float32 = n->dtype.code == DTYPE_FLOAT && n->dtype.bits == 32;
  Node *half = is_float32 ? beside(n, NK_Add, 0.5) : NULL;
  Node *erf = half ? beside(half, NK_Mul, 0.5) : is_float32 ? beside(n, NK_Add, 1) : NULL;
  *times = half ? 1 : 2;
  return erf && is_intrin_call(erf, "erf") ? AS(Call, erf)->args.at[0] : NULL;
}
