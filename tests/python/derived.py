# Classes below built-in types stand wherever the types do.
class S(str):
    pass
class L(list):
    pass
class D(dict):
    pass
class I(int):
    pass
s = S("ab")
print("xaby".find(s), "ab".startswith(s), s in "xab", "-".join([s, S("c")]), "ab" == s, s == "ab", {s: 1}["ab"], "%s|%5s|%r" % (s, s, s), f"{s:>4}", int(S("12")), float(S("1.5")), ord(S("a")), s + "c", "c" + s, len(s), s * 2, hash(s) == hash("ab"), "xab".replace(s, "q"), "a b".split(S(" ")), s.upper(), getattr(s, S("upper"))())
l = L([1, 2])
print([0] + l, l + [3], l == [1, 2], [*l], list(l), tuple(l), sum(l), max(l), l[0:1], l * 2, 1 in l, sorted(L([2, 1])), reversed(l) and 1, list(reversed(l)), dict(D(a=1)), {**D(b=2)}, D(a=1) == {"a": 1}, D(a=1) | {"b": 2}, list(D(a=1).items()))
i = I(3)
print(i + 1, 1 + i, i * 2.0, i == 3, [10, 20, 30, 40][i], range(i), i < 4, 4 > i, hash(i) == hash(3), {3: "x"}[i], "%d" % i, f"{i:03d}", abs(I(-2)), -i, int(i), float(i), round(i), divmod(i, 2), pow(i, 2), hex(i), bin(i), chr(I(65)), "ab" * i, list(zip(range(i), "abc")), sum([i, i]), i & 1, isinstance(i, int), max(i, 2), sorted([I(2), I(1)]), str(i), repr(i), bool(I(0)))
import json
print(json.dumps([s, l, i, D(a=i)]))
l[0:0] = L([9])
l.extend(L([7]))
print(l, L("ab") == ["a", "b"], "".join(L("xy")), set(L([1, 1])), L([3]) < [4])
