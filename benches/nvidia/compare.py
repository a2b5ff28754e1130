"""Kernel by kernel: what CUPTI says that the device ran, and what an observer saw."""
import json, sys

reference = {}
dropped = 0
for line in open(sys.argv[1]):
    count, name = line.rstrip("\n").split("\t", 1)
    if name == "DROPPED":
        dropped = int(count)
    else:
        reference[name] = reference.get(name, 0) + int(count)
report = json.load(open(sys.argv[2]))
seen = {}
for row in report["rows"]:
    if row["family"] != "blas":
        seen[row["mangled"]] = seen.get(row["mangled"], 0) + row["launches"]
total, wanted = sum(seen.values()), sum(reference.values())
same = sum(1 for name, count in reference.items() if seen.get(name) == count)
differ = sorted(set(reference) | set(seen))
differ = [(name, reference.get(name, 0), seen.get(name, 0)) for name in differ if reference.get(name, 0) != seen.get(name, 0)]
print(f"kernels by name: {same} of {len(reference)} equal; launches {total} seen, {wanted} run; "
      f"lost {report['lost']}, unnamed {report['unnamed']}, unknown replays {report['unknown_replays']}, "
      f"rejected {sum(report['rejected'].values())}; CUPTI dropped {dropped}; measured cost {report['cost_ns']} ns per launch; "
      f"device {report['device']}")
for name, run, saw in differ[:20]:
    print(f"  differs: CUPTI {run}, seen {saw}: {name[:110]}")
for gap in report["gaps"]:
    print(f"  gap: {gap['what']}: {gap['why']}")
sys.exit(1 if differ else 0)
