# Text: methods, % formatting, format, f-strings, bytes.
s = "Hello, World"
print(s.lower(), s.upper(), s.swapcase(), s.title(), s.capitalize(), s.casefold(), s.center(20, "*"), s.ljust(15, "-") + "|", s.rjust(15) + "|")
print(s.find("o"), s.rfind("o"), s.index("W"), s.rindex("l"), s.count("l"), s.find("z"), s.find("o", 5), s.find("o", 5, 8), s.startswith("Hell"), s.endswith(("d", "x")), s.startswith("W", 7))
print("a,b,,c".split(","), "a b  c ".split(), "a,b,c".split(",", 1), "a,b,c".rsplit(",", 1), "l1\nl2\r\nl3".splitlines(), "l1\nl2".splitlines(True), "".split(), "".split(","))
print("  x ".strip(), "xxaxx".strip("x"), " x ".lstrip() + "|", " x ".rstrip() + "|", "prefix-x".removeprefix("prefix-"), "x.py".removesuffix(".py"))
print(",".join(["a", "b"]), "abc".replace("b", "x"), "aaa".replace("a", "b", 2), "k=v=w".partition("="), "k=v=w".rpartition("="), "abc".partition("z"))
print("abc".isalpha(), "123".isdigit(), "a1".isalnum(), " ".isspace(), "Abc".istitle(), "abc".islower(), "ABC".isupper(), "12".isnumeric(), "12".isdecimal(), "a_1".isidentifier(), "é".isascii(), "a".isprintable())
print("42".zfill(5), "-42".zfill(5), "a\tb".expandtabs(4), "abc".translate(str.maketrans("ab", "xy", "c")), "abc".translate({97: "z", 98: None}), "x".encode())
print("naïve café"[2], len("naïve"), "日本語"[::-1], "é" == "\u00e9", "\x41\u0042", ord("é"), chr(233), ascii("é"), repr("it's"), repr('"'), repr("'\""), repr("\n\t\\\x00\x7f"))
print("abc" < "abd", "a" in "abc", "ab" * 2, 3 * "x", "abc"[1:], "abc"[-2:], "abcdef"[::2], "abcdef"[4:1:-1], max("hello"), min("hello"), sorted("bca"), list("abc"), "b" not in "abc")
print("%s %d %5d|%-5d|%05d %x %X %o %e %.2f %g %% %c %r %10.3s|" % ("a", 1, 2, 3, 4, 255, 255, 8, 12345.678, 3.14159, 0.0001, "c", "r", "abcdef"))
print("%(name)s is %(age)d" % {"name": "Bob", "age": 5}, "%s" % (1,), "%s" % [1, 2], "%+d % d" % (1, 2), "%*d" % (5, 3), "%.3g|%10.2e|%#x" % (1234.5, 0.00012, 255), "%5.1f%%" % 12.34)
print("{} {} {}".format(1, "a", None), "{1} {0}".format("a", "b"), "{x} {y!r}".format(x=1, y="b"), "{0[1]} {1.real}".format([1, 2], 5), "{:>10}|{:<10}|{:^10}|{:*^10}".format("a", "b", "c", "d"), "{{}}".format())
print("{:d} {:5d} {:05d} {:+d} {:,} {:_} {:b} {:o} {:x} {:X} {:#x} {:#b} {:c} {:n}".format(1, 2, 3, 4, 1234567, 1234567, 5, 8, 255, 255, 255, 5, 65, 7))
print("{:f} {:.2f} {:10.3f} {:e} {:.3e} {:g} {:G} {:%} {:.1%} {:,.2f} {:+.1f} {:010.2f}".format(1.5, 2.345, 3.14159, 12345.678, 0.00012, 1e10, 1e-10, 0.25, 0.256, 1234567.891, 2.5, -3.14159))
print("{:.3} {:.10} {:s} {:>{w}} {:.{p}f}".format(3.14159, "abc", "str", "a", 2.71828, w=6, p=3))
x, w, name = 3.14159, 10, "n"
print(f"{x:.2f} {x:{w}.3f} {x!r} {name!s:>5} {x=} {x=:.1f} {name=} {w + 1 = } {'a' if w else 'b'} {{x}} {[i for i in range(3)]} {dict(a=1)['a']} {name:{'>'}{w}}|")
print(f"{1000000:,} {0.000001} {1e20} {1e16} {123456789.0} {1/3} {100.0} {-0.0} {float('inf')} {float('nan')} {1e-5} {0.1+0.2}")
print(f"{'nested ' + f'{x:.1f}'}", f"""multi
line {x:.0f}""", f'{"a" "b"}', rf"\d{w}", "a" "b" f"{w}")
print(f"{True} {None} {[1, 'a']} {(1,)} {{}} {set()} {b'x'!r}", f"{5:>5}{5:<5}|{5:^5}|{'x':-^9}")
print(str(1.0), str(1e100), repr(0.1), str(True), str([1, "a", None]), str({"a": (1, 2)}), str({1}), 1.5e300, 5e-324, 123456789012345680.0, 1e22, 1e21, 12345.6789e-10)
print(round(2.5), round(3.5), round(-2.5), round(2.675, 2), round(1234.5678, -2), round(5), round(0.5), round(1.5), format(3.14159, ".3f"), format("a", ">5"), format(255, "08b"))
b = b"abc\x00\xff"
print(b, len(b), b[0], b[1:3], b + b"d", list(b"ab"), b"ab" * 2, bytes([1, 2]), bytes(3), "é".encode("utf-8"), b"\xc3\xa9".decode(), b == b"abc\x00\xff", b"b" in b, b.hex(), bytes.fromhex("00ff"), hash(b"a") == hash(b"a"))
print(b"a,b".split(b","), b"abc".find(b"c"), b"abc".startswith(b"a"), b" a ".strip(), b"".join([b"a", b"b"]), b"abc".replace(b"b", b"x"), b"ABC".lower(), b"abc".upper(), b"a" < b"b", isinstance(b, bytes), bytes("a", "utf-8"), int.from_bytes(b"\x01\x00", "big"), (258).to_bytes(2, "little"), int.from_bytes(b"\xff", "big", signed=True))
print("a\\n", r"\n", 'single', """triple "quoted" text""", "tab\there", "uni\u2713", "\101")
print("abc".join("123"), "Hello".__len__(), "x".__add__("y"), str.upper("abc"), "".join(reversed("abc")), "a-b_c".replace("-", "").replace("_", ""))
print("line1\nline2\n".split("\n"), "1 2 3".split(" "), "  lead".split(" "), "aXbXc".split("X"), "abc".split("abc"), "a" "b", "%s" % "x", "%d%%" % 50)
print("{:>8}|{:<8}|{:^8}".format(True, None if False else "N", 1.5), "{!r:>6}".format("a"), "{:<5}|".format([1][0]), f"{-5:+} {5: } {-5:06d} {3.0:g} {1234.0:g} {1e6:g} {123456.0:g} {1234567.0:g}")
import string
print(string.ascii_lowercase, string.digits, string.ascii_letters[:5], string.punctuation[:5], string.hexdigits, string.Template("$x is ${y}").substitute(x=1, y=2), string.capwords("a b c"))
