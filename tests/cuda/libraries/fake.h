/* fake.h -- what the stand-ins of CUDA's libraries share: numbers in memory of fake_libcuda.c, and
 * a log. FAKE_CUDA_LOG=FILE gets a line for each call, FAKE_CUDA_FAIL=NAME:STATUS makes one fail.
 */
#include "../../fake_log.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AWAY          ((uint64_t)1 << 56) /* as in fake_libcuda.c */
#define note(...)     fake_note("FAKE_CUDA_LOG", __VA_ARGS__)
#define planned(name) fake_planned("FAKE_CUDA_FAIL", name)

typedef enum { FLOAT, DOUBLE, HALF, BFLOAT } Dtype;

static inline void *bytes_at(const void *address) {
  return (void *)(uintptr_t)((uint64_t)(uintptr_t)address - AWAY);
}

static inline double number_at(Dtype t, const void *address, int64_t i) {
  const void *at = bytes_at(address);
  uint32_t bits = 0;
  float f;
  switch (t) {
  case FLOAT: return ((const float *)at)[i];
  case DOUBLE: return ((const double *)at)[i];
  case HALF: return (double)((const _Float16 *)at)[i];
  default: bits = (uint32_t)((const uint16_t *)at)[i] << 16; break;
  }
  memcpy(&f, &bits, sizeof f);
  return f;
}

static inline void set_number(Dtype t, void *address, int64_t i, double x) {
  void *at = bytes_at(address);
  float f = (float)x;
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  switch (t) {
  case FLOAT: ((float *)at)[i] = f; break;
  case DOUBLE: ((double *)at)[i] = x; break;
  case HALF: ((_Float16 *)at)[i] = (_Float16)f; break;
  default: ((uint16_t *)at)[i] = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16); break;
  }
}
