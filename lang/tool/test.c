/* test.c -- `tvms test`: gives the files to workers, watches them, and tells what they found. */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "lang/dialect/build_target.h"
#include "lang/tool/test.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct Job {
  const char *path;
  TestResultVec results;
  bool done;
} Job;

typedef struct Worker {
  Job *job; /* NULL: no process */
  pid_t pid;
  int pipe, output;
  off_t seen; /* of `output`: what belongs to tests that have ended */
  Str line;   /* read from the pipe, not whole yet */
  int number; /* of the last test that began */
  const char *name;
  bool in_test, timed_out;
  double began; /* the test, or the worker */
} Worker;

static TestOptions options = {.timeout = 300, .target = "llvm"};
static VEC(Job *) jobs;
static Worker *workers;
static int worker_count = 1;
static int next_job, next_told;
static bool stopping;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- starting and ending workers ---- */

static void work(void *context) {
  Worker *w = context;
  (options.onnx ? test_onnx_worker : test_worker)(w->job->path, w->number + 1, &options, w->pipe);
}

_Noreturn static void be_worker(Worker *w) {
  int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  dup2(w->output, STDOUT_FILENO);
  dup2(w->output, STDERR_FILENO);
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* so that a crash leaves what was printed */
  setvbuf(stderr, NULL, _IOFBF, BUFSIZ);
  diag_capture();
  Error *e = protect(work, w);
  if (e) error_report(e);
  tool_flush();
  fflush(NULL);
  _exit(e ? STATUS_INTERNAL : STATUS_OK);
}

/* A file without a name, for what a worker says. */
static int open_output(void) {
  FILE *f = tmpfile();
  int fd = f ? fcntl(fileno(f), F_DUPFD_CLOEXEC, 0) : -1;
  if (f) fclose(f);
  if (fd < 0) raise("OSError", (Span){0}, "cannot capture what tests print: no temporary file");
  return fd;
}

/* Starts on the job, behind test `w->number`. */
static void start(Worker *w) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) raise("OSError", (Span){0}, "cannot start a test: no pipe");
  w->output = open_output();
  w->seen = 0;
  w->line.len = 0;
  w->in_test = w->timed_out = false;
  w->name = w->job->path;
  w->began = now();
  fflush(NULL);
  w->pid = fork();
  if (w->pid < 0) raise("OSError", (Span){0}, "cannot start a test: no process");
  w->pipe = ends[w->pid ? 0 : 1];
  if (!w->pid) be_worker(w);
  close(ends[1]);
}

/* What the worker has written since the last test, up to a place; it may be further by now. */
static const char *take_output(Worker *w, off_t end) {
  Str text = {0};
  char part[4096];
  while (w->seen < end) {
    size_t wanted = end - w->seen < (off_t)sizeof part ? (size_t)(end - w->seen) : sizeof part;
    ssize_t n = pread(w->output, part, wanted, w->seen);
    if (n <= 0) break;
    str_add_n(&text, part, (size_t)n);
    w->seen += n;
  }
  return text.len ? str_text(&text) : "";
}

static void add_result(Worker *w, TestOutcome outcome, double seconds, const char *reason,
                       off_t output_end) {
  TestResult r = {w->job->path, w->name, outcome, seconds, reason, take_output(w, output_end)};
  vec_push(&w->job->results, r);
  if (outcome == TEST_FAILED && options.stop_at_first) stopping = true;
  w->in_test = false;
  w->began = now();
}

/* ---- what workers say ---- */

static void take_line(Worker *w, const char *line) {
  int number, outcome, used = 0;
  long output_end;
  double seconds;
  if (sscanf(line, "B\t%d\t%n", &number, &used) == 1 && used) {
    w->number = number;
    w->name = str_copy_n(line + used, strlen(line + used));
    w->in_test = true;
    w->began = now();
  } else if (sscanf(line, "E\t%ld\t%d\t%lf\t%n", &output_end, &outcome, &seconds, &used) == 3 &&
             used) {
    add_result(w, (TestOutcome)outcome, seconds, str_copy_n(line + used, strlen(line + used)),
               output_end);
  }
}

static void take_bytes(Worker *w, const char *bytes, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (bytes[i] != '\n') {
      str_add_char(&w->line, bytes[i]);
      continue;
    }
    take_line(w, w->line.len ? str_text(&w->line) : "");
    w->line.len = 0;
  }
}

static const char *how_it_ended(const Worker *w, int status) {
  if (w->timed_out) return str_format("timed out after %g s", options.timeout);
  if (WIFSIGNALED(status))
    return str_format("killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return str_format("the process ended with status %d", WEXITSTATUS(status));
}

/* The worker has gone: by itself, or in the middle of a test, behind which another goes on. */
static void finish(Worker *w) {
  int status = 0;
  while (waitpid(w->pid, &status, 0) < 0) {}
  close(w->pipe);
  bool in_test = w->in_test, bad = in_test || status;
  if (bad && !stopping)
    add_result(w, TEST_FAILED, now() - w->began, how_it_ended(w, status), INT64_MAX);
  close(w->output);
  if (in_test && !stopping) return start(w);
  w->job->done = true;
  w->job = NULL;
}

static void read_from(Worker *w) {
  char bytes[4096];
  ssize_t n = read(w->pipe, bytes, sizeof bytes);
  if (n > 0) take_bytes(w, bytes, (size_t)n);
  else finish(w);
}

/* ---- the loop ---- */

static void tell_done(void) {
  for (; next_told < jobs.len && jobs.at[next_told]->done; next_told++)
    for each (TestResult, r, &jobs.at[next_told]->results) test_tell(r, &options);
}

static void start_waiting(void) {
  for (int i = 0; i < worker_count && !stopping; i++)
    if (!workers[i].job && next_job < jobs.len) {
      workers[i] = (Worker){.job = jobs.at[next_job++], .number = -1};
      start(&workers[i]);
    }
}

static void end_late(void) {
  for (int i = 0; i < worker_count; i++) {
    Worker *w = &workers[i];
    if (!w->job || w->timed_out || (!stopping && now() - w->began < options.timeout)) continue;
    w->timed_out = true;
    kill(w->pid, SIGKILL);
  }
}

static void run_jobs(void) {
  workers = gc_alloc(sizeof *workers * (size_t)worker_count);
  struct pollfd *polled = gc_alloc(sizeof *polled * (size_t)worker_count);
  for (int running = 1; running;) {
    start_waiting();
    running = 0;
    for (int i = 0; i < worker_count; i++) {
      polled[i] = (struct pollfd){.fd = workers[i].job ? workers[i].pipe : -1, .events = POLLIN};
      running += workers[i].job != NULL;
    }
    if (running && poll(polled, (nfds_t)worker_count, 100) > 0)
      for (int i = 0; i < worker_count; i++)
        if (polled[i].revents) read_from(&workers[i]);
    end_late();
    tell_done();
  }
}

/* ---- the command ---- */

static int by_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Every folder at or below this one that holds a model.onnx. */
static void add_models(const char *path) {
  if (access(str_format("%s/model.onnx", path), R_OK) == 0) {
    vec_push(&jobs, NEW(Job, .path = path));
    return;
  }
  DIR *dir = opendir(path);
  VEC(const char *) names = {0};
  for (struct dirent *e; dir && (e = readdir(dir));)
    if (e->d_name[0] != '.') vec_push(&names, str_format("%s/%s", path, e->d_name));
  if (dir) closedir(dir);
  if (names.len) qsort(names.at, (size_t)names.len, sizeof *names.at, by_name);
  for each (const char *, name, &names) add_models(*name);
}

/* A file, or of a folder every .tvms file and test_*.py, in order of their names. */
static void add_path(const char *path) {
  struct stat info;
  if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
    vec_push(&jobs, NEW(Job, .path = path));
    return;
  }
  DIR *dir = opendir(path);
  VEC(const char *) names = {0};
  for (struct dirent *e; dir && (e = readdir(dir));) {
    if (e->d_name[0] == '.') continue;
    const char *inner = str_format("%s/%s", path, e->d_name);
    bool is_folder = stat(inner, &info) == 0 && S_ISDIR(info.st_mode);
    bool python = strncmp(e->d_name, "test_", 5) == 0 && str_ends(inner, ".py");
    if (is_folder || python || str_ends(inner, ".tvms")) vec_push(&names, inner);
  }
  if (dir) closedir(dir);
  if (names.len) qsort(names.at, (size_t)names.len, sizeof *names.at, by_name);
  for each (const char *, name, &names) add_path(*name);
}

/* Workers write to files: what they make of the terminal's width and colour is decided here. */
static void note_terminal(void) {
  struct winsize size;
  tool_diag_form();
  if (isatty(STDERR_FILENO) && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
    setenv("COLUMNS", str_format("%d", size.ws_col), 0);
}

static bool number_of(const char *text, double least, double *out) {
  char *end;
  *out = strtod(text, &end);
  return end > text && !*end && *out >= least;
}

typedef struct Report {
  const char *junit;
  int slowest, failed;
} Report;

static void run_and_report(void *context) {
  Report *report = context;
  TestResultVec all = {0};
  run_jobs();
  for each (Job *, j, &jobs)
    for each (TestResult, r, &(*j)->results) vec_push(&all, *r);
  fflush(stderr);
  if (report->junit) test_write_junit(&all, report->junit);
  test_tell_slowest(&all, report->slowest);
  report->failed = test_tell_counts(&all);
}

int tool_test(int argc, char **argv) {
  const char *parallel = "1", *timeout = "300", *slowest = "0";
  Report report = {0};
  const Option rows[] = {
      {"--match", 'k', &options.pattern, NULL,
       "only tests whose name holds this: words with not, and, or, ( )"},
      {"--jobs", 'j', &parallel, NULL, "how many files are tested at a time"},
      {"--exitfirst", 'x', NULL, &options.stop_at_first, "stop at the first test that fails"},
      {"--verbose", 'v', NULL, &options.verbose, "a line for every test"},
      {"--show-output", 's', NULL, &options.show_output, "what tests print, also if they pass"},
      {"--timeout", 0, &timeout, NULL, "seconds that a test may take (300)"},
      {"--durations", 0, &slowest, NULL, "list this many of the slowest tests"},
      {"--junit", 0, &report.junit, NULL, "write the results to a file, in JUnit's form"},
      {"--onnx", 0, NULL, &options.onnx, "folders of ONNX models with their inputs and outputs"},
      {"--target", 0, &options.target, NULL,
       "what ONNX models, and modules whose scripts do not say, are built for (llvm)"},
      {"--sanitize", 0, NULL, &build_defaults.sanitizes,
       "run kernels on a simulated GPU that reports races, divergent barriers, bad accesses"},
      {"--update", 0, NULL, &options.update, "make the CHECK lines say what is printed"},
  };
  int status;
  double n, shown;
  if (!options_parse(rows, sizeof rows / sizeof *rows, &argc, argv, &status)) return status;
  if (argc < 2) return usage_error("test", "which files?");
  const char *fault = options.pattern ? test_pattern_fault(options.pattern) : NULL;
  if (fault) return usage_error("test", "-k '%s': %s", options.pattern, fault);
  if (!number_of(parallel, 1, &n) || n > 1000)
    return usage_error("test", "option '-j' is a number from 1 on, not '%s'", parallel);
  if (!number_of(timeout, 0.001, &options.timeout))
    return usage_error("test", "option '--timeout' is a number of seconds, not '%s'", timeout);
  if (!number_of(slowest, 0, &shown))
    return usage_error("test", "option '--durations' is a number, not '%s'", slowest);
  worker_count = (int)n;
  target_parse(options.target, (Span){0});
  build_defaults.target = options.target;
  report.slowest = (int)shown;
  for (int i = 1; i < argc; i++) (options.onnx ? add_models : add_path)(argv[i]);
  if (options.onnx && !jobs.len) return usage_error("test", "no folder with a model.onnx there");
  note_terminal();
  status = tool_protected(run_and_report, &report);
  return report.failed ? STATUS_ERROR : status;
}
