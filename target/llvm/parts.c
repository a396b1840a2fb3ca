/* parts.c -- a large module in parts, on which LLVM works at the same time.
 *
 * A part has a context of its own: all functions are declared in it, those of the part have bodies.
 * Host functions, constants and the table of exports are in the first one. How a module is cut
 * depends on the module alone, so that the same text gives the same code on all machines. */
#include "ir/support/progress.h"
#include "target/llvm/codegen.h"
#include "target/params.h"
#include <pthread.h>
#include <signal.h>

/* From so many nodes on it pays to cut off another part: some tenths of a second of LLVM. */
enum { PART_NODES = 4000 };

/* ---- which function is in which part ---- */

static int number_of_parts(Node *module, const Target *target, bool in_process, int most) {
  int64_t nodes = 0;
  bool told = target_option_int(target, "debug-info") || (in_process && jit_has_listeners());
  if (told || params_of(module).len) return 1;
  for each (Node *, f, &AS(IRModule, module)->functions)
    if (IS(PrimFunc, *f)) nodes += gen_size(*f);
  int64_t n = 1 + nodes / PART_NODES;
  return n < most ? (int)n : most;
}

/* Each kernel to the part that has the least so far, host functions to the first. */
static void divide(Parts *p, Node *module) {
  int64_t load[PARTS_MAX] = {0};
  NodeVec functions = AS(IRModule, module)->functions;
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < functions.len; i++) {
      Node *f = functions.at[i];
      if (!IS(PrimFunc, f) || lowered_is_packed(AS(PrimFunc, f)) != (pass == 0)) continue;
      int least = 0;
      for (int k = 1; k < p->n && pass; k++)
        if (load[k] < load[least]) least = k;
      load[least] += gen_size(f);
      vec_push(&p->at[least].gen.bodies, i);
    }
}

void parts_generate(Parts *p, Node *module, const Target *target, bool in_process, int most,
                    Weights *weights) {
  *p = (Parts){.n = number_of_parts(module, target, in_process, most)};
  divide(p, module);
  for (int i = 0; i < p->n; i++) {
    Gen *g = &p->at[i].gen;
    g->part = i;
    g->is_cut = p->n > 1;
    g->weights = weights;
    gen_module(g, module, target, in_process);
  }
}

/* ---- what LLVM does ---- */

/* In a thread that the collector does not know: nothing of its memory is taken here. */
static void *compile(void *context) {
  Part *part = context;
  Gen *g = &part->gen;
  part->error = optimize_run(g, part->level);
  if (part->error) return NULL;
  if (part->path)
    LLVMTargetMachineEmitToFile(g->machine, g->out, part->path, LLVMObjectFile, &part->message);
  else
    LLVMTargetMachineEmitToMemoryBuffer(g->machine, g->out, LLVMObjectFile, &part->message,
                                        &part->object);
  return NULL;
}

/* Signals are for the thread that waits. */
static bool start(pthread_t *thread, Part *part) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = pthread_create(thread, NULL, compile, part) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}

void parts_compile(Parts *p) {
  pthread_t threads[PARTS_MAX];
  bool started[PARTS_MAX] = {false};
  progress_show("compiling to machine code");
  for (int i = 0; i < p->n; i++) p->at[i].level = optimize_level(&p->at[i].gen);
  for (int i = 1; i < p->n; i++) started[i] = start(&threads[i], &p->at[i]);
  for (int i = 0; i < p->n; i++)
    if (!started[i]) compile(&p->at[i]);
  for (int i = 1; i < p->n; i++)
    if (started[i]) pthread_join(threads[i], NULL);
  progress_clear();
  for (int i = 0; i < p->n; i++) {
    optimize_check(p->at[i].error);
    const char *path = p->at[i].path;
    if (p->at[i].message)
      raise_llvm(path ? str_format("can't write '%s'", path) : "machine code", p->at[i].message);
  }
}

void parts_dispose(Parts *p) {
  for (int i = 0; i < p->n; i++) {
    gen_dispose(&p->at[i].gen);
    if (p->at[i].object) LLVMDisposeMemoryBuffer(p->at[i].object);
  }
}
