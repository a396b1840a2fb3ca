/* png.c -- the module _png, on which stdlib/module/PIL/Image.tvms stands: images of the PNG format
 * by libpng's simplified interface; loaded when the first is read or written.
 *
 * Samples are bytes, row by row from the top, the channels of a pixel side by side: gray, gray and
 * alpha, RGB, or RGB and alpha. */
#include "lang/builtin/builtin.h"
#include "lang/builtin/library.h"

/* png_image of png.h, version 1 of the interface. */
typedef struct PngImage {
  void *opaque;
  uint32_t version, width, height, format, flags, colormap_entries, warning_or_error;
  char message[64];
} PngImage;

enum { FORMAT_ALPHA = 1, FORMAT_COLOR = 2, FORMAT_CHANNELS = FORMAT_ALPHA | FORMAT_COLOR };

static int (*begin_read)(PngImage *, const void *, size_t);
static int (*finish_read)(PngImage *, const void *, void *, int32_t, void *);
static int (*write_to_memory)(PngImage *, void *, size_t *, int, const void *, int32_t,
                              const void *);
static void (*image_free)(PngImage *);

static void load(Span span) {
  static const LibraryFunction functions[] = {{"png_image_begin_read_from_memory", &begin_read},
                                              {"png_image_finish_read", &finish_read},
                                              {"png_image_write_to_memory", &write_to_memory},
                                              {"png_image_free", &image_free}};
  static Library png = {.user = "PIL",
                        .file = "libpng16.so.16",
                        .package = "libpng16-16",
                        .functions = functions,
                        .n = sizeof functions / sizeof *functions};
  library_load(&png, span);
}

/* Lets go of what the library holds, then raises. */
static _Noreturn void refuse(PngImage *image, Span span, const char *doing) {
  const char *message = str_copy_n(image->message, strnlen(image->message, sizeof image->message));
  image_free(image);
  raise("ValueError", span, "%s: %s", doing, message);
}

static int channels_of(const PngImage *image) { return (int)(image->format & FORMAT_CHANNELS) + 1; }

/* decode(data): (width, height, channels, samples). */
static Value decode(BuiltinCall *c) {
  enum { SAMPLES_MAX = 1 << 30 };
  const StrObject *data = value_as_bytes(c->args[0], c->spans[0]);
  load(c->span);
  PngImage image = {.version = 1};
  if (!begin_read(&image, data->text, data->len)) refuse(&image, c->span, "not a PNG image");
  image.format &= FORMAT_CHANNELS; /* palettes and samples of 16 bits become bytes */
  uint64_t row = (uint64_t)image.width * (uint64_t)channels_of(&image);
  if (row > SAMPLES_MAX / (image.height ? image.height : 1)) {
    image_free(&image);
    raise("ValueError", c->span, "an image of %u x %u pixels is too large", image.width,
          image.height);
  }
  uint64_t size = row * image.height;
  char *samples = NEW_BYTES(size + 1);
  if (!finish_read(&image, NULL, samples, 0, NULL))
    refuse(&image, c->span, "the PNG image is damaged");
  return value_tuple_of(4, value_int(image.width), value_int(image.height),
                        value_int(channels_of(&image)), value_bytes(samples, size));
}

/* encode(width, height, channels, samples): the bytes of a PNG file. */
static Value encode(BuiltinCall *c) {
  enum { SIDE_MAX = 1 << 16 };
  int64_t width = value_as_int(c->args[0], "the width", c->spans[0]);
  int64_t height = value_as_int(c->args[1], "the height", c->spans[1]);
  int64_t channels = value_as_int(c->args[2], "the number of channels", c->spans[2]);
  const StrObject *samples = value_as_bytes(c->args[3], c->spans[3]);
  if (width < 1 || width > SIDE_MAX || height < 1 || height > SIDE_MAX)
    raise("ValueError", c->span, "a PNG image has sides of 1 to %d pixels", SIDE_MAX);
  if (channels < 1 || channels > 4)
    raise("ValueError", c->spans[2], "a PNG image has 1 to 4 channels");
  if ((int64_t)samples->len != width * height * channels)
    raise("ValueError", c->spans[3], "%zu samples don't fill %lld x %lld pixels of %lld channels",
          samples->len, (long long)width, (long long)height, (long long)channels);
  load(c->span);
  PngImage image = {.version = 1,
                    .width = (uint32_t)width,
                    .height = (uint32_t)height,
                    .format = (uint32_t)(channels - 1)};
  size_t size = 0;
  if (!write_to_memory(&image, NULL, &size, 0, samples->text, 0, NULL))
    refuse(&image, c->span, "can't write the PNG image");
  char *data = NEW_BYTES(size + 1);
  if (!write_to_memory(&image, data, &size, 0, samples->text, 0, NULL))
    refuse(&image, c->span, "can't write the PNG image");
  return value_bytes(data, size);
}

static const Builtin rows[] = {
    {"decode", "data, /", decode, "(width, height, channels, samples) of a PNG file's bytes"},
    {"encode", "width, height, channels, samples, /", encode, "the bytes of a PNG file"},
};

Value png_load(void) {
  Value ns = value_namespace("_png");
  namespace_add_builtins(ns, rows, sizeof rows / sizeof *rows);
  return ns;
}
