# Corners: scoping, evaluation order, generators with finally, slices, unpacking, truth, text of values.
class A:
    x = [1, 2]
    y = [i for i in x]
    n = len(x)

    def get(self):
        return self.x


print(A.y, A.n, A().get())


def order(name, value=None):
    print(name, end=" ")
    return value


d = {}
d[order("key", "k")] = order("value", 1)
order("f", print)(order("a", 1), *order("b", [2]), sep=order("c", "-"), **order("d", {"end": "!\n"}))
x = order("left", 1) + order("right", 2) * order("third", 3)
print(x, order("a", 0) or order("b", 5) and order("c", 6))
print(1 if order("cond", True) else order("never"), [order(i, i) for i in range(2)])


def g():
    try:
        for i in range(3):
            try:
                yield i
            except ValueError as e:
                yield f"caught {e}"
            finally:
                print("inner", i)
    finally:
        print("outer")


it = g()
print(next(it), it.throw(ValueError("v")), next(it))
it.close()
print(list(g()))


def with_return():
    yield 1
    return 5
    yield 2


def outer():
    r = yield from with_return()
    print("r", r)


print(list(outer()))
try:
    it = iter([1, 2])
    a, b, c = it
except ValueError as e:
    print(e)
first, (second, *rest), last = 1, (2, 3, 4), 5
print(first, second, rest, last)
for i, (a, *b) in enumerate([(1, 2, 3), (4,)]):
    print(i, a, b)
a = [1, 2, 3, 4, 5]
a[1:3] = []
a[len(a):] = "xy"
a[0:0] = [9]
a[::2] = [0] * len(a[::2])
print(a, a[10:], a[-100:2], a[3:1], a[::-2], a[slice(1, None, 2)])
del a[::3]
print(a)
b = a
b += [1]
print(a is b, a)
b = b + [2]
print(a is b)
t = (1, 2)
t += (3,)
print(t, bool(0), bool(""), bool([]), bool({}), bool(0.0), bool(None), bool("0"), not [], bool(range(0)))
print(1 == True, 1.0 == 1, "1" == 1, None == False, [] == (), (1,) == (1,), {1: 2} == {1.0: 2}, {1, 2} == {2, 1}, [1, [2]] == [1, [2]], float("nan") == float("nan"))
print(3 // 2, -3 // 2, 3 % -2, -3 % 2, 2 ** -1, 7.0 // 2, -7 % 3.0, 1e308 * 10, 5 / 2, 4 / 2, 10 ** 2, 10 ** -2, (-8) ** 2, -8 ** 2)
print(1 < 2 < 3 == 3 != 4, 1 < 3 < 2, "a" < "b" <= "b", not 1 == 2, 1 in [1] == True)
print(round(1e15 + 0.3, 1), int("0b101", 0), int(" 42 "), float("  1.5e3  "), str(1e16), repr(1e-7), 1e5, 123456.789e3, 0.1 * 3, 1 / 3, 2 / 3, 1e23, 5e-324)
print(max("apple", "fig", key=len), min([3, 1, 2], key=lambda v: -v), sum(range(5), 10), sorted([True, False, 2]), list(zip("ab", [1, 2], [3.0, 4.0])), dict(zip("ab", range(2))))
print(isinstance(True, int), type(True) is int, type(1) == type(2), isinstance(None, type(None)), issubclass(A, object))
print("%s %r %5.1f|%-6s|%+d|%x|%%|%c" % ("a", "b", 1.25, "x", 5, 255, 65), "%s" % None, "%s %s" % (1, [2]))
lst = [[]] * 3
lst[0].append(1)
print(lst, [[] for _ in range(2)], [0] * 3, "ab" * 2, [*range(3), *"ab"])
f = lambda x, y=2, *a, z=3, **k: (x, y, a, z, k)
print(f(1), f(1, 2, 3, z=4, w=5), f(*(1, 2), **{"z": 9}))


def counter():
    counter.calls += 1
    return counter.calls


counter.calls = 0
counter()
print(counter())


class Base:
    def __init__(self):
        self.log = ["base"]

    def hook(self):
        return "base hook"

    def run(self):
        return self.hook()


class Child(Base):
    def __init__(self):
        super().__init__()
        self.log.append("child")

    def hook(self):
        return "child+" + super().hook()


class GrandChild(Child):
    def hook(self):
        return "grand+" + super().hook()


print(GrandChild().run(), GrandChild().log, [c.__name__ for c in GrandChild.__mro__])


class Prop:
    def __init__(self):
        self._v = 1

    @property
    def v(self):
        """doc"""
        return self._v

    @v.setter
    def v(self, x):
        if x < 0:
            raise ValueError("negative")
        self._v = x


p = Prop()
p.v += 4
try:
    p.v = -1
except ValueError as e:
    print(p.v, e)
try:
    Prop().nope
except AttributeError as e:
    print(e)


def nest(n):
    def inner():
        nonlocal n
        n += 1
        return n
    return inner


i1, i2 = nest(1), nest(10)
i1()
print(i1(), i2())
total = 0
for n in range(10):
    if n % 2:
        continue
    if n > 6:
        break
    total += n
else:
    print("never")
print(total, n)
while total > 0:
    total -= 7
else:
    print("done", total)
matrix = [[1, 2], [3, 4]]
print([list(r) for r in zip(*matrix)], [x for r in matrix for x in r], {r[0]: r[1] for r in matrix}, any(x > 3 for r in matrix for x in r))
s = "héllo wörld"
print(s.upper(), s[1], len(s), s.find("w"), s.split("ö"), s.encode().hex(), s[::-1], s.title())
print("a\tb".expandtabs(), "x".join(["1"]), "".join([]), "abc".find(""), "abc".count(""), "a,b".split(",", 0), "  a".split(" "), "abc".rjust(2), "%5s|%-5s|" % ("ab", "cd"))
print({**{"a": 1}, "a": 2}, {"b": 1, **{"c": 2}}, dict([("a", 1)], b=2), list({"x": 1, "y": 2}), {1: "a", "1": "b"}[1], {(1, 2): "t"}[(1, 2)])
print(*sorted({"b": 2, "a": 1}.items()), *map(str, (1, 2)), sep=";")
try:
    try:
        1 / 0
    finally:
        print("cleanup")
except ZeroDivisionError as e:
    print(type(e).__name__, e)
print([(lambda: i)() for i in range(3)], (lambda *, k: k)(k=5), [*(x for x in "ab")], next((x for x in [] if x), "none"))
print(f"{'a':>{3}}{1 + 1}{'q'!r:>5}{[1, 2][0]}{ {'k': 1}['k'] }{3.14159:.2f}{10:#x}{1e3:g}{True:d}{'%'}")
import math as m, json as j
from os.path import join as pj, basename
print(m.floor(2.7), j.dumps({"a": None}), pj("a", "b"), basename("a/b.c"))
