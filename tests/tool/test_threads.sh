#!/bin/sh
# test_threads.sh -- one artifact called by many threads at once under ThreadSanitizer, and by a process whose memory is short.
#   sh tests/tool/test_threads.sh BUILD_FOLDER
. "$(dirname "$0")/expect.sh"
root=$tests/../..

# Parallel loops, a tuple, a branch, a packed function of another library, memory that is planned.
cat >net.tvms <<'T'
@I.ir_module
class Net:
    @R.function
    def main(x: R.Tensor(("n", 16), "float32")):
        n = T.int64()
        w = R.const([[0.5, 0.25], [0.125, -0.5], [1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.25, 0.75], [1.0, -1.0], [0.5, 0.0],
                     [0.5, 0.25], [0.125, -0.5], [1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.25, 0.75], [1.0, -1.0], [0.5, 0.0]], "float32")
        a = R.matmul(x, w)
        b = R.call_dps_packed("PACKED", (x,), R.Tensor((n, 16), "float32"))
        c = R.nn.softmax(R.add(b, x))
        s = R.sum(a)
        positive = R.greater(s, R.const(0.0, "float32"))
        if positive:
            d = R.exp(c)
            e = R.multiply(d, d)
        else:
            d = R.negative(c)
            e = R.add(d, d)
        f = R.permute_dims(R.concat((e, c), 1))
        return (f, a)
T
cat >mine.c <<'T'
#include "tvms.h"
#include <string.h>
int copy(void *self, const TvmsValue *args, const int *types, int n, TvmsValue *ret, int *ret_type) {
  (void)self, (void)types, (void)ret, (void)ret_type;
  if (n != 2) return tvms_set_error("copy takes 2 arguments");
  const DLTensor *x = args[0].p, *y = args[1].p;
  memcpy(y->data, x->data, sizeof(float) * (size_t)(x->shape[0] * x->shape[1]));
  return 0;
}
T
cat >run.c <<'T'
/* Each thread loads the module itself or shares one, calls it with its own lengths, and makes errors in between. */
#include "target/runtime/tvms.h"
#include <pthread.h>
#include <stdio.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 8, ROUNDS = 12, MOST = 1500 };
static const char *path;
static TvmsFunc *shared;
static float *expected[THREADS];

static int run(TvmsFunc *f, int i, float *out) {
  int64_t n = MOST - 171 * i, shape[] = {n, 16}, wrong[] = {n * 2, 8};
  TvmsTensor *x = NULL, *y = NULL;
  TvmsValue arg, ret;
  int type = TVMS_TENSOR, ret_type, kind;
  DLDataType float32 = {kDLFloat, 32, 1};
  if (tvms_tensor_new(&x, 2, shape, float32) || tvms_tensor_reshape(&y, x, 2, wrong)) return -1;
  float *data = tvms_tensor_data(x);
  for (int64_t k = 0; k < n * 16; k++) data[k] = (float)((k * 7 + i) % 13 - 6) * 0.125f;
  arg.p = y;
  if (!tvms_func_call(f, &arg, &type, 1, &ret, &ret_type) || !strstr(tvms_last_error(), "16")) return -1;
  arg.p = x;
  if (tvms_func_call(f, &arg, &type, 1, &ret, &ret_type)) return -1;
  TvmsTensor *first = tvms_tuple_get(ret.p, 0, &kind).p;
  memcpy(out, tvms_tensor_data(first), tvms_tensor_nbytes(first));
  tvms_value_release(ret_type, ret);
  tvms_release(x);
  tvms_release(y);
  return 0;
}

/* How many threads the process has. */
static int tasks(void) {
  DIR *d = opendir("/proc/self/task");
  int n = 0;
  while (d && readdir(d)) n++;
  if (d) closedir(d);
  return n - 2;
}

static void *work(void *arg) {
  int i = (int)(intptr_t)arg, bad = 0;
  float *out = malloc(sizeof(float) * 32 * MOST);
  TvmsModule *m = NULL;
  TvmsFunc *own = NULL;
  if (i % 2 && (tvms_module_load(&m, path) || tvms_module_function(&own, m, "main"))) bad = 1;
  for (int k = 0; k < ROUNDS && !bad; k++) {
    if (k == ROUNDS / 2 && i == 3) tvms_set_num_threads(3);
    bad = run(own ? own : shared, i, out) || memcmp(out, expected[i], sizeof(float) * 32 * (size_t)(MOST - 171 * i));
  }
  if (bad) fprintf(stderr, "thread %d: %s\n", i, tvms_last_error());
  free(out);
  tvms_release(own);
  tvms_release(m);
  return bad ? arg : NULL;
}

int main(int argc, char **argv) {
  TvmsModule *m = NULL;
  pthread_t threads[THREADS];
  path = argc > 1 ? argv[1] : "";
  tvms_set_num_threads(4);
  if (tvms_module_load(&m, path) || tvms_module_function(&shared, m, "main")) return puts(tvms_last_error()), 1;
  tvms_release(m);
  for (int i = 0; i < THREADS; i++) {
    expected[i] = malloc(sizeof(float) * 32 * MOST);
    if (run(shared, i, expected[i])) return puts(tvms_last_error()), 1;
  }
  if (access("/proc/self/task", R_OK) == 0 && tasks() < 3) return puts("no loop ran in parallel"), 1;
  int wrong = 0;
  for (intptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
  for (int i = 0; i < THREADS; i++) {
    void *bad = NULL;
    pthread_join(threads[i], &bad);
    wrong += bad != NULL;
    free(expected[i]);
  }
  tvms_release(shared);
  if (tvms_profile_write("profile.txt")) return puts(tvms_last_error()), 1;
  printf("%d of %d threads saw other results\n", wrong, THREADS);
  return wrong != 0;
}
T
sed 's|PACKED|./libmine.so:copy|' net.tvms >threads.tvms
flags="-std=gnu11 -O1 -g -fsanitize=thread -D_GNU_SOURCE -I$root -I$root/target/runtime"
expect 0 '' "$tvms" build threads.tvms --target 'c -profile' -o threads.c
if cc $flags -fPIC -shared threads.c -o threads.so -lm 2>cc.log; then
  cc $flags -fPIC -shared mine.c -o libmine.so || fail 'mine.c does not compile'
  cc $flags -rdynamic run.c "$root"/target/runtime/*.c -o run -lpthread -ldl || fail 'run.c does not compile'
  expect 0 '0 of 8 threads saw other results' ./run ./threads.so
  absent 'ThreadSanitizer'
else
  echo 'skip  no ThreadSanitizer'
fi

# Each allocation of the runtime fails once.
sed 's|PACKED|test.keep|' net.tvms >memory.tvms
expect 0 '' "$tvms" build memory.tvms -o memory.so
wrap=
for f in malloc calloc realloc aligned_alloc posix_memalign free; do wrap="$wrap -Wl,--wrap=$f"; done
cc -std=gnu11 -O1 -g -D_GNU_SOURCE -I"$root" -rdynamic $wrap "$tests/out_of_memory.c" "$root"/target/runtime/*.c -o short -lpthread -ldl || fail 'out_of_memory.c does not compile'
expect 0 'allocations failed, nothing was lost' ./short ./memory.so
if command -v valgrind >/dev/null; then
  expect 0 '' "$tvms" build memory.tvms --target 'llvm -mcpu=x86-64' -o memory.so
  expect 0 'nothing was lost' valgrind -q --leak-check=full --errors-for-leak-kinds=definite --error-exitcode=9 ./short ./memory.so
fi
exit "$bad"
