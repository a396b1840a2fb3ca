/* frame.c -- frames: what one call of a compiled host function makes, freed when it ends.
 *
 * Each thread has an arena, a chain of blocks that are filled from front to back. A frame notes
 * where it began; frames of nested calls lie behind it and end before it does. When the outermost
 * frame ends and one block was not enough, the next one is made as large as all of them at the
 * peak, so a model that runs again finds its workspace in one block that was touched before. */
#include "target/runtime/runtime_impl.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN       64
#define FIRST_BLOCK 65536

typedef struct Block {
  _Alignas(ALIGN) struct Block *before; /* older block */
  size_t used, size;                    /* bytes behind this head */
} Block;

typedef struct Arena {
  Block *top;
  size_t next_size;  /* of the next block */
  size_t live, peak; /* bytes of all blocks: now, and at most since the outermost frame began */
  int frames;
} Arena;

/* An object or a string that the frame owns. */
typedef struct Owned {
  struct Owned *before;
  int type;
  TvmsValue value;
} Owned;

typedef struct Frame {
  Arena *arena;
  Block *block; /* the top block when the frame began, and how full it was */
  size_t used;
  Owned *owned;
} Frame;

static _Thread_local Arena *thread_arena;
static pthread_key_t arena_key;
static pthread_once_t arena_once = PTHREAD_ONCE_INIT;

static void arena_free_blocks(Arena *a, Block *until) {
  while (a->top != until) {
    Block *b = a->top;
    a->top = b->before;
    a->live -= b->size;
    free(b);
  }
}

static void arena_destroy(void *arena) {
  arena_free_blocks(arena, NULL);
  free(arena);
  thread_arena = NULL;
}

static void make_key(void) { pthread_key_create(&arena_key, arena_destroy); }

/* The key's destructor runs when a thread ends; for the main thread this does. */
__attribute__((destructor)) static void free_last_arena(void) {
  if (!thread_arena || thread_arena->frames) return;
  arena_destroy(thread_arena);
  pthread_key_delete(arena_key);
}

static Arena *arena_of_thread(void) {
  if (thread_arena) return thread_arena;
  pthread_once(&arena_once, make_key);
  Arena *a = calloc(1, sizeof *a);
  if (!a) return tvms__error_no_memory(sizeof *a), NULL;
  if (pthread_setspecific(arena_key, a)) {
    free(a);
    return tvms__error_no_memory(sizeof *a), NULL;
  }
  a->next_size = FIRST_BLOCK;
  return thread_arena = a;
}

static Block *add_block(Arena *a, size_t nbytes) {
  size_t size = a->next_size > nbytes ? a->next_size : nbytes;
  Block *b = tvms__memory_new(sizeof(Block) + size);
  if (!b && size > nbytes) {
    size = nbytes;
    b = tvms__memory_new(sizeof(Block) + size);
  }
  if (!b) return tvms__error_no_memory(size), NULL;
  *b = (Block){a->top, 0, size};
  a->next_size = size < (size_t)1 << 30 ? size * 2 : size;
  a->live += size;
  if (a->peak < a->live) a->peak = a->live;
  return a->top = b;
}

static void *arena_alloc(Arena *a, size_t nbytes) {
  nbytes = (nbytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
  Block *b = a->top;
  if (!b || b->size - b->used < nbytes) b = add_block(a, nbytes);
  if (!b) return NULL;
  char *at = (char *)(b + 1) + b->used;
  b->used += nbytes;
  return at;
}

/* Back to where the frame began. */
static void arena_rewind(Arena *a, Block *block, size_t used) {
  bool outermost = --a->frames == 0;
  if (outermost && a->peak > a->top->size) {
    arena_free_blocks(a, NULL);
    a->next_size = a->peak;
    a->peak = 0;
    return;
  }
  if (block) arena_free_blocks(a, block);
  a->top->used = used;
}

void *tvms_frame_begin(void) {
  Arena *a = arena_of_thread();
  if (!a) return NULL;
  Block *block = a->top;
  size_t used = block ? block->used : 0;
  Frame *f = arena_alloc(a, sizeof *f);
  if (!f) return NULL;
  a->frames++;
  *f = (Frame){a, block, used, NULL};
  return f;
}

static void frame_free(Frame *f) {
  for (Owned *o = f->owned; o; o = o->before) tvms_value_release(o->type, o->value);
  arena_rewind(f->arena, f->block, f->used);
}

int tvms_frame_end(void *frame, void *ret, void *ret_type, int64_t bits, int32_t type) {
  TvmsValue value = {.i = bits};
  int kind = type;
  if (tvms__value_own(&kind, &value)) return tvms_frame_fail(frame);
  *(TvmsValue *)ret = value;
  *(int *)ret_type = kind;
  frame_free(frame);
  return 0;
}

int tvms_frame_fail(void *frame) {
  if (frame) frame_free(frame);
  return -1;
}

void *tvms_frame_alloc(void *frame, int64_t nbytes) {
  if (nbytes < 0 || nbytes > PTRDIFF_MAX - 4096)
    return tvms_set_error("can't allocate a workspace of %lld bytes", (long long)nbytes), NULL;
  return arena_alloc(((Frame *)frame)->arena, nbytes ? (size_t)nbytes : 1);
}

/* Room in the frame's list, before the object is made: so nothing is lost if memory is short. */
static Owned *owned_new(Frame *f) {
  Owned *o = arena_alloc(f->arena, sizeof *o);
  if (o) *o = (Owned){f->owned, TVMS_NONE, {0}};
  return o;
}

static void *owned_set(Frame *f, Owned *o, int type, TvmsValue value) {
  o->type = type;
  o->value = value;
  f->owned = o;
  return value.p;
}

void *tvms__frame_own(void *frame, int type, void *object) {
  Owned *o = owned_new(frame);
  if (!o) return tvms_release(object), NULL;
  return owned_set(frame, o, type, (TvmsValue){.p = object});
}

void *tvms_frame_tensor(void *frame, int32_t ndim, void *shape, int32_t code, int32_t bits,
                        int32_t lanes) {
  DLDataType dtype = {(uint8_t)code, (uint8_t)bits, (uint16_t)lanes};
  TvmsTensor *t = NULL;
  Owned *o = owned_new(frame);
  if (!o || tvms_tensor_new(&t, ndim, shape, dtype)) return NULL;
  return owned_set(frame, o, TVMS_TENSOR, (TvmsValue){.p = t});
}

void *tvms_frame_view(void *frame, void *data, int32_t ndim, void *shape, int32_t code,
                      int32_t bits, int32_t lanes) {
  size_t dims = sizeof(int64_t) * (size_t)ndim;
  DLTensor *t = arena_alloc(((Frame *)frame)->arena, sizeof *t + dims);
  if (!t) return NULL;
  *t = (DLTensor){.data = data,
                  .device = {kDLCPU, 0},
                  .ndim = ndim,
                  .dtype = {(uint8_t)code, (uint8_t)bits, (uint16_t)lanes},
                  .shape = (int64_t *)(void *)(t + 1)};
  if (ndim) memcpy(t->shape, shape, dims);
  return t;
}

void *tvms_frame_shape(void *frame, int32_t ndim, void *dims) {
  TvmsShape *s = NULL;
  Owned *o = owned_new(frame);
  if (!o || tvms_shape_new(&s, ndim, dims)) return NULL;
  return owned_set(frame, o, TVMS_SHAPE, (TvmsValue){.p = s});
}

void *tvms_frame_tuple(void *frame, int32_t n, void *values, void *types) {
  TvmsTuple *t = NULL;
  Owned *o = owned_new(frame);
  if (!o || tvms_tuple_new(&t, n, values, types)) return NULL;
  return owned_set(frame, o, TVMS_TUPLE, (TvmsValue){.p = t});
}

void *tvms_frame_closure(void *frame, void *fn, int32_t n, void *values, void *types) {
  Owned *o = owned_new(frame);
  TvmsFunc *f = o ? tvms__closure_new((TvmsPackedFunc)(uintptr_t)fn, n, values, types) : NULL;
  return f ? owned_set(frame, o, TVMS_FUNC, (TvmsValue){.p = f}) : NULL;
}

/* The frame owns what the call returned, if that needs an owner. */
static int own_result(Frame *f, Owned *o, const TvmsValue *ret, const int *ret_type) {
  if (*ret_type == TVMS_STR || *ret_type >= TVMS_TENSOR) owned_set(f, o, *ret_type, *ret);
  return 0;
}

int tvms_call_packed(void *frame, void *name, void *args, void *types, int32_t n, void *ret,
                     void *ret_type) {
  TvmsFunc *f = NULL;
  Owned *o = owned_new(frame);
  if (!o || tvms_func_find(&f, name)) return -1;
  int status = tvms__func_invoke(f->fn, f->self, name, args, types, n, ret, ret_type);
  tvms_release(f);
  return status ? -1 : own_result(frame, o, ret, ret_type);
}

int tvms_call_func(void *frame, void *func, void *args, void *types, int32_t n, void *ret,
                   void *ret_type) {
  Owned *o = owned_new(frame);
  if (!o || tvms_func_call(func, args, types, n, ret, ret_type)) return -1;
  return own_result(frame, o, ret, ret_type);
}

int tvms_call_direct(void *frame, void *fn, void *args, void *types, int32_t n, void *ret,
                     void *ret_type) {
  Owned *o = owned_new(frame);
  TvmsPackedFunc function = (TvmsPackedFunc)(uintptr_t)fn;
  if (!o ||
      tvms__func_invoke(function, NULL, "a function of the module", args, types, n, ret, ret_type))
    return -1;
  return own_result(frame, o, ret, ret_type);
}
