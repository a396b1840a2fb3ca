#!/bin/sh
# run.sh -- random tensor programs, printed and read again in both styles:  sh tests/gen/run.sh BUILD FIRST LAST
# A seed that fails leaves its program in BUILD/gen.
B=$1
mkdir -p "$B/gen"
bad=0
for seed in $(seq "$2" "$3"); do
  file=$B/gen/tensor_$seed.tvms
  "$B/tvms" "$(dirname "$0")/tensor.tvms" "$seed" 40 >"$file" || bad=1
  good=1
  for style in default tvm; do
    "$B/tvms" check --roundtrip --style $style "$file" >"$B/gen/log" 2>&1 && continue
    good=0 bad=1
    echo "seed $seed in style $style:"
    head -n 20 "$B/gen/log"
  done
  [ $good = 1 ] && rm -f "$file"
done
exit $bad
