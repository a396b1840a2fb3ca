/* fake_libcuda.c -- stands for NVIDIA's driver where there is none: a libcuda.so.1 that holds
 * memory, checks what it is told, writes each call down, and runs kernels by an emulator of PTX.
 *
 *   FAKE_CUDA_LOG=FILE          calls, a line each
 *   FAKE_CUDA_FAIL=NAME:STATUS  this function gives this status
 *   FAKE_CUDA_DEVICES=N, FAKE_CUDA_ARCH=80
 *
 * Addresses are such that no one can follow them on the CPU. */
#include "../fake_log.h"
#include "ptx_emulator.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID_PTX = 218, NOT_FOUND = 500 };
enum { MOST_BLOCKS = 4096, MOST_SHARED = 163 << 10, MOST_SHARED_90 = 227 << 10 };
#define AWAY          ((uint64_t)1 << 56)
#define note(...)     fake_note("FAKE_CUDA_LOG", __VA_ARGS__)
#define planned(name) fake_planned("FAKE_CUDA_FAIL", name)

typedef struct Block {
  char *bytes;
  size_t size;
} Block;

static Block blocks[MOST_BLOCKS];
static int started;
static int most_shared = 48 << 10; /* that a kernel may be launched with */
static void *current;
static char context[1], stream[1];

static int number(const char *name, int otherwise) {
  const char *text = getenv(name);
  return text ? atoi(text) : otherwise;
}

/* What all functions begin with: the status that is planned, and the calls that must stand before.
 */
#define BEGIN(name)                                                                                \
  do {                                                                                             \
    int status = planned(name);                                                                    \
    note("%s%s", name, status ? " fails" : "");                                                    \
    if (status) return status;                                                                     \
    if (!started) return 3;                                                                        \
  } while (0)
#define BEGIN_IN_CONTEXT(name)                                                                     \
  do {                                                                                             \
    BEGIN(name);                                                                                   \
    if (!current) return 201;                                                                      \
  } while (0)

/* ---- the driver and its devices ---- */

int cuInit(unsigned flags) {
  int status = planned("cuInit");
  note("cuInit%s", status ? " fails" : "");
  if (!status && flags) status = INVALID_VALUE;
  if (!status && !number("FAKE_CUDA_DEVICES", 1)) status = NO_DEVICE;
  started = !status;
  return status;
}

int cuDriverGetVersion(int *version) {
  *version = 12000;
  return 0;
}

int cuGetErrorName(int error, const char **text) {
  static const struct {
    int status;
    const char *name;
  } rows[] = {{1, "CUDA_ERROR_INVALID_VALUE"},
              {2, "CUDA_ERROR_OUT_OF_MEMORY"},
              {100, "CUDA_ERROR_NO_DEVICE"},
              {218, "CUDA_ERROR_INVALID_PTX"},
              {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
              {500, "CUDA_ERROR_NOT_FOUND"},
              {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
              {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
              {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].status == error) return *text = rows[i].name, 0;
  return INVALID_VALUE;
}

int cuGetErrorString(int error, const char **text) { return cuGetErrorName(error, text); }

int cuDeviceGetCount(int *n) {
  BEGIN("cuDeviceGetCount");
  *n = number("FAKE_CUDA_DEVICES", 1);
  return 0;
}

int cuDeviceGet(int *device, int i) {
  BEGIN("cuDeviceGet");
  *device = i;
  return i < number("FAKE_CUDA_DEVICES", 1) ? 0 : 101;
}

int cuDeviceGetName(char *name, int size, int device) {
  BEGIN("cuDeviceGetName");
  snprintf(name, (size_t)size, "Fake %d", device);
  return 0;
}

int cuDeviceGetAttribute(int *value, int key, int device) {
  int arch = number("FAKE_CUDA_ARCH", 80);
  (void)device;
  *value = key == 75   ? arch / 10
           : key == 76 ? arch % 10
           : key == 97 ? (arch < 90 ? MOST_SHARED : MOST_SHARED_90)
                       : 0;
  return 0;
}

int cuDevicePrimaryCtxRetain(void **out, int device) {
  BEGIN("cuDevicePrimaryCtxRetain");
  (void)device;
  *out = context;
  return 0;
}

int cuCtxSetCurrent(void *c) {
  int status = planned("cuCtxSetCurrent");
  current = c;
  return status;
}

int cuStreamCreate(void **out, unsigned flags) {
  BEGIN_IN_CONTEXT("cuStreamCreate");
  (void)flags;
  *out = stream;
  return 0;
}

int cuStreamSynchronize(void *s) {
  BEGIN_IN_CONTEXT("cuStreamSynchronize");
  return s == stream ? 0 : INVALID_VALUE;
}

/* ---- memory ---- */

/* The number of the block with these bytes, or -1. */
static int find(uint64_t address, size_t nbytes) {
  for (int i = 0; i < MOST_BLOCKS; i++) {
    uint64_t base = (uintptr_t)blocks[i].bytes + AWAY;
    if (blocks[i].bytes && address >= base && address + nbytes <= base + blocks[i].size) return i;
  }
  return -1;
}

static char *bytes_at(uint64_t address) { return (char *)(uintptr_t)(address - AWAY); }

int cuMemAlloc_v2(uint64_t *memory, size_t nbytes) {
  BEGIN_IN_CONTEXT("cuMemAlloc_v2");
  int i = 0;
  while (i < MOST_BLOCKS && blocks[i].bytes) i++;
  if (!nbytes || i == MOST_BLOCKS) return INVALID_VALUE;
  blocks[i].bytes = nbytes > (size_t)1 << 40 ? NULL : aligned_alloc(256, (nbytes + 255) & ~255ul);
  if (!blocks[i].bytes) return OUT_OF_MEMORY;
  blocks[i].size = nbytes;
  *memory = (uintptr_t)blocks[i].bytes + AWAY;
  return 0;
}

int cuMemFree_v2(uint64_t memory) {
  BEGIN_IN_CONTEXT("cuMemFree_v2");
  int i = find(memory, 0);
  if (i < 0 || bytes_at(memory) != blocks[i].bytes) return INVALID_VALUE;
  free(blocks[i].bytes);
  blocks[i].bytes = NULL;
  return 0;
}

int cuMemGetInfo_v2(size_t *unused, size_t *all) {
  *unused = 1000;
  *all = 80000;
  return 0;
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t nbytes, void *s) {
  BEGIN_IN_CONTEXT("cuMemcpyHtoDAsync_v2");
  if (s != stream || find(to, nbytes) < 0) return INVALID_VALUE;
  memcpy(bytes_at(to), from, nbytes);
  return 0;
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t nbytes, void *s) {
  BEGIN_IN_CONTEXT("cuMemcpyDtoHAsync_v2");
  if (s != stream || find(from, nbytes) < 0) return INVALID_VALUE;
  memcpy(to, bytes_at(from), nbytes);
  return 0;
}

int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t nbytes, void *s) {
  BEGIN_IN_CONTEXT("cuMemcpyDtoDAsync_v2");
  if (s != stream || find(from, nbytes) < 0 || find(to, nbytes) < 0) return INVALID_VALUE;
  memmove(bytes_at(to), bytes_at(from), nbytes);
  return 0;
}

int cuMemsetD8Async(uint64_t to, unsigned char byte, size_t nbytes, void *s) {
  BEGIN_IN_CONTEXT("cuMemsetD8Async");
  if (s != stream || find(to, nbytes) < 0) return INVALID_VALUE;
  memset(bytes_at(to), byte, nbytes);
  return 0;
}

/* ---- modules ---- */

int cuModuleLoadDataEx(void **module, const void *image, unsigned n, int *options, void **values) {
  char why[300] = "ptxas fatal: planned";
  int status = planned("cuModuleLoadDataEx");
  note("cuModuleLoadDataEx%s", status ? " fails" : "");
  *module = status ? NULL : ptx_module_new(image, why, sizeof why);
  if (*module) return current ? 0 : 201;
  for (unsigned i = 0; i < n; i++)
    if (options[i] == 5) strcpy(values[i], why);
  return status ? status : INVALID_PTX;
}

int cuModuleUnload(void *module) {
  BEGIN_IN_CONTEXT("cuModuleUnload");
  ptx_module_free(module);
  return 0;
}

int cuModuleGetFunction(void **function, void *module, const char *name) {
  BEGIN_IN_CONTEXT("cuModuleGetFunction");
  for (PtxKernel *k = ptx_module_kernels(module); k; k = k->next)
    if (!strcmp(k->name, name)) return *function = k, 0;
  return NOT_FOUND;
}

int cuFuncGetAttribute(int *value, int key, void *function) {
  PtxKernel *k = function;
  *value = key == 0 ? (int)(k->threads[0] * k->threads[1] * k->threads[2]) : 0;
  return 0;
}

int cuFuncSetAttribute(void *function, int key, int value) {
  BEGIN_IN_CONTEXT("cuFuncSetAttribute");
  if (key != 8 || value > MOST_SHARED_90 || !function) return INVALID_VALUE;
  most_shared = value;
  return 0;
}

static void *memory_at(uint64_t address, size_t nbytes) {
  return find(address, nbytes) < 0 ? NULL : bytes_at(address);
}

/* "memory" for an address, else the number. */
static void add_param(char *out, size_t size, const char *type, const void *value) {
  uint64_t bits = 0;
  size_t n = strlen(out), nbytes = (size_t)atoi(type + 1) / 8;
  float f;
  memcpy(&bits, value, nbytes);
  memcpy(&f, &bits, sizeof f);
  if (type[0] == 'f') snprintf(out + n, size - n, " %g", nbytes == 4 ? (double)f : 0);
  else if (nbytes == 8 && find(bits, 1) >= 0) snprintf(out + n, size - n, " memory");
  else snprintf(out + n, size - n, " %lld", (long long)bits);
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *s, void **params, void **extra) {
  PtxKernel *k = function;
  const unsigned grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
  char args[1000] = "", why[500];
  for (int i = 0; i < k->params; i++)
    if (params[i]) add_param(args, sizeof args, k->types[i], params[i]);
    else return INVALID_VALUE;
  note("%s<<<(%u, %u, %u), (%u, %u, %u), %u>>>%s", k->name, gx, gy, gz, bx, by, bz, shared, args);
  BEGIN_IN_CONTEXT("cuLaunchKernel");
  if (s != stream || extra || !gx || !gy || !gz || gy > 65535 || gz > 65535) return INVALID_VALUE;
  if (bx > k->threads[0] || by > k->threads[1] || bz > k->threads[2]) return INVALID_VALUE;
  if (bx * by * bz > 1024 || (int)shared > most_shared) return INVALID_VALUE;
  if (ptx_run(k, grid, block, shared, params, memory_at, why, sizeof why)) return 0;
  fprintf(stderr, "fake libcuda: %s\n", why);
  return 700;
}
