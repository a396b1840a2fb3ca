# bytearray: bytes that can be changed; struct.
import struct

b = bytearray(b"abc")
b[0] = 65
b.append(100)
b += b"ef"
b.extend([103, 104])
print(b, len(b), bytes(b), b[0], b[-1], b[1:3], b[::-1], list(b[:2]), repr(bytearray()), bool(b), bool(bytearray()))
b[1:3] = b"XYZ"
print(b)
b[::2] = bytes(len(b[::2]))
print(b, b.find(b"Y"), 89 in b, b"Z" in b, b == bytes(b), bytes(b) == b, b != b"x", b < b"\xff")
del b[0], b[-1], b[1:4:2]
print(b, b.pop(), b.pop(0), b)
b.insert(1, 7)
b.reverse()
c = b.copy()
b.clear()
print(b, c, c.hex(), bytearray(3), bytearray("ä", "utf-8"), bytearray(range(3)) * 2, bytearray(b"x") + b"y", b"x" + bytearray(b"y"))
print(bytearray(b"hi").decode(), isinstance(b, bytearray), isinstance(b, bytes), bytes(bytearray(b"q")))
d = bytearray(b"self")
d[2:2] = d
print(d)
for wrong in [lambda: d.__setitem__(0, 256), lambda: d[99], lambda: d.append("x"), lambda: bytearray().pop(), lambda: d + "x", lambda: {d: 1}]:
    try:
        wrong()
    except (ValueError, IndexError, TypeError) as e:
        print(type(e).__name__)
e = bytearray()
for i in range(1000):
    e.append(i % 256)
print(sum(e), len(e))

print(struct.pack("<if4s?", 1, 2.5, b"ab", True), struct.unpack("<if4s?", struct.pack("<if4s?", 1, 2.5, b"ab", True)))
print(struct.calcsize("bi"), struct.calcsize("<bi"), struct.pack(">hH", -2, 65535), struct.unpack("<3B", b"\x01\x02\xff"), struct.unpack_from("<d", struct.pack("<xd", 0.1), 1))
print(struct.pack("<e", 1.5), struct.unpack(">q", b"\xff" * 8), list(struct.iter_unpack("<H", b"\x01\x00\x02\x00")))
for wrong in [lambda: struct.pack("i"), lambda: struct.unpack("i", b"x"), lambda: struct.pack("k", 1), lambda: struct.pack("b", 200)]:
    try:
        wrong()
    except struct.error:
        print("struct.error")
