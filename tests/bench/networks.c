/* networks.c -- a compiled network beside a peer, in turns, each in a process of its own.
 *   networks serve MODEL.so DTYPE:SHAPE...      answers requests with how long calls took
 *   networks duel ROUNDS THREADS OURS [PEER]    two commands that serve, in turns
 *   networks start ROUNDS COMMAND               how long a server takes that is asked nothing, and its memory
 * A server says "ready SECONDS" when it has loaded the model: before it calls it once. To every line it answers "WALL CPU PEAK_KB
 * SUM": seconds of a call by the clock and of all its threads, the most memory it had, and the sum of the first output's
 * elements, for which an element i of n of a float input is i / n, and an integer is 1. */
#include "timing.h"
#include "tvms.h"
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_INPUTS = 8, MOST_ROUNDS = 101 };

/* A request is answered by so many seconds of calls at least. */
static const double least = 0.05;

static void need(int ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "networks: %s: %s\n", what, tvms_last_error());
  exit(1);
}

/* Seconds that all threads ran. */
static double now_of_process(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- serve ---- */

/* "float32:1x3x224x224" */
static TvmsTensor *input(const char *text) {
  char dtype[32];
  int64_t shape[8];
  int ndim = 0;
  const char *at = strchr(text, ':');
  DLDataType type;
  TvmsTensor *t = NULL;
  need(at && at - text < (long)sizeof dtype, text);
  memcpy(dtype, text, (size_t)(at - text));
  dtype[at - text] = '\0';
  for (char *end; ndim < 8 && *at; at = end) shape[ndim++] = strtoll(at + 1, &end, 10);
  need(!tvms_dtype_parse(dtype, &type) && !tvms_tensor_new(&t, ndim, shape, type), text);
  int64_t n = tvms_tensor_size(t);
  for (int64_t i = 0; i < n; i++)
    if (type.code == kDLFloat) ((float *)tvms_tensor_data(t))[i] = (float)i / (float)n;
    else ((int64_t *)tvms_tensor_data(t))[i] = 1;
  return t;
}

static TvmsTensor *first_output(int type, TvmsValue v) {
  if (type == TVMS_TUPLE) v = tvms_tuple_get(v.p, 0, &type);
  need(type == TVMS_TENSOR, "the model returns no tensor");
  return v.p;
}

static double call(TvmsFunc *f, const TvmsValue *args, const int *types, int n) {
  TvmsValue result;
  int type;
  double sum = 0;
  need(!tvms_func_call(f, args, types, n, &result, &type), "call");
  const TvmsTensor *t = first_output(type, result);
  for (int64_t i = 0; i < tvms_tensor_size(t); i++) sum += (double)((float *)tvms_tensor_data(t))[i];
  tvms_value_release(type, result);
  return sum;
}

static void answer(TvmsFunc *f, const TvmsValue *args, const int *types, int n) {
  struct rusage use;
  int calls = 0;
  double start = now(), cpu = now_of_process(), sum;
  do sum = call(f, args, types, n), calls++;
  while (now() - start < least);
  double wall = now() - start;
  cpu = now_of_process() - cpu;
  getrusage(RUSAGE_SELF, &use);
  printf("%.9f %.9f %ld %.9g\n", wall / calls, cpu / calls, use.ru_maxrss, sum);
  fflush(stdout);
}

static int serve(int count, char **inputs, const char *path) {
  TvmsModule *module = NULL;
  TvmsFunc *f = NULL;
  TvmsValue args[MOST_INPUTS];
  int types[MOST_INPUTS];
  char line[16];
  double start = now();
  need(count <= MOST_INPUTS, "too many inputs");
  need(!tvms_module_load(&module, path) && !tvms_module_function(&f, module, "main"), path);
  printf("ready %.6f\n", now() - start);
  fflush(stdout);
  for (int i = 0; i < count; i++) args[i].p = input(inputs[i]), types[i] = TVMS_TENSOR;
  call(f, args, types, count);
  while (fgets(line, sizeof line, stdin)) answer(f, args, types, count);
  return 0;
}

/* ---- duel ---- */

typedef struct Server {
  pid_t pid;
  FILE *in, *out;
  double load, sum, wall[MOST_ROUNDS], cpu[MOST_ROUNDS];
  long peak;
} Server;

static Server begin(const char *command) {
  Server s = {0};
  int to[2], from[2];
  need(!pipe2(to, O_CLOEXEC) && !pipe2(from, O_CLOEXEC), "pipe");
  s.pid = fork();
  if (s.pid == 0) {
    dup2(to[0], 0), dup2(from[1], 1);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
  }
  need(s.pid > 0, "fork");
  close(to[0]), close(from[1]);
  s.in = fdopen(to[1], "w"), s.out = fdopen(from[0], "r");
  if (fscanf(s.out, " ready %lf", &s.load) != 1) {
    fprintf(stderr, "networks: this does not start: %s\n", command);
    exit(1);
  }
  return s;
}

static void ask(Server *s, int round) {
  fputs("run\n", s->in);
  fflush(s->in);
  int read = fscanf(s->out, "%lf %lf %ld %lf", &s->wall[round], &s->cpu[round], &s->peak, &s->sum);
  need(read == 4, "a server has ended");
  usleep(100000); /* until threads that wait for more work sleep: those of ONNX Runtime do so after 40 ms */
}

static void end(Server *s) {
  fclose(s->in);
  fclose(s->out);
  waitpid(s->pid, NULL, 0);
}

/* One thread is measured by the time that it ran: others may want the core. */
static double *times(Server *s, int threads) { return threads == 1 ? s->cpu : s->wall; }

static int duel(int rounds, int threads, const char *ours, const char *peer) {
  double ratios[MOST_ROUNDS];
  need(rounds > 0 && rounds <= MOST_ROUNDS, "rounds");
  Server a = begin(ours), b = peer ? begin(peer) : (Server){0};
  for (int r = 0; r < rounds; r++) {
    ask(&a, r);
    if (!peer) continue;
    ask(&b, r);
    ratios[r] = times(&b, threads)[r] / times(&a, threads)[r];
  }
  end(&a);
  if (peer) end(&b);
  if (peer && fabs(a.sum - b.sum) > 1e-3 * (fabs(a.sum) + fabs(b.sum)) + 1e-3) {
    fprintf(stderr, "networks: the sum of the outputs is %g, that of the peer %g\n", a.sum, b.sum);
    return 1;
  }
  printf("%9.2f", 1e3 * median(times(&a, threads), rounds));
  if (peer) printf(" %9.2f", 1e3 * median(times(&b, threads), rounds));
  printf(" %7ld", a.peak / 1024);
  if (peer) {
    median(ratios, rounds);
    printf(" %7ld   %5.2f (%.2f to %.2f)", b.peak / 1024, ratios[rounds / 2], ratios[rounds / 4], ratios[3 * rounds / 4]);
  }
  printf("\n");
  return 0;
}

/* From the start of a process to its end, after the first result. */
static int start(int rounds, const char *command) {
  double times[MOST_ROUNDS], loads[MOST_ROUNDS];
  struct rusage use = {0};
  need(rounds > 0 && rounds <= MOST_ROUNDS, "rounds");
  for (int r = 0; r < rounds; r++) {
    double from = now();
    Server s = begin(command);
    fclose(s.in);
    wait4(s.pid, NULL, 0, &use);
    fclose(s.out);
    times[r] = now() - from;
    loads[r] = s.load;
  }
  printf("%.2f ms, of which loading %.2f ms; %.1f MB\n", 1e3 * median(times, rounds), 1e3 * median(loads, rounds),
         (double)use.ru_maxrss / 1024);
  return 0;
}

int main(int argc, char **argv) {
  if (argc >= 3 && strcmp(argv[1], "serve") == 0) return serve(argc - 3, argv + 3, argv[2]);
  if (argc >= 5 && strcmp(argv[1], "duel") == 0)
    return duel(atoi(argv[2]), atoi(argv[3]), argv[4], argc > 5 ? argv[5] : NULL);
  if (argc == 4 && strcmp(argv[1], "start") == 0) return start(atoi(argv[2]), argv[3]);
  fprintf(stderr, "usage: networks serve MODEL.so DTYPE:SHAPE... | duel ROUNDS THREADS OURS [PEER] | start ROUNDS COMMAND\n");
  return 2;
}
