#!/bin/sh
# build.sh -- random tensor programs, built: what the llvm target takes, the c target takes, and a C compiler has nothing to say
# of the text:  sh tests/gen/build.sh BUILD FIRST LAST
# Programs that C can't have are left out: C functions of one name and two types or of small floats; arrays that the program
# itself overruns are not warned of. What fails leaves its program and C text in BUILD/gen.
B=$1
mkdir -p "$B/gen"
bad=0
built=0
for seed in $(seq "$2" "$3"); do
  file=$B/gen/build_$seed.tvms
  "$B/tvms" "$(dirname "$0")/tensor.tvms" "$seed" 40 >"$file" || bad=1
  good=1
  for f in $(sed -n 's/^def \(f[0-9]*\)(.*/\1/p' "$file"); do
    "$B/tvms" build "$file" --module "$f" --emit llvm-ir -o "$B/gen/build.ll" >"$B/gen/log" 2>&1 || continue
    c=$B/gen/build_${seed}_$f.c
    if ! "$B/tvms" build "$file" --module "$f" -o "$c" >"$B/gen/log" 2>&1; then
      grep -qE 'is called as|take or return (b?float16|float8)' "$B/gen/log" && continue
    elif cc -std=c11 -Wall -Wextra -Wpedantic -Werror -Wno-array-bounds -O1 -S -o "$B/gen/build.s" "$c" >"$B/gen/log" 2>&1; then
      rm -f "$c"
      built=$((built + 1))
      continue
    fi
    good=0 bad=1
    echo "seed $seed, $f:"
    head -n 20 "$B/gen/log"
  done
  [ $good = 1 ] && rm -f "$file"
done
[ $built -gt 0 ] || { echo 'nothing was built'; bad=1; }
exit $bad
