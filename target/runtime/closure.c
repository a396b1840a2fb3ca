/* closure.c -- compiled functions as values: a function of a module with its last arguments.
 *
 * A closure holds the module whose code it is: that of the function that the thread is in, which
 * tvms_func_call notes. Code that was linked into the program has none, and needs none. */
#include "target/runtime/runtime_impl.h"
#include <stdlib.h>
#include <string.h>

typedef struct Closure {
  TvmsPackedFunc fn;
  TvmsTuple *captured;
} Closure;

#define ARGS_ON_STACK 16

static int call_with(const Closure *c, TvmsValue *all, int *kinds, const TvmsValue *args,
                     const int *types, int n, TvmsValue *ret, int *ret_type) {
  int last = tvms_tuple_size(c->captured);
  if (n) {
    memcpy(all, args, sizeof *all * (size_t)n);
    memcpy(kinds, types, sizeof *kinds * (size_t)n);
  }
  for (int i = 0; i < last; i++) all[n + i] = tvms_tuple_get(c->captured, i, &kinds[n + i]);
  return c->fn(NULL, all, kinds, n + last, ret, ret_type);
}

static int closure_call(void *self, const TvmsValue *args, const int *types, int n, TvmsValue *ret,
                        int *ret_type) {
  const Closure *c = self;
  int count = n + tvms_tuple_size(c->captured);
  TvmsValue values[ARGS_ON_STACK];
  int kinds[ARGS_ON_STACK];
  if (count <= ARGS_ON_STACK) return call_with(c, values, kinds, args, types, n, ret, ret_type);
  TvmsValue *all = malloc((sizeof *all + sizeof(int)) * (size_t)count);
  if (!all) return tvms__error_no_memory(sizeof *all * (size_t)count);
  int status = call_with(c, all, (int *)(void *)(all + count), args, types, n, ret, ret_type);
  free(all);
  return status;
}

static void closure_release(void *self) {
  Closure *c = self;
  tvms_release(c->captured);
  free(c);
}

TvmsFunc *tvms__closure_new(TvmsPackedFunc fn, int n, const TvmsValue *values, const int *types) {
  TvmsFunc *f = NULL;
  Closure *c = calloc(1, sizeof *c);
  if (!c) return tvms__error_no_memory(sizeof *c), NULL;
  c->fn = fn;
  if (tvms_tuple_new(&c->captured, n, values, types) ||
      tvms_func_new(&f, closure_call, c, closure_release)) {
    closure_release(c);
    return NULL;
  }
  tvms__func_keep_module(f);
  return f;
}
