#!/bin/sh
# test_bench.sh -- `tvms bench`: a row for each function, JSON, inputs from files, and what does not fit. No times are asserted.
#   sh tests/tool/test_bench.sh BUILD_FOLDER
. "$(dirname "$0")/expect.sh"

cat >two.tvms <<'T'
@I.ir_module
class Module:
    @T.prim_func
    def scale(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,))
        B = T.match_buffer(b, (n,))
        for i in range(n):
            with T.block("B"):
                vi = T.axis.spatial(n, i)
                B[vi] = A[vi] * 2.0

    @R.function
    def main(x: R.Tensor((8, 16), "float32"), w: R.Tensor((16, 4), "float32")) -> R.Tensor((8, 4), "float32"):
        y = R.matmul(x, w)
        return y

    @T.prim_func(private=True)
    def hidden(A: T.Buffer((4,), "float32")):
        A[0] = 1.0
T
quick='--repeat 2 --number 1'
expect 0 'GFLOP/s' "$tvms" bench two.tvms --func main $quick
also 'one core:' '2 threads:' 'of peak' '8x16,16x4'
expect 0 '1000,1000' "$tvms" bench two.tvms --func scale --shapes 1000 --threads 1 $quick
also '1 thread:'
expect 0 '"multiply_adds": 512.0' "$tvms" bench two.tvms --func main --json --threads 2 $quick
also '"operations": 1024.0' '"bytes": 896' '"threads": 2' '"copy_gbps_of_one"' '"median"'
cp out report.json
expect 0 "['main']" "$tvms" -c 'import json
r = json.loads(open("report.json").read())
print([f["function"] for f in r["functions"]])
assert len(r["functions"][0]["seconds"]["results"]) == 2 and all(r["machine"][k] > 0 for k in ("gflops", "copy_gbps", "read_gbps"))'
expect 0 '0,0' "$tvms" bench two.tvms --func scale --shapes 0 $quick
expect 0 'main ' "$tvms" bench two.tvms --func scale,main --shapes n=64 $quick
also 'scale '
expect 0 '' "$tvms" -c 'import numpy as np
np.save("x.npy", np.ones((8, 16), "float32"))
np.save("bad.npy", np.ones((8, 15), "float32"))'
expect 0 'main ' "$tvms" bench two.tvms --func main --input x=x.npy --target interp $quick

expect 1 "the function 'mian' does not exist; there is scale, main" "$tvms" bench two.tvms --func mian
absent 'note:'
expect 1 "the function 'hidden' is private" "$tvms" bench two.tvms --func hidden
expect 1 "'main' takes 2 tensors, but 3 shapes are given" "$tvms" bench two.tvms --func main --shapes 8x16,16x4,8x4
expect 1 "'w' of 'main' has the shape (16, 4), which 16x5 does not fit: a dimension is 4, not 5" "$tvms" bench two.tvms --func main --shapes 8x16,16x5
expect 1 "needs a value for n: give n=NUMBER" "$tvms" bench two.tvms --func scale
expect 1 'shapes and inputs are of one function' "$tvms" bench two.tvms --shapes 4
expect 1 "has no tensor 'y'; it has x, w" "$tvms" bench two.tvms --func main --input y=x.npy
expect 1 "8x15 does not fit" "$tvms" bench two.tvms --func main --input x=bad.npy
expect 1 'absent.npy' "$tvms" bench two.tvms --func main --input x=absent.npy
expect 1 "'x.npy' is no input: write name=file.npy" "$tvms" bench two.tvms --func main --input x.npy
expect 1 "did you mean 'llvm'" "$tvms" bench two.tvms --func main --target lvm
absent 'note:'
expect 1 'more than this machine has' "$tvms" bench two.tvms --func scale --shapes 999999999999
absent 'note:'
expect 1 "'n' of 'scale' is int64, so it can't be 2.5" "$tvms" bench two.tvms --func scale --shapes n=2.5
expect 1 "'2.5x3': a dimension is a whole number" "$tvms" bench two.tvms --func main --shapes 2.5x3
expect 1 'absent.tvms' "$tvms" bench absent.tvms
expect 2 '--threads is a number from 1 on' "$tvms" bench two.tvms --threads 0
expect 2 "--repeat is a number from 1 on, not '3x'" "$tvms" bench two.tvms --repeat 3x
expect 2 'which file?' "$tvms" bench
exit $bad
