# Regular expressions.
import re

print(re.match(r"(\w+) (\w+)", "hello world!").groups(), re.match("b", "abc"), re.search("b", "abc").span(), re.fullmatch("a+", "aaa") is not None, re.fullmatch("a+", "aab"))
print(re.findall(r"\d+", "a1b22c333"), re.findall(r"(\w)(\d)", "a1 b2"), re.findall(r"(a)|b", "ab"), re.findall("", "ab"), re.findall(r"\b\w", "one two"))
print(re.sub(r"(\w+)@(\w+)", r"\2 at \1", "me@home you@work"), re.sub("a", "b", "aaa", count=2), re.sub(r"\d", lambda m: str(int(m.group()) * 2), "1 2 3"), re.sub(r"(?P<x>a)", r"[\g<x>]", "banana"), re.subn("a", "", "banana"), re.sub("x*", "-", "abc"))
print(re.split(r"[,;]\s*", "a, b;c,d"), re.split(r"(,)", "a,b"), re.split(",", "a,b,c", maxsplit=1), re.split(r"\s+", " a b "))
m = re.search(r"(?P<year>\d{4})-(?P<month>\d\d)(?:-(?P<day>\d\d))?", "on 2024-05!")
print(m.group(), m.group(1), m.group("month"), m["year"], m.groupdict(), m.start("month"), m.end(), m.group(1, 2), m.groups("none"), m.lastindex)
print(re.findall("A.b", "axb\nA\nb", re.I), re.findall("a.b", "a\nb", re.DOTALL), re.findall("^x", "x\nx", re.M), re.findall(r"a b # note", "ab", re.VERBOSE), re.findall("É", "é", re.I | re.S))
p = re.compile(r"(\w)\1")
print([x.span() for x in p.finditer("aabbc")], p.pattern, p.groups, p.search("xyzz").start(), p.match("zz", 0) is not None, p == re.compile(r"(\w)\1"))
print(re.escape("a.b*c"), re.search("日(.)", "今日本").group(1), re.search("本", "今日本").span(), re.findall(r"\w+", "naïve café"))
try:
    re.compile("(")
except re.error as e:
    print("error")
print(re.search("x", "abc"), bool(re.search("", "abc")), re.search(r"(a)|(b)", "b").groups(), re.match(r"a{2,3}?", "aaaa").group(), re.search(r"(?<=\$)\d+", "cost $45").group(), re.sub(r"\s+", " ", "a  b\n\tc").strip())
