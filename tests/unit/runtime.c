/* runtime.c -- unit tests of libtvms_runtime, through its public header and the ABI. */
#include "target/runtime/abi.h"
#include "tests/unit/unit.h"
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Sanitizers end the process where malloc would say no. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

#define FLOAT32_DL ((DLDataType){kDLFloat, 32, 1})
#define ANY_DL     255, 0, 0

static bool last_error_is(const char *text) {
  if (strcmp(tvms_last_error(), text) == 0) return true;
  printf("the error is: %s\n", tvms_last_error());
  return false;
}

static bool last_error_has(const char *text) {
  if (strstr(tvms_last_error(), text)) return true;
  printf("the error is: %s\n", tvms_last_error());
  return false;
}

static TvmsTensor *tensor(int ndim, const int64_t *shape, DLDataType t) {
  TvmsTensor *out = NULL;
  CHECK(tvms_tensor_new(&out, ndim, shape, t) == 0);
  return out;
}

/* ---- errors ---- */

TEST(runtime_error_may_quote_the_last_error) {
  CHECK(tvms_set_error("inner %d", 1) == -1);
  CHECK(tvms_set_error("outer: %s", tvms_last_error()) == -1);
  CHECK(last_error_is("outer: inner 1"));
}

TEST(runtime_error_is_cut_when_too_long) {
  char *text = malloc(10000);
  memset(text, 'x', 9999);
  text[9999] = '\0';
  tvms_set_error("%s", text);
  size_t n = strlen(tvms_last_error());
  CHECK(n > 1000 && n < 9999 && strcmp(tvms_last_error() + n - 3, "...") == 0);
  free(text);
}

static void *read_error(void *out) {
  strcpy(out, tvms_last_error());
  return NULL;
}

TEST(runtime_error_belongs_to_its_thread) {
  char other[100] = "?";
  pthread_t thread;
  tvms_set_error("mine");
  pthread_create(&thread, NULL, read_error, other);
  pthread_join(thread, NULL);
  CHECK(strcmp(other, "") == 0 && last_error_is("mine"));
}

/* ---- dtypes ---- */

TEST(runtime_dtype_text_and_back) {
  static const char *const names[] = {
      "int8", "int32x4", "uint64", "float16",       "float32",       "float64x2", "bfloat16",
      "bool", "int4",    "handle", "float8_e4m3fn", "float8_e5m2x4", "boolx8",    "complex64"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    DLDataType t;
    char text[32];
    CHECK(tvms_dtype_parse(names[i], &t) == 0);
    tvms_dtype_text(t, text, sizeof text);
    CHECK(strcmp(text, names[i]) == 0);
  }
}

TEST(runtime_dtype_rejects_what_is_none) {
  static const char *const names[] = {
      "",         "int",   "int7",        "float8", "float32x", "float320",   "float32x0",
      "float32 ", "bool8", "int32x99999", "xint32", "int-32",   "float32x-1", "int99999999999"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    DLDataType t;
    CHECK(tvms_dtype_parse(names[i], &t) == -1);
  }
}

/* ---- tensors ---- */

TEST(runtime_tensor_knows_its_size) {
  TvmsTensor *t = tensor(2, (int64_t[]){3, 5}, FLOAT32_DL);
  CHECK(tvms_tensor_size(t) == 15 && tvms_tensor_nbytes(t) == 60 && tvms_tensor_is_compact(t));
  CHECK((uintptr_t)tvms_tensor_data(t) % 64 == 0);
  CHECK(tvms_tensor_dl(t)->ndim == 2 && tvms_tensor_dl(t)->shape[1] == 5);
  char bytes[60], back[60];
  memset(bytes, 7, sizeof bytes);
  CHECK(tvms_tensor_set_bytes(t, bytes, 60) == 0 && tvms_tensor_get_bytes(t, back, 60) == 0);
  CHECK(memcmp(bytes, back, 60) == 0);
  CHECK(tvms_tensor_get_bytes(t, back, 59) == -1);
  CHECK(last_error_is("the tensor has 60 bytes, 59 given"));
  tvms_release(t);
}

TEST(runtime_tensor_of_no_dimension_and_of_no_elements) {
  TvmsTensor *scalar = tensor(0, NULL, FLOAT32_DL);
  TvmsTensor *empty = tensor(2, (int64_t[]){0, 5}, FLOAT32_DL);
  CHECK(tvms_tensor_size(scalar) == 1 && tvms_tensor_size(empty) == 0);
  CHECK(tvms_tensor_data(empty) != NULL);
  TvmsTensor *copy = NULL;
  CHECK(tvms_tensor_copy(&copy, empty) == 0);
  tvms_release(copy);
  tvms_release(scalar);
  tvms_release(empty);
}

TEST(runtime_tensor_refuses_bad_shapes) {
  TvmsTensor *t = NULL;
  CHECK(tvms_tensor_new(&t, 2, (int64_t[]){3, -1}, FLOAT32_DL) == -1);
  CHECK(last_error_is("dimension 1 of shape (3, -1) is negative"));
  CHECK(tvms_tensor_new(&t, 2, (int64_t[]){(int64_t)1 << 40, (int64_t)1 << 40}, FLOAT32_DL) == -1);
  CHECK(last_error_has("is too large"));
  CHECK(tvms_tensor_new(&t, 3, (int64_t[]){(int64_t)1 << 40, 0, (int64_t)1 << 40}, FLOAT32_DL) ==
        -1);
  CHECK(tvms_tensor_new(&t, 1, (int64_t[]){(int64_t)1 << 61}, FLOAT32_DL) == -1);
  CHECK(tvms_tensor_new(&t, 65, NULL, FLOAT32_DL) == -1);
  CHECK(tvms_tensor_new(&t, -1, NULL, FLOAT32_DL) == -1);
  CHECK(tvms_tensor_new(&t, 1, (int64_t[]){3}, (DLDataType){kDLFloat, 32, 0}) == -1);
  CHECK(t == NULL);
}

TEST(runtime_tensor_reports_that_memory_is_short) {
  if (SANITIZED) return;
  TvmsTensor *t = NULL;
  CHECK(tvms_tensor_new(&t, 1, (int64_t[]){(int64_t)1 << 60}, FLOAT32_DL) == -1);
  CHECK(last_error_has("out of memory"));
  CHECK(t == NULL);
}

TEST(runtime_tensor_view_copies_strided_memory) {
  float memory[] = {0, 1, 2, 3, 4, 5};
  int64_t shape[] = {3, 2}, strides[] = {1, 3};
  DLTensor dl = {memory, {kDLCPU, 0}, 2, FLOAT32_DL, shape, strides, 0};
  TvmsTensor *view = NULL, *copy = NULL, *flat = NULL;
  CHECK(tvms_tensor_view(&view, &dl) == 0);
  CHECK(!tvms_tensor_is_compact(view));
  CHECK(tvms_tensor_reshape(&flat, view, 1, (int64_t[]){6}) == -1);
  CHECK(tvms_tensor_copy(&copy, view) == 0);
  static const float want[] = {0, 3, 1, 4, 2, 5};
  CHECK(memcmp(tvms_tensor_data(copy), want, sizeof want) == 0);
  tvms_release(view);
  tvms_release(copy);
}

TEST(runtime_tensor_reshape_keeps_the_data_alive) {
  TvmsTensor *t = tensor(2, (int64_t[]){2, 3}, FLOAT32_DL), *flat = NULL, *again = NULL;
  ((float *)tvms_tensor_data(t))[5] = 42;
  CHECK(tvms_tensor_reshape(&flat, t, 1, (int64_t[]){6}) == 0);
  tvms_release(t);
  CHECK(tvms_tensor_reshape(&again, flat, 2, (int64_t[]){3, 2}) == 0);
  tvms_release(flat);
  CHECK(((float *)tvms_tensor_data(again))[5] == 42);
  CHECK(tvms_tensor_reshape(&flat, again, 1, (int64_t[]){7}) == -1);
  CHECK(last_error_is("a tensor of shape (3, 2) can't become one of shape (7,)"));
  tvms_release(again);
}

TEST(runtime_tensor_strided_is_a_part_that_keeps_the_data_alive) {
  TvmsTensor *t = tensor(2, (int64_t[]){2, 3}, FLOAT32_DL), *column = NULL, *turned = NULL;
  float *data = tvms_tensor_data(t);
  for (int i = 0; i < 6; i++) data[i] = (float)i;
  DLTensor part = {data + 1, {kDLCPU, 0}, 1, FLOAT32_DL, (int64_t[]){2}, (int64_t[]){3}, 0};
  CHECK(tvms_tensor_strided(&column, t, &part) == 0 && !tvms_tensor_is_compact(column));
  part = (DLTensor){data + 4, {kDLCPU, 0}, 1, FLOAT32_DL, (int64_t[]){2}, (int64_t[]){-3}, 0};
  CHECK(tvms_tensor_strided(&turned, column, &part) == 0);
  part.data = data + 5;
  part.strides = (int64_t[]){3};
  CHECK(tvms_tensor_strided(&turned, t, &part) == -1);
  CHECK(last_error_is("the part does not lie in the memory of the tensor"));
  tvms_release(t);
  tvms_release(column);
  TvmsTensor *copy = NULL;
  CHECK(tvms_tensor_copy(&copy, turned) == 0);
  CHECK(((float *)tvms_tensor_data(copy))[0] == 4 && ((float *)tvms_tensor_data(copy))[1] == 1);
  tvms_release(turned);
  tvms_release(copy);
}

TEST(runtime_dlpack_round_trip) {
  TvmsTensor *t = tensor(1, (int64_t[]){4}, FLOAT32_DL), *back = NULL;
  ((float *)tvms_tensor_data(t))[3] = 8;
  DLManagedTensor *managed = NULL;
  CHECK(tvms_tensor_to_dlpack(&managed, t) == 0);
  tvms_release(t);
  CHECK(((float *)managed->dl_tensor.data)[3] == 8);
  CHECK(tvms_tensor_from_dlpack(&back, managed) == 0);
  CHECK(((float *)tvms_tensor_data(back))[3] == 8);
  tvms_release(back);
}

static int deleted;
static void count_delete(DLManagedTensor *self) {
  (void)self;
  deleted++;
}

TEST(runtime_dlpack_deletes_with_the_last_view) {
  float memory[4] = {0};
  int64_t shape[] = {4};
  DLManagedTensor managed = {
      {memory, {kDLCPU, 0}, 1, FLOAT32_DL, shape, NULL, 4}, NULL, count_delete};
  TvmsTensor *t = NULL, *view = NULL;
  deleted = 0;
  managed.dl_tensor.shape[0] = -4;
  CHECK(tvms_tensor_from_dlpack(&t, &managed) == -1 && deleted == 0);
  managed.dl_tensor.shape[0] = 3;
  CHECK(tvms_tensor_from_dlpack(&t, &managed) == 0);
  CHECK(tvms_tensor_data(t) == memory + 1);
  CHECK(tvms_tensor_reshape(&view, t, 2, (int64_t[]){3, 1}) == 0);
  tvms_release(t);
  CHECK(deleted == 0);
  tvms_release(view);
  CHECK(deleted == 1);
}

/* ---- shapes and tuples ---- */

TEST(runtime_tuple_owns_its_fields) {
  TvmsTensor *t = tensor(1, (int64_t[]){4}, FLOAT32_DL);
  char text[] = "hello";
  TvmsShape *shape = NULL;
  CHECK(tvms_shape_new(&shape, 2, (int64_t[]){7, 8}) == 0);
  TvmsValue values[] = {{.p = t}, {.s = text}, {.p = shape}, {.f = 1.5}};
  int types[] = {TVMS_TENSOR, TVMS_STR, TVMS_SHAPE, TVMS_FLOAT}, type;
  TvmsTuple *tuple = NULL;
  CHECK(tvms_tuple_new(&tuple, 4, values, types) == 0);
  tvms_release(t);
  tvms_release(shape);
  text[0] = 'J';
  CHECK(strcmp(tvms_tuple_get(tuple, 1, &type).s, "hello") == 0 && type == TVMS_STR);
  CHECK(tvms_shape_dims(tvms_tuple_get(tuple, 2, &type).p)[1] == 8);
  CHECK(tvms_tuple_get(tuple, 3, &type).f == 1.5 && tvms_tuple_size(tuple) == 4);
  tvms_tuple_get(tuple, 4, &type);
  CHECK(type == TVMS_NONE);
  TvmsValue value;
  CHECK(tvms_tuple_field(tuple, 4, &value, &type) == -1);
  CHECK(last_error_is("a tuple of 4 fields has no field 4"));
  tvms_release(tuple);
  CHECK(tvms_tuple_new(&tuple, 1, &(TvmsValue){.p = NULL}, (int[]){TVMS_TENSOR}) == -1);
  CHECK(tvms_tuple_new(&tuple, 1, &(TvmsValue){.p = NULL}, (int[]){99}) == -1);
}

/* ---- packed functions ---- */

static int add_ints(void *self, const TvmsValue *args, const int *types, int n, TvmsValue *ret,
                    int *ret_type) {
  (void)types;
  if (n < 1) return tvms_set_error("add_ints wants an argument");
  ret->i = self ? *(int *)self : 0;
  for (int i = 0; i < n; i++) ret->i += args[i].i;
  *ret_type = TVMS_INT;
  return 0;
}

static int fails_silently(void *self, const TvmsValue *args, const int *types, int n,
                          TvmsValue *ret, int *ret_type) {
  (void)self, (void)args, (void)types, (void)n, (void)ret, (void)ret_type;
  return 3;
}

static int returns_nonsense(void *self, const TvmsValue *args, const int *types, int n,
                            TvmsValue *ret, int *ret_type) {
  (void)self, (void)args, (void)types, (void)n, (void)ret;
  *ret_type = TVMS_TENSOR;
  return 0;
}

static void free_int(void *self) { *(int *)self = -1; }

TEST(runtime_func_calls_and_releases) {
  int state = 100, type;
  TvmsValue ret;
  TvmsFunc *f = NULL;
  CHECK(tvms_func_new(&f, add_ints, &state, free_int) == 0);
  CHECK(tvms_func_call(f, (TvmsValue[]){{.i = 1}, {.i = 2}}, (int[]){TVMS_INT, TVMS_INT}, 2, &ret,
                       &type) == 0);
  CHECK(ret.i == 103 && type == TVMS_INT);
  CHECK(tvms_func_call(f, NULL, NULL, 0, &ret, &type) == -1);
  CHECK(last_error_is("add_ints wants an argument"));
  tvms_release(f);
  CHECK(state == -1);
  CHECK(tvms_func_new(&f, NULL, NULL, NULL) == -1);
}

TEST(runtime_func_failure_always_has_a_message) {
  int type;
  TvmsValue ret;
  TvmsFunc *f = NULL;
  tvms_func_new(&f, fails_silently, NULL, NULL);
  tvms_set_error("stale");
  CHECK(tvms_func_call(f, NULL, NULL, 0, &ret, &type) == -1);
  CHECK(last_error_is("the packed function failed without saying why"));
  tvms_release(f);
  tvms_func_new(&f, returns_nonsense, NULL, NULL);
  CHECK(tvms_func_call(f, NULL, NULL, 0, &ret, &type) == -1 && type == TVMS_NONE);
  CHECK(last_error_has("can't return"));
  tvms_release(f);
}

static void append_name(void *context, const char *name) {
  if (strncmp(name, "test.each", 9) == 0) strcat(strcat(context, name + 9), " ");
}

TEST(runtime_registry_finds_in_order_and_refuses_doubles) {
  TvmsFunc *f = NULL, *found = NULL;
  tvms_func_new(&f, add_ints, NULL, NULL);
  CHECK(tvms_func_register("test.each2", f, 0) == 0);
  CHECK(tvms_func_register("test.each1", f, 0) == 0);
  CHECK(tvms_func_register("test.each1", f, 0) == -1);
  CHECK(last_error_is("packed function 'test.each1' is registered already"));
  CHECK(tvms_func_register("test.each1", f, 1) == 0);
  CHECK(tvms_func_register("test.each3", f, 0) == 0);
  char names[100] = "";
  tvms_func_each(append_name, names);
  CHECK(strcmp(names, "2 1 3 ") == 0);
  CHECK(tvms_func_find(&found, "test.each1") == 0 && found == f);
  tvms_release(found);
  CHECK(tvms_func_remove("test.each1") == 0 && tvms_func_remove("test.each1") == -1);
  CHECK(tvms_func_find(&found, "test.each1") == -1);
  CHECK(last_error_is("packed function 'test.each1' is not registered, and there is no "
                      "library libtvms_test.so that has it"));
  tvms_func_remove("test.each2");
  tvms_func_remove("test.each3");
  tvms_release(f);
}

static void *race_registry(void *seed) {
  int id = *(int *)seed;
  TvmsFunc *f = NULL, *found = NULL;
  tvms_func_new(&f, add_ints, NULL, NULL);
  for (int i = 0; i < 300; i++) {
    char name[40], shared[40];
    snprintf(name, sizeof name, "race.%d.%d", id, i);
    snprintf(shared, sizeof shared, "race.shared.%d", i % 7);
    CHECK(tvms_func_register(name, f, 0) == 0);
    tvms_func_register(shared, f, 1);
    if (tvms_func_find(&found, shared) == 0) tvms_release(found);
    if (i % 3 == 0) tvms_func_remove(shared);
    CHECK(tvms_func_find(&found, name) == 0);
    tvms_release(found);
    CHECK(tvms_func_remove(name) == 0);
  }
  tvms_release(f);
  return NULL;
}

TEST(runtime_registry_stands_races) {
  pthread_t threads[6];
  int ids[6];
  for (int i = 0; i < 6; i++) {
    ids[i] = i;
    pthread_create(&threads[i], NULL, race_registry, &ids[i]);
  }
  for (int i = 0; i < 6; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < 7; i++) {
    char shared[40];
    snprintf(shared, sizeof shared, "race.shared.%d", i);
    tvms_func_remove(shared);
  }
}

/* ---- modules ---- */

TEST(runtime_module_lives_as_long_as_its_functions) {
  int state = 1, seven = 7, type;
  TvmsExport exports[] = {{"f", add_ints, NULL}, {"g", add_ints, &seven}};
  TvmsModule *m = NULL;
  CHECK(tvms_module_new(&m, 2, exports, &state, free_int) == 0);
  CHECK(tvms_module_function_count(m) == 2);
  CHECK(strcmp(tvms_module_function_name(m, 1), "g") == 0);
  CHECK(tvms_module_function_name(m, 2) == NULL);
  TvmsFunc *g = NULL, *none = NULL;
  CHECK(tvms_module_function(&none, m, "h") == -1);
  CHECK(last_error_is("the module has no function 'h'; it has f, g"));
  CHECK(tvms_module_function(&g, m, "g") == 0);
  tvms_release(m);
  CHECK(state == 1);
  TvmsValue ret;
  CHECK(tvms_func_call(g, &(TvmsValue){.i = 1}, (int[]){TVMS_INT}, 1, &ret, &type) == 0);
  CHECK(ret.i == 8);
  tvms_release(g);
  CHECK(state == -1);
}

TEST(runtime_module_load_says_what_is_wrong) {
  TvmsModule *m = NULL;
  CHECK(tvms_module_load(&m, "/nonexistent/a.so") == -1);
  CHECK(last_error_has("can't load '/nonexistent/a.so'"));
  CHECK(tvms_module_load(&m, "nonexistent.so") == -1);
  CHECK(tvms_module_load(&m, "") == -1);
  CHECK(tvms_module_load(&m, "/proc/self/status") == -1);
  CHECK(m == NULL);
}

/* ---- frames ---- */

TEST(runtime_frame_gives_aligned_workspace_and_frees_it) {
  for (int round = 0; round < 3; round++) {
    void *frame = tvms_frame_begin();
    for (int i = 0; i < 100; i++) {
      char *at = tvms_frame_alloc(frame, i * 1000);
      CHECK(at && (uintptr_t)at % 64 == 0);
      if (at) memset(at, i, (size_t)i * 1000);
    }
    CHECK(tvms_frame_alloc(frame, -1) == NULL);
    CHECK(tvms_frame_alloc(frame, INT64_MAX) == NULL);
    if (!SANITIZED) {
      CHECK(tvms_frame_alloc(frame, (int64_t)1 << 60) == NULL);
      CHECK(last_error_has("out of memory"));
    }
    CHECK(tvms_frame_fail(frame) == -1);
  }
}

TEST(runtime_frame_moves_the_result_out) {
  void *frame = tvms_frame_begin();
  TvmsTensor *kept = tvms_frame_tensor(frame, 1, (int64_t[]){4}, kDLFloat, 32, 1);
  TvmsTensor *dropped = tvms_frame_tensor(frame, 1, (int64_t[]){4}, kDLFloat, 32, 1);
  void *data = tvms_tensor_data(dropped);
  DLTensor *view = tvms_frame_view(frame, data, 2, (int64_t[]){2, 2}, kDLFloat, 32, 1);
  CHECK(view && view->data == data && view->shape[1] == 2 && !view->strides);
  TvmsValue values[] = {{.p = kept}, {.p = tvms_frame_shape(frame, 1, (int64_t[]){9})}};
  TvmsTuple *tuple = tvms_frame_tuple(frame, 2, values, (int[]){TVMS_TENSOR, TVMS_SHAPE});
  TvmsValue ret;
  int type;
  CHECK(tvms_frame_end(frame, &ret, &type, (int64_t)(intptr_t)tuple, TVMS_TUPLE) == 0);
  CHECK(type == TVMS_TUPLE && tvms_tuple_get(ret.p, 0, &type).p == kept);
  ((float *)tvms_tensor_data(kept))[3] = 1;
  tvms_release(ret.p);
}

TEST(runtime_frame_copies_borrowed_results) {
  float memory[] = {1, 2};
  int64_t shape[] = {2};
  DLTensor dl = {memory, {kDLCPU, 0}, 1, FLOAT32_DL, shape, NULL, 0};
  TvmsValue ret;
  int type;
  CHECK(tvms_frame_end(tvms_frame_begin(), &ret, &type, (int64_t)(intptr_t)&dl, TVMS_DLTENSOR) ==
        0);
  memory[1] = 0;
  CHECK(type == TVMS_TENSOR && ((float *)tvms_tensor_data(ret.p))[1] == 2);
  tvms_value_release(type, ret);
  CHECK(tvms_frame_end(tvms_frame_begin(), &ret, &type, (int64_t)(intptr_t) "abc", TVMS_STR) == 0);
  CHECK(type == TVMS_STR && strcmp(ret.s, "abc") == 0);
  tvms_value_release(type, ret);
  CHECK(tvms_frame_end(tvms_frame_begin(), &ret, &type, 0, TVMS_TENSOR) == -1);
}

/* Makes a tensor in each of `depth` nested frames and returns the innermost one. */
static int nest(int depth, TvmsValue *ret, int *type) {
  void *frame = tvms_frame_begin();
  int64_t *mark = tvms_frame_alloc(frame, 20000);
  *mark = depth;
  TvmsTensor *t = tvms_frame_tensor(frame, 1, (int64_t[]){depth + 1}, kDLInt, 64, 1);
  int64_t bits = (int64_t)(intptr_t)t;
  TvmsValue inner;
  int inner_type = TVMS_NONE;
  if (depth > 0) {
    if (nest(depth - 1, &inner, &inner_type)) return tvms_frame_fail(frame);
    CHECK(*mark == depth);
    bits = inner.i;
  }
  int status = tvms_frame_end(frame, ret, type, bits, TVMS_TENSOR);
  if (depth > 0) tvms_value_release(inner_type, inner);
  return status;
}

static void *nest_in_thread(void *unused) {
  (void)unused;
  for (int i = 0; i < 4; i++) {
    TvmsValue ret;
    int type;
    CHECK(nest(40, &ret, &type) == 0);
    CHECK(tvms_tensor_size(ret.p) == 1);
    tvms_value_release(type, ret);
  }
  return NULL;
}

TEST(runtime_frames_nest_in_every_thread) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, nest_in_thread, NULL);
  nest_in_thread(NULL);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}

static int returns_string(void *self, const TvmsValue *args, const int *types, int n,
                          TvmsValue *ret, int *ret_type) {
  (void)self, (void)args, (void)types, (void)n;
  ret->s = tvms_string_copy("result");
  *ret_type = TVMS_STR;
  return ret->s ? 0 : -1;
}

TEST(runtime_frame_owns_results_of_calls) {
  TvmsFunc *f = NULL;
  tvms_func_new(&f, returns_string, NULL, NULL);
  tvms_func_register("test.string", f, 0);
  tvms_release(f);
  void *frame = tvms_frame_begin();
  TvmsValue ret;
  int type;
  CHECK(tvms_call_packed(frame, "test.string", NULL, NULL, 0, &ret, &type) == 0);
  CHECK(type == TVMS_STR && strcmp(ret.s, "result") == 0);
  CHECK(tvms_call_packed(frame, "test.none", NULL, NULL, 0, &ret, &type) == -1);
  CHECK(last_error_is("packed function 'test.none' is not registered, and there is no "
                      "library libtvms_test.so that has it"));
  CHECK(tvms_call_direct(frame, (void *)(uintptr_t)add_ints, &(TvmsValue){.i = 5},
                         (int[]){TVMS_INT}, 1, &ret, &type) == 0);
  CHECK(ret.i == 5);
  tvms_frame_fail(frame);
  tvms_func_remove("test.string");
}

/* ---- checks ---- */

TEST(runtime_check_messages_name_everything) {
  TvmsTensor *w = tensor(2, (int64_t[]){5, 3}, FLOAT32_DL);
  TvmsTensor *x = tensor(3, (int64_t[]){1, 2, 3}, (DLDataType){kDLInt, 64, 1});
  TvmsValue args[] = {{.p = x}, {.p = w}, {.i = 3}, {.f = 2.5}};
  int types[] = {TVMS_TENSOR, TVMS_TENSOR, TVMS_INT, TVMS_FLOAT};
  CHECK(tvms_arg_count("main", 3, 2) == -1);
  CHECK(last_error_is("main: 2 arguments expected, 3 given"));
  CHECK(tvms_arg_count("main", 0, 1) == -1);
  CHECK(last_error_is("main: 1 argument expected, 0 given"));
  CHECK(tvms_arg_tensor("main", "x", args, types, 0, 2, kDLFloat, 32, 1) == NULL);
  CHECK(last_error_is(
      "main: argument 'x' must be a float32 tensor of 2 dimensions, but is int64 of 3"));
  CHECK(tvms_arg_tensor("main", "x", args, types, 2, 1, kDLInt, 8, 1) == NULL);
  CHECK(last_error_is("main: argument 'x' must be an int8 tensor of 1 dimension, but is an int"));
  CHECK(tvms_arg_tensor("main", "x", args, types, 3, -1, ANY_DL) == NULL);
  CHECK(last_error_is("main: argument 'x' must be a tensor, but is a float"));
  void *dl = tvms_arg_tensor("main", "w", args, types, 1, 2, kDLFloat, 32, 1);
  CHECK(dl && tvms_tensor_dim(dl, 0) == 5 && tvms_tensor_address(dl) == tvms_tensor_data(w));
  CHECK(tvms_arg_tensor("main", "w", args, types, 1, -1, ANY_DL) == dl);
  CHECK(tvms_check_dim("main", "argument 'w'", dl, 0, 5, "d") == 0);
  CHECK(tvms_check_dim("main", "argument 'w'", dl, 0, 4, "d") == -1);
  CHECK(last_error_is("main: argument 'w' has shape (5, 3), but dimension 0 must be 4 (d)"));
  CHECK(tvms_check_dim("main", "argument 'w'", dl, 1, 4, "4") == -1);
  CHECK(last_error_is("main: argument 'w' has shape (5, 3), but dimension 1 must be 4"));
  CHECK(tvms_arg_type("main", "argument 'n'", args, types, 3, TVMS_INT) == -1);
  CHECK(last_error_is("main: argument 'n' must be an int, but is a float"));
  CHECK(tvms_arg_type("main", "argument 'n'", args, types, 2, TVMS_FLOAT) == 0);
  CHECK(tvms_arg_float(args, types, 2) == 3.0 && tvms_arg_float(args, types, 3) == 2.5);
  CHECK(tvms_arg_int(args, types, 2) == 3 && tvms_arg_object(args, 1) == w);
  CHECK(tvms_check_value("main", "argument 'n'", 4, 3, "d + 1") == -1);
  CHECK(last_error_is("main: argument 'n' must be 4 (d + 1), but is 3"));
  tvms_release(w);
  tvms_release(x);
}

TEST(runtime_check_of_all_tensor_arguments) {
  TvmsTensor *w = tensor(2, (int64_t[]){5, 3}, FLOAT32_DL);
  TvmsTensor *x = tensor(3, (int64_t[]){1, 2, 3}, (DLDataType){kDLInt, 64, 1});
  TvmsValue args[] = {{.p = w}, {.i = 3}, {.p = x}};
  int types[] = {TVMS_TENSOR, TVMS_INT, TVMS_TENSOR};
  void *frame = tvms_frame_begin();
  /* "A" is 0, "!A" is 32, "@" is -1 */
#define ADDRESSES(params) tvms_arg_tensors(frame, "main", params, args, types, 3, kDLCPU, 0)
  const int64_t *at = ADDRESSES("ACC!ABEw: 1F@CDA\"ABBx@@D");
  CHECK(at && at[0] == (intptr_t)tvms_tensor_data(w) && at[2] == (intptr_t)tvms_tensor_data(x));
  CHECK(ADDRESSES("") != NULL);
  CHECK(ADDRESSES("A@(@AABwC@A\"ABBx") != NULL);
  CHECK(ADDRESSES("CDA\"ABBxBCDACC!ABEw: 1FE") == NULL);
  CHECK(last_error_is("main: argument 'w: 1' has shape (5, 3), but dimension 1 must be 4"));
  CHECK(ADDRESSES("ACC\"ABBwFD") == NULL);
  CHECK(last_error_is(
      "main: argument 'w' must be a float64 tensor of 2 dimensions, but is float32 of 2"));
  CHECK(ADDRESSES("BBC!ABBnD") == NULL);
  CHECK(last_error_is("main: argument 'n' must be a float32 tensor of 1 dimension, but is an int"));
  DLTensor dl = {tvms_tensor_data(w), {kDLCPU, 0}, 2, FLOAT32_DL, (int64_t[]){5, -3}, NULL, 0};
  args[0].p = &dl, types[0] = TVMS_DLTENSOR;
  CHECK(ADDRESSES("ACC!ABBwFD") == NULL);
  CHECK(last_error_is("main: argument 'w': dimension 1 of shape (5, -3) is negative"));
  tvms_frame_fail(frame);
  tvms_release(w);
  tvms_release(x);
}

TEST(runtime_check_refuses_unsound_memory) {
  float memory[8] = {0};
  int64_t shape[] = {2, 2}, strides[] = {1, 2};
  DLTensor dl = {memory, {kDLCPU, 0}, 2, FLOAT32_DL, shape, strides, 0};
  TvmsValue arg = {.p = &dl};
  int type = TVMS_DLTENSOR;
#define REFUSED tvms_arg_tensor("f", "x", &arg, &type, 0, 2, kDLFloat, 32, 1) == NULL
  CHECK(REFUSED);
  CHECK(last_error_is("f: argument 'x' must be compact and row-major, but has shape (2, 2) and "
                      "strides (1, 2)"));
  dl.strides = NULL;
  dl.byte_offset = 2;
  CHECK(REFUSED);
  CHECK(last_error_is("f: argument 'x' must begin at a multiple of 4 bytes"));
  dl.byte_offset = 0;
  dl.device.device_type = kDLCUDA;
  CHECK(REFUSED);
  CHECK(last_error_is("f: argument 'x' must be on the CPU, but is on cuda:0"));
  dl.device.device_type = kDLCPU;
  shape[0] = -2;
  CHECK(REFUSED);
  CHECK(last_error_is("f: argument 'x': dimension 0 of shape (-2, 2) is negative"));
  shape[0] = 2;
  dl.data = NULL;
  CHECK(REFUSED);
  CHECK(last_error_is("f: argument 'x' has no data"));
  shape[0] = 0;
  CHECK(!(REFUSED));
  arg.p = NULL;
  CHECK(REFUSED);
  arg.p = &dl;
  dl.data = memory;
  shape[0] = 1;
  dl.strides = strides;
  strides[0] = 99;
  strides[1] = 1;
  CHECK(!(REFUSED));
#undef REFUSED
}

TEST(runtime_check_shapes_and_values) {
  TvmsShape *s = NULL;
  tvms_shape_new(&s, 3, (int64_t[]){1, 2, 3});
  CHECK(tvms_check_shape("f", "argument 's'", s, 3) == 0 && tvms_shape_dim(s, 2) == 3);
  CHECK(tvms_check_shape("f", "argument 's'", s, 2) == -1);
  CHECK(last_error_is("f: argument 's' must be a shape of 2 dimensions, but is (1, 2, 3)"));
  TvmsValue value = {.p = s};
  int type = TVMS_SHAPE;
  CHECK(tvms_value_tensor(&value, &type, "f: the result of 'g'", 1, kDLFloat, 32, 1) == NULL);
  CHECK(last_error_is(
      "f: the result of 'g' must be a float32 tensor of 1 dimension, but is a shape"));
  tvms_release(s);
  CHECK(tvms_raise("ValueError", "n must be even") == -1 && last_error_is("n must be even"));
  CHECK(strcmp(tvms_last_error_kind(), "ValueError") == 0);
  tvms_set_error("f: %s", tvms_last_error()); /* what quotes an error is of its kind */
  CHECK(strcmp(tvms_last_error_kind(), "ValueError") == 0);
  tvms_set_error("another one");
  CHECK(strcmp(tvms_last_error_kind(), "RuntimeError") == 0);
}
