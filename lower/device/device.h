/* device.h -- what the passes on code for devices share. */
#ifndef LOWER_DEVICE_DEVICE_H
#define LOWER_DEVICE_DEVICE_H

#include "lower/lower_impl.h"

static inline const char *launch_tag(Node *n) {
  return AS(IterVar, AS(AttrStmt, n)->subject)->thread_tag;
}
bool has_launch(Node *n);
/* The Buffer of a BufferLoad or BufferStore; NULL of other nodes. */
Node *accessed_buffer(const Node *n);
/* One thread_extent around a body. */
Node *launch_new(const char *tag, Node *var, Node *extent, Node *body);

/* The axis of a tag: 0 to 2 for blockIdx.x to .z, 3 to 5 for threadIdx.x to .z; -1: none of them.
 */
int launch_axis(const char *tag);
enum { LAUNCH_AXES = 6 };

/* Is a T.tvm_storage_sync a barrier of warps? */
bool is_of_warp(const Call *sync);
/* Does a call wait for all threads of the block? */
bool waits_for_block(Node *call);

/* ---- what the threads of a block agree on (agreement.c) ---- */

typedef struct Agreement {
  Map differs; /* variables that may differ by thread */
  Map agreed;  /* pointers to memory that each thread has for itself, where all hold the same */
  Map ragged;  /* loops whose barriers only some threads come to, to the call by which others leave
                */
} Agreement;
/* Of a body with its launches, or of what is in them where `differs` holds their variables. */
void agree_in(Agreement *a, Node *body);
/* May threads of a block have other values here? So it is if the value comes from a variable that
 * differs, from memory that each thread or warp has for itself, unless all hold the same, or from
 * a call that has effects or tells of the thread. NULL: no. */
bool may_differ(const Agreement *a, Node *n);
/* Do only some threads come to all that is in a loop or branch, as often as others? */
bool threads_part(const Agreement *a, Node *n);

/* ---- shared memory ---- */

/* Of an Allocate: where the array lies in the piece that is told at launch, in bytes
 * (MergeSharedMemoryAllocations). */
#define SHARED_OFFSET "tvms.shared_offset"
int64_t shared_array_offset(const Allocate *n); /* -1: it has no place */
int64_t shared_array_bytes(const Allocate *n);  /* in units of what an array is aligned to */
/* Of an Allocate: its place is a multiple of so many bytes (128 without). */
#define SHARED_ALIGN "tvms.shared_align"
/* Of all arrays in a launch: bytes that a block needs. */
int64_t shared_bytes(Node *launch);

/* A column of a row whose parts of `part` elements are exchanged: by `turn`, of the same dtype. */
Node *exchanged_column(Node *column, Node *turn, int part);
/* Where an element of swizzled memory lies: rows of 128 bytes whose parts of 16 bytes are exchanged
 * within `swizzle` bytes, by the number of the row. */
Node *swizzled_index(Node *index, int nbytes, int swizzle);

/* ---- values ---- */

/* y of 0.5 + 0.5 * erf(y), or of 1 + erf(y), which is 2 times that: as gelus have it, of float32;
 * or NULL. */
Node *one_and_erf(Node *n, double *times);

/* ---- matrix instructions ---- */

/* The number of a thread in its warp of 32, int32, by the variables of threadIdx.x, .y, .z (NULL:
 * there is none) and how many there are. */
Node *warp_lane(Node *const vars[3], const int64_t extents[3], Span span);
Node *warp_thread(Node *const vars[3], const int64_t extents[3], Span span); /* in the block */

/* T.mma_store stores a tile of 16 x 16: a thread has four pairs of neighbours, in two rows and two
 * columns eight apart. Where one begins, in elements of the pointer that is T.tvm_access_ptr. */
enum { MMA_STORE_PAIRS = 4 };
Node *mma_store_pair(const Call *store, Node *lane, int pair);

#endif
