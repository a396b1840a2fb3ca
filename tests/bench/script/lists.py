# Lists: filling, indexing, slicing, comprehensions, sorting.
def sieve(n):
    flags = [True] * (n + 1)
    flags[0] = flags[1] = False
    i = 2
    while i * i <= n:
        if flags[i]:
            for j in range(i * i, n + 1, i):
                flags[j] = False
        i += 1
    return sum(1 for f in flags if f)


def matmul(a, b):
    columns = list(zip(*b))
    return [[sum([x * y for x, y in zip(row, column)]) for column in columns] for row in a]


def insertion_sort(xs):
    for i in range(1, len(xs)):
        x = xs[i]
        j = i - 1
        while j >= 0 and xs[j] > x:
            xs[j + 1] = xs[j]
            j -= 1
        xs[j + 1] = x
    return xs


items = []
for i in range(200000):
    items.append((i * 7919) % 100003)
items.sort()
pairs = sorted([(x % 100, x) for x in items], key=lambda p: (p[0], -p[1]))
m = [[i * j % 7 for j in range(60)] for i in range(60)]
p = matmul(m, m)
print(sieve(300000), items[:3], pairs[5], p[3][:4], sum(items[::7]), insertion_sort([(i * 37) % 401 for i in range(600)])[:5])
