# Small modules of the library: textwrap, types, numbers, inspect, argparse, logging.
import argparse
import inspect
import logging
import numbers
import sys
import textwrap
import types

print(repr(textwrap.dedent("""
    a
      b

    c""")), textwrap.indent("x\ny\n", "> "), textwrap.wrap("the quick brown fox jumps", 10), textwrap.fill("a b c d", 3))
print(textwrap.shorten("hello wide world", 12, placeholder="..."))
n = types.SimpleNamespace(a=1, b="x")
n.c = 3
print(n, n.a, n == types.SimpleNamespace(a=1, b="x", c=3), isinstance(lambda: 0, types.FunctionType), isinstance(len, types.BuiltinFunctionType))
print(isinstance(3, numbers.Integral), isinstance(2.5, numbers.Integral), isinstance(2.5, numbers.Real), isinstance("x", numbers.Number), isinstance(True, numbers.Number))


class C:
    """doc

        of C
    """

    def f(self):
        return 1


print(inspect.isclass(C), inspect.isclass(3), inspect.isfunction(C.f), inspect.ismethod(C().f), inspect.getdoc(C))
print([name for name, _ in inspect.getmembers(C(), inspect.ismethod) if not name.startswith("__")], inspect.getmro(C))


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise SystemExit(2)


p = Parser(prog="tool")
p.add_argument("path")
p.add_argument("rest", nargs="*")
p.add_argument("-n", "--count", type=int, default=3)
p.add_argument("--target", choices=["llvm", "c"], default="llvm")
p.add_argument("--verbose", "-v", action="store_true")
p.add_argument("--no-cache", dest="cache", action="store_false")
p.add_argument("--tag", action="append")
p.add_argument("--size", nargs=2, type=int)
a = p.parse_args(["x.py", "-n", "7", "--target=c", "-v", "--tag", "a", "--tag", "b", "--size", "1", "2"])
print(a.path, a.rest, a.count, a.target, a.verbose, a.cache, a.tag, a.size)
a = p.parse_args(["x", "y", "z", "--no-cache"])
print(a.path, a.rest, a.count, a.cache, a.tag, vars(a)["target"])
print(p.parse_known_args(["x", "--odd"])[1])
for bad in [[], ["x", "-n", "q"], ["x", "--target", "gpu"], ["x", "--nothing"]]:
    try:
        p.parse_args(bad)
    except SystemExit as e:
        print("exit", e.code)

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
log = logging.getLogger("a.b")
log.info("x is %d", 3)
log.debug("unseen")
log.warning("careful")
logging.getLogger("a").setLevel(logging.ERROR)
log.warning("unseen")
log.error("seen %s", "too")
logging.info("root")
print(log.getEffectiveLevel(), log.isEnabledFor(logging.INFO), logging.getLevelName(20))
