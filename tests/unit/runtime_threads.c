/* runtime_threads.c -- unit tests of parallel loops: by the pool, and by an application's threads.
 */
#include "target/runtime/abi.h"
#include "tests/unit/unit.h"
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Sanitizers know no threads after fork. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

static bool last_error_is(const char *text) {
  if (strcmp(tvms_last_error(), text) == 0) return true;
  printf("the error is: %s\n", tvms_last_error());
  return false;
}

#define NEVER INT64_MIN

typedef struct Sum {
  int64_t *at;
  int64_t fail_at; /* the iteration that fails, or NEVER */
  int nested;
} Sum;

static int32_t count_iterations(void *closure, int64_t begin, int64_t end) {
  Sum *s = closure;
  for (int64_t i = begin; i < end; i++) {
    if (i == s->fail_at) return tvms_set_error("iteration %d fails", (int)i);
    if (s->nested) {
      Sum inner = {s->at + i * s->nested, NEVER, 0};
      if (tvms_parallel((void *)(uintptr_t)count_iterations, &inner, 0, s->nested, 1)) return -1;
    } else {
      s->at[i]++;
    }
  }
  return 0;
}

static bool all_are(const int64_t *at, int n, int64_t want) {
  for (int i = 0; i < n; i++)
    if (at[i] != want) return false;
  return true;
}

static void *const body = (void *)(uintptr_t)count_iterations;

static int32_t count_parts(void *parts, int64_t begin, int64_t end) {
  if (end > begin) atomic_fetch_add((atomic_int *)parts, 1);
  return 0;
}

TEST(runtime_parallel_cuts_no_part_below_its_grain) {
  static const struct {
    int64_t extent, grain;
    int parts;
  } loops[] = {{100, 1, 16}, {100, 10, 10}, {100, 30, 3}, {100, 60, 1}, {100, INT64_MAX, 1},
               {5, 6, 1},    {5, 0, 5},     {5, -3, 5},   {0, 10, 0}};
  tvms_set_num_threads(4);
  for (int i = 0; i < (int)(sizeof loops / sizeof *loops); i++) {
    atomic_int parts = 0;
    CHECK(tvms_parallel((void *)(uintptr_t)count_parts, &parts, 0, loops[i].extent,
                        loops[i].grain) == 0);
    CHECK(parts == loops[i].parts);
  }
  tvms_set_num_threads(0);
}

TEST(runtime_parallel_runs_every_iteration_once) {
  static const int64_t extents[] = {1, 2, 3, 7, 31, 32, 33, 1000};
  int64_t at[1000];
  for (int threads = 1; threads <= 9; threads += 2) {
    tvms_set_num_threads(threads);
    CHECK(tvms_num_threads() == threads);
    for (int e = 0; e < 8; e++) {
      memset(at, 0, sizeof at);
      for (int round = 1; round <= 20; round++)
        CHECK(tvms_parallel(body, &(Sum){at, NEVER, 0}, 0, extents[e], 1) == 0);
      CHECK(all_are(at, (int)extents[e], 20));
    }
  }
  CHECK(tvms_parallel(body, &(Sum){at, NEVER, 0}, 0, 0, 1) == 0);
  CHECK(tvms_parallel(body, &(Sum){at, NEVER, 0}, 5, -3, 1) == 0);
  memset(at, 0, sizeof at);
  CHECK(tvms_parallel(body, &(Sum){at + 500, NEVER, 0}, -100, 200, 1) == 0);
  CHECK(all_are(at + 400, 200, 1) && all_are(at, 400, 0) && all_are(at + 600, 400, 0));
  tvms_set_num_threads(0);
}

TEST(runtime_parallel_carries_errors) {
  int64_t at[100] = {0};
  tvms_set_num_threads(4);
  for (int round = 0; round < 50; round++) {
    CHECK(tvms_parallel(body, &(Sum){at, round, 0}, 0, 100, 1) == -1);
    char want[40];
    snprintf(want, sizeof want, "iteration %d fails", round);
    CHECK(last_error_is(want));
  }
  CHECK(tvms_parallel(body, &(Sum){at, NEVER, 0}, 0, 100, 1) == 0);
  tvms_set_num_threads(0);
}

TEST(runtime_parallel_nests) {
  int64_t at[400] = {0};
  tvms_set_num_threads(4);
  CHECK(tvms_parallel(body, &(Sum){at, NEVER, 20}, 0, 20, 1) == 0);
  CHECK(all_are(at, 400, 1));
  tvms_set_num_threads(0);
}

static void *parallel_in_thread(void *unused) {
  (void)unused;
  int64_t at[100] = {0};
  for (int i = 0; i < 200; i++) {
    if (i % 50 == 0) tvms_set_num_threads(2 + i / 50);
    CHECK(tvms_parallel(body, &(Sum){at, NEVER, 0}, 0, 100, 1) == 0);
  }
  CHECK(all_are(at, 100, 200));
  return NULL;
}

TEST(runtime_parallel_from_many_threads) {
  pthread_t threads[5];
  for (int i = 0; i < 5; i++) pthread_create(&threads[i], NULL, parallel_in_thread, NULL);
  for (int i = 0; i < 5; i++) pthread_join(threads[i], NULL);
  tvms_set_num_threads(0);
}

TEST(runtime_parallel_after_sleep_and_fork) {
  int64_t at[100] = {0};
  tvms_set_num_threads(3);
  CHECK(tvms_parallel(body, &(Sum){at, NEVER, 0}, 0, 100, 1) == 0);
  usleep(20000);
  CHECK(tvms_parallel(body, &(Sum){at, NEVER, 0}, 0, 100, 1) == 0);
  if (SANITIZED) return;
  pid_t child = fork();
  if (child == 0)
    _exit(tvms_parallel(body, &(Sum){at, NEVER, 0}, 0, 100, 1) || !all_are(at, 100, 3));
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(all_are(at, 100, 2));
  tvms_set_num_threads(0);
}

/* Both parts run at the same time. */
typedef struct Meeting {
  atomic_int begun;
  int cpus[2];
  pthread_t threads[2];
} Meeting;

static int32_t meet(void *closure, int64_t begin, int64_t end) {
  Meeting *m = closure;
  if (end - begin != 1) return tvms_set_error("a thread runs both parts");
  atomic_fetch_add(&m->begun, 1);
  while (atomic_load(&m->begun) < 2) sched_yield();
  m->cpus[begin] = sched_getcpu();
  m->threads[begin] = pthread_self();
  return 0;
}

/* So that it finds what it computed before in its cache. */
TEST(runtime_parallel_gives_a_thread_the_same_parts) {
  Meeting first = {.cpus = {-1, -1}};
  tvms_set_num_threads(2);
  CHECK(tvms_parallel((void *)(uintptr_t)meet, &first, 0, 2, 1) == 0);
  CHECK(pthread_equal(first.threads[0], pthread_self()));
  for (int round = 0; round < 100; round++) {
    Meeting m = {.cpus = {-1, -1}};
    CHECK(tvms_parallel((void *)(uintptr_t)meet, &m, 0, 2, 1) == 0);
    CHECK(pthread_equal(m.threads[0], first.threads[0]));
    CHECK(pthread_equal(m.threads[1], first.threads[1]));
  }
  tvms_set_num_threads(0);
}

/* How often of 40 times both parts run on one processor, where the worker sleeps where its caller
 * goes. */
static int times_together(const cpu_set_t *allowed) {
  int together = 0;
  for (int round = 0; round < 40; round++) {
    Meeting m = {.cpus = {-1, -1}};
    cpu_set_t one;
    if (tvms_parallel((void *)(uintptr_t)meet, &m, 0, 2, 1)) return INT_MAX;
    together += m.cpus[0] == m.cpus[1];
    CPU_ZERO(&one);
    CPU_SET((size_t)(m.cpus[0] == sched_getcpu() ? m.cpus[1] : m.cpus[0]), &one);
    usleep(5000);
    if (sched_setaffinity(0, sizeof one, &one)) return INT_MAX;
    sched_setaffinity(0, sizeof *allowed, allowed);
  }
  return together;
}

/* On a machine with other work its kernel moves threads, too: one try of some must be good. */
TEST(runtime_parallel_uses_cores_that_idle) {
  cpu_set_t allowed;
  CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  if (CPU_COUNT(&allowed) < 2) return;
  tvms_set_num_threads(2);
  int least = INT_MAX;
  for (int tries = 0; tries < 20 && least >= 10; tries++) {
    int together = times_together(&allowed);
    if (together < least) least = together;
  }
  CHECK(least < 10);
  tvms_set_num_threads(0);
}

/* ---- an application's own threads ---- */

typedef struct Crew {
  atomic_int loops, tasks;
  int threads, skip; /* skip: how many tasks are not called at the end */
} Crew;

typedef struct Share {
  Crew *crew;
  atomic_llong next;
  int64_t n;
  void (*task)(void *state, int64_t i);
  void *state;
} Share;

static void *work_share(void *share) {
  Share *s = share;
  for (int64_t i; (i = atomic_fetch_add(&s->next, 1)) < s->n;) {
    atomic_fetch_add(&s->crew->tasks, 1);
    s->task(s->state, i);
  }
  return NULL;
}

static void crew_run(void *context, int64_t n, void (*task)(void *state, int64_t i), void *state) {
  Crew *c = context;
  Share share = {.crew = c, .n = n - c->skip, .task = task, .state = state};
  pthread_t threads[8];
  atomic_fetch_add(&c->loops, 1);
  for (int i = 0; i < c->threads; i++) pthread_create(&threads[i], NULL, work_share, &share);
  for (int i = 0; i < c->threads; i++) pthread_join(threads[i], NULL);
}

TEST(runtime_parallel_by_the_application) {
  int64_t at[400] = {0};
  Crew crew = {.threads = 3};
  tvms_set_num_threads(3);
  tvms_set_parallel(crew_run, &crew);
  CHECK(tvms_parallel(body, &(Sum){at, NEVER, 0}, 0, 400, 1) == 0);
  CHECK(all_are(at, 400, 1) && atomic_load(&crew.loops) == 1 && atomic_load(&crew.tasks) == 12);
  CHECK(tvms_parallel(body, &(Sum){at, NEVER, 20}, 0, 20, 1) ==
        0); /* the inner loops run serially */
  CHECK(all_are(at, 400, 2) && atomic_load(&crew.loops) == 2);
  CHECK(tvms_parallel(body, &(Sum){at, 17, 0}, 0, 100, 1) == -1);
  CHECK(last_error_is("iteration 17 fails"));
  tvms_set_parallel(NULL, NULL);
  memset(at, 0, sizeof at);
  CHECK(tvms_parallel(body, &(Sum){at, NEVER, 0}, 0, 400, 1) == 0);
  CHECK(all_are(at, 400, 1) && atomic_load(&crew.loops) == 3);
  tvms_set_num_threads(0);
}

TEST(runtime_parallel_application_that_forgets_tasks) {
  int64_t at[100] = {0};
  Crew crew = {.threads = 2, .skip = 3};
  tvms_set_num_threads(2);
  tvms_set_parallel(crew_run, &crew);
  CHECK(tvms_parallel(body, &(Sum){at, NEVER, 0}, 0, 100, 1) == -1);
  CHECK(last_error_is("the application's parallel-for called its task 5 times, not 8"));
  tvms_set_parallel(NULL, NULL);
  tvms_set_num_threads(0);
}

static void *parallel_in_application_thread(void *unused) {
  (void)unused;
  int64_t at[100] = {0};
  for (int i = 0; i < 50; i++) CHECK(tvms_parallel(body, &(Sum){at, NEVER, 0}, 0, 100, 1) == 0);
  CHECK(all_are(at, 100, 50));
  return NULL;
}

TEST(runtime_parallel_by_the_application_from_many_threads) {
  pthread_t threads[4];
  Crew crew = {.threads = 2};
  tvms_set_num_threads(2);
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, parallel_in_application_thread, NULL);
  for (int i = 0; i < 20; i++) {
    tvms_set_parallel(i % 2 ? NULL : crew_run, &crew);
    usleep(500);
  }
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  tvms_set_parallel(NULL, NULL);
  tvms_set_num_threads(0);
}

TEST(runtime_parallel_goes_by_the_environment) {
  static const struct {
    const char *text;
    int threads; /* 0: one for each core */
  } rows[] = {{"3", 3}, {"1", 1}, {"99999", 1024}, {"0", 0}, {"-2", 0}, {"two", 0}, {"2x", 0}};
  unsetenv("TVMS_NUM_THREADS");
  tvms_set_num_threads(0);
  int cores = tvms_num_threads();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    setenv("TVMS_NUM_THREADS", rows[i].text, 1);
    tvms_set_num_threads(0);
    CHECK(tvms_num_threads() == (rows[i].threads ? rows[i].threads : cores));
  }
  unsetenv("TVMS_NUM_THREADS");
  tvms_set_num_threads(0);
}
