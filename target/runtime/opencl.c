/* opencl.c -- devices of OpenCL. The loader, libOpenCL.so.1, is looked for when the first device is
 * asked for; each device has a context and one queue, which does things in order. */
#include "target/runtime/device.h"
#include "target/runtime/program_cache.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CL(result, name, args) static result(*name) args;
#include "target/runtime/opencl.def"

enum { MOST_DEVICES = 16, INFO_SIZE = 256 };
enum { DEVICE_TYPE_ALL = -1, CL_BLOCKING = 1, MEM_READ_WRITE = 1 };
enum { /* keys of clGetDeviceInfo and its like */
       DEVICE_SINGLE_FP = 0x101b,
       DEVICE_NAME = 0x102b,
       DRIVER_VERSION = 0x102d,
       DEVICE_VERSION = 0x102f,
       DEVICE_EXTENSIONS = 0x1030,
       PROGRAM_BINARY_SIZES = 0x1165,
       PROGRAM_BINARIES = 0x1166,
       PROGRAM_BUILD_LOG = 0x1183,
       KERNEL_MAX_GROUP = 0x11b0,
       FP_ROUNDED_DIVIDE = 1 << 7
};
enum { NO_PLATFORM = -1001, OUT_OF_MEMORY = -4, OUT_OF_RESOURCES = -5, OUT_OF_HOST_MEMORY = -6 };

typedef struct ClDevice {
  void *id, *context, *queue;
  char title[INFO_SIZE];
} ClDevice;

static struct {
  pthread_mutex_t lock;
  bool looked;
  char missing[400]; /* why there is none; "" if there may be */
  int n;
  ClDevice devices[MOST_DEVICES];
} cl = {.lock = PTHREAD_MUTEX_INITIALIZER};

#define REMEDY                                                                                     \
  "install a driver of OpenCL: that of the GPU's vendor, or pocl-opencl-icd, which runs on the "   \
  "CPU"

static int failed(const char *what, int32_t status) {
  bool memory =
      status == OUT_OF_MEMORY || status == OUT_OF_RESOURCES || status == OUT_OF_HOST_MEMORY;
  return tvms_set_error("opencl: %s failed (%s %d)", what,
                        memory ? "out of memory, status" : "status", (int)status);
}

/* ---- finding devices ---- */

static bool find_functions(void) {
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(cl.missing, sizeof cl.missing,
             "OpenCL is not installed: there is no libOpenCL.so.1 (Debian: ocl-icd-libopencl1); "
             "and " REMEDY);
    return false;
  }
#define CL(result, name, args)                                                                     \
  *(void **)&name = dlsym(library, #name);                                                         \
  if (!name) {                                                                                     \
    snprintf(cl.missing, sizeof cl.missing, "libOpenCL.so.1 has no %s: it is not OpenCL 1.2",      \
             #name);                                                                               \
    return false;                                                                                  \
  }
#include "target/runtime/opencl.def"
  return true;
}

static void find_devices(void) {
  void *platforms[MOST_DEVICES], *devices[MOST_DEVICES];
  uint32_t count = 0;
  int32_t status = clGetPlatformIDs(MOST_DEVICES, platforms, &count);
  if (count > MOST_DEVICES) count = MOST_DEVICES;
  for (uint32_t p = 0; !status && p < count; p++) {
    uint32_t n = 0;
    if (clGetDeviceIDs(platforms[p], (uint64_t)DEVICE_TYPE_ALL & 0xffffffff, MOST_DEVICES, devices,
                       &n))
      continue;
    for (uint32_t i = 0; i < n && i < MOST_DEVICES && cl.n < MOST_DEVICES; i++)
      cl.devices[cl.n++].id = devices[i];
  }
  if (cl.n) return;
  snprintf(cl.missing, sizeof cl.missing, "there is no OpenCL %s on this machine: " REMEDY,
           status == NO_PLATFORM || !count ? "driver" : "device");
}

static int look(void) {
  pthread_mutex_lock(&cl.lock);
  if (!cl.looked && find_functions()) find_devices();
  cl.looked = true;
  pthread_mutex_unlock(&cl.lock);
  return *cl.missing ? tvms_set_error("%s", cl.missing) : 0;
}

static int cl_count(int *n) {
  *n = 0;
  if (look()) return -1;
  *n = cl.n;
  return 0;
}

static int open_device(ClDevice *d) {
  int32_t status = 0;
  if (d->queue) return 0;
  clGetDeviceInfo(d->id, DEVICE_NAME, sizeof d->title, d->title, NULL);
  if (!d->context) d->context = clCreateContext(NULL, 1, &d->id, NULL, NULL, &status);
  if (!d->context) return failed("clCreateContext", status);
  d->queue = clCreateCommandQueue(d->context, d->id, 0, &status);
  return d->queue ? 0 : failed("clCreateCommandQueue", status);
}

/* NULL and an error. The number was found to be in range. */
static ClDevice *device(int id) {
  ClDevice *d = &cl.devices[id];
  pthread_mutex_lock(&cl.lock);
  int status = open_device(d);
  pthread_mutex_unlock(&cl.lock);
  return status ? NULL : d;
}

static const char *cl_title(int id) {
  ClDevice *d = device(id);
  return d ? d->title : "";
}

/* ---- memory ---- */

static int cl_alloc(int id, size_t nbytes, void **memory) {
  ClDevice *d = device(id);
  int32_t status = 0;
  if (!d) return -1;
  *memory = clCreateBuffer(d->context, MEM_READ_WRITE, nbytes, NULL, &status);
  if (*memory) return 0;
  return tvms_set_error("opencl:%d (%s) can't allocate %zu bytes (status %d)", id, d->title, nbytes,
                        (int)status);
}

static void cl_free(int id, void *memory) {
  (void)id;
  clReleaseMemObject(memory);
}

static int cl_write(int id, void *to, size_t begin, const void *from, size_t nbytes) {
  ClDevice *d = device(id);
  if (!d) return -1;
  int32_t status =
      clEnqueueWriteBuffer(d->queue, to, CL_BLOCKING, begin, nbytes, from, 0, NULL, NULL);
  return status ? failed("writing to a buffer", status) : 0;
}

static int cl_read(int id, void *to, void *from, size_t begin, size_t nbytes) {
  ClDevice *d = device(id);
  if (!d) return -1;
  int32_t status =
      clEnqueueReadBuffer(d->queue, from, CL_BLOCKING, begin, nbytes, to, 0, NULL, NULL);
  return status ? failed("reading from a buffer", status) : 0;
}

static int cl_copy(int id, void *to, size_t to_begin, void *from, size_t from_begin,
                   size_t nbytes) {
  ClDevice *d = device(id);
  if (!d) return -1;
  int32_t status =
      clEnqueueCopyBuffer(d->queue, from, to, from_begin, to_begin, nbytes, 0, NULL, NULL);
  return status ? failed("copying between buffers", status) : 0;
}

static int cl_fill(int id, void *to, size_t begin, int byte, size_t nbytes) {
  ClDevice *d = device(id);
  uint8_t pattern = (uint8_t)byte;
  if (!d) return -1;
  int32_t status = clEnqueueFillBuffer(d->queue, to, &pattern, 1, begin, nbytes, 0, NULL, NULL);
  return status ? failed("filling a buffer", status) : 0;
}

static int cl_sync(int id) {
  ClDevice *d = device(id);
  if (!d) return -1;
  int32_t status = clFinish(d->queue);
  return status ? failed("waiting for the device", status) : 0;
}

static int cl_queue(int id, void **queue) {
  ClDevice *d = device(id);
  if (d) *queue = d->queue;
  return d ? 0 : -1;
}

/* ---- programs ---- */

static bool has_extension(const ClDevice *d, const char *name, size_t length) {
  char all[8192] = "";
  clGetDeviceInfo(d->id, DEVICE_EXTENSIONS, sizeof all - 1, all, NULL);
  for (const char *at = strstr(all, name); at; at = strstr(at + 1, name)) {
    char end = at[length];
    if ((at == all || at[-1] == ' ') && (end == ' ' || end == '\0')) return true;
  }
  return false;
}

/* The text says which extensions it needs by the lines that enable them. */
static int check_extensions(int id, const ClDevice *d, const char *source) {
  static const char word[] = "#pragma OPENCL EXTENSION ";
  for (const char *at = strstr(source, word); at; at = strstr(at, word)) {
    char name[64] = "";
    at += strlen(word);
    size_t n = strcspn(at, " :\n");
    if (n >= sizeof name) continue;
    memcpy(name, at, n);
    if (!has_extension(d, name, n))
      return tvms_set_error(
          "opencl:%d (%s) has no %s, which the module needs: %s", id, d->title, name,
          strcmp(name, "cl_khr_fp64") == 0 ? "float64 can't be computed there, use float32"
                                           : "choose another device or another dtype");
  }
  return 0;
}

static int build_failed(int id, const ClDevice *d, void *program, int32_t status) {
  char log[3000] = "";
  size_t n = 0;
  clGetProgramBuildInfo(program, d->id, PROGRAM_BUILD_LOG, sizeof log - 1, log, &n);
  clReleaseProgram(program);
  return tvms_set_error("opencl:%d (%s) can't compile the module (status %d): %s", id, d->title,
                        (int)status, *log ? log : "it says nothing");
}

static const char *build_options(const ClDevice *d) {
  uint64_t floats = 0;
  clGetDeviceInfo(d->id, DEVICE_SINGLE_FP, sizeof floats, &floats, NULL);
  return floats & FP_ROUNDED_DIVIDE ? "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt"
                                    : "-cl-std=CL1.2";
}

/* What a binary depends on, for the caller to free(); NULL if memory is out. */
static char *cache_key(const ClDevice *d, const char *options, const char *source) {
  char driver[INFO_SIZE] = "", version[INFO_SIZE] = "";
  clGetDeviceInfo(d->id, DRIVER_VERSION, sizeof driver, driver, NULL);
  clGetDeviceInfo(d->id, DEVICE_VERSION, sizeof version, version, NULL);
  size_t n = strlen(source) + 4 * INFO_SIZE;
  char *key = malloc(n);
  if (key)
    snprintf(key, n, "opencl\n%s\n%s\n%s\n%s\n%s", d->title, version, driver, options, source);
  return key;
}

/* NULL if none is kept, or the driver does not take it. */
static void *load_kept(const ClDevice *d, const char *options, const char *key) {
  size_t n = 0;
  int32_t status = 0, taken = 0;
  unsigned char *binary = tvms__program_cache_get(key, &n);
  if (!binary) return NULL;
  void *made = clCreateProgramWithBinary(d->context, 1, &d->id, &n, (const unsigned char **)&binary,
                                         &taken, &status);
  free(binary);
  if (made && (status || taken || clBuildProgram(made, 1, &d->id, options, NULL, NULL))) {
    clReleaseProgram(made);
    return NULL;
  }
  return made;
}

static void keep(void *program, const char *key) {
  size_t n = 0;
  if (clGetProgramInfo(program, PROGRAM_BINARY_SIZES, sizeof n, &n, NULL) || !n) return;
  unsigned char *binary = malloc(n);
  if (binary && !clGetProgramInfo(program, PROGRAM_BINARIES, sizeof binary, &binary, NULL))
    tvms__program_cache_put(key, binary, n);
  free(binary);
}

static int compile(int id, const ClDevice *d, const char *options, const char *source,
                   void **program) {
  int32_t status = 0;
  void *made = clCreateProgramWithSource(d->context, 1, &source, NULL, &status);
  if (!made) return failed("clCreateProgramWithSource", status);
  status = clBuildProgram(made, 1, &d->id, options, NULL, NULL);
  if (status) return build_failed(id, d, made, status);
  *program = made;
  return 0;
}

static int cl_load(int id, const char *source, void **program) {
  ClDevice *d = device(id);
  if (!d || check_extensions(id, d, source)) return -1;
  const char *options = build_options(d);
  char *key = cache_key(d, options, source);
  if (!key) return tvms__error_no_memory(strlen(source));
  int status = 0;
  *program = load_kept(d, options, key);
  if (!*program) {
    status = compile(id, d, options, source, program);
    if (!status) keep(*program, key);
  }
  free(key);
  return status;
}

static void cl_unload(int id, void *program) {
  (void)id;
  clReleaseProgram(program);
}

static int cl_kernel(int id, void *program, const char *name, void **kernel) {
  (void)id;
  int32_t status = 0;
  *kernel = clCreateKernel(program, name, &status);
  return *kernel ? 0 : failed(name, status);
}

static void cl_kernel_free(int id, void *kernel) {
  (void)id;
  clReleaseKernel(kernel);
}

/* ---- launches ---- */

static int launch_failed(int id, const ClDevice *d, void *kernel, const char *name,
                         const DeviceLaunch *l, int32_t status) {
  size_t most = 0;
  clGetKernelWorkGroupInfo(kernel, d->id, KERNEL_MAX_GROUP, sizeof most, &most, NULL);
  size_t threads = l->threads[0] * l->threads[1] * l->threads[2];
  if (most && threads > most)
    return tvms_set_error("kernel %s: a block has %zu threads, but opencl:%d (%s) runs at most %zu "
                          "of it: build for \"opencl -max_threads_per_block=%zu\"",
                          name, threads, id, d->title, most, most);
  return tvms_set_error("kernel %s: opencl:%d (%s) can't launch it (status %d)", name, id, d->title,
                        (int)status);
}

/* Arguments belong to the kernel until it is queued, so launches are one at a time. A pointer is
 * two of them: the buffer, and the byte that it begins at. */
static int32_t enqueue(const ClDevice *d, void *kernel, const DeviceLaunch *l) {
  uint32_t index = 0;
  int32_t status = 0;
  size_t all[3];
  for (int i = 0; i < l->n && !status; i++) {
    const DeviceArg *a = &l->args[i];
    if (!a->value) status = clSetKernelArg(kernel, index++, sizeof a->memory, &a->memory);
    if (!a->value && !status) status = clSetKernelArg(kernel, index++, sizeof a->begin, &a->begin);
    if (a->value) status = clSetKernelArg(kernel, index++, a->nbytes, a->value);
  }
  for (int i = 0; i < 3; i++) all[i] = l->blocks[i] * l->threads[i];
  if (!status)
    status = clEnqueueNDRangeKernel(d->queue, kernel, 3, NULL, all, l->threads, 0, NULL, NULL);
  return status;
}

static int cl_launch(int id, void *kernel, const char *name, const DeviceLaunch *l) {
  ClDevice *d = device(id);
  if (!d) return -1;
  pthread_mutex_lock(&cl.lock);
  int32_t status = enqueue(d, kernel, l);
  pthread_mutex_unlock(&cl.lock);
  return status ? launch_failed(id, d, kernel, name, l, status) : 0;
}

const DeviceApi tvms__opencl = {.name = "opencl",
                                .type = kDLOpenCL,
                                .count = cl_count,
                                .title = cl_title,
                                .alloc = cl_alloc,
                                .free = cl_free,
                                .write = cl_write,
                                .read = cl_read,
                                .copy = cl_copy,
                                .fill = cl_fill,
                                .sync = cl_sync,
                                .queue = cl_queue,
                                .load = cl_load,
                                .unload = cl_unload,
                                .kernel = cl_kernel,
                                .kernel_free = cl_kernel_free,
                                .launch = cl_launch};
