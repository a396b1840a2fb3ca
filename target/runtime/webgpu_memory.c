/* webgpu_memory.c -- buffers of WebGPU. They are copied in words: bytes at the ends of a range that
 * share a word with others are read before they are written. */
#include "target/runtime/webgpu.h"
#include <stdlib.h>
#include <string.h>

static size_t words_up(size_t nbytes) { return (nbytes + 3) / 4 * 4; }

void *tvms__webgpu_buffer(WgDevice *d, uint64_t usage, size_t nbytes) {
  WgBufferDescriptor descriptor = {.label = {NULL, SIZE_MAX}, .usage = usage, .size = nbytes};
  return d->f.wgpuDeviceCreateBuffer(d->device, &descriptor);
}

static WgBuffer *buffer_new(WgDevice *d, size_t size) {
  WgBuffer *b = calloc(1, sizeof *b);
  if (!b) return tvms__error_no_memory(sizeof *b), NULL;
  d->f.wgpuDevicePushErrorScope(d->device, WG_ON_MEMORY);
  *b = (WgBuffer){tvms__webgpu_buffer(d, WG_STORAGE | WG_COPY_FROM | WG_COPY_TO, size), size};
  tvms__webgpu_close_scope(d);
  if (b->buffer && !*d->error) return b;
  if (b->buffer) d->f.wgpuBufferRelease(b->buffer);
  free(b);
  return NULL;
}

int tvms__webgpu_alloc(int id, size_t nbytes, void **memory) {
  WgDevice *d = tvms__webgpu_open(id);
  if (!d) return -1;
  size_t size = nbytes ? words_up(nbytes) : 4;
  bool fits = size <= d->limits.buffer_bytes;
  *memory = fits ? buffer_new(d, size) : NULL;
  if (*memory) return tvms__webgpu_close(d, "allocating a buffer");
  *d->error = 0;
  tvms__webgpu_close(d, "");
  return tvms_set_error("webgpu:%d (%s) can't allocate %zu bytes: a buffer has at most %llu", id,
                        d->title, nbytes, (unsigned long long)d->limits.buffer_bytes);
}

void tvms__webgpu_free(int id, void *memory) {
  WgBuffer *b = memory;
  WgDevice *d = tvms__webgpu_open(id);
  if (d) {
    d->f.wgpuBufferRelease(b->buffer);
    tvms__webgpu_close(d, "");
  }
  free(b);
}

/* ---- reading ---- */

/* Words, which are waited for. */
static int read_words(WgDevice *d, void *to, const WgBuffer *from, size_t begin, size_t nbytes) {
  WgAnswer answer = {.error = d->error};
  void *staging = tvms__webgpu_buffer(d, WG_MAP_READ | WG_COPY_TO, nbytes);
  if (!staging) return tvms_set_error("webgpu: can't allocate %zu bytes to read into", nbytes);
  d->f.wgpuCommandEncoderCopyBufferToBuffer(tvms__webgpu_commands(d), from->buffer, begin, staging,
                                            0, nbytes);
  tvms__webgpu_flush(d);
  d->f.wgpuBufferMapAsync(staging, WG_MAP_READ, 0, nbytes, tvms__webgpu_told(&answer));
  tvms__webgpu_wait(d, &answer);
  const void *here =
      answer.status == WG_SUCCESS ? d->f.wgpuBufferGetConstMappedRange(staging, 0, nbytes) : NULL;
  if (here) {
    memcpy(to, here, nbytes);
    d->f.wgpuBufferUnmap(staging);
  }
  d->f.wgpuBufferRelease(staging);
  return here ? 0 : tvms_set_error("webgpu: reading from a buffer failed: %s", d->error);
}

static int read_bytes(WgDevice *d, void *to, const WgBuffer *from, size_t begin, size_t nbytes) {
  size_t first = begin / 4 * 4, end = words_up(begin + nbytes);
  if (first == begin && end == begin + nbytes) return read_words(d, to, from, begin, nbytes);
  uint8_t *words = malloc(end - first);
  if (!words) return tvms__error_no_memory(end - first);
  int status = read_words(d, words, from, first, end - first);
  if (!status) memcpy(to, words + (begin - first), nbytes);
  free(words);
  return status;
}

int tvms__webgpu_read(int id, void *to, void *from, size_t begin, size_t nbytes) {
  WgDevice *d = tvms__webgpu_open(id);
  if (!d) return -1;
  int status = nbytes ? read_bytes(d, to, from, begin, nbytes) : 0;
  return tvms__webgpu_close(d, "reading from a buffer") || status ? -1 : 0;
}

/* ---- writing ---- */

static int write_bytes(WgDevice *d, const WgBuffer *to, size_t begin, const void *from,
                       size_t nbytes) {
  size_t first = begin / 4 * 4, end = words_up(begin + nbytes);
  bool whole = first == begin && end == begin + nbytes;
  uint8_t *words = whole ? NULL : malloc(end - first);
  if (!whole && !words) return tvms__error_no_memory(end - first);
  int status = whole ? 0 : read_words(d, words, to, first, 4);
  if (!whole && !status) status = read_words(d, words + (end - first) - 4, to, end - 4, 4);
  if (!whole && !status) memcpy(words + (begin - first), from, nbytes);
  tvms__webgpu_flush(d); /* kernels before it come before it */
  if (!status)
    d->f.wgpuQueueWriteBuffer(d->queue, to->buffer, first, whole ? from : words, end - first);
  free(words);
  return status;
}

int tvms__webgpu_write(int id, void *to, size_t begin, const void *from, size_t nbytes) {
  WgDevice *d = tvms__webgpu_open(id);
  if (!d) return -1;
  int status = nbytes ? write_bytes(d, to, begin, from, nbytes) : 0;
  return tvms__webgpu_close(d, "writing to a buffer") || status ? -1 : 0;
}

int tvms__webgpu_fill(int id, void *to, size_t begin, int byte, size_t nbytes) {
  uint8_t *bytes = malloc(nbytes);
  if (!bytes) return tvms__error_no_memory(nbytes);
  memset(bytes, byte, nbytes);
  int status = tvms__webgpu_write(id, to, begin, bytes, nbytes);
  free(bytes);
  return status;
}

/* ---- copies ---- */

static int copy_by_host(WgDevice *d, const WgBuffer *to, size_t to_begin, const WgBuffer *from,
                        size_t from_begin, size_t nbytes) {
  void *bytes = malloc(nbytes);
  if (!bytes) return tvms__error_no_memory(nbytes);
  int status = read_bytes(d, bytes, from, from_begin, nbytes);
  if (!status) status = write_bytes(d, to, to_begin, bytes, nbytes);
  free(bytes);
  return status;
}

/* Within one buffer there is no copy: by another one. */
static void copy_words(WgDevice *d, const WgBuffer *to, size_t to_begin, const WgBuffer *from,
                       size_t from_begin, size_t nbytes) {
  void *commands = tvms__webgpu_commands(d), *between = NULL;
  if (to == from) {
    between = tvms__webgpu_buffer(d, WG_COPY_FROM | WG_COPY_TO, nbytes);
    d->f.wgpuCommandEncoderCopyBufferToBuffer(commands, from->buffer, from_begin, between, 0,
                                              nbytes);
    from_begin = 0;
  }
  d->f.wgpuCommandEncoderCopyBufferToBuffer(commands, between ? between : from->buffer, from_begin,
                                            to->buffer, to_begin, nbytes);
  if (between) d->f.wgpuBufferRelease(between);
}

int tvms__webgpu_copy(int id, void *to, size_t to_begin, void *from, size_t from_begin,
                      size_t nbytes) {
  WgDevice *d = tvms__webgpu_open(id);
  int status = 0;
  if (!d) return -1;
  bool words = (to_begin | from_begin | nbytes) % 4 == 0;
  if (words && nbytes) copy_words(d, to, to_begin, from, from_begin, nbytes);
  else if (nbytes) status = copy_by_host(d, to, to_begin, from, from_begin, nbytes);
  return tvms__webgpu_close(d, "copying between buffers") || status ? -1 : 0;
}
