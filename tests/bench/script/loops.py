# Loops over ints and floats, at module level and in functions.
def threes(n):
    s = 0
    i = 0
    while i < n:
        if i % 3 == 0:
            s += i
        i += 1
    return s


def mandelbrot(size, limit):
    inside = 0
    for row in range(size):
        y = 2.0 * row / size - 1.0
        for column in range(size):
            x = 3.0 * column / size - 2.0
            a = b = 0.0
            n = 0
            while n < limit and a * a + b * b <= 4.0:
                a, b = a * a - b * b + x, 2.0 * a * b + y
                n += 1
            if n == limit:
                inside += 1
    return inside


total = 0
for i in range(300000):
    if i & 1 and i % 5 != 3:
        total += i // 2
print(total, threes(1500000), mandelbrot(120, 60))
