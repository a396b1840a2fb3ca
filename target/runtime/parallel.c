/* parallel.c -- parallel loops: cut into parts, which the pool (thread_pool.c) or the application's
 * own parallel-for runs.
 *
 * A loop inside a part is run by the thread that meets it, and so is one that begins while the pool
 * runs the loop of another thread. The application's parallel-for may run loops of several threads
 * at once: all that a loop needs stands on the stack of the thread that began it. */
#include "target/runtime/runtime_impl.h"
#include <stdlib.h>
#include <string.h>

#define PARTS_PER_THREAD 4

_Thread_local bool tvms__inside_part;

static struct {
  atomic_bool given;
  pthread_mutex_t lock; /* of both fields, which belong together */
  TvmsParallelFor run;
  void *context;
} application = {.lock = PTHREAD_MUTEX_INITIALIZER};

void tvms_set_parallel(TvmsParallelFor run, void *context) {
  pthread_mutex_lock(&application.lock);
  application.run = run;
  application.context = context;
  atomic_store(&application.given, run != NULL);
  pthread_mutex_unlock(&application.lock);
  if (run) tvms__pool_end();
}

/* ---- parts ---- */

/* Keeps the message of the lowest part that failed. */
static void note_failure(Loop *l, int64_t part) {
  pthread_mutex_lock(&l->lock);
  int64_t old = atomic_load(&l->failed);
  if (!old || part + 1 < old) {
    atomic_store(&l->failed, part + 1);
    free(l->message);
    l->message = strdup(tvms_last_error());
  }
  pthread_mutex_unlock(&l->lock);
}

/* min + extent * part / parts without overflow. */
static int64_t part_begin(const Loop *l, int64_t part) {
  int64_t whole = l->extent / l->parts, rest = l->extent % l->parts;
  return l->min + whole * part + (part < rest ? part : rest);
}

void tvms__run_part(Loop *l, int64_t part) {
  bool was = tvms__inside_part;
  if (atomic_load_explicit(&l->failed, memory_order_relaxed)) return;
  tvms__inside_part = true;
  tvms__error_clear();
  if (l->fn(l->closure, part_begin(l, part), part_begin(l, part + 1))) note_failure(l, part);
  tvms__inside_part = was;
}

/* ---- the application's ---- */

typedef struct Task {
  Loop *loop;
  atomic_llong ran;
} Task;

static void run_task(void *state, int64_t i) {
  Task *t = state;
  if (i >= 0 && i < t->loop->parts) tvms__run_part(t->loop, i);
  atomic_fetch_add(&t->ran, 1);
}

/* False: it was taken back meanwhile. */
static bool run_by_application(Loop *l) {
  pthread_mutex_lock(&application.lock);
  TvmsParallelFor run = application.run;
  void *context = application.context;
  pthread_mutex_unlock(&application.lock);
  if (!run) return false;
  Task task = {.loop = l};
  run(context, l->parts, run_task, &task);
  long long ran = atomic_load(&task.ran);
  if (ran == l->parts || atomic_load(&l->failed)) return true;
  tvms_set_error("the application's parallel-for called its task %lld times, not %lld", ran,
                 (long long)l->parts);
  note_failure(l, l->parts);
  return true;
}

/* ---- the loop ---- */

static int status_of(Loop *l) {
  if (!atomic_load(&l->failed)) return 0;
  tvms_set_error("%s", l->message && *l->message ? l->message : "a parallel loop failed");
  free(l->message);
  return -1;
}

int tvms_parallel(void *fn, void *closure, int64_t min, int64_t extent, int64_t grain) {
  TvmsParallelBody body = (TvmsParallelBody)(uintptr_t)fn;
  int64_t threads = tvms_num_threads(), most = threads * PARTS_PER_THREAD;
  int64_t grains = grain > 1 ? extent / grain : extent;
  if (extent <= 0) return 0;
  Loop l = {.fn = body,
            .closure = closure,
            .min = min,
            .extent = extent,
            .parts = grains < most ? grains : most,
            .lock = PTHREAD_MUTEX_INITIALIZER};
  bool alone = threads == 1 || grains <= 1 || tvms__inside_part;
  bool ran = !alone && ((atomic_load(&application.given) && run_by_application(&l)) ||
                        tvms__pool_run(&l, (int)threads));
  return ran ? status_of(&l) : body(closure, min, min + extent) ? -1 : 0;
}
