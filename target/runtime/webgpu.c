/* webgpu.c -- devices of WebGPU, by a library that has the functions of webgpu.h: the one that
 * TVMS_WEBGPU_LIBRARY names, or wgpu-native, or Dawn. It is looked for when the first device is
 * asked for. What is done is recorded, and submitted when it must be seen, or there is much. */
#include "target/runtime/webgpu.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static WgDevice gpu = {.lock = PTHREAD_MUTEX_INITIALIZER};
static bool looked;
static char missing[WG_MESSAGE_SIZE + 200]; /* why there is none; "" if there is one */

/* ---- answers ---- */

void tvms__webgpu_note(char *out, WgText message) {
  size_t n = !message.at ? 0 : message.length == SIZE_MAX ? strlen(message.at) : message.length;
  if (n > WG_MESSAGE_SIZE - 1) n = WG_MESSAGE_SIZE - 1;
  if (*out) return; /* the first one tells most */
  if (n) memcpy(out, message.at, n);
  else n = (size_t)snprintf(out, WG_MESSAGE_SIZE, "it says nothing");
  out[n] = 0;
}

static void on_object(uint32_t status, void *object, WgText message, void *a, void *b) {
  WgAnswer *answer = a;
  (void)b;
  answer->status = status;
  answer->object = object;
  if (status != WG_SUCCESS) tvms__webgpu_note(answer->error, message);
  answer->came = true;
}

static void on_status(uint32_t status, WgText message, void *a, void *b) {
  on_object(status, NULL, message, a, b);
}

/* Of an error scope. */
static void on_scope(uint32_t status, uint32_t type, WgText message, void *a, void *b) {
  on_object(status == WG_SUCCESS && type == WG_NO_ERROR ? WG_SUCCESS : 0, NULL, message, a, b);
}

static void on_error(void *const *device, uint32_t type, WgText message, void *a, void *b) {
  (void)device, (void)type, (void)b;
  tvms__webgpu_note(a, message);
}

static WgCallback callback(void *function, void *a) {
  return (WgCallback){.mode = WG_WHEN_PROCESSED, .function = function, .a = a};
}

WgCallback tvms__webgpu_told(WgAnswer *a) { return callback((void *)(uintptr_t)on_status, a); }

void tvms__webgpu_wait(WgDevice *d, const WgAnswer *a) {
  while (!a->came) {
    d->f.wgpuInstanceProcessEvents(d->instance);
    if (!a->came && d->f.wgpuDevicePoll && d->device) d->f.wgpuDevicePoll(d->device, 1, NULL);
    else if (!a->came) usleep(50);
  }
}

/* ---- finding the device ---- */

static void *open_library(void) {
  static const char *const names[] = {"libwgpu_native.so", "libwebgpu_dawn.so"};
  const char *named = getenv("TVMS_WEBGPU_LIBRARY");
  void *library = NULL;
  if (named && *named) {
    library = dlopen(named, RTLD_NOW | RTLD_LOCAL);
    if (!library)
      snprintf(missing, sizeof missing, "TVMS_WEBGPU_LIBRARY names no library: %s", dlerror());
    return library;
  }
  for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  if (!library)
    snprintf(missing, sizeof missing,
             "WebGPU is not installed: there is neither libwgpu_native.so nor libwebgpu_dawn.so; "
             "install wgpu-native, or name such a library by TVMS_WEBGPU_LIBRARY");
  return library;
}

static bool find_functions(WgFunctions *f) {
  void *library = open_library();
  if (!library) return false;
#define WG(result, name, args)                                                                     \
  *(void **)&f->name = dlsym(library, #name);                                                      \
  if (!f->name) {                                                                                  \
    snprintf(missing, sizeof missing,                                                              \
             "the WebGPU library has no %s: it is too old, or none; wgpu-native 29 has it",        \
             #name);                                                                               \
    return false;                                                                                  \
  }
#include "target/runtime/webgpu.def"
  *(void **)&f->wgpuDevicePoll = dlsym(library, "wgpuDevicePoll");
  return true;
}

static void name_device(WgDevice *d) {
  WgAdapterInfo info = {0};
  d->f.wgpuAdapterGetInfo(d->adapter, &info);
  size_t n = !info.device.at                  ? 0
             : info.device.length == SIZE_MAX ? strlen(info.device.at)
                                              : info.device.length;
  snprintf(d->title, sizeof d->title, "%.*s", (int)(n < WG_TITLE_SIZE ? n : WG_TITLE_SIZE - 1),
           n ? info.device.at : "");
  d->f.wgpuAdapterInfoFreeMembers(info);
}

static void find_adapter(WgDevice *d) {
  WgAdapterOptions options = {.level = WG_CORE, .power = WG_HIGH_PERFORMANCE};
  WgAnswer answer = {.error = d->error};
  d->instance = d->f.wgpuCreateInstance(NULL);
  if (d->instance) {
    d->f.wgpuInstanceRequestAdapter(d->instance, &options,
                                    callback((void *)(uintptr_t)on_object, &answer));
    tvms__webgpu_wait(d, &answer);
  }
  d->adapter = answer.object;
  if (!d->adapter)
    snprintf(missing, sizeof missing,
             "WebGPU finds no device on this machine (%s): install the driver of the GPU, or "
             "mesa-vulkan-drivers, which runs on the CPU",
             *d->error ? d->error : "no instance");
  *d->error = 0;
}

static int look(void) {
  pthread_mutex_lock(&gpu.lock);
  if (!looked && find_functions(&gpu.f)) find_adapter(&gpu);
  looked = true;
  pthread_mutex_unlock(&gpu.lock);
  return *missing ? tvms_set_error("%s", missing) : 0;
}

static int webgpu_count(int *n) {
  *n = 0;
  if (look()) return -1;
  *n = 1;
  return 0;
}

/* With all that it can do. */
static int open_device(WgDevice *d) {
  WgAnswer answer = {.error = d->error};
  if (d->queue) return 0;
  name_device(d);
  if (d->f.wgpuAdapterGetLimits(d->adapter, &d->limits) != WG_SUCCESS)
    return tvms_set_error("webgpu: the device (%s) does not tell its limits", d->title);
  WgDeviceDescriptor descriptor = {
      .label = {NULL, SIZE_MAX},
      .limits = &d->limits,
      .queue = {.label = {NULL, SIZE_MAX}},
      .lost = {.mode = WG_WHEN_PROCESSED},
      .error = {.function = (void *)(uintptr_t)on_error, .a = d->error}};
  d->f.wgpuAdapterRequestDevice(d->adapter, &descriptor,
                                callback((void *)(uintptr_t)on_object, &answer));
  tvms__webgpu_wait(d, &answer);
  d->device = answer.object;
  if (!d->device) return tvms_set_error("webgpu: %s can't be opened: %s", d->title, d->error);
  d->queue = d->f.wgpuDeviceGetQueue(d->device);
  d->scalars = tvms__webgpu_buffer(d, WG_UNIFORM | WG_COPY_TO, WG_SCALARS_SIZE);
  return d->queue && d->scalars ? 0 : tvms_set_error("webgpu: %s gives no queue", d->title);
}

WgDevice *tvms__webgpu_open(int id) {
  (void)id; /* was found to be 0 */
  pthread_mutex_lock(&gpu.lock);
  if (!open_device(&gpu)) return &gpu;
  pthread_mutex_unlock(&gpu.lock);
  return NULL;
}

int tvms__webgpu_close(WgDevice *d, const char *what) {
  int status = *d->error ? tvms_set_error("webgpu: %s failed: %s", what, d->error) : 0;
  *d->error = 0;
  pthread_mutex_unlock(&d->lock);
  return status;
}

static const char *webgpu_title(int id) {
  WgDevice *d = tvms__webgpu_open(id);
  if (!d) return "";
  tvms__webgpu_close(d, "");
  return d->title;
}

/* ---- commands ---- */

static void end_pass(WgDevice *d) {
  if (!d->pass) return;
  d->f.wgpuComputePassEncoderEnd(d->pass);
  d->f.wgpuComputePassEncoderRelease(d->pass);
  d->pass = NULL;
}

void *tvms__webgpu_commands(WgDevice *d) {
  end_pass(d);
  if (!d->commands) d->commands = d->f.wgpuDeviceCreateCommandEncoder(d->device, NULL);
  return d->commands;
}

void *tvms__webgpu_pass(WgDevice *d) {
  if (!d->pass) d->pass = d->f.wgpuCommandEncoderBeginComputePass(tvms__webgpu_commands(d), NULL);
  return d->pass;
}

void tvms__webgpu_flush(WgDevice *d) {
  if (!d->commands) return;
  end_pass(d);
  if (d->scalars_len)
    d->f.wgpuQueueWriteBuffer(d->queue, d->scalars, 0, d->scalars_here, d->scalars_len);
  d->scalars_len = 0;
  void *commands = d->f.wgpuCommandEncoderFinish(d->commands, NULL);
  d->f.wgpuCommandEncoderRelease(d->commands);
  d->commands = NULL;
  if (!commands) return;
  d->f.wgpuQueueSubmit(d->queue, 1, &commands);
  d->f.wgpuCommandBufferRelease(commands);
}

static int webgpu_sync(int id) {
  WgDevice *d = tvms__webgpu_open(id);
  if (!d) return -1;
  WgAnswer answer = {.error = d->error};
  tvms__webgpu_flush(d);
  d->f.wgpuQueueOnSubmittedWorkDone(d->queue, tvms__webgpu_told(&answer));
  tvms__webgpu_wait(d, &answer);
  return tvms__webgpu_close(d, "waiting for the device");
}

/* ---- programs ---- */

void tvms__webgpu_close_scope(WgDevice *d) {
  WgAnswer answer = {.error = d->error};
  d->f.wgpuDevicePopErrorScope(d->device, callback((void *)(uintptr_t)on_scope, &answer));
  tvms__webgpu_wait(d, &answer);
}

static int webgpu_load(int id, const char *source, void **program) {
  WgDevice *d = tvms__webgpu_open(id);
  if (!d) return -1;
  WgSource text = {.chain = {.type = WG_SOURCE_WGSL}, .code = WG_TEXT(source)};
  WgDescriptor descriptor = {.next = &text, .label = {NULL, SIZE_MAX}};
  d->f.wgpuDevicePushErrorScope(d->device, WG_ON_VALIDATION);
  *program = d->f.wgpuDeviceCreateShaderModule(d->device, &descriptor);
  tvms__webgpu_close_scope(d);
  if (*d->error && *program) d->f.wgpuShaderModuleRelease(*program);
  return tvms__webgpu_close(d, "compiling the module");
}

static void webgpu_unload(int id, void *program) {
  WgDevice *d = tvms__webgpu_open(id);
  if (!d) return;
  d->f.wgpuShaderModuleRelease(program);
  tvms__webgpu_close(d, "");
}

/* Its pipeline is made when it is first launched: that tells how many buffers it has. */
typedef struct WgKernel {
  void *program, *pipeline;
  const char *name;
} WgKernel;

static int webgpu_kernel(int id, void *program, const char *name, void **kernel) {
  (void)id;
  WgKernel *k = calloc(1, sizeof *k);
  if (!k) return tvms__error_no_memory(sizeof *k);
  *k = (WgKernel){.program = program, .name = name};
  *kernel = k;
  return 0;
}

static void webgpu_kernel_free(int id, void *kernel) {
  WgKernel *k = kernel;
  WgDevice *d = k->pipeline ? tvms__webgpu_open(id) : NULL;
  if (d) {
    d->f.wgpuComputePipelineRelease(k->pipeline);
    tvms__webgpu_close(d, "");
  }
  free(k);
}

static void *layout_of(WgDevice *d, int buffers) {
  WgLayoutEntry entries[WG_MOST_BUFFERS + 1] = {0};
  if (d->layouts[buffers]) return d->layouts[buffers];
  for (int i = 0; i <= buffers; i++) {
    entries[i].binding = (uint32_t)i;
    entries[i].visibility = WG_COMPUTE;
    entries[i].buffer.type = i < buffers ? WG_STORAGE_BINDING : WG_UNIFORM_BINDING;
  }
  WgLayoutDescriptor descriptor = {
      .label = {NULL, SIZE_MAX}, .len = (size_t)buffers + 1, .entries = entries};
  return d->layouts[buffers] = d->f.wgpuDeviceCreateBindGroupLayout(d->device, &descriptor);
}

static void make_pipeline(WgDevice *d, WgKernel *k, int buffers) {
  void *layout = layout_of(d, buffers);
  WgPipelineLayoutDescriptor groups = {.label = {NULL, SIZE_MAX}, .len = 1, .layouts = &layout};
  d->f.wgpuDevicePushErrorScope(d->device, WG_ON_VALIDATION);
  WgPipelineDescriptor descriptor = {.label = {NULL, SIZE_MAX},
                                     .layout =
                                         d->f.wgpuDeviceCreatePipelineLayout(d->device, &groups),
                                     .compute = {.module = k->program, .entry = WG_TEXT(k->name)}};
  k->pipeline = d->f.wgpuDeviceCreateComputePipeline(d->device, &descriptor);
  d->f.wgpuPipelineLayoutRelease(descriptor.layout);
  tvms__webgpu_close_scope(d);
  if (*d->error && k->pipeline) d->f.wgpuComputePipelineRelease(k->pipeline), k->pipeline = NULL;
}

/* ---- launches ---- */

/* The bytes from the begin of a binding that an argument may have: all that follow, or up to the
 * next argument in the buffer, where the program does not tell. */
static size_t size_of(const DeviceLaunch *l, const DeviceArg *a, size_t begin) {
  size_t end = ((WgBuffer *)a->memory)->size, own = (size_t)a->begin + a->size;
  for (int i = 0; i < l->n && !a->size; i++)
    if (l->args[i].memory == a->memory && l->args[i].begin > a->begin &&
        (size_t)l->args[i].begin < end)
      end = (size_t)l->args[i].begin;
  if (a->size && own < end) end = own;
  return (end - begin + 3) / 4 * 4;
}

static int bind_buffer(WgDevice *d, const DeviceLaunch *l, const char *name, int index,
                       WgBinding *out) {
  const DeviceArg *a = &l->args[index];
  WgBuffer *b = a->memory;
  size_t begin = (size_t)a->begin < b->size ? (size_t)a->begin : b->size - 1;
  begin = begin / WG_BINDING_ALIGN * WG_BINDING_ALIGN;
  size_t nbytes = size_of(l, a, begin);
  if (nbytes > d->limits.storage_bytes)
    return tvms_set_error("kernel %s: argument %d has %zu bytes, but a kernel of webgpu (%s) sees "
                          "at most %llu of a tensor",
                          name, index + 1, nbytes, d->title,
                          (unsigned long long)d->limits.storage_bytes);
  out->buffer = b->buffer;
  out->offset = begin;
  out->size = nbytes;
  return 0;
}

/* One tensor as two arguments, which a kernel only reads: WebGPU wants no memory to be seen twice
 * by who may write it, so the later argument gets a copy. The caller releases it. */
static void *separate(WgDevice *d, const WgBinding *before, int n, WgBinding *b) {
  int i = 0;
  while (i < n && (before[i].buffer != b->buffer || before[i].offset != b->offset)) i++;
  if (i == n) return NULL;
  void *copy = tvms__webgpu_buffer(d, WG_STORAGE | WG_COPY_TO, b->size);
  d->f.wgpuCommandEncoderCopyBufferToBuffer(tvms__webgpu_commands(d), b->buffer, b->offset, copy, 0,
                                            b->size);
  b->buffer = copy;
  b->offset = 0;
  return copy;
}

/* A tensor without elements has no memory; no kernel touches it. */
static void bind_nothing(WgDevice *d, WgBinding *out) {
  static void *nothing;
  if (!nothing) nothing = tvms__webgpu_buffer(d, WG_STORAGE, WG_BINDING_ALIGN);
  out->buffer = nothing;
  out->size = WG_BINDING_ALIGN;
}

/* As the text of the kernel has them: eight bytes each, and the numbers of blocks. */
static size_t write_scalars(const DeviceLaunch *l, uint8_t *to) {
  size_t n = 0;
  for (int i = 0; i < l->n; i++, n += 8) {
    const DeviceArg *a = &l->args[i];
    uint64_t begin = (uint64_t)a->begin % WG_BINDING_ALIGN;
    memcpy(to + n, a->value ? a->value : &begin, 8);
  }
  const uint32_t blocks[] = {(uint32_t)l->blocks[0], (uint32_t)l->blocks[1], (uint32_t)l->blocks[2],
                             0};
  memcpy(to + n, blocks, sizeof blocks);
  n += sizeof blocks;
  return (n + WG_BINDING_ALIGN - 1) / WG_BINDING_ALIGN * WG_BINDING_ALIGN;
}

enum { MOST_SCALARS = DEVICE_MOST_ARGS * 8 + WG_BINDING_ALIGN };

/* What a launch binds, and the copies that were made for it. */
typedef struct Bindings {
  WgBinding at[WG_MOST_BUFFERS + 1];
  void *copies[WG_MOST_BUFFERS];
  int buffers, copies_len;
} Bindings;

static int bind(WgDevice *d, const DeviceLaunch *l, const char *name, Bindings *out) {
  int k = 0;
  for (int i = 0; i < l->n; i++) {
    if (l->args[i].value) continue;
    out->at[k] = (WgBinding){.binding = (uint32_t)k};
    if (!l->args[i].memory) bind_nothing(d, &out->at[k]);
    else if (bind_buffer(d, l, name, i, &out->at[k])) return -1;
    void *copy = l->args[i].memory ? separate(d, out->at, k, &out->at[k]) : NULL;
    if (copy) out->copies[out->copies_len++] = copy;
    k++;
  }
  if (d->scalars_len + MOST_SCALARS > WG_SCALARS_SIZE) tvms__webgpu_flush(d);
  size_t nbytes = write_scalars(l, d->scalars_here + d->scalars_len);
  out->at[k] = (WgBinding){
      .binding = (uint32_t)k, .buffer = d->scalars, .offset = d->scalars_len, .size = nbytes};
  d->scalars_len += nbytes;
  return 0;
}

/* Where there are more along an axis than a dispatch has, the kernel counts those of all axes. */
static int dispatch(WgDevice *d, const DeviceLaunch *l, const char *name) {
  size_t most = d->limits.blocks, x = l->blocks[0], y = l->blocks[1], z = l->blocks[2];
  if (x > UINT32_MAX / y || x * y > UINT32_MAX / z || (x * y * z - 1) / most >= most)
    return tvms_set_error("kernel %s: %zu x %zu x %zu blocks are more than webgpu (%s) can count",
                          name, x, y, z, d->title);
  if (x > most || y > most || z > most) {
    size_t all = x * y * z;
    x = most;
    y = (all - 1) / most + 1;
    z = 1;
  }
  d->f.wgpuComputePassEncoderDispatchWorkgroups(tvms__webgpu_pass(d), (uint32_t)x, (uint32_t)y,
                                                (uint32_t)z);
  return 0;
}

static int record(WgDevice *d, WgKernel *k, const char *name, const DeviceLaunch *l, Bindings *b) {
  int status = bind(d, l, name, b);
  WgBindGroupDescriptor descriptor = {.label = {NULL, SIZE_MAX},
                                      .layout = layout_of(d, b->buffers),
                                      .len = (size_t)b->buffers + 1,
                                      .entries = b->at};
  if (!status) {
    void *group = d->f.wgpuDeviceCreateBindGroup(d->device, &descriptor);
    d->f.wgpuComputePassEncoderSetPipeline(tvms__webgpu_pass(d), k->pipeline);
    d->f.wgpuComputePassEncoderSetBindGroup(tvms__webgpu_pass(d), 0, group, 0, NULL);
    d->f.wgpuBindGroupRelease(group);
    status = dispatch(d, l, name);
  }
  for (int i = 0; i < b->copies_len; i++) d->f.wgpuBufferRelease(b->copies[i]);
  return status;
}

static int launch(WgDevice *d, WgKernel *k, const char *name, const DeviceLaunch *l) {
  Bindings b = {.buffers = 0};
  for (int i = 0; i < l->n; i++) b.buffers += !l->args[i].value;
  if (b.buffers > WG_MOST_BUFFERS || b.buffers > (int)d->limits.storage_buffers)
    return tvms_set_error("kernel %s: it has %d buffers, but webgpu (%s) binds at most %u: build "
                          "for \"webgpu -max_storage_buffers=%u\"",
                          name, b.buffers, d->title, d->limits.storage_buffers,
                          d->limits.storage_buffers);
  if (!k->pipeline) make_pipeline(d, k, b.buffers);
  return *d->error ? 0 : record(d, k, name, l, &b); /* told by who closes */
}

static int webgpu_launch(int id, void *kernel, const char *name, const DeviceLaunch *l) {
  char what[400];
  WgDevice *d = tvms__webgpu_open(id);
  if (!d) return -1;
  int status = launch(d, kernel, name, l);
  snprintf(what, sizeof what, "launching kernel %.100s on %.200s", name, d->title);
  return tvms__webgpu_close(d, what) || status ? -1 : 0;
}

const DeviceApi tvms__webgpu = {.name = "webgpu",
                                .type = kDLWebGPU,
                                .takes_sizes = true,
                                .count = webgpu_count,
                                .title = webgpu_title,
                                .alloc = tvms__webgpu_alloc,
                                .free = tvms__webgpu_free,
                                .write = tvms__webgpu_write,
                                .read = tvms__webgpu_read,
                                .copy = tvms__webgpu_copy,
                                .fill = tvms__webgpu_fill,
                                .sync = webgpu_sync,
                                .load = webgpu_load,
                                .unload = webgpu_unload,
                                .kernel = webgpu_kernel,
                                .kernel_free = webgpu_kernel_free,
                                .launch = webgpu_launch};
