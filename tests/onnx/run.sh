#!/bin/sh
# run.sh -- the format's own test data (Debian's libonnx-testdata), the nine networks and the cases here, by a target each.
# A case that fails and is not named in known.txt is a failure; so is one that is named there and passes.
#   sh tests/onnx/run.sh BUILD_FOLDER [FOLDER...]     the last line is "N passed, N failed"
# ONNX_TARGETS names other targets than llvm and interp, ONNX_OPTIONS options of them, ONNX_TIMEOUT the seconds that a model may take; the networks run by the first of them,
# by llvm at both ends of optimisation.
B=$1
shift
here=$(dirname "$0")
data=/usr/share/libonnx-testdata/data
passed=0
failed=0
jobs=$(nproc)
targets=${ONNX_TARGETS:-llvm interp}

# cases TARGET FOLDER...
cases() {
  target=$1
  shift
  "$B/tvms" test --onnx -v -j "$jobs" --timeout "${ONNX_TIMEOUT:-300}" --target "$target${ONNX_OPTIONS:+ $ONNX_OPTIONS}" "$@" >"$B/onnx.out" 2>"$B/onnx.log"
  # What is refused as expected: float64 where the language has none, tensors of more than WebGPU's driver for the CPU binds.
  sed -n '/^FAIL .* \(has no float64: compute in float32\|sees at most [0-9]* of a tensor\)/{s|.*|PASS refused|p; d}; s|^\(PASS\) .*/\([A-Za-z0-9_]*\)[ :].*|\1 \2|p; s|^\(FAIL\) .*/\([A-Za-z0-9_]*\)[ :].*|\1 \2|p' "$B/onnx.log" |
    awk 'NR == FNR { if ($1 !~ /^#/) known[$1] = 1; next }
      $1 == "PASS" && !($2 in known) { passed++; next }
      $1 == "FAIL" && ($2 in known) { passed++; next }
      { failed++; print ($1 == "PASS" ? "passes, but is named in known.txt: " : "fails: ") $2 }
      END { print passed + 0, failed + 0 }' "$here/known.txt" - >"$B/onnx.sum"
  sed '$d' "$B/onnx.sum"
  line=$(tail -n 1 "$B/onnx.sum")
  p=${line% *} f=${line#* }
  [ "$p" -gt 0 ] || f=$((f + 1)) # nothing ran
  echo "$target $*: $(tail -n 1 "$B/onnx.out")"
  passed=$((passed + p))
  failed=$((failed + f))
}

if [ $# -gt 0 ]; then
  for target in $targets; do cases "$target" "$@"; done
else
  [ -d "$data" ] || { echo "skip  libonnx-testdata is not installed"; data=; }
  for target in $targets; do cases "$target" ${data:+"$data"} "$here/cases" "$here/runtime" "$here/spec" "$here/images"; done
  cases "${targets%% *}" "$here/light"
  [ "${targets%% *}" != llvm ] || cases "llvm -opt-level=0" "$here/light"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
