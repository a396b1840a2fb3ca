/* dnnl.c -- the shim of oneDNN (version 2): convolutions and products with what follows them.
 *
 * dnnl.conv(data, weight, more..., strides, padding, dilation, groups, post, out): data is
 * (N, C, ...), weight (O, I, ...) with one to three dims of space, padding all befores, then all
 * afters. dnnl.matmul(a, b, more..., transpose_a, transpose_b, post, out). All tensors are float32.
 * `post` names in order what is done to the result, "bias,sum,relu": "bias" and "sum" take the next
 * tensor of `more`; "clip LOW HIGH" bounds. A bias has one number for each channel, or column; what
 * is summed has the shape of the result.
 *
 * The headers of oneDNN are not needed: descriptions of memory and operations are blocks of bytes
 * here that its own functions fill. What was made for one set of shapes is kept, and used again. */
#include "target/lib/shim_args.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- of oneDNN's headers ---- */

enum {
  MAX_DIMS = 12,
  F32 = 3,
  FORMAT_ANY = 1,
  CPU = 1,
  FORWARD_INFERENCE = 96,
  CONVOLUTION_AUTO = 3,
  SCRATCHPAD_USER = 1,
  QUERY_SRC = 129,
  QUERY_WEIGHTS = 131,
  QUERY_DST = 133,
  QUERY_SCRATCHPAD = 136,
  OUT_OF_MEMORY = 1,
  UNIMPLEMENTED = 3,
  ARG_SRC = 1,
  ARG_DST = 17,
  ARG_WEIGHTS = 33,
  ARG_BIAS = 41,
  ARG_SCRATCHPAD = 80
};

typedef int64_t Dims[MAX_DIMS];
typedef struct MemoryDesc {
  _Alignas(8) char bytes[1024]; /* room for 696 */
} MemoryDesc;
typedef struct OpDesc {
  _Alignas(8) char bytes[8192]; /* room for 5976 */
} OpDesc;
typedef struct ExecArg {
  int arg;
  void *memory;
} ExecArg;

static int (*dnnl_engine_create)(void **engine, int kind, size_t index);
static int (*dnnl_stream_create)(void **stream, void *engine, unsigned flags);
static int (*dnnl_stream_wait)(void *stream);
static int (*dnnl_stream_destroy)(void *stream);
static int (*dnnl_memory_desc_init_by_strides)(MemoryDesc *d, int ndims, const Dims dims, int type,
                                               const Dims strides);
static int (*dnnl_memory_desc_init_by_tag)(MemoryDesc *d, int ndims, const Dims dims, int type,
                                           int tag);
static int (*dnnl_memory_desc_equal)(const MemoryDesc *a, const MemoryDesc *b);
static size_t (*dnnl_memory_desc_get_size)(const MemoryDesc *d);
static int (*dnnl_memory_create)(void **memory, const MemoryDesc *d, void *engine, void *handle);
static int (*dnnl_memory_destroy)(void *memory);
static int (*dnnl_dilated_convolution_forward_desc_init)(
    OpDesc *d, int prop, int alg, const MemoryDesc *src, const MemoryDesc *weights,
    const MemoryDesc *bias, const MemoryDesc *dst, const Dims strides, const Dims dilates,
    const Dims before, const Dims after);
static int (*dnnl_matmul_desc_init)(OpDesc *d, const MemoryDesc *src, const MemoryDesc *weights,
                                    const MemoryDesc *bias, const MemoryDesc *dst);
static int (*dnnl_primitive_attr_create)(void **attr);
static int (*dnnl_primitive_attr_destroy)(void *attr);
static int (*dnnl_primitive_attr_set_post_ops)(void *attr, void *ops);
static int (*dnnl_primitive_attr_set_scratchpad_mode)(void *attr, int mode);
static int (*dnnl_post_ops_create)(void **ops);
static int (*dnnl_post_ops_destroy)(void *ops);
static int (*dnnl_post_ops_append_sum)(void *ops, float scale);
static int (*dnnl_post_ops_append_eltwise)(void *ops, float scale, int alg, float alpha,
                                           float beta);
static int (*dnnl_primitive_desc_create)(void **pd, const OpDesc *d, void *attr, void *engine,
                                         void *hint);
static const MemoryDesc *(*dnnl_primitive_desc_query_md)(void *pd, int what, int index);
static int (*dnnl_primitive_desc_destroy)(void *pd);
static int (*dnnl_primitive_create)(void **p, void *pd);
static int (*dnnl_primitive_destroy)(void *p);
static int (*dnnl_primitive_execute)(void *p, void *stream, int n, const ExecArg *args);
static int (*dnnl_reorder_primitive_desc_create)(void **pd, const MemoryDesc *src, void *src_engine,
                                                 const MemoryDesc *dst, void *dst_engine,
                                                 void *attr);

static const TvmsShimSymbol symbols[] = {
    TVMS_SHIM_SYMBOL(dnnl_engine_create),
    TVMS_SHIM_SYMBOL(dnnl_stream_create),
    TVMS_SHIM_SYMBOL(dnnl_stream_wait),
    TVMS_SHIM_SYMBOL(dnnl_stream_destroy),
    TVMS_SHIM_SYMBOL(dnnl_memory_desc_init_by_strides),
    TVMS_SHIM_SYMBOL(dnnl_memory_desc_init_by_tag),
    TVMS_SHIM_SYMBOL(dnnl_memory_desc_equal),
    TVMS_SHIM_SYMBOL(dnnl_memory_desc_get_size),
    TVMS_SHIM_SYMBOL(dnnl_memory_create),
    TVMS_SHIM_SYMBOL(dnnl_memory_destroy),
    TVMS_SHIM_SYMBOL(dnnl_dilated_convolution_forward_desc_init),
    TVMS_SHIM_SYMBOL(dnnl_matmul_desc_init),
    TVMS_SHIM_SYMBOL(dnnl_primitive_attr_create),
    TVMS_SHIM_SYMBOL(dnnl_primitive_attr_destroy),
    TVMS_SHIM_SYMBOL(dnnl_primitive_attr_set_post_ops),
    TVMS_SHIM_SYMBOL(dnnl_primitive_attr_set_scratchpad_mode),
    TVMS_SHIM_SYMBOL(dnnl_post_ops_create),
    TVMS_SHIM_SYMBOL(dnnl_post_ops_destroy),
    TVMS_SHIM_SYMBOL(dnnl_post_ops_append_sum),
    TVMS_SHIM_SYMBOL(dnnl_post_ops_append_eltwise),
    TVMS_SHIM_SYMBOL(dnnl_primitive_desc_create),
    TVMS_SHIM_SYMBOL(dnnl_primitive_desc_query_md),
    TVMS_SHIM_SYMBOL(dnnl_primitive_desc_destroy),
    TVMS_SHIM_SYMBOL(dnnl_primitive_create),
    TVMS_SHIM_SYMBOL(dnnl_primitive_destroy),
    TVMS_SHIM_SYMBOL(dnnl_primitive_execute),
    TVMS_SHIM_SYMBOL(dnnl_reorder_primitive_desc_create),
    {NULL, NULL}};

static void *engine;

static int start(void) {
  return dnnl_engine_create(&engine, CPU, 0) ? tvms_set_error("oneDNN has no engine for this CPU")
                                             : 0;
}

/* ---- a call ---- */

enum { SRC, WEIGHTS, DST, OPERANDS };

typedef struct Job {
  ShimArgs args;
  const DLTensor *tensor[OPERANDS];
  const DLTensor *bias, *sum; /* or NULL */
  const char *post;
  void *ops; /* of oneDNN */
  int ndim[OPERANDS];
  Dims dims[OPERANDS], strides[OPERANDS];
  int bias_ndim;
  Dims bias_dims;
  bool is_conv, any_layout; /* may oneDNN choose the layouts? */
  Dims step, dilation, before, after;
} Job;

static int refused(const Job *j, int status) {
  const char *why = status == OUT_OF_MEMORY   ? "memory is short"
                    : status == UNIMPLEMENTED ? "it has no code for these shapes"
                                              : "it does not take these arguments";
  return tvms_set_error("%s: oneDNN says that %s (status %d)", j->args.function, why, status);
}

static const struct {
  const char *word;
  int alg;
  float alpha;
} activations[] = {{"relu", 0x1f, 0}, {"tanh", 0x2f, 0}, {"sigmoid", 0xaf, 0},
                   {"gelu", 0x30, 0}, {"silu", 0xdf, 1}, {"gelu_tanh", 0xcf, 0},
                   {"clip", 0xff, 0}};

static int add_activation(Job *j, const char *word, size_t n) {
  size_t name = strcspn(word, " ,");
  for (size_t i = 0; i < sizeof activations / sizeof *activations; i++) {
    if (strlen(activations[i].word) != name || memcmp(activations[i].word, word, name) != 0)
      continue;
    float alpha = activations[i].alpha, beta = 0;
    char *end;
    if (name < n) alpha = strtof(word + name, &end), beta = strtof(end, NULL);
    int status = dnnl_post_ops_append_eltwise(j->ops, 1.0f, activations[i].alg, alpha, beta);
    return status ? refused(j, status) : 0;
  }
  return tvms_set_error("%s: nothing is called '%.*s'", j->args.function, (int)n, word);
}

/* Adds one word of `post`; *next is the argument that the next tensor is. */
static int add_post(Job *j, const char *word, size_t n, int *next) {
  if (n == 4 && memcmp(word, "bias", n) == 0)
    return (j->bias = shim_tensor(&j->args, (*next)++)) ? 0 : -1;
  if (n != 3 || memcmp(word, "sum", n) != 0) return add_activation(j, word, n);
  if (!(j->sum = shim_tensor(&j->args, (*next)++))) return -1;
  int status = dnnl_post_ops_append_sum(j->ops, 1.0f);
  return status ? refused(j, status) : 0;
}

/* Reads the tensors, and the text before the last argument. */
static int read_job(Job *j, int least) {
  if (j->args.n < least)
    return tvms_set_error("%s takes %d arguments or more, %d given", j->args.function, least,
                          j->args.n);
  int last = j->args.n - 2, next = 2;
  for (int i = 0; i < OPERANDS; i++) {
    j->tensor[i] = shim_tensor(&j->args, i == DST ? j->args.n - 1 : i);
    if (!j->tensor[i]) return -1;
    if (!shim_is_float(j->tensor[i], 32))
      return tvms_set_error("%s: all tensors must be float32", j->args.function);
  }
  if (j->args.types[last] != TVMS_STR)
    return tvms_set_error("%s: argument %d must be a text", j->args.function, last + 1);
  j->post = j->args.values[last].s;
  if (dnnl_post_ops_create(&j->ops)) return refused(j, OUT_OF_MEMORY);
  for (const char *c = j->post; *c;) {
    size_t n = strcspn(c, ",");
    if (add_post(j, c, n, &next)) return -1;
    c += n + (c[n] == ',');
  }
  return 0;
}

static int check_more(const Job *j, int64_t channels) {
  const DLTensor *out = j->tensor[DST];
  if (j->bias &&
      (!shim_is_float(j->bias, 32) || shim_product(j->bias->shape, j->bias->ndim) != channels))
    return tvms_set_error("%s: the bias must have %lld numbers of float32", j->args.function,
                          (long long)channels);
  bool fits = !j->sum || (shim_is_float(j->sum, 32) && shim_product(j->sum->shape, j->sum->ndim) ==
                                                           shim_product(out->shape, out->ndim));
  return fits ? 0
              : tvms_set_error("%s: what is summed must have the shape of the result",
                               j->args.function);
}

static void set_compact(Job *j, int i) {
  int64_t step = 1;
  for (int d = j->ndim[i] - 1; d >= 0; d--) {
    j->strides[i][d] = step;
    step *= j->dims[i][d];
  }
}

/* ---- what is kept for one set of shapes ---- */

/* A tensor of an operation: as tvms has it, and as oneDNN wants it. */
typedef struct Operand {
  MemoryDesc plain;
  const MemoryDesc *wanted;
  void *to_wanted, *to_plain; /* reorders, or NULL */
} Operand;

typedef struct Prepared {
  struct Prepared *next;
  char *key;
  void *description, *primitive;
  Operand operand[OPERANDS];
  MemoryDesc bias;
  const MemoryDesc *scratch;
} Prepared;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list */
static Prepared *all;

static Prepared *find_prepared(const char *key) {
  pthread_mutex_lock(&lock);
  Prepared *p = all;
  while (p && strcmp(p->key, key) != 0) p = p->next;
  pthread_mutex_unlock(&lock);
  return p;
}

/* Two threads may have made the same: both stay. */
static void keep(Prepared *p) {
  pthread_mutex_lock(&lock);
  p->next = all;
  all = p;
  pthread_mutex_unlock(&lock);
}

static void discard(Prepared *p) {
  for (int i = 0; i < OPERANDS; i++) {
    if (p->operand[i].to_wanted) dnnl_primitive_destroy(p->operand[i].to_wanted);
    if (p->operand[i].to_plain) dnnl_primitive_destroy(p->operand[i].to_plain);
  }
  if (p->primitive) dnnl_primitive_destroy(p->primitive);
  if (p->description) dnnl_primitive_desc_destroy(p->description);
  free(p->key);
  free(p);
}

static int make_reorder(void **out, const MemoryDesc *from, const MemoryDesc *to) {
  void *pd = NULL;
  int status = dnnl_reorder_primitive_desc_create(&pd, from, engine, to, engine, NULL);
  if (status) return status;
  status = dnnl_primitive_create(out, pd);
  dnnl_primitive_desc_destroy(pd);
  return status;
}

static int describe_op(const Job *j, Prepared *p, OpDesc *d) {
  MemoryDesc any[OPERANDS];
  const MemoryDesc *m[OPERANDS], *bias = j->bias ? &p->bias : NULL;
  for (int i = 0; i < OPERANDS; i++) {
    m[i] = j->any_layout ? &any[i] : &p->operand[i].plain;
    int status = dnnl_memory_desc_init_by_strides(&p->operand[i].plain, j->ndim[i], j->dims[i], F32,
                                                  j->strides[i]);
    if (!status && j->any_layout)
      status = dnnl_memory_desc_init_by_tag(&any[i], j->ndim[i], j->dims[i], F32, FORMAT_ANY);
    if (status) return status;
  }
  Dims ones;
  for (int i = 0; i < MAX_DIMS; i++) ones[i] = 1;
  int status =
      bias ? dnnl_memory_desc_init_by_strides(&p->bias, j->bias_ndim, j->bias_dims, F32, ones) : 0;
  if (status) return status;
  if (!j->is_conv) return dnnl_matmul_desc_init(d, m[SRC], m[WEIGHTS], bias, m[DST]);
  return dnnl_dilated_convolution_forward_desc_init(d, FORWARD_INFERENCE, CONVOLUTION_AUTO, m[SRC],
                                                    m[WEIGHTS], bias, m[DST], j->step, j->dilation,
                                                    j->before, j->after);
}

static int make_description(const Job *j, Prepared *p) {
  OpDesc d;
  void *attr = NULL;
  int status = describe_op(j, p, &d);
  if (status || (status = dnnl_primitive_attr_create(&attr))) return status;
  status = dnnl_primitive_attr_set_post_ops(attr, j->ops);
  if (!status) status = dnnl_primitive_attr_set_scratchpad_mode(attr, SCRATCHPAD_USER);
  if (!status) status = dnnl_primitive_desc_create(&p->description, &d, attr, engine, NULL);
  dnnl_primitive_attr_destroy(attr);
  return status;
}

static int make_primitives(const Job *j, Prepared *p) {
  static const int queries[] = {QUERY_SRC, QUERY_WEIGHTS, QUERY_DST};
  int status = make_description(j, p);
  for (int i = 0; !status && i < OPERANDS; i++) {
    Operand *o = &p->operand[i];
    o->wanted = dnnl_primitive_desc_query_md(p->description, queries[i], 0);
    if (dnnl_memory_desc_equal(&o->plain, o->wanted)) continue;
    if (i != DST || j->sum) status = make_reorder(&o->to_wanted, &o->plain, o->wanted);
    if (!status && i == DST) status = make_reorder(&o->to_plain, o->wanted, &o->plain);
  }
  if (status) return status;
  p->scratch = dnnl_primitive_desc_query_md(p->description, QUERY_SCRATCHPAD, 0);
  return dnnl_primitive_create(&p->primitive, p->description);
}

/* All that tells one primitive from another. */
static char *key_of(const Job *j) {
  size_t size = strlen(j->post) + 2400;
  char *key = malloc(size);
  if (!key) return NULL;
  int n = snprintf(key, size, "%s %s", j->args.function, j->post);
  for (int i = 0; i < OPERANDS; i++)
    for (int d = 0; d < j->ndim[i]; d++)
      n += snprintf(key + n, size - (size_t)n, "%c%lld:%lld", d ? 'x' : ' ',
                    (long long)j->dims[i][d], (long long)j->strides[i][d]);
  for (int d = 0; j->is_conv && d < j->ndim[DST] - 2; d++)
    n += snprintf(key + n, size - (size_t)n, " %lld,%lld,%lld,%lld", (long long)j->step[d],
                  (long long)j->dilation[d], (long long)j->before[d], (long long)j->after[d]);
  return key;
}

static Prepared *prepare(const Job *j) {
  char *key = key_of(j);
  Prepared *p = key ? find_prepared(key) : NULL;
  if (p) return free(key), p;
  p = key ? calloc(1, sizeof *p) : NULL;
  if (!p) return free(key), refused(j, OUT_OF_MEMORY), NULL;
  p->key = key;
  int status = make_primitives(j, p);
  if (status) return discard(p), refused(j, status), NULL;
  keep(p);
  return p;
}

/* ---- running ---- */

enum { MEMORY_MAX = 16, ALIGN = 64 };

/* Scratch memory of a thread, which grows to what its calls need. */
typedef struct Room {
  char *at;
  size_t size;
} Room;

static pthread_key_t room_key;
static pthread_once_t room_once = PTHREAD_ONCE_INIT;

static void free_room(void *room) {
  free(((Room *)room)->at);
  free(room);
}
static void make_room_key(void) { pthread_key_create(&room_key, free_room); }

static char *room_of(size_t size) {
  pthread_once(&room_once, make_room_key);
  Room *r = pthread_getspecific(room_key);
  if (!r && (!(r = calloc(1, sizeof *r)) || pthread_setspecific(room_key, r))) return free(r), NULL;
  if (r->size >= size && r->at) return r->at;
  free(r->at);
  r->size = (size + ALIGN) & ~(size_t)(ALIGN - 1);
  r->at = aligned_alloc(ALIGN, r->size);
  return r->at;
}

typedef struct Run {
  void *stream, *memory[MEMORY_MAX];
  int n, status;
  char *room;
} Run;

static size_t room_for(const MemoryDesc *d) {
  return (dnnl_memory_desc_get_size(d) + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static void *memory_of(Run *r, const MemoryDesc *d, void *data) {
  void *m = NULL;
  if (!r->status) r->status = dnnl_memory_create(&m, d, engine, data);
  if (m) r->memory[r->n++] = m;
  return m;
}

static void execute(Run *r, void *primitive, int n, const ExecArg *args) {
  if (!r->status) r->status = dnnl_primitive_execute(primitive, r->stream, n, args);
}

static void reorder(Run *r, void *primitive, void *from, void *to) {
  ExecArg args[] = {{ARG_SRC, from}, {ARG_DST, to}};
  execute(r, primitive, 2, args);
}

/* The operand as oneDNN wants it, in memory of the thread if that is another layout. */
static void *wanted_memory(Run *r, const Operand *o, const DLTensor *t) {
  if (!o->to_wanted && !o->to_plain) return memory_of(r, &o->plain, shim_data(t));
  void *m = memory_of(r, o->wanted, r->room);
  r->room += room_for(o->wanted);
  return m;
}

static void run_all(Run *r, const Job *j, const Prepared *p) {
  void *m[OPERANDS];
  for (int i = 0; i < OPERANDS; i++) m[i] = wanted_memory(r, &p->operand[i], j->tensor[i]);
  for (int i = 0; i < OPERANDS; i++) {
    const Operand *o = &p->operand[i];
    const DLTensor *from = i == DST ? j->sum : j->tensor[i];
    if (o->to_wanted && from)
      reorder(r, o->to_wanted, memory_of(r, &o->plain, shim_data(from)), m[i]);
  }
  const DLTensor *out = j->tensor[DST];
  if (j->sum && !p->operand[DST].to_wanted)
    memmove(shim_data(out), shim_data(j->sum),
            (size_t)shim_product(out->shape, out->ndim) * sizeof(float));
  ExecArg args[] = {{ARG_SRC, m[SRC]},
                    {ARG_WEIGHTS, m[WEIGHTS]},
                    {ARG_DST, m[DST]},
                    {ARG_SCRATCHPAD, memory_of(r, p->scratch, r->room)},
                    {ARG_BIAS, j->bias ? memory_of(r, &p->bias, shim_data(j->bias)) : NULL}};
  execute(r, p->primitive, j->bias ? 5 : 4, args);
  const Operand *o = &p->operand[DST];
  if (o->to_plain)
    reorder(r, o->to_plain, m[DST], memory_of(r, &o->plain, shim_data(j->tensor[DST])));
  if (!r->status) r->status = dnnl_stream_wait(r->stream);
}

static int run_prepared(const Job *j, const Prepared *p) {
  Run r = {0};
  size_t size = room_for(p->scratch) + ALIGN;
  for (int i = 0; i < OPERANDS; i++)
    if (p->operand[i].to_wanted || p->operand[i].to_plain) size += room_for(p->operand[i].wanted);
  r.room = room_of(size);
  if (!r.room) return refused(j, OUT_OF_MEMORY);
  r.status = dnnl_stream_create(&r.stream, engine, 1);
  if (!r.status) run_all(&r, j, p);
  for (int i = 0; i < r.n; i++) dnnl_memory_destroy(r.memory[i]);
  if (r.stream) dnnl_stream_destroy(r.stream);
  return r.status ? refused(j, r.status) : 0;
}

/* Everything after the arguments were read. */
static int run_job(Job *j) {
  const DLTensor *out = j->tensor[DST];
  int status = check_more(j, j->is_conv ? out->shape[1] : out->shape[out->ndim - 1]);
  if (status || !shim_product(out->shape, out->ndim)) return status;
  Prepared *p = prepare(j);
  return p ? run_prepared(j, p) : -1;
}

/* ---- convolutions ---- */

static int read_dims(const Job *j, int i, int n, Dims out) {
  bool fits = j->args.types[i] == TVMS_SHAPE && tvms_shape_ndim(j->args.values[i].p) == n;
  if (!fits)
    return tvms_set_error("%s: argument %d must be a shape of %d numbers", j->args.function, i + 1,
                          n);
  memcpy(out, tvms_shape_dims(j->args.values[i].p), sizeof(int64_t) * (size_t)n);
  return 0;
}

/* (O, I, ...) as (groups, O / groups, I, ...), which lies in memory alike. */
static void set_weights(Job *j, int64_t groups) {
  const DLTensor *w = j->tensor[WEIGHTS];
  int64_t *dims = j->dims[WEIGHTS];
  int more = groups > 1;
  j->ndim[WEIGHTS] = w->ndim + more;
  for (int i = 0; i < w->ndim; i++) dims[i + more] = w->shape[i];
  if (more) dims[0] = groups, dims[1] = w->shape[0] / groups;
}

static int read_conv(Job *j) {
  int n = j->args.n, space = j->tensor[SRC]->ndim - 2;
  const DLTensor *x = j->tensor[SRC], *w = j->tensor[WEIGHTS], *out = j->tensor[DST];
  int64_t groups = shim_int(&j->args, n - 3);
  Dims padding;
  if (space < 1 || space > 3 || w->ndim != x->ndim || out->ndim != x->ndim)
    return tvms_set_error("%s: the tensors must have the same number of dims, from 3 to 5",
                          j->args.function);
  if (groups < 1 || w->shape[0] % groups || x->shape[1] != w->shape[1] * groups)
    return tvms_set_error("%s: the channels of the operands do not fit", j->args.function);
  if (read_dims(j, n - 6, space, j->step) || read_dims(j, n - 5, 2 * space, padding) ||
      read_dims(j, n - 4, space, j->dilation))
    return -1;
  for (int i = 0; i < space; i++) {
    j->before[i] = padding[i];
    j->after[i] = padding[space + i];
    j->dilation[i]--; /* oneDNN counts what lies between */
  }
  for (int i = 0; i < OPERANDS; i++) {
    j->ndim[i] = x->ndim;
    memcpy(j->dims[i], j->tensor[i]->shape, sizeof(int64_t) * (size_t)x->ndim);
  }
  set_weights(j, groups);
  for (int i = 0; i < OPERANDS; i++) set_compact(j, i);
  j->bias_ndim = 1;
  j->bias_dims[0] = out->shape[1];
  return 0;
}

static int conv(void *self, const TvmsValue *args, const int *types, int n, TvmsValue *ret,
                int *ret_type) {
  (void)self, (void)ret, (void)ret_type;
  Job j = {.args = {"dnnl.conv", args, types, n}, .is_conv = true, .any_layout = true};
  int status = read_job(&j, 8);
  if (!status) status = read_conv(&j);
  if (!status) status = run_job(&j);
  if (j.ops) dnnl_post_ops_destroy(j.ops);
  return status;
}

/* ---- products ---- */

/* Dims before those of the operand are 1, and batches that are kept no longer are rows. */
static void set_matrix(Job *j, int i, bool swap) {
  const DLTensor *t = j->tensor[i];
  int n = j->ndim[i], missing = n - t->ndim;
  for (int d = 0; d < n; d++) j->dims[i][d] = d < missing ? 1 : t->shape[d - missing];
  if (missing < 0) {
    j->dims[i][0] = shim_product(t->shape, t->ndim - 1);
    j->dims[i][1] = t->shape[t->ndim - 1];
  }
  set_compact(j, i);
  if (!swap) return;
  int64_t rows = j->dims[i][n - 2], step = j->strides[i][n - 2];
  j->dims[i][n - 2] = j->dims[i][n - 1], j->strides[i][n - 2] = j->strides[i][n - 1];
  j->dims[i][n - 1] = rows, j->strides[i][n - 1] = step;
}

static int read_matmul(Job *j) {
  const DLTensor *a = j->tensor[SRC], *b = j->tensor[WEIGHTS], *out = j->tensor[DST];
  bool swap[] = {shim_int(&j->args, j->args.n - 4), shim_int(&j->args, j->args.n - 3), false};
  /* One matrix on the right: that on the left may be one of many rows. */
  bool one = b->ndim == 2 && a->ndim == out->ndim && !swap[SRC];
  for (int i = 0; i < OPERANDS; i++) {
    if (j->tensor[i]->ndim < 2 || j->tensor[i]->ndim > out->ndim || out->ndim > MAX_DIMS)
      return tvms_set_error("%s: the operands must have two dims or more, the result the most",
                            j->args.function);
    j->ndim[i] = one ? 2 : out->ndim;
    set_matrix(j, i, swap[i]);
  }
  j->bias_ndim = j->ndim[DST];
  for (int i = 0; i < j->bias_ndim; i++)
    j->bias_dims[i] = i + 1 < j->bias_ndim ? 1 : out->shape[out->ndim - 1];
  return 0;
}

static int matmul(void *self, const TvmsValue *args, const int *types, int n, TvmsValue *ret,
                  int *ret_type) {
  (void)self, (void)ret, (void)ret_type;
  Job j = {.args = {"dnnl.matmul", args, types, n}};
  int status = read_job(&j, 6);
  if (!status) status = read_matmul(&j);
  if (!status) status = run_job(&j);
  if (j.ops) dnnl_post_ops_destroy(j.ops);
  return status;
}

static const TvmsShimFunction functions[] = {
    {"dnnl.conv", conv}, {"dnnl.matmul", matmul}, {NULL, NULL}};

SHIM_EXPORT = {TVMS_ABI_VERSION, "dnnl",    "libdnnl.so.2", "Debian has it in the package libdnnl2",
               symbols,          functions, start,          0};
