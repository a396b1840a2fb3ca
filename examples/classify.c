/* classify.c -- reads a handwritten digit in a PPM image with a compiled network.
 *
 *   tvms build examples/digits/digits.onnx -o digits.so
 *   cc -Itarget/runtime -o classify examples/classify.c libtvms_runtime.a -rdynamic -lpthread -ldl
 *   ./classify digits.so examples/digits/three.ppm
 *
 * The network takes float32 (batch, 1, 8, 8), ink is 1, and gives float32 (batch, 10): how likely
 * each digit is. The image is binary PPM (P6) of one byte a value; its pixels are averaged over the
 * 8 x 8 fields of a grid. */
#include "tvms.h"
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 8, DIGITS = 10, PIXELS_MAX = 4096 };

static int report(const char *doing) {
  fprintf(stderr, "classify: %s: %s\n", doing, tvms_last_error());
  return 1;
}

/* Adds the gray values of the image to the fields that they lie in. False: no such image. */
static int read_fields(FILE *f, float sums[SIDE * SIDE], int counts[SIDE * SIDE]) {
  int width, height, most;
  if (fscanf(f, "P6 %d %d %d", &width, &height, &most) != 3 || most != 255) return 0;
  if (width < SIDE || height < SIDE || width > PIXELS_MAX || height > PIXELS_MAX) return 0;
  if (fgetc(f) == EOF) return 0;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      unsigned char rgb[3];
      if (fread(rgb, 1, 3, f) != 3) return 0;
      int field = y * SIDE / height * SIDE + x * SIDE / width;
      sums[field] += 0.299f * rgb[0] + 0.587f * rgb[1] + 0.114f * rgb[2];
      counts[field]++;
    }
  return 1;
}

/* The image as the network's input; NULL with a message. */
static TvmsTensor *read_image(const char *path) {
  float sums[SIDE * SIDE] = {0};
  int counts[SIDE * SIDE] = {0};
  FILE *f = fopen(path, "rb");
  int good = f && read_fields(f, sums, counts);
  if (f) fclose(f);
  if (!good) {
    fprintf(stderr, "classify: %s: expected a binary PPM image of %d to %d pixels a side\n", path,
            SIDE, PIXELS_MAX);
    return NULL;
  }
  TvmsTensor *t = NULL;
  const int64_t shape[] = {1, 1, SIDE, SIDE};
  if (tvms_tensor_new(&t, 4, shape, (DLDataType){kDLFloat, 32, 1})) {
    report("making the input");
    return NULL;
  }
  float *data = tvms_tensor_data(t);
  for (int i = 0; i < SIDE * SIDE; i++) data[i] = sums[i] / (float)counts[i] / 255.0f;
  return t;
}

static int print_likeliest(int type, TvmsValue result) {
  if (type != TVMS_TENSOR || tvms_tensor_size(result.p) != DIGITS) {
    fprintf(stderr, "classify: the network does not give %d values\n", DIGITS);
    return 1;
  }
  const float *p = tvms_tensor_data(result.p);
  int best = 0;
  for (int k = 1; k < DIGITS; k++)
    if (p[k] > p[best]) best = k;
  printf("%d  %.4f\n", best, (double)p[best]);
  return 0;
}

static int classify(TvmsFunc *network, TvmsTensor *image) {
  const TvmsValue arg = {.p = image};
  const int type = TVMS_TENSOR;
  TvmsValue result;
  int result_type;
  if (tvms_func_call(network, &arg, &type, 1, &result, &result_type))
    return report("running the network");
  int status = print_likeliest(result_type, result);
  tvms_value_release(result_type, result);
  return status;
}

int main(int argc, char **argv) {
  TvmsModule *module = NULL;
  TvmsFunc *network = NULL;
  if (argc != 3) {
    fprintf(stderr, "usage: classify NETWORK.so IMAGE.ppm\n");
    return 2;
  }
  if (tvms_module_load(&module, argv[1])) return report("loading the network");
  int status = tvms_module_function(&network, module, "main");
  tvms_release(module); /* the function keeps it alive */
  if (status) return report("looking for main");
  TvmsTensor *image = read_image(argv[2]);
  status = image ? classify(network, image) : 1;
  tvms_release(image);
  tvms_release(network);
  return status;
}
