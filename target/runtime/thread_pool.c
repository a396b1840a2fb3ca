/* thread_pool.c -- the threads of parallel loops.
 *
 * One loop runs at a time. The caller and the workers take its parts until none is left, so a
 * worker that wakes late costs nothing. Everything a thread needs to take a part is one atomic
 * word, the ticket: how many parts are left, and the number of the job, which makes the word of an
 * old job worthless. The loop is looked at only by who took a part of it, and before that part is
 * done; then it may be gone. */
#include "target/runtime/runtime_impl.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_THREADS 1024

/* Nanoseconds that a thread looks for work before it sleeps: longer than the step between two
 * kernels of a network that one thread does, and several times what waking a thread costs. */
#define LOOK  500000
#define SPINS 50 /* between two looks at the clock */

typedef struct Worker {
  pthread_t thread;
  atomic_int cpu; /* where it takes parts; NOWHERE while it sleeps */
} Worker;

#define NOWHERE (-1)

static struct {
  pthread_mutex_t job_lock; /* held by the thread whose loop runs */
  atomic_int wanted;        /* threads asked for, the caller included; 0: not decided yet */

  /* The job. */
  Loop *loop;
  _Atomic uint64_t ticket; /* job number << 32 | parts left */
  atomic_int pending;      /* parts not done */
  atomic_int cpu;          /* where its caller runs */

  pthread_mutex_t lock; /* of what follows */
  pthread_cond_t work, done;
  atomic_int sleepers, caller_sleeps;
  atomic_bool stop;
  Worker *workers;
  int worker_count;
  int started_for; /* the `wanted` that the workers were started for */
  int64_t look; /* LOOK, but 0 where threads share cores: who looks takes the time of who works */
} pool = {.job_lock = PTHREAD_MUTEX_INITIALIZER,
          .lock = PTHREAD_MUTEX_INITIALIZER,
          .work = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER};

/* ---- how many ---- */

static int core_count(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n < 1 ? 1 : (int)n;
}

static int clamp_threads(long n) { return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (int)n; }

static int default_threads(void) {
  const char *text = getenv("TVMS_NUM_THREADS");
  char *end = NULL;
  long n = text ? strtol(text, &end, 10) : 0;
  return text && end != text && !*end && n > 0 ? clamp_threads(n) : clamp_threads(core_count());
}

void tvms_set_num_threads(int n) {
  atomic_store(&pool.wanted, n <= 0 ? default_threads() : clamp_threads(n));
}

int tvms_num_threads(void) {
  int n = atomic_load(&pool.wanted);
  if (n) return n;
  int none = 0;
  atomic_compare_exchange_strong(&pool.wanted, &none, default_threads());
  return atomic_load(&pool.wanted);
}

/* ---- running parts ---- */

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* Takes a part of the current job; false if none is left. */
static bool take_part(int64_t *part) {
  uint64_t t = atomic_load_explicit(&pool.ticket, memory_order_acquire);
  while ((uint32_t)t) {
    if (atomic_compare_exchange_weak_explicit(&pool.ticket, &t, t - 1, memory_order_acquire,
                                              memory_order_acquire)) {
      *part = pool.loop->parts - (int64_t)(uint32_t)t;
      return true;
    }
  }
  return false;
}

static void run_parts(void) {
  int64_t part;
  while (take_part(&part)) {
    tvms__run_part(pool.loop, part);
    if (atomic_fetch_sub(&pool.pending, 1) == 1 && atomic_load(&pool.caller_sleeps)) {
      pthread_mutex_lock(&pool.lock);
      pthread_cond_signal(&pool.done);
      pthread_mutex_unlock(&pool.lock);
    }
  }
}

static bool has_work(void) {
  return (uint32_t)atomic_load(&pool.ticket) || atomic_load(&pool.stop);
}

static bool is_done(void) { return !atomic_load(&pool.pending); }

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Looks for a while whether a condition holds. */
static bool comes_soon(bool (*holds)(void)) {
  if (holds()) return true;
  for (int64_t end = now() + pool.look; now() < end;) {
    for (int i = 0; i < SPINS; i++) {
      relax();
      if (holds()) return true;
    }
  }
  return false;
}

static void wait_for_work(Worker *self) {
  if (comes_soon(has_work)) return;
  atomic_store_explicit(&self->cpu, NOWHERE, memory_order_relaxed);
  pthread_mutex_lock(&pool.lock);
  atomic_fetch_add(&pool.sleepers, 1);
  while (!has_work()) pthread_cond_wait(&pool.work, &pool.lock);
  atomic_fetch_sub(&pool.sleepers, 1);
  pthread_mutex_unlock(&pool.lock);
}

static void wait_for_pending(void) {
  if (comes_soon(is_done)) return;
  pthread_mutex_lock(&pool.lock);
  atomic_store(&pool.caller_sleeps, 1);
  while (!is_done()) pthread_cond_wait(&pool.done, &pool.lock);
  atomic_store(&pool.caller_sleeps, 0);
  pthread_mutex_unlock(&pool.lock);
}

/* ---- workers ---- */

/* The processors of all who take parts, the worker itself left out; the result tells whether its
 * own is that of the caller or of a worker before it. */
static bool find_taken(const Worker *self, int cpu, cpu_set_t *taken) {
  int caller = atomic_load_explicit(&pool.cpu, memory_order_relaxed);
  bool collides = caller == cpu;
  CPU_ZERO(taken);
  if (caller >= 0) CPU_SET((size_t)caller, taken);
  for (const Worker *w = pool.workers; w < pool.workers + pool.started_for - 1; w++) {
    int other = atomic_load_explicit(&w->cpu, memory_order_relaxed);
    if (w == self || other == NOWHERE) continue;
    CPU_SET((size_t)other, taken);
    collides |= w < self && other == cpu;
  }
  return collides;
}

/* A system may wake a worker on the processor of who wakes it though another one idles. Then the
 * two take turns until the system moves one of them, which it may not do as long as both sleep in
 * between. So the worker asks to be moved to a processor that none of the others is on, and at once
 * allows the rest again. */
static void step_aside(Worker *self) {
  cpu_set_t taken, allowed, free_ones;
  int cpu = sched_getcpu();
  if (cpu >= 0 && find_taken(self, cpu, &taken) &&
      !sched_getaffinity(0, sizeof allowed, &allowed)) {
    CPU_AND(&free_ones, &allowed, &taken);
    CPU_XOR(&free_ones, &free_ones, &allowed);
    if (CPU_COUNT(&free_ones) && !sched_setaffinity(0, sizeof free_ones, &free_ones)) {
      cpu = sched_getcpu();
      sched_setaffinity(0, sizeof allowed, &allowed);
    }
  }
  atomic_store_explicit(&self->cpu, cpu, memory_order_relaxed);
}

static void *worker_main(void *state) {
  Worker *self = state;
  for (;;) {
    wait_for_work(self);
    if (atomic_load(&pool.stop)) return NULL;
    step_aside(self);
    run_parts();
  }
}

static void wake_workers(void) {
  if (!atomic_load(&pool.sleepers)) return;
  pthread_mutex_lock(&pool.lock);
  pthread_cond_broadcast(&pool.work);
  pthread_mutex_unlock(&pool.lock);
}

static void stop_workers(void) {
  atomic_store(&pool.stop, true);
  wake_workers();
  for (int i = 0; i < pool.worker_count; i++) pthread_join(pool.workers[i].thread, NULL);
  free(pool.workers);
  pool.workers = NULL;
  pool.worker_count = 0;
  pool.started_for = 0;
  atomic_store(&pool.stop, false);
}

/* A child of fork has no workers, and locks in any state. */
static void forget_workers(void) {
  pthread_mutex_init(&pool.job_lock, NULL);
  pthread_mutex_init(&pool.lock, NULL);
  pthread_cond_init(&pool.work, NULL);
  pthread_cond_init(&pool.done, NULL);
  atomic_store(&pool.ticket, 0);
  atomic_store(&pool.pending, 0);
  atomic_store(&pool.sleepers, 0);
  atomic_store(&pool.caller_sleeps, 0);
  free(pool.workers);
  pool.workers = NULL;
  pool.worker_count = 0;
  pool.started_for = 0;
  tvms__inside_part = false;
}

static void watch_fork(void) { pthread_atfork(NULL, NULL, forget_workers); }

/* As many as can be had: if a thread can't be started, fewer do the work. Signals go to the
 * program's own threads. */
static void start_workers(int n) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_fork);
  stop_workers();
  pool.started_for = n;
  pool.look = n > core_count() ? 0 : LOOK;
  pool.workers = calloc((size_t)n, sizeof *pool.workers);
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  for (int i = 0; pool.workers && i < n - 1; i++) atomic_init(&pool.workers[i].cpu, NOWHERE);
  for (int i = 0; pool.workers && i < n - 1; i++) {
    if (pthread_create(&pool.workers[i].thread, NULL, worker_main, &pool.workers[i])) break;
    pool.worker_count = i + 1;
  }
  pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void tvms__pool_end(void) {
  if (tvms__inside_part || pthread_mutex_trylock(&pool.job_lock)) return;
  stop_workers();
  pthread_mutex_unlock(&pool.job_lock);
}

/* Before the code is unloaded. An exit out of a parallel loop leaves the workers to the system. */
__attribute__((destructor)) static void end_pool(void) { tvms__pool_end(); }

/* ---- the loop ---- */

bool tvms__pool_run(Loop *l, int threads) {
  if (pthread_mutex_trylock(&pool.job_lock)) return false;
  if (pool.started_for != threads) start_workers(threads);
  uint32_t job = (uint32_t)(atomic_load(&pool.ticket) >> 32) + 1;
  pool.loop = l;
  atomic_store_explicit(&pool.cpu, sched_getcpu(), memory_order_relaxed);
  atomic_store(&pool.pending, (int)l->parts);
  atomic_store(&pool.ticket, (uint64_t)job << 32 | (uint32_t)l->parts);
  wake_workers();
  run_parts();
  wait_for_pending();
  pthread_mutex_unlock(&pool.job_lock);
  return true;
}
