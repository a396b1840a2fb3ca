/* cuda.c -- NVIDIA's GPUs by the driver's own interface. libcuda.so.1 is looked for when the first
 * device is asked for; each device has its primary context, which other users of CUDA in the
 * process share, and one stream, which does things in order. */
#include "target/runtime/device.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CU(name, symbol, args) static int(*name) args;
#include "target/runtime/cuda.def"

enum { MOST_DEVICES = 16, TITLE_SIZE = 128, POINTER_ALIGN = 16, STATIC_SHARED = 48 << 10 };
enum { STREAM_NON_BLOCKING = 1 };
enum { /* keys of cuDeviceGetAttribute */
       MAX_SHARED_OPTIN = 97,
       CAPABILITY_MAJOR = 75,
       CAPABILITY_MINOR = 76
};
enum { FUNC_MAX_THREADS = 0, FUNC_MAX_DYNAMIC_SHARED = 8 }; /* of cuFuncGetAttribute */
enum { JIT_ERROR_LOG = 5, JIT_ERROR_LOG_SIZE = 6 };
enum { /* CUresults with a remedy */
       OUT_OF_MEMORY = 2,
       NO_DEVICE = 100,
       INVALID_PTX = 218,
       UNSUPPORTED_PTX = 222,
       ILLEGAL_ADDRESS = 700,
       OUT_OF_RESOURCES = 701,
       LAUNCH_FAILED = 719
};

typedef struct CudaDevice {
  int id, major, minor; /* its capability */
  void *context, *stream;
  char title[TITLE_SIZE];
} CudaDevice;

static struct {
  pthread_mutex_t lock;
  bool looked;
  char missing[400]; /* why there is none; "" if there may be */
  int n;
  CudaDevice devices[MOST_DEVICES];
} cuda = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- errors ---- */

static const char *error_name(int status) {
  const char *name = NULL;
  if (cuGetErrorName) cuGetErrorName(status, &name);
  return name ? name : "an unknown error";
}

static const char *remedy(int status) {
  switch (status) {
  case OUT_OF_MEMORY: return ": the device has not enough free memory";
  case INVALID_PTX: return ": the driver refuses the module's code";
  case UNSUPPORTED_PTX:
    return ": the driver is older than the code: install a newer one, or build for an older -arch";
  case ILLEGAL_ADDRESS:
  case LAUNCH_FAILED:
    return ": a kernel that was started before went beyond its memory, and the device can't be "
           "used "
           "further by this process; `tvms run --target interp` tells where";
  case OUT_OF_RESOURCES:
    return ": a block needs more registers or shared memory than the device has: build with "
           "smaller "
           "tiles, or -max_threads_per_block";
  default: return "";
  }
}

static int failed(int id, const char *what, int status) {
  return tvms_set_error("cuda:%d: %s failed (%s)%s", id, what, error_name(status), remedy(status));
}

/* ---- finding devices ---- */

static bool find_functions(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(
        cuda.missing, sizeof cuda.missing,
        "NVIDIA's driver is not installed: there is no libcuda.so.1: install the driver of the "
        "GPU (Debian: nvidia-driver)");
    return false;
  }
#define CU(name, symbol, args)                                                                     \
  *(void **)&name = dlsym(library, symbol);                                                        \
  if (!name) {                                                                                     \
    snprintf(cuda.missing, sizeof cuda.missing,                                                    \
             "libcuda.so.1 has no %s: install a newer driver of the GPU", symbol);                 \
    return false;                                                                                  \
  }
#include "target/runtime/cuda.def"
  return true;
}

static int describe(CudaDevice *d, int number) {
  int status = cuDeviceGet(&d->id, number);
  if (!status) status = cuDeviceGetName(d->title, TITLE_SIZE, d->id);
  if (!status) status = cuDeviceGetAttribute(&d->major, CAPABILITY_MAJOR, d->id);
  if (!status) status = cuDeviceGetAttribute(&d->minor, CAPABILITY_MINOR, d->id);
  return status;
}

static void find_devices(void) {
  int status = cuInit(0), n = 0;
  if (!status) status = cuDeviceGetCount(&n);
  for (int i = 0; !status && i < n && cuda.n < MOST_DEVICES; i++) {
    status = describe(&cuda.devices[cuda.n], i);
    if (!status) cuda.n++;
  }
  if (status && status != NO_DEVICE)
    snprintf(cuda.missing, sizeof cuda.missing, "NVIDIA's driver does not start (%s)%s",
             error_name(status), remedy(status));
  else if (!cuda.n)
    snprintf(cuda.missing, sizeof cuda.missing,
             "there is no NVIDIA GPU on this machine, or CUDA_VISIBLE_DEVICES hides it");
}

static int look(void) {
  pthread_mutex_lock(&cuda.lock);
  if (!cuda.looked && find_functions()) find_devices();
  cuda.looked = true;
  pthread_mutex_unlock(&cuda.lock);
  return *cuda.missing ? tvms_set_error("%s", cuda.missing) : 0;
}

static int cuda_count(int *n) {
  *n = 0;
  if (look()) return -1;
  *n = cuda.n;
  return 0;
}

static int open_device(CudaDevice *d, int number) {
  int status = 0;
  if (!d->context) status = cuDevicePrimaryCtxRetain(&d->context, d->id);
  if (status) return d->context = NULL, failed(number, "opening the device", status);
  status = cuCtxSetCurrent(d->context);
  if (!status && !d->stream) status = cuStreamCreate(&d->stream, STREAM_NON_BLOCKING);
  return status ? failed(number, "opening the device", status) : 0;
}

/* With its context current in this thread; NULL and an error. The number was found to be in range.
 */
static CudaDevice *device(int number) {
  CudaDevice *d = &cuda.devices[number];
  pthread_mutex_lock(&cuda.lock);
  int status = open_device(d, number);
  pthread_mutex_unlock(&cuda.lock);
  return status ? NULL : d;
}

static const char *cuda_title(int id) { return cuda.devices[id].title; }

/* ---- memory: an address of the device as a pointer ---- */

static uint64_t address(const void *memory, size_t begin) { return (uintptr_t)memory + begin; }

static int cuda_alloc(int id, size_t nbytes, void **memory) {
  uint64_t made = 0;
  size_t unused = 0, all = 0;
  CudaDevice *d = device(id);
  if (!d) return -1;
  int status = cuMemAlloc(&made, nbytes);
  *memory = (void *)(uintptr_t)made;
  if (!status) return 0;
  cuMemGetInfo(&unused, &all);
  return tvms_set_error("cuda:%d (%s) can't allocate %zu bytes (%s): %zu of its %zu bytes are free",
                        id, d->title, nbytes, error_name(status), unused, all);
}

static void cuda_free(int id, void *memory) {
  if (device(id)) cuMemFree(address(memory, 0));
}

/* Work on the stream is waited for where memory of the CPU takes part: its owner may free it. */
static int finish(int id, const CudaDevice *d, const char *what, int status) {
  if (!status) status = cuStreamSynchronize(d->stream);
  return status ? failed(id, what, status) : 0;
}

static int cuda_write(int id, void *to, size_t begin, const void *from, size_t nbytes) {
  CudaDevice *d = device(id);
  if (!d) return -1;
  return finish(id, d, "writing to memory",
                cuMemcpyHtoDAsync(address(to, begin), from, nbytes, d->stream));
}

static int cuda_read(int id, void *to, void *from, size_t begin, size_t nbytes) {
  CudaDevice *d = device(id);
  if (!d) return -1;
  return finish(id, d, "reading from memory",
                cuMemcpyDtoHAsync(to, address(from, begin), nbytes, d->stream));
}

static int cuda_copy(int id, void *to, size_t to_begin, void *from, size_t from_begin,
                     size_t nbytes) {
  CudaDevice *d = device(id);
  if (!d) return -1;
  int status =
      cuMemcpyDtoDAsync(address(to, to_begin), address(from, from_begin), nbytes, d->stream);
  return status ? failed(id, "copying memory", status) : 0;
}

static int cuda_fill(int id, void *to, size_t begin, int byte, size_t nbytes) {
  CudaDevice *d = device(id);
  if (!d) return -1;
  int status = cuMemsetD8Async(address(to, begin), (unsigned char)byte, nbytes, d->stream);
  return status ? failed(id, "filling memory", status) : 0;
}

static int cuda_sync(int id) {
  CudaDevice *d = device(id);
  return d ? finish(id, d, "waiting for the device", 0) : -1;
}

static int cuda_queue(int id, void **queue) {
  CudaDevice *d = device(id);
  if (d) *queue = d->stream;
  return d ? 0 : -1;
}

/* ---- modules ---- */

/* The code names the architecture that it is for: ".target sm_80", which later ones run, too;
 * "sm_90a" runs on just that one. */
static int check_architecture(int id, const CudaDevice *d, const char *source) {
  const char *at = strstr(source, ".target sm_");
  char *end = NULL;
  long wanted = at ? strtol(at + strlen(".target sm_"), &end, 10) : 0;
  int have = 10 * d->major + d->minor;
  bool exact = end && *end == 'a';
  if (exact ? have == wanted : have >= wanted) return 0;
  return tvms_set_error(
      "the module was built for sm_%ld%s, but cuda:%d (%s) is sm_%d: build it for "
      "\"cuda -arch=sm_%d\"",
      wanted, exact ? "a" : "", id, d->title, have, have);
}

static int cuda_load(int id, const char *source, void **program) {
  char log[2000] = "";
  int options[] = {JIT_ERROR_LOG, JIT_ERROR_LOG_SIZE};
  void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1)};
  CudaDevice *d = device(id);
  if (!d || check_architecture(id, d, source)) return -1;
  int status = cuModuleLoadDataEx(program, source, 2, options, values);
  if (!status) return 0;
  return tvms_set_error("cuda:%d (%s) can't load the module (%s)%s%s%s", id, d->title,
                        error_name(status), remedy(status), *log ? ": " : "", log);
}

static void cuda_unload(int id, void *program) {
  if (device(id)) cuModuleUnload(program);
}

static int cuda_kernel(int id, void *program, const char *name, void **kernel) {
  if (!device(id)) return -1;
  int status = cuModuleGetFunction(kernel, program, name);
  return status ? failed(id, name, status) : 0;
}

/* A kernel is a part of its module. */
static void cuda_kernel_free(int id, void *kernel) { (void)id, (void)kernel; }

/* ---- launches ---- */

static int launch_failed(int id, const CudaDevice *d, void *kernel, const char *name,
                         const DeviceLaunch *l, int status) {
  int most = 0;
  size_t threads = l->threads[0] * l->threads[1] * l->threads[2];
  cuFuncGetAttribute(&most, FUNC_MAX_THREADS, kernel);
  if (most > 0 && threads > (size_t)most)
    return tvms_set_error("kernel %s: a block has %zu threads, but cuda:%d (%s) runs at most %d of "
                          "it: build for \"cuda -max_threads_per_block=%d\"",
                          name, threads, id, d->title, most, most);
  return tvms_set_error("kernel %s: cuda:%d (%s) can't launch it (%s)%s", name, id, d->title,
                        error_name(status), remedy(status));
}

/* What is more than every device has must be asked for. */
static int allow_shared(int id, const CudaDevice *d, void *kernel, const char *name,
                        size_t nbytes) {
  int most = STATIC_SHARED;
  if (nbytes <= STATIC_SHARED) return 0;
  cuDeviceGetAttribute(&most, MAX_SHARED_OPTIN, d->id);
  if (nbytes <= (size_t)most && !cuFuncSetAttribute(kernel, FUNC_MAX_DYNAMIC_SHARED, (int)nbytes))
    return 0;
  return tvms_set_error(
      "kernel %s: a block has %zu bytes of shared memory, but cuda:%d (%s) has %d: "
      "build for \"cuda -max_shared_memory_per_block=%d\"",
      name, nbytes, id, d->title, most, most);
}

static int check_grid(const char *name, const DeviceLaunch *l) {
  static const size_t most[] = {INT32_MAX, 65535, 65535};
  for (int i = 0; i < 3; i++)
    if (l->blocks[i] > most[i])
      return tvms_set_error(
          "kernel %s: its grid has %zu blocks along %c, but a GPU launches at most "
          "%zu: bind that loop to blockIdx.x",
          name, l->blocks[i], "xyz"[i], most[i]);
  return 0;
}

static int cuda_launch(int id, void *kernel, const char *name, const DeviceLaunch *l) {
  CudaDevice *d = device(id);
  uint64_t addresses[DEVICE_MOST_ARGS];
  void *params[DEVICE_MOST_ARGS];
  const size_t *grid = l->blocks, *block = l->threads;
  if (!d || check_grid(name, l) || allow_shared(id, d, kernel, name, l->shared)) return -1;
  for (int i = 0; i < l->n; i++) {
    const DeviceArg *a = &l->args[i];
    addresses[i] = address(a->memory, (size_t)a->begin);
    params[i] = a->value ? (void *)(uintptr_t)a->value : &addresses[i];
    if (!a->value && addresses[i] % POINTER_ALIGN)
      return tvms_set_error("kernel %s: argument %d begins %d bytes past a multiple of %d, which "
                            "kernels count on: copy it to a tensor of its own",
                            name, i + 1, (int)(addresses[i] % POINTER_ALIGN), POINTER_ALIGN);
  }
  int status = cuLaunchKernel(kernel, (uint32_t)grid[0], (uint32_t)grid[1], (uint32_t)grid[2],
                              (uint32_t)block[0], (uint32_t)block[1], (uint32_t)block[2],
                              (uint32_t)l->shared, d->stream, params, NULL);
  return status ? launch_failed(id, d, kernel, name, l, status) : 0;
}

const DeviceApi tvms__cuda = {.name = "cuda",
                              .type = kDLCUDA,
                              .count = cuda_count,
                              .title = cuda_title,
                              .alloc = cuda_alloc,
                              .free = cuda_free,
                              .write = cuda_write,
                              .read = cuda_read,
                              .copy = cuda_copy,
                              .fill = cuda_fill,
                              .sync = cuda_sync,
                              .queue = cuda_queue,
                              .load = cuda_load,
                              .unload = cuda_unload,
                              .kernel = cuda_kernel,
                              .kernel_free = cuda_kernel_free,
                              .launch = cuda_launch};
