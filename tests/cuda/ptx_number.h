/* ptx_number.h -- elements of matrices by the names that PTX has for them: s8, u8, s32, f16, bf16, tf32,
 * f32, f64. */
#ifndef TESTS_CUDA_PTX_NUMBER_H
#define TESTS_CUDA_PTX_NUMBER_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline int number_bits(const char *type) { return atoi(strpbrk(type, "0123456789")); }
static inline int number_bytes(const char *type) { return number_bits(type) / 8; }

/* Of what lies in the low bits; of tf32 those that tensor cores take. */
static inline double number_of(uint64_t bits, const char *type) {
  uint32_t word = (uint32_t)bits;
  uint16_t half = (uint16_t)bits;
  _Float16 h;
  float f;
  double d;
  if (!strcmp(type, "s8")) return (int8_t)bits;
  if (!strcmp(type, "u8")) return (uint8_t)bits;
  if (!strcmp(type, "s32")) return (int32_t)bits;
  if (!strcmp(type, "f64")) return memcpy(&d, &bits, 8), d;
  if (!strcmp(type, "f16")) return memcpy(&h, &half, 2), (double)h;
  if (!strcmp(type, "bf16")) word <<= 16;
  if (!strcmp(type, "tf32")) word &= 0xffffe000u;
  return memcpy(&f, &word, 4), (double)f;
}

#endif
