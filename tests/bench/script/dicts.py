# Dicts, sets and texts as keys.
d = {}
for i in range(200000):
    k = (i * 7919) % 10007
    d[k] = d.get(k, 0) + 1
words = {}
for i in range(100000):
    w = "w" + str(i % 1000)
    words[w] = words.get(w, 0) + i
pairs = {}
for i in range(60000):
    key = (i % 100, i % 7)
    if key in pairs:
        pairs[key].append(i)
    else:
        pairs[key] = [i]
seen = set()
for i in range(100000):
    seen.add(i * i % 1009)
text = "the quick brown fox jumps over the lazy dog " * 2000
counts = {}
for word in text.split():
    counts[word] = counts.get(word, 0) + 1
inverse = {v: k for k, v in d.items()}
total = 0
for k, v in words.items():
    total += v * len(k)
print(len(d), sum(d.values()), total, len(pairs), len(seen), counts["the"], len(inverse), ",".join(sorted(counts)))
