/* webgpu.c -- the browser's WebGPU as a device. What is done there is told to tvms.mjs, which has
 * the objects; here they are numbers. A function of it that fails sets the error, and gives 0 or
 * -1.
 *
 * Reading and waiting take time that JavaScript won't spend: in the midst of a function only
 * browsers can do it that suspend WebAssembly. Results are read by tvms.mjs itself. */
#include "target/runtime/device.h"

#define GPU(result, name, args)                                                                    \
  __attribute__((import_module("tvms"), import_name(#name))) result name args;
GPU(int, gpu_count, (void))
GPU(int, gpu_alloc, (size_t nbytes))
GPU(void, gpu_free, (int memory))
GPU(int, gpu_write, (int memory, size_t begin, const void *from, size_t nbytes))
GPU(int, gpu_read, (void *to, int memory, size_t begin, size_t nbytes))
GPU(int, gpu_copy, (int to, size_t to_begin, int from, size_t from_begin, size_t nbytes))
GPU(int, gpu_fill, (int memory, size_t begin, int byte, size_t nbytes))
GPU(int, gpu_sync, (void))
GPU(int, gpu_load, (const char *source))
GPU(void, gpu_unload, (int program))
GPU(int, gpu_kernel, (int program, const char *name))
GPU(void, gpu_kernel_free, (int kernel))
GPU(int, gpu_launch,
    (int kernel, const char *name, int n, const DeviceArg *args, const size_t *blocks))
#undef GPU

static void *object(int number) { return (void *)(uintptr_t)number; }
static int number(const void *object) { return (int)(uintptr_t)object; }

/* 0, or -1 if there is none: the error is set. */
static int give(int made, void **out) { return *out = object(made), made ? 0 : -1; }

static int count(int *n) {
  *n = gpu_count();
  return *n ? 0 : tvms_set_error("there is no WebGPU here: navigator.gpu gives no adapter");
}
static const char *title(int id) { return (void)id, "WebGPU"; }
static int alloc(int id, size_t nbytes, void **memory) {
  return (void)id, give(gpu_alloc(nbytes), memory);
}
static void release(int id, void *memory) { (void)id, gpu_free(number(memory)); }
static int write(int id, void *to, size_t begin, const void *from, size_t nbytes) {
  return (void)id, gpu_write(number(to), begin, from, nbytes);
}
static int read(int id, void *to, void *from, size_t begin, size_t nbytes) {
  return (void)id, gpu_read(to, number(from), begin, nbytes);
}
static int copy(int id, void *to, size_t to_begin, void *from, size_t from_begin, size_t nbytes) {
  return (void)id, gpu_copy(number(to), to_begin, number(from), from_begin, nbytes);
}
static int fill(int id, void *to, size_t begin, int byte, size_t nbytes) {
  return (void)id, gpu_fill(number(to), begin, byte, nbytes);
}
static int sync(int id) { return (void)id, gpu_sync(); }
static int load(int id, const char *source, void **program) {
  return (void)id, give(gpu_load(source), program);
}
static void unload(int id, void *program) { (void)id, gpu_unload(number(program)); }
static int kernel(int id, void *program, const char *name, void **out) {
  return (void)id, give(gpu_kernel(number(program), name), out);
}
static void kernel_free(int id, void *k) { (void)id, gpu_kernel_free(number(k)); }
static int launch(int id, void *k, const char *name, const DeviceLaunch *l) {
  return (void)id, gpu_launch(number(k), name, l->n, l->args, l->blocks);
}

const DeviceApi tvms__webgpu = {.name = "webgpu",
                                .type = kDLWebGPU,
                                .takes_sizes = true,
                                .count = count,
                                .title = title,
                                .alloc = alloc,
                                .free = release,
                                .write = write,
                                .read = read,
                                .copy = copy,
                                .fill = fill,
                                .sync = sync,
                                .load = load,
                                .unload = unload,
                                .kernel = kernel,
                                .kernel_free = kernel_free,
                                .launch = launch};
