# Classes: objects, attributes, methods, inheritance, operators.
class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def add(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def __eq__(self, other):
        return self.x == other.x and self.y == other.y


class Shape:
    sides = 0

    def __init__(self, size):
        self.size = size

    def area(self):
        return 0

    def describe(self):
        return self.area() + self.sides

    @property
    def double(self):
        return 2 * self.size


class Square(Shape):
    sides = 4

    def __init__(self, size):
        super().__init__(size)
        self.count = 0

    def area(self):
        self.count += 1
        return self.size * self.size


p = Point(0, 0)
q = Point(1, 2)
for i in range(100000):
    p = p.add(q)
    p = p + q
same = 0
total = 0
for i in range(60000):
    s = Square(i % 10)
    total += s.describe() + s.double
    if Point(i, 0) == Point(i, i % 2):
        same += 1
print(p.x, p.y, total, same)
