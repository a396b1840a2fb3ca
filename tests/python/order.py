# heapq and bisect; sorting that is stable.
import bisect
import heapq

h = []
for x in [5, 2, 8, 1, 9, 3]:
    heapq.heappush(h, x)
print([heapq.heappop(h) for _ in range(len(h))])
h = [9, 4, 7, 1, (2)]
heapq.heapify(h)
print(h[0], heapq.heapreplace(h, 3), heapq.heappushpop(h, 0), sorted(h), heapq.nsmallest(2, [3, 1, 2]), heapq.nlargest(2, [3, 1, 2]), list(heapq.merge([1, 4], [2, 3])))
tasks = []
for p, name in [(2, "b"), (1, "z"), (2, "a")]:
    heapq.heappush(tasks, (p, name))
print([heapq.heappop(tasks)[1] for _ in range(3)])
a = [1, 3, 3, 5]
print(bisect.bisect(a, 3), bisect.bisect_left(a, 3), bisect.bisect_right(a, 4), bisect.bisect_left(a, 9))
bisect.insort(a, 4)
print(a, sorted([(1, "b"), (0, "x"), (1, "a")], key=lambda t: t[0]), sorted("BbAa", key=str.lower), sorted([3, 1, 2], reverse=True))
