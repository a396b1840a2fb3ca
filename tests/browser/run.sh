#!/bin/sh
# run.sh -- modules for browsers give what they should: WebAssembly in Node.js; WebGPU in Deno, which DENO=PROGRAM names.
#   sh tests/browser/run.sh BUILD_FOLDER [all]
# What is not installed is passed over with a word; with `all` that is a failure, but for Deno.
[ -x "$1/tvms" ] || { echo "usage: $0 BUILD_FOLDER"; exit 2; }
B=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
for tool in clang wasm-ld node /usr/lib/wasm32-wasi/libc.a /usr/lib/llvm-*/lib/clang/*/lib/wasi/libclang_rt.builtins-wasm32.a; do
  command -v "$tool" >/dev/null || [ -e "$tool" ] && continue
  echo "skip  browsers: $tool is not installed (make browser installs it)"
  [ -z "$2" ]
  exit
done
make -s -C "$root" B="$B" "$B/libtvms_browser.a" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0

cat >double.tvms <<'T'
@R.function
def main(x: R.Tensor(("n",), "float64")):
    return R.add(x, x)
T
"$B/tvms" build "$here/net.tvms" -o net.wasm && "$B/tvms" build double.tvms -o double.wasm || exit 1
"$B/tvms" build "$here/net.tvms" --target webgpu -o gpu.wasm || exit 1
node "$here/cases.mjs" "$root/target/browser" "$work/net.wasm" "$work/double.wasm" || bad=1
echo "ok    WebAssembly in Node.js"
if [ -n "$DENO" ]; then
  for file in net gpu; do "$DENO" run --quiet --allow-all --no-lock --no-config --unstable-webgpu "$here/cases.mjs" "$root/target/browser" "$work/$file.wasm" - || bad=1; done
else echo "skip  WebGPU in Deno: DENO names no program"; fi

# What is said where something is wrong.
refused() { # TEXT COMMAND...
  text=$1
  shift
  "$@" >said 2>&1 && { echo "not refused: $*"; bad=1; }
  grep -qF -- "$text" said || { cat said; echo "expected: $text"; bad=1; }
}
refused 'a .wasm file is code for wasm32, not for' "$B/tvms" build double.tvms --target llvm -o no.wasm
refused 'the opencl target writes no WebAssembly: use --target llvm' "$B/tvms" build "$here/net.tvms" --target opencl -o no.wasm
refused 'wasm-ld is needed to link WebAssembly, and not installed (Debian: lld)' env PATH=/nonexistent "$B/tvms" build double.tvms -o no.wasm
mkdir alone && ln "$B/tvms" "$B/libtvms_llvm.so" alone/ 2>/dev/null || cp "$B/tvms" "$B/libtvms_llvm.so" alone/
refused 'the runtime for browsers, libtvms_browser.a, is not installed' alone/tvms build double.tvms -o no.wasm
[ ! -e no.wasm ] || { echo 'a refused build left a file'; bad=1; }
exit $bad
