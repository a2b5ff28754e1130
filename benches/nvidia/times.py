"""Lines "how seconds" on standard input, several runs each: the middle, the best and the worst, and what is added per launch."""
import statistics
import sys

launches = int(sys.argv[1])
runs = {}
for line in sys.stdin:
    how, seconds = line.split()
    runs.setdefault(how, []).append(float(seconds))
plain = runs["plain"]
for how, seconds in runs.items():
    middle, best, worst = statistics.median(seconds), min(seconds), max(seconds)
    text = f"{how:8} middle {middle:.4f} s, best {best:.4f}, worst {worst:.4f} of {len(seconds)}"
    if how != "plain":
        by = lambda a, b: (a - b) / launches * 1e9
        text += f"; added per launch: middle {by(middle, statistics.median(plain)):+.0f} ns, best {by(best, min(plain)):+.0f} ns"
    print(text)
