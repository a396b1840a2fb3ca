/* manager.c -- runs a pipeline, and what stands around each pass: printing, verifying, timing. */
#include "ir/support/progress.h"
#include "passes/passes.h"
#include "passes/graph/refreshed_info.h"
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool is_on_level(const Node *f, PassLevel level) {
  return (level == PASS_GRAPH && IS(Function, f)) || (level == PASS_PRIM && IS(PrimFunc, f));
}

static Node *run_on_functions(const Pass *p, const PassContext *context, Node *module) {
  IRModule *m = AS(IRModule, module);
  NodeVec functions = {0};
  bool changed = false;
  for each (Node *, f, &m->functions) {
    Node *out = is_on_level(*f, p->level) ? p->run(*f, context) : *f;
    changed |= out != *f;
    vec_push(&functions, out);
  }
  if (!changed) return module;
  return MAKE(IRModule, module->span, VOID_TYPE, .globals = m->globals, .functions = functions,
              .attrs = m->attrs, .global_infos = m->global_infos);
}

/* What a pass finds out about a body is known to callers: graph functions that it changed return
 * what their bodies tell, and their names in the module have the types that they have. */
static Node *with_refined_results(Node *before, Node *after) {
  IRModule m = *AS(IRModule, after);
  NodeVec globals = {0}, functions = {0};
  bool changed = false;
  for (int i = 0; i < m.functions.len; i++) {
    Node *f = m.functions.at[i], *name = m.globals.at[i];
    GlobalVar global = *AS(GlobalVar, name);
    if (IS(Function, f) && module_find(before, global.name) != f) {
      f = function_refreshed(f);
      if (global.sinfo != sinfo_of(f)) {
        global.sinfo = sinfo_of(f);
        name = gc_copy(&global, sizeof global);
        changed = true;
      }
    }
    vec_push(&functions, f);
    vec_push(&globals, name);
  }
  m.globals = globals;
  m.functions = functions;
  return changed ? gc_copy(&m, sizeof m) : after;
}

Node *(*watched_pass_hook)(const PassCall *call, Node *module, const Target *target) = pass_run;

Node *pass_run(const PassCall *call, Node *module, const Target *target) {
  const Pass *p = call->pass;
  PassContext context = {.pass = p, .options = call->options, .target = target, .module = module};
  Node *out =
      p->level == PASS_MODULE ? p->run(module, &context) : run_on_functions(p, &context, module);
  return out == module ? out : with_refined_results(module, out);
}

static void print_module(const Instruments *in, const char *when, const PassCall *call,
                         Node *module) {
  Pipeline one = {.at = (PassCall *)call, .len = 1};
  FILE *out = in->out ? in->out : stdout;
  fprintf(out, "# ---- %s %s ----\n%s\n", when, pipeline_text(&one), ir_print(module, NULL));
}

/* A pass that breaks the module is our fault: every violation is told, then the pass is named. */
static void verify_after(const PassCall *call, Node *module) {
  DiagVec *outer = diag_capture();
  bool good = ir_verify(module);
  DiagVec *found = diag_restore(outer);
  if (good) return;
  diag_append(found);
  BUG("the module is ill-formed after %s", call->pass->name);
}

Node *pipeline_run(const Pipeline *p, Node *module, const Target *target,
                   const Instruments *instruments) {
  static const Instruments none;
  const Instruments *in = instruments ? instruments : &none;
  Str times = {0};
  for each (PassCall, call, p) {
    progress_show("%s, pass %d of %d", call->pass->name, (int)(call - p->at) + 1, p->len);
    if (in->print_before_all) print_module(in, "before", call, module);
    double start = now();
    Node *out = watched_pass_hook(call, module, target);
    str_printf(&times, "%10.3f ms  %s\n", (now() - start) * 1e3, call->pass->name);
    bool changed = out != module;
    module = out;
    bool print = in->print_after_all || (in->print_after_change && changed) ||
                 (in->print_after && str_same(in->print_after, call->pass->name));
    if (print) print_module(in, "after", call, module);
    if (in->verify_each) verify_after(call, module);
    if (in->after) in->after(in->context, call->pass, module);
  }
  if (in->timing) fputs(str_text(&times), stderr);
  progress_clear();
  return module;
}
