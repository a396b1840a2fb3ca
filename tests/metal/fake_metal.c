/* fake_metal.c -- stands for Metal and the runtime of Objective-C where there is no macOS: to be
 * preloaded. It checks what it is told, writes each message down, and holds buffers; kernels are
 * not run.
 *
 *   FAKE_METAL_LOG=FILE          messages that do something, a line each
 *   FAKE_METAL_FAIL=compile|run  what fails
 *
 * For x86-64: a message goes on to its method with the arguments as they came. */
#include "../fake_log.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Object {
  const char *kind;
  int refs;
  char *text;   /* of a string, a library, a function, an error */
  size_t size;  /* of a buffer */
  void *bytes;
  bool open;    /* an encoder or a command buffer that takes commands */
} Object;

typedef struct Size {
  unsigned long x, y, z;
} Size;

enum { MOST_POOLED = 4096 };
static Object *pooled[MOST_POOLED];
static int pooled_len, live, open_encoders;

#define note(...) fake_note("FAKE_METAL_LOG", __VA_ARGS__)

static void wrong(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fprintf(stderr, "fake Metal: ");
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  exit(70);
}

static bool fails(const char *what) {
  const char *named = getenv("FAKE_METAL_FAIL");
  return named && strcmp(named, what) == 0;
}

static Object *new(const char *kind, const char *text) {
  Object *o = calloc(1, sizeof *o);
  *o = (Object){.kind = kind, .refs = 1, .text = text ? strdup(text) : NULL};
  live++;
  return o;
}

static Object *pool(Object *o) {
  if (pooled_len == MOST_POOLED) wrong("a pool is never emptied");
  return pooled[pooled_len++] = o;
}

static void release(Object *o) {
  if (--o->refs) return;
  if (o->open) wrong("a %s is released while it is open", o->kind);
  o->kind = "released object";
  live--;
}

/* ---- functions ---- */

void *objc_autoreleasePoolPush(void) { return (void *)(long)(pooled_len + 1); }

void objc_autoreleasePoolPop(void *mark) {
  while (pooled_len > (long)mark - 1) release(pooled[--pooled_len]);
}

void *sel_registerName(const char *name) { return (void *)name; }

Object *objc_getClass(const char *name) {
  static Object classes[] = {{.kind = "NSString class"}, {.kind = "MTLCompileOptions class"}};
  for (int i = 0; i < 2; i++)
    if (strncmp(classes[i].kind, name, strlen(name)) == 0) return &classes[i];
  wrong("there is no class %s", name);
  return NULL;
}

Object *MTLCopyAllDevices(void) { return new("array", NULL); }

__attribute__((destructor)) static void tell_what_lives(void) { note("objects left: %d", live); }

/* ---- methods ---- */

static Object *same(Object *o) { return o; }
static Object *retain(Object *o) { return o->refs++, o; }
static unsigned long one(void) { return 1; }
static Object *first_device(void) { return pool(new("device", NULL)); }
static Object *device_name(void) { return pool(new("string", "Fake GPU")); }
static Object *new_queue(void) { return new("queue", NULL); }
static Object *string_with(Object *o, void *s, const char *t) { return (void)o, (void)s, pool(new("string", t)); }
static const char *string_text(Object *o) { return o->text; }
static Object *new_options(void) { return new("options", NULL); }

static void set_fast_math(Object *o, void *s, signed char on) {
  (void)o, (void)s;
  if (on) wrong("fast mathematics is on");
}

static Object *new_buffer(Object *o, void *s, unsigned long size, unsigned long options) {
  (void)o, (void)s;
  if (options || !size) wrong("a buffer of %lu bytes with options %lu", size, options);
  Object *made = new("buffer", NULL);
  made->size = size;
  made->bytes = calloc(1, size);
  note("buffer of %lu bytes", size);
  return made;
}

static void *contents(Object *o) {
  if (open_encoders) wrong("a buffer is looked into while kernels are recorded");
  return o->bytes;
}

static Object *new_library(Object *o, void *s, Object *source, Object *options, Object **error) {
  (void)o, (void)s;
  if (strcmp(options->kind, "options") != 0) wrong("these are no options");
  if (!strstr(source->text, "#include <metal_stdlib>")) wrong("this is no text of MSL");
  if (fails("compile")) return *error = pool(new("error", "line 3: no")), NULL;
  return new("library", source->text);
}

static Object *error_text(Object *o) { return pool(new("string", o->text)); }

static Object *new_function(Object *o, void *s, Object *name) {
  char head[300];
  (void)s;
  snprintf(head, sizeof head, "kernel void %s(", name->text);
  return strstr(o->text, head) ? new("function", name->text) : NULL;
}

static Object *new_pipeline(Object *o, void *s, Object *function, Object **error) {
  (void)o, (void)s, (void)error;
  return new("pipeline", function->text);
}

static unsigned long most_threads(void) { return 512; }

static Object *command_buffer(void) {
  Object *made = pool(new("commands", NULL));
  made->open = true;
  return made;
}

static Object *encoder(Object *o) {
  Object *made = pool(new("encoder", NULL));
  made->open = o->open;
  if (!o->open) wrong("a command buffer was committed");
  open_encoders++;
  return made;
}

static void end_encoding(Object *o) {
  if (!o->open) wrong("an encoder is ended twice");
  o->open = false;
  open_encoders--;
}

static void commit(Object *o) {
  if (!o->open || open_encoders) wrong("a command buffer is committed too often or too early");
  o->open = false;
  note("commit");
}

static void wait_for(Object *o) {
  if (o->open) wrong("a command buffer is waited for that was not committed");
  note("wait");
}

static unsigned long status_of(void) { return fails("run") ? 5 : 4; }
static Object *run_error(void) { return pool(new("error", "the GPU hung")); }

static void set_pipeline(Object *o, void *s, Object *pipeline) {
  (void)o, (void)s;
  if (strcmp(pipeline->kind, "pipeline") != 0) wrong("this is no pipeline");
  note("kernel %s", pipeline->text);
}

static void set_buffer(Object *o, void *s, Object *buffer, unsigned long offset, unsigned long i) {
  (void)o, (void)s;
  if (buffer && strcmp(buffer->kind, "buffer") != 0) wrong("this is no buffer");
  if (buffer && offset >= buffer->size) wrong("an offset of %lu is beyond the buffer", offset);
  note("  buffer(%lu) from byte %lu", i, offset);
}

static void set_bytes(Object *o, void *s, const void *bytes, unsigned long size, unsigned long i) {
  const long long *at = bytes;
  (void)o, (void)s;
  for (unsigned long k = 0; k < size / 8; k++) note("  buffer(%lu) slot %lu: %lld", i, k, at[k]);
}

static void dispatch(Object *o, void *s, Size blocks, Size threads) {
  (void)s;
  if (!o->open) wrong("an encoder was ended");
  note("  %lu x %lu x %lu blocks of %lu x %lu x %lu", blocks.x, blocks.y, blocks.z, threads.x,
       threads.y, threads.z);
}

static const struct {
  const char *kind, *selector;
  void *method;
} methods[] = {{"array", "count", one},
               {"array", "objectAtIndex:", first_device},
               {"device", "name", device_name},
               {"device", "newCommandQueue", new_queue},
               {"device", "newBufferWithLength:options:", new_buffer},
               {"device", "newLibraryWithSource:options:error:", new_library},
               {"device", "newComputePipelineStateWithFunction:error:", new_pipeline},
               {"NSString class", "stringWithUTF8String:", string_with},
               {"string", "UTF8String", string_text},
               {"MTLCompileOptions class", "alloc", new_options},
               {"options", "init", same},
               {"options", "setFastMathEnabled:", set_fast_math},
               {"library", "newFunctionWithName:", new_function},
               {"pipeline", "maxTotalThreadsPerThreadgroup", most_threads},
               {"queue", "commandBuffer", command_buffer},
               {"commands", "computeCommandEncoder", encoder},
               {"commands", "commit", commit},
               {"commands", "waitUntilCompleted", wait_for},
               {"commands", "status", status_of},
               {"commands", "error", run_error},
               {"encoder", "setComputePipelineState:", set_pipeline},
               {"encoder", "setBuffer:offset:atIndex:", set_buffer},
               {"encoder", "setBytes:length:atIndex:", set_bytes},
               {"encoder", "dispatchThreadgroups:threadsPerThreadgroup:", dispatch},
               {"encoder", "endEncoding", end_encoding},
               {"buffer", "contents", contents},
               {"error", "localizedDescription", error_text}};

static void *nothing(void) { return NULL; }

__attribute__((used)) static void *method_of(Object *o, const char *selector) {
  if (!o) return nothing;
  bool is_class = strstr(o->kind, "class");
  if (!is_class && o->refs <= 0) wrong("%s is sent to what was released", selector);
  if (!is_class && strcmp(selector, "retain") == 0) return retain;
  if (!is_class && strcmp(selector, "release") == 0) return release;
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
    if (strcmp(methods[i].kind, o->kind) == 0 && strcmp(methods[i].selector, selector) == 0)
      return methods[i].method;
  wrong("a %s does not know %s", o->kind, selector);
  return NULL;
}

__attribute__((naked)) void objc_msgSend(void) {
  __asm__("push %rdi\n push %rsi\n push %rdx\n push %rcx\n push %r8\n push %r9\n sub $8, %rsp\n"
          "call method_of\n"
          "add $8, %rsp\n pop %r9\n pop %r8\n pop %rcx\n pop %rdx\n pop %rsi\n pop %rdi\n"
          "jmp *%rax\n");
}
