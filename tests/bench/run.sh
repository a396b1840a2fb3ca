#!/bin/sh
# run.sh -- the figures that the project keeps: start-up, a module of 100,000 lines read and printed, the naive matrix
# product against clang.
#   sh tests/bench/run.sh [BUILD_FOLDER]
# Machines are shared and noisy: read ratios, and medians of alternating runs.
B=$(cd "${1:-build}" && pwd)
cd "$(dirname "$0")" || exit 1
work=$B/bench
mkdir -p "$work"
now() { date +%s%N; }

median() { sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

echo '-- start: tvms -c "print(1)", median of 21, ms'
for i in $(seq 21); do
  a=$(now); "$B/tvms" -c 'print(1)' >/dev/null; b=$(now)
  echo $(((b - a) / 1000)) 
done | median | awk '{printf "%.1f\n", $1 / 1000}'

# The medians of 5 runs of a command: seconds of user time, seconds, MB.
medians() {
  for i in 1 2 3 4 5; do
    /usr/bin/time -f '%U %e %M' "$@" 2>&1 >/dev/null | tail -1
  done >"$work/runs"
  for column in 1 2 3; do awk -v c=$column '{print $c}' "$work/runs" | median; done | paste -sd ' '
}

# Reading is what `tvms check` does; printing, what `tvms opt` without a pass does more.
echo '-- a generated module: lines; read: user s, s, MB; read and print: the same; million lines a user second of each'
for lines in 10000 100000; do
  awk -v lines=$lines -f large_module.awk >"$work/big.tvms"
  read=$(medians "$B/tvms" check "$work/big.tvms")
  both=$(medians "$B/tvms" opt "$work/big.tvms" -o "$work/printed.tvms")
  echo "$(wc -l <"$work/big.tvms") $read $both" | awk '{
    print_s = $5 > $2 ? $5 - $2 : 0.01 # below what is measured
    printf "%d  %.2f %.2f %d  %.2f %.2f %d  %.2f %.2f\n", $1, $2, $3, $4 / 1024, $5, $6, $7 / 1024,
      $1 / 1e6 / ($2 > 0 ? $2 : 0.01), $1 / 1e6 / print_s}'
done

echo '-- naive matrix product 256x256x256: tvms ms, clang -O3 -march=native ms, ratio (medians of 5 alternating runs of 31)'
clang-19 -O3 -march=native -o "$work/tir_mm" tir_mm.c || exit 1
for i in 1 2 3 4 5; do
  echo "$("$B/tvms" tir_mm.tvms 256) $("$work/tir_mm" 256)"
done >"$work/mm"
awk '{print $1}' "$work/mm" | median >"$work/ours"
awk '{print $2}' "$work/mm" | median >"$work/theirs"
paste "$work/ours" "$work/theirs" | awk '{printf "%.2f %.2f %.2f\n", $1, $2, $1 / $2}'
