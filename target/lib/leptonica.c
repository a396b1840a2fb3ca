/* leptonica.c -- images out of the bytes of a file, by Leptonica.
 *
 * leptonica.decode(bytes, format): bytes is a vector of uint8 that holds a file of the kind BMP,
 * JPEG, JPEG 2000, PNG, PNM, TIFF or WebP; the result is a tensor (height, width, channels) of
 * uint8. The format is "RGB", "BGR", "Grayscale" (ITU-R 601), or "" for the channels that the image
 * has: 1 for gray, 3 for RGB, 4 for RGB and alpha. Palettes become colours, samples of 16 bits
 * bytes. */
#include "target/lib/shim_args.h"

typedef struct Pix Pix;

static Pix *(*pixReadMem)(const uint8_t *data, size_t size);
static Pix *(*pixConvertTo32)(Pix *);
static void (*pixDestroy)(Pix **);
static int32_t (*pixGetDimensions)(const Pix *, int32_t *width, int32_t *height, int32_t *depth);
static int32_t (*pixGetSpp)(const Pix *);
static int32_t (*pixGetInputFormat)(const Pix *);
static void *(*pixGetColormap)(Pix *);
static int32_t (*pixcmapHasColor)(void *map, int32_t *has);
static int32_t (*pixGetWpl)(const Pix *);
static uint32_t *(*pixGetData)(Pix *);
static int32_t (*setMsgSeverity)(int32_t);

/* Where the library keeps a pixel's samples in its word. */
enum { RED = 24, GREEN = 16, BLUE = 8, ALPHA = 0 };

/* What becomes of a pixel: the samples at these places of its word, or its brightness. */
typedef struct Format {
  const char *name;
  int channels;
  uint8_t places[4];
  bool is_brightness;
} Format;

static const Format formats[] = {{"RGB", 3, {RED, GREEN, BLUE}, false},
                                 {"BGR", 3, {BLUE, GREEN, RED}, false},
                                 {"Grayscale", 1, {0}, true}},
                    gray = {"", 1, {RED}, false}, color = {"", 3, {RED, GREEN, BLUE}, false},
                    color_and_alpha = {"", 4, {RED, GREEN, BLUE, ALPHA}, false};

static const Format *format_named(const char *name) {
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    if (strcmp(formats[i].name, name) == 0) return &formats[i];
  return NULL;
}

/* That of the image as it was read. */
static const Format *own_format(Pix *image, int32_t depth) {
  void *map = pixGetColormap(image);
  int32_t has_color = 0;
  if (map) pixcmapHasColor(map, &has_color);
  if (pixGetSpp(image) == 4) return &color_and_alpha;
  return depth > 16 || has_color ? &color : &gray;
}

static uint8_t sample(uint32_t pixel, int place) { return (uint8_t)(pixel >> place); }

/* ITU-R 601's weights of red, green and blue in 65536ths, to the nearest. */
static uint8_t brightness(uint32_t pixel) {
  return (uint8_t)((19595u * sample(pixel, RED) + 38470u * sample(pixel, GREEN) +
                    7471u * sample(pixel, BLUE) + (1u << 15)) >>
                   16);
}

static void write_row(const Format *f, const uint32_t *pixels, int32_t width, uint8_t *out) {
  for (int32_t x = 0; x < width; x++)
    for (int c = 0; c < f->channels; c++)
      *out++ = f->is_brightness ? brightness(pixels[x]) : sample(pixels[x], f->places[c]);
}

static int to_tensor(Pix *words, const Format *f, TvmsTensor **out) {
  int32_t width, height, depth;
  pixGetDimensions(words, &width, &height, &depth);
  int64_t shape[] = {height, width, f->channels};
  if (tvms_tensor_new(out, 3, shape, (DLDataType){kDLUInt, 8, 1})) return -1;
  uint8_t *at = tvms_tensor_data(*out);
  for (int32_t y = 0; y < height; y++, at += (size_t)width * (size_t)f->channels)
    write_row(f, pixGetData(words) + (size_t)y * (size_t)pixGetWpl(words), width, at);
  return 0;
}

/* The library takes the samples of these for something else. */
static const char *misread(const Pix *image, const DLTensor *bytes) {
  enum { BMP = 1, TIFF_FIRST = 4, TIFF_LAST = 10, GIF = 13, BMP_BITS = 28 };
  int32_t kind = pixGetInputFormat(image);
  if (kind == BMP) { /* other files may be shorter than its header */
    int bits = ((const uint8_t *)shim_data(bytes))[BMP_BITS];
    return bits == 16 || bits == 32 ? "BMP images of 16 or 32 bits a pixel" : NULL;
  }
  if (kind >= TIFF_FIRST && kind <= TIFF_LAST && pixGetSpp(image) == 4)
    return "TIFF images with alpha";
  if (kind == GIF) return "GIF images";
  return NULL;
}

static int convert(Pix *image, const Format *f, TvmsTensor **out) {
  int32_t depth;
  pixGetDimensions(image, NULL, NULL, &depth);
  Pix *words = pixConvertTo32(image);
  if (!words) return tvms_set_error("leptonica.decode: the image is too large for the memory");
  int status = to_tensor(words, f ? f : own_format(image, depth), out);
  pixDestroy(&words);
  return status;
}

static int decode(void *self, const TvmsValue *args, const int *types, int n, TvmsValue *ret,
                  int *ret_type) {
  (void)self;
  ShimArgs s = {"leptonica.decode", args, types, n};
  if (n != 2) return tvms_set_error("%s takes 2 arguments, %d given", s.function, n);
  const DLTensor *bytes = shim_tensor(&s, 0);
  if (!bytes) return -1;
  if (bytes->ndim != 1 || bytes->dtype.code != kDLUInt || bytes->dtype.bits != 8)
    return tvms_set_error("%s: an image is read from a vector of uint8", s.function);
  const char *name = shim_text(&s, 1);
  const Format *f = format_named(name);
  if (!f && *name)
    return tvms_set_error("%s: the format is 'RGB', 'BGR', 'Grayscale' or '', not '%s'", s.function,
                          name);
  Pix *image = pixReadMem(shim_data(bytes), (size_t)bytes->shape[0]);
  if (!image)
    return tvms_set_error("%s: the %lld bytes are no image of the kind BMP, JPEG, JPEG 2000, "
                          "PNG, PNM, TIFF or WebP, or a damaged one",
                          s.function, (long long)bytes->shape[0]);
  TvmsTensor *out = NULL;
  const char *what = misread(image, bytes);
  int status =
      what ? tvms_set_error("%s: %s are not supported", s.function, what) : convert(image, f, &out);
  pixDestroy(&image);
  ret->p = out;
  *ret_type = TVMS_TENSOR;
  return status;
}

/* What is wrong is told by the error: without Leptonica's own lines on the standard error
 * stream. */
static int be_quiet(void) {
  enum { SEVERITY_NONE = 6 };
  setMsgSeverity(SEVERITY_NONE);
  return 0;
}

static const TvmsShimSymbol symbols[] = {
    TVMS_SHIM_SYMBOL(pixReadMem),     TVMS_SHIM_SYMBOL(pixConvertTo32),
    TVMS_SHIM_SYMBOL(pixDestroy),     TVMS_SHIM_SYMBOL(pixGetDimensions),
    TVMS_SHIM_SYMBOL(pixGetSpp),      TVMS_SHIM_SYMBOL(pixGetInputFormat),
    TVMS_SHIM_SYMBOL(pixGetColormap), TVMS_SHIM_SYMBOL(pixcmapHasColor),
    TVMS_SHIM_SYMBOL(pixGetWpl),      TVMS_SHIM_SYMBOL(pixGetData),
    TVMS_SHIM_SYMBOL(setMsgSeverity), {NULL, NULL}};
static const TvmsShimFunction functions[] = {{"leptonica.decode", decode}, {NULL, NULL}};

SHIM_EXPORT = {TVMS_ABI_VERSION,
               "leptonica",
               "liblept.so.5 libleptonica.so.6",
               "Debian has it in the package liblept5",
               symbols,
               functions,
               be_quiet,
               0};
