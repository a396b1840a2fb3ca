/* list.c -- `tvms passes`, `targets`, `libs`, `ops`, `intrinsics`: what there is, from the tables.
 */
#include "lang/dialect/dialect_impl.h"
#include "lang/dialect/stdlib.h"
#include "lang/tool/tool.h"
#include "passes/passes.h"
#include "passes/schedule/schedule.h"
#include "target/target.h"
#include <stdlib.h>

static const char *level_word(PassLevel level) {
  static const char *const words[] = {"module", "graph", "prim"};
  return words[level];
}

void tool_print_pass(const Pass *p) {
  printf("%s (%s)\n  %s\n", p->name, level_word(p->level), p->doc);
  static const char *const types[] = {"int", "bool", "str", "value"};
  for (int i = 0; i < p->option_count; i++)
    printf("  %s: %s = %s\n      %s\n", p->options[i].name, types[p->options[i].type],
           *p->options[i].otherwise ? p->options[i].otherwise : "\"\"", p->options[i].doc);
}

static int print_pipeline(const char *name) {
  const NamedPipeline *p = pipeline_find(name);
  if (p) {
    puts(p->text);
    return STATUS_OK;
  }
  StrVec names = {0};
  for (int i = 0; pipeline_at(i); i++) vec_push(&names, pipeline_at(i)->name);
  Str all = {0};
  for each (const char *, n, &names) str_printf(&all, "%s%s", all.len ? ", " : "", *n);
  return usage_error("passes", "there is no pipeline '%s'; there are: %s", name, str_text(&all));
}

int tool_passes(int argc, char **argv) {
  const char *pipeline = NULL;
  const Option options[] = {{"--pipeline", 0, &pipeline, NULL, "print what a named pipeline runs"}};
  int status;
  if (!options_parse(options, 1, &argc, argv, &status)) return status;
  if (pipeline) return print_pipeline(pipeline);
  if (argc > 1) {
    const Pass *p = pass_find(argv[1]);
    StrVec names = {0};
    for (int i = 0; pass_at(i); i++) vec_push(&names, pass_at(i)->name);
    const char *near = str_near(argv[1], names.at, names.len);
    const char *why = pass_absent(argv[1]);
    if (!p && why) return usage_error("passes", "there is no pass '%s': %s", argv[1], why);
    if (!p)
      return usage_error("passes", "there is no pass '%s'%s%s%s", argv[1],
                         near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    tool_print_pass(p);
    return STATUS_OK;
  }
  for (int i = 0; pass_at(i); i++)
    printf("%-26s %-7s %s\n", pass_at(i)->name, level_word(pass_at(i)->level), pass_at(i)->doc);
  puts("\npipelines:");
  for (int i = 0; pipeline_at(i); i++)
    printf("%-26s %-7s %s\n", pipeline_at(i)->name, "", pipeline_at(i)->doc);
  return STATUS_OK;
}

/* Limits: threads of a block, of a warp, bytes of shared memory. */
static void print_gpus(bool of_cuda) {
  int n;
  const TargetGpu *g = target_gpus(&n);
  for (int i = 0; i < n; i++)
    if (!of_cuda || g[i].ptx)
      printf("    %-8s %5lld threads, warps of %2lld, %6lld bytes shared  %s\n", g[i].name,
             (long long)g[i].threads, (long long)g[i].warp, (long long)g[i].shared, g[i].doc);
}

int tool_targets(int argc, char **argv) {
  int status, kinds, n;
  if (!options_parse(NULL, 0, &argc, argv, &status)) return status;
  const TargetKind *k = target_kinds(&kinds);
  const TargetOption *o = target_options(&n);
  for (int i = 0; i < kinds; i++) {
    printf("%s: %s\n", k[i].name, k[i].doc);
    for (int j = 0; j < n; j++)
      if (str_same(o[j].kind, k[i].name))
        printf("  -%s=%s%*s%s\n", o[j].name, o[j].value,
               (int)(24 - strlen(o[j].name) - strlen(o[j].value)), "", o[j].doc);
    bool of_cuda = str_same(k[i].name, "cuda");
    if (of_cuda || str_same(k[i].name, "sim")) print_gpus(of_cuda);
  }
  return STATUS_OK;
}

/* ---- libraries ---- */

static void print_libs(void *context) {
  const char *name = *(const char **)context;
  Value arg = name ? value_str(name) : value_none();
  Value listing = library_attr("tvm.relax.backend.library", "listing");
  puts(value_text(value_call_with(listing, 1, &arg, (Span){0})));
}

static void show_libs(void *context) {
  Error *e = eval_protect(print_libs, context);
  if (e) diag_error((Span){0}, "libs: %s", e->text);
}

int tool_libs(int argc, char **argv) {
  int status;
  if (!options_parse(NULL, 0, &argc, argv, &status)) return status;
  const char *name = argc > 1 ? argv[1] : NULL;
  return tool_protected(show_libs, &name);
}

/* ---- operators ---- */

static void print_op(const OpInfo *op) {
  printf("R.%s(", op->name + 6);
  bool first = true;
  for each (const char *, a, &op->args) printf("%s%s", first ? "" : ", ", *a), first = false;
  for (int i = 0; i < op->attrs.len; i++) {
    printf("%s%s", first ? "" : ", ", op->attrs.at[i]), first = false;
    if (op->attr_defaults.at[i]) printf("=%s", ir_print(op->attr_defaults.at[i], NULL));
  }
  printf(")\n  %s\n  fusion pattern: %s; %s\n", op->doc, op->pattern,
         op->is_pure ? "no effects" : "has effects");
  printf("  mixed precision: %s; %s layout rule; %s gradient\n", op->mixed_precision,
         op->has_layout_rule ? "a" : "no", op->has_gradient ? "a" : "no");
}

bool tool_print_op(const char *name) {
  const OpInfo *op = op_info(str_format("relax.%s", name));
  if (op) print_op(op);
  return op != NULL;
}

static void show_ops(void *context) {
  const char *name = *(const char **)context;
  StrVec names = {0};
  for (int i = 0; i < stdlib_name_count; i++)
    if (strncmp(stdlib_names[i].name, "relax.", 6) == 0) vec_push(&names, stdlib_names[i].name + 6);
  if (!name) {
    for each (const char *, n, &names)
      printf("%-32s %s\n", *n, op_info(str_format("relax.%s", *n))->doc);
    return;
  }
  if (tool_print_op(name)) return;
  Diag *d = diag_error((Span){0}, "there is no operator '%s'", name);
  diag_near(d, name, names.at, names.len);
}

int tool_ops(int argc, char **argv) {
  int status;
  if (!options_parse(NULL, 0, &argc, argv, &status)) return status;
  const char *name = argc > 1 ? argv[1] : NULL;
  if (name && strncmp(name, "R.", 2) == 0) name += 2;
  return tool_protected(show_ops, &name);
}

/* ---- schedule primitives ---- */

bool tool_print_primitive(const char *name) {
  const Primitive *p = primitive_find(name);
  if (p) printf("sch.%s(%s)\n  %s\n", p->name, p->signature, p->doc);
  return p != NULL;
}

int tool_primitives(int argc, char **argv) {
  int status;
  if (!options_parse(NULL, 0, &argc, argv, &status)) return status;
  StrVec names = {0};
  for (int i = 0; primitive_at(i); i++) vec_push(&names, primitive_at(i)->name);
  if (argc > 1 && !tool_print_primitive(argv[1])) {
    const char *near = str_near(argv[1], names.at, names.len);
    return usage_error("primitives", "there is no schedule primitive '%s'%s%s%s", argv[1],
                       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  }
  for (int i = 0; argc == 1 && primitive_at(i); i++)
    printf("%-26s %s\n", primitive_at(i)->name, primitive_at(i)->doc);
  return STATUS_OK;
}

/* ---- tensor intrinsics ---- */

static int by_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "dot_4x4_vnni   A: (4,) uint8, B: (4, 4) int8, C: (4,) int32" */
static void print_intrinsic(const char *name) {
  printf("%-26s ", name);
  NodeVec buffers = AS(PrimFunc, tensor_intrin_find(name)->description)->buffers;
  for (int i = 0; i < buffers.len; i++) {
    Buffer *b = AS(Buffer, buffers.at[i]);
    printf("%s%s: (", i ? ", " : "", b->name);
    for (int k = 0; k < b->shape.len; k++)
      printf("%s%s", ir_print(b->shape.at[k], NULL), k + 1 < b->shape.len ? ", " : "");
    printf("%s) %s", b->shape.len == 1 ? "," : "", dtype_text(b->elem));
  }
  puts("");
}

static void show_intrinsics(void *context) {
  const char *name = *(const char **)context;
  const TensorIntrin *t = name ? tensor_intrin_find(name) : NULL;
  StrVec names = tensor_intrin_names();
  if (t) printf("%s\n%s", ir_print(t->description, NULL), ir_print(t->implementation, NULL));
  if (t) return;
  if (name) {
    Diag *d = diag_error((Span){0}, "there is no tensor intrinsic '%s'", name);
    diag_near(d, name, names.at, names.len);
    return;
  }
  qsort(names.at, (size_t)names.len, sizeof *names.at, by_name);
  for each (const char *, n, &names) print_intrinsic(*n);
}

int tool_intrinsics(int argc, char **argv) {
  int status;
  if (!options_parse(NULL, 0, &argc, argv, &status)) return status;
  const char *name = argc > 1 ? argv[1] : NULL;
  return tool_protected(show_intrinsics, &name);
}
