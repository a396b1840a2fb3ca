# Classes with several bases.
class A:
    def f(self):
        return "A"

    def who(self):
        return ["A"]


class B(A):
    def f(self):
        return "B" + super().f()

    def who(self):
        return ["B"] + super().who()


class C(A):
    def f(self):
        return "C" + super().f()

    def who(self):
        return ["C"] + super().who()


class D(B, C):
    def f(self):
        return "D" + super().f()

    def who(self):
        return ["D"] + super(D, self).who()


print(D().f(), D().who(), [c.__name__ for c in D.__mro__], [c.__name__ for c in D.__bases__])
print(isinstance(D(), C), issubclass(D, A), issubclass(B, C))


# ---- mixins, keywords on the way, attributes ----
class Named:
    def __init__(self, name, **kwargs):
        super().__init__(**kwargs)
        self.name = name


class Sized:
    def __init__(self, size=0, **kwargs):
        super().__init__(**kwargs)
        self.size = size


class Box(Named, Sized):
    def __init__(self, name, size):
        super().__init__(name=name, size=size)


class Describe:
    kind = "described"

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"

    @classmethod
    def make(cls, *args):
        return cls(*args)

    @property
    def total(self):
        return self.size * 2

    @staticmethod
    def helper():
        return "helped"


class Shown(Describe, Box):
    pass


x = Shown.make("a", 3)
print(x, x.total, x.kind, Shown.helper(), x.size)


class Loud(Describe):
    kind = "loud"

    def __repr__(self):
        return super().__repr__().upper()


class Both(Loud, Shown):
    pass


print(Both("b", 1), [c.__name__ for c in Both.__mro__])


# ---- built-in types and exceptions among them ----
class Count(Describe, int):
    def __repr__(self):
        return f"Count {int(self)}"


class Tagged(Describe, dict):
    def __missing__(self, key):
        return key * 2


class Missing(KeyError, AttributeError):
    pass


print(Count(3) + 1, Count(4), Tagged(a=1)["a"], Tagged()["z"], isinstance(Tagged(), dict))
for kind in (KeyError, AttributeError, LookupError):
    try:
        raise Missing("gone")
    except kind as e:
        print(kind.__name__, type(e).__name__, e.args, [c.__name__ for c in Missing.__mro__[:3]])


class Wrong(Describe, ValueError):
    kind = "wrong"


try:
    raise Wrong("bad")
except ValueError as e:
    print(e.args, e.kind, str(e))


# ---- hooks ----
class Registry:
    seen = []

    def __init_subclass__(cls, tag=None, **kwargs):
        super().__init_subclass__(**kwargs)
        Registry.seen.append((cls.__name__, tag))


class Other:
    pass


class R1(Other, Registry, tag="one"):
    pass


class R2(R1, Other):
    pass


print(Registry.seen)

# ---- no order ----
for bases in [(A, B), (A, A), (int, str), (B, C, A)]:
    try:
        print([c.__name__ for c in type("T", bases, {}).__mro__])
    except TypeError:
        print("TypeError")


class X(A): pass
class Y(A): pass
class P(X, Y): pass
class Q(Y, X): pass
try:
    class Z(P, Q):
        pass
except TypeError as e:
    print(str(e)[:44])

from abc import ABC, abstractmethod


class Base(ABC):
    @abstractmethod
    def run(self):
        pass


class Mixin:
    def run(self):
        return "mixed in"


class Done(Mixin, Base):
    pass


class Not(Base, Mixin):
    pass


print(Done().run(), issubclass(Done, ABC))
try:
    Not()
except TypeError as e:
    print("abstract")

from dataclasses import dataclass, fields


@dataclass
class P1:
    a: int = 1
    b: int = 2


@dataclass
class P2:
    b: int = 3
    c: int = 4


@dataclass
class P3(P1, P2):
    d: int = 5


print(P3(), [f.name for f in fields(P3)])


class Meta:
    def __enter__(self):
        return self

    def __exit__(self, *args):
        return True


class Manager(Describe, Meta):
    pass


with Manager() as m:
    raise ValueError("swallowed")
print(m, super(B, D()).f())


class Animal:
    def speak(self):
        raise NotImplementedError


class Cow(Animal):
    def speak(self):
        return "moo"


class Calf(Cow, Animal):
    pass


print(Calf().speak(), hasattr(Calf, "speak"), Calf.speak is Cow.speak)
