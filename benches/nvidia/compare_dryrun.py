"""Compares the launches of the stand-in with those of a real GPU, in order: kernel, grid, block, shared memory, registers.
    compare_dryrun.py torch  SEQUENCE STEPS TRACE JSON STEPS    one row per step
    compare_dryrun.py run    NAME SEQUENCE TRACE JSON           one row"""
import json, re, sys

# Kernels of NVIDIA's libraries: the stand-in records the call, and doesn't know the kernel.
VENDOR = re.compile(r"nvjet|xmma|cublas|cudnn|gemv|gemmk|gemmSN|sgemm_|scal_kernel|splitK|dot_kernel|reduce_1Block|cask|^_ZN7cutlass7Kernel|^cutlass|Kernel2I")
FIELDS = ("kernel", "grid", "block", "shared", "registers")


def real(path):
    rows = []
    for line in open(path):
        start, grid, block, fixed, dynamic, registers, name = line.rstrip("\n").split("\t")
        numbers = lambda text: tuple(map(int, text.split(",")))
        rows.append((int(start), (name, numbers(grid), numbers(block), (int(fixed), int(dynamic)), int(registers))))
    return [row for _, row in sorted(rows, key=lambda row: row[0])]


def stand_in(trace, answer):
    # The answer has the sum of static and dynamic shared memory.
    needs = {row["mangled"]: (row["needs"]["lds"] - row["shmem"], row["needs"]["registers"])
             for row in json.load(open(answer))["selected"] if row.get("needs")}
    rows, calls = [], 0
    for line in open(trace):
        row = json.loads(line)
        if "end" in row or row.get("status", 0) != 0:
            continue
        if "kernel" not in row or row["kernel"] is None or "grid" not in row:
            calls += 1
            continue
        fixed, registers = needs.get(row["kernel"], (None, None))
        rows.append((row["kernel"], tuple(row["grid"]), tuple(row["block"]), (fixed, row["shmem"]), registers))
    return rows, calls


def compared(ours, theirs):
    own = [row for row in theirs if not VENDOR.search(row[0])]
    ours = [row for row in ours if not VENDOR.search(row[0])]
    differ, examples = {field: 0 for field in FIELDS}, []
    for a, b in zip(ours, own):
        wrong = [field for field, x, y in zip(FIELDS, a, b) if x != y]
        for field in wrong:
            differ[field] += 1
        if wrong and len(examples) < 3:
            examples.append(f"{wrong[0]}: {a[FIELDS.index(wrong[0])]} instead of {b[FIELDS.index(wrong[0])]}"[:160])
    equal = sum(a == b for a, b in zip(ours, own))
    return equal, len(ours), len(own), len(theirs) - len(own), differ, examples


def steps(rows):
    parts, now = [], []
    for row in rows:
        if "spin_kernel" in row[0]:
            parts.append(now)
            now = []
        else:
            now.append(row)
    return parts[1:]


def said(examples, ours, own):
    return "; ".join(([f"{ours} launches instead of {own}"] if ours != own else []) + examples)


if sys.argv[1] == "torch":
    sequence, log, trace, answer, other = sys.argv[2:]
    names = [line.rstrip("\n").split("\t") for line in open(log)]
    others = [line.rstrip("\n").split("\t") for line in open(other)]
    theirs, (rows, _) = steps(real(sequence)), stand_in(trace, answer)
    ours = steps(rows)
    print("| step | own launches | equal | kernels of NVIDIA's libraries | differences |\n|---|---|---|---|---|")
    good = total = launches = equal_all = vendor_all = 0
    for at, (_, name, ended) in enumerate(names):
        result = compared(ours[at] if at < len(ours) else [], theirs[at] if at < len(theirs) else [])
        equal, mine, own, vendor, _, examples = result
        note = said(examples, mine, own)
        their_end = others[at][2] if at < len(others) else "did not run"
        if ended != their_end:
            note += f" real: {ended}; stand-in: {their_end}"
        total += 1
        good += not note
        launches += own
        equal_all += equal
        vendor_all += vendor
        print(f"| {name} | {own} | {equal} | {vendor} | {note} |")
    print(f"\n{good} of {total} steps and {equal_all} of {launches} own launches are equal; {vendor_all} kernels of NVIDIA's libraries.")
else:
    _, _, name, sequence, trace, answer = sys.argv
    (rows, calls), theirs = stand_in(trace, answer), real(sequence)
    equal, mine, own, vendor, differ, examples = compared(rows, theirs)
    wrong = ", ".join(f"{field} {count}" for field, count in differ.items() if count)
    print(f"| {name} | {own} | {mine} | {equal} | {vendor} | {wrong or 'none'} | {said(examples, mine, own)} |")
