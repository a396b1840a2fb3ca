#!/bin/sh
# test_repl.sh -- the prompt in a terminal of 80 columns: typing, completion, blocks, history, Ctrl-C, commands.
# Needs tmux; without it only what does not need a terminal is tested.
. "$(dirname "$0")/expect.sh"

# ---- Ctrl-C ends a script with status 130 ----
printf 'import sys\nprint("started")\nsys.stdout.flush()\nwhile True:\n    pass\n' >endless.tvms
# interrupted FILE: sends SIGINT once the script runs; its status. A background process of sh ignores SIGINT: the
# program takes it all the same.
interrupted() {
  : >out
  "$tvms" "$1" >out 2>&1 &
  pid=$!
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do grep -q started out && break; sleep 0.2; done
  kill -INT $pid
  { sleep 20; kill -KILL $pid; } 2>/dev/null &
  guard=$!
  wait $pid
  status=$?
  kill $guard 2>/dev/null
  return $status
}
interrupted endless.tvms
[ $? -eq 130 ] || fail 'a script that Ctrl-C ends has status 130'
also 'KeyboardInterrupt'
cat >interp.tvms <<'T'
@T.prim_func
def f(A: T.Buffer((1,), "float32")):
    while A[0] < 1.0:
        A[0] = 0.0
g = tvm.build(f, "interp")["f"]
print("started", flush=True)
try:
    g(np.zeros((1,), "float32"))
except RuntimeError:
    print("caught as another error")
T
sed -i '1i import numpy as np' interp.tvms
interrupted interp.tvms
[ $? -eq 130 ] || fail 'the interpreter stops for Ctrl-C'
absent 'caught as another'
cat >fold.tvms <<'T'
import tvm
@I.ir_module
class Slow:
    @T.prim_func(private=True)
    def slow(A: T.Buffer((1,), "float32"), B: T.Buffer((1,), "float32")):
        while A[0] < 1.0:
            B[0] = A[0]
    @R.function
    def main():
        cls = Slow
        y = R.call_tir(cls.slow, (R.const([0.0], "float32"),), out_sinfo=R.Tensor((1,), "float32"))
        return y
print("started", flush=True)
tvm.transform.FoldConstant()(Slow)
print("folding went on")
T
interrupted fold.tvms
[ $? -eq 130 ] || fail 'FoldConstant stops for Ctrl-C'
absent 'went on'
printf 'print("started")\ntry:\n    while True:\n        pass\nexcept KeyboardInterrupt:\n    print("stopped")\n' >catch.tvms
sed -i 's/print("started")/print("started", flush=True)/' catch.tvms
interrupted catch.tvms
[ $? -eq 0 ] || fail 'a script may catch KeyboardInterrupt'
also stopped

# ---- lines that come from a pipe ----
printf '1 + 1\ndef f(x):\n    return x * 2\n\nf(21)\n:type f\n1 // 0\n_\n:nonsense\n:save kept.tvms\n:quit\n' | "$tvms" repl >out 2>&1
also 2 42 function E0208 "unknown command ':nonsense'" ':help lists'
grep -q 'return x \* 2' kept.tvms || fail ':save writes what ran'
grep -q '1 // 0' kept.tvms && fail ':save writes nothing that failed'

command -v tmux >/dev/null || { echo 'tmux is not there: the terminal is not tested'; exit $bad; }

# ---- a terminal ----
T="tmux -L tvms_test_$$ -f /dev/null"
trap '$T kill-server 2>/dev/null; rm -rf "$work"' EXIT
screen() { $T capture-pane -p -t 0 >out; }
# seen TEXT...: waits until the screen has each text
seen() {
  for text in "$@"; do
    n=0
    while screen && ! grep -qF -- "$text" out; do
      n=$((n + 1))
      [ $n -gt 100 ] && { fail "the screen lacks: $text"; tail -n 12 out; return; }
      sleep 0.1
    done
  done
}
type_in() { $T send-keys -t 0 -l "$1"; }
key() { for k in "$@"; do $T send-keys -t 0 "$k"; done; }
enter() { type_in "$1"; key Enter; }
clear_screen() { key C-l; sleep 0.2; }
start() {
  $T new-session -d -x 80 -y 24 "env HOME=$work XDG_STATE_HOME=$work/state NO_COLOR=1 $tvms; sleep 30" 2>/dev/null
  seen '>>>'
}
mkdir -p state
: >out
start
enter '6 * 7'
seen '42'

# A block: its lines are indented by themselves; an empty one ends it.
enter 'def double(x):'
seen '...'
sleep 0.3
enter 'return x * 2'
seen '...     return x * 2'
sleep 0.3
key Enter
enter 'double(400)'
seen '800'

# Completion: of names, behind a dot, of operators, of commands.
type_in 'doub'
key Tab
type_in '(250)'
key Enter
seen '500'
type_in 'import mat'
key C-u
enter 'import math'
type_in 'math.sqr'
key Tab
type_in '(1764.0)'
key Enter
seen '42.0'
type_in 'R.nn.soft'
key Tab
seen 'softmax  softplus'
key C-u
$T resize-window -x 40 -y 24 # candidates are laid out to the width of the terminal
clear_screen
type_in 'math.a'
key Tab
seen 'acos  acosh  asin'
grep -q '^ ' out && fail 'candidates are broken at the edge of 40 columns'
key C-u
$T resize-window -x 80 -y 24
clear_screen
type_in ':pas'
key Tab
seen ':pas'
key C-u
clear_screen

# Ctrl-C stops what runs, and clears the line; the session goes on.
enter 'while True: pass'
key Enter
sleep 0.5
key C-c
seen 'KeyboardInterrupt'
type_in 'half a line'
seen '>>> half a line'
sleep 0.3
key C-c
sleep 0.3
enter '"still " + "here"'
seen 'still here'

# Errors keep the session.
enter '1 // 0'
seen 'error[E0208]'
enter 'double(9)'
seen '18'
clear_screen

# Commands.
enter ':help R.nn.softmax'
seen 'R.nn.softmax('
enter 'from tvm import relax'
enter ':help relax.op.add'
seen 'R.add('
enter ':help len'
seen 'len('
enter ':help Simplify'
seen 'Simplify ('
enter ':type 1.5'
seen 'float'
enter ':time 1 + 1'
seen ' us'
clear_screen
enter ':help double'
seen 'double(x)'
enter '@T.prim_func'
enter 'def f(A: T.Buffer((4,), "float32")):'
enter 'A[0] = 1.0'
key Enter
clear_screen
enter ':show f'
seen 'def f(A: T.Buffer((4,), "float32")):' '>>>'
clear_screen
enter ':lower llvm'
seen 'T.func_attr'
clear_screen
enter ':asm'
seen 'tvms_module_info'
clear_screen
enter ':passes Simplify'
seen 'Simplify ('
enter ':hlep'
seen "did you mean 'help'"
awk 'length($0) > 80 { exit 1 }' out || fail 'the screen has 80 columns'

# History goes on in the next run.
enter ':quit'
sleep 0.5
$T kill-server 2>/dev/null
sleep 0.3
start
key Up
seen ':quit'
key Up
seen ':hlep'
key C-u

# Compiled code is waited for; a second Ctrl-C ends the program.
cat >endless.tvms <<'END'
import numpy as np

@T.prim_func
def endless(A: T.Buffer((1,), "float32")):
    for i in T.serial(1 << 30):
        for j in T.serial(1 << 20):
            A[0] = T.sin(A[0] + T.float32(1))

kernel = tvm.build(endless, "llvm")
END
enter ':load endless.tvms'
enter 'print("ready"); kernel(np.zeros(1, "float32"))'
seen 'ready'
sleep 1
key C-c
seen 'a compiled function is running'
key C-c
sleep 0.5
$T list-panes -F '#{pane_current_command}' 2>/dev/null | grep -q tvms && fail 'a second Ctrl-C ends the program'
exit $bad
