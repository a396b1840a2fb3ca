#!/bin/sh
# check.sh -- everything that `make check` proves, step by step. B is the build folder.
# The last line is "N passed, N failed"; the status is 1 if anything failed.
B=${B:-build}
passed=0
failed=0
log=$B/check.log
mkdir -p "$B/cache"
TVMS_CACHE=$(cd "$B/cache" && pwd)
export TVMS_CACHE

# step NAME COMMAND...: a check of its own
step() {
  name=$1
  shift
  if "$@" >"$log" 2>&1; then
    passed=$((passed + 1))
    echo "ok    $name"
    grep '^skip' "$log" # what a step passed over
  else
    failed=$((failed + 1))
    echo "FAIL  $name"
    tail -n 40 "$log"
  fi
}

# counted NAME COMMAND...: a runner that ends with "N passed, N failed"
counted() {
  name=$1
  shift
  "$@" >"$log" 2>&1
  status=$?
  line=$(tail -n 1 "$log")
  p=$(echo "$line" | sed -n 's/^\([0-9]*\) passed, [0-9]* failed$/\1/p')
  f=$(echo "$line" | sed -n 's/^[0-9]* passed, \([0-9]*\) failed$/\1/p')
  if [ -z "$p" ] || { [ $status -ne 0 ] && [ "$f" -eq 0 ]; }; then
    p=${p:-0} f=1
  fi
  passed=$((passed + p))
  failed=$((failed + f))
  echo "$([ "$f" -eq 0 ] && echo ok || echo FAIL)    $name: $p passed, $f failed"
  [ "$f" -eq 0 ] || tail -n 60 "$log"
}

sources() { find ir parser passes lower target lang -name "$1" | LC_ALL=C sort; }

# A folder includes only itself and what stands left of it on the street.
layer() {
  folder=$1 may=$2
  ! grep -rnE '^#include "' "$folder" --include='*.[chy]' --include='*.re' --include='*.def' |
    grep -vE '"('"$may"')/|"[a-z_]+\.(h|def)"'
}
layers() {
  layer target/runtime 'target/runtime' &&
    layer ir 'ir' &&
    layer parser 'parser|ir' &&
    layer passes 'passes|parser|ir' &&
    layer lower 'lower|passes|parser|ir|target/runtime' &&
    layer target 'target|lower|passes|parser|ir'
}

sizes() { sources '*.c' | xargs awk -v file=800 -v fun=80 -f tests/size.awk; }

# Every header compiles alone: it includes what it needs.
headers() {
  for h in $(sources '*.h'); do
    case $h in passes/rows.h | lang/dialect/define_names.h | target/llvm/*) continue ;; esac
    echo "#include \"$h\"" | cc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -I. -I"$B" -fsyntax-only -x c - || return 1
  done
}

opening_comments() {
  for f in $(sources '*.[ch]'); do
    head -n 1 "$f" | grep -q "^/\* $(basename "$f") -- " || { echo "$f does not open with its name and purpose"; bad=1; }
  done
  [ -z "$bad" ]
}

format() { clang-format --dry-run -Werror $(sources '*.[ch]') tests/unit/*.[ch] examples/*.c; }

# Files of our own stand in the layout of `tvms fmt`, but for texts that do not parse.
layout() {
  "$B/tvms" fmt --check $(find stdlib examples tests -name '*.tvms' | grep -vx tests/dialect/faults.tvms)
}

# The deployed library needs no collector, no LLVM and nothing of the compiler, and is small.
runtime_alone() {
  ! nm -u "$B/libtvms_runtime.a" | grep -E ' (GC_|LLVM|ir_|node_|lang_|value_|diag_|str_intern)' || return 1
  strip -s -o "$B/stripped.so" "$B/libtvms_runtime.so" || return 1
  [ "$(stat -c %s "$B/stripped.so")" -lt 250000 ]
}

deploy() {
  "$B/tvms" build examples/unity.tvms --target llvm -o "$B/unity.so" && "$B/deploy" "$B/unity.so"
}

roundtrip() { "$B/tvms" check --roundtrip examples/*.tvms tests/ir/*.tvms; }

random_programs() { sh tests/gen/run.sh "$B" 1 20; }
random_c() { sh tests/gen/build.sh "$B" 1 1; }
# A sample of what `make test-c` runs.
on_c() { UNIT_TARGET=c "$B/unit" llvm_; }
# A sample of what `make check-opencl` runs; PoCL runs it on the CPU.
operators_on_opencl() { OP_TARGETS=opencl "$B/tvms" test -j "$(nproc)" tests/op/binary.tvms tests/op/reduce.tvms tests/op/nn_attention.tvms tests/op/vision.tvms; }
# A sample of what `make check-cuda` runs: PTX on an emulator.
operators_on_cuda() { LD_LIBRARY_PATH=$B/fake_cuda OP_TARGETS=cuda "$B/tvms" test -j "$(nproc)" tests/op/binary.tvms tests/op/reduce.tvms tests/op/nn_attention.tvms tests/op/vision.tvms; }
# A sample of what `make check-sim` runs: compiled, then checked for races and the like.
operators_on_sim() { OP_TARGETS=sim "$B/tvms" test -j "$(nproc)" tests/op/reduce.tvms tests/op/nn_attention.tvms tests/op/vision.tvms; }
operators_checked() { OP_TARGETS=sim "$B/tvms" test --sanitize -j "$(nproc)" $(find tests/op -name '*.tvms' -not -name support.tvms); }
deploy_on_opencl() {
  "$B/tvms" build examples/unity.tvms --target opencl -o "$B/unity_opencl.so" && "$B/deploy" "$B/unity_opencl.so" >"$B/deploy.opencl" &&
    "$B/tvms" build examples/unity.tvms --target llvm -o "$B/unity.so" && "$B/deploy" "$B/unity.so" >"$B/deploy.llvm" &&
    cmp "$B/deploy.opencl" "$B/deploy.llvm"
}
operators_on_c() { OP_TARGETS=c "$B/tvms" test -j "$(nproc)" tests/op/binary.tvms tests/op/nn_conv.tvms tests/op/sort.tvms tests/op/nn_attention.tvms; }

[ -x "$B/unit" ] && counted 'C units' "$B/unit"
[ -x "$B/unit" ] && counted 'C units of machine code, by the c target' on_c
counted 'operators, by the c target' operators_on_c
counted 'operators, on OpenCL' operators_on_opencl
counted 'operators, as PTX' operators_on_cuda
counted 'kernels, as PTX' env LD_LIBRARY_PATH=$B/fake_cuda "$B/tvms" test tests/target/cuda_run.tvms tests/target/cuda_libraries.tvms tests/schedule/rules_tensor_core.tvms tests/target/random_programs.tvms tests/target/wmma.tvms tests/schedule/rules_gpu_attention.tvms
counted 'kernels for sm_90a, as PTX' env LD_LIBRARY_PATH=$B/fake_cuda FAKE_CUDA_ARCH=90 "$B/tvms" test tests/target/wgmma.tvms tests/target/bulk_copies.tvms tests/schedule/rules_warpgroup.tvms
counted 'operators, on a simulated GPU' operators_on_sim
counted 'operators, checked by it' operators_checked
counted 'tests in .tvms' "$B/tvms" test -j "$(nproc)" $(find tests -name '*.tvms' -not -path 'tests/bench/*' -not -path 'tests/math/*' | LC_ALL=C sort)
counted 'errors of functions of float32, of every 4099th' sh tests/math/run.sh "$B" 4099
counted 'ONNX models' sh tests/onnx/run.sh "$B"
counted 'Python programs' sh tests/python.sh "$B"
counted 'snippets in the docs' sh tests/docs.sh "$B"
for e in examples/*.tvms; do step "$e runs" "$B/tvms" "$e"; done
step 'a C program runs the library made from it' deploy
step 'the same C program runs one that was made for OpenCL' deploy_on_opencl
step 'modules survive printing and reading' roundtrip
step 'random tensor programs survive printing and reading' random_programs
step 'random tensor programs become C without warnings' random_c
step 'texts and models in the ways of the fuzzer' sh tests/fuzz/run.sh "$B/fuzz_text" "$B/fuzz_seeds" 0
step 'modules for browsers give what they should' sh tests/browser/run.sh "$B"
step 'code for other machines prints the same bits' sh tests/cross/run.sh "$B"
for t in tests/tool/test_*.sh; do
  step "$(basename "$t" .sh | sed 's/^test_//'): tools as a user meets them" sh "$t" "$B"
done
step 'folders include only what stands before them' layers
step 'files and functions are short' sizes
step 'headers compile alone' headers
step 'files open with their purpose' opening_comments
step 'C files have the form of .clang-format' format
step '.tvms files have the layout of tvms fmt' layout
step 'the runtime library stands alone' runtime_alone

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
