/* runtime_device.c -- unit tests of the runtime's devices; without a driver, of what it says then.
 */
#include "target/runtime/abi.h"
#include "tests/unit/unit.h"
#include <string.h>

static const DLDataType float32 = {kDLFloat, 32, 1};
static const DLDevice opencl = {kDLOpenCL, 0}, cpu = {kDLCPU, 0};

static bool has_device(void) { return tvms_device_count(kDLOpenCL) > 0; }

TEST(device_names_and_back) {
  DLDevice d;
  char text[32];
  CHECK(tvms_device_parse("opencl:3", &d) == 0 && d.device_type == kDLOpenCL && d.device_id == 3);
  tvms_device_text(d, text, sizeof text);
  CHECK(strcmp(text, "opencl:3") == 0);
  CHECK(tvms_device_parse("cpu", &d) == 0 && d.device_type == kDLCPU);
  const char *const wrong[] = {"", "gpu", "opencl:", "opencl:x", "opencl:-1", "opencl:1:2"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    CHECK(tvms_device_parse(wrong[i], &d) == -1);
  CHECK(strstr(tvms_last_error(), "there is no device 'opencl:1:2'"));
}

TEST(device_that_is_not_there_is_an_error) {
  TvmsTensor *t = NULL;
  int64_t shape[] = {4};
  CHECK(tvms_tensor_new_on(&t, (DLDevice){kDLOpenCL, 900}, 1, shape, float32) == -1);
  CHECK(strstr(tvms_last_error(), has_device() ? "there is no opencl:900" : "OpenCL"));
  CHECK(tvms_tensor_new_on(&t, (DLDevice){(DLDeviceType)7, 0}, 1, shape, float32) == -1);
  CHECK(strstr(tvms_last_error(), "no devices of type 7"));
  CHECK(tvms_device_sync(cpu) == 0);
}

TEST(device_tensors_hold_bytes) {
  TvmsTensor *there = NULL, *copy = NULL, *back = NULL;
  int64_t shape[] = {4};
  const float values[] = {1, 2, 3, 4};
  if (!has_device()) return;
  CHECK(tvms_tensor_new_on(&there, opencl, 1, shape, float32) == 0);
  CHECK(tvms_tensor_set_bytes(there, values, sizeof values) == 0);
  CHECK(tvms_tensor_copy(&copy, there) == 0);
  CHECK(tvms_tensor_dl(copy)->device.device_type == kDLOpenCL);
  /* arithmetic on addresses: the last two elements over the first two */
  char *at = tvms_tensor_data(copy);
  CHECK(tvms_device_copy(at, at + 8, 8) == 0);
  CHECK(tvms_device_fill(at + 12, 0, 4) == 0);
  CHECK(tvms_tensor_copy_to(&back, copy, cpu) == 0);
  const float *found = tvms_tensor_data(back);
  CHECK(found[0] == 3 && found[1] == 4 && found[2] == 3 && found[3] == 0);
  CHECK(tvms_tensor_get_bytes(there, (float[2]){0}, 8) == -1);
  DLManagedTensor *managed = NULL;
  CHECK(tvms_tensor_to_dlpack(&managed, there) == -1);
  CHECK(strstr(tvms_last_error(), "copy it to the CPU first"));
  tvms_release(there);
  tvms_release(copy);
  tvms_release(back);
}

TEST(device_memory_is_given_again) {
  TvmsTensor *t = NULL;
  int64_t shape[] = {1000};
  if (!has_device()) return;
  CHECK(tvms_tensor_new_on(&t, opencl, 1, shape, float32) == 0);
  void *first = tvms_tensor_data(t);
  tvms_release(t);
  CHECK(tvms_tensor_new_on(&t, opencl, 1, shape, float32) == 0);
  CHECK(tvms_tensor_data(t) == first);
  tvms_release(t);
}

TEST(device_launch_says_what_lies_elsewhere) {
  int64_t on_cpu = 0, values[] = {(int64_t)(intptr_t)&on_cpu}, dims[] = {1, 1, 1, 1, 1, 1};
  int32_t sizes[] = {0};
  char source[] = "__kernel void f(__global char *a, long b) {}", name[] = "f";
  if (!has_device()) return;
  CHECK(tvms_device_launch(kDLOpenCL, 0, source, name, 1, values, sizes, dims) == -1);
  CHECK(strstr(tvms_last_error(), "kernel f: argument 1 lies on the CPU, not on opencl:0"));
  dims[0] = 0; /* no thread: nothing to do */
  CHECK(tvms_device_launch(kDLOpenCL, 0, source, name, 1, values, sizes, dims) == 0);
  char wrong[] = "__kernel void g(", other[] = "g";
  dims[0] = 1;
  CHECK(tvms_device_launch(kDLOpenCL, 0, wrong, other, 0, values, sizes, dims) == -1);
  CHECK(strstr(tvms_last_error(), "can't compile the module"));
}

/* An empty constant may have the address of another. */
TEST(device_constants_are_told_apart_by_size) {
  static const int64_t value = 42;
  int64_t found = 0;
  if (!has_device()) return;
  void *empty = tvms_device_constant(kDLOpenCL, 0, (void *)(intptr_t)&value, 0);
  void *whole = tvms_device_constant(kDLOpenCL, 0, (void *)(intptr_t)&value, sizeof value);
  CHECK(empty && whole && empty != whole);
  CHECK(tvms_device_constant(kDLOpenCL, 0, (void *)(intptr_t)&value, sizeof value) == whole);
  CHECK(tvms_device_copy(&found, whole, sizeof found) == 0 && found == 42);
}
