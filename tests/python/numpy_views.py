import numpy as np

# ---- views see and are seen ----
a = np.arange(24).reshape(2, 3, 4)
b = a[0, 1:3]
b[0, 0] = 100
a[0, 2, 3] = -1
print(b, b.base is a.base, np.shares_memory(a, b))
c = a[:, 0]
c += 1000
print(a[0, 0], a[1, 0])
a.T[0, 0, 0] = 7
print(a[0, 0, 0], a.T.shape, a.T.strides, a.strides)
v = a[:, None, :, ::2]
v[...] = 0
print(a[0], v.shape, v.strides)
r = np.arange(6)
m = r.reshape(2, 3)
m[1] = 9
print(r, m.base is r, r.base is None, r[::-1], r[::-1].strides)
for row in m:
    row[:] = row * 2
print(r)
s = r[1:4].copy()
s[:] = 0
print(r, s.base is None)
f = r[[0, 1]]
f[0] = 55
print(r, np.shares_memory(r, f), f.base is None)
mask = r[r > 5]
mask[:] = 1
print(r)
x = np.zeros((2, 3))
x.ravel()[4] = 5
x.flatten()[0] = 9
x.T.ravel()[0] = 7
print(x)
np.transpose(x)[2, 0] = 3
np.swapaxes(x, 0, 1)[1, 1] = 4
np.squeeze(x[None])[0, 0] = 8
np.expand_dims(x, 0)[0, 1, 2] = 6
np.moveaxis(x, 0, 1)[0, 1] = 2
np.flip(x)[0, 0] = 60
print(x)
parts = np.split(np.arange(6), 3)
whole = np.arange(6)
parts = np.split(whole, 3)
parts[1][:] = -5
print(whole)
halves = np.hsplit(x, 3)
halves[0][:] = 1
print(x)

# ---- overlapping ----
w = np.arange(8)
w[1:] = w[:-1]
print(w)
w[1:] += w[:-1]
print(w)
w[::2], w[1::2] = w[1::2].copy(), w[::2].copy()
print(w)
q = np.arange(9).reshape(3, 3)
q += q.T
print(q)
q[:, 0], q[:, 1] = q[:, 1].copy(), q[:, 0].copy()
print(q)

# ---- bits ----
bits = np.array([1.0, -2.0], "float32")
bits.view("int32")[0] = 0x40400000
print(bits, bits.view(np.uint32))

# ---- memory ----
e = np.arange(10)
print(np.shares_memory(e[::2], e[1::2]), np.may_share_memory(e[::2], e[1::2]), np.shares_memory(e[:5], e[5:]))
print(e.flags.c_contiguous, e[::2].flags.c_contiguous, e[::2].flags["OWNDATA"], e.flags.owndata, e.flags.writeable)
print(q.T.flags.f_contiguous, q.T.flags.c_contiguous, np.ascontiguousarray(q.T).flags.c_contiguous)
wide = np.broadcast_to(e[:3], (2, 3))
print(wide, wide.strides, wide.flags.writeable)
for spoil in [lambda: wide.__setitem__((0, 0), 1), lambda: wide.fill(3)]:
    try:
        spoil()
    except ValueError as error:
        print(error)
e.flags.writeable = False
try:
    e[0] = 1
except ValueError as error:
    print(error)

# ---- dtypes ----
d = np.zeros(3, "float32").dtype
print(d, repr(d), d == "float32", d == np.float32, np.float32 == d, d != "int8", d.name, d.itemsize, d.kind, d.str)
print(np.dtype("int8"), np.dtype(int), np.dtype(np.float16), np.dtype("<f8"), np.dtype(bool), np.dtype("f4"), np.dtype("double"))
print(d.type, np.float32, np.dtype("float32").type is np.float32 or d.type == np.float32, isinstance(d, np.dtype))
print({d: 1}[np.dtype("float32")], d in [np.dtype("float32")], "float32" == d, f"{d} {d!s:>9}|")
print(np.zeros(2, d).dtype, np.zeros(2, np.int32).astype(d).dtype, np.array([1, 2], dtype=np.int8).dtype)
print(np.issubdtype(d, np.floating), np.issubdtype(np.int32, np.integer), np.issubdtype(np.uint8, np.signedinteger), np.issubdtype(np.float64, float))
print(np.result_type(np.float32, np.int64), np.promote_types("int8", np.uint8), np.can_cast(np.int8, np.int16))
print(np.finfo(np.float32).dtype, np.iinfo("int8").max, np.iinfo(np.uint64).max, np.finfo(d).bits)
for bad in ["float33", 3.5]:
    try:
        np.zeros(2, dtype=bad)
    except TypeError:
        print("TypeError")

# ---- scalars ----
y = np.float32(3)
z = y
y += 1
print(y, z, repr(y), repr(np.int64(-3)), repr(np.bool_(True)), [np.float64(0.5)], type(y), type(y).__name__)
g = np.arange(3)
first = g[0]
g[0] = 10
print(first, g, isinstance(first, np.integer), isinstance(first, np.floating), isinstance(first, np.ndarray), isinstance(g, np.ndarray))
print(isinstance(g.sum(), np.generic), isinstance(np.array(3), np.generic), repr(np.array(3) + 1), repr(np.array(3)))
print({np.int64(3): "three"}[3], hash(np.float64(0.5)) == hash(0.5), 3 in {np.int32(3)}, np.float32(1.5).item(), np.int8(5).dtype)
print(repr(np.mean(np.array([1.0, 2.0], "float32"))), repr(np.max(np.array([1, 5], "uint8"))), repr(np.any(np.array([True]))))
print(isinstance(np.float64(2), float), isinstance(np.float32(2), float), isinstance(np.int64(2), int))
print(repr(np.dot(np.ones(2), np.ones(2))), repr(-np.float32(2)), repr(np.sqrt(np.float32(4))), repr(np.sqrt(4.0)))
print(np.float32("1.5"), np.int32("7"), np.float32(), np.float32([1, 2]), repr(np.float32(2) * 3), repr(np.float32(2) * np.float64(3)))
t = np.array(5)
u = t
t += 1
print(t, u, t is u, g[0, ...].shape, repr(g[1, ...]))
k = g[1, ...]
k[...] = 77
print(g)
try:
    g[0][()] = 1
except TypeError as error:
    print(error)
try:
    {np.array([1]): 2}
except TypeError as error:
    print(error)
print(range(10)[np.int64(3)], [1, 2, 3][np.int32(1)], float(np.float32(2.5)), int(np.int8(4)), round(np.float64(2.567), 2))
print(issubclass(np.float32, np.floating), issubclass(np.int8, np.floating), issubclass(np.floating, np.number), issubclass(np.uint8, np.unsignedinteger), issubclass(np.float32, object))

# ---- reshapes of what has strides ----
base = np.arange(24).reshape(4, 6)
for part, shape in [(base[:, ::2], (2, 2, 3)), (base[::2], (12,)), (base.T, (2, 3, 4)), (base[:, 1:3], (4, 1, 2, 1)), (base.T, (24,)), (base[1:3], (3, 4)), (base[::-1], (2, 2, 6))]:
    again = part.reshape(shape)
    print(again.tolist(), np.shares_memory(again, base), np.shares_memory(part.ravel(), base))
