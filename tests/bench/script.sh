#!/bin/sh
# script.sh -- the script language beside CPython: the same programs, alternating runs, medians.
#   sh tests/bench/script.sh [BUILD_FOLDER] [RUNS]
# Prints per program: tvms seconds, python3 seconds, ratio, tvms MB, python3 MB.
B=$(cd "${1:-build}" && pwd)
runs=${2:-7}
cd "$(dirname "$0")/script" || exit 1
work=$B/bench
mkdir -p "$work"

median() { sort -n "$1" | awk '{v[NR] = $1; m[NR] = $2} END {print v[int((NR + 1) / 2)], m[int((NR + 1) / 2)]}'; }

# measure COMMAND...: seconds and kilobytes; the output goes to $work/out
measure() {
  a=$(date +%s%N)
  /usr/bin/time -o "$work/memory" -f '%M' "$@" >"$work/out" || exit 1
  b=$(date +%s%N)
  echo "$(((b - a) / 1000)) $(cat "$work/memory")"
}

printf '%-10s %8s %8s %6s %6s %6s\n' program tvms python3 ratio MB MB
for program in *.py; do
  : >"$work/ours"
  : >"$work/theirs"
  for i in $(seq "$runs"); do
    measure "$B/tvms" "$program" >>"$work/ours"
    cp "$work/out" "$work/out.ours"
    measure python3 "$program" >>"$work/theirs"
    cmp -s "$work/out" "$work/out.ours" || { echo "$program: the outputs differ"; exit 1; }
  done
  echo "$(median "$work/ours") $(median "$work/theirs")" |
    awk -v name="$program" '{printf "%-10s %8.3f %8.3f %6.2f %6.0f %6.0f\n", name, $1 / 1e6, $3 / 1e6, $1 / $3, $2 / 1024, $4 / 1024}'
done
