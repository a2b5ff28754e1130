"""One row: what the device ran (its own counters where the job has them, and CUPTI), and what an observer reported.

    compare.py NAME OBSERVER REPORT.json EXIT CUPTI_PREFIX JOB_OUTPUT PLAIN_OUTPUT TABLE.md

Verdicts as in the other parts of the siege (docs/measurements/siege.md): equal, said, silent, refused, broken.
"""
import glob, json, re, sys

name, observer, report_path, status, prefix, output, plain, table = sys.argv[1:9]


def ran(path):
    found = re.findall(r"^ran (\d+) (\S+)$", open(path, errors="replace").read(), re.M)
    counts = {}
    for count, kernel in found:
        counts[kernel] = counts.get(kernel, 0) + int(count)
    return counts


def result(path):
    """What the job says, without times."""
    lines = [l for l in open(path, errors="replace").read().splitlines() if l.startswith(("ran ", "result "))]
    return sorted(lines)


cupti, dropped = {}, 0
for path in glob.glob(prefix + "*"):
    for line in open(path):
        count, kernel = line.rstrip("\n").split("\t", 1)
        if kernel == "DROPPED":
            dropped += int(count)
        else:
            cupti[kernel] = cupti.get(kernel, 0) + int(count)
device = ran(plain)
# CUPTI may not report launches by kernels: the device's own counters do.
truth = {k: max(cupti.get(k, 0), device.get(k, 0)) for k in set(cupti) | set(device)}
notes = []
if dropped:
    notes.append(f"CUPTI dropped {dropped}")
if device and cupti and {k: v for k, v in cupti.items() if k in device} != device:
    notes.append(f"CUPTI and the device's own counters differ: {sorted(device.items())} {sorted(cupti.items())}")
harmed = result(output) != result(plain)
try:
    report = json.load(open(report_path))
except Exception:
    report = None
seen = {}
if status == "124":
    verdict, word = "broken", "no end in time"
elif status != "0":
    last = [l for l in open(output, errors="replace").read().splitlines() if l.strip() and not l.startswith(("ran ", "result "))]
    verdict, word = ("refused", last[-1]) if last else ("broken", f"exit code {status} without a word")
elif report is None:
    verdict, word = "broken", "exit code 0 without a report"
elif not truth:
    verdict, word = "broken", "neither CUPTI nor the device counted anything: nothing to compare with"
else:
    for row in report["rows"]:
        # A library call is not a launch; a kernel of that library is.
        if not re.match(r"(cublas|hipblas|rocblas)\w*$", row["mangled"]):
            seen[row["mangled"]] = seen.get(row["mangled"], 0) + row["launches"]
    differ = [(k, truth.get(k, 0), seen.get(k, 0)) for k in sorted(set(truth) | set(seen)) if truth.get(k, 0) != seen.get(k, 0)]
    other = ("acceptance", "column", "a device", "which device", "names", "argument", "grids", "extents")
    gaps = [f"{g['what']}: {g['why']}" for g in report["gaps"] if not g["what"].startswith(other)]
    lost, unknown = report["lost"], report["unknown_replays"]
    graph_gap = next((g for g in gaps if re.search("graph|replay|captur", g)), None)
    launch_gap = next((g for g in gaps if re.search("launch|first moments|process|librar|runtime|program", g)), None)
    if not differ:
        verdict, word = "equal", ""
    else:
        word = ", ".join(f"{k[:40]}: {s} of {t}" for k, t, s in differ[:4])
        over = any(s > t for _, t, s in differ)
        covered = graph_gap if over else (f"lost {lost}" if lost != 0 else None) or (f"unknown replays {unknown}" if unknown != 0 else None) or graph_gap
        # A job without graphs: a late probe explains missing single launches.
        if not covered and not over and "graph" not in name:
            covered = launch_gap or next((f"cannot see {b['kind']}" for b in report["conclusion"].get("cannot_see", [])), None)
        # Another account of the same launches: nothing is missing, but a kernel has no name.
        if not covered and report["unnamed"] and sum(seen.values()) == sum(truth.values()):
            covered = f"unnamed {report['unnamed']}"
        verdict = "said" if covered else "silent"
        if covered:
            word = f"{word}; {covered}"
    if report["rung"] not in ("launched", "completed"):
        notes.append(f"rung {report['rung']} on a real device")
    notes.append(f"lost {lost}, unknown replays {unknown}, unnamed {report['unnamed']}, cost {report.get('cost_ns')} ns, device {report['device']}")
total = sum(seen.values())
row = f"| {name} | {observer} | {len(truth)} | {sum(truth.values())} | {total} | {verdict} | {'yes' if harmed else 'no'} | {word[:200]} | {'; '.join(notes)[:300]} |"
open(table, "a").write(row + "\n")
print(row)
sys.exit(1 if verdict in ("silent", "broken") or harmed else 0)
