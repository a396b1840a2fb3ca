# Functions of tensors, beside those of numpy.
import numpy as np


def show(*xs):
    for x in xs:
        if isinstance(x, (list, tuple)):
            print("[", end="")
            show(*x)
            print("]")
        elif hasattr(x, "dtype"):
            x = np.asarray(x)
            print(str(x.dtype), tuple(x.shape), x.tolist())
        else:
            print(x)


a = np.arange(12).reshape(3, 4)
b = np.array([[1.5, -2.0, 3.25], [0.0, 4.0, -1.0]])
print("# creation")
show(np.zeros((2, 3)), np.ones(3, "int32"), np.full((2, 2), 7), np.arange(1, 10, 2.5), np.linspace(0, 1, 5), np.linspace(0, 1, 4, endpoint=False), np.eye(3, k=1), np.array([[1, 2], [3, 4]]), np.array([1.0, 2]), np.asarray([True, False]), np.zeros_like(b), np.full_like(a, 2), np.fromfunction(lambda i, j: i * 3 + j, (2, 3)), np.identity(2), np.arange(5, dtype="float32"), np.logspace(0, 2, 3), np.tri(3), np.array(5), np.empty((0, 2)), np.indices((2, 2)), np.meshgrid([1, 2], [3, 4, 5])[1])
print("# arithmetic")
show(a + a, a - 1, 2 * a, a / 2, a // 3, a % 5, -a, a ** 2, b * b, b / 2, b // 1, b % 2, np.floor_divide(b, 2), np.mod(-7, 3), np.power(2.0, [1, 2, 3]), abs(b), a @ a.T, a == 3, a > 5, (a > 2) & (a < 8), ~(a > 2), a.astype("float32") * 2, np.array([1, 2], "int8") + np.array([1, 2], "int16"), np.array([1], "int32") + np.array([1.5], "float32"), np.array([200], "uint8") + np.array([100], "uint8"), a << 1, a & 3, a ^ 1, np.divmod(a, 5)[0])
print("# ufuncs")
show(*[np.round(f(np.array([0.1, 0.5, 0.9])), 10) for f in [np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.sinh, np.cosh, np.tanh, np.exp, np.log, np.log2, np.log10, np.log1p, np.expm1, np.sqrt, np.cbrt, np.square, np.reciprocal, np.exp2]])
show(np.maximum(b, 1), np.minimum(b, [1, 2, 3]), np.where(b > 0, b, 0), np.clip(b, -1, 2), np.sign(b), np.floor(b), np.ceil(b), np.trunc(b), np.rint(b), np.round(b, 1), np.isnan([1.0, np.nan]), np.isinf([np.inf, 1]), np.isfinite([np.inf, np.nan, 1]), np.logical_and([1, 0], [1, 1]), np.logical_not([1, 0]), np.logical_or([0, 0], [1, 0]), np.logical_xor([1, 1], [1, 0]), np.hypot(3.0, 4.0), np.arctan2([1.0], [1.0]), np.fmod(-7.0, 3), np.degrees(np.pi), np.copysign(1.0, -2.0), np.signbit([-1.0, 1.0]), np.absolute([-1, 2]), np.negative([1]), np.fmax([1, np.nan], [2, 2]), np.nan_to_num([np.nan, np.inf]), np.isclose([1.0, 2], [1.0 + 1e-9, 3]), np.gcd([12, 18], 8), np.lcm([4, 6], 10), np.greater([1, 2], [2, 1]), np.not_equal([1], [2]), np.heaviside([-1.0, 0, 2], 0.5))
print("# products")
show(np.matmul(a, a.T), np.dot([1, 2], [3, 4]), np.dot(a, [1, 1, 1, 1]), np.outer([1, 2], [3, 4]), np.inner([1, 2], [3, 4]), np.inner(a, a), np.tensordot(a, a, axes=([1], [1])), np.tensordot(a, a.T, 1), np.vdot(a, a), np.einsum("ij,kj->ik", a, a), np.einsum("ij->ji", a), np.einsum("ii", np.eye(3)), np.einsum("ij->", a), np.einsum("i,j->ij", [1, 2], [3, 4]), np.einsum("bij,bjk->bik", np.ones((2, 2, 3)), np.ones((2, 3, 2))), np.einsum("...ij,...jk", np.ones((2, 2, 3)), np.ones((3, 2))), np.einsum("ij,ij->i", a, a), np.einsum("i,i", [1, 2], [3, 4]), np.kron([1, 2], [1, 10]), np.cross([1, 0, 0], [0, 1, 0]), np.trace(a), np.matmul(np.ones((2, 3, 4)), np.ones((4, 2))), np.einsum("ij,jk,kl->il", a, a.T, a), np.einsum("ii->i", np.arange(9).reshape(3, 3)))
print("# reductions")
c = np.arange(24).reshape(2, 3, 4)
show(c.sum(), c.sum(axis=0), c.sum(axis=(0, 2)), c.sum(axis=1, keepdims=True), c.mean(), c.mean(axis=-1), c.max(axis=1), c.min(), c.prod(axis=0), b.std(), b.var(axis=0), b.var(ddof=1), c.argmax(), c.argmax(axis=1), b.argmin(axis=0), (c > 3).all(), (c > 3).any(axis=2), c.cumsum(), c.cumsum(axis=1), np.cumprod([1, 2, 3]), np.median(b), np.median(c, axis=0), np.percentile([1, 2, 3, 4], 30), np.average([1, 2, 3], weights=[3, 2, 1]), np.ptp(b), int(np.count_nonzero(b)), np.nansum([1.0, np.nan]), np.bincount([1, 1, 3]), np.diff([1, 4, 9]), np.mean(np.array([1, 2], "float32")), np.array([1, 2], "int8").sum(), np.array([True, True]).sum(), np.sum([[1, 2], [3, 4]], axis=1), np.max([[1, 5], [3, 4]], axis=0), np.nanmean([1.0, np.nan, 3.0]), np.quantile([1.0, 2.0, 4.0], 0.5), np.histogram([1, 2, 1, 4], bins=3)[0], np.interp(2.5, [1, 2, 3], [10, 20, 30]), np.convolve([1, 2, 3], [0, 1, 0.5]), np.gradient([1.0, 2.0, 4.0]))
print("# shapes")
show(a.reshape(4, 3), a.reshape(-1), a.ravel(), a.flatten(), a.T, a.transpose(1, 0), c.transpose(2, 0, 1), np.transpose(c), np.swapaxes(c, 0, 2), np.moveaxis(c, 0, -1), np.concatenate([a, a]), np.concatenate([a, a], axis=1), np.stack([a[0], a[1]]), np.stack([a[0], a[1]], axis=1), np.hstack([[1, 2], [3]]), np.vstack([[1, 2], [3, 4]]), np.split(np.arange(6), 3), np.split(np.arange(6), [1, 4]), np.array_split(np.arange(5), 2), np.pad([1, 2], 1), np.pad(a, ((1, 0), (0, 2)), constant_values=9), np.pad([1, 2, 3], 2, mode="edge"), np.pad([1, 2, 3], 2, mode="reflect"), np.take(a, [0, 2], axis=1), np.take(a, [5, 1]), np.take_along_axis(b, np.argsort(b, axis=1), axis=1), np.repeat([1, 2], 2), np.repeat(a, 2, axis=0), np.repeat([1, 2], [2, 3]), np.tile([1, 2], 2), np.tile([[1], [2]], (1, 2)), np.squeeze(np.ones((1, 3, 1))), np.expand_dims([1, 2], 0), np.expand_dims([1, 2], (0, 2)), np.broadcast_to([1, 2], (2, 2)), np.flip(a), np.flip(a, 0), np.roll([1, 2, 3], 1), np.roll(a, 1, axis=1), np.sort([[3, 1], [2, 0]]), np.sort([[3, 1], [2, 0]], axis=0), np.argsort([3, 1, 2]), np.unique([3, 1, 1, 2]), np.nonzero([0, 1, 2]), np.triu(a), np.tril(a, -1), np.diag([1, 2]), np.diag(a), np.diag(a, 1), np.atleast_2d([1]), np.dstack([[1], [2]]), np.column_stack([[1, 2], [3, 4]]), np.rot90(a), np.fliplr(a), np.append([1], [2, 3]), np.delete([1, 2, 3], 1), np.insert([1, 3], 1, 2), np.flatnonzero([0, 3]), np.argwhere([[0, 1], [1, 0]]), np.isin([1, 2, 3], [2]), np.searchsorted([1, 3, 5], 4), np.intersect1d([1, 2], [2, 3]), np.union1d([1], [2]), np.setdiff1d([1, 2], [2]), np.ravel_multi_index(([1], [2]), (3, 4)), np.unravel_index(6, (3, 4)), np.diagonal(a), np.extract(a > 8, a), np.digitize([0.5, 2], [1, 2, 3]), np.lexsort(([1, 0, 2], [1, 1, 0])), np.apply_along_axis(sum, 1, a), np.select([a < 3, a > 8], [a, -a]), np.ix_([0, 1], [2])[0])
u = np.unique([3, 1, 1, 2], return_counts=True)
show(*u)
show(*np.unique([3, 1, 1, 2], return_index=True, return_inverse=True))
print("# indexing")
d = a.copy()
show(a[1], a[1, 2], a[-1], a[:, 1], a[1:, ::2], a[::-1], a[..., -1], a[:, None, 0], a[[0, 2]], a[[0, 1], [1, 2]], a[a > 6], a[np.array([True, False, True])], a[:, [1, 3]], a[1:3, 1:3], a[::-2, ::-1], a[None].shape, c[1, ..., 2], c[:, [0, 2], 1:3], a[np.array([[0], [1]]), np.array([2, 3])], c[0][1][2])
d[0] = 100
d[:, 1] = [7, 8, 9]
d[d > 90] = -1
d[[1, 2], [0, 0]] = 5
d[2, 1:3] = np.array([50, 60])
d[..., 3] += 1
d[::2] *= 2
show(d)
e = np.zeros((2, 2))
e[0, 0] = 5
e[1] = e[0]
e[:, 1] = 2
e[e == 2] = 3
e += 1
e -= np.ones(2)
e *= 2
e /= 4
show(e, e.copy(), e.tolist(), e.item(0), e.size, e.ndim, e.nbytes, e.shape, e.T.shape, len(a), e.astype("int32"), e.astype(bool))
x = np.float32(1.5)
print(float(x), float(np.float32(0.1) * 2), np.int32(5) + 1, float(np.float64(2)) / 3, int(np.int64(7)))
print(np.allclose([1.0], [1.0 + 1e-9]), np.array_equal([1], [1]), np.array_equal([1], [2]), np.array_equiv([1, 1], 1), np.pi, np.e, np.inf, np.isnan(np.nan), np.newaxis)
np.testing.assert_allclose([1.0], [1.0])
np.testing.assert_array_equal([1], [1])
np.testing.assert_equal([1], [1])
try:
    np.testing.assert_allclose([1.0], [2.0])
except AssertionError:
    print("AssertionError")
for f in [lambda: np.zeros(3) + np.zeros(4), lambda: a.reshape(5, 5), lambda: np.concatenate([a, b]), lambda: a @ a, lambda: np.array([[1], [1, 2]])]:
    try:
        f()
    except ValueError:
        print("ValueError")
try:
    a[5]
except IndexError:
    print("IndexError")
for t in ["float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64", "bool"]:
    z = np.ones(2, t)
    show(z, z + z, z * 2, z / 2, z.sum(), z.mean())
print(np.finfo("float32").max > 1e38, np.iinfo("int8").min, np.iinfo(np.int32).max, np.issubdtype("float32", np.floating), np.issubdtype("int32", np.floating), np.result_type("int32", "float32"), np.promote_types("int8", "uint8"), np.can_cast("int32", "int64"))
