/* webgpu.h -- private to webgpu*.c: the functions of a WebGPU library, and the device. */
#ifndef TARGET_RUNTIME_WEBGPU_H
#define TARGET_RUNTIME_WEBGPU_H

#include "target/runtime/device.h"
#include "target/runtime/webgpu_abi.h"

#pragma GCC visibility push(hidden)

typedef struct WgFunctions {
#define WG(result, name, args) result(*name) args;
#include "target/runtime/webgpu.def"
  uint32_t (*wgpuDevicePoll)(void *device, uint32_t wait, const void *index); /* or NULL */
} WgFunctions;

enum {
  WG_TITLE_SIZE = 256,
  WG_MESSAGE_SIZE = 2000,
  WG_SCALARS_SIZE = 64 << 10, /* of the kernels of one submission */
  WG_BINDING_ALIGN = 256,     /* the most that a device may ask for */
  WG_MOST_BUFFERS = 64        /* of a kernel */
};

/* What is done is recorded in `commands`, kernels in its `pass`, until something must be seen. */
typedef struct WgDevice {
  WgFunctions f;
  pthread_mutex_t lock;
  void *instance, *adapter, *device, *queue;
  WgLimits limits;
  char title[WG_TITLE_SIZE];
  char error[WG_MESSAGE_SIZE]; /* the first that nobody was told of; "" if none */
  void *commands, *pass;       /* NULL: none is open */
  void *scalars;               /* a buffer, and what is to be written to it */
  uint8_t scalars_here[WG_SCALARS_SIZE];
  size_t scalars_len;
  void *layouts[WG_MOST_BUFFERS + 1]; /* of bind groups, by their number of buffers */
} WgDevice;

/* The device, locked; NULL and an error. */
WgDevice *tvms__webgpu_open(int id);
/* Unlocks. -1 and an error if there was one. */
int tvms__webgpu_close(WgDevice *d, const char *what);

/* An answer that comes later. */
typedef struct WgAnswer {
  bool came;
  uint32_t status;
  void *object;
  char *error; /* of WG_MESSAGE_SIZE */
} WgAnswer;
void tvms__webgpu_wait(WgDevice *d, const WgAnswer *a);
void tvms__webgpu_note(char *out, WgText message);
/* A callback for functions that answer with a status and a message. */
WgCallback tvms__webgpu_told(WgAnswer *a);

/* What is wrong with what was made since wgpuDevicePushErrorScope then lies in d->error. */
void tvms__webgpu_close_scope(WgDevice *d);

void *tvms__webgpu_commands(WgDevice *d); /* for copies: closes the pass */
void *tvms__webgpu_pass(WgDevice *d);
void tvms__webgpu_flush(WgDevice *d);

/* Memory: functions of DeviceApi. (webgpu_memory.c) */
int tvms__webgpu_alloc(int id, size_t nbytes, void **memory);
void tvms__webgpu_free(int id, void *memory);
int tvms__webgpu_write(int id, void *to, size_t begin, const void *from, size_t nbytes);
int tvms__webgpu_read(int id, void *to, void *from, size_t begin, size_t nbytes);
int tvms__webgpu_copy(int id, void *to, size_t to_begin, void *from, size_t from_begin,
                      size_t nbytes);
int tvms__webgpu_fill(int id, void *to, size_t begin, int byte, size_t nbytes);

/* A buffer of a device. */
typedef struct WgBuffer {
  void *buffer;
  size_t size; /* a multiple of 4 */
} WgBuffer;
void *tvms__webgpu_buffer(WgDevice *d, uint64_t usage, size_t nbytes);

#pragma GCC visibility pop
#endif
