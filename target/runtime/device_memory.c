/* device_memory.c -- memory of devices by addresses: which piece an address lies in, and pieces
 * that were freed, to be given again. */
#include "target/runtime/device.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Work on a device is done in order, so a freed piece may be given out while it is still in use. */
#define POOL_MOST ((size_t)256 << 20) /* bytes of freed pieces that are kept */
#define GRAIN     4096

typedef struct Piece {
  char *base; /* of the reserved range */
  size_t size;
  const DeviceApi *api;
  DLDevice device;
  void *memory;
  bool is_free;
} Piece;

/* Sorted by base. */
static struct {
  pthread_rwlock_t lock;
  Piece *at;
  int len, cap;
  size_t pooled;
} pieces = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/* The number of the first piece that begins behind the address. */
static int first_behind(const char *address) {
  int lo = 0, hi = pieces.len;
  while (lo < hi) {
    int mid = (lo + hi) / 2;
    if (pieces.at[mid].base <= address) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

static Piece *piece_at(const char *address) {
  int i = first_behind(address) - 1;
  if (i < 0 || address >= pieces.at[i].base + pieces.at[i].size) return NULL;
  return &pieces.at[i];
}

static void remove_piece(int i) {
  Piece *p = &pieces.at[i];
  p->api->free(p->device.device_id, p->memory);
  munmap(p->base, p->size);
  pieces.len--;
  memmove(p, p + 1, sizeof *p * (size_t)(pieces.len - i));
}

static void drop_pool(DLDevice device) {
  for (int i = pieces.len - 1; i >= 0; i--) {
    Piece *p = &pieces.at[i];
    if (!p->is_free || p->device.device_type != device.device_type) continue;
    pieces.pooled -= p->size;
    remove_piece(i);
  }
}

static int insert_piece(Piece p) {
  if (pieces.len == pieces.cap) {
    int cap = pieces.cap ? pieces.cap * 2 : 64;
    Piece *at = realloc(pieces.at, sizeof *at * (size_t)cap);
    if (!at) return tvms__error_no_memory(sizeof *at * (size_t)cap);
    pieces.at = at;
    pieces.cap = cap;
  }
  int i = first_behind(p.base);
  memmove(pieces.at + i + 1, pieces.at + i, sizeof p * (size_t)(pieces.len - i));
  pieces.at[i] = p;
  pieces.len++;
  return 0;
}

static void *take_pooled(DLDevice device, size_t size) {
  for (int i = 0; pieces.pooled && i < pieces.len; i++) {
    Piece *p = &pieces.at[i];
    bool fits = p->is_free && p->device.device_type == device.device_type &&
                p->device.device_id == device.device_id && p->size == size;
    if (!fits) continue;
    p->is_free = false;
    pieces.pooled -= size;
    return p->base;
  }
  return NULL;
}

static void *new_piece(const DeviceApi *api, DLDevice device, size_t size) {
  Piece p = {.size = size, .api = api, .device = device};
  if (api->alloc(device.device_id, size, &p.memory)) {
    drop_pool(device);
    if (api->alloc(device.device_id, size, &p.memory)) return NULL;
  }
  p.base = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p.base == MAP_FAILED) {
    api->free(device.device_id, p.memory);
    return tvms__error_no_memory(size), NULL;
  }
  if (!insert_piece(p)) return p.base;
  api->free(device.device_id, p.memory);
  munmap(p.base, size);
  return NULL;
}

void *tvms__device_alloc(DLDevice device, size_t nbytes) {
  const DeviceApi *api = tvms__device_api(device);
  if (!api) return NULL;
  if (nbytes > PTRDIFF_MAX - GRAIN) return tvms__error_no_memory(nbytes), NULL;
  size_t size = nbytes ? (nbytes + GRAIN - 1) / GRAIN * GRAIN : GRAIN;
  pthread_rwlock_wrlock(&pieces.lock);
  void *address = take_pooled(device, size);
  if (!address) address = new_piece(api, device, size);
  pthread_rwlock_unlock(&pieces.lock);
  return address;
}

void tvms__device_free(void *address) {
  pthread_rwlock_wrlock(&pieces.lock);
  Piece *p = piece_at(address);
  if (p && pieces.pooled + p->size <= POOL_MOST) {
    p->is_free = true;
    pieces.pooled += p->size;
  } else if (p) remove_piece((int)(p - pieces.at));
  pthread_rwlock_unlock(&pieces.lock);
}

bool tvms__device_find(const void *address, DevicePlace *out) {
  pthread_rwlock_rdlock(&pieces.lock);
  const Piece *p = piece_at(address);
  if (p)
    *out = (DevicePlace){p->api, p->device, p->memory, (size_t)((const char *)address - p->base),
                         p->size};
  pthread_rwlock_unlock(&pieces.lock);
  return p != NULL;
}

/* ---- copies ---- */

static int across(const DevicePlace *to, const DevicePlace *from, size_t nbytes) {
  void *middle = malloc(nbytes);
  if (!middle) return tvms__error_no_memory(nbytes);
  int status = from->api->read(from->device.device_id, middle, from->memory, from->begin, nbytes);
  if (!status) status = to->api->write(to->device.device_id, to->memory, to->begin, middle, nbytes);
  free(middle);
  return status;
}

int tvms__bytes_copy(void *to, const void *from, size_t nbytes) {
  DevicePlace a, b;
  bool to_device = tvms__device_find(to, &a), from_device = tvms__device_find(from, &b);
  if (!nbytes) return 0;
  if (!to_device && !from_device) return memcpy(to, from, nbytes), 0;
  if (!from_device) return a.api->write(a.device.device_id, a.memory, a.begin, from, nbytes);
  if (!to_device) return b.api->read(b.device.device_id, to, b.memory, b.begin, nbytes);
  bool same =
      a.device.device_type == b.device.device_type && a.device.device_id == b.device.device_id;
  if (!same) return across(&a, &b, nbytes);
  return a.api->copy(a.device.device_id, a.memory, a.begin, b.memory, b.begin, nbytes);
}

int tvms__bytes_fill(void *to, int byte, size_t nbytes) {
  DevicePlace a;
  if (!nbytes) return 0;
  if (!tvms__device_find(to, &a)) return memset(to, byte, nbytes), 0;
  return a.api->fill(a.device.device_id, a.memory, a.begin, byte, nbytes);
}
