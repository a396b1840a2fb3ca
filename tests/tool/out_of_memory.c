/* out_of_memory.c -- every allocation of the runtime fails once: what was asked for either works or
 * gives -1 and a message, and nothing is lost.
 *   out_of_memory MODULE.so
 * Linked with --wrap=malloc and so on, so that allocations of the runtime pass here. The module has
 * main(x: (n, 16)), which gives a tuple, and calls the packed function test.keep. */
#include "target/runtime/tvms.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long countdown = -1; /* allocations until one fails; -1: none does */
static long live;
static int failed;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t align, size_t n);
int __real_posix_memalign(void **out, size_t align, size_t n);
void __real_free(void *p);

static int is_refused(void) {
  if (countdown < 0 || countdown-- > 0) return 0;
  countdown = -1;
  return failed = 1;
}

static void *counted(void *p) {
  live += p != NULL;
  return p;
}

void *__wrap_malloc(size_t n) { return is_refused() ? NULL : counted(__real_malloc(n)); }
void *__wrap_calloc(size_t n, size_t size) {
  return is_refused() ? NULL : counted(__real_calloc(n, size));
}
void *__wrap_aligned_alloc(size_t align, size_t n) {
  return is_refused() ? NULL : counted(__real_aligned_alloc(align, n));
}
int __wrap_posix_memalign(void **out, size_t align, size_t n) {
  if (is_refused()) return 12;
  int status = __real_posix_memalign(out, align, n);
  live += status == 0;
  return status;
}
void *__wrap_realloc(void *p, size_t n) {
  if (is_refused()) return NULL;
  void *out = __real_realloc(p, n);
  live += out && !p;
  return out;
}
void __wrap_free(void *p) {
  live -= p != NULL;
  __real_free(p);
}

/* test.keep(x, out) copies. */
static int keep(void *self, const TvmsValue *args, const int *types, int n, TvmsValue *ret,
                int *ret_type) {
  (void)self, (void)types, (void)ret, (void)ret_type;
  if (n != 2) return tvms_set_error("keep takes 2 arguments");
  const DLTensor *x = args[0].p, *out = args[1].p;
  memcpy(out->data, x->data, sizeof(float) * (size_t)(x->shape[0] * x->shape[1]));
  return 0;
}

static int call(TvmsFunc *f) {
  TvmsTensor *x = NULL;
  int64_t shape[] = {8, 16};
  if (tvms_tensor_new(&x, 2, shape, (DLDataType){kDLFloat, 32, 1})) return -1;
  memset(tvms_tensor_data(x), 0, tvms_tensor_nbytes(x));
  TvmsValue arg = {.p = x}, ret;
  int type = TVMS_TENSOR, ret_type = TVMS_NONE;
  int status = tvms_func_call(f, &arg, &type, 1, &ret, &ret_type);
  if (!status) tvms_value_release(ret_type, ret);
  tvms_release(x);
  return status;
}

/* Everything from loading to the end. */
static int work(const char *path) {
  TvmsFunc *packed = NULL, *f = NULL;
  TvmsModule *m = NULL;
  int status = tvms_func_new(&packed, keep, NULL, NULL);
  if (!status) status = tvms_func_register("test.keep", packed, 1);
  if (!status) status = tvms_module_load(&m, path);
  if (!status) status = tvms_module_function(&f, m, "main");
  if (!status) status = call(f);
  if (!status) status = call(f);
  tvms_release(f);
  tvms_release(m);
  tvms_release(packed);
  return status;
}

int main(int argc, char **argv) {
  tvms_set_num_threads(1);
  /* What stays for the process (the registry, the arena) is there after the first time. */
  if (argc != 2 || work(argv[1])) return printf("%s\n", tvms_last_error()), 1;
  if (work(argv[1])) return printf("%s\n", tvms_last_error()), 1;
  long before = live, tried = 0;
  for (;; tried++) {
    countdown = tried;
    failed = 0;
    int status = work(argv[1]);
    countdown = -1;
    if (!failed) break;
    if (status && !strstr(tvms_last_error(), "memory"))
      return printf("allocation %ld: the error is: %s\n", tried, tvms_last_error()), 1;
    if (work(argv[1])) return printf("after allocation %ld: %s\n", tried, tvms_last_error()), 1;
    if (live > before) return printf("allocation %ld: %ld blocks are lost\n", tried, live - before), 1;
  }
  printf("%ld allocations failed, nothing was lost\n", tried);
  return 0;
}
