# inspect.signature of functions, methods, classes and builtins.
import inspect
def f(a, b=2, *c, d, e=5, **k): pass
def g(a, /, b, *, c=None): pass
class C:
    def __init__(self, x, y=1): pass
    def m(self, z): pass
    def __call__(self, q): pass
class D: pass
for x in (f, g, C, C(1).m, C.m, C(1), D, lambda u, v=3: 0):
    print(inspect.signature(x))
print(list(inspect.signature(f).parameters), inspect.signature(f).parameters["b"].default, inspect.signature(f).bind(1, 2, 3, d=4, z=5).arguments)
print(inspect.signature(f).parameters["a"].default is inspect.Parameter.empty)

for args, named in (((1,), {}), ((), {}), ((1, 2), {"d": 3}), ((1,), {"a": 2, "d": 0})):
    try:
        print(inspect.signature(f).bind(*args, **named).arguments)
    except TypeError as e:
        print("TypeError:", e)
class E(C):
    pass
print(inspect.signature(E), inspect.signature(E(1)))
try:
    inspect.signature(g).bind(1, 2, 3)
except TypeError as e:
    print(e)
print(repr(inspect.signature(f).parameters["b"]), inspect.signature(f).parameters["k"].kind == inspect.Parameter.VAR_KEYWORD)
