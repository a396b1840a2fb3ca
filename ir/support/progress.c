/* progress.c -- see progress.h. The line is on stderr, and there only while it is true. */
#include "ir/support/progress.h"
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

/* Seconds: what is done sooner shows nothing; the line does not change more often. */
static const double patience = 0.5, interval = 0.1;

static bool enabled, shown;
static double began, changed;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void progress_enable(bool on) {
  enabled = on;
  began = now();
}

void progress_show(const char *format, ...) {
  if (!enabled) return;
  double t = now();
  if (t - began < patience || t - changed < interval) return;
  changed = t;
  shown = true;
  va_list args;
  va_start(args, format);
  fprintf(stderr, "\r\033[K");
  vfprintf(stderr, format, args);
  va_end(args);
  fflush(stderr);
}

void progress_clear(void) {
  if (shown) fprintf(stderr, "\r\033[K"), fflush(stderr);
  shown = false;
  changed = 0;
}
