#!/bin/sh
# test_libraries.sh -- libraries as a user meets them: which there are, in a deployed artifact, missing, and one's own.
#   sh tests/tool/test_libraries.sh BUILD_FOLDER
. "$(dirname "$0")/expect.sh"
root=$tests/../..

cat >net.tvms <<'T'
@R.function
def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 3), "float32")) -> R.Tensor(("n", 3), "float32"):
    n = T.int64()
    with R.dataflow():
        y = R.nn.relu(R.matmul(x, w))
        R.output(y)
    return y
T
cat >run.c <<'T'
#include "tvms.h"
#include <stdio.h>
int main(int argc, char **argv) {
  TvmsModule *m;
  TvmsFunc *f;
  float x[] = {1, 2, 3, 4}, w[] = {1, 0, -1, 0, 1, -1, 1, 1, 0, 0, 0, 1};
  int64_t dims[] = {1, 4, 4, 3};
  DLTensor t[] = {{.data = x, .device = {kDLCPU, 0}, .ndim = 2, .dtype = {kDLFloat, 32, 1}, .shape = dims},
                  {.data = w, .device = {kDLCPU, 0}, .ndim = 2, .dtype = {kDLFloat, 32, 1}, .shape = dims + 2}};
  TvmsValue args[] = {{.p = &t[0]}, {.p = &t[1]}}, y;
  int types[] = {TVMS_DLTENSOR, TVMS_DLTENSOR}, type;
  if (argc < 2 || tvms_module_load(&m, argv[1]) || tvms_module_function(&f, m, "main") ||
      tvms_func_call(f, args, types, 2, &y, &type))
    return puts(tvms_last_error()), 1;
  const float *data = tvms_tensor_data(y.p);
  printf("%g %g %g\n", data[0], data[1], data[2]);
  tvms_value_release(type, y);
  tvms_release(f);
  tvms_release(m);
  return 0;
}
T
cc -std=c11 -I"$root/target/runtime" run.c -L"$B" -ltvms_runtime -Wl,-rpath,"$B" -o run || fail 'the program does not link'
cc -std=c11 -rdynamic -I"$root/target/runtime" run.c "$B/libtvms_runtime.a" -lpthread -ldl -o run_static || fail 'the static program does not link'

expect 0 'dnnl' "$tvms" libs
also 'openblas'
expect 0 'openblas.matmul_tb' "$tvms" libs openblas
expect 1 "there is no library 'dnn'; there are: cublas, cudnn, dnnl, openblas; did you mean 'dnnl'?" "$tvms" libs dnn
expect 1 "there is no library 'blas'" "$tvms" build net.tvms --target 'llvm -libs=blas' -o net.so
expect 0 '"openblas.matmul"' "$tvms" opt net.tvms --target 'llvm -libs=openblas' --passes DispatchLibraries
expect 0 'R.matmul' "$tvms" opt net.tvms --target interp --passes DispatchLibraries
expect 0 '"openblas.matmul"' "$tvms" opt net.tvms --target interp --passes 'DispatchLibraries(libs="openblas")'

expect 1 "the library 'cublas' works on devices of cuda, but code of the target 'llvm' on the CPU" "$tvms" build net.tvms --target 'llvm -libs=cublas' -o net.so
expect 1 "the library 'dnnl' works on the CPU, but code of the target 'cuda' on devices of cuda" "$tvms" build net.tvms --target 'cuda -libs=dnnl' -o net.so
expect 1 "target 'opencl' has no option 'libs'" "$tvms" build net.tvms --target 'opencl -libs=cublas' -o net.so

# Libraries of a GPU, and what stands in their place: missing, without what is needed, failing.
cat >gpu.tvms <<'T'
import numpy as np
import tvm
x, w, y = [np.ones(s, "float32").to("cuda") for s in ((1, 2, 5, 5), (2, 2, 3, 3), (1, 2, 3, 3))]
def try_out(name, *args):
    try:
        tvm.get_global_func(name)(*args)
    except Exception as e:
        print(e)
one, none = tvm.runtime.ShapeTuple((1, 1)), tvm.runtime.ShapeTuple((0, 0, 0, 0))
try_out("cublas.matmul", y, y, 0, 0, "", y)
try_out("cudnn.conv", x, w, one, none, one, 1, "NCHW", "", y)
T
fake="env LD_LIBRARY_PATH=$B/fake_cuda"
expect 0 '' $fake "$tvms" gpu.tvms
same ''
expect 0 'cublas.matmul: cublasLtMatmul failed (status 13: execution failed)' $fake FAKE_CUDA_FAIL=cublasLtMatmul:13 "$tvms" gpu.tvms
expect 0 'cublas.matmul: choosing an algorithm failed (status 15: it is not supported)' $fake FAKE_CUDA_FAIL=cublasLtMatmulAlgoGetHeuristic:15 "$tvms" gpu.tvms
expect 0 'cudnn.conv: the convolution failed (CUDNN_STATUS_NOT_SUPPORTED)' $fake FAKE_CUDA_FAIL=cudnnConvolutionForward:3000 "$tvms" gpu.tvms
expect 0 'cudnn.conv: starting failed (CUDNN_STATUS_EXECUTION_FAILED)' $fake FAKE_CUDA_FAIL=cudnnCreate:5000 "$tvms" gpu.tvms
expect 0 "'cublas.matmul' needs libnothing.so.12, which can't be loaded: libnothing.so.12: cannot open shared object file" $fake TVMS_LIB_CUBLAS='libnothing.so.12 libnothing.so.13' "$tvms" gpu.tvms
also "pip's nvidia-cublas-cu12"
expect 0 '' $fake TVMS_LIB_CUBLAS='libnothing.so.12 libcublasLt.so.12' "$tvms" gpu.tvms
same ''
expect 0 "'cudnn.conv' needs the function cudnnGetErrorString, which libm.so.6 does not have" $fake TVMS_LIB_CUDNN=libm.so.6 "$tvms" gpu.tvms

# An artifact that calls a library, in programs with the shared and the static runtime.
for library in openblas dnnl; do
  expect 0 '' "$tvms" build net.tvms --target "llvm -libs=$library" -o net.so
  expect 0 "$library.matmul" "$tvms" inspect net.so
  upper=$(echo $library | tr a-z A-Z)
  expect 1 "'$library.matmul' needs nothing.so.7, which can't be loaded: nothing.so.7: cannot open shared object file" env "TVMS_LIB_$upper=nothing.so.7" ./run ./net.so
  also "(Debian has it in the package lib"
  expect 1 "'$library.matmul' needs the function" env "TVMS_LIB_$upper=libm.so.6" ./run ./net.so
  "$tvms" libs | grep "^$library" | grep -q 'not here' && { echo "skip  $library is not installed"; continue; }
  expect 0 '4 5 1' ./run ./net.so
  # The static runtime finds the shim beside the program.
  expect 1 "there is no library libtvms_$library.so that has it" ./run_static ./net.so
  cp "$B/libtvms_$library.so" .
  expect 0 '4 5 1' ./run_static ./net.so
done

# Many threads at once, the shim under ThreadSanitizer.
cat >square.tvms <<'T'
@R.function
def main(x: R.Tensor(("n", 16), "float32")) -> R.Tensor(("n", 16), "float32"):
    n = T.int64()
    with R.dataflow():
        w = R.const([[0.5] * 16] * 16, "float32")
        y = R.nn.relu(R.matmul(x, w))
        R.output(y)
    return y
T
flags="-std=gnu11 -O1 -g -D_GNU_SOURCE -fsanitize=thread -I$root"
mkdir threads
for library in openblas dnnl; do
  "$tvms" libs | grep "^$library" | grep -q 'not here' && continue
  expect 0 '' "$tvms" build square.tvms --target "c -libs=$library" -o square.c
  cc $flags -fPIC -shared square.c -o threads/square.so -lm 2>cc.log || { echo 'skip  no ThreadSanitizer'; break; }
  cc $flags -fPIC -shared "$root/target/lib/$library.c" -o "threads/libtvms_$library.so"
  cc $flags -rdynamic "$tests/threads.c" "$root"/target/runtime/*.c -o threads/threads -lpthread -ldl || fail 'threads.c does not compile'
  expect 0 '0 of 7 threads saw other results' env OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 threads/threads ./threads/square.so
  absent 'ThreadSanitizer'
done

# A packed function of any shared library, by file and symbol.
cat >mine.c <<'T'
#include "tvms.h"
int twice(void *self, const TvmsValue *args, const int *types, int n, TvmsValue *ret, int *ret_type) {
  (void)self, (void)types, (void)ret, (void)ret_type;
  if (n != 2) return tvms_set_error("twice takes 2 arguments");
  const DLTensor *x = args[0].p, *y = args[1].p;
  for (int64_t i = 0; i < x->shape[0]; i++) ((float *)y->data)[i] = 2 * ((const float *)x->data)[i];
  return 0;
}
/* A plain C function. */
void thrice(const float *x, int64_t n, float *y) { for (int64_t i = 0; i < n; i++) y[i] = 3 * x[i]; }
T
cc -std=c11 -fPIC -shared -I"$root/target/runtime" mine.c -o libmine.so || fail 'the library does not link'
cat >mine.tvms <<'T'
import numpy as np
import sys
import tvm

@I.ir_module
class Net:
    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        with R.dataflow():
            y = R.call_dps_packed("./libmine.so:twice", (x,), R.Tensor((n,), "float32"))
            R.output(y)
        return y

for target in ("interp", "llvm", "c"):
    print(tvm.build(Net, target)["main"](np.array([1, 2.5], "float32")))
T
expect 0 '[2. 5.]' "$tvms" mine.tvms
for name in ./libmine.so:once ./nothing.so:twice libnothing.so:twice; do
  sed "s|./libmine.so:twice|$name|" mine.tvms >wrong.tvms
  expect 1 "$(echo "$name" | sed "s|./libmine.so:once|'./libmine.so' has no function 'once'|; s|^\(.*nothing.so\):twice|can't load '\1'|")" "$tvms" wrong.tvms
done

# Plain C functions: the tensor program that calls one declares its signature.
cat >plain.tvms <<'T'
@I.ir_module
class Net:
    @T.prim_func
    def thrice(x: T.Buffer(("n",), "float32"), y: T.Buffer(("n",), "float32")):
        n = T.int64()
        T.evaluate(T.call_extern("void", "thrice", x.data, n, y.data))
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        with R.dataflow():
            y = R.call_tir(Net.thrice, (x,), R.Tensor((2,), "float32"))
            R.output(y)
        return y
T
cat >use.tvms <<'T'
import numpy as np
import sys
import tvm
if sys.argv[1] == "plain.tvms":
    from plain import Net
    tvm.runtime.load_extern_library("./libmine.so")
    for target in ("interp", "llvm", "c"):
        print(tvm.build(Net, target)["main"](np.array([1, 2.5], "float32")))
else:
    print(tvm.runtime.load_module(sys.argv[1])["main"](np.array([1, 2.5], "float32")))
T
expect 0 '[3.  7.5]' "$tvms" use.tvms plain.tvms
for target in llvm c; do
  expect 0 '' "$tvms" build --lib ./libmine.so plain.tvms --target $target -o plain.so
  expect 0 '[3.  7.5]' "$tvms" use.tvms ./plain.so
done
expect 0 '' "$tvms" build plain.tvms -o plain.so
expect 1 "can't load './plain.so'" "$tvms" use.tvms ./plain.so
sed 's|"thrice"|"./libmine.so:thrice"|' plain.tvms >named.tvms
for target in llvm c; do
  expect 0 '' "$tvms" build named.tvms --target $target -o named.so
  expect 0 '[3.  7.5]' "$tvms" use.tvms ./named.so
  expect 0 "needs     the C function './libmine.so:thrice'" "$tvms" inspect named.so
done
mv libmine.so away.so
expect 1 "can't load './libmine.so'" "$tvms" use.tvms ./named.so
mv away.so libmine.so
expect 2 "--lib: can't load './nothing.so'" "$tvms" build --lib ./nothing.so plain.tvms -o plain.so
exit $bad
