# expect.sh -- what the tests of the tools share: a folder of their own, and checks of what a command says.
# A test does `. "$(dirname "$0")/expect.sh"` with the build folder as $1, and ends with `exit $bad`.
[ -x "$1/tvms" ] || { echo "usage: $0 BUILD_FOLDER"; exit 2; }
B=$(cd "$1" && pwd)
tests=$(cd "$(dirname "$0")" && pwd)
tvms=$B/tvms
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0

fail() {
  echo "$1"
  head -n 20 out
  bad=1
}

# expect STATUS TEXT COMMAND...: the status, and a text somewhere in what is printed; the output stays in `out`
expect() {
  want=$1 text=$2
  shift 2
  "$@" >out 2>&1 </dev/null
  status=$?
  [ $status -eq "$want" ] || fail "$*: status $status, expected $want"
  [ -z "$text" ] || grep -qF -- "$text" out || fail "$*: expected the text: $text"
}

# also TEXT..., absent TEXT...: of the output of the last command
also() { for text in "$@"; do grep -qF -- "$text" out || fail "expected the text: $text"; done; }
absent() { for text in "$@"; do ! grep -qF -- "$text" out || fail "expected no text: $text"; done; }
# same TEXT: the whole output
same() { [ "$(cat out)" = "$1" ] || fail "expected the output: $1"; }

# net.tvms: a product and its softmax in float16, for a device.
write_net() {
cat >net.tvms <<'T'
@I.ir_module
class Net:
    @R.function
    def main(x: R.Tensor(("n", 64), "float16"), w: R.Tensor((64, 32), "float16")):
        with R.dataflow():
            y = R.nn.softmax(R.matmul(x, w))
            R.output(y)
        return y
T
}
