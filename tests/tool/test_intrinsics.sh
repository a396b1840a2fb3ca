#!/bin/sh
# test_intrinsics.sh -- tensor intrinsics in the code of processors that have them, and micro-kernels in C.
. "$(dirname "$0")/expect.sh"

# product GROUP LANES A B OUT INTRINSIC: prints a module with one dot product, tensorized
product() {
  cat >make.tvms <<T
from tvm import tir

@T.prim_func
def f(A: T.Buffer((3, $1), "$3"), B: T.Buffer(($2, $1), "$4"), C: T.Buffer((3, $2), "$5")):
    for i, j, k in T.grid(3, $2, $1):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            C[vi, vj] = C[vi, vj] + T.Cast("$5", A[vi, vk]) * T.Cast("$5", B[vj, vk])

sch = tir.Schedule(f)
sch.tensorize(sch.get_loops("C")[1], "$6")
print(sch.mod)
T
  "$tvms" make.tvms >"$6.tvms" || fail "$6: no module"
}

# code NAME INSTRUCTION TARGET: what the intrinsic becomes
code() {
  expect 0 '' "$tvms" build "$1.tvms" --target "llvm $3" -o out.s
  grep -q "[[:space:]]$2[[:space:]]" out.s || fail "$1: no instruction $2"
}

arm=-mtriple=aarch64-linux-gnu
x86=-mtriple=x86_64-linux-gnu
product 4 4 int8 int8 int32 dot_4x4_i8i8s32_sdot
product 4 4 uint8 uint8 uint32 dot_4x4_u8u8u32_udot
product 4 4 uint8 uint8 int32 dot_4x4_u8u8i32_hdot
product 4 4 int8 int8 int32 dot_4x4_i8i8s32_neon
code dot_4x4_i8i8s32_sdot sdot "$arm -mattr=+dotprod"
code dot_4x4_i8i8s32_sdot sdot "$arm -mcpu=cortex-a76"
code dot_4x4_u8u8u32_udot udot "$arm -mattr=+dotprod"
code dot_4x4_u8u8i32_hdot udot "$arm -mattr=+dotprod"
code dot_4x4_i8i8s32_neon 's*mull*2*' "$arm"
product 4 16 uint8 int8 int32 dot_16x4_vnni
product 4 8 uint8 int8 int32 dot_8x4_vnni
product 2 8 int16 int16 int32 dot_8x2_i16i16i32_avx2
product 2 16 int16 int16 int32 dot_16x2_i16i16i32_avx512
code dot_16x4_vnni vpdpbusd "$x86 -mcpu=icelake-server"
code dot_8x4_vnni vpdpbusd "$x86 -mcpu=alderlake"
code dot_8x2_i16i16i32_avx2 vpmaddwd "$x86 -mcpu=haswell"
code dot_16x2_i16i16i32_avx512 vpmaddwd "$x86 -mcpu=skylake-avx512"

# a processor that has no such instruction
expect 1 "needs a processor with dotprod" "$tvms" build dot_4x4_i8i8s32_sdot.tvms --target "llvm $arm" -o out.s
also 'by -mattr=+dotprod'
expect 1 "'llvm.aarch64.neon.sdot.v4i32.v16i8' is of processors of aarch64" "$tvms" build dot_4x4_i8i8s32_sdot.tvms --target "llvm $x86 -mcpu=x86-64" -o out.s
expect 1 "needs a processor with avx512vnni or avxvnni" "$tvms" build dot_16x4_vnni.tvms --target "llvm $x86 -mcpu=haswell" -o out.s

# a micro-kernel in C, with rows apart
cat >kernel.c <<'C'
void kernel_4x8x3(float *c, const float *a, const float *b, int sc, int sa, int sb) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 8; j++)
      for (int k = 0; k < 3; k++) c[i * sc + j] += a[i * sa + k] * b[k * sb + j];
}
C
cc -shared -fPIC -O1 -o kernel.so kernel.c || fail 'no kernel.so'
cat >kernel.tvms <<'T'
import numpy as np
import tvm
from tvm import tir
from tvm.tir.tensor_intrin import micro_kernel

@T.prim_func
def mm(A: T.Buffer((8, 9), "float32"), B: T.Buffer((9, 16), "float32"), C: T.Buffer((8, 16), "float32")):
    for i, j, k in T.grid(8, 16, 9):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0.0
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

sch = tir.Schedule(mm)
i, j, k = sch.get_loops("C")
(i0, i1), (j0, j1), (k0, k1) = [sch.split(l, [None, n]) for l, n in ((i, 4), (j, 8), (k, 3))]
sch.reorder(i0, j0, k0, i1, j1, k1)
sch.decompose_reduction("C", k0)
sch.tensorize(i1, micro_kernel("kernel_4x8x3", 4, 8, 3))
a, b = np.random.randn(8, 9).astype("float32"), np.random.randn(9, 16).astype("float32")
for target in ["interp", "llvm"]:
    c = np.zeros((8, 16), "float32")
    tvm.build(sch.mod, target)(a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-4)
print("both agree")
T
expect 0 'both agree' env LD_PRELOAD="$work/kernel.so" "$tvms" kernel.tvms
exit $bad
