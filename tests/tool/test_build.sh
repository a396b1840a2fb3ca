#!/bin/sh
# test_build.sh -- `tvms build`: every form that it writes, and programs that use what it wrote.
#   sh tests/tool/test_build.sh BUILD_FOLDER
. "$(dirname "$0")/expect.sh"
examples=$tests/../../examples

cat >net.tvms <<'T'
@I.ir_module
class Net:
    @T.prim_func
    def scale(A: T.Buffer(("n",), "float32"), B: T.Buffer(("n",), "float32")):
        n = T.int64()
        for i in T.parallel(n):
            with T.block("scale"):
                vi = T.axis.spatial(n, i)
                B[vi] = A[vi] * 2.0

    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Net
        y = R.call_tir(cls.scale, (x,), out_sinfo=R.Tensor((n,), "float32"))
        return R.add(y, R.const([0.5], "float32"))
T

# Stores past the caches, and the fence behind them.
cat >stream.tvms <<'T'
@T.prim_func
def copy(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    for i in T.serial(4, annotations={"pragma_nontemporal_stores": 1}):
        for j in T.vectorized(16):
            B[i * 16 + j] = A[i * 16 + j]
T
expect 0 '!nontemporal' "$tvms" build stream.tvms --emit llvm-ir -o -
also 'fence seq_cst'
expect 0 vmovntps "$tvms" build stream.tvms --target 'llvm -mtriple=x86_64-linux-gnu -mcpu=haswell' --emit asm -o -
sed 's/"pragma_nontemporal_stores": 1//' stream.tvms >plain.tvms
expect 0 'define' "$tvms" build plain.tvms --emit llvm-ir -o -
absent '!nontemporal' 'fence seq_cst'

# By the ending of the name, and by --emit.
is() { head -c 4096 "$1" | tr -d '\0' | grep -qF -- "$2" || { echo "$1 is no $2"; bad=1; }; }
for form in so:.so:ELF obj:.o:ELF archive:.a:arch asm:.s:__tvms_main: llvm-ir:.ll:target\ triple c:.c:int32_t tvms-lowered:.tvms:T.prim_func; do
  word=${form%%:*} rest=${form#*:}
  ending=${rest%%:*} mark=${rest#*:}
  expect 0 '' "$tvms" build net.tvms -o "by_ending$ending"
  expect 0 '' "$tvms" build net.tvms --emit "$word" -o "by_word_$word"
  is "by_word_$word" "$mark"
  is "by_ending$ending" "$mark"
done
expect 2 'end it in one of .so, .o, .a, .wasm, .s, .ll, .c, ' "$tvms" build net.tvms -o net.exe
expect 2 '--emit exe: there are so, obj, archive, wasm, asm, llvm-ir, c, ' "$tvms" build net.tvms --emit exe -o net
expect 1 'the llvm target writes no C: use --target c' "$tvms" build net.tvms --target llvm -o net.c
expect 1 'the c target writes no LLVM IR: use --target llvm' "$tvms" build net.tvms --target c -o net.ll
expect 1 'target interp writes no files' "$tvms" build net.tvms --target interp -o net.so
[ ! -e net.c ] && [ ! -e net.ll ] && [ ! -e net.exe ] || { echo 'a refused form was written'; bad=1; }

# A large module is compiled in parts, the same ones each time; only what it exports can be seen.
cat >large.tvms <<'T'
from tvm import relax
bb = relax.BlockBuilder()
x = relax.Var("x", R.Tensor((4, 8), "float32"))
with bb.function("main", [x]):
    y = x
    for i in range(24):
        y = bb.emit(R.nn.softmax(R.concat([y, x], axis=0)))
    bb.emit_func_output(y)
print(bb.get().script())
T
"$tvms" large.tvms >chain.tvms
expect 0 '' "$tvms" build chain.tvms -o chain.a
expect 0 '' "$tvms" build chain.tvms -o chain.so
expect 0 '' "$tvms" build chain.tvms -o again.so
[ "$(ar t chain.a | wc -l)" -gt 1 ] || fail 'a large module is compiled in one part'
cmp -s chain.so again.so || fail 'two builds of a large module differ'
[ "$(nm -D --defined-only chain.so | awk '{print $3}' | sort | tr '\n' ' ')" = '__tvms_main tvms_module_info tvms_module_text ' ] ||
  fail 'a part exports what it should not'
expect 0 'the same' "$tvms" diff chain.tvms ./chain.so interp
expect 0 'the same' "$tvms" diff chain.tvms ./chain.so llvm

# Memory: plans come within 5 % of what is live at once, and are drawn.
(cat "$tests/../memory/networks.tvms"; echo 'print(Networks.script(show_meta=True))') >make.tvms
"$tvms" make.tvms >networks.tvms
expect 0 'live at most' "$tvms" build networks.tvms --target 'llvm -opt-level=0' -o networks.so --report
[ "$(awk '$4 ~ /%/ && $4 + 0 <= 105 && $5 > 20' out | wc -l)" = 10 ] || fail 'a plan is far from the lower bound'
for name in resnet unet densenet inception transformer dynamic_transformer; do
  is "networks.so.$name.svg" '<svg xmlns'
  expect 0 '' grep -q '</svg>' "networks.so.$name.svg"
done

# The lowered module is a program: it reads back and runs.
expect 0 'well-formed' "$tvms" check --roundtrip by_ending.tvms
cat >run.tvms <<'T'
import numpy as np
for name in ["net", "by_ending"]:
    mod = tvm.script.from_source(open(name + ".tvms").read())
    for target in ["interp", "llvm", "c"]:
        print(tvm.build(mod, target)["main"](np.array([1.0, 2.0], "float32")))
T
expect 0 '' "$tvms" run.tvms
[ "$(sort -u out)" = '[2.5 4.5]' ] || fail 'the modules do not give 2.5 and 4.5'

# The C text: names are kept, compilers have nothing to say, and a program loads what they make.
expect 0 '' grep -E 'scale_kernel\(const float \*restrict A, float \*restrict B, int64_t n\)' by_ending.c
expect 0 '' grep -F 'B[i] = A[i] * 2.0f;' by_ending.c
expect 0 '' "$tvms" build "$examples/unity.tvms" --target c -o unity.c
expect 0 '' "$tvms" build "$examples/unity.tvms" --target llvm -o unity_llvm.so
exports() { nm -D --defined-only "$1" | awk '{print $3}' | sort; }
for cc in gcc clang; do
  command -v $cc >/dev/null || continue
  for level in -O0 -O3; do
    expect 0 '' $cc -std=c11 -Wall -Wextra -Wpedantic -Werror $level -ffp-contract=off -fPIC -shared unity.c -o unity.so -lm
    expect 0 '' "$B/deploy" ./unity.so
    [ "$(exports unity.so)" = "$(exports unity_llvm.so)" ] || { echo "$cc: other exports"; bad=1; }
  done
done
"$B/deploy" ./unity_llvm.so >expected
"$B/deploy" ./unity.so >found
cmp -s expected found || { echo 'the C program prints otherwise with C'; bad=1; }
expect 0 '' "$tvms" build net.tvms --target 'c -line-directives' -o lines.c
expect 0 '' grep -F '#line 9 "net.tvms"' lines.c

# Without a compiler the text can be had, and nothing else.
# Texts go to standard output, the others need a name.
expect 0 'scale' "$tvms" build net.tvms --emit asm
expect 0 'def scale' "$tvms" build net.tvms --emit tvms-lowered -o -
expect 2 'where to? give -o FILE.so' "$tvms" build net.tvms --emit so
expect 2 "what is '-' to be?" "$tvms" build net.tvms -o -
expect 2 '--report draws beside the output' "$tvms" build net.tvms --emit asm --report
mkdir temporary
expect 1 'error' env TMPDIR="$work/temporary" "$tvms" build net.tvms --target "llvm -mtriple=none" --emit asm
expect 0 'scale' env TMPDIR="$work/temporary" "$tvms" build net.tvms --emit asm
[ ! -e ./- ] || fail 'a file named -'
[ -z "$(ls temporary)" ] || fail 'a temporary file was left behind'

# What compiling finds is told where it was asked for, not where a pass of the library stood last.
cat >vectors.tvms <<'END'
@T.prim_func
def rounds(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "float32")):
    A[0:4] = T.call_llvm_pure_intrin("int32x4", "llvm.lround", B[0:4])

tvm.build(rounds, "llvm")
END
expect 1 'Intrinsic does not support vectors' "$tvms" run vectors.tvms
also 'build(mod, target)' "vectors.tvms:5:1: note: in 'build', called here"

mkdir bin
expect 1 'no C compiler is installed' env PATH="$work/bin" "$tvms" build net.tvms --target c -o none.so
expect 0 '' env PATH="$work/bin" "$tvms" build net.tvms --target c -o none.c
ls -A | grep -q '\.tmp' && { echo 'temporary files were left behind'; bad=1; }
# A process that ends while LLVM is being loaded ends well: not before what the library makes at its start is whole.
printf 'def f(:\n' >faulty.tvms
for i in 1 2 3 4 5 6 7 8 9 10; do expect 1 'E01' "$tvms" build faulty.tvms -o faulty.so; done
cat >slow.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int whole;
static void at_end(void) { puts(whole ? "taken down whole" : "taken down half made"); }
__attribute__((constructor)) static void start(void) {
  atexit(at_end);
  usleep(100000);
  whole = 1;
}
C
mkdir slow && cp "$tvms" slow/tvms && cc -shared -fPIC slow.c -o slow/libtvms_llvm.so || bad=1
expect 1 'taken down whole' slow/tvms build faulty.tvms -o faulty.so
{ for i in $(seq 3000); do printf 'def f%d(x):\n    return x\n' $i; done; cat faulty.tvms; } >long.tvms
expect 1 'taken down whole' slow/tvms build long.tvms -o long.so
expect 1 'taken down whole' slow/tvms build net.tvms -o net_slow.so
also 'is not the llvm back end of this program'
# Who needs no LLVM does not load it.
for command in 'check net.tvms' 'opt net.tvms' 'fmt --check stream.tvms' 'build net.tvms --target c -o none.c' 'build net.tvms --emit tvms-lowered -o none.tvms' '-c 1'; do
  expect 0 '' slow/tvms $command
  absent 'taken down'
done
exit $bad
