/* webgpu.h -- private to target/webgpu/: device functions as WGSL, the language of WebGPU, by the
 * printer of target/c, whose statements and names it has, with types and expressions of its own.
 *
 * How values stand in variables: signed integers of up to 32 bits as i32, unsigned ones as u32,
 * always in range; 64 bits as vec2<u32>, the low word first; floats of less than 32 bits as their
 * bits in a u32. WGSL has no float64, and its memory has no elements of less than 32 bits: those
 * lie in words, and are written by atomic operations on the word. */
#ifndef TARGET_WEBGPU_WEBGPU_H
#define TARGET_WEBGPU_WEBGPU_H

#include "target/c/c.h"

/* The most blocks along one axis of a dispatch; a kernel that may have more counts them by itself.
 */
enum { WGSL_MOST_BLOCKS = 65535 };

/* What a pointer is in WGSL: a variable of the module, an array. */
typedef struct WgslArray {
  DataType elem; /* of the array in WGSL */
  bool is_words; /* a buffer of u32, which holds elements of other sizes, or of several types */
  bool is_atomic;
  const char *first[4]; /* what is added to indices of elements of 1, 2, 4, 8 bytes; or NULL */
} WgslArray;

/* All device functions of a lowered module as one text. */
const char *wgsl_source(Node *module, const Target *target);
/* One of them, added to g->functions. */
void wgsl_kernel(CGen *g, const char *name, PrimFunc *f);

extern const CHelper wgsl_helpers[];
extern const CDialect wgsl_dialect;

static inline bool wgsl_is_wide(DataType t) { return dtype_is_int(t) && t.bits == 64; }
/* The type of an element of an array that a kernel has for itself, or that its threads share. */
DataType wgsl_element(DataType t);

CText wgsl_integer(CGen *g, DataType t, int64_t value);
CText wgsl_fit(CGen *g, DataType t, CText v); /* of 32 bits' arithmetic, into a narrow type */
CText wgsl_cast(CGen *g, CText v, DataType from, DataType to);
CText wgsl_binary(CGen *g, Binary *n);
bool wgsl_fits(CGen *g, Node *n); /* in an i32 */
CText wgsl_low(CGen *g, Node *n); /* the low word of an integer, as an i32 */
const char *wgsl_loop(CGen *g, DataType t, const char *var, const char *end);
CText wgsl_load(CGen *g, BufferLoad *n);
void wgsl_store(CGen *g, BufferStore *n, CText v);
bool wgsl_call(CGen *g, Call *n, const char *name, CText *out);

#endif
