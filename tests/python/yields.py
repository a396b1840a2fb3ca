# Yields inside expressions.
log = []


def note(x):
    log.append(x)
    return x


def drive(g, *sent):
    """What a generator yields when each of these is sent, and what it returns."""
    out = [next(g)]
    try:
        for x in sent:
            out.append(g.send(x))
    except StopIteration as e:
        return out, e.value
    return out, "alive"


def displays():
    x = [(yield 1), (yield 2), *(yield 3)]
    y = ((yield x), {(yield 4): (yield 5)}, {(yield 6)})
    return y


print(drive(displays(), "a", "b", "cd", "e", "f", "g", "h"))


def calls():
    r = max((yield 1), (yield 2), key=lambda v: -v)
    s = "{}-{x}".format((yield r), x=(yield 3))
    t = "abc".upper().replace((yield s), (yield 4))
    print((yield t), end=(yield 5))
    return note(note((yield 6)) + (yield 7)) * 2


print(drive(calls(), 3, 4, "p", "q", "A", "z", "out", "\n", 10, 5), log)


def order():
    return note(1), (yield note(2)), note(3), (yield note(4)), note(5)


log.clear()
print(drive(order(), "x", "y"), log)


def choices(a):
    b = a and (yield "and")
    c = a or (yield "or")
    d = (yield "then") if a else (yield "else")
    e = 1 < (yield "lt") < 10
    return b, c, d, e, not (yield "not")


print(drive(choices(True), 1, 2, 3, 0))
print(drive(choices(0), 1, 2, 3, 0, 4))


def places():
    d = {"k": [1, 2, 3]}
    x = d["k"][(yield "index")]
    y = d["k"][(yield "lo"):(yield "hi")]
    z = (yield "object").upper()
    f = f"<{(yield 'text')!r:>{(yield 'width')}}>"
    d["k"][0] += yield "plus"
    n = (m := (yield "named")) + m
    t: int = yield "annotated"
    return x, y, z, f, d, n, -(yield "minus"), t


print(drive(places(), 1, 0, 2, "up", "t", 6, 100, 7, 8, 9))


def statements():
    if (yield "if"):
        a = "yes"
    elif (yield "elif"):
        a = "maybe"
    else:
        a = "no"
    total = 0
    for i in range((yield "for")):
        total += i
        total += (yield i)
    while (yield "while") != "stop":
        total += 1
        if (yield "skip"):
            continue
        total += 10
    else:
        total += 1000
    assert (yield "assert"), "no"
    return (yield a), total


print(drive(statements(), 0, 1, 2, 5, 5, "go", True, "go", False, "stop", True, "end"))


def early():
    while True:
        x = yield
        if x and (yield x):
            return (yield "leaving")


print(drive(early(), 0, 1, 0, 2, 3, 4))


def thrown():
    try:
        return [1, (yield "a"), (yield "b")]
    except ValueError as e:
        return "caught", str(e), (yield "handling")
    finally:
        log.append("finally")


g = thrown()
print(next(g), g.send(1), g.throw(ValueError("v")))
try:
    g.send(5)
except StopIteration as e:
    print(e.value, log[-1])
g = thrown()
next(g)
g.close()
print(log[-1])


def inner(n):
    got = []
    for i in range(n):
        got.append((yield i))
    return got


def outer():
    a = len((yield from inner(2))) + len((yield from inner(1)))
    return a, [*(yield from inner(1)), *(yield from [7, 8])] if a == 3 else None


def after():
    return (yield from outer())


try:
    print(drive(outer(), "a", "b", "c", "d", None, None))
except TypeError as e:
    print("TypeError")


def results():
    return (yield from inner(2)), (yield from inner(1))


print(drive(results(), "a", "b", "c"))


class Manager:
    def __enter__(self):
        return "entered"

    def __exit__(self, *args):
        log.append("left")


def managed():
    with (yield "manager") as m:
        return m, (yield "inside")


print(drive(managed(), Manager(), 1), log[-1])


def raising():
    try:
        raise (yield "what")
    except KeyError as e:
        return "key", e.args, sorted(locals())


print(drive(raising(), KeyError("k")))


def nested():
    return (yield (yield (yield 1)))


print(drive(nested(), 2, 3, 4))


def averager():
    total = count = 0
    average = None
    while True:
        total += (yield average)
        count += 1
        average = total / count


print(drive(averager(), 10, 20, 60))


def looped():
    return [x * 2 for x in (yield "source")]


print(drive(looped(), [1, 2]))


def trampoline(g):
    value, stack = None, [g]
    while stack:
        try:
            made = stack[-1].send(value)
            value = None
            stack.append(made)
        except StopIteration as e:
            stack.pop()
            value = e.value
    return value


def fib(n):
    if n < 2:
        return n
    return (yield fib(n - 1)) + (yield fib(n - 2))


print(trampoline(fib(12)))
