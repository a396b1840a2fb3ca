#!/bin/sh
# run.sh -- how far the functions of float32 are from the exact results, as compiled with and without fused multiply-adds.
#   sh tests/math/run.sh [BUILD_FOLDER [STEP [FUNCTION]]]    every STEP-th float32; 1: all of them, which takes minutes a function
# The last line is "N passed, N failed".
B=$(cd "${1:-build}" && pwd)
cd "$(dirname "$0")" || exit 1
work=$B/math
mkdir -p "$work"
cc -std=gnu11 -D_GNU_SOURCE -O2 -I../../target/runtime -rdynamic -o "$work/ulp" ulp.c "$B/libtvms_runtime.a" \
  -lpthread -ldl -lm || exit 1
passed=0
failed=0
for target in llvm 'llvm -mcpu=x86-64'; do
  [ "$target" = llvm ] || [ "$(uname -m)" = x86_64 ] || continue
  echo "-- $target"
  "$B/tvms" functions.tvms "$work/functions.so" "$target" $("$work/ulp" --list) || exit 1
  "$work/ulp" "$work/functions.so" "${2:-4099}" $3 >"$work/out"
  sed '$d' "$work/out"
  set -- "$B" "$2" "$3" $(tail -n 1 "$work/out")
  passed=$((passed + $4)) failed=$((failed + $6))
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
