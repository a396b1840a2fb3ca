/* device.h -- devices beside the CPU: what the runtime asks of a kind of them, and their memory.
 *
 * Device memory has addresses. Each piece has a range of the process's addresses, reserved and
 * never readable, so that compiled host code does arithmetic on them as on any pointer; who hands
 * one to a device looks up whose it is. */
#ifndef TARGET_RUNTIME_DEVICE_H
#define TARGET_RUNTIME_DEVICE_H

#include "target/runtime/runtime_impl.h"

#pragma GCC visibility push(hidden)

/* An argument of a kernel: memory from a byte on, or a scalar. */
typedef struct DeviceArg {
  void *memory; /* NULL: a scalar */
  int64_t begin;
  size_t size; /* of what the kernel sees; 0: not known. Where the device takes sizes */
  const void *value;
  size_t nbytes;
} DeviceArg;

enum { DEVICE_MOST_ARGS = 256 }; /* of a kernel */

typedef struct DeviceLaunch {
  int n;
  const DeviceArg *args;
  size_t blocks[3], threads[3];
  size_t shared; /* bytes of dynamic shared memory, where the device has such */
} DeviceLaunch;

/* One kind of device. Functions give 0, or -1 with the error set. Work that is begun for one device
 * is done in order; read waits for it. */
typedef struct DeviceApi {
  const char *name;
  DLDeviceType type;
  bool takes_sizes;     /* as LowerDevice of lower/ */
  int (*count)(int *n); /* of the devices; -1: the driver is missing */
  const char *(*title)(int id);
  int (*alloc)(int id, size_t nbytes, void **memory);
  void (*free)(int id, void *memory);
  int (*write)(int id, void *to, size_t begin, const void *from, size_t nbytes);
  int (*read)(int id, void *to, void *from, size_t begin, size_t nbytes);
  int (*copy)(int id, void *to, size_t to_begin, void *from, size_t from_begin, size_t nbytes);
  int (*fill)(int id, void *to, size_t begin, int byte, size_t nbytes);
  int (*sync)(int id);
  int (*queue)(int id, void **queue); /* as of TvmsDeviceMemory; NULL: it gives none away */
  int (*load)(int id, const char *source, void **program); /* compiles it */
  void (*unload)(int id, void *program);
  int (*kernel)(int id, void *program, const char *name, void **kernel);
  void (*kernel_free)(int id, void *kernel);
  int (*launch)(int id, void *kernel, const char *name, const DeviceLaunch *l);
} DeviceApi;

extern const DeviceApi tvms__cuda, tvms__opencl, tvms__metal, tvms__webgpu;

/* NULL and an error if there is no such device here. */
const DeviceApi *tvms__device_api(DLDevice device);
/* "opencl:0", "the CPU". */
#define DEVICE_TEXT_SIZE 32
const char *tvms__device_text(DLDevice device, char *out);

/* Memory of a device by its address; NULL and an error. */
void *tvms__device_alloc(DLDevice device, size_t nbytes);
void tvms__device_free(void *address);
/* Where an address of a device lies; false: it is none. */
typedef struct DevicePlace {
  const DeviceApi *api;
  DLDevice device;
  void *memory;
  size_t begin, size; /* in the memory, and of it */
} DevicePlace;
bool tvms__device_find(const void *address, DevicePlace *out);
/* Bytes between places that may each be the CPU's or a device's. */
int tvms__bytes_copy(void *to, const void *from, size_t nbytes);
int tvms__bytes_fill(void *to, int byte, size_t nbytes);

/* What a module has on devices: programs, kernels, constants. */
typedef struct DeviceState DeviceState;
void tvms__device_state_free(DeviceState *s); /* NULL is fine */
DeviceState **tvms__module_devices(void);     /* of the module whose code the thread runs */

#pragma GCC visibility pop
#endif
