# Enumerations.
from enum import *
class P(Enum):
    EARTH = (1, 2)
    MARS = (3, 4)
    def __init__(self, a, b):
        self.a, self.b = a, b
    @property
    def total(self): return self.a + self.b
print(P.EARTH.total, P.MARS.a, P((3, 4)), [p.name for p in P])
class S(StrEnum):
    A = auto()
    B = "x"
print(S.A, S.B == "x", S("a") is S.A, S.A.upper(), f"{S.B:>3}", repr(S.A))
@unique
class U(Enum):
    X = 1
    Y = 2
print(U.X in U, U.X != U.Y, {U.X, U.Y} == set(U))
try:
    class U2(U):
        Z = 3
except TypeError as e:
    print("TypeError")
try:
    U.X.value = 5
except AttributeError as e:
    print("AttributeError")
class F(Enum):
    def f(self): return 1
class G(F):
    A = 1
print(G.A.f(), G.A)
class L(list): pass
print(issubclass(L, list), issubclass(L, tuple), L.__bases__, [c.__name__ for c in L.__mro__], issubclass(L, object))
