/* metal.c -- Apple's GPUs, by Metal, which is spoken to through the runtime of Objective-C: both
 * are looked for when the first device is asked for, so nothing of them is needed to build. Memory
 * is shared with the CPU: kernels are recorded and committed when it is to be read or written. */
#include "target/runtime/device.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *Id;
typedef struct MtlSize {
  unsigned long x, y, z;
} MtlSize;

enum { MOST_DEVICES = 16, TITLE_SIZE = 128 };
enum { STORAGE_SHARED = 0, STATUS_ERROR = 5 };
enum { MOST_LAUNCHES = 256 }; /* before what is recorded is committed */

static void (*objc_msgSend)(void);
static Id (*objc_getClass)(const char *name);
static void *(*sel_registerName)(const char *name);
static void *(*objc_autoreleasePoolPush)(void);
static void (*objc_autoreleasePoolPop)(void *pool);
static Id (*MTLCopyAllDevices)(void);

typedef struct MtlDevice {
  Id id, queue;
  Id commands, encoder; /* NULL: nothing is recorded */
  Id committed;         /* the last that was committed and nobody waited for */
  int launches;
  char title[TITLE_SIZE];
} MtlDevice;

static struct {
  pthread_mutex_t lock;
  bool looked;
  char missing[300]; /* why there is none; "" if there may be */
  int n;
  MtlDevice devices[MOST_DEVICES];
} metal = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- messages ---- */

/* [object selector:arguments...], the types of the arguments being those of the method. */
#define SEND(result, object, selector, types, ...)                                                 \
  (((result(*) types)objc_msgSend)(object, sel_registerName(selector), ##__VA_ARGS__))

static Id get(Id object, const char *selector) { return SEND(Id, object, selector, (Id, void *)); }
static void tell(Id object, const char *selector) { SEND(void, object, selector, (Id, void *)); }
static Id keep(Id object) { return object ? get(object, "retain") : NULL; }

static void drop(Id *object) {
  if (*object) tell(*object, "release");
  *object = NULL;
}

static const char *text_of(Id string) {
  const char *text = string ? SEND(const char *, string, "UTF8String", (Id, void *)) : NULL;
  return text ? text : "it says nothing";
}

static Id string_of(const char *text) {
  return SEND(Id, objc_getClass("NSString"), "stringWithUTF8String:", (Id, void *, const char *),
              text);
}

static const char *why(Id error) {
  return error ? text_of(get(error, "localizedDescription")) : text_of(NULL);
}

/* ---- finding devices ---- */

/* In the process, or in the library. */
static bool find(const char *library, const char *name, void *out) {
  void *opened = NULL, *found = dlsym(RTLD_DEFAULT, name);
  if (!found) opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (opened) found = dlsym(opened, name);
  memcpy(out, &found, sizeof found);
  if (!found)
    snprintf(
        metal.missing, sizeof metal.missing,
        "Metal is not there: there is no %s%s%s; it is a part of macOS 10.15 and later, and of "
        "no other system",
        library, opened ? " with " : "", opened ? name : "");
  return found;
}

static bool find_functions(void) {
  static const char objc[] = "/usr/lib/libobjc.A.dylib",
                    framework[] = "/System/Library/Frameworks/Metal.framework/Metal";
  return find(objc, "objc_msgSend", &objc_msgSend) && find(objc, "objc_getClass", &objc_getClass) &&
         find(objc, "sel_registerName", &sel_registerName) &&
         find(objc, "objc_autoreleasePoolPush", &objc_autoreleasePoolPush) &&
         find(objc, "objc_autoreleasePoolPop", &objc_autoreleasePoolPop) &&
         find(framework, "MTLCopyAllDevices", &MTLCopyAllDevices);
}

static void find_devices(void) {
  void *pool = objc_autoreleasePoolPush();
  Id all = MTLCopyAllDevices();
  unsigned long n = all ? SEND(unsigned long, all, "count", (Id, void *)) : 0;
  for (unsigned long i = 0; i < n && metal.n < MOST_DEVICES; i++) {
    MtlDevice *d = &metal.devices[metal.n++];
    d->id = keep(SEND(Id, all, "objectAtIndex:", (Id, void *, unsigned long), i));
    snprintf(d->title, sizeof d->title, "%s", text_of(get(d->id, "name")));
  }
  drop(&all);
  if (!metal.n) snprintf(metal.missing, sizeof metal.missing, "Metal finds no GPU on this machine");
  objc_autoreleasePoolPop(pool);
}

static int look(void) {
  pthread_mutex_lock(&metal.lock);
  if (!metal.looked && find_functions()) find_devices();
  metal.looked = true;
  pthread_mutex_unlock(&metal.lock);
  return *metal.missing ? tvms_set_error("%s", metal.missing) : 0;
}

static int metal_count(int *n) {
  *n = 0;
  if (look()) return -1;
  *n = metal.n;
  return 0;
}

static const char *metal_title(int id) { return metal.devices[id].title; }

/* What is done with a device: by one thread at a time, within a pool of its own. */
typedef struct Use {
  MtlDevice *d;
  int id;
  void *pool;
} Use;

static Use begin(int id) {
  pthread_mutex_lock(&metal.lock);
  Use u = {&metal.devices[id], id, objc_autoreleasePoolPush()};
  if (!u.d->queue) u.d->queue = get(u.d->id, "newCommandQueue");
  return u;
}

static int end(const Use *u, int status) {
  objc_autoreleasePoolPop(u->pool);
  pthread_mutex_unlock(&metal.lock);
  return status;
}

/* ---- commands ---- */

static int open_encoder(const Use *u) {
  MtlDevice *d = u->d;
  if (d->encoder) return 0;
  d->commands = d->queue ? keep(get(d->queue, "commandBuffer")) : NULL;
  d->encoder = d->commands ? keep(get(d->commands, "computeCommandEncoder")) : NULL;
  return d->encoder ? 0 : tvms_set_error("metal:%d (%s) gives no command buffer", u->id, d->title);
}

static void commit(MtlDevice *d) {
  if (!d->encoder) return;
  tell(d->encoder, "endEncoding");
  tell(d->commands, "commit");
  drop(&d->encoder);
  drop(&d->committed);
  d->committed = d->commands;
  d->commands = NULL;
  d->launches = 0;
}

/* Until all is done: the queue does things in order. */
static int finish(const Use *u) {
  MtlDevice *d = u->d;
  int status = 0;
  commit(d);
  if (!d->committed) return 0;
  tell(d->committed, "waitUntilCompleted");
  if (SEND(unsigned long, d->committed, "status", (Id, void *)) == STATUS_ERROR)
    status = tvms_set_error("metal:%d (%s): kernels failed: %s", u->id, d->title,
                            why(get(d->committed, "error")));
  drop(&d->committed);
  return status;
}

static int metal_sync(int id) {
  Use u = begin(id);
  return end(&u, finish(&u));
}

/* ---- memory ---- */

static int metal_alloc(int id, size_t nbytes, void **memory) {
  Use u = begin(id);
  *memory =
      SEND(Id, u.d->id, "newBufferWithLength:options:", (Id, void *, unsigned long, unsigned long),
           nbytes ? nbytes : 1, STORAGE_SHARED);
  if (*memory) return end(&u, 0);
  return end(&u, tvms_set_error("metal:%d (%s) can't allocate %zu bytes", id, u.d->title, nbytes));
}

/* Kernels that are under way hold it, too. */
static void metal_free(int id, void *memory) {
  Use u = begin(id);
  drop(&memory);
  end(&u, 0);
}

static char *bytes_of(Id buffer, size_t begin_at) {
  return SEND(char *, buffer, "contents", (Id, void *)) + begin_at;
}

static int metal_write(int id, void *to, size_t at, const void *from, size_t nbytes) {
  Use u = begin(id);
  int status = finish(&u);
  if (!status) memcpy(bytes_of(to, at), from, nbytes);
  return end(&u, status);
}

static int metal_read(int id, void *to, void *from, size_t at, size_t nbytes) {
  Use u = begin(id);
  int status = finish(&u);
  if (!status) memcpy(to, bytes_of(from, at), nbytes);
  return end(&u, status);
}

static int metal_copy(int id, void *to, size_t to_at, void *from, size_t from_at, size_t nbytes) {
  Use u = begin(id);
  int status = finish(&u);
  if (!status) memmove(bytes_of(to, to_at), bytes_of(from, from_at), nbytes);
  return end(&u, status);
}

static int metal_fill(int id, void *to, size_t at, int byte, size_t nbytes) {
  Use u = begin(id);
  int status = finish(&u);
  if (!status) memset(bytes_of(to, at), byte, nbytes);
  return end(&u, status);
}

/* ---- programs ---- */

static int metal_load(int id, const char *source, void **program) {
  Use u = begin(id);
  Id error = NULL, options = get(get(objc_getClass("MTLCompileOptions"), "alloc"), "init");
  SEND(void, options, "setFastMathEnabled:", (Id, void *, signed char), 0);
  *program = SEND(Id, u.d->id, "newLibraryWithSource:options:error:", (Id, void *, Id, Id, Id *),
                  string_of(source), options, &error);
  drop(&options);
  if (*program) return end(&u, 0);
  return end(
      &u, tvms_set_error("metal:%d (%s) can't compile the module: %s", id, u.d->title, why(error)));
}

static void metal_drop(int id, void *object) {
  Use u = begin(id);
  drop(&object);
  end(&u, 0);
}

static int metal_kernel(int id, void *program, const char *name, void **kernel) {
  Use u = begin(id);
  Id error = NULL;
  Id f = SEND(Id, program, "newFunctionWithName:", (Id, void *, Id), string_of(name));
  *kernel =
      f ? SEND(Id, u.d->id, "newComputePipelineStateWithFunction:error:", (Id, void *, Id, Id *), f,
               &error)
        : NULL;
  drop(&f);
  if (*kernel) return end(&u, 0);
  return end(&u, tvms_set_error("metal:%d (%s) can't make kernel %s: %s", id, u.d->title, name,
                                why(error)));
}

/* ---- launches ---- */

/* Buffers in the order of the arguments, then the scalars, each in eight bytes. */
static void set_arguments(Id encoder, const DeviceLaunch *l) {
  uint64_t scalars[DEVICE_MOST_ARGS];
  unsigned long buffers = 0, n = 0;
  for (int i = 0; i < l->n; i++) {
    const DeviceArg *a = &l->args[i];
    if (a->value) memcpy(&scalars[n++], a->value, sizeof *scalars);
    else
      SEND(void, encoder,
           "setBuffer:offset:atIndex:", (Id, void *, Id, unsigned long, unsigned long), a->memory,
           (unsigned long)a->begin, buffers++);
  }
  if (n)
    SEND(void, encoder,
         "setBytes:length:atIndex:", (Id, void *, const void *, unsigned long, unsigned long),
         scalars, n * sizeof *scalars, buffers);
}

static int launch(const Use *u, Id kernel, const char *name, const DeviceLaunch *l) {
  size_t threads = l->threads[0] * l->threads[1] * l->threads[2];
  size_t most = SEND(unsigned long, kernel, "maxTotalThreadsPerThreadgroup", (Id, void *));
  if (threads > most)
    return tvms_set_error("kernel %s: a block has %zu threads, but metal:%d (%s) runs at most %zu "
                          "of it: build for \"metal -max_threads_per_block=%zu\"",
                          name, threads, u->id, u->d->title, most, most);
  if (open_encoder(u)) return -1;
  Id encoder = u->d->encoder;
  SEND(void, encoder, "setComputePipelineState:", (Id, void *, Id), kernel);
  set_arguments(encoder, l);
  SEND(void, encoder, "dispatchThreadgroups:threadsPerThreadgroup:", (Id, void *, MtlSize, MtlSize),
       ((MtlSize){l->blocks[0], l->blocks[1], l->blocks[2]}),
       ((MtlSize){l->threads[0], l->threads[1], l->threads[2]}));
  if (++u->d->launches == MOST_LAUNCHES) commit(u->d);
  return 0;
}

static int metal_launch(int id, void *kernel, const char *name, const DeviceLaunch *l) {
  Use u = begin(id);
  return end(&u, launch(&u, kernel, name, l));
}

const DeviceApi tvms__metal = {.name = "metal",
                               .type = kDLMetal,
                               .count = metal_count,
                               .title = metal_title,
                               .alloc = metal_alloc,
                               .free = metal_free,
                               .write = metal_write,
                               .read = metal_read,
                               .copy = metal_copy,
                               .fill = metal_fill,
                               .sync = metal_sync,
                               .load = metal_load,
                               .unload = metal_drop,
                               .kernel = metal_kernel,
                               .kernel_free = metal_drop,
                               .launch = metal_launch};
