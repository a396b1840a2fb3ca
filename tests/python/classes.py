# Classes: inheritance, super, properties, special methods, class attributes.
import functools


class Animal:
    """An animal."""
    count = 0
    names = []

    def __init__(self, name):
        self.name = name
        Animal.count += 1
        self.names.append(name)

    def speak(self):
        return f"{self.name} says {self.sound()}"

    def sound(self):
        raise NotImplementedError("sound")

    def __repr__(self):
        return f"{type(self).__name__}({self.name!r})"

    @property
    def title(self):
        return self.name.title()

    @title.setter
    def title(self, value):
        self.name = value.lower()

    @title.deleter
    def title(self):
        self.name = ""

    @staticmethod
    def kingdom():
        return "animalia"

    @classmethod
    def make(cls, *names):
        return [cls(n) for n in names]


class Dog(Animal):
    def sound(self):
        return "woof"


class Puppy(Dog):
    def __init__(self, name, age=0):
        super().__init__(name)
        self.age = age

    def sound(self):
        return super().sound() + "!"

    def __eq__(self, other):
        return isinstance(other, Puppy) and (self.name, self.age) == (other.name, other.age)

    def __hash__(self):
        return hash((self.name, self.age))


d = Dog("rex")
p = Puppy("bit", age=2)
print(d.speak(), p.speak(), Animal.count, Animal.names, d, p)
print(p.title, Dog.kingdom(), p.kingdom(), Dog.make("a", "b"), Animal.__doc__, Animal.__name__)
p.title = "BOB"
print(p.name, p == Puppy("bob", 2), p != Puppy("bob", 2), p == 5, len({p, Puppy("bob", 2)}))
del p.title
print(repr(p.name), hasattr(p, "age"), hasattr(p, "nothing"), getattr(p, "nothing", "default"))
setattr(p, "extra", 1)
print(p.extra, sorted(vars(p)), p.__dict__, p.__class__.__name__, type(p) is Puppy)
delattr(p, "extra")
print(hasattr(p, "extra"), isinstance(p, Animal), isinstance(p, (int, Dog)), issubclass(Puppy, Animal), Puppy.__mro__[-1] is object)


class Vec:
    def __init__(self, *xs):
        self.xs = list(xs)

    def __add__(self, o):
        if not isinstance(o, Vec):
            return NotImplemented
        return Vec(*[a + b for a, b in zip(self.xs, o.xs)])

    def __mul__(self, k):
        return Vec(*[a * k for a in self.xs])

    __rmul__ = __mul__

    def __rsub__(self, k):
        return Vec(*[k - a for a in self.xs])

    def __neg__(self):
        return Vec(*[-a for a in self.xs])

    def __pos__(self):
        return self

    def __invert__(self):
        return Vec(*[~a for a in self.xs])

    def __abs__(self):
        return sum(a * a for a in self.xs) ** 0.5

    def __matmul__(self, o):
        return sum(a * b for a, b in zip(self.xs, o.xs))

    def __len__(self):
        return len(self.xs)

    def __getitem__(self, i):
        return self.xs[i]

    def __setitem__(self, i, x):
        self.xs[i] = x

    def __delitem__(self, i):
        del self.xs[i]

    def __iter__(self):
        return iter(self.xs)

    def __contains__(self, x):
        return x in self.xs

    def __reversed__(self):
        return reversed(self.xs)

    def __call__(self, *args, **kw):
        return ("called", args, kw)

    def __bool__(self):
        return any(self.xs)

    def __str__(self):
        return "<" + " ".join(map(str, self.xs)) + ">"

    def __repr__(self):
        return f"Vec({', '.join(map(repr, self.xs))})"

    def __iadd__(self, o):
        self.xs = [a + b for a, b in zip(self.xs, o.xs)]
        return self

    def __divmod__(self, k):
        return Vec(*[a // k for a in self.xs]), Vec(*[a % k for a in self.xs])

    def __floordiv__(self, k):
        return Vec(*[a // k for a in self.xs])

    def __truediv__(self, k):
        return Vec(*[a / k for a in self.xs])

    def __mod__(self, k):
        return Vec(*[a % k for a in self.xs])

    def __pow__(self, k):
        return Vec(*[a ** k for a in self.xs])

    def __lshift__(self, k):
        return ("lshift", k)

    def __and__(self, k):
        return ("and", k)

    def __ror__(self, k):
        return ("ror", k)

    def __xor__(self, k):
        return ("xor", k)

    def __int__(self):
        return int(self.xs[0])

    def __float__(self):
        return float(self.xs[0])

    def __index__(self):
        return int(self.xs[0])

    def __round__(self, n=0):
        return Vec(*[round(a, n) for a in self.xs])

    def __format__(self, spec):
        return "|".join(format(a, spec) for a in self.xs)

    def __hash__(self):
        return 7


v = Vec(1, 2, 3)
print(v + v, v * 2, 3 * v, 10 - v, -v, +v, ~v, abs(Vec(3, 4)), v @ v, len(v), v[0], v[1:], 2 in v, 9 in v)
v[0] = 5
del v[1]
print(v, repr(v), list(v), list(reversed(v)), v(1, a=2), bool(v), bool(Vec(0)), [x for x in v])
v += Vec(1, 1)
print(v, divmod(v, 2), v // 2, v / 2, v % 2, v ** 2, v << 1, v & 1, 1 | v, v ^ 2)
print(int(v), float(v), [10, 20, 30, 40, 50, 60, 70][v], round(Vec(1.26, 2.34), 1), f"{v:>4}", hash(v), hex(v))
try:
    v + 5
except TypeError as e:
    print(e)
try:
    5 + v
except TypeError as e:
    print(e)


@functools.total_ordering
class Ordered:
    def __init__(self, k):
        self.k = k

    def __eq__(self, o):
        return self.k == o.k

    def __lt__(self, o):
        return self.k < o.k


print(Ordered(1) < Ordered(2), Ordered(1) >= Ordered(2), Ordered(2) > Ordered(1), Ordered(1) <= Ordered(1), max(Ordered(3), Ordered(5)).k)


class Dynamic:
    def __getattr__(self, name):
        if name.startswith("get_"):
            return lambda: name[4:]
        raise AttributeError(f"no {name}")

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2)

    def __delattr__(self, name):
        print("deleting", name)
        object.__delattr__(self, name)


y = Dynamic()
y.a = 4
print(y.get_x(), y.a, hasattr(y, "zzz"))
del y.a
try:
    y.other
except AttributeError as e:
    print(e)


class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n <= 0:
            raise StopIteration
        self.n -= 1
        return self.n


print(list(Countdown(3)), sum(Countdown(5)), tuple(Countdown(2)), max(Countdown(4)), *Countdown(3))


class Meta:
    x = 1

    class Inner:
        y = 2

    def method(self):
        return Meta.Inner.y + self.x


m = Meta()
print(m.method(), Meta.Inner().y, Meta.method(m), m.method.__name__, Meta.Inner.__name__)
bound = m.method
m.x = 10
print(bound(), Meta.x, m.x)
Meta.added = lambda self: "added"
print(m.added())


class Base:
    registry = {}

    def __init_subclass__(cls, **kw):
        super().__init_subclass__(**kw)
        Base.registry[cls.__name__] = cls


class One(Base):
    pass


class Two(Base):
    pass


print(sorted(Base.registry))


class Slots:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a = 1


s = Slots()
print(s.a)


class New:
    made = 0

    def __new__(cls, *args):
        cls.made += 1
        return super().__new__(cls)

    def __init__(self, x):
        self.x = x


print(New(3).x, New.made)


class Single:
    _one = None

    def __new__(cls):
        if cls._one is None:
            cls._one = object.__new__(cls)
        return cls._one


print(Single() is Single())


class Descriptor:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, obj, owner=None):
        return getattr(obj, self.name, "unset")

    def __set__(self, obj, value):
        setattr(obj, self.name, value + 1)


class Has:
    d = Descriptor()


h = Has()
print(h.d)
h.d = 4
print(h.d, h._d)


class Cached:
    calls = 0

    @functools.cached_property
    def value(self):
        Cached.calls += 1
        return 42


c = Cached()
print(c.value, c.value, Cached.calls)
try:
    d.nothing
except AttributeError as e:
    print(e)
try:
    Dog()
except TypeError as e:
    print(str(e).split("__init__")[1])
print(type("Made", (), {"z": 3})().z, type(3), type("a").__name__, type(None), type(print).__name__, type(Dog))
print(callable(d), callable(Dog), callable(v), callable(len), id(d) == id(d))


class L(list):
    def total(self):
        return sum(self)


x = L([1, 2, 3])
x.append(4)
print(x.total(), len(x), x[1], x, isinstance(x, list))


class D(dict):
    def __missing__(self, k):
        return k * 2


print(D(a=1)["a"], D()["b"], D(x=2))


class I(int):
    def double(self):
        return self * 2


print(I(4).double(), I(4) + 1)


class S(str):
    def shout(self):
        return self.upper() + "!"


print(S("hey").shout(), S("abc")[1], len(S("four")))
