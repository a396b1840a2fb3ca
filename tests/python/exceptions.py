# Exceptions: classes, chains, order of finally, re-raising, args and text.
class AppError(Exception):
    pass


class CodeError(AppError):
    def __init__(self, code, message="failed"):
        super().__init__(message)
        self.code = code

    def __str__(self):
        return f"[{self.code}] {self.args[0]}"


def attempt(f, *args):
    try:
        return f(*args)
    except (ValueError, TypeError) as e:
        return f"{type(e).__name__}: {e}"
    except AppError as e:
        return f"app {e!r} {e}"
    except LookupError as e:
        return f"lookup {type(e).__name__} {e}"
    except Exception as e:
        return f"other {type(e).__name__} {e}"


def fail(e):
    raise e


print(attempt(int, "x"), attempt(lambda: {}["k"]), attempt(fail, CodeError(3)))
print(attempt(fail, AppError), attempt(fail, AppError("a", 1)), attempt(lambda: 1 / 0), attempt(fail, KeyError("x")))


def order(log, how):
    for i in range(2):
        try:
            log.append(f"try{i}")
            if how == "raise":
                raise ValueError("v")
            if how == "return":
                return log
            if how == "break":
                break
            if how == "continue":
                continue
        except ValueError:
            log.append("except")
        else:
            log.append("else")
        finally:
            log.append("finally")
    return log


for how in ["raise", "return", "break", "continue", "none"]:
    print(how, order([], how))


def shadowed():
    try:
        return "try"
    finally:
        return "finally"


def swallowed():
    for i in range(3):
        try:
            raise ValueError
        finally:
            continue
    return "swallowed"


print(shadowed(), swallowed())

try:
    try:
        raise KeyError("inner")
    except KeyError as e:
        raise RuntimeError("outer") from e
except RuntimeError as e:
    print(repr(e), repr(e.__cause__), e.__cause__ is not None, e.__suppress_context__)

try:
    try:
        raise KeyError("inner")
    except KeyError:
        raise RuntimeError("outer")
except RuntimeError as e:
    print(repr(e.__context__), e.__cause__)

try:
    raise ValueError("none") from None
except ValueError as e:
    print(e.__cause__, e.args)


def reraise():
    try:
        raise OSError(2, "gone")
    except OSError:
        raise


try:
    reraise()
except OSError as e:
    print(e.args, e.errno, e.strerror, e)

try:
    e = 5
    raise ValueError("x")
except ValueError as e:
    pass
try:
    print(e)
except NameError as n:
    print(n)

for cls in [Exception, ValueError, ZeroDivisionError, KeyError, IndexError, StopIteration, FileNotFoundError,
            NotImplementedError, RecursionError, UnicodeDecodeError, KeyboardInterrupt, SystemExit]:
    print(cls.__name__, [b.__name__ for b in cls.__mro__])

print(issubclass(KeyError, LookupError), isinstance(CodeError(1), AppError), CodeError.__bases__)


def nested():
    try:
        try:
            raise ValueError("a")
        finally:
            print("inner finally")
    except ValueError as e:
        print("caught", e)
        try:
            raise TypeError("b")
        except TypeError as t:
            print("caught", t, repr(t.__context__))
    else:
        print("never")


nested()
try:
    assert 1 == 2, "message"
except AssertionError as e:
    print("assert", e)
try:
    raise
except RuntimeError as e:
    print(e)
try:
    raise 5
except TypeError as e:
    print("TypeError")
try:
    try:
        raise ValueError("x")
    except 5:
        pass
except TypeError as e:
    print("TypeError")
x = ValueError("with", "two")
print(x, x.args, repr(x), ValueError(), repr(ValueError()), repr(ValueError("one")))
try:
    x.add_note("a note")
    raise x
except ValueError as e:
    print(e.__notes__)
e = Exception("traceback")
print(e.with_traceback(None) is e, e.__traceback__)


def gen():
    try:
        yield 1
        yield 2
    finally:
        print("gen closed")


g = gen()
print(next(g))
g.close()
try:
    next(iter([]))
except StopIteration as e:
    print("stop", e.value)
try:
    [].pop()
except IndexError as e:
    print(e)
try:
    {}.pop("a")
except KeyError as e:
    print(e, e.args)
try:
    int("12a")
except ValueError as e:
    print(e)
try:
    (1).foo
except AttributeError as e:
    print(e)
try:
    "a" + 1
except TypeError as e:
    print(e)
try:
    len(5)
except TypeError as e:
    print(e)
try:
    [1, 2].index(3)
except ValueError as e:
    print(e)
try:
    a, b = 1, 2, 3
except ValueError as e:
    print(e)
try:
    a, b = [1]
except ValueError as e:
    print(e)
try:
    float("abc")
except ValueError as e:
    print(e)
try:
    "abc".index("z")
except ValueError as e:
    print(e)
try:
    {}[[]]
except TypeError as e:
    print(e)
try:
    nothing = None
    nothing()
except TypeError as e:
    print(e)
try:
    1 < "a"
except TypeError as e:
    print(e)
try:
    open("/nonexistent/file")
except FileNotFoundError as e:
    print(e, e.errno, e.filename)
try:
    def f(a, b, *, c):
        pass
    f(1)
except TypeError as e:
    print(e)
try:
    f(1, 2, c=3, d=4)
except TypeError as e:
    print(e)
