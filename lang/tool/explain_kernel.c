/* explain_kernel.c -- `tvms explain --target cuda FILE`: how fast the kernels of a module are on a
 * GPU that is not there, and why (target/speed). */
#include "lang/tool/explain.h"
#include "lang/tool/tool.h"
#include "lower/lower.h"
#include "target/speed/speed.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- numbers for people ---- */

/* "1.25 GB": three figures, and a prefix. */
static const char *amount(double x, const char *unit) {
  static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
  int i = 0;
  while (x >= 999.5 && i < 5) x /= 1000, i++;
  int decimals = i == 0 || x >= 99.95 ? 0 : x >= 9.995 ? 1 : 2;
  return str_format("%.*f %s%s", decimals, x, prefixes[i], unit);
}

static const char *duration(double seconds) {
  double us = seconds * 1e6;
  if (us >= 1e6) return str_format("%.2f s", seconds);
  if (us >= 1000) return str_format("%.2f ms", us / 1000);
  return str_format(us >= 99.5 ? "%.0f us" : us >= 9.95 ? "%.1f us" : "%.2f us", us);
}

static double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

static double of_limit(const KernelSpeed *k) { return percent(k->limit, k->time); }

/* ---- text ---- */

static void add_row(Str *s, const char *name, const char *text) {
  str_printf(s, "  %-10s  %s\n", name, text);
}

/* "32 x 2 x 2", without the axes behind that are 1. */
static const char *product(double x, double y, double z) {
  if (z > 1) return str_format("%.0f x %.0f x %.0f", x, y, z);
  return y > 1 ? str_format("%.0f x %.0f", x, y) : str_format("%.0f", x);
}

/* How long each pipe would take alone, as a part of the time. */
static const char *pipes(const KernelSpeed *k) {
  Str s = {0};
  double blocks = k->grid[0] * k->grid[1] * k->grid[2];
  double clocks = k->time * k->chip->mhz * 1e6 * k->chip->sms;
  for (Pipe p = 0; p < PIPES; p++)
    if (k->pipes[p] > 0)
      str_printf(&s, "%s%s %.0f%%", s.len ? ", " : "", speed_pipe_name(p),
                 percent(k->pipes[p] * blocks, clocks));
  str_printf(&s, "%smemory %.0f%%", s.len ? ", " : "",
             percent(k->dram_bytes, k->time * k->chip->dram * 1e9));
  return str_text(&s);
}

static void add_memory(Str *s, const KernelSpeed *k) {
  add_row(s, "memory",
          str_format("%s at least, %s from it; %s through the L2 cache, %.0f%% of them wanted",
                     amount(k->least_bytes, "B"), amount(k->dram_bytes, "B"),
                     amount(k->l2_bytes, "B"), percent(k->wanted_bytes, k->l2_bytes)));
  if (k->shared_turns > 0)
    add_row(s, "shared",
            str_format("%s loaded, %.0f%% by ldmatrix or 8 bytes and more; conflicts of banks take "
                       "%.0f%% of %s turns",
                       amount(k->shared_load_bytes, "B"),
                       percent(k->wide_load_bytes, k->shared_load_bytes),
                       percent(k->conflicts, k->shared_turns), amount(k->shared_turns, "")));
}

static void add_kernel(Str *s, const KernelSpeed *k) {
  str_printf(s, "%s\n", k->name);
  add_row(s, "launch",
          str_format("%s blocks of %s threads%s%s", product(k->grid[0], k->grid[1], k->grid[2]),
                     product((double)k->block[0], (double)k->block[1], (double)k->block[2]),
                     k->assumed ? "; assumed: " : "", k->assumed ? k->assumed : ""));
  add_row(s, "needs",
          str_format("about %d registers a thread, %s of shared memory a block", k->registers,
                     amount((double)k->shared_bytes, "B")));
  add_row(s, "occupancy",
          str_format("%.0f%%: %lld block%s an SM, by %s", 100 * k->occupancy,
                     (long long)k->resident, k->resident == 1 ? "" : "s", k->resident_by));
  add_row(s, "work",
          str_format("%s, %.0f%% by tensor cores; %.0f barrier%s a block", amount(k->flops, "FLOP"),
                     percent(k->tensor_flops, k->flops), k->barriers, k->barriers == 1 ? "" : "s"));
  add_memory(s, k);
  add_row(s, "limit", str_format("%s, by %s", duration(k->limit), k->limit_by));
  add_row(s, "time", str_format("%s, bound by %s: %s", duration(k->time), k->bound_by, pipes(k)));
  add_row(s, "speed",
          str_format("%s, %s: %.0f%% of the limit", amount(k->flops / k->time, "FLOP/s"),
                     amount(k->dram_bytes / k->time, "B/s"), of_limit(k)));
  if (k->unknown)
    add_row(s, "note",
            str_format("%s is not known before it runs: the worst is taken", k->unknown));
}

static void add_heading(Str *s, const KernelSpeed *k) {
  const TargetSpeed *c = k->chip;
  double hz = c->mhz * 1e6;
  double mma = 2 * c->tensor * c->sms * hz;
  bool has_wgmma = str_same(c->gpu, "sm_90a");
  str_printf(s, "%s, %s: %.0f SMs at %.0f MHz; %s of float32, %s of float16 by mma, %s%s\n", c->gpu,
             c->chip, c->sms, c->mhz, amount(2 * c->floats * c->sms * hz, "FLOP/s"),
             amount(mma, "FLOP/s"),
             has_wgmma ? str_format("%s by wgmma, ", amount(2 * mma, "FLOP/s")) : "",
             amount(c->dram * 1e9, "B/s"));
}

/* ---- JSON ---- */

static void add_number(Str *s, const char *name, double x) {
  str_printf(s, ", \"%s\": ", name);
  str_add_double(s, x);
}

static void add_text(Str *s, const char *name, const char *text) {
  str_printf(s, ", \"%s\": ", name);
  if (text) str_add_json(s, text);
  else str_add(s, "null");
}

static void add_json(Str *s, const KernelSpeed *k) {
  str_add(s, "{\"kernel\": ");
  str_add_json(s, k->name);
  add_text(s, "chip", k->chip->chip);
  str_printf(s, ", \"grid\": [%.0f, %.0f, %.0f], \"block\": [%lld, %lld, %lld]", k->grid[0],
             k->grid[1], k->grid[2], (long long)k->block[0], (long long)k->block[1],
             (long long)k->block[2]);
  const struct {
    const char *name;
    double x;
  } numbers[] = {{"registers", k->registers},
                 {"instructions", k->instructions},
                 {"shared_bytes", (double)k->shared_bytes},
                 {"blocks_per_sm", (double)k->resident},
                 {"occupancy", k->occupancy},
                 {"flops", k->flops},
                 {"tensor_flops", k->tensor_flops},
                 {"least_bytes", k->least_bytes},
                 {"dram_bytes", k->dram_bytes},
                 {"l2_bytes", k->l2_bytes},
                 {"wanted_bytes", k->wanted_bytes},
                 {"shared_load_bytes", k->shared_load_bytes},
                 {"wide_load_bytes", k->wide_load_bytes},
                 {"shared_turns", k->shared_turns},
                 {"bank_conflicts", k->conflicts},
                 {"barriers", k->barriers},
                 {"limit_seconds", k->limit},
                 {"seconds", k->time},
                 {"of_limit", k->limit / k->time}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    add_number(s, numbers[i].name, numbers[i].x);
  add_text(s, "limit_by", k->limit_by);
  add_text(s, "bound_by", k->bound_by);
  add_text(s, "assumed", k->assumed);
  add_text(s, "unknown", k->unknown);
  str_add(s, "}\n");
}

/* ---- the command ---- */

/* "n=4096,m=8" */
static bool parse_sizes(const char *text, Map *sizes) {
  for (const char *at = text; at && *at;) {
    size_t n = strcspn(at, "=,");
    char *end;
    long long value = at[n] == '=' ? strtoll(at + n + 1, &end, 10) : 0;
    if (at[n] != '=' || end == at + n + 1 || (*end && *end != ',') || value < 1) return false;
    int64_t number = value;
    map_set(sizes, str_intern_n(at, n), gc_copy(&number, sizeof number));
    at = *end ? end + 1 : end;
  }
  return true;
}

/* One kernel by its name, with or without what the compiler put behind it. */
static bool is_asked_for(const ExplainKernels *job, const KernelSpeed *k) {
  return !job->kernel || strcmp(job->kernel, k->name) == 0 ||
         strcmp(str_format("%s_kernel", job->kernel), k->name) == 0;
}

static void refuse_kernel(const ExplainKernels *job, const KernelSpeedVec *all) {
  VEC(const char *) names = {0};
  Str list = {0};
  for each (const KernelSpeed, k, all) {
    vec_push(&names, k->name);
    str_printf(&list, "%s%s", list.len ? ", " : "", k->name);
  }
  const char *near = str_near(job->kernel, names.at, names.len);
  diag_error((Span){0}, "explain: there is no kernel '%s'%s; there are %s", job->kernel,
             near ? str_format("; did you mean '%s'?", near) : "", str_text(&list));
}

static void run(void *context) {
  const ExplainKernels *job = context;
  const Target *target = target_parse(job->target, (Span){0});
  Map sizes = {0};
  parse_sizes(job->sizes, &sizes);
  Session *s = tool_definitions(job->path, &job->model);
  if (!s || diag_error_count()) return;
  Node *module = tool_one_module("explain", s, job->module, job->path);
  if (!module) return;
  KernelSpeedVec all = speed_of_kernels(lower_module(module, target), target, &sizes);
  Str text = {0};
  bool any = false;
  for each (const KernelSpeed, k, &all) {
    if (!is_asked_for(job, k)) continue;
    if (job->json) {
      add_json(&text, k);
    } else {
      if (!any) add_heading(&text, k);
      str_add(&text, "\n");
      add_kernel(&text, k);
    }
    any = true;
  }
  if (any) fputs(str_text(&text), stdout);
  else if (all.len) refuse_kernel(job, &all);
  else diag_error((Span){0}, "explain: '%s' has no kernel for '%s'", job->path, job->target);
}

int explain_kernels(ExplainKernels *job) {
  Map sizes = {0};
  if (!parse_sizes(job->sizes, &sizes))
    return usage_error("explain", "--sizes is written \"n=4096,m=8\", not '%s'", job->sizes);
  return tool_protected(run, job);
}
