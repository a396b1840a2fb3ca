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

# In a shared library large constants are objects of their own, which nobody else sees; interpreted it gives the same.
root=$tests/../..
expect 0 '' "$tvms" build "$root/tests/cross/weights.tvms" -o weights.so
expect 0 '' "$B/deploy" ./weights.so
cp out linked.txt
expect 0 '' "$tvms" build "$root/tests/cross/weights.tvms" --target c -o weights.so
expect 0 '' "$B/deploy" ./weights.so
cp out c.txt
cmp c.txt linked.txt || fail 'constants in C give something else'
[ "$(wc -w <linked.txt)" -gt 400 ] || fail 'the constants gave too little'
expect 0 '' "$tvms" build "$root/tests/cross/weights.tvms" -o weights.so
nm -D weights.so | grep -q tvms_weight && fail 'weights are seen from outside'
[ -z "$(ls weights.so.* 2>/dev/null)" ] || fail 'objects are left'
# Where the disk is full, nothing is left.
if mkdir disk && mount -t tmpfs -o size=64k tmpfs disk 2>/dev/null; then
  expect 1 "No space left" "$tvms" build "$root/tests/cross/weights.tvms" -o disk/weights.so
  [ -z "$(ls disk)" ] || fail 'something is left on the full disk'
  umount disk
fi
exit $bad
