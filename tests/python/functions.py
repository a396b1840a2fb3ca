# Functions: parameters of every kind, closures, decorators, generators, comprehensions.
import functools
import itertools


def every(a, b=2, /, c=3, *args, d, e=5, **kw):
    return a, b, c, args, d, e, kw


print(every(1, d=4), every(1, 2, 3, 4, 5, d=6, f=7), every(1, d=4, **{"a": 1, "x": 2}))
print(every(*[1, 2], *(3, 4), d=0, **dict(e=1), **dict(z=2)))


def default(x, acc=[]):
    acc.append(x)
    return acc


print(default(1), default(2), default(3, []))


def annotated(x: int, y: "str" = "a", *zs: float, k: dict[str, int] | None = None) -> list[int]:
    z: int = 5
    w: "undefined_name"
    return [x, z]


print(annotated(1))


def outer():
    n = 0

    def step():
        nonlocal n
        n += 1
        return n

    def reset(to=0):
        nonlocal n
        n = to

    return step, reset


step, reset = outer()
step()
step()
print(step(), reset(10), step())
counter = 0


def bump():
    global counter, fresh
    counter += 1
    fresh = counter


bump()
bump()
print(counter, fresh)


def log(prefix="log"):
    def decorate(f):
        @functools.wraps(f)
        def wrapper(*args, **kw):
            print(prefix, f.__name__, args, kw)
            return f(*args, **kw)
        return wrapper
    return decorate


@log()
@log("inner")
def add(a, b=1):
    """adds"""
    return a + b


print(add(1, b=2), add.__name__, add.__doc__)
print((lambda *a, k=1, **kw: (a, k, kw))(1, 2, k=3, z=4), (lambda: 5)())


def gen(n):
    got = yield "start"
    while n:
        got = yield (n, got)
        n -= 1
    return "done"


g = gen(2)
print(next(g), g.send("a"), g.send("b"))
try:
    g.send("c")
except StopIteration as e:
    print("stop", e.value)


def chain():
    r = yield from gen(1)
    print("result", r)
    yield from [1, 2]
    yield from (x * x for x in range(3))


print(list(chain()))


def pipeline():
    total = 0
    try:
        while True:
            x = yield total
            if x is None:
                break
            total += x
    except ValueError as e:
        yield f"error {e}"
    finally:
        print("cleanup")


p = pipeline()
next(p)
p.send(3)
print(p.send(4), p.throw(ValueError("bad")))
p.close()


def fib():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b


print(list(itertools.islice(fib(), 10)), next(x for x in fib() if x > 100))


def tree(t):
    if t:
        left, v, right = t
        yield from tree(left)
        yield v
        yield from tree(right)


print(list(tree(((None, 1, None), 2, ((None, 3, None), 4, None)))))
print([x * y for x in range(3) if x for y in range(3) if y != x], {x: x * x for x in range(3)}, {x % 3 for x in range(9)})
print(sum(x for x in range(5)), [[j for j in range(i)] for i in range(4)], [(i, j) for i, j in zip("ab", [1, 2])])
x = "outer"
print([x for x in range(2)], x, [y := 1, y + 1], y)
fs = [lambda i=i: i for i in range(3)]
gs = [lambda: i for i in range(3)]
print([f() for f in fs], [f() for f in gs])
if (n := len("abc")) > 2:
    print("walrus", n)
a, *b, c = range(5)
(d, e), f = [1, 2], 3
[h, i] = "hi"
print(a, b, c, d, e, f, h, i)
a = b = [1]
a.append(2)
print(b, a is b)
i = 0
xs = [0, 0, 0]
i, xs[i] = 1, 5
print(xs)
for i, (a, b) in enumerate([(1, 2), (3, 4)], start=1):
    print(i, a, b, end="; ")
else:
    print("else")
for x in []:
    pass
else:
    print("empty else")
while True:
    break
else:
    print("never")
print(1 < 2 < 3, 1 < 3 > 2, 1 == 1.0, not 1 < 0, None or 0 or "x", 1 and [] and 2)
print(5 if False else 6, [1, 2, 3][-1], "abc"[::-1], (1,) + (2,), [1] * 3, *[1, 2], sep="|")
t = (1, [2])
t[1].append(3)
print(t, {**{"a": 1}, "b": 2}, [*range(2), *"ab"], (*[1], 2), {*[1, 1, 2]})
del xs[0]
print(xs, 0x1F, 0o17, 0b11, 1_000, 1e3, .5, 1., 1e-7, "no complex")
assert (lambda x: x)(1) == 1
print(functools.reduce(lambda a, b: a * b, range(1, 6)), functools.partial(every, 1, d=2)(3))


@functools.lru_cache(maxsize=None)
def slow(n):
    return n if n < 2 else slow(n - 1) + slow(n - 2)


print(slow(80), slow.cache_info().hits > 0)
slow.cache_clear()


@functools.singledispatch
def show(x):
    return "object"


@show.register(int)
def _(x):
    return "int"


@show.register(list)
def _(x):
    return "list"


print(show(1), show([]), show("a"))
print(every.__name__, every.__defaults__ if False else "", add.__wrapped__.__name__)
every.attribute = 5
print(every.attribute, hasattr(every, "nothing"))


def recursive(n):
    return 0 if n == 0 else 1 + recursive(n - 1)


print(recursive(500))


def unbound():
    try:
        print(late)
    except UnboundLocalError as e:
        print(type(e).__name__)
    late = 1


unbound()
print([f"{i}" for i in range(3)] + list(map(str, [1, 2])), list(filter(None, [0, 1, "", "a"])), list(map(lambda a, b: a + b, [1, 2], [3, 4])))
match = 5
type = "soft keyword"
print(match, type)
