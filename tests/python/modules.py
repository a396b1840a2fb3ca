# Modules of the standard library.
import abc
import dataclasses
import enum
import itertools
import json
import math
import operator
import os
import os.path
import pathlib
import random
import sys
import tempfile
import time
from dataclasses import dataclass, field
from enum import Enum, IntEnum, auto
from typing import Any, Callable, Dict, Generic, Iterable, List, NamedTuple, Optional, Sequence, Set, Tuple, TypeVar, Union


@dataclass
class Point:
    x: int
    y: int = 0
    tags: List[str] = field(default_factory=list)

    def norm(self) -> float:
        return math.hypot(self.x, self.y)


@dataclass(frozen=True, order=True)
class Version:
    major: int
    minor: int = 0


p = Point(3, 4)
print(p, p.norm(), p == Point(3, 4), p != Point(0), Point(1, tags=["a"]), dataclasses.asdict(p), dataclasses.astuple(p), dataclasses.replace(p, x=9), [f.name for f in dataclasses.fields(p)], dataclasses.is_dataclass(p))
p.tags.append("t")
print(Point(0).tags, Version(1, 2) < Version(1, 3), sorted([Version(2), Version(1, 5)]), hash(Version(1)) == hash(Version(1)), {Version(1): "one"}[Version(1)])
try:
    Version(1).major = 2
except dataclasses.FrozenInstanceError as e:
    print(type(e).__name__, e)
try:
    Point()
except TypeError as e:
    print(e)


@dataclass
class Child(Point):
    z: int = 5
    total: int = field(init=False, repr=False, default=0)

    def __post_init__(self):
        self.total = self.x + self.y + self.z


c = Child(1, 2)
print(c, c.total, isinstance(c, Point))


class Color(Enum):
    RED = 1
    GREEN = 2
    BLUE = auto()
    CRIMSON = 1

    @property
    def pretty(self):
        return self.name.title()


print(Color.RED, repr(Color.GREEN), Color.BLUE.value, Color.RED.name, Color(2), Color["BLUE"], list(Color), Color.RED is Color.CRIMSON, Color.RED == 1, Color.GREEN.pretty, len(Color), Color.RED in Color, isinstance(Color.RED, Color), {Color.RED: 1}[Color.RED])
try:
    Color(9)
except ValueError as e:
    print(e)


class Level(IntEnum):
    LOW = 1
    HIGH = 10


print(Level.LOW < Level.HIGH, Level.HIGH + 1, Level(1), int(Level.HIGH), Level.LOW == 1, sorted([Level.HIGH, Level.LOW]), [10, 20][Level.LOW], f"{Level.HIGH.value}")


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self):
        ...

    @property
    @abc.abstractmethod
    def name(self):
        ...

    def show(self):
        return f"{self.name} {self.area()}"


class Square(Shape):
    name = "square"

    def area(self):
        return 4


try:
    Shape()
except TypeError as e:
    print(str(e).split(" with ")[0])
print(Square().show())
print(json.dumps({"a": [1, 2.5, None, True, "é\n"], "b": {}}), json.dumps([1, [2]], indent=2), json.dumps({"b": 1, "a": 2}, sort_keys=True, separators=(",", ":")), json.loads('{"a": [1, 2.0, null, true, "x\\u00e9"]}'), json.dumps("é", ensure_ascii=False), json.loads("1e3"), json.dumps((1, 2)), json.dumps({1: "a", None: 2}))
try:
    json.loads("{bad}")
except json.JSONDecodeError as e:
    print("bad json", isinstance(e, ValueError))
try:
    json.dumps(object)
except TypeError as e:
    print("TypeError")
print(json.dumps({"k": {1, 2}}, default=list))
it = itertools
print(list(it.chain([1], [2, 3])), list(it.chain.from_iterable([[1], [2]])), list(it.product("ab", [1, 2])), list(it.permutations([1, 2, 3], 2)), list(it.combinations("abc", 2)), list(it.combinations_with_replacement("ab", 2)), list(it.islice(it.count(5, 2), 3)), list(it.islice("abcdef", 1, 5, 2)), list(it.takewhile(lambda x: x < 3, [1, 2, 3, 1])), list(it.dropwhile(lambda x: x < 3, [1, 2, 3, 1])))
print(list(it.accumulate([1, 2, 3])), list(it.accumulate([1, 2, 3], operator.mul, initial=10)), [(k, list(g)) for k, g in it.groupby("aabbc")], list(it.zip_longest([1], [2, 3], fillvalue=0)), list(it.starmap(pow, [(2, 3)])), list(it.repeat(1, 3)), list(it.islice(it.cycle("ab"), 5)), list(it.compress("abc", [1, 0, 1])), list(it.filterfalse(lambda x: x % 2, range(5))), list(it.pairwise([1, 2, 3])), [list(t) for t in it.tee([1, 2])], list(it.product([0, 1], repeat=2)))
print(math.sqrt(2), math.pi, math.e, math.tau, math.floor(-1.5), math.ceil(1.2), math.trunc(-1.7), math.gcd(12, 18), math.log(8, 2), math.log2(8), math.log10(1000), math.exp(1), math.sin(0), math.atan2(1, 1), math.degrees(math.pi), math.radians(180), math.isclose(0.1 + 0.2, 0.3), math.inf, math.isnan(math.nan), math.isinf(-math.inf), math.fsum([0.1] * 10), math.prod([1, 2, 3]), math.hypot(3, 4), math.dist([0, 0], [3, 4]), math.modf(1.5), math.frexp(8), math.ldexp(1, 3), math.fmod(-7, 3), math.copysign(1, -0.0), math.comb(5, 2), math.perm(5, 2), math.factorial(5), math.isqrt(17), math.lcm(4, 6), math.cbrt(27) if hasattr(math, "cbrt") else 3.0, math.erf(0), math.gamma(5))
print(operator.add(1, 2), operator.itemgetter(1)([1, 2]), operator.itemgetter(0, 2)("abc"), operator.attrgetter("x")(p), operator.methodcaller("upper")("a"), operator.neg(3), operator.lt(1, 2), operator.contains([1], 1), operator.getitem([5], 0), operator.truth([]), operator.is_(None, None), operator.mul(2, 3), operator.floordiv(7, 2), operator.and_(6, 3), operator.not_(1), operator.concat([1], [2]), operator.index(3))
print(os.path.join("a", "b", "/c"), os.path.join("a", "b"), os.path.basename("/x/y.txt"), os.path.dirname("/x/y.txt"), os.path.splitext("a/b.tar.gz"), os.path.exists("/nonexistent"), os.path.isabs("/a"), os.path.normpath("a/../b/./c"), os.path.split("a/b"), os.sep, os.path.relpath("/a/b", "/a"), os.path.commonprefix(["abc", "abd"]), os.linesep == "\n")
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "f.txt")
    with open(path, "w") as f:
        print("one", file=f)
        f.write("two\n")
        f.writelines(["three\n", "four"])
    with open(path) as f:
        print(f.readline(), f.read(), end="\n")
    with open(path, "a") as f:
        f.write("!")
    print([line.rstrip("\n") for line in open(path)], os.path.getsize(path), os.path.isfile(path), os.listdir(folder), os.path.isdir(folder))
    q = pathlib.Path(folder) / "sub" / "g.txt"
    q.parent.mkdir(parents=True, exist_ok=True)
    q.write_text("hi")
    print(q.read_text(), q.name, q.suffix, q.stem, q.exists(), q.parent.name, sorted(x.name for x in pathlib.Path(folder).iterdir()), q.with_suffix(".md").name, [x.name for x in sorted(pathlib.Path(folder).glob("*.txt"))], q.is_file(), q.parent.is_dir(), pathlib.Path("a") / "b" == pathlib.Path("a/b"), pathlib.Path("/a/b/c").parts, str(pathlib.Path("a/./b")), repr(pathlib.PurePosixPath("x") if False else "p"))
    os.rename(path, path + "2")
    os.remove(path + "2")
    os.makedirs(os.path.join(folder, "x", "y"), exist_ok=True)
    print(sorted(os.listdir(folder)))
    with open(os.path.join(folder, "b"), "wb") as f:
        f.write(b"\x00\x01")
    with open(os.path.join(folder, "b"), "rb") as f:
        print(f.read())
print(os.path.exists(folder), os.environ.get("NOT_SET_ANYWHERE"), os.getenv("NOT_SET", "d"), isinstance(os.getcwd(), str), os.environ["PATH"] != "", os.getpid() > 0)
random.seed(5)
a = [random.random() for _ in range(3)]
random.seed(5)
print(a == [random.random() for _ in range(3)], 0 <= random.random() < 1, random.randint(1, 1), random.choice([7]), sorted(random.sample(range(5), 5)), random.randrange(3) in range(3), len(random.choices([1, 2], k=4)), 1 <= random.uniform(1, 2) <= 2, isinstance(random.gauss(0, 1), float), random.Random(1).random() == random.Random(1).random())
xs = [1, 2, 3]
random.shuffle(xs)
print(sorted(xs), time.time() > 0, time.perf_counter() >= 0, isinstance(time.time_ns(), int), sys.maxsize, sys.version_info >= (3, 8), sys.byteorder, len(sys.argv) >= 1, isinstance(sys.path, list))
T = TypeVar("T")


class Box(Generic[T]):
    def __init__(self, item: T):
        self.item = item


class Pair(NamedTuple):
    left: int
    right: str = "r"


print(Box[int](3).item, Pair(1), Pair(1, "b").right, Optional[int] is not None, Dict[str, List[int]] is not None)
print("to stderr", file=sys.stderr) if False else None
try:
    sys.exit(3)
except SystemExit as e:
    print("exit", e.code)
