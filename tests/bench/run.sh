#!/bin/sh
# run.sh -- the figures that the project keeps: start-up, large modules read and printed, long chains of operators
# compiled, the naive matrix product against clang, parallel loops that do nothing.
#   make bench, or sh tests/bench/run.sh [BUILD_FOLDER] once build/bench_stages is made
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

# Each stage alone, then reading (all but printing): of a run whose columns are the medians of 7.
cat <<'EOF'
-- modules of 100,000 lines, from text to text: million lines a second of processor time
         lex  parse  build  verify   read  print   read s  print s   MB
EOF
for kind in graph tensor; do
  awk -v lines=100000 -v kind=$kind -f large_module.awk >"$work/$kind.tvms"
  for i in 1 2 3 4 5 6 7; do "$B/bench_stages" "$work/$kind.tvms" || exit 1; done >"$work/runs"
  for column in 1 2 3 4 5 6 7; do awk -v c=$column '{print $c}' "$work/runs" | median; done | paste -sd ' ' |
    awk -v kind=$kind -v lines="$(wc -l <"$work/$kind.tvms")" '{
      m = lines / 1e6
      read = $1 + $2 + $3 + $4
      printf "%-6s %5.2f  %5.2f  %5.2f  %6.2f  %5.2f  %5.2f   %6.3f  %7.3f  %3d\n", kind,
        m / $1, m / $2, m / $3, m / $4, m / read, $7 / 1e6 / $5, read, $5, $6}'
done

echo '-- modules of 5,000 lines: seconds of processor time to read and to print, of Apache TVM and of tvms; ratios'
if "${TVM_PYTHON:-false}" -c 'import tvm' 2>/dev/null; then
  for kind in graph tensor; do
    awk -v lines=5000 -v kind=$kind -f large_module.awk >"$work/small.tvms"
    "$B/tvms" opt --style tvm "$work/small.tvms" >"$work/small.py" || exit 1
    for i in 1 2 3 4 5 6 7; do "$B/bench_stages" "$work/small.py" || exit 1; done >"$work/runs"
    ours=$(awk '{print $1 + $2 + $3 + $4}' "$work/runs" | median)
    echo "$kind $("$TVM_PYTHON" text_peer.py "$work/small.py" 2>/dev/null) $ours $(awk '{print $5}' "$work/runs" | median)"
  done | awk '{printf "%-6s %.2f %.3f  %.4f %.4f  %.0f %.0f\n", $1, $2, $3, $4, $5, $2 / $4, $3 / $5}'
else echo 'skipped: TVM_PYTHON=PYTHON names no Python that has apache-tvm'; fi

"$B/tvms" chain.tvms

echo '-- naive matrix product 256x256x256: tvms ms, clang -O3 -march=native ms, ratio (medians of 5 alternating runs of 31)'
clang -O3 -march=native -o "$work/tir_mm" tir_mm.c || exit 1
for i in 1 2 3 4 5; do
  echo "$("$B/tvms" tir_mm.tvms 256) $("$work/tir_mm" 256)"
done >"$work/mm"
awk '{print $1}' "$work/mm" | median >"$work/ours"
awk '{print $2}' "$work/mm" | median >"$work/theirs"
paste "$work/ours" "$work/theirs" | awk '{printf "%.2f %.2f %.2f\n", $1, $2, $1 / $2}'

echo '-- parallel loops that do nothing: medians, with where the tenths below and above begin'
cc -O2 -I../.. -rdynamic -o "$work/parallel" parallel.c "$B/libtvms_runtime.a" -lpthread -ldl || exit 1
"$work/parallel" 2
