/* speed.c -- see speed.h: from what a block does to the time of a launch.
 *
 * As many blocks as fit run on an SM at a time; they share what it can do, and each by itself takes
 * at least the clocks that its busiest pipe and its waits need. Blocks come in waves. Memory limits
 * all SMs together: what does not stay in the L2 cache is brought again for each wave. */
#include "target/speed/speed.h"
#include "ir/support/error.h"
#include "lower/lower.h"
#include "target/speed/count.h"
#include "target/speed/registers.h"
#include "target/target.h"
#include <math.h>

/* Registers of a thread come in units; shared memory that a block takes for the system. */
enum { REGISTERS = 65536, REGISTER_UNIT = 8, SYSTEM_SHARED = 1024, ASSUMED = 1024 };

/* The part of its size that the L2 cache holds of what is read in turn. */
static const double l2_share = 0.75;

const char *speed_pipe_name(Pipe pipe) {
  static const char *const names[PIPES] = {"tensor cores", "floating point", "shared memory",
                                           "L2 cache", "issue"};
  return names[pipe];
}

/* ---- the launch ---- */

static void bind_size(Count *c, Node *var, const Map *sizes) {
  const int64_t *told = map_get(sizes, str_intern(AS(Var, var)->name));
  value_bind(&c->values, var, told ? *told : ASSUMED);
  if (told) return;
  const char *before = c->out->assumed ? str_format("%s, ", c->out->assumed) : "";
  c->out->assumed = str_format("%s%s = %d", before, AS(Var, var)->name, ASSUMED);
}

static Node *enter_launch(Count *c, PrimFunc *f) {
  Node *n = f->body;
  KernelSpeed *k = c->out;
  for (int d = 0; d < 3; d++) k->grid[d] = k->block[d] = 1;
  for (; is_launch(n); n = AS(AttrStmt, n)->body) {
    AttrStmt *a = AS(AttrStmt, n);
    int axis = launch_axis(launch_tag(n));
    Node *var = AS(IterVar, a->subject)->var;
    int64_t extent = 1;
    value_of(&c->values, a->value, &extent);
    if (axis >= 3) {
      c->threads[axis - 3] = var;
      k->block[axis - 3] = extent;
    } else {
      c->blocks[axis] = var;
      k->grid[axis] = (double)extent;
      value_bind(&c->values, var, extent / 2);
    }
  }
  k->threads = k->block[0] * k->block[1] * k->block[2];
  if (k->threads > MOST_THREADS) k->threads = MOST_THREADS;
  return n;
}

static double blocks_of(const KernelSpeed *k) { return k->grid[0] * k->grid[1] * k->grid[2]; }

/* ---- memory ---- */

static WalkResult find_size(Walker *w, Node *n) {
  Count *c = ((void **)w->context)[0];
  Map *sizes = ((void **)w->context)[1];
  if (!IS(Buffer, n)) return WALK_ON;
  Buffer *b = AS(Buffer, n);
  int64_t nbytes = dtype_nbytes(b->elem), extent;
  for each (Node *, e, &b->shape) {
    if (!value_of(&c->values, *e, &extent) || extent == INT32_MAX) return WALK_ON;
    nbytes *= extent;
  }
  const int64_t *before = map_get(sizes, b->data);
  if (!before || *before < nbytes) map_set(sizes, b->data, gc_copy(&nbytes, sizeof nbytes));
  return WALK_ON;
}

/* Blocks along an axis that a wave has, where x changes fastest. */
static double along_axis(const KernelSpeed *k, int axis, double wave) {
  for (int d = 0; d < axis; d++) wave = ceil(wave / k->grid[d]);
  return fmax(1, fmin(k->grid[axis], wave));
}

/* Bytes that a wave of blocks touches by one access. */
static double of_wave(const KernelSpeed *k, const Stream *s, double wave) {
  double tiles = 1;
  for (int d = 0; d < 3; d++)
    if (s->along[d]) tiles *= along_axis(k, d, wave);
  return s->bytes * fmin(tiles, wave);
}

/* Of all accesses of a tensor. */
typedef struct Tensor {
  double once, brought; /* bytes: each element once; those that memory gives */
} Tensor;

/* What a block reads again, or writes over, is in the caches. */
static bool is_again(const Count *c, const Stream *s) {
  for each (const Stream, x, &c->streams) {
    if (x == s) return false;
    if (x->data == s->data && x->mark == s->mark && x->bytes >= s->bytes) return true;
  }
  return false;
}

static Map tensors_of(Count *c, double wave) {
  KernelSpeed *k = c->out;
  Map out = {0};
  double blocks = blocks_of(k);
  for each (const Stream, s, &c->streams) {
    Tensor *t = map_get(&out, s->data);
    if (!t) map_set(&out, s->data, t = NEW(Tensor, .once = 0));
    if (is_again(c, s)) continue;
    t->once += of_wave(k, s, blocks);
    t->brought += fmin(s->bytes * blocks, ceil(blocks / wave) * of_wave(k, s, wave));
  }
  return out;
}

/* Each element once; and what memory gives: everything again in each wave that the cache has not.
 */
static void count_dram(Count *c, PrimFunc *f) {
  KernelSpeed *k = c->out;
  Map sizes = {0};
  void *context[] = {c, &sizes};
  Walker w = {.enter = find_size, .context = context};
  walk(&w, f->body);
  double wave = fmin(blocks_of(k), fmax(1, (double)k->resident * k->chip->sms)), brought = 0;
  Map tensors = tensors_of(c, wave);
  for each (const MapEntry, e, &tensors) {
    const int64_t *size = map_get(&sizes, e->key);
    const Tensor *t = e->value;
    double once = size ? fmin((double)*size, t->once) : t->once;
    k->least_bytes += once;
    brought += fmax(once, t->brought);
  }
  bool fits = k->least_bytes <= l2_share * k->chip->l2_bytes;
  k->dram_bytes = fits ? k->least_bytes : brought;
}

/* ---- time ---- */

static void lessen(KernelSpeed *k, int64_t n, const char *by) {
  if (n >= k->resident) return;
  k->resident = n;
  k->resident_by = by;
}

static void find_occupancy(KernelSpeed *k) {
  int64_t warps = (k->threads + WARP - 1) / WARP;
  int64_t registers = (k->registers + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT;
  k->resident = k->chip->blocks;
  k->resident_by = "the most blocks an SM has";
  lessen(k, k->chip->threads / (warps * WARP), "threads");
  if (k->shared_bytes)
    lessen(k, k->chip->shared / (k->shared_bytes + SYSTEM_SHARED), "shared memory");
  if (registers) lessen(k, REGISTERS / (registers * WARP * warps), "registers");
  if (k->resident < 1) k->resident = 1;
  k->occupancy = (double)(k->resident * warps * WARP) / (double)k->chip->threads;
}

static Pipe busiest_pipe(const KernelSpeed *k) {
  Pipe most = 0;
  for (Pipe p = 1; p < PIPES; p++)
    if (k->pipes[p] > k->pipes[most]) most = p;
  return most;
}

/* Clocks of an SM for so many blocks at a time. */
static double wave_clocks(const KernelSpeed *k, double blocks) {
  return blocks <= 0 ? 0 : fmax(k->alone, blocks * k->pipes[busiest_pipe(k)]);
}

static void find_time(KernelSpeed *k) {
  double blocks = blocks_of(k), hz = k->chip->mhz * 1e6,
         at_once = (double)k->resident * k->chip->sms;
  double whole = floor(blocks / at_once), rest = blocks - whole * at_once;
  double clocks =
      whole * wave_clocks(k, (double)k->resident) + wave_clocks(k, ceil(rest / k->chip->sms));
  double dram = k->dram_bytes / (k->chip->dram * 1e9);
  bool waits = wave_clocks(k, fmin((double)k->resident, ceil(blocks / k->chip->sms))) <= k->alone;
  k->time = fmax(clocks / hz, dram);
  k->bound_by = k->time <= dram ? "memory" : waits ? "latencies" : speed_pipe_name(busiest_pipe(k));
  double rest_flops = k->flops - k->tensor_flops;
  double tensor =
      k->tensor_rate > 0 ? k->tensor_flops / (2 * k->tensor_rate * k->chip->sms * hz) : 0;
  double floats = rest_flops / (2 * k->chip->floats * k->chip->sms * hz);
  double bytes = k->least_bytes / (k->chip->dram * 1e9);
  k->limit = fmax(bytes, fmax(tensor, floats));
  k->limit_by = k->limit <= bytes    ? "memory"
                : k->limit <= tensor ? "tensor cores"
                                     : "floating point";
}

/* ---- all ---- */

static void to_launch(KernelSpeed *k) {
  double blocks = blocks_of(k);
  double *totals[] = {&k->flops,        &k->tensor_flops,      &k->wanted_bytes,
                      &k->l2_bytes,     &k->shared_load_bytes, &k->wide_load_bytes,
                      &k->shared_turns, &k->conflicts};
  for (size_t i = 0; i < sizeof totals / sizeof *totals; i++) *totals[i] *= blocks;
}

static KernelSpeed speed_of(PrimFunc *f, const Target *target, const Map *sizes,
                            const PtxKernelVec *ptx, const char *name) {
  KernelSpeed k = {.name = name, .chip = target_speed(target)};
  Count c = {.out = &k,
             .times = 1,
             .narrows_pairs = target_gpu_number(target_gpu(target)) >= 80,
             .contracts = target_option_int(target, "fp-contract") ||
                          dict_get_int(f->attrs, "tvms.fp_contract", 0)};
  for each (Node *, p, &f->params)
    if (!dtype_is_handle((*p)->dtype)) bind_size(&c, *p, sizes);
  Node *body = enter_launch(&c, f);
  k.shared_bytes = shared_bytes(body);
  for each (const PtxKernel, p, ptx)
    if (str_same(p->name, name)) k.registers = p->registers, k.instructions = p->instructions;
  Cost cost = count_body(&c, body);
  memcpy(k.pipes, cost.busy, sizeof k.pipes);
  find_occupancy(&k);
  for (int i = 0; i < LATENCIES; i++) k.alone += cost.latency[i];
  k.alone += cost.waited + cost_clocks(&cost);
  to_launch(&k);
  count_dram(&c, f);
  find_time(&k);
  return k;
}

KernelSpeedVec speed_of_kernels(Node *lowered, const Target *target, const Map *sizes) {
  KernelSpeedVec out = {0};
  IRModule *m = AS(IRModule, lowered);
  if (!target_is(target, "cuda") || !target_speed(target))
    error_raisef(
        "TargetError", (Span){0},
        "speeds are known of NVIDIA's GPUs, not of '%s': give --target \"cuda -arch=sm_80\"",
        target_text(target));
  PtxKernelVec ptx = ptx_kernels(backend_find("cuda")->device_code(lowered, target));
  for (int i = 0; i < m->functions.len; i++)
    if (is_device_function(m->functions.at[i]))
      vec_push(&out, speed_of(AS(PrimFunc, m->functions.at[i]), target, sizes, &ptx,
                              AS(GlobalVar, m->globals.at[i])->name));
  return out;
}
