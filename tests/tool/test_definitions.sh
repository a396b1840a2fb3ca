#!/bin/sh
# test_definitions.sh -- what check, opt and build read of a script: its modules, and the statements that make what these name;
# nothing else is run.
#   sh tests/tool/test_definitions.sh BUILD_FOLDER
. "$(dirname "$0")/expect.sh"

cat >net.tvms <<'EOF'
import numpy as np
np.random.seed(3)
SIZE = 4
layers = []
for i in range(3):
    layers.append({"w": np.full((SIZE,), float(i + 1), "float32")})
factors = list(range(2))
factors[0] = 7
total = 0
total += sum(factors)
print("side effect")
unrelated = open("/nonexistent").read()

def bias(n):
    return np.full((n,), offset, "float32")

offset = 1.5
later = bias(SIZE)

@I.ir_module
class Net:
    @R.function
    def main(x: R.Tensor((SIZE,), "float32")):
        with R.dataflow():
            for layer in layers:
                x = R.multiply(x, R.const(layer["w"]))
            y = R.add(x, R.const(later))
            z = R.multiply(y, R.const(float(total), "float32"))
            R.output(z)
        return z

x = np.ones(4, "float32")
print(tvm.build(Net, "llvm")["main"](x))
layers.append("after the module: not needed")
EOF
expect 0 'net.tvms: 1 module, well-formed' "$tvms" check net.tvms
expect 0 'R.const(8.0, "float32")' "$tvms" opt net.tvms --passes CanonicalizeBindings
absent 'side effect'
[ "$(grep -c R.multiply out)" = 4 ] || fail "three layers and a factor"
expect 0 '' "$tvms" build net.tvms -o net.so

cat >wrong.tvms <<'EOF'
weights = load("weights")

@R.function
def main(x: R.Tensor((4,), "float32")):
    return R.add(x, R.const(weights))
EOF
expect 1 "name 'weights' is not defined" "$tvms" check wrong.tvms

cat >main.tvms <<'EOF'
n = 4

@T.prim_func
def f(A: T.Buffer((n,), "float32")):
    for i in range(n):
        A[i] = 1.0

if __name__ == "__main__":
    n = int(input())
EOF
expect 0 '1 module, well-formed' "$tvms" check main.tvms
exit $bad
