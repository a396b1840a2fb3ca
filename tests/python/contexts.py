# with, context managers, contextlib.
import contextlib
from contextlib import contextmanager, suppress, ExitStack, nullcontext, redirect_stdout, closing
import io


class Noted:
    def __init__(self, name, swallow=False):
        self.name, self.swallow = name, swallow

    def __enter__(self):
        print("enter", self.name)
        return self

    def __exit__(self, kind, value, trace):
        print("exit", self.name, kind.__name__ if kind else None, value)
        return self.swallow


with Noted("a") as a, Noted("b") as b:
    print(a.name, b.name)
with (Noted("c"), Noted("d") as d):
    print(d.name)
with Noted("e", swallow=True):
    raise ValueError("lost")
try:
    with Noted("f"), Noted("g"):
        raise KeyError("kept")
except KeyError as e:
    print("caught", e)


def early():
    with Noted("h"):
        return "returned"


print(early())
for i in range(3):
    with Noted(i):
        if i == 1:
            break


@contextmanager
def tag(name):
    print(f"<{name}>")
    try:
        yield name.upper()
    finally:
        print(f"</{name}>")


with tag("p") as t:
    print(t)
try:
    with tag("q"):
        raise ValueError("inside")
except ValueError as e:
    print("caught", e)


@contextmanager
def swallow():
    try:
        yield
    except ValueError:
        print("swallowed")


with swallow():
    raise ValueError
with suppress(KeyError, IndexError):
    [][0]
print("after suppress")
with ExitStack() as stack:
    stack.enter_context(Noted("s1"))
    stack.callback(print, "callback")
    stack.enter_context(Noted("s2"))
with nullcontext(5) as n:
    print(n)
out = io.StringIO()
with redirect_stdout(out):
    print("hidden")
print(repr(out.getvalue()))


class Closer:
    def close(self):
        print("closed")


with closing(Closer()) as c:
    print(type(c).__name__)
try:
    with 5:
        pass
except TypeError as e:
    print(e)


@tag("deco")
def decorated():
    print("in decorated")


decorated()
