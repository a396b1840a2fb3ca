#!/bin/sh
# test_schedules.sh -- what rules make of programs: shown by tvms opt, the same for any number of threads.
#   sh tests/tool/test_schedules.sh BUILD_FOLDER
. "$(dirname "$0")/expect.sh"

cat >mm.tvms <<'T'
@T.prim_func
def mm(X: T.Buffer((67, 33), "float32"), W: T.Buffer((33, 45), "float32"), Y: T.Buffer((67, 45), "float32")):
    for i, j, k in T.grid(67, 45, 33):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = 0.0
            Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vk, vj]
T
expect 0 'T.vectorized' "$tvms" opt -p ApplyDefaultSchedule mm.tvms
also 'T.parallel' '"tir.is_scheduled": True'
expect 0 'for i, j, k in T.grid(67, 45, 33)' "$tvms" opt -p 'ApplyDefaultSchedule(rules="Window")' mm.tvms
expect 1 "there is no schedule rule 'Nothing'" "$tvms" opt -p 'ApplyDefaultSchedule(rules="Nothing")' mm.tvms

# The order of sums is that of the schedule, not of the threads: all bits are the same.
cat >threads.tvms <<'T'
import sys
import numpy as np

np.random.seed(4)
x, w = np.random.normal(size=(67, 33)).astype("float32"), np.random.normal(size=(33, 45)).astype("float32")
image, kernel = np.random.normal(size=(2, 8, 19, 21)).astype("float32"), np.random.normal(size=(8, 1, 3, 3)).astype("float32")

@R.function(check_well_formed=False)
def main(x: R.Tensor((67, 33), "float32"), w: R.Tensor((33, 45), "float32"), image: R.Tensor((2, 8, 19, 21), "float32"), kernel: R.Tensor((8, 1, 3, 3), "float32")):
    return (
        R.nn.softmax(R.matmul(x, w)), R.sum(x, axis=[0]), R.permute_dims(R.nn.relu(x)),
        R.nn.conv2d(image, kernel, padding=1, groups=8), R.nn.max_pool2d(image, pool_size=3, strides=2),
    )

cores = sys.argv[1]
for out in tvm.build(main, f"llvm -num-cores={cores}")["main"](x, w, image, kernel):
    print(out.astype("float64").reshape((-1,)).tolist())
T
for cores in 1 4; do
  TVMS_NUM_THREADS=1 "$tvms" threads.tvms $cores >"one.$cores" || fail 'one thread'
  for n in 2 3 4 5; do
    expect 0 '' env TVMS_NUM_THREADS=$n "$tvms" threads.tvms $cores
    cmp -s out "one.$cores" || fail "$n threads give something else than one, for $cores cores"
  done
done
[ "$(wc -l <one.1)" -eq 5 ] || fail 'not all results are there'

exit $bad
