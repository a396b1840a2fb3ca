/* time.c -- the module time: clocks and sleep. */
#include "lang/builtin/builtin.h"
#include <errno.h>
#include <math.h>
#include <time.h>

static struct timespec now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t;
}
static Value seconds(clockid_t clock) {
  struct timespec t = now(clock);
  return value_float((double)t.tv_sec + (double)t.tv_nsec * 1e-9);
}
static Value nanoseconds(clockid_t clock) {
  struct timespec t = now(clock);
  return value_int((int64_t)t.tv_sec * 1000000000 + t.tv_nsec);
}

static Value time_time(BuiltinCall *c) { return (void)c, seconds(CLOCK_REALTIME); }
static Value time_time_ns(BuiltinCall *c) { return (void)c, nanoseconds(CLOCK_REALTIME); }
static Value time_counter(BuiltinCall *c) { return (void)c, seconds(CLOCK_MONOTONIC); }
static Value time_counter_ns(BuiltinCall *c) { return (void)c, nanoseconds(CLOCK_MONOTONIC); }
static Value time_process(BuiltinCall *c) { return (void)c, seconds(CLOCK_PROCESS_CPUTIME_ID); }

static Value time_sleep(BuiltinCall *c) {
  double s = value_as_float(c->args[0], "the seconds", c->spans[0]);
  if (!(s >= 0 && s < 1e9)) raise("ValueError", c->spans[0], "sleep length must not be negative");
  struct timespec left = {(time_t)s, (long)((s - floor(s)) * 1e9)};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) interrupt_check(c->span);
  return value_none();
}

static Value time_strftime(BuiltinCall *c) {
  char text[256];
  time_t t = time(NULL);
  struct tm parts;
  localtime_r(&t, &parts);
  const char *format = value_as_text(c->args[0], "the format", c->spans[0]);
  return value_str_n(text, strftime(text, sizeof text, format, &parts));
}

static const Builtin rows[] = {
    {"time", "", time_time, "seconds since 1970"},
    {"time_ns", "", time_time_ns, "nanoseconds since 1970"},
    {"perf_counter", "", time_counter, "seconds of a steady clock"},
    {"perf_counter_ns", "", time_counter_ns, "nanoseconds of a steady clock"},
    {"monotonic", "", time_counter, "seconds of a steady clock"},
    {"process_time", "", time_process, "seconds of processor time"},
    {"sleep", "seconds, /", time_sleep, "waits"},
    {"strftime", "format, /", time_strftime, "the local time as text"},
};

Value time_load(void) {
  Value ns = value_namespace("time");
  namespace_add_builtins(ns, rows, sizeof rows / sizeof *rows);
  return ns;
}
