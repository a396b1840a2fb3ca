#!/bin/sh
# test_artifacts.sh -- what `tvms build` writes, in the hands of C, C++ and Python, whole and damaged.
#   sh tests/tool/test_artifacts.sh BUILD_FOLDER
. "$(dirname "$0")/expect.sh"
root=$tests/../..
has() { command -v "$1" >/dev/null || { echo "skip  no $1"; false; }; }

cat >net.tvms <<'T'
@R.function
def main(x: R.Tensor(("n", "d"), "float32")) -> R.Tensor(("n", "d"), "float32"):
    n = T.int64()
    d = T.int64()
    with R.dataflow():
        a = R.exp(x)
        b = R.add(R.reshape(R.nn.relu(a), (d, n)), R.reshape(x, (d, n)))
        c = R.multiply(R.reshape(b, (n, d)), R.const(2.0, "float32"))
        R.output(c)
    return c
T

# What a file tells of itself.
for form in so o a s; do expect 0 '' "$tvms" build net.tvms -o "net.$form"; done
for form in so o a; do
  expect 0 'function  main(x: R.Tensor((n, d), dtype="float32")) -> R.Tensor((n, d), dtype="float32")' "$tvms" inspect "net.$form"
done
expect 0 'target    llvm' "$tvms" inspect net.so
expect 0 "machine   aarch64" sh -c "'$tvms' build net.tvms --target 'llvm -mtriple=aarch64-linux-gnu' -o arm.o && '$tvms' inspect arm.o"
expect 1 'holds no description of a module' "$tvms" inspect net.tvms
expect 1 'No such file' "$tvms" inspect nothing.so
expect 2 'which file?' "$tvms" inspect

# An archive or object and its header, linked into a program; two modules in one program.
sed 's/def main/def second/' net.tvms >second.tvms
expect 0 '' "$tvms" build second.tvms -o second.o
cat >linked.c <<'T'
#include "net.h"
#include "second.h"
#include <stdio.h>
int main(void) {
  float x[2] = {0.0f, 1.0f};
  int64_t shape[] = {1, 2};
  DLTensor t = {.data = x, .device = {kDLCPU, 0}, .ndim = 2, .dtype = {kDLFloat, 32, 1}, .shape = shape};
  TvmsValue arg = {.p = &t}, ret;
  int type = TVMS_DLTENSOR, ret_type = TVMS_NONE;
  if (__tvms_main(0, &arg, &type, 1, &ret, &ret_type)) return puts(tvms_last_error()), 1;
  printf("%.3f %.3f\n", ((float *)tvms_tensor_data(ret.p))[0], ((float *)tvms_tensor_data(ret.p))[1]);
  tvms_value_release(ret_type, ret);
  if (__tvms_second(0, &arg, &type, 1, &ret, &ret_type)) return puts(tvms_last_error()), 1;
  tvms_value_release(ret_type, ret);
  return 0;
}
T
cc -std=c11 -Wall -Wextra -Werror -I"$root/target/runtime" linked.c net.a second.o "$B/libtvms_runtime.a" -lpthread -ldl -lm -o linked || fail 'the archive does not link'
expect 0 '2.000 7.437' ./linked

# C++ and Python.
expect 0 '' "$tvms" build "$root/examples/unity.tvms" -o unity.so
for cxx in g++ clang++; do
  has $cxx || continue
  $cxx -std=c++17 -Wall -Wextra -Wpedantic -Werror -I"$root/target/runtime" "$root/examples/deploy.cpp" "$B/libtvms_runtime.a" \
    -rdynamic -lpthread -ldl -o wrapped || fail "$cxx: the wrapper does not compile"
  expect 0 '8 elements, the first is 2.4550' ./wrapped ./unity.so
  expect 0 "refused: relax_func: argument 'w' has shape (2, 3), but dimension 0 must be 3 (d)" ./wrapped ./unity.so
done
if has python3; then
  expect 0 'result of shape (8,)' python3 "$root/examples/deploy.py" "$B/libtvms_runtime.so" unity.so
  expect 0 "refused: relax_func: argument 'w' has shape (2, 3)" python3 "$root/examples/deploy.py" "$B/libtvms_runtime.so" unity.so
  expect 1 'is cut short' sh -c "head -c 2000 unity.so >cut.so; python3 '$root/examples/deploy.py' '$B/libtvms_runtime.so' ./cut.so"
fi

# A profile: a row for each kernel, and a trace.
expect 0 '' "$tvms" build "$root/examples/unity.tvms" --profile -o profiled.so
expect 0 '' env TVMS_PROFILE=profile.txt "$B/deploy" ./profiled.so
expect 0 'GFLOP/s' cat profile.txt
also tir_mm exp
expect 0 '' env TVMS_PROFILE=profile.json "$B/deploy" ./profiled.so
expect 0 '"name": "tir_mm_workspace"' cat profile.json
if has python3; then expect 0 '' python3 -m json.tool profile.json; fi
expect 0 "can't write the profile '/nothing/p'" env TVMS_PROFILE=/nothing/p "$B/deploy" ./profiled.so

# Parameters in a file beside the library: mapped, checked, and missed with a message.
cat >weights.tvms <<'T'
@R.function
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    y = R.add(x, R.const([1.0, 2.0, 3.0, 4.0], "float32"))
    z = R.multiply(y, R.astype(R.const([2, 2, 2, 2], "int8"), "float32"))
    return z
T
cat >call.tvms <<'T'
import numpy as np
m = tvm.runtime.load_module("./weights.so")
again = tvm.runtime.load_module("./weights.so")
del m
print(again["main"](np.zeros(4, "float32")))
T
expect 0 '' "$tvms" build weights.tvms -o weights.so --params weights.safetensors
expect 0 '[2. 4. 6. 8.]' "$tvms" call.tvms
expect 0 'bytes in weights.safetensors' "$tvms" inspect weights.so
if has python3; then
  expect 0 'F32' python3 -c "
import json, struct
data = open('weights.safetensors', 'rb').read()
n = struct.unpack('<Q', data[:8])[0]
header = json.loads(data[8:8 + n])
print(sorted(t['dtype'] for t in header.values()), max(t['data_offsets'][1] for t in header.values()) == len(data) - 8 - n)"
  also True
fi
cp weights.safetensors whole
sed 's/F32/F64/' whole >weights.safetensors
expect 1 'bytes of F64, but the module was built with' "$tvms" call.tvms
sed 's/constant_0/constant_9/' whole >weights.safetensors
expect 1 "has no tensor 'constant_0'" "$tvms" call.tvms
sed 's/"shape"/"shape/' whole >weights.safetensors
expect 1 'the header of' "$tvms" call.tvms
for n in 0 7 8 60 $(($(wc -c <whole) - 1)); do
  head -c "$n" whole >weights.safetensors
  expect 1 'weights.safetensors' "$tvms" call.tvms
done
rm weights.safetensors
expect 1 "the module needs its parameters './weights.safetensors': No such file" "$tvms" call.tvms
expect 2 'must end in .safetensors' "$tvms" build weights.tvms -o weights.so --params weights.bin
expect 2 '--params is for shared libraries' "$tvms" build weights.tvms -o weights.o --params w.safetensors
expect 1 'the c target keeps constants in the library' "$tvms" build weights.tvms --target c -o weights.so --params w.safetensors

# Damaged and foreign files: a message, never a crash.
size=$(wc -c <unity.so)
for n in 0 3 40 64 1000 $((size / 2)) $((size - 1)); do
  head -c "$n" unity.so >cut.so
  expect 1 'cut.so' "$B/deploy" ./cut.so
done
expect 1 'is cut short: it has' sh -c "head -c $((size / 2)) unity.so >cut.so; '$B/deploy' ./cut.so"
expect 1 'it is no shared library' "$B/deploy" ./net.tvms
expect 1 'an object file is linked into the program' "$B/deploy" ./net.o
if has aarch64-linux-gnu-gcc; then
  expect 0 '' "$tvms" build net.tvms --target 'llvm -mtriple=aarch64-linux-gnu' -o arm.so
  expect 1 'it is for aarch64, but this process runs on' "$B/deploy" ./arm.so
fi
echo 'int tvms_module_info[8] = {99};' >other.c && cc -shared -fPIC other.c -o other.so
version=$(sed -n 's/^#define TVMS_ABI_VERSION //p' "$root/target/runtime/tvms.h")
expect 1 "was built for version 99 of the ABI, but this runtime has version $version: build it again" "$B/deploy" ./other.so
echo 'int nothing;' >plain.c && cc -shared -fPIC plain.c -o plain.so
expect 1 'is not a module: it has no tvms_module_info' "$B/deploy" ./plain.so
echo 'int missing(void); void *tvms_module_info = missing;' >needs.c && cc -shared -fPIC needs.c -o needs.so
expect 1 'undefined symbol: missing' "$B/deploy" ./needs.so

# Operators whose results have a size known at run time only: the runtime has them, whoever loads the artifact.
cat >sizes.tvms <<'T'
@I.ir_module
class Net:
    @R.function
    def unique(x: R.Tensor(("n",), "float32")):
        with R.dataflow():
            y = R.add(x, x)
            u = R.unique(y)
            R.output(u)
        m = T.int64()
        v = R.match_cast(u, R.Tensor((m,), "float32"))
        z = R.multiply(v, v)
        return z
    @R.function
    def nonzero(x: R.Tensor(("n",), "float32")):
        return R.nonzero(x)
    @R.function
    def about(x: R.Tensor()):
        s = R.shape_of(x)
        bits = R.inspect.tensor_dtype_bits(x)
        stride = R.inspect.tensor_stride_i(x, 0)
        return (s, bits, stride)
T
cat >use.tvms <<'T'
import numpy as np
import sys
net = tvm.runtime.load_module(sys.argv[1])
put = lambda a: a.to("opencl") if len(sys.argv) > 2 else a
print(net["unique"](put(np.array([3, 1, 3, 2], "float32"))).numpy())
print(net["nonzero"](put(np.array([3, 0, 3, 2], "float32"))).numpy())
print(net["about"](put(np.zeros((2, 3), "float16"))))
T
for target in llvm c opencl; do
  device=$(echo $target | grep opencl)
  [ -z "$device" ] || "$tvms" -c 'import tvm; assert tvm.opencl(0).exist' 2>out || { echo 'skip  no OpenCL driver'; continue; }
  expect 0 '' "$tvms" build sizes.tvms --target $target -o sizes.so
  expect 0 '' "$tvms" run use.tvms ./sizes.so $device
  same '[ 4. 16. 36.]
[[0 2 3]]
((2, 3), 16, 3)'
done

# Many threads at once, all code under ThreadSanitizer; nothing is leaked.
expect 0 '' "$tvms" build net.tvms --target c -o net.c
flags='-std=gnu11 -O1 -g -fsanitize=thread -D_GNU_SOURCE'
if cc $flags -fPIC -shared net.c -o threads.so -lm 2>cc.log; then
  cc $flags -rdynamic -I"$root" "$tests/threads.c" "$root"/target/runtime/*.c -o threads -lpthread -ldl || fail 'threads.c does not compile'
  expect 0 '0 of 7 threads saw other results' ./threads ./threads.so
else
  echo 'skip  no ThreadSanitizer'
fi
if has valgrind; then
  expect 0 '' "$tvms" build "$root/examples/unity.tvms" --target 'llvm -mcpu=x86-64' -o plain_cpu.so
  expect 0 '' valgrind -q --leak-check=full --errors-for-leak-kinds=definite --error-exitcode=9 "$B/deploy" ./plain_cpu.so
  expect 1 '' valgrind -q --leak-check=full --errors-for-leak-kinds=definite --error-exitcode=9 "$B/deploy" ./cut.so
fi
exit "$bad"
