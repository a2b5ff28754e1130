#!/usr/bin/env python3
"""Records what real dry runs launch for the small graphs of nodes.c:

    cc -O1 nodes.c -I ggml/include -lggml -lggml-base -o nodes
    ./record-nodes.py ./nodes gfx1100,gfx90a,gfx1030,gfx1201 [NAME,...] > ../golden/nodes.txt

`= NAME`, the graph, and for GPUs that launch the same `@ GPU,GPU` with every launch in order as `> SYMBOL GRID BLOCK`; `- -` of a
call into a library; nothing behind `@` where nothing is launched (copies that the driver makes). A graph that ends the program (an
assertion, an operation that the backend does not take) is left out, and named on standard error.
"""
import json, os, subprocess, sys, tempfile

nodes, gpus = sys.argv[1], sys.argv[2].split(",")
command = os.environ.get("WHICHKERNEL", "whichkernel").split()


def dry(gpu, *words):
    return [*command, "dryrun", "--gpu", gpu, "--runtime", "debian-sid", *words]


def dims(of):
    return "x".join(map(str, of))


# The list also runs inside the tree: its libraries may not load outside of it.
listed = subprocess.run(dry(gpus[0], "--", nodes), capture_output=True, text=True)
names = [line[2:] for line in (listed.stdout + listed.stderr).splitlines() if line.startswith("* ")]
if sys.argv[3:]:
    names = [name for name in names if name in sys.argv[3].split(",")]
for name in names:
    graph, found = [], {}
    for gpu in gpus:
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as trace:
            run = subprocess.run(dry(gpu, "--trace", trace.name, "--", nodes, name), capture_output=True, text=True)
            launches = [line for line in map(json.loads, open(trace.name)) if "end" not in line]
        lines = (run.stdout + run.stderr).splitlines()
        written = [line for line in lines if line.startswith("t") and line.split(" ")[1:2] == ["="]]
        # The exit status is not used, because a dry run without a launch fails too.
        if "! computed" not in lines or not written:
            print(f"{name} on {gpu}: left out", file=sys.stderr)
            continue
        graph = written
        shown = [
            (l["kernel"], dims(l["grid"]), dims(l["block"])) if l.get("kernel") else (l["api"], "-", "-")
            for l in launches
        ]
        found.setdefault(tuple(" ".join(launch) for launch in shown), []).append(gpu)
    if found:
        print(f"= {name}", *graph, sep="\n")
    for launches, gpus_of in found.items():
        print(f"@ {','.join(gpus_of)}", *(f"> {launch}" for launch in launches), sep="\n")
