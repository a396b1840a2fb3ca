#!/usr/bin/env python3
"""deploy.py -- a compiled module from Python: ctypes alone, and numpy without copies.

    python3 examples/deploy.py build/libtvms_runtime.so build/unity.so

Tensors are exchanged by DLPack: what has __dlpack__ or __array_interface__ (numpy, torch, jax, ...) is passed as it
lies in memory, and results have __dlpack__ themselves (numpy.from_dlpack(y)).
"""
import ctypes
import sys

NONE, INT, FLOAT, BOOL, STR, PTR, DTYPE, DLTENSOR, TENSOR, SHAPE, TUPLE, FUNC, MODULE = range(13)
CPU = 1
CODES = {"i": 0, "u": 1, "f": 2, "b": 6}


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Value(ctypes.Union):
    _fields_ = [("i", ctypes.c_int64), ("f", ctypes.c_double), ("p", ctypes.c_void_p), ("s", ctypes.c_char_p)]


PACKED = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.POINTER(Value),
    ctypes.POINTER(ctypes.c_int),
    ctypes.c_int,
    ctypes.POINTER(Value),
    ctypes.POINTER(ctypes.c_int),
)
KEPT = []  # what compiled code calls must not be collected


class Runtime:
    """The runtime library; errors become exceptions."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        self.lib.tvms_last_error.restype = ctypes.c_char_p
        self.lib.tvms_tensor_dl.restype = ctypes.POINTER(DLTensor)
        for name in ["tvms_tensor_dl", "tvms_release", "tvms_tuple_size"]:
            getattr(self.lib, name).argtypes = [ctypes.c_void_p]
        self.lib.tvms_retain.argtypes = [ctypes.c_void_p]
        self.lib.tvms_tuple_get.restype = Value
        self.lib.tvms_tuple_get.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
        self.lib.tvms_tensor_to_dlpack.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        self.lib.tvms_value_release.argtypes = [ctypes.c_int, Value]

    def check(self, status):
        if status:
            raise RuntimeError(self.lib.tvms_last_error().decode())

    def load(self, path):
        handle = ctypes.c_void_p()
        self.check(self.lib.tvms_module_load(ctypes.byref(handle), path.encode()))
        return Module(self, handle)

    def register(self, name, function):
        """Under this name compiled code calls function(*args), whose result is None or a number."""

        def call(_, values, types, n, ret, ret_type):
            try:
                args = []
                for i in range(n):
                    if types[i] >= TENSOR:
                        self.lib.tvms_retain(values[i].p)
                    args.append(self.result(types[i], values[i]))
                out = function(*args)
                if out is not None:
                    ret[0].f, ret_type[0] = float(out), FLOAT
                return 0
            except Exception as e:  # nothing may be raised through compiled code
                self.lib.tvms_set_error(b"%s", f"{type(e).__name__}: {e}".encode())
                return -1

        call = PACKED(call)
        KEPT.append(call)
        func = ctypes.c_void_p()
        self.check(self.lib.tvms_func_new(ctypes.byref(func), call, None, None))
        status = self.lib.tvms_func_register(name.encode(), func, 1)
        self.lib.tvms_release(func)
        self.check(status)

    def result(self, kind, value):
        """A Python value of one that is ours to release."""
        if kind == TENSOR:
            return Tensor(self, ctypes.c_void_p(value.p))
        out = {INT: value.i, FLOAT: value.f, BOOL: value.i != 0}.get(kind)
        if kind == STR:
            out = ctypes.cast(value.p, ctypes.c_char_p).value.decode()
        if kind == TUPLE:
            fields = []
            for i in range(self.lib.tvms_tuple_size(value.p)):
                inner = ctypes.c_int()
                field = self.lib.tvms_tuple_get(value.p, i, ctypes.byref(inner))
                if inner.value >= TENSOR:
                    self.lib.tvms_retain(field.p)
                fields.append(self.result(inner.value, field))
            out = tuple(fields)
        if kind in (STR, TUPLE):
            self.lib.tvms_value_release(kind, value)
        return out


class Object:
    def __init__(self, runtime, handle):
        self.runtime, self.handle = runtime, handle

    def __del__(self):
        self.runtime.lib.tvms_release(self.handle)


CAPSULE_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@CAPSULE_DELETER
def drop_capsule(capsule):
    """Of a capsule that nobody took: its tensor is given back."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]
    valid = ctypes.pythonapi.PyCapsule_IsValid
    valid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    if valid(capsule, b"dltensor"):
        managed = get(capsule, b"dltensor")
        deleter = ctypes.c_void_p.from_address(managed + ctypes.sizeof(DLTensor) + 8).value
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleter)(managed)


class Tensor(Object):
    """A result; its memory is shared by __dlpack__."""

    @property
    def dl(self):
        return self.runtime.lib.tvms_tensor_dl(self.handle).contents

    @property
    def shape(self):
        return tuple(self.dl.shape[i] for i in range(self.dl.ndim))

    def __dlpack_device__(self):
        return (CPU, 0)

    def __dlpack__(self, **_):
        managed = ctypes.c_void_p()
        self.runtime.check(self.runtime.lib.tvms_tensor_to_dlpack(ctypes.byref(managed), self.handle))
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, CAPSULE_DELETER]
        return new(managed, b"dltensor", drop_capsule)


def lent_array(a):
    """Memory of an array as a DLTensor; `a` keeps it alive during the call."""
    about = a.__array_interface__
    kind, nbytes = about["typestr"][1], int(about["typestr"][2:])
    if kind not in CODES or about["typestr"][0] == ">":
        raise TypeError(f"an array of {about['typestr']} can't be passed")
    ndim = len(about["shape"])
    dims = ctypes.c_int64 * max(ndim, 1)
    shape = dims(*about["shape"])
    strides = dims(*(s // nbytes for s in about["strides"])) if about["strides"] else None
    return DLTensor(about["data"][0], CPU, 0, ndim, CODES[kind], 8 * nbytes, 1, shape, strides, 0)


def lent_capsule(x):
    """The DLTensor inside the capsule of x.__dlpack__(), and what keeps it alive."""
    capsule = x.__dlpack__()
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return DLTensor.from_address(get(capsule, b"dltensor")), capsule


class Function(Object):
    def __call__(self, *args):
        n = len(args)
        values, types, alive = (Value * (n + 1))(), (ctypes.c_int * (n + 1))(), []
        for i, x in enumerate(args):
            self.pass_one(values[i], types, i, x, alive)
        ret, kind = Value(), ctypes.c_int(NONE)
        self.runtime.check(
            self.runtime.lib.tvms_func_call(self.handle, values, types, n, ctypes.byref(ret), ctypes.byref(kind))
        )
        return self.runtime.result(kind.value, ret)

    @staticmethod
    def pass_one(value, types, i, x, alive):
        if isinstance(x, Tensor):
            types[i], value.p = TENSOR, x.handle.value
        elif isinstance(x, Function):
            types[i], value.p = FUNC, x.handle.value
        elif isinstance(x, bool):
            types[i], value.i = BOOL, x
        elif isinstance(x, int):
            types[i], value.i = INT, x
        elif isinstance(x, float):
            types[i], value.f = FLOAT, x
        elif isinstance(x, str):
            types[i], value.s = STR, x.encode()
        elif hasattr(x, "__array_interface__"):
            alive.append(lent_array(x))
            types[i], value.p = DLTENSOR, ctypes.addressof(alive[-1])
        elif hasattr(x, "__dlpack__"):
            dl, capsule = lent_capsule(x)
            alive += [dl, capsule]
            types[i], value.p = DLTENSOR, ctypes.addressof(dl)
        else:
            raise TypeError(f"a {type(x).__name__} can't be passed to a compiled function")


class Module(Object):
    def __getitem__(self, name):
        handle = ctypes.c_void_p()
        self.runtime.check(self.runtime.lib.tvms_module_function(ctypes.byref(handle), self.handle, name.encode()))
        return Function(self.runtime, handle)


class Memory:
    """A float32 array by its __array_interface__, for where numpy is not installed."""

    def __init__(self, shape, numbers):
        self.cells = (ctypes.c_float * len(numbers))(*numbers)
        self.__array_interface__ = {
            "shape": shape, "typestr": "<f4", "data": (ctypes.addressof(self.cells), False), "strides": None, "version": 3,
        }


def floats(t):
    """The elements of a float32 tensor, as they lie in memory."""
    count = 1
    for extent in t.shape:
        count *= extent
    return (ctypes.c_float * count).from_address(t.dl.data + t.dl.byte_offset)


def custom_inplace_update(t):
    cells = floats(t)
    for i in range(len(cells)):
        cells[i] += 1.0


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: deploy.py libtvms_runtime.so unity.so")
    runtime = Runtime(sys.argv[1])
    runtime.register("custom_inplace_update", custom_inplace_update)
    f = runtime.load(sys.argv[2])["relax_func"]
    x = Memory((2, 3), [0.125 * (i % 5) for i in range(6)])
    w = Memory((3, 4), [1.0 - 0.0625 * i for i in range(12)])
    y = f(x, w)
    print("result of shape", y.shape, [round(v, 4) for v in floats(y)])
    try:
        f(x, x)
    except RuntimeError as e:
        print("refused:", e)
    try:
        import numpy as np
    except ImportError:
        return
    z = np.from_dlpack(f(np.asarray(x), np.asarray(w)))
    assert np.allclose(z, np.exp((np.asarray(x) @ np.asarray(w)).reshape(-1)) + 1.0)
    print("numpy agrees")


if __name__ == "__main__":
    main()
