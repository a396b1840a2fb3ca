#!/bin/sh
# test_debug.sh -- debuggers and profilers see the lines of programs, in files and in this process.
#   sh tests/tool/test_debug.sh BUILD_FOLDER
. "$(dirname "$0")/expect.sh"

cat >sums.tvms <<'T'
@T.prim_func
def sums(A: T.Buffer((1024, 1024), "float32"), B: T.Buffer((1024,), "float32")):
    for i in T.parallel(1024):
        B[i] = 0.0
        for j in range(1024):
            B[i] = B[i] + A[i, j] * A[j, i]
T
# In files: a function for each kernel, and the lines of its statements.
dump=$(command -v llvm-dwarfdump-19 || command -v llvm-dwarfdump)
expect 0 '' "$tvms" build sums.tvms --target 'llvm -debug-info -opt-level=0' -o sums.o
if [ -n "$dump" ]; then
  expect 0 'No errors' "$dump" --verify sums.o
  expect 0 'DW_AT_name	("sums")' "$dump" sums.o
  also 'sums.parallel' 'sums.tvms"'
  expect 0 'sums.tvms' "$dump" --debug-line sums.o
  for line in 3 4 5 6; do grep -qE "^0x[0-9a-f]+ +$line +" out || fail "no code of line $line"; done
  expect 0 '' "$tvms" build sums.tvms -o plain.o
  expect 0 '' "$dump" --debug-line plain.o
  absent 'sums.tvms'
fi
expect 0 '' "$tvms" build sums.tvms --target 'llvm -debug-info' -o sums.so
if command -v objdump >/dev/null; then expect 0 'sums.tvms:6' objdump -d -l sums.so; fi

# In this process: gdb is told of the code, and perf's dump holds names and lines.
cat >here.tvms <<'T'
import numpy as np

@T.prim_func
def sums(A: T.Buffer((64,), "float32")):
    for i in range(64):
        A[i] = A[i] * 3.0

a = np.ones((64,), "float32")
tvm.build(sums, "llvm -opt-level=1")["sums"](a)
print(a[0])
T
expect 0 '3.0' env TVMS_JIT_EVENTS=perf JITDUMPDIR="$work" HOME="$work" "$tvms" here.tvms
dumped=$(find "$work" -name '*.dump')
[ -n "$dumped" ] && grep -qa 'sums.kernel' $dumped && grep -qa 'here.tvms' $dumped || fail "no dump with the names and lines"
expect 0 '3.0' env TVMS_JIT_EVENTS=gdb "$tvms" here.tvms
expect 1 "TVMS_JIT_EVENTS is gdb, perf or gdb,perf, not 'all'" env TVMS_JIT_EVENTS=all "$tvms" here.tvms
if command -v gdb >/dev/null; then
  cat >commands <<'T'
set breakpoint pending on
set debuginfod enabled off
break here.tvms:6
run
backtrace 1
T
  TVMS_JIT_EVENTS=gdb gdb -nx -batch -x commands --args "$tvms" here.tvms >out 2>&1 </dev/null
  also 'sums.kernel (A=0x' 'at here.tvms:6'
  # The values of parameters, loop variables and lets, by names and types.
  cat >locals.tvms <<'T'
import numpy as np

@T.prim_func
def fill(A: T.Buffer(("n",), "float32"), k: T.int32, x: T.float64, flag: T.bool):
    n = T.int64()
    for i in range(n):
        twice: T.let[T.int32] = k * 2
        A[i] = T.if_then_else(flag, T.Cast("float32", x) * T.Cast("float32", twice), 1.0)

a = np.ones((5,), "float32")
tvm.build(fill, "llvm -opt-level=0")["fill"](a, 21, 0.5, True)
print(a[0])
T
  cat >commands <<'T'
set breakpoint pending on
set debuginfod enabled off
break locals.tvms:8 if i == 3
run
info args
info locals
print twice + 1
print A[0]
ptype A
T
  TVMS_JIT_EVENTS=gdb gdb -nx -batch -x commands --args "$tvms" locals.tvms >out 2>&1 </dev/null
  also 'k = 21' 'x = 0.5' 'flag = true' 'n = 5' 'i = 3' 'twice = 42' '$1 = 43' '$2 = 21' 'type = float32 *'
fi
exit $bad
