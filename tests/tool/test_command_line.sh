#!/bin/sh
# test_command_line.sh -- the program as a user meets it: statuses, messages, bad input, nothing half-written.
#   sh tests/tool/test_command_line.sh BUILD_FOLDER
. "$(dirname "$0")/expect.sh"

cat >good.tvms <<'T'
@T.prim_func
def f(A: T.Buffer((4,), "float32")):
    for i in range(4):
        A[i] = 1.0
T
cat >part.tvms <<'T'
@I.ir_module
class Mod:
    @T.prim_func(private=True)
    def g(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            B[i] = A[i]

    @R.function
    def main(x: R.Tensor((8,), "float32")):
        cls = Mod
        return R.call_tir(cls.g, (x,), out_sinfo=R.Tensor((8,), "float32"))

main = Mod["main"]
T
expect 0 'part.tvms: 1 module, well-formed' "$tvms" check --roundtrip part.tvms # main is a part of Mod
expect 0 '2' "$tvms" -c 'print(1 + 1)'
expect 0 'well-formed' "$tvms" check good.tvms
expect 0 'A[i] = 1.0' "$tvms" opt good.tvms
cat >passes.tvms <<'T'
@tvm.transform.module_pass
class Tag:
    def __init__(self, value=1):
        self.value = value
    def transform_module(self, mod, ctx):
        return mod.with_attr("tag", self.value)
T
expect 0 'I.module_attrs({"tag": 7})' "$tvms" opt --load passes.tvms --passes 'Tag(value=7), Simplify' good.tvms
expect 1 "there is no pass 'Tag'" "$tvms" opt --passes 'Tag(value=7)' good.tvms
cat >unchecked.tvms <<'END'
@T.prim_func(check_well_formed=False)
def f(A: T.Buffer((4,), "float32")):
    n = T.int32()
    A[0] = A[n + 0]
END
expect 1 "error[E0301]: 'n' is not defined" "$tvms" opt --passes Simplify unchecked.tvms
expect 0 'after Simplify' "$tvms" opt good.tvms --passes Simplify --print-after-all
expect 0 '' "$tvms" build good.tvms -o good.so
[ -s good.so ] || { echo 'good.so was not written'; bad=1; }
expect 2 "did you mean 'check'" "$tvms" chek good.tvms
expect 2 "--passes" "$tvms" opt good.tvms --pases x
expect 1 "did you mean 'Simplify'" "$tvms" opt good.tvms --passes Simplfy
expect 1 'there are' "$tvms" opt good.tvms --passes Nothing_like_it_at_all
expect 1 "did you mean 'llvm'" "$tvms" build good.tvms --target lvm -o x.so
expect 1 'num-cores' "$tvms" build good.tvms --target 'llvm -mcpuu=native' -o x.so
expect 1 "can't" "$tvms" build good.tvms -o /nonexistent/folder/x.so
expect 1 'No such file' "$tvms" no_such_file.tvms
expect 1 'absent.tvms' "$tvms" check absent.tvms
[ ! -e x.so ] || { echo 'x.so was left behind'; bad=1; }

# Text that no parser should see.
printf 'x = "\377\376"\n' >not_utf8.tvms
expect 1 'UTF-8' "$tvms" not_utf8.tvms
mkdir -p folder.tvms
expect 1 'folder' "$tvms" folder.tvms
head -c 1000000 /dev/zero | tr '\0' '(' >parens.tvms
expect 1 'nested too deeply' "$tvms" parens.tvms
{ printf 'x = '; head -c 10000000 /dev/zero | tr '\0' '1'; echo; } >long_line.tvms
expect 0 '' "$tvms" long_line.tvms
{ printf 'print(len("'; head -c 10000000 /dev/zero | tr '\0' 'a'; echo '"))'; } >long_string.tvms
expect 0 '10000000' "$tvms" long_string.tvms
printf 'x = 1 << (1 << 40)\n' >big_int.tvms
expect 1 'more than 268435456 bits' "$tvms" big_int.tvms
printf 'def f(x):\n    return f(x + 1)\nf(0)\n' >endless.tvms
expect 1 'RecursionError' "$tvms" endless.tvms
printf 'print(1 // 0)\n' >division.tvms
expect 1 'ZeroDivisionError' "$tvms" division.tvms

# A disk that is full: a message, and no file.
expect 1 'No space left' "$tvms" opt good.tvms -o /dev/full
expect 1 'no regular file' "$tvms" build good.tvms --emit so -o /dev/full
ls | grep -q '\.tmp' && { echo 'temporary files were left behind'; bad=1; }
expect 0 'sch.split(loop, factors' "$tvms" primitives split
expect 0 'compute_at ' "$tvms" primitives
expect 2 "did you mean 'split'" "$tvms" primitives splt
expect 0 'dot_16x4_vnni              A: (4,) uint8, B: (16, 4) int8, C: (16,) int32' "$tvms" intrinsics
expect 0 'llvm.x86.avx512.vpdpbusd.512' "$tvms" intrinsics dot_16x4_vnni
expect 1 "did you mean 'dot_16x4_vnni'" "$tvms" intrinsics dot_16x4_vni
exit $bad
