/* gc.h -- memory of the compiler: allocate, never free.
 *
 * The Boehm collector finds what is still reachable. Only gc.c knows it. Two things can go wrong:
 * a pointer kept where the collector does not look (malloc, LLVM, the runtime's registries) must
 * also be held by gc_root(); a thread that touches collected memory must be registered first. */
#ifndef IR_SUPPORT_GC_H
#define IR_SUPPORT_GC_H

#include <stddef.h>
#include <string.h>

/* Starts the collector. Call once, first thing in main(). */
void gc_start(void);

/* Zeroed memory of `n` bytes; never NULL: exhaustion ends the process with status 71. The atomic
 * form holds no pointers and is not scanned; as `raw` it is not zeroed either. gc_grow copies `old`
 * (which may be NULL) to `n` bytes, if it has less; `old` stays as it is for those who hold it.
 */
void *gc_alloc(size_t n);
void *gc_alloc_atomic(size_t n);
void *gc_alloc_raw(size_t n);
void *gc_grow(void *old, size_t n);
/* Raises MemoryError if something may not grow to n bytes: it alone would have a sixteenth of the
 * machine's memory, or all that is in use a quarter. So what has no end is told soon. */
void gc_check_growth(size_t n);

/* As gc_alloc, for a struct that holds no array: nothing steps through it and keeps no more than a
 * pointer to its end. It takes no more room than it needs. */
void *gc_alloc_struct(size_t n);

/* About `n` bytes will be allocated and stay: better to have them at once than to look again and
 * again for what might be collected. */
void gc_expect(size_t n);

/* Keeps `p` alive for the life of the process, although only foreign memory points to it. */
void gc_root(void *p);

/* Registers the calling thread, which may then use collected memory until gc_thread_end(). */
void gc_thread_begin(void);
void gc_thread_end(void);

/* Collected objects own so many bytes of foreign memory more (or less). Collects now and then, so
 * that what became unreachable gives its memory back. */
void gc_foreign(ptrdiff_t nbytes);

/* Calls fn(p) some time after `p` became unreachable: for objects that own foreign memory. */
void gc_finalizer(void *p, void (*fn)(void *p));

static inline void *gc_copy(const void *from, size_t n) { return memcpy(gc_alloc(n), from, n); }

/* NEW(T, .field = value, ...): a T in collected memory, fields not named are zero. */
#define NEW(T, ...)     ((T *)gc_copy(&(T){__VA_ARGS__}, sizeof(T)))
#define NEW_ARRAY(T, n) ((T *)gc_alloc(sizeof(T) * (size_t)(n)))
#define NEW_BYTES(n)    ((char *)gc_alloc_atomic(n))

#endif
