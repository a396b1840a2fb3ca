# Calls: recursion, defaults, keywords, closures, lambdas, generators.
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def scaled(x, factor=2, offset=0):
    return x * factor + offset


def counter(start):
    count = start

    def add(step):
        nonlocal count
        count += step
        return count

    return add


def squares(n):
    for i in range(n):
        yield i * i


def many(*args, **kwargs):
    return len(args) + len(kwargs)


total = 0
add = counter(10)
double = lambda x: x + x
for i in range(100000):
    total += scaled(i) + scaled(i, 3) + scaled(i, offset=1)
    add(1)
    total += double(i) + many(i, i, key=i)
print(fib(24), total, add(0), sum(squares(200000)), max(map(double, range(100000))))
