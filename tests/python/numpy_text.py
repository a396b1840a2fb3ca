# Tensors as text, on disk, and at random.
import os
import tempfile

import numpy as np

a = np.arange(12).reshape(3, 4)
for x in [a, a / 7, a.astype("float32") / 3, a > 5, np.array([]), np.array(5), np.array(2.5), np.zeros((2, 0)), np.array([1e10, 1.0]),
          np.array([1e-5, 1.0]), np.array([np.nan, np.inf, -np.inf, 1.0]), np.array([1.5, -2.25]), np.array([100000.0, 0.1]),
          np.array([[1], [-10]]), np.array([1.0, 2.0]), np.array([1e100, 1e-100]), np.arange(24).reshape(2, 3, 4),
          np.array([0.1 + 0.2]), np.array([1 / 3, 2 / 3], "float32"), np.array([True, False]), np.array([255], "uint8"),
          np.array([-0.0, 0.0]), np.array([123456789.123]), np.array([0.00001, 123456.0])]:
    print(x)
    print(repr(x))
print(np.arange(2000))
print(np.arange(2000.0).reshape(1000, 2))
print(f"{a[0, 1]} {a[1]} {a.sum()} {a.mean()} {a.mean():.2f} {a[0, 2]:5d}|")
print(str(a[0]), [int(v) for v in a[0]], a.tolist(), float(a.mean()), int(a[1, 1]), a.dtype, a.shape)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "a")
    for t in ["float64", "float32", "float16", "int64", "int8", "uint16", "bool"]:
        x = np.arange(6).reshape(2, 3).astype(t)
        np.save(path, x)
        y = np.load(path + ".npy")
        print(t, y.dtype == x.dtype, y.shape, np.array_equal(x, y), os.path.getsize(path + ".npy"))
    np.save(path, np.array(3.5))
    print(np.load(path + ".npy").shape, float(np.load(path + ".npy")))
    np.savez(path, a, b=np.ones(3))
    z = np.load(path + ".npz")
    print(sorted(z.files), z["arr_0"].tolist(), z["b"].sum(), "b" in z, len(z.files))
    np.savez_compressed(path + "c", x=np.zeros((100, 100)), y=np.arange(5))
    with np.load(path + "c.npz") as z:
        print(z["x"].shape, z["x"].sum(), z["y"].tolist(), os.path.getsize(path + "c.npz") < 2000)
rng = np.random.default_rng(1)
print(rng.random((2, 3)).shape, rng.integers(0, 5, 10).max() < 5, rng.normal(size=4).shape, rng.uniform(1, 2, (2,)).min() >= 1, sorted(rng.permutation(5).tolist()), rng.choice([1, 2, 3], 5).shape)
np.random.seed(0)
p = np.random.rand(3)
np.random.seed(0)
print(np.array_equal(p, np.random.rand(3)), np.random.randn(2, 2).shape, np.random.randint(0, 3, (2, 2)).dtype, np.random.uniform(size=3).dtype, np.random.normal(0, 1, 5).shape, np.random.choice(5, 3, replace=False).shape, abs(np.random.randn(10000).mean()) < 0.1)
x = np.linalg.solve([[2.0, 1], [1, 3]], [3.0, 5])
print(np.round(x, 10), np.round(np.linalg.inv([[2.0, 0], [0, 4]]), 10), np.round(np.linalg.det([[1.0, 2], [3, 4]]), 10), np.linalg.norm([3.0, 4]), np.linalg.norm([[1.0, 2], [3, 4]], axis=1))
np.testing.assert_almost_equal(1.0, 1.00000001)
with np.testing.assert_raises(ValueError):
    np.zeros(2) + np.zeros(3)
print(a.clip(2, 5), a.dot([1, 0, 0, 0]), a.repeat(2)[:4], a.trace(), a.strides, a.tobytes()[:8], np.frombuffer(b"\x01\x00\x02\x00", "int16"), a.nonzero()[0][:2])
print(type(a).__name__ in ("ndarray", "tensor"), isinstance(a, np.ndarray), np.isscalar(3), np.ndim([[1]]), np.shape([[1, 2]]), np.size([1, 2]))
for row in a[:2]:
    print(row, row.sum())
print(sum(a[0]), max(a[0]), min(a[0]), sorted(a[0], reverse=True)[0], 5 in a, len(a[0]), list(map(int, a[0])), [int(x) for x in a[0] if x > 1])
