#!/bin/sh
# python.sh -- programs in plain Python that the script language runs with the same output.
#   sh tests/python.sh [BUILD_FOLDER] [NAME...]
# tests/python/NAME.py must print NAME.expected. Where python3 (3.11 or later) is there, it must print
# that as well: what is expected is what Python says (with numpy 2, for the programs numpy*.py). The last line is "N passed, N failed".
B=$(cd "${1:-build}" && pwd)
[ $# -gt 0 ] && shift
cd "$(dirname "$0")/python" || exit 1
passed=0
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
python=$?
python3 -c 'import sys, numpy; sys.exit(int(numpy.__version__.split(".")[0]) < 2)' 2>/dev/null
numpy=$?

# same NAME COMMAND...: the command's output is NAME.expected
same() {
  name=$1
  shift
  "$@" >"$work/out" 2>&1 </dev/null
  if cmp -s "$work/out" "$name.expected"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL $name: $*"
    diff "$name.expected" "$work/out" | head -n 20
  fi
}

for name in ${*:-$(ls *.py | sed 's/\.py$//')}; do
  same "$name" "$B/tvms" "$name.py"
  needs=$python
  case $name in numpy*) needs=$((python + numpy)) ;; esac
  [ $needs -ne 0 ] || same "$name" python3 "$name.py"
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
