#!/bin/sh
# run.sh -- code for other machines, run by emulators: the same programs print the same bits as here.
#   sh tests/cross/run.sh BUILD_FOLDER [all]
# AArch64 and RISC-V 64 by qemu-user, WebAssembly by node. A machine whose tools are not installed is passed over with a word;
# with `all` that is a failure. `make check-cross` installs them.
[ -x "$1/tvms" ] || { echo "usage: $0 BUILD_FOLDER [all]"; exit 2; }
B=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
all=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
flags="-std=gnu11 -D_GNU_SOURCE -O1 -I$root -I$root/target/runtime"

# there NAME TOOL...: are all tools installed?
there() {
  name=$1
  shift
  for tool in "$@"; do
    command -v "$tool" >/dev/null || [ -e "$tool" ] && continue
    echo "skip  $name: $tool is not installed"
    [ -z "$all" ] || bad=1
    return 1
  done
}
# same NAME EXPECTED FOUND
same() {
  if [ -s "$2" ] && cmp -s "$2" "$3"; then echo "ok    $1"; else
    echo "FAIL  $1: prints something else than here"
    diff "$2" "$3" | cut -c1-200 | head -n 10
    bad=1
  fi
}

# Here.
"$B/tvms" build "$here/cases.tvms" -o here.o &&
  cc $flags -o here "$here/runner.c" "$root"/target/runtime/*.c here.o -lpthread -ldl -lm && ./here >cases.out || exit 1
"$B/tvms" build "$root/examples/unity.tvms" -o unity.so && "$B/deploy" ./unity.so >unity.out || exit 1
"$B/tvms" build "$here/weights.tvms" -o weights.so && "$B/deploy" ./weights.so >weights.out || exit 1

linux() {
  arch=$1
  gcc=$arch-linux-gnu-gcc qemu="qemu-$arch -L /usr/$arch-linux-gnu"
  there "$arch" "$gcc" "qemu-$arch" "/usr/$arch-linux-gnu/include/stdio.h" || return
  target="llvm -mtriple=$arch-linux-gnu"
  "$B/tvms" build "$here/cases.tvms" --target "$target" -o "$arch.o" &&
    $gcc $flags -o "cases_$arch" "$here/runner.c" "$root"/target/runtime/*.c "$arch.o" -lpthread -ldl -lm
  $qemu "./cases_$arch" >"cases_$arch.out"
  same "an object for $arch" cases.out "cases_$arch.out"
  $gcc $flags -rdynamic -o "deploy_$arch" "$root/examples/deploy.c" "$root"/target/runtime/*.c -lpthread -ldl
  "$B/tvms" build "$root/examples/unity.tvms" --target "$target" -o "unity_$arch.so" && $qemu "./deploy_$arch" "./unity_$arch.so" >"unity_$arch.out"
  same "a shared library for $arch" unity.out "unity_$arch.out"
  "$B/tvms" build "$here/weights.tvms" --target "$target" -o "weights_$arch.so" && $qemu "./deploy_$arch" "./weights_$arch.so" >"weights_$arch.out"
  same "a shared library with weights for $arch" weights.out "weights_$arch.out"
  "$B/tvms" build "$here/cases.tvms" -o cases.c &&
    $gcc $flags -ffp-contract=off -o "c_$arch" "$here/runner.c" "$root"/target/runtime/*.c cases.c -lpthread -ldl -lm
  $qemu "./c_$arch" >"c_$arch.out"
  same "C for $arch" cases.out "c_$arch.out"
}

# With the runtime for browsers.
wasm() {
  lib=/usr/lib/wasm32-wasi
  there wasm32 clang wasm-ld node $lib/libc.a /usr/lib/llvm-*/lib/clang/*/lib/wasi/libclang_rt.builtins-wasm32.a || return
  make -s -C "$root" B="$B" "$B/libtvms_browser.a" || bad=1
  "$B/tvms" build "$here/cases.tvms" --target 'llvm -mtriple=wasm32-wasi' -o wasm.o || bad=1
  clang --target=wasm32-wasi $flags -c -o runner.o "$here/runner.c" || bad=1
  wasm-ld -o cases.wasm $lib/crt1-command.o runner.o wasm.o "$B/libtvms_browser.a"
  node --no-warnings "$here/run.mjs" cases.wasm >wasm.out
  same 'an object for wasm32' cases.out wasm.out
  "$B/tvms" build "$here/cases.tvms" --target 'llvm -mtriple=wasm32-wasi' -o wasm.so >refused 2>&1 && bad=1
  grep -q 'wasm32 has no shared libraries: write a module for browsers' refused || { cat refused; bad=1; }
}

linux aarch64
linux riscv64
wasm
exit $bad
