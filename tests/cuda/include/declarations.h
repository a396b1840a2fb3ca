/* declarations.h -- what CUDA C++ made by tvms uses of CUDA, so that clang checks a text where CUDA is not installed:
 *   clang -x cuda --cuda-device-only -nocudainc -nocudalib -D__CUDACC_RTC__ -fsyntax-only -Itests/cuda/include -include declarations.h FILE.cu */
#ifndef DECLARATIONS_H
#define DECLARATIONS_H

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(n) __attribute__((launch_bounds(n)))
#define __align__(n) __attribute__((aligned(n)))

struct Coordinates {
  unsigned x, y, z;
};
extern const __device__ Coordinates threadIdx, blockIdx;

#define VECTORS(T, name)                                                                                                       \
  struct __align__(2 * sizeof(T)) name##2 { T x, y; };                                                                         \
  struct __align__(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) name##4 { T x, y, z, w; };                                         \
  __device__ name##2 make_##name##2(T x, T y);                                                                                 \
  __device__ name##4 make_##name##4(T x, T y, T z, T w);
VECTORS(signed char, char)
VECTORS(unsigned char, uchar)
VECTORS(short, short)
VECTORS(unsigned short, ushort)
VECTORS(int, int)
VECTORS(unsigned, uint)
VECTORS(long long, longlong)
VECTORS(unsigned long long, ulonglong)
VECTORS(float, float)
VECTORS(double, double)
#undef VECTORS

__device__ void __syncthreads();
__device__ void __syncwarp(unsigned mask = ~0u);
__device__ unsigned __activemask();
__device__ int __popcll(unsigned long long);
__device__ int __clzll(long long);
__device__ int __float_as_int(float);
__device__ unsigned __float_as_uint(float);
__device__ float __int_as_float(int);
__device__ float __uint_as_float(unsigned);
__device__ long long __double_as_longlong(double);
__device__ double __longlong_as_double(long long);
__device__ unsigned long __cvta_generic_to_shared(const void *);
__device__ unsigned long __cvta_generic_to_global(const void *);

#define SHUFFLES(T)                                                                                                            \
  __device__ T __shfl_sync(unsigned mask, T value, int lane, int width);                                                       \
  __device__ T __shfl_up_sync(unsigned mask, T value, unsigned by, int width);                                                 \
  __device__ T __shfl_down_sync(unsigned mask, T value, unsigned by, int width);                                               \
  __device__ T __shfl_xor_sync(unsigned mask, T value, int bits, int width);
SHUFFLES(int)
SHUFFLES(unsigned)
SHUFFLES(long)
SHUFFLES(unsigned long)
SHUFFLES(long long)
SHUFFLES(unsigned long long)
SHUFFLES(float)
SHUFFLES(double)

#define ATOMICS(T)                                                                                                             \
  __device__ T atomicAnd(T *, T);                                                                                              \
  __device__ T atomicOr(T *, T);                                                                                               \
  __device__ T atomicXor(T *, T);                                                                                              \
  __device__ T atomicExch(T *, T);                                                                                             \
  __device__ T atomicMax(T *, T);                                                                                              \
  __device__ T atomicMin(T *, T);                                                                                              \
  __device__ T atomicCAS(T *, T, T);                                                                                           \
  __device__ T atomicAdd(T *, T);
ATOMICS(unsigned)
ATOMICS(unsigned long long)
__device__ int atomicMax(int *, int);
__device__ int atomicMin(int *, int);
__device__ long long atomicMax(long long *, long long);
__device__ long long atomicMin(long long *, long long);
__device__ float atomicAdd(float *, float);
__device__ double atomicAdd(double *, double);

#define FUNCTION(name)                                                                                                         \
  extern "C" __device__ double name(double);                                                                                   \
  extern "C" __device__ float name##f(float);
#define FUNCTION2(name)                                                                                                        \
  extern "C" __device__ double name(double, double);                                                                           \
  extern "C" __device__ float name##f(float, float);
FUNCTION(exp) FUNCTION(exp2) FUNCTION(log) FUNCTION(log2) FUNCTION(log10) FUNCTION(log1p) FUNCTION(sqrt) FUNCTION(sin)
FUNCTION(cos) FUNCTION(tan) FUNCTION(asin) FUNCTION(acos) FUNCTION(atan) FUNCTION(sinh) FUNCTION(cosh) FUNCTION(tanh)
FUNCTION(asinh) FUNCTION(acosh) FUNCTION(atanh) FUNCTION(erf) FUNCTION(fabs) FUNCTION(floor) FUNCTION(ceil) FUNCTION(trunc)
FUNCTION(nearbyint) FUNCTION2(atan2) FUNCTION2(hypot) FUNCTION2(copysign) FUNCTION2(pow) FUNCTION2(fmod) FUNCTION2(fmax)
FUNCTION2(fmin) FUNCTION2(nextafter)
extern "C" __device__ double fma(double, double, double);
extern "C" __device__ float fmaf(float, float, float);
extern "C" __device__ double ldexp(double, int);
extern "C" __device__ float ldexpf(float, int);

#endif
