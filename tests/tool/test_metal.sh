#!/bin/sh
# test_metal.sh -- `--emit metal`: what is written; that clang takes it as C++ for OpenCL, which has the same address spaces, with no
# more functions than MSL has (tests/metal/include); and what the runtime tells Metal, by a stand-in for it (tests/metal/fake_metal.c).
. "$(dirname "$0")/expect.sh"
source=$tests/../..

write_net
expect 0 '' "$tvms" build net.tvms -o net.metal
cp net.metal out
also '#include <metal_stdlib>' '[[max_total_threads_per_threadgroup(128)]] kernel void matmul_kernel(' 'threadgroup_barrier('
expect 0 '' "$tvms" build net.tvms --target metal -o net.so
expect 0 'target    metal' "$tvms" inspect net.so
expect 1 'the opencl target writes no MSL: use --target metal' "$tvms" build net.tvms --target opencl --emit metal

# ---- clang ----
cp "$source"/tests/target/webgpu.tvms "$source"/tests/target/metal.tvms "$source"/tests/target/device_vectors.tvms .
cat >write.tvms <<'T'
import device_vectors
import metal
import webgpu
import tvm
names = ["scale", "number", "bytes_of", "reverse", "wide", "narrow", "specials"]
for f in [getattr(webgpu, name) for name in names] + [metal.functions]:
    with open(f.attrs["global_symbol"] + ".metal", "w") as file:
        file.write(tvm.build(f, "metal").get_source())
for i, f in enumerate(device_vectors.kernels()):
    with open(f"vectors{i}.metal", "w") as file:
        file.write(tvm.build(f, "metal").get_source())
T
expect 0 '' "$tvms" run write.tvms
mkdir ops
expect 0 '0 failed' env OP_DEVICE_CODE="$work/ops" OP_DEVICE_FORM=metal OP_DEVICE_TARGET=metal OP_TARGETS=metal "$tvms" test \
  "$source/tests/op/sort.tvms" "$source/tests/op/unary.tvms" "$source/tests/op/binary.tvms" "$source/tests/op/nn_norm.tvms"
takes() {
  clang -x clcpp -cl-std=clc++ -cl-no-stdinc "-I$source/tests/metal/include" -fsyntax-only -Wall -Werror -Wno-unknown-attributes \
    -Wno-unused-function "$1" >out 2>&1
}
: >empty.metal
if command -v clang >/dev/null && takes empty.metal; then
  for f in ./*.metal ops/*; do takes "$f" || fail "clang does not take $f"; done
  printf '#include <metal_stdlib>\nfloat f(float x) { return metal::erf(x); }\n' >wrong.metal
  takes wrong.metal && fail 'a wrong text is taken'
else
  echo 'skip: there is no clang that knows C++ for OpenCL'
fi

# ---- launches ----
cat >run.tvms <<'T'
import numpy as np
import tvm
from webgpu import scale
device = tvm.metal(0)
a = np.arange(1000, dtype="float32")
x, y = a.to(device), tvm.nd.array(np.ones(1000, "float32"), device)
assert np.array_equal(x.numpy(), a)
f = tvm.build(scale, "metal")
f(x, y, 2.0, True)
x.copyto(y)
assert np.array_equal(y.numpy(), a)
f(x, y, 1.0, False)
device.sync()
print("done")
T
expect 1 'Metal is not there: there is no /usr/lib/libobjc.A.dylib; it is a part of macOS' "$tvms" run run.tvms
if [ "$(uname -m)" = x86_64 ] && [ "$(uname -s)" = Linux ]; then
  ${CC:-cc} -O1 -Wall -Wextra -Werror -shared -fPIC -o fake.so "$source/tests/metal/fake_metal.c" || exit 1
  fake() { env LD_PRELOAD="$work/fake.so" FAKE_METAL_LOG="$work/log" "$@"; }
  expect 0 'done' fake "$tvms" run run.tvms
  cp log out
  also 'kernel scale_kernel' '  buffer(0) from byte 0' '  buffer(1) from byte 0' '  buffer(2) slot 0: 1073741824' '  buffer(2) slot 1: 1' \
    '  4 x 1 x 1 blocks of 256 x 1 x 1'
  [ "$(grep -c commit log)" = 2 ] || fail 'launches before a copy are committed, and those before a wait'
  expect 1 "metal:0 (Fake GPU) can't compile the module: line 3: no" fake FAKE_METAL_FAIL=compile "$tvms" run run.tvms
  expect 1 'metal:0 (Fake GPU): kernels failed: the GPU hung' fake FAKE_METAL_FAIL=run "$tvms" run run.tvms
  sed 's/256, thread/1000, thread/; s/bx \* 256/bx * 1000/g; s/(4, thread/(1, thread/' webgpu.tvms >wide_blocks.tvms
  sed 's/from webgpu/from wide_blocks/' run.tvms >too_wide.tvms
  expect 1 'a block has 1000 threads, but metal:0 (Fake GPU) runs at most 512 of it: build for "metal -max_threads_per_block=512"' fake "$tvms" run too_wide.tvms
fi
exit $bad
