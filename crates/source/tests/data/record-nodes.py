#!/usr/bin/env python3
"""Records what real dry runs launch for the small graphs of nodes.c:

    cc -O1 nodes.c -I ggml/include -lggml -lggml-base -o nodes
    ./record-nodes.py ./nodes gfx1100,gfx90a,gfx1030,gfx1201 > ../golden/nodes.txt

`= NAME`, the graph, and for GPUs that launch the same `@ GPU,GPU` with every launch in order as `> SYMBOL GRID BLOCK`; `- -` of a
call into a library. A graph that ends the program (an assertion, an operation that the backend does not take) or launches nothing
(copies that the driver makes) is left out, and named on standard error.
"""
import json, os, subprocess, sys, tempfile

nodes, gpus = sys.argv[1], sys.argv[2].split(",")
command = os.environ.get("WHICHKERNEL", "whichkernel").split()


def dry(gpu, *words):
    return [*command, "dryrun", "--gpu", gpu, "--runtime", "debian-sid", *words]


def dims(of):
    return "x".join(map(str, of)) if of else "-"


# The list too: a library of another system's may not start outside of it.
listed = subprocess.run(dry(gpus[0], "--", nodes), capture_output=True, text=True)
names = [line[2:] for line in (listed.stdout + listed.stderr).splitlines() if line.startswith("* ")]
for name in names:
    graph, found = [], {}
    for gpu in gpus:
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as trace:
            run = subprocess.run(dry(gpu, "--trace", trace.name, "--", nodes, name), capture_output=True, text=True)
            launches = [json.loads(line) for line in open(trace.name)]
        lines = (run.stdout + run.stderr).splitlines()
        written = [line for line in lines if line.startswith("t") and line.split(" ")[1:2] == ["="]]
        if run.returncode != 0 or not written:
            print(f"{name} on {gpu}: left out", file=sys.stderr)
            continue
        graph = written
        shown = [(l.get("kernel") or l["api"], dims(l.get("grid")), dims(l.get("block"))) for l in launches]
        found.setdefault(tuple(" ".join(launch) for launch in shown), []).append(gpu)
    if found:
        print(f"= {name}", *graph, sep="\n")
    for launches, gpus_of in found.items():
        print(f"@ {','.join(gpus_of)}", *(f"> {launch}" for launch in launches), sep="\n")
