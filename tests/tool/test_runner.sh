#!/bin/sh
# test_runner.sh -- `tvms test`: which tests there are, how each ends, crashes and endless loops, reports.
. "$(dirname "$0")/expect.sh"

cat >many.tvms <<'T'
import pytest
import tvm.testing
from tvm.script import tir as T

size = tvm.testing.parameter(1, 2)
a, b = tvm.testing.parameters((1, 10), (2, 20))
ended = []

@pytest.fixture
def tenfold(size):
    yield size * 10
    ended.append(size)

@pytest.fixture(params=["x", "y"], ids=["first", "second"])
def letter(request):
    return request.param

@pytest.mark.parametrize("p,q", [(1, 2), pytest.param(3, 4, id="named", marks=pytest.mark.skip(reason="not now"))])
@pytest.mark.parametrize("k", ["u", "v"])
def test_product(p, q, k):
    assert p < q

def test_rows(a, b):
    assert b == 10 * a

def test_fixture(tenfold, letter):
    assert tenfold >= 10 and letter in "xy"

def test_fixture_ended():
    assert ended == [1, 1, 2, 2]

class TestGroup:
    pytestmark = [pytest.mark.group]

    def setup_method(self):
        self.n = 3

    def test_setup(self, size):
        assert self.n == 3

    @pytest.mark.xfail(reason="known")
    def test_known(self):
        assert False

    @pytest.mark.xfail
    def test_better(self):
        pass

    @pytest.mark.xfail(strict=True)
    def test_strict(self):
        pass

@pytest.mark.skipif(1 + 1 == 2, reason="arithmetic")
def test_skipped():
    assert False

def test_skips_itself():
    pytest.skip("no luck")

@tvm.testing.requires_vulkan
def test_vulkan():
    assert False

def test_raises():
    with pytest.raises(ValueError, match=r"n\w+ \d+"):
        raise ValueError("no 12")
    with pytest.raises(AssertionError):
        with pytest.raises(KeyError):
            pass
    assert 0.1 + 0.2 == pytest.approx(0.3)

def test_print():
    print("some words")

class TestCompare(tvm.testing.CompareBeforeAfter):
    transform = tvm.tir.transform.Simplify()

    def before(A: T.Buffer((4,), "int32")):
        A[0] = 1 + 2

    def expected(A: T.Buffer((4,), "int32")):
        A[0] = 3

if __name__ == "__main__":
    tvm.testing.main()
T
expect 1 'test_product[u-1-2]' "$tvms" test -v many.tvms
also 'SKIP many.tvms::test_product[u-named]: not now' 'PASS many.tvms::test_rows[2-20]' \
  'PASS many.tvms::test_fixture[1-first]' 'PASS many.tvms::test_fixture_ended' \
  'PASS many.tvms::TestGroup::test_setup[2]' 'XFAIL many.tvms::TestGroup::test_known' \
  'XPASS many.tvms::TestGroup::test_better' 'FAIL many.tvms::TestGroup::test_strict' \
  'SKIP many.tvms::test_skipped: arithmetic' 'SKIP many.tvms::test_skips_itself: no luck' \
  'SKIP many.tvms::test_vulkan: vulkan is not there' 'PASS many.tvms::test_raises' \
  'PASS many.tvms::TestCompare::test_compare' '5 skipped, 1 xfailed, 1 xpassed'
absent 'some words'
[ "$(tail -n 1 out)" = '14 passed, 1 failed' ] || fail 'the last line counts'
expect 0 'some words' "$tvms" test -s -k print many.tvms
expect 1 '14 passed, 1 failed' "$tvms" many.tvms

# ---- choosing ----
expect 0 '2 passed, 0 failed' "$tvms" test -k 'test_rows' many.tvms
expect 0 '6 passed, 0 failed' "$tvms" test -k 'rows or fixture and not ended' many.tvms
expect 0 '1 passed, 0 failed' "$tvms" test -k 'ROWS and not (1-10 or product)' many.tvms
expect 0 '0 passed, 0 failed' "$tvms" test -k nothing_has_this_name many.tvms
expect 2 "')' is missing" "$tvms" test -k '(rows' many.tvms
expect 2 'a word is missing' "$tvms" test -k 'rows and' many.tvms
expect 2 "'and' or 'or' is missing" "$tvms" test -k 'rows fixture' many.tvms

# ---- what a crash, an endless loop or a missing part takes along: one test ----
cat >bad.tvms <<'T'
from tvm.script import tir as T
from tvm.relax import nothing_of_this_name
from math import sqrt, squirt
import tvm.no_such_part

def test_first():
    assert sqrt(4.0) == 2.0

def test_crash():
    @T.prim_func
    def f(A: T.Buffer((1,), "float32")):
        T.evaluate(T.call_extern("void", "abort"))
    tvm.build(f)["f"](np.zeros((1,), "float32"))

def test_after_crash():
    pass

def test_endless():
    while True:
        pass

def test_after_endless():
    pass

def test_part():
    squirt(1.0)

def test_exit():
    import sys
    sys.exit(0)

@nothing_of_this_name.decorator
def test_undefined():
    pass

def test_last():
    pass
T
sed -i 's/^from tvm.script/import numpy as np\nfrom tvm.script/' bad.tvms
expect 1 'FAIL bad.tvms::test_crash: killed by signal 6' "$tvms" test --timeout 6 bad.tvms
also 'FAIL bad.tvms::test_endless: timed out after 6 s' 'FAIL bad.tvms::test_part' "'squirt' is missing: ImportError" \
  'FAIL bad.tvms::test_exit' 'FAIL bad.tvms::test_undefined'
absent 'FAIL bad.tvms::test_after' 'FAIL bad.tvms::test_last'
tail -n 1 out | grep -q '^4 passed, ' || fail 'four pass'
expect 1 '1 passed, 1 failed' "$tvms" test -x -k 'first or after or crash or exit' bad.tvms
printf 'def f(:\n' >syntax.tvms
printf 'x = 1 // 0\n' >raises.tvms
printf 'y = 1\n' >plain.tvms
expect 1 '1 passed, 4 failed' "$tvms" test -j 3 syntax.tvms raises.tvms plain.tvms absent.tvms syntax.tvms
also 'FAIL syntax.tvms' 'FAIL raises.tvms:1' 'error[E0208]' 'FAIL absent.tvms'

# ---- Python files, folders, reports ----
mkdir -p folder/inner
printf 'def test_a():\n    pass\n' >folder/test_a.py
printf 'def test_b():\n    assert 1 == 2\n' >folder/inner/b.tvms
printf 'nothing to read' >folder/helper.py
expect 1 'FAIL folder/inner/b.tvms::test_b' "$tvms" test -j 2 --junit report.xml --durations 1 folder
also ' s  folder/' '1 passed, 1 failed'
grep -q '<testcase classname="folder/test_a.py" name="test_a"' report.xml || fail 'the report has test_a'
grep -q '<failure message="folder/inner/b.tvms:2:12: error.E0210.: AssertionError: not true: 1 == 2">.*' report.xml ||
  fail 'the report has the failure'
printf 'import functools\ndef f(x, y):\n    return x // y\ndef test_c():\n    functools.reduce(f, [1, 0])\n' >trace.tvms
expect 1 "trace.tvms:5:5: note: in 'f', called here" "$tvms" test trace.tvms
absent 'stdlib/' "in 'run'" "in 'test_c'"
expect 1 '{"test":"folder/inner/b.tvms::test_b","outcome":"failed"' "$tvms" test --diagnostics json folder
expect 1 "can't write" "$tvms" test --junit /nonexistent/report.xml folder
expect 2 'from 1 on' "$tvms" test -j 0 folder
expect 2 'which files' "$tvms" test

# ---- two modules that differ, side by side ----
cat >differ.tvms <<'T'
from tvm.script import tir as T

@T.prim_func
def f(A: T.Buffer((4,), "float32")):
    A[0] = 1.0
    A[1] = 2.0
g = f

@T.prim_func
def f(A: T.Buffer((4,), "float32")):
    A[0] = 1.0
    A[1] = 3.0
    A[2] = 4.0

def test_differ():
    tvm.ir.assert_structural_equal(g, f)
T
expect 1 'A[1] = 2.0' env COLUMNS=80 "$tvms" test differ.tvms
grep -q 'A\[1\] = 2.0 *| *A\[1\] = 3.0' out || fail 'the lines that differ stand side by side'
grep -q '> *A\[2\] = ' out || fail 'a line that only the right side has'
awk 'length($0) > 80 && /[|<>]  / { exit 1 }' out || fail 'the columns fit the width'
exit $bad
