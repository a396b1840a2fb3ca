#!/bin/sh
# test_constants.sh -- large constants in the output of `tvms opt`: with metadata, inline, or by reference.
. "$(dirname "$0")/expect.sh"

cat >large.tvms <<'T'
@R.function
def f(x: R.Tensor((100,), "float32")):
    y = R.add(x, R.const([0.0, 0.5, 1.0, 1.5] * 25, "float32"))
    return y
T
expect 0 'metadata = tvm.ir.load_json' "$tvms" opt large.tvms
expect 0 '0.0, 0.5, 1.0, 1.5, 0.0, 0.5,' "$tvms" opt large.tvms --constants inline
expect 0 'R.add(x, metadata["relax.expr.Constant"][0])' "$tvms" opt large.tvms --constants reference
expect 2 "no form of constants 'none'" "$tvms" opt large.tvms --constants none

# what is printed with its metadata, or inline, is the same program
"$tvms" opt large.tvms -o once.tvms
"$tvms" opt once.tvms -o twice.tvms
expect 0 '' cmp once.tvms twice.tvms
"$tvms" opt once.tvms --constants inline -o inline.tvms
expect 0 '1 module, well-formed' "$tvms" check --roundtrip inline.tvms
"$tvms" opt inline.tvms -o twice.tvms
expect 0 '' cmp once.tvms twice.tvms
exit $bad
