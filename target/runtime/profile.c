/* profile.c -- how long the kernels of graph functions take, for modules built with `-profile`.
 *
 * Every call leaves an event; sums are kept beside them, so that they are right when there is no
 * more room for events. Written as a table, or as a trace for chrome://tracing and Perfetto. */
#include "target/runtime/runtime_impl.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EVENTS_MAX ((size_t)1 << 20)

typedef struct Event {
  int kernel; /* number of its sum */
  int thread;
  int64_t begin, duration; /* nanoseconds */
} Event;

typedef struct Sum {
  char *name;
  int64_t calls, time, bytes;
  double operations; /* 0: not known */
} Sum;

static struct {
  pthread_mutex_t lock;
  Event *events;
  size_t event_count, event_room;
  Sum *sums;
  int sum_count;
} profile = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int thread_number(void) {
  static atomic_int count;
  static _Thread_local int number;
  if (!number) number = atomic_fetch_add(&count, 1) + 1;
  return number;
}

/* ---- recording; without memory nothing is recorded ---- */

static Sum *sum_of(const char *name) {
  for (int i = 0; i < profile.sum_count; i++)
    if (strcmp(profile.sums[i].name, name) == 0) return &profile.sums[i];
  Sum *sums = realloc(profile.sums, sizeof *sums * (size_t)(profile.sum_count + 1));
  if (!sums) return NULL;
  profile.sums = sums;
  char *copy = tvms_string_copy(name);
  if (!copy) return NULL;
  sums[profile.sum_count] = (Sum){.name = copy};
  return &sums[profile.sum_count++];
}

static void add_event(Event e) {
  if (profile.event_count == profile.event_room) {
    size_t room = profile.event_room ? profile.event_room * 2 : 1024;
    Event *events = room <= EVENTS_MAX ? realloc(profile.events, sizeof *events * room) : NULL;
    if (!events) return;
    profile.events = events;
    profile.event_room = room;
  }
  profile.events[profile.event_count++] = e;
}

int64_t tvms_profile_begin(void) { return now(); }

void tvms_profile_end(void *name, int64_t begin, int64_t bytes, double operations) {
  int64_t duration = now() - begin;
  pthread_mutex_lock(&profile.lock);
  Sum *s = sum_of(name);
  if (s) {
    s->calls++;
    s->time += duration;
    s->bytes += bytes;
    s->operations += operations;
    add_event((Event){(int)(s - profile.sums), thread_number(), begin, duration});
  }
  pthread_mutex_unlock(&profile.lock);
}

void tvms_profile_reset(void) {
  pthread_mutex_lock(&profile.lock);
  for (int i = 0; i < profile.sum_count; i++) free(profile.sums[i].name);
  free(profile.sums);
  free(profile.events);
  profile.sums = NULL;
  profile.events = NULL;
  profile.sum_count = 0;
  profile.event_count = profile.event_room = 0;
  pthread_mutex_unlock(&profile.lock);
}

/* ---- writing ---- */

static int by_time(const void *a, const void *b) {
  const Sum *x = *(const Sum *const *)a, *y = *(const Sum *const *)b;
  return x->time != y->time ? (x->time < y->time ? 1 : -1) : strcmp(x->name, y->name);
}

static void write_table(FILE *f) {
  Sum **order = calloc((size_t)profile.sum_count + 1, sizeof *order);
  int64_t all = 0;
  for (int i = 0; order && i < profile.sum_count; i++) {
    order[i] = &profile.sums[i];
    all += order[i]->time;
  }
  if (order) qsort(order, (size_t)profile.sum_count, sizeof *order, by_time);
  fprintf(f, "%-32s %8s %12s %6s %10s %14s %8s %8s\n", "kernel", "calls", "time (us)", "",
          "us/call", "bytes", "GB/s", "GFLOP/s");
  for (int i = 0; order && i < profile.sum_count; i++) {
    const Sum *s = order[i];
    double time = s->time ? (double)s->time : 1.0;
    fprintf(f, "%-32s %8" PRId64 " %12.1f %5.1f%% %10.2f %14" PRId64 " %8.2f ", s->name, s->calls,
            time * 1e-3, all ? 100.0 * (double)s->time / (double)all : 0.0,
            time * 1e-3 / (double)s->calls, s->bytes, (double)s->bytes / time);
    if (s->operations > 0) fprintf(f, "%8.2f\n", s->operations / time);
    else fprintf(f, "%8s\n", "-");
  }
  free(order);
}

static void write_name(FILE *f, const char *name) {
  for (; *name; name++) {
    if (*name == '"' || *name == '\\') fputc('\\', f);
    if ((unsigned char)*name >= ' ') fputc(*name, f);
  }
}

static void write_trace(FILE *f) {
  fputs("{\"traceEvents\": [", f);
  for (size_t i = 0; i < profile.event_count; i++) {
    const Event *e = &profile.events[i];
    fprintf(
        f, "%s\n{\"ph\": \"X\", \"pid\": 1, \"tid\": %d, \"ts\": %.3f, \"dur\": %.3f, \"name\": \"",
        i ? "," : "", e->thread, (double)e->begin * 1e-3, (double)e->duration * 1e-3);
    write_name(f, profile.sums[e->kernel].name);
    fputs("\"}", f);
  }
  fputs("\n]}\n", f);
}

static bool is_trace(const char *path) {
  size_t n = strlen(path);
  return n >= 5 && strcmp(path + n - 5, ".json") == 0;
}

int tvms_profile_write(const char *path) {
  FILE *f = path && *path ? fopen(path, "w") : NULL;
  if (!f) return tvms_set_error("can't write the profile '%s'", path ? path : "");
  pthread_mutex_lock(&profile.lock);
  if (is_trace(path)) write_trace(f);
  else write_table(f);
  pthread_mutex_unlock(&profile.lock);
  return fclose(f) ? tvms_set_error("can't write the profile '%s'", path) : 0;
}

/* TVMS_PROFILE=FILE writes one at the end of the process. */
__attribute__((destructor)) static void write_at_end(void) {
  const char *path = getenv("TVMS_PROFILE");
  if (path && *path && profile.sum_count && tvms_profile_write(path))
    fprintf(stderr, "tvms: %s\n", tvms_last_error());
  tvms_profile_reset();
}
