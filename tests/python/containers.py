# Lists, tuples, dicts, sets, slices, and the functions on them.
import collections
from collections import namedtuple, defaultdict, OrderedDict, Counter, deque, ChainMap

xs = [3, 1, 2]
xs.append(5)
xs.extend([4, 4])
xs.insert(1, 9)
xs.remove(4)
print(xs, xs.pop(), xs.pop(0), xs.index(1), xs.count(1), xs, xs.copy(), len(xs))
xs.sort()
print(xs, sorted(xs, reverse=True), sorted("bAc", key=str.lower), list(reversed(xs)))
xs.reverse()
xs[1:3] = [7, 8, 9]
xs[::2] = [0] * len(xs[::2])
del xs[1], xs[-1]
xs[len(xs):] = [1, 2]
print(xs, xs[::-1], xs[1:-1], xs[5:], xs[-3:], xs == [0], [1, 2] < [1, 3], [1] + [2], [0] * 2, 2 in [1, 2])
del xs[::2]
print(xs)
xs[:] = []
xs += "ab"
xs *= 2
xs.clear()
print(xs, [[0] * 2 for _ in range(2)], list(range(5, 0, -2)), range(3), range(1, 10, 3)[1], len(range(0, 10, 3)), 4 in range(0, 10, 2), list(range(10))[2:8:3], range(10)[2:5])
t = 1, 2, 3
print(t, t[0], t[1:], t + (4,), t * 2, t.count(1), t.index(3), (), (1,), tuple("ab"), hash((1, 2)) == hash((1, 2)), (1, 2) < (1, 3), len(t))
d = {"a": 1, "b": 2}
d["c"] = 3
d.update({"d": 4}, e=5)
print(d, d.get("z"), d.get("z", 0), d.pop("a"), d.pop("zz", None), d.setdefault("f", 6), d.setdefault("b", 0), list(d), list(d.keys()), list(d.values()), list(d.items()), "b" in d, len(d))
del d["b"]
print(d.popitem(), d, dict([(1, 2)]), dict(a=1), dict({"x": 1}, y=2), dict.fromkeys("ab", 0), {1: 1} | {2: 2}, d == {"c": 3, "d": 4, "e": 5}, {**d}, sorted(d), max(d), list(reversed(d)))
d |= {"z": 1}
print(d.keys() & {"c", "q"}, d.keys() - {"c"} == {"d", "e", "z"}, [k for k, v in d.items() if v > 3], d.copy() is d, {k: v for k, v in zip("ab", range(2))})
d.clear()
print(d, bool(d), {1: "a", 1.0: "b", True: "c"}, {(1, 2): 3}[1, 2])
s = {1, 2, 3}
s.add(4)
s.discard(9)
s.remove(1)
print(s, s | {5}, s & {2}, s - {2}, sorted(s ^ {2, 8}), s <= {2, 3, 4, 5}, s < s, s >= {2}, {1}.isdisjoint({2}), s.union([7], [8]), s.intersection([2]), s.difference([2]), s.symmetric_difference([2]), s.issubset([2, 3, 4]), s.issuperset([2]), len(s), 2 in s)
s |= {10}
s &= {10, 2}
s -= {2}
s ^= {1}
s.update([5], [6])
print(sorted(s), frozenset([1, 2]) == {1, 2}, {frozenset([1])}, set("aab") == {"a", "b"}, set(), s.copy() == s, sorted({3, 1, 2}))
print(sum([1, 2]), sum([[1], [2]], []), sum([0.1] * 3), min(3, 1), max([1, 5, 2]), min("b", "a", key=ord), max([], default=0), max({"a": 1, "b": 5}.items(), key=lambda kv: kv[1]), min([(1, "b"), (1, "a")]))
print(any([0, 1]), all([]), all([1, 0]), any(x > 1 for x in [1, 2]), list(zip([1, 2], "ab", (True, False))), list(zip(*[(1, 2), (3, 4)])), list(enumerate("ab", 1)), divmod(7, 3), divmod(-7, 3), divmod(7.5, 2), abs(-3), pow(2, 3), pow(2, 3, 5), pow(2, -1), bin(5), hex(255), oct(8), int("ff", 16), int(3.9), int(-3.9), float("1e3"), complex if False else 0)
try:
    list(zip([1], [1, 2], strict=True))
except ValueError as e:
    print(e)
print(isinstance(1, (int, str)), isinstance(True, int), issubclass(bool, int), type(1) == int, type([]).__name__, callable(print), iter([1]).__next__(), next(iter([]), "end"), list(iter([1, 2, 3].pop, 1)), id(xs) == id(xs), slice(1, 5, 2).indices(4), list(map(int, "123")), [*map(pow, [2, 3], [2, 2])])
a = [1, [2, 3]]
import copy
b, c, e = a, copy.copy(a), copy.deepcopy(a)
a[1].append(4)
a.append(5)
print(a, b, c, e, b is a)
P = namedtuple("P", "x y")
p = P(1, y=2)
print(p, p.x, p[1], p == (1, 2), p._replace(x=5), p._asdict(), P._fields, [*p], isinstance(p, tuple), P._make([3, 4]), len(p), {p: 1}[(1, 2)], hash(p) == hash((1, 2)))
Q = namedtuple("Q", ["a", "b", "c"], defaults=[0])
print(Q(1, 2), Q(1, 2, 3)[::-1])
x, y = p
dd = defaultdict(list)
dd["a"].append(1)
dd["a"].append(2)
dd["b"]
print(dd, dict(dd), dd["c"], len(dd), isinstance(dd, dict), defaultdict(int, {"x": 1})["y"], "q" in dd, dd.get("q"), sorted(dd.items()))
od = OrderedDict([("a", 1), ("b", 2)])
od.move_to_end("a")
print(od, list(od), od.popitem(last=False), od == {"a": 1})
c = Counter("mississippi")
print(c, c["s"], c["z"], c.most_common(2), sorted(c.elements())[:3], sum(c.values()), c + Counter("mmm"), c - Counter("ss"), Counter(a=2) & Counter(a=1, b=3), Counter(a=2) | Counter(b=1), c.total())
c.update("mm")
c.subtract({"i": 1})
print(c["m"], c["i"], dict(c), Counter([1, 1, 2]) == Counter([1, 2, 1]), len(c))
q = deque([1, 2, 3], maxlen=4)
q.append(4)
q.append(5)
q.appendleft(0)
print(q, q[0], q[-1], len(q), list(q), q.pop(), q.popleft(), q.maxlen)
q.extend([7, 8])
q.extendleft([9])
q.rotate(1)
print(q, 7 in q, q.index(7) if 7 in q else None, list(reversed(q)), q == deque([8, 9, 2, 7]), bool(deque()), q.count(8))
q.clear()
print(q, ChainMap({"a": 1}, {"a": 2, "b": 3})["b"], dict(ChainMap({"a": 1}, {"a": 2, "b": 3})))
words = "the cat the dog".split()
groups = {}
for w in words:
    groups.setdefault(len(w), []).append(w)
print(groups, sorted(words, key=lambda w: (-len(w), w)), sorted([(2, "b"), (1, "z"), (2, "a")]), sorted([3, 1, 2], key=lambda v: -v), sorted({"b": 1, "a": 2}.items(), key=lambda kv: kv[1]))
nested = {"a": [1, {"b": (2, 3)}]}
print(nested["a"][1]["b"][0], str(nested), nested == {"a": [1, {"b": (2, 3)}]})
loop = [1]
loop.append(loop)
print(loop)
for k in list(nested):
    del nested[k]
print(nested, [1, 2, 3].__contains__(2), [].__len__(), (1).__add__(2), {}.__class__.__name__)
try:
    for k in {"a": 1}:
        nested["b"] = 1
    m = {"a": 1}
    for k in m:
        m[k + "x"] = 1
except RuntimeError as e:
    print(e)
