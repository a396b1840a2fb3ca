/* tvms.h -- the public header of libtvms_runtime: all that a deployed model needs.
 *
 * C11, usable from C++. Calls return 0, or -1 after leaving a message of this thread for
 * tvms_last_error(). Objects are counted: what comes back through an out parameter or a result is
 * the caller's, to be given to tvms_release(); arguments are borrowed for the call. Nothing here
 * prints, exits or collects. All functions may be called from any thread. */
#ifndef TVMS_H
#define TVMS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TVMS_ABI_VERSION 4

/* ---- DLPack: the layout by which array libraries share tensors (dlpack.h, version 0.8) ---- */

#ifndef DLPACK_VERSION
typedef enum { kDLCPU = 1, kDLCUDA = 2, kDLOpenCL = 4, kDLMetal = 8, kDLWebGPU = 15 } DLDeviceType;
typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;
typedef enum {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLOpaqueHandle = 3,
  kDLBfloat = 4,
  kDLComplex = 5,
  kDLBool = 6
} DLDataTypeCode;
typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} DLDataType;
typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides; /* in elements; NULL: compact and row-major */
  uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;
#endif

/* ---- objects and values ---- */

typedef struct TvmsTensor TvmsTensor;
typedef struct TvmsShape TvmsShape;   /* a shape value: a list of int64 */
typedef struct TvmsTuple TvmsTuple;   /* a fixed list of values */
typedef struct TvmsFunc TvmsFunc;     /* a packed function with its state */
typedef struct TvmsModule TvmsModule; /* functions by name */

typedef enum {
  TVMS_NONE,
  TVMS_INT,      /* .i */
  TVMS_FLOAT,    /* .f */
  TVMS_BOOL,     /* .i, 0 or 1 */
  TVMS_STR,      /* .s; as an argument borrowed, as a result allocated by tvms_string_copy */
  TVMS_PTR,      /* .p, a plain address */
  TVMS_DTYPE,    /* .dtype */
  TVMS_DLTENSOR, /* .p, a DLTensor *, argument only: memory of the caller */
  TVMS_TENSOR,   /* from here on .p is a counted object */
  TVMS_SHAPE,
  TVMS_TUPLE,
  TVMS_FUNC,
  TVMS_MODULE,
} TvmsType;

typedef union TvmsValue {
  int64_t i;
  double f;
  void *p;
  const char *s;
  DLDataType dtype;
} TvmsValue;

void *tvms_retain(void *object); /* returns it; NULL is fine */
void tvms_release(void *object); /* frees it with the last reference; NULL is fine */
void tvms_value_release(int type,
                        TvmsValue value); /* whatever it holds: an object, a string, nothing */
char *tvms_string_copy(const char *text);

const char *tvms_last_error(void); /* of this thread; "" if none */
/* What the last error would be called in Python: "RuntimeError", "AssertionError", or what an
 * assertion of the program names. */
const char *tvms_last_error_kind(void);
int tvms_set_error(const char *format, ...) __attribute__((format(printf, 1, 2))); /* returns -1 */

/* ---- tensors ---- */

/* A new tensor on the CPU, 64-byte aligned, not initialised. ndim up to 64; dims not negative. */
int tvms_tensor_new(TvmsTensor **out, int ndim, const int64_t *shape, DLDataType dtype);
/* A tensor over memory that the caller owns and that outlives it. */
int tvms_tensor_view(TvmsTensor **out, const DLTensor *memory);
/* Another view of the same data, which it keeps alive. Needs a compact source of the same size. */
int tvms_tensor_reshape(TvmsTensor **out, TvmsTensor *source, int ndim, const int64_t *shape);
/* A view of a part of the same data, which it keeps alive: the data, byte_offset, shape and strides
 * of `part`, which must lie in the data of `source`. */
int tvms_tensor_strided(TvmsTensor **out, TvmsTensor *source, const DLTensor *part);
int tvms_tensor_copy(TvmsTensor **out, const TvmsTensor *source); /* compact, on the same device */
/* Bytes in and out of a compact tensor, wherever it lies; nbytes must be its size. */
int tvms_tensor_set_bytes(TvmsTensor *t, const void *from, size_t nbytes);
int tvms_tensor_get_bytes(const TvmsTensor *t, void *to, size_t nbytes);
const DLTensor *tvms_tensor_dl(const TvmsTensor *t);
void *tvms_tensor_data(const TvmsTensor *t);   /* byte_offset added */
int64_t tvms_tensor_size(const TvmsTensor *t); /* elements */
size_t tvms_tensor_nbytes(const TvmsTensor *t);
int tvms_tensor_is_compact(const TvmsTensor *t);
/* DLPack exchange. To: the consumer calls the deleter. From: takes the managed tensor over. */
int tvms_tensor_to_dlpack(DLManagedTensor **out, TvmsTensor *t);
int tvms_tensor_from_dlpack(TvmsTensor **out, DLManagedTensor *managed);

/* ---- devices: "cuda" and "opencl" beside "cpu" ---- */

/* A module that was built for a device takes and gives tensors that lie there. The address of such
 * a tensor is one for compiled code and for calls of this header; the CPU can't read through it. */
int tvms_device_parse(const char *text, DLDevice *out);             /* "cuda", "opencl:1", "cpu" */
void tvms_device_text(DLDevice device, char *out, size_t out_size); /* at most 31 bytes and a NUL */
/* How many of the kind there are; -1 if their driver is missing: the error says what to install. */
int tvms_device_count(DLDeviceType type);
int tvms_device_sync(DLDevice device); /* waits until the device has done all it was told */
int tvms_tensor_new_on(TvmsTensor **out, DLDevice device, int ndim, const int64_t *shape,
                       DLDataType dtype);
/* A compact copy there, be it from or to the CPU. */
int tvms_tensor_copy_to(TvmsTensor **out, const TvmsTensor *source, DLDevice device);

/* What the driver of CUDA or OpenCL calls the memory at an address, for calls of it and of its
 * libraries. Work in the queue is done in order, that of kernels among it. */
typedef struct TvmsDeviceMemory {
  DLDevice device;
  void *memory; /* CUDA: a CUdeviceptr as a pointer. OpenCL: a cl_mem */
  size_t begin; /* bytes into it */
  void *queue;  /* CUDA: a CUstream, whose context this makes current. OpenCL: a cl_command_queue */
} TvmsDeviceMemory;
/* -1 and an error if the address is none of such a device. */
int tvms_device_memory(const void *address, TvmsDeviceMemory *out);

int tvms_dtype_parse(const char *text, DLDataType *out); /* "float32", "int8x4", "bool", ... */
void tvms_dtype_text(DLDataType t, char *out, size_t out_size); /* at most 31 bytes and a NUL */

/* ---- shapes and tuples ---- */

int tvms_shape_new(TvmsShape **out, int ndim, const int64_t *dims);
int tvms_shape_ndim(const TvmsShape *s);
const int64_t *tvms_shape_dims(const TvmsShape *s);
/* Retains the objects and copies the strings among the values. */
int tvms_tuple_new(TvmsTuple **out, int n, const TvmsValue *values, const int *types);
int tvms_tuple_size(const TvmsTuple *t);
TvmsValue tvms_tuple_get(const TvmsTuple *t, int i, int *type); /* borrowed */

/* ---- packed functions and the registry ---- */

/* 0, or -1 and tvms_last_error(). *ret_type is TVMS_NONE on entry. `self` is what was registered.
 */
typedef int (*TvmsPackedFunc)(void *self, const TvmsValue *args, const int *types, int n,
                              TvmsValue *ret, int *ret_type);

/* release(self), if not NULL, is called when the function is freed. */
int tvms_func_new(TvmsFunc **out, TvmsPackedFunc fn, void *self, void (*release)(void *self));
int tvms_func_call(TvmsFunc *f, const TvmsValue *args, const int *types, int n, TvmsValue *ret,
                   int *ret_type);
/* From now on modules for this kind of device give the function their tensors as they are; without
 * that, copies on the CPU. For what calls libraries of the device: see tvms_device_memory. */
void tvms_func_on_device(TvmsFunc *f, DLDeviceType type);

/* The process-wide registry that call_packed and call_dps_packed look names up in. Registering a
 * name again is an error unless `override`. tvms_func_find gives a new reference, or -1. */
int tvms_func_register(const char *name, TvmsFunc *f, int override);
int tvms_func_remove(const char *name);
int tvms_func_find(TvmsFunc **out, const char *name);
/* Calls visit for every registered name, in the order of registration. */
void tvms_func_each(void (*visit)(void *context, const char *name), void *context);

/* ---- modules ---- */

int tvms_module_load(TvmsModule **out, const char *path); /* a shared library made by tvms build */
/* One whose object is linked with the program: info is its tvms_module_info, which abi.h declares.
 */
typedef struct TvmsModuleInfo TvmsModuleInfo;
int tvms_module_linked(TvmsModule **out, const TvmsModuleInfo *info);
int tvms_module_function(TvmsFunc **out, TvmsModule *m,
                         const char *name); /* keeps the module alive */
int tvms_module_function_count(const TvmsModule *m);
const char *tvms_module_function_name(const TvmsModule *m, int i);

/* Where the tensors that the module's functions take and give lie. */
DLDevice tvms_module_device(const TvmsModule *m);

/* A module made by a compiler in this process: `functions` (n of them, each with the module as its
 * keeper) and a state that release(state) frees with the module. */
typedef struct TvmsExport {
  const char *name;
  TvmsPackedFunc fn;
  void *self;
} TvmsExport;
int tvms_module_new(TvmsModule **out, int n, const TvmsExport *functions, void *state,
                    void (*release)(void *state));

/* ---- profile: of modules built with the target option -profile ---- */

/* What was recorded of kernels since the start or the last reset: a trace for chrome://tracing and
 * Perfetto if the path ends in .json, else a table of calls, time, bytes and GFLOP/s. With
 * TVMS_PROFILE=FILE in the environment the same is written at the end of the process. */
int tvms_profile_write(const char *path);
void tvms_profile_reset(void);

/* ---- threads ---- */

/* Threads that T.parallel uses, the caller included; 0: one for each core. Takes effect at once. */
void tvms_set_num_threads(int n);
int tvms_num_threads(void);

/* The application's own threads in place of ours: run(context, n, task, state) calls task(state, i)
 * once for each i from 0 to n - 1, in any order and on any threads, and returns when all calls
 * have. n is up to four times tvms_num_threads(). It may be called by several threads at once;
 * parallel loops inside a task are run by their caller alone. NULL gives the loops back to our
 * threads. A loop that has begun ends as it began: `context` stays valid until then. */
typedef void (*TvmsParallelFor)(void *context, int64_t n, void (*task)(void *state, int64_t i),
                                void *state);
void tvms_set_parallel(TvmsParallelFor run, void *context);

#ifdef __cplusplus
}
#endif
#endif
