/* runtime_impl.h -- what the files of the runtime share and nobody else sees.
 *
 * Every counted object is a block of memory that begins with an Object; the pointer that users hold
 * points just behind it. A tensor's own first field is its DLTensor, so a TvmsTensor * may be used
 * wherever a DLTensor * is expected.
 *
 * Shared functions begin with tvms__: the static library must not meet names of the program. */
#ifndef TARGET_RUNTIME_RUNTIME_IMPL_H
#define TARGET_RUNTIME_RUNTIME_IMPL_H

#include "target/runtime/abi.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Not exported from the shared library. */
#pragma GCC visibility push(hidden)

#define MAX_NDIM 64

typedef struct Object {
  _Alignas(16) atomic_int count;
  int type;                    /* a TvmsType from TVMS_TENSOR on */
  void (*destroy)(void *self); /* frees what the object holds, not its memory; or NULL */
} Object;

struct TvmsTensor {
  DLTensor dl;
  int64_t size;             /* elements */
  size_t nbytes;            /* of a compact copy */
  TvmsTensor *source;       /* keeps the data alive, or NULL */
  DLManagedTensor *managed; /* taken over, or NULL */
  bool owns_memory;         /* of a device */
  int64_t dims[];           /* the shape, then the strides if there are any */
};

struct TvmsShape {
  int ndim;
  int64_t dims[];
};

struct TvmsFunc {
  TvmsPackedFunc fn;
  void *self;
  void (*release)(void *self);
  TvmsModule *module; /* whose code it is, kept alive; or NULL */
};

/* A new object of count 1, zeroed up to `nbytes`, 64-byte aligned behind `tail` if that is not 0:
 * tail bytes follow at the next multiple of 64. NULL and an error if memory is short. */
void *tvms__object_new(TvmsType type, size_t nbytes, size_t tail, void (*destroy)(void *self));
/* Where the tail of an object of `nbytes` begins. */
void *tvms__object_tail(void *object, size_t nbytes);

/* 64-byte aligned; nbytes is a multiple of 64. For free(). NULL without an error set. */
void *tvms__memory_new(size_t nbytes);

/* A function of the module that the thread is in, with its last arguments; NULL and an error. */
TvmsFunc *tvms__closure_new(TvmsPackedFunc fn, int n, const TvmsValue *values, const int *types);
void tvms__func_keep_module(TvmsFunc *f);
TvmsModule *tvms__current_module(void); /* whose code the thread runs, or NULL */

/* -1 and an error if the file is surely no library that dlopen can load here. */
int tvms__library_check(const char *path);

/* Maps the parameters of a library from the file beside it; gives them back. */
int tvms__params_load(const TvmsModuleParams *p, const char *library);
void tvms__params_release(const TvmsModuleParams *p);

int tvms__error_no_memory(size_t nbytes); /* -1 */
void tvms__error_clear(void);

/* Elements and bytes of a tensor; -1 and an error if a dim is negative or the product too large. */
int tvms__shape_measure(int ndim, const int64_t *shape, DLDataType t, int64_t *size,
                        size_t *nbytes);
size_t tvms__dtype_element_bytes(DLDataType t);
bool tvms__dl_is_compact(const DLTensor *t);
int64_t tvms__dl_size(const DLTensor *t);
bool tvms__dtype_same(DLDataType a, DLDataType b);

/* "(5, 3)", "(4,)", "()", cut to what fits. */
#define SHAPE_TEXT_SIZE 512
void tvms__shape_text(int ndim, const int64_t *dims, char *out);
const char *tvms__type_text(int type); /* "a tensor", "an int" */

/* The value as the caller may keep it: objects retained, strings and borrowed memory copied. */
int tvms__value_own(int *type, TvmsValue *value);

/* The frame gives it back when it ends; NULL, and it is given back, if memory is short. */
void *tvms__frame_own(void *frame, int type, void *object);

/* A function that every program has (a new reference), or NULL. */
TvmsFunc *tvms__builtin_find(const char *name);
/* A table of them ends with a row without a name. */
typedef struct BuiltinRow {
  const char *name;
  TvmsPackedFunc fn;
} BuiltinRow;
/* The head of a packed function. */
#define PACKED(name)                                                                               \
  static int name(void *self, const TvmsValue *args, const int *types, int n, TvmsValue *ret,      \
                  int *ret_type)
extern const BuiltinRow tvms__kv_cache_rows[], tvms__dynamic_rows[];

/* Registers a function of a shared library that has it (shim.c); -1 and an error if none has. */
int tvms__shim_add(const char *name);
/* If this library was loaded with RTLD_LOCAL, as Python does, makes its symbols visible to the
 * libraries loaded next. */
void tvms__make_runtime_global(void);

TvmsFunc *tvms__func_of_module(TvmsModule *m, TvmsPackedFunc fn, void *self);

/* Calls fn; the result is the caller's. A failure always leaves a message, which names `name`. */
int tvms__func_invoke(TvmsPackedFunc fn, void *self, const char *name, const TvmsValue *args,
                      const int *types, int n, TvmsValue *ret, int *ret_type);

/* A parallel loop, on the stack of the thread that began it. */
typedef struct Loop {
  TvmsParallelBody fn;
  void *closure;
  int64_t min, extent, parts;
  atomic_llong failed;  /* 1 + the lowest part that failed, or 0 */
  pthread_mutex_t lock; /* of what follows */
  char *message;        /* of part failed - 1 */
} Loop;
extern _Thread_local bool tvms__inside_part; /* parallel loops are run by their caller alone */
void tvms__run_part(Loop *l, int64_t part);
/* Runs all parts by so many threads, the caller among them. False: another thread's loop runs. */
bool tvms__pool_run(Loop *l, int threads);
void tvms__pool_end(void); /* its threads; the next loop starts others */

#pragma GCC visibility pop
#endif
