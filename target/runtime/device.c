/* device.c -- the kinds of devices, tensors on them, and what compiled modules have there:
 * programs, kernels, constants, made when they are first needed and freed with the module. */
#include "target/runtime/device.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const DeviceApi *const kinds[] = {&tvms__cuda, &tvms__opencl, &tvms__metal, &tvms__webgpu};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const DeviceApi *kind_of(DLDeviceType type) {
  for (int i = 0; i < KINDS; i++)
    if (kinds[i]->type == type) return kinds[i];
  tvms_set_error("this runtime has no devices of type %d", (int)type);
  return NULL;
}

const DeviceApi *tvms__device_api(DLDevice device) {
  const DeviceApi *api = kind_of(device.device_type);
  int n = 0;
  if (!api || api->count(&n)) return NULL;
  if (device.device_id >= 0 && device.device_id < n) return api;
  tvms_set_error("there is no %s:%d: this machine has %d device%s of %s", api->name,
                 device.device_id, n, n == 1 ? "" : "s", api->name);
  return NULL;
}

const char *tvms__device_text(DLDevice device, char *out) {
  tvms_device_text(device, out, DEVICE_TEXT_SIZE);
  return out;
}

void tvms_device_text(DLDevice device, char *out, size_t out_size) {
  const char *name = NULL;
  if (device.device_type == kDLCPU) {
    snprintf(out, out_size, "the CPU");
    return;
  }
  for (int i = 0; i < KINDS; i++)
    if (kinds[i]->type == device.device_type) name = kinds[i]->name;
  if (name) snprintf(out, out_size, "%s:%d", name, device.device_id);
  else snprintf(out, out_size, "device type %d", (int)device.device_type);
}

int tvms_device_parse(const char *text, DLDevice *out) {
  size_t n = strcspn(text, ":");
  char *end = NULL;
  long id = text[n] ? strtol(text + n + 1, &end, 10) : 0;
  bool good = !text[n] || (end != text + n + 1 && !*end && id >= 0 && id < 1024);
  if (good && n == 3 && strncmp(text, "cpu", n) == 0)
    return *out = (DLDevice){kDLCPU, (int32_t)id}, 0;
  for (int i = 0; good && i < KINDS; i++)
    if (strlen(kinds[i]->name) == n && strncmp(kinds[i]->name, text, n) == 0)
      return *out = (DLDevice){kinds[i]->type, (int32_t)id}, 0;
  return tvms_set_error(
      "there is no device '%s'; there are cpu, cuda, opencl, metal, webgpu, and cuda:1", text);
}

int tvms_device_count(DLDeviceType type) {
  int n = 0;
  if (type == kDLCPU) return 1;
  const DeviceApi *api = kind_of(type);
  return api && !api->count(&n) ? n : -1;
}

int tvms_device_sync(DLDevice device) {
  if (device.device_type == kDLCPU) return 0;
  const DeviceApi *api = tvms__device_api(device);
  return api ? api->sync(device.device_id) : -1;
}

int tvms_device_memory(const void *address, TvmsDeviceMemory *out) {
  DevicePlace place;
  char text[DEVICE_TEXT_SIZE];
  if (!tvms__device_find(address, &place))
    return tvms_set_error("the address %p is none of a device's memory", address);
  if (!place.api->queue)
    return tvms_set_error("memory of %s is not given away", tvms__device_text(place.device, text));
  *out = (TvmsDeviceMemory){place.device, place.memory, place.begin, NULL};
  return place.api->queue(place.device.device_id, &out->queue);
}

/* ---- what modules have there ---- */

typedef struct Slot {
  const void *key; /* an address in the module: of a source, of a kernel's name, of a constant */
  size_t nbytes;   /* of a constant: an empty one may have the address of another */
  DLDevice device;
  void *value; /* a program, a kernel, device memory */
} Slot;

typedef struct Slots {
  Slot *at; /* open addressing; key NULL: free */
  int len, cap;
} Slots;

struct DeviceState {
  Slots programs, kernels, constants;
};

/* Of all modules: what is in them changes seldom. Code that was linked into the program has the
 * state of no module. */
static pthread_mutex_t state_lock = PTHREAD_MUTEX_INITIALIZER;
static DeviceState *state_of_program;

static Slot *slot_of(const Slots *s, const void *key, size_t nbytes, DLDevice device) {
  size_t mask = (size_t)s->cap - 1;
  size_t i = ((uintptr_t)key >> 3) * 0x9e3779b97f4a7c15u >> 20 & mask;
  for (;; i = (i + 1) & mask) {
    Slot *at = &s->at[i];
    bool same = at->key == key && at->nbytes == nbytes &&
                at->device.device_type == device.device_type &&
                at->device.device_id == device.device_id;
    if (!at->key || same) return at;
  }
}

static void *slots_get(const Slots *s, const void *key, size_t nbytes, DLDevice device) {
  return s->cap ? slot_of(s, key, nbytes, device)->value : NULL;
}

static int slots_grow(Slots *s) {
  Slots more = {.cap = s->cap ? s->cap * 2 : 64};
  more.at = calloc((size_t)more.cap, sizeof *more.at);
  if (!more.at) return tvms__error_no_memory(sizeof *more.at * (size_t)more.cap);
  for (int i = 0; i < s->cap; i++)
    if (s->at[i].key) *slot_of(&more, s->at[i].key, s->at[i].nbytes, s->at[i].device) = s->at[i];
  more.len = s->len;
  free(s->at);
  *s = more;
  return 0;
}

static int slots_set(Slots *s, const void *key, size_t nbytes, DLDevice device, void *value) {
  if (2 * (s->len + 1) > s->cap && slots_grow(s)) return -1;
  *slot_of(s, key, nbytes, device) = (Slot){key, nbytes, device, value};
  s->len++;
  return 0;
}

void tvms__device_state_free(DeviceState *s) {
  if (!s) return;
  for (int i = 0; i < s->kernels.cap; i++)
    if (s->kernels.at[i].key)
      kind_of(s->kernels.at[i].device.device_type)
          ->kernel_free(s->kernels.at[i].device.device_id, s->kernels.at[i].value);
  for (int i = 0; i < s->programs.cap; i++)
    if (s->programs.at[i].key)
      kind_of(s->programs.at[i].device.device_type)
          ->unload(s->programs.at[i].device.device_id, s->programs.at[i].value);
  for (int i = 0; i < s->constants.cap; i++)
    if (s->constants.at[i].key) tvms__device_free(s->constants.at[i].value);
  free(s->kernels.at);
  free(s->programs.at);
  free(s->constants.at);
  free(s);
}

static DeviceState *state_here(void) {
  DeviceState **of_module = tvms__module_devices();
  DeviceState **s = of_module ? of_module : &state_of_program;
  if (!*s) *s = calloc(1, sizeof **s);
  if (!*s) tvms__error_no_memory(sizeof **s);
  return *s;
}

static void *kernel_of(const DeviceApi *api, DLDevice device, const char *source,
                       const char *name) {
  DeviceState *s = state_here();
  void *kernel = s ? slots_get(&s->kernels, name, 0, device) : NULL;
  if (!s || kernel) return kernel;
  void *program = slots_get(&s->programs, source, 0, device);
  if (!program && (api->load(device.device_id, source, &program) ||
                   slots_set(&s->programs, source, 0, device, program)))
    return NULL;
  if (api->kernel(device.device_id, program, name, &kernel) ||
      slots_set(&s->kernels, name, 0, device, kernel))
    return NULL;
  return kernel;
}

void *tvms_device_constant(int32_t device_type, int32_t device_id, void *bytes, int64_t nbytes) {
  DLDevice device = {(DLDeviceType)device_type, device_id};
  pthread_mutex_lock(&state_lock);
  DeviceState *s = state_here();
  void *memory = s ? slots_get(&s->constants, bytes, (size_t)nbytes, device) : NULL;
  if (s && !memory) {
    memory = tvms__device_alloc(device, (size_t)nbytes);
    bool failed = memory && (tvms__bytes_copy(memory, bytes, (size_t)nbytes) ||
                             slots_set(&s->constants, bytes, (size_t)nbytes, device, memory));
    if (failed) tvms__device_free(memory), memory = NULL;
  }
  pthread_mutex_unlock(&state_lock);
  return memory;
}

/* ---- launches ---- */

static int find_memory(DeviceArg *a, void *address, DLDevice device, const char *kernel,
                       int index) {
  DevicePlace place;
  char text[DEVICE_TEXT_SIZE], other[DEVICE_TEXT_SIZE];
  if (!address) return 0;
  bool found = tvms__device_find(address, &place);
  if (found && place.device.device_type == device.device_type &&
      place.device.device_id == device.device_id) {
    a->memory = place.memory;
    a->begin = (int64_t)place.begin;
    return 0;
  }
  return tvms_set_error("kernel %s: argument %d lies on %s, not on %s", kernel, index + 1,
                        tvms__device_text(found ? place.device : (DLDevice){kDLCPU, 0}, other),
                        tvms__device_text(device, text));
}

int tvms_device_launch(int32_t device_type, int32_t device_id, void *source, void *kernel,
                       int32_t n, void *values, void *sizes, void *dims) {
  DLDevice device = {(DLDeviceType)device_type, device_id};
  const DeviceApi *api = tvms__device_api(device);
  const int64_t *at = dims;
  DeviceArg args[DEVICE_MOST_ARGS];
  DeviceLaunch l = {.n = n, .args = args, .shared = (size_t)at[6]};
  if (!api) return -1;
  if (n > DEVICE_MOST_ARGS)
    return tvms_set_error("kernel %s has %d arguments, more than %d", (char *)kernel, n,
                          DEVICE_MOST_ARGS);
  for (int i = 0; i < 3; i++) {
    if (at[i] <= 0 || at[3 + i] <= 0) return 0; /* no thread */
    l.blocks[i] = (size_t)at[i];
    l.threads[i] = (size_t)at[3 + i];
  }
  for (int i = 0; i < n; i++) {
    TvmsValue *value = (TvmsValue *)values + i;
    size_t nbytes = (size_t)((int32_t *)sizes)[i];
    args[i] = (DeviceArg){.value = nbytes ? value : NULL, .nbytes = nbytes};
    if (!nbytes && find_memory(&args[i], value->p, device, kernel, i)) return -1;
    if (api->takes_sizes) args[i].size = (size_t)at[7 + i];
  }
  pthread_mutex_lock(&state_lock);
  void *k = kernel_of(api, device, source, kernel);
  pthread_mutex_unlock(&state_lock);
  return k ? api->launch(device_id, k, kernel, &l) : -1;
}

int tvms_device_wait(int32_t device_type, int32_t device_id) {
  return tvms_device_sync((DLDevice){(DLDeviceType)device_type, device_id});
}

int tvms_device_copy(void *to, void *from, int64_t nbytes) {
  return tvms__bytes_copy(to, from, (size_t)nbytes);
}

int tvms_device_fill(void *to, int32_t byte, int64_t nbytes) {
  return tvms__bytes_fill(to, byte, (size_t)nbytes);
}
