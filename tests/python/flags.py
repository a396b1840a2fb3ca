# Flags, enums of values, and their corners.
import enum
from enum import Enum, Flag, IntEnum, IntFlag, StrEnum, auto, unique


class Perm(Flag):
    R = auto()
    W = auto()
    X = auto()
    RW = R | W


both = Perm.R | Perm.W
print(both, repr(both), both is Perm.RW, Perm(3) is both, both.name, both.value, list(Perm), len(Perm))
print(Perm.R in both, Perm.X in both, Perm.R & Perm.W, repr(Perm.R & Perm.W), bool(Perm.R & Perm.W), ~Perm.R, ~Perm(0))
print(repr(Perm.R | Perm.X), str(Perm.R | Perm.X), list(both), Perm.R ^ both, both == Perm.RW, both != Perm.R)
print({Perm.R: 1}[Perm.R], Perm["X"], len(both), isinstance(both, Perm), isinstance(Perm.R, Enum), hash(both) == hash(Perm.RW))
for wrong in [lambda: Perm(8), lambda: Perm("x"), lambda: Perm.R | 1, lambda: Perm.R + 1, lambda: 1 in both]:
    try:
        print(wrong())
    except (ValueError, TypeError) as e:
        print(type(e).__name__)


class Mode(IntFlag):
    A = 1
    B = 2
    C = 4


print(Mode.A | Mode.B, repr(Mode.A | Mode.B), Mode.A | 8, repr(Mode.A | 2), Mode.A + 1, ~Mode.A, repr(~Mode.A), 2 | Mode.A)
print(isinstance(Mode.A, int), Mode.B == 2, f"{Mode.B} {Mode.B:>3}", repr(Mode(0)), Mode.B in Mode.A, Mode.C > Mode.B, [1, 2, 3][Mode.A])


class Level(IntEnum):
    LOW = 1
    HIGH = 2


print(Level.LOW, repr(Level.LOW), isinstance(Level.LOW, Enum), isinstance(Level.LOW, int), Level.HIGH > Level.LOW, sorted([Level.HIGH, Level.LOW]))
print(issubclass(IntEnum, Enum), Level(2) is Level.HIGH, Level.LOW + 1, f"{Level.HIGH:03d}", {1: "one"}[Level.LOW], Level.LOW == 1)


class Word(StrEnum):
    YES = auto()
    NO = "nope"


print(Word.YES, repr(Word.NO), Word.NO.upper(), Word.YES == "yes", isinstance(Word.NO, Enum), f"{Word.YES}!")


class Planet(Enum):
    EARTH = (5.97e24, 6.37e6)
    MARS = (6.42e23, 3.39e6)

    def __init__(self, mass, radius):
        self.mass = mass
        self.radius = radius

    @property
    def dense(self):
        return self.mass / self.radius**3

    @classmethod
    def heaviest(cls):
        return max(cls, key=lambda p: p.mass)


print(Planet.EARTH.mass, Planet.heaviest(), Planet((6.42e23, 3.39e6)), round(Planet.MARS.dense), Planet.MARS.value)


class Coded(Enum):
    ONE = (1, "first")
    TWO = (2, "second")

    def __new__(cls, value, label):
        made = object.__new__(cls)
        made._value_ = value
        made.label = label
        return made

    @classmethod
    def _missing_(cls, value):
        return cls.ONE if value == "default" else None


print(Coded(2).label, Coded.ONE.value, Coded("default"), repr(Coded.TWO))
try:
    Coded(3)
except ValueError as e:
    print(e)


class Stage(str, Enum):
    OPEN = "open"
    DONE = "done"

    def next(self):
        return Stage.DONE


print(Stage.OPEN == "open", Stage.OPEN.upper(), Stage.OPEN.next(), Stage("done") is Stage.DONE, Stage.OPEN.value, repr(Stage.OPEN))


class Named(Enum):
    def _generate_next_value_(name, start, count, last_values):
        return name.lower() + str(count)

    A = auto()
    B = auto()


print(Named.A.value, Named.B.value)
Color = Enum("Color", "RED GREEN BLUE")
Shade = IntEnum("Shade", ["DARK", "LIGHT"])
Fruit = Enum("Fruit", {"APPLE": 5, "PEAR": 6})
print(list(Color), Color.RED.value, list(Shade), Fruit.PEAR.value, Color["GREEN"].name)


class Mixed:
    def describe(self):
        return f"{self.name.lower()}={self.value}"


class Sized(Mixed, Enum):
    SMALL = 1
    ALIAS = 1


print(Sized.SMALL.describe(), Sized.ALIAS is Sized.SMALL, list(Sized.__members__), Sized.SMALL in Sized)
try:
    @unique
    class Twice(Enum):
        A = 1
        B = 1
except ValueError as e:
    print(str(e)[:26])
try:
    class More(Sized):
        BIG = 2
except TypeError as e:
    print("cannot extend" in str(e))
try:
    Sized.SMALL.value = 3
except AttributeError:
    print("AttributeError")
print(enum.Enum is Enum, type(Sized.SMALL) is Sized, Sized.SMALL == 1, Level.LOW is Level(1), bool(Sized.SMALL))
