#!/bin/sh
# test_diff.sh -- `tvms diff` and `tvms opt --check-each`: what is broken on purpose is found and named.
#   sh tests/tool/test_diff.sh BUILD_FOLDER
. "$(dirname "$0")/expect.sh"

cat >net.tvms <<'T'
@I.ir_module
class Net:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.nn.relu(a)
            c = R.add(b, a)
            R.output(c)
        return c

    @R.function
    def other(x: R.Tensor((3,), "float32")):
        y = R.exp(x)
        return y
T
cat >broken.tvms <<'T'
@tvm.transform.module_pass(opt_level=0, name="BreakRelu")
def break_relu(mod, ctx):
    return tvm.script.from_source(mod.script().replace("R.nn.relu(a)", "R.exp(a)"))
T

expect 0 'main: the same' "$tvms" diff net.tvms llvm interp
also 'other: the same'
expect 0 'main: the same' "$tvms" diff net.tvms c 'LegalizeOps, RewriteDataflowReshape, CallTIRRewrite' --func main --shapes n=7
absent other
expect 0 'other: the same' "$tvms" diff net.tvms 'llvm -poison-memory' interp

# Two pipelines, of which one is broken: the binding, the pass and the side are named.
expect 1 'main: A and B part: the result:' "$tvms" diff --load broken.tvms net.tvms 'BreakRelu, LegalizeOps' LegalizeOps
also 'first binding: b' 'A (BreakRelu, LegalizeOps) differs from the interpreter' 'first pass: BreakRelu' 'other: the same'
absent 'B (LegalizeOps) differs'

# A compiled file of another module.
expect 0 '' "$tvms" build net.tvms -o net.so
expect 0 'main: the same' "$tvms" diff net.tvms net.so llvm
sed 's/R.add(b, a)/R.subtract(b, a)/' net.tvms >changed.tvms
expect 1 'A (./net.so) differs from the interpreter' "$tvms" diff changed.tvms ./net.so llvm
also 'it was compiled from something else'
absent 'first binding'
# Of files, the first binding is that of what is compiled anew for their targets.
cat >chain.tvms <<'T'
@R.function
def main(x: R.Tensor((4096,), "float32")):
    y = R.add(x, x)
    z = R.exp(y)
    w = R.negative(z)
    return w
T
expect 0 '' "$tvms" build chain.tvms -o chain.so
expect 1 'first binding, compiled anew for the targets of the files: z' "$tvms" diff chain.tvms ./chain.so interp --rtol 0 --atol 0

# After each pass.
expect 0 '' "$tvms" opt net.tvms -p llvm --check-each -o out.tvms
expect 1 'after BreakRelu, main gives something else' "$tvms" opt --load broken.tvms net.tvms -p 'CanonicalizeBindings, BreakRelu, LegalizeOps' --check-each

expect 1 "there is no pass 'Nothing'" "$tvms" diff net.tvms Nothing llvm
expect 1 "the function 'none' does not exist" "$tvms" diff net.tvms llvm interp --func none
expect 1 "can't load 'none.so'" "$tvms" diff net.tvms none.so llvm
expect 2 'give a file and two ways to run it' "$tvms" diff net.tvms llvm
expect 2 'are numbers from 0 on' "$tvms" diff net.tvms llvm c --rtol x
exit "$bad"
