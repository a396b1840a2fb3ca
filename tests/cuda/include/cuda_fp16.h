/* cuda_fp16.h -- what CUDA C++ made by tvms uses of CUDA's header of this name; see declarations.h. */
#ifndef CUDA_FP16_H
#define CUDA_FP16_H

struct __half {
  unsigned short bits;
};

__device__ float __half2float(__half);
__device__ __half __float2half_rn(float);
__device__ __half __ushort_as_half(unsigned short);
__device__ unsigned short __half_as_ushort(__half);

#endif
