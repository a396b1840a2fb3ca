#!/bin/sh
# test_codes.sh -- codes of errors and warnings: `tvms explain`, -W flags, diagnostics as JSON.
. "$(dirname "$0")/expect.sh"

# ---- explain ----
expect 0 'E0312: more or fewer indices' "$tvms" explain E0312
also 'Wrong:' 'Right:' '    A[0, 0] = 1.0'
expect 0 'E0312: ' "$tvms" explain e0312
expect 0 'W0101  -Wunused-variable' "$tvms" explain W0101
expect 0 'W0101  -Wunused-variable' "$tvms" explain unused-variable
expect 0 'W0101  -Wunused-variable' "$tvms" explain -Wunused-variable
expect 0 'E0201' "$tvms" explain E0101 E0201
expect 0 'E0312  more or fewer indices' "$tvms" explain
expect 2 "did you mean 'E031" "$tvms" explain E0318x

# ---- codes in messages ----
cat >rank.tvms <<'T'
@T.prim_func
def f(A: T.Buffer((8, 8), "float32")):
    A[0] = 1.0
    A[0, 0, 0] = 1.0
print(lenght)
T
expect 1 "rank.tvms:3:5: error[E0312]: IndexError: buffer 'A' has 2 dimensions, but 1 index is given" "$tvms" rank.tvms
also 'rank.tvms:4:5: error[E0312]'
expect 1 'error[E0201]: NameError' "$tvms" -c 'print(lenght)'
expect 1 'error[E0106]' "$tvms" -c 'x = (1'

# ---- warnings ----
cat >warn.tvms <<'T'
import math

def f(list, x):
    y = 1
    return 1
    print(x)

def g(x):
    z, _w = 1, 2
    return x
f(1, 2)
T
expect 0 'warning[-Wunreachable-code]' "$tvms" warn.tvms
absent unused-variable unused-import
expect 0 "warn.tvms:4:5: warning[-Wunused-variable]: 'y' is assigned, but never used" "$tvms" -Wall warn.tvms
also "-Wunused-import]: 'math'" "-Wshadowed-builtin]: 'list'" "-Wunused-parameter]: parameter 'list'"
absent "'z'" "'_w'"
expect 0 '' "$tvms" -Wno-all warn.tvms
same ''
expect 0 'unused-variable' "$tvms" check -Wunused-variable warn.tvms
absent unused-import
expect 1 'error[-Wunreachable-code]' "$tvms" check -Werror warn.tvms
expect 1 'error[-Wunused-import]' "$tvms" -Wno-all -Werror=unused-import warn.tvms
expect 0 '' "$tvms" -Wall -Wno-unused-import -Wno-unused-variable -Wno-unused-parameter -Wno-shadowed-builtin -Wno-unreachable-code warn.tvms
same ''
expect 2 "did you mean 'unused-import'" "$tvms" -Wunused-imprt warn.tvms
expect 2 'no warning' "$tvms" check -Wno-nothing-like-it warn.tvms

# Warnings of the verifier, told and not told.
cat >module.tvms <<'T'
@I.ir_module
class M:
    @T.prim_func
    def f(A: T.Buffer((8, 8), "float32")):
        for i, j in T.grid(8, 8):
            with T.block("b"):
                vi = T.axis.spatial(8, i)
                A[vi, j] = 1.0

    @T.prim_func
    def g(A: T.Buffer((8,), "float32")):
        T.func_attr({"global_symbol": "f"})
        A[0] = 1.0

    @R.function
    def h(x: R.Tensor((4,), "float32")) -> R.Tensor((3,), "float32"):
        return x
T
expect 0 'warning[-Wrepeated-symbol]: two functions have the symbol' "$tvms" check module.tvms
also 'warning[-Wloop-in-block]' 'warning[-Wcontradicted-result]' 'note: the other one is here'
expect 0 '' "$tvms" check -Wno-all module.tvms
same 'module.tvms: 1 module, well-formed'
expect 1 'CompileError: two functions have the global_symbol' "$tvms" build module.tvms -o module.so

# A dim that is declared for the signature is no unused variable.
cat >dim.tvms <<'T'
@T.prim_func
def f(A: T.Buffer(("n",), "float32")):
    n = T.int64()
    A[0] = 1.0
T
expect 0 '' "$tvms" -Wunused-variable dim.tvms
same ''

# ---- JSON: one object a line, that a JSON reader takes ----
expect 1 '"code":"E0312"' "$tvms" --diagnostics json rank.tvms
also '"file":"rank.tvms","line":3,"column":5,"end":{"line":3,"column":9},"severity":"error"' \
  "\"message\":\"IndexError: buffer 'A' has 2 dimensions, but 1 index is given\""
expect 1 '"severity":"error"' "$tvms" check --diagnostics=json rank.tvms
expect 0 '"code":"W0106"' "$tvms" check --diagnostics json warn.tvms
expect 2 'text or json' "$tvms" --diagnostics xml rank.tvms
printf 'def f(x):\n    return lenght(x)\nlength = "\\t\\"\\x01é"\nf(1)\n' >odd.tvms
"$tvms" --diagnostics json odd.tvms 2>odd.json
cat >read.tvms <<'T'
import json
for line in open("odd.json").read().splitlines():
    d = json.loads(line)
    print(d["code"], d["line"], d["column"], d["end"]["column"], [n["severity"] for n in d["notes"]], d["suggestion"])
T
expect 0 "E0201 2 12 18 ['note'] None" "$tvms" read.tvms

# ---- colour: on a terminal only ----
expect 1 '' "$tvms" rank.tvms
absent "$(printf '\033')"
exit $bad
