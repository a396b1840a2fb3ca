/* ir_dtype.c -- dtypes: their names, what integers wrap to, what floats round to. */
#include "ir/ir.h"
#include "tests/unit/unit.h"
#include <math.h>
#include <stdlib.h>

static const struct {
  const char *text;
  DataType t;
} names[] = {
    {"int1", {DTYPE_INT, 1, 1}},
    {"int2", {DTYPE_INT, 2, 1}},
    {"int4", {DTYPE_INT, 4, 1}},
    {"int8", {DTYPE_INT, 8, 1}},
    {"int16", {DTYPE_INT, 16, 1}},
    {"int32", {DTYPE_INT, 32, 1}},
    {"int64", {DTYPE_INT, 64, 1}},
    {"uint2", {DTYPE_UINT, 2, 1}},
    {"uint4", {DTYPE_UINT, 4, 1}},
    {"uint8", {DTYPE_UINT, 8, 1}},
    {"uint16", {DTYPE_UINT, 16, 1}},
    {"uint32", {DTYPE_UINT, 32, 1}},
    {"uint64", {DTYPE_UINT, 64, 1}},
    {"float16", {DTYPE_FLOAT, 16, 1}},
    {"float32", {DTYPE_FLOAT, 32, 1}},
    {"float64", {DTYPE_FLOAT, 64, 1}},
    {"bfloat16", {DTYPE_BFLOAT, 16, 1}},
    {"bool", {DTYPE_BOOL, 8, 1}},
    {"handle", {DTYPE_HANDLE, 64, 1}},
    {"float8_e4m3fn", {DTYPE_FLOAT8_E4M3, 8, 1}},
    {"float8_e5m2", {DTYPE_FLOAT8_E5M2, 8, 1}},
};

static bool parses_to(const char *text, DataType t) {
  DataType out;
  return dtype_parse(text, &out) && dtype_equal(out, t);
}

TEST(dtype_names_are_read_and_written) {
  static const int lanes[] = {1, 2, 3, 4, 8, 16, 64, 1024, INT16_MAX};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    CHECK(str_same(dtype_text(names[i].t), names[i].text));
    for (size_t k = 0; k < sizeof lanes / sizeof *lanes; k++) {
      DataType t = dtype_with_lanes(names[i].t, lanes[k]);
      const char *text =
          lanes[k] == 1 ? names[i].text : str_format("%sx%d", names[i].text, lanes[k]);
      CHECK(str_same(dtype_text(t), text));
      CHECK(parses_to(text, t));
      t.lanes = (int16_t)-lanes[k];
      text = str_format("%sxvscalex%d", names[i].text, lanes[k]);
      CHECK(str_same(dtype_text(t), text));
      CHECK(parses_to(text, t));
    }
  }
  CHECK(str_same(dtype_text(VOID_TYPE), "void"));
  CHECK(parses_to("void", VOID_TYPE));
  CHECK(parses_to("", VOID_TYPE));
}

TEST(dtype_names_have_other_spellings) {
  CHECK(parses_to("e4m3_float8", DTYPE_OF(FLOAT8_E4M3, 8)));
  CHECK(parses_to("e5m2_float8x4", dtype_with_lanes(DTYPE_OF(FLOAT8_E5M2, 8), 4)));
  CHECK(parses_to("float8", DTYPE_OF(FLOAT8_E4M3, 8)));
  CHECK(parses_to("uint1", BOOL));
  CHECK(parses_to("uint1x4", dtype_with_lanes(BOOL, 4)));
  CHECK(parses_to("bf16", DTYPE_OF(BFLOAT, 16)));
  CHECK(parses_to("f32x8", dtype_with_lanes(FLOAT32, 8)));
  CHECK(parses_to("i64", INT64));
  CHECK(parses_to("u8x16", dtype_with_lanes(UINT8, 16)));
}

TEST(dtype_names_that_are_none_are_refused) {
  static const char *const bad[] = {
      "int3",
      "int0",
      "int 32",
      "int-8",
      "int+8",
      "int032",
      "int32 ",
      " int32",
      "Int32",
      "int32x",
      "int32x0",
      "int32x-4",
      "int32x+4",
      "int32x 4",
      "int32x4x4",
      "int32xx4",
      "int32x99999",
      "int32x4 ",
      "int32vscale",
      "int32xvscale",
      "int32xvscalex",
      "int32xvscalex0",
      "int32xvscalex4x2",
      "int128",
      "uint3",
      "float8x",
      "float15",
      "float128",
      "bfloat",
      "bfloat8",
      "bfloat32",
      "bool8",
      "boolx",
      "handle32",
      "handlex",
      "voidx",
      "float8_e4m2",
      "float8_e4m3fnu",
      "e4m3_float",
      "f",
      "f33",
      "i",
      "bf16y",
      "x4",
      "int32x99999999999999999999",
      "int9999999999999999999999",
      "\xff",
      "custom[x]",
      "custom[x]65",
      "custom[x32",
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    DataType t;
    bool read = dtype_parse(bad[i], &t);
    if (read) CHECK(str_same(bad[i], dtype_text(t)));
    CHECK(!read);
  }
}

TEST(dtype_dlpack_codes_go_and_come_back) {
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    DataType t = names[i].t;
    CHECK(dtype_equal(dtype_from_dlpack(dtype_dlpack_code(t), t.bits, t.lanes), t));
  }
  CHECK(dtype_dlpack_code(INT32) == 0 && dtype_dlpack_code(UINT8) == 1);
  CHECK(dtype_dlpack_code(FLOAT32) == 2 && dtype_dlpack_code(HANDLE) == 3);
  CHECK(dtype_dlpack_code(DTYPE_OF(BFLOAT, 16)) == 4 && dtype_dlpack_code(BOOL) == 6);
  CHECK(dtype_is_void(dtype_from_dlpack(99, 8, 1)));
}

TEST(dtype_sizes_round_up_to_bytes) {
  CHECK(dtype_nbytes(INT32) == 4 && dtype_nbytes(BOOL) == 1 && dtype_nbytes(HANDLE) == 8);
  CHECK(dtype_nbytes(VOID_TYPE) == 0);
  CHECK(dtype_nbytes(DTYPE_OF(INT, 4)) == 1 && dtype_nbytes(DTYPE_OF(INT, 1)) == 1);
  CHECK(dtype_nbytes(dtype_with_lanes(DTYPE_OF(INT, 4), 3)) == 2);
  CHECK(dtype_nbytes(dtype_with_lanes(FLOAT32, 4)) == 16);
  CHECK(dtype_nbytes(dtype_with_lanes(FLOAT64, INT16_MAX)) == 8 * INT16_MAX);
}

/* ---- integers ---- */

static int64_t wrap_reference(DataType t, int64_t v) {
  __int128 size = (__int128)1 << t.bits, x = v % size;
  if (x < 0) x += size;
  if (t.code == DTYPE_INT && x >= size / 2) x -= size;
  return (int64_t)(uint64_t)x;
}

TEST(dtype_integers_wrap_to_their_width) {
  static const int widths[] = {1, 2, 4, 8, 16, 32, 64};
  static const int64_t values[] = {0,         1,          -1,
                                   127,       128,        -128,
                                   -129,      255,        256,
                                   65535,     65536,      INT32_MAX,
                                   INT32_MIN, UINT32_MAX, (int64_t)UINT32_MAX + 1,
                                   INT64_MAX, INT64_MIN,  0x5a5a5a5a5a5a5a5a};
  for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
      for (int code = DTYPE_INT; code <= DTYPE_UINT; code++) {
        DataType t = {(uint8_t)code, (uint8_t)widths[w], 1};
        int64_t x = dtype_wrap_int(t, values[i]);
        CHECK(x == wrap_reference(t, values[i]));
        CHECK(dtype_wrap_int(t, x) == x);
        bool all64 = widths[w] == 64;
        CHECK(all64 || (x >= dtype_min_int(t) && x <= dtype_max_int(t)));
      }
  CHECK(dtype_wrap_int(BOOL, 256) == 1 && dtype_wrap_int(BOOL, -1) == 1 &&
        !dtype_wrap_int(BOOL, 0));
}

TEST(dtype_integers_have_ranges) {
  CHECK(dtype_min_int(INT32) == INT32_MIN && dtype_max_int(INT32) == INT32_MAX);
  CHECK(dtype_min_int(INT64) == INT64_MIN && dtype_max_int(INT64) == INT64_MAX);
  CHECK(dtype_min_int(UINT8) == 0 && dtype_max_int(UINT8) == 255);
  CHECK(dtype_max_int(DTYPE_OF(UINT, 32)) == UINT32_MAX);
  CHECK(dtype_max_int(DTYPE_OF(UINT, 64)) == INT64_MAX);
  CHECK(dtype_min_int(DTYPE_OF(INT, 1)) == -1 && dtype_max_int(DTYPE_OF(INT, 1)) == 0);
  CHECK(dtype_min_int(BOOL) == 0 && dtype_max_int(BOOL) == 1);
}

/* ---- floats of 8 and 16 bits ---- */

static const DataType small_floats[] = {{DTYPE_FLOAT, 16, 1},
                                        {DTYPE_BFLOAT, 16, 1},
                                        {DTYPE_FLOAT8_E4M3, 8, 1},
                                        {DTYPE_FLOAT8_E5M2, 8, 1}};
enum { SMALL_FLOATS = sizeof small_floats / sizeof *small_floats };

TEST(dtype_every_bit_pattern_of_a_small_float_comes_back) {
  for (int k = 0; k < SMALL_FLOATS; k++) {
    DataType t = small_floats[k];
    int faults = 0, nans = 0;
    for (uint32_t bits = 0; bits < 1u << t.bits; bits++) {
      double x = dtype_float_from_bits(t, bits);
      uint32_t back = dtype_float_to_bits(t, x);
      nans += isnan(x);
      if (isnan(x))
        faults += !isnan(dtype_float_from_bits(t, back)) || (back ^ bits) >> (t.bits - 1);
      else faults += back != bits || !(dtype_round_float(t, x) == x);
      faults += (bits >> (t.bits - 1)) != (signbit(x) != 0);
    }
    CHECK(faults == 0);
    int expected = t.code == DTYPE_FLOAT         ? 2 * 1023
                   : t.code == DTYPE_BFLOAT      ? 2 * 127
                   : t.code == DTYPE_FLOAT8_E4M3 ? 2
                                                 : 2 * 3;
    CHECK(nans == expected);
  }
}

TEST(dtype_float16_and_bfloat16_agree_with_the_machine) {
  int faults = 0;
  for (uint32_t bits = 0; bits < 65536; bits++) {
    uint16_t half_bits = (uint16_t)bits;
    _Float16 half;
    memcpy(&half, &half_bits, sizeof half);
    double x = dtype_float_from_bits(small_floats[0], bits);
    faults += !(isnan(x) ? isnan((double)half) : x == (double)half);
    uint32_t word = bits << 16;
    float f;
    memcpy(&f, &word, sizeof f);
    x = dtype_float_from_bits(small_floats[1], bits);
    faults += !(isnan(x) ? isnan(f) : x == (double)f);
  }
  CHECK(faults == 0);
}

/* The bits of the nearest number, ties to even, found by search among all of the dtype. */
static uint32_t nearest(DataType t, double value) {
  uint32_t sign = signbit(value) ? 1u << (t.bits - 1) : 0;
  double x = fabs(value);
  uint32_t lo = 0, hi = (1u << (t.bits - 1)) - 1; /* largest finite in the end */
  while (!isfinite(dtype_float_from_bits(t, hi))) hi--;
  uint32_t top = hi;
  while (hi - lo > 1) {
    uint32_t mid = (lo + hi) / 2;
    if (dtype_float_from_bits(t, mid) <= x) lo = mid;
    else hi = mid;
  }
  double below = dtype_float_from_bits(t, lo), above = dtype_float_from_bits(t, hi);
  if (x >= above) {
    /* Beyond the largest: half of a step more rounds to it, if it is even. */
    double half = (above - below) / 2;
    bool over = top & 1 ? x >= above + half : x > above + half;
    bool nan = t.code == DTYPE_FLOAT8_E4M3;
    return sign | (over ? nan ? top + 1 : t.code == DTYPE_FLOAT8_E5M2 ? 0x7c : top + 1 : top);
  }
  double to_lo = x - below, to_hi = above - x;
  bool down = to_lo < to_hi || (!(to_lo > to_hi) && !(lo & 1));
  return sign | (down ? lo : hi);
}

static uint64_t seed = 1;
static uint64_t random_bits(void) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return seed ^ seed >> 29;
}

static double random_double(void) {
  uint64_t bits = random_bits();
  double x;
  memcpy(&x, &bits, sizeof x);
  if (random_bits() % 4 == 0) return x;
  int exponent = (int)(random_bits() % 60) - 35; /* where small floats live */
  return ldexp(1 + (double)(bits >> 12) * 0x1p-52, exponent) * (bits & 1 ? -1 : 1);
}

/* A number of the dtype, or a little beside it, or half way between two. */
static double random_near(DataType t) {
  double x = dtype_float_from_bits(t, (uint32_t)(random_bits() % (1u << t.bits)));
  uint32_t bits = dtype_float_to_bits(t, x);
  double next = dtype_float_from_bits(t, bits + 1);
  if (random_bits() & 1 && isfinite(next)) x = (x + next) / 2;
  switch (random_bits() % 3) {
  case 0: return x;
  case 1: return nextafter(x, INFINITY);
  default: return nextafter(x, -INFINITY);
  }
}

TEST(dtype_floats_round_to_nearest_even_once) {
  for (int k = 0; k < SMALL_FLOATS; k++) {
    int faults = 0;
    for (int i = 0; i < 200000; i++) {
      double x = i & 1 ? random_near(small_floats[k]) : random_double();
      if (isnan(x) || isinf(x)) continue;
      faults += dtype_float_to_bits(small_floats[k], x) != nearest(small_floats[k], x);
    }
    CHECK(faults == 0);
  }
}

TEST(dtype_float16_rounds_as_the_machine_does) {
  int faults = 0;
  for (int i = 0; i < 300000; i++) {
    double x = i & 1 ? random_near(small_floats[0]) : random_double();
    double machine = (double)(_Float16)x, ours = dtype_round_float(small_floats[0], x);
    faults +=
        isnan(machine) ? !isnan(ours) : !(ours == machine && !signbit(ours) == !signbit(machine));
  }
  CHECK(faults == 0);
}

TEST(dtype_floats_overflow_and_keep_the_sign_of_zero) {
  for (int k = 0; k < SMALL_FLOATS; k++) {
    DataType t = small_floats[k];
    bool has_infinity = t.code != DTYPE_FLOAT8_E4M3;
    for (int i = 0; i < 2; i++) {
      double sign = i ? -1 : 1;
      static const double large[] = {1e39, 1e300, INFINITY};
      for (size_t j = 0; j < sizeof large / sizeof *large; j++) {
        double x = dtype_round_float(t, sign * large[j]);
        CHECK(has_infinity ? isinf(x) && (x < 0) == (i == 1) : isnan(x));
      }
      CHECK(isnan(dtype_round_float(t, sign * NAN)));
      CHECK((signbit(dtype_round_float(t, sign * 0.0)) != 0) == (i == 1));
      CHECK((signbit(dtype_round_float(t, sign * 5e-324)) != 0) == (i == 1));
      CHECK(dtype_round_float(t, sign * 5e-324) == 0);
    }
  }
  CHECK(dtype_round_float(small_floats[0], 65519.999) == 65504 &&
        isinf(dtype_round_float(small_floats[0], 65520)));
  CHECK(dtype_round_float(small_floats[2], 464) == 448 &&
        isnan(dtype_round_float(small_floats[2], 464.01)));
  CHECK(dtype_round_float(small_floats[3], 61439) == 57344 &&
        isinf(dtype_round_float(small_floats[3], 61440)));
  CHECK(isinf(dtype_round_float(FLOAT32, 1e39)) && dtype_round_float(FLOAT32, 0.1) == (double)0.1f);
  CHECK(dtype_round_float(FLOAT64, 0.1) == 0.1);
}
