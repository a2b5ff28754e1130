"""Kernel by kernel: what an observer that came late saw, and what CUPTI says that was launched from then on."""
import json, sys

def counts(path):
    out = {}
    for line in open(path):
        count, name = line.rstrip("\n").split("\t", 1)
        if name != "DROPPED":
            out[name] = out.get(name, 0) + int(count)
    return out

try:
    report = json.load(open(sys.argv[1]))
except Exception as error:
    print("late attach: no report:", error, open(sys.argv[1].replace(".json", ".err")).read()[:800])
    sys.exit(1)
whole, none = counts(sys.argv[2]), counts(sys.argv[3])
# The rounds launch four fifths of the total; the replayed graph launches the rest.
expected = {name: (count - none.get(name, 0)) * 4 // 5 for name, count in whole.items() if count > none.get(name, 0)}
seen = {}
for row in report["rows"]:
    if row["family"] != "blas":
        seen[row["mangled"]] = seen.get(row["mangled"], 0) + row["launches"]
same = sum(1 for name, count in expected.items() if seen.get(name) == count)
print("probes:", report["reach"][:600])
print(f"late attach: {report['seen']} launches, {sum(expected.values())} expected; {same} of {len(expected)} kernels by name and count; "
      f"unnamed {report['unnamed']}, lost {report['lost']}, unknown replays {report['unknown_replays']}; "
      f"measured cost {report['cost_ns']} ns per launch; device {report['device']}")
for name in sorted(set(expected) | set(seen)):
    if expected.get(name, 0) != seen.get(name, 0):
        print(f"  differs: expected {expected.get(name, 0)}, seen {seen.get(name, 0)}: {name[:120]}")
for row in report["rows"]:
    if row["mangled"].startswith("unnamed@"):
        print("  unnamed:", row["mangled"], "grids", row["grids"][:3], "block", row["block"], "launches", row["launches"])
for gap in report["gaps"]:
    print(f"  gap: {gap['what']}: {gap['why']}")
sys.exit(1 if report["unnamed"] or report["lost"] or same < len(expected) else 0)
