/* deploy.c -- runs a compiled model from C: all it needs is libtvms_runtime.
 *
 *   tvms build examples/unity.tvms --target llvm -o unity.so
 *   cc -I. -rdynamic -o deploy examples/deploy.c libtvms_runtime.a -lpthread -ldl
 *   ./deploy unity.so [n d m]
 *
 * The same program runs a model that was built for a device (--target opencl). Loads the module,
 * gives `relax_func` a tensor x (n, d) and a tensor w (d, m), and prints what it returns. On its
 * way the model calls `custom_inplace_update`, which this program provides. */
#include "tvms.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const DLDataType float32 = {kDLFloat, 32, 1};

/* Says what went wrong, in the words of the runtime; the status of the program. */
static int report(const char *doing) {
  fprintf(stderr, "deploy: %s: %s\n", doing, tvms_last_error());
  return 1;
}

/* custom_inplace_update(t): adds 1 to every element of a float32 tensor. A packed function gets its
 * arguments as values with their types, and returns 0, or -1 with a message. */
static int custom_inplace_update(void *self, const TvmsValue *args, const int *types, int n,
                                 TvmsValue *ret, int *ret_type) {
  (void)self, (void)ret, (void)ret_type;
  if (n != 1 || types[0] != TVMS_TENSOR)
    return tvms_set_error("custom_inplace_update: expected one tensor");
  TvmsTensor *t = args[0].p;
  DLDataType dtype = tvms_tensor_dl(t)->dtype;
  if (dtype.code != kDLFloat || dtype.bits != 32 || dtype.lanes != 1 || !tvms_tensor_is_compact(t))
    return tvms_set_error("custom_inplace_update: expected a compact float32 tensor");
  float *data = tvms_tensor_data(t);
  for (int64_t i = 0; i < tvms_tensor_size(t); i++) data[i] += 1.0f;
  return 0;
}

static int register_functions(void) {
  TvmsFunc *f = NULL;
  if (tvms_func_new(&f, custom_inplace_update, NULL, NULL)) return -1;
  int status = tvms_func_register("custom_inplace_update", f, 0);
  tvms_release(f);
  return status;
}

/* Element k is first + k * step. Where the model wants it: that may be the memory of a GPU. */
static TvmsTensor *new_matrix(DLDevice device, int64_t rows, int64_t columns, float first,
                              float step) {
  TvmsTensor *t = NULL, *there = NULL;
  if (tvms_tensor_new(&t, 2, (int64_t[]){rows, columns}, float32)) return NULL;
  float *data = tvms_tensor_data(t);
  for (int64_t k = 0; k < tvms_tensor_size(t); k++) data[k] = first + (float)k * step;
  int status = tvms_tensor_copy_to(&there, t, device);
  tvms_release(t);
  return status ? NULL : there;
}

static void print_tensor(const TvmsTensor *t) {
  const DLTensor *dl = tvms_tensor_dl(t);
  const float *data = tvms_tensor_data(t);
  printf("shape (");
  for (int i = 0; i < dl->ndim; i++) printf("%s%" PRId64, i ? ", " : "", dl->shape[i]);
  printf(")\n");
  for (int64_t k = 0; k < tvms_tensor_size(t); k++)
    printf("%s%.6g", k == 0 ? "" : k % 8 ? " " : "\n", (double)data[k]);
  printf("\n");
}

static int print_result(int type, TvmsValue value) {
  TvmsTensor *t = type == TVMS_TENSOR ? value.p : NULL;
  DLDataType dtype = t ? tvms_tensor_dl(t)->dtype : float32;
  if (!t || dtype.code != kDLFloat || dtype.bits != 32 || !tvms_tensor_is_compact(t)) {
    fprintf(stderr, "deploy: relax_func returns no float32 tensor\n");
    return 1;
  }
  TvmsTensor *here = NULL;
  if (tvms_tensor_copy_to(&here, t, (DLDevice){kDLCPU, 0})) return report("reading the result");
  print_tensor(here);
  tvms_release(here);
  return 0;
}

static int call_model(TvmsFunc *relax_func, TvmsTensor *x, TvmsTensor *w) {
  const TvmsValue args[] = {{.p = x}, {.p = w}};
  const int types[] = {TVMS_TENSOR, TVMS_TENSOR};
  TvmsValue result;
  int result_type;
  if (tvms_func_call(relax_func, args, types, 2, &result, &result_type))
    return report("relax_func");
  int status = print_result(result_type, result);
  tvms_value_release(result_type, result);
  return status;
}

static int run(const char *path, int64_t n, int64_t d, int64_t m) {
  TvmsModule *module = NULL;
  TvmsFunc *relax_func = NULL;
  if (tvms_module_load(&module, path)) return report("loading the module");
  DLDevice device = tvms_module_device(module);
  int status = tvms_module_function(&relax_func, module, "relax_func");
  tvms_release(module); /* the function keeps it alive */
  if (status) return report("looking for relax_func");
  TvmsTensor *x = new_matrix(device, n, d, 0.0f, 0.125f);
  TvmsTensor *w = new_matrix(device, d, m, 1.0f, -0.0625f);
  status = x && w ? call_model(relax_func, x, w) : report("making the arguments");
  tvms_release(x);
  tvms_release(w);
  tvms_release(relax_func);
  return status;
}

/* A size of at most a million, or -1. */
static int64_t parse_size(const char *text) {
  char *end;
  long value = strtol(text, &end, 10);
  return end != text && !*end && value >= 0 && value <= 1000000 ? value : -1;
}

int main(int argc, char **argv) {
  int64_t size[3] = {2, 3, 4};
  if (argc != 2 && argc != 5) {
    fprintf(stderr, "usage: deploy MODULE.so [n d m]\n");
    return 2;
  }
  for (int i = 2; i < argc; i++) {
    size[i - 2] = parse_size(argv[i]);
    if (size[i - 2] < 0) {
      fprintf(stderr, "deploy: '%s' is not a size from 0 to 1000000\n", argv[i]);
      return 2;
    }
  }
  if (register_functions()) return report("registering custom_inplace_update");
  return run(argv[1], size[0], size[1], size[2]);
}
