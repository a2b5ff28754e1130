#!/usr/bin/env bash
# Launches exported for the Firefox Profiler, read by the profiler's own code: its command line (npm,
# @firefox-devtools/profiler-cli, which is built from profiler.firefox.com's sources) must find every launch with its
# name, time and column count. Exits with 1 otherwise.
# Usage: benches/profiler.sh [PROGRAM]; needs node (18 or later), npm and its registry. Nothing is left behind.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "${1:-target/debug/whichkernel}")
version=0.10.0
dir=$(mktemp -d)
daemon=
trap '[ -z "$daemon" ] || kill "$daemon" 2> /dev/null || true; rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --no-save "@firefox-devtools/profiler-cli@$version" > npm.log 2>&1 || { cat npm.log; exit 2; }
export PROFILER_CLI_SESSION_DIR=$dir/session
mkdir "$PROFILER_CLI_SESSION_DIR"
cli() { node node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js "$@"; }
python3 - <<'PY'
import json
names = ["_ZL9mul_mat_qIL9ggml_type12ELi112ELb0EEvPKc", "rope", "quantize_q8_1"]
with open("t.jsonl", "w") as out:
    for seq in range(300):
        line = {"seq": seq, "pid": 7, "thread": 8 + seq % 2, "stream": 1, "time_ns": 200 + seq * 1000, "api": "hipLaunchKernel", "kernel": names[seq % 3],
                "grid": [1, 1, 1], "block": [32, 1, 1], "shmem": 0, "graph": 0, "ne11": seq + 1, "file": "x", "bundle": 1, "args": ""}
        out.write(json.dumps(line) + "\n")
PY
"$program" report --export profiler --launches t.jsonl --out p.json > /dev/null
cli --daemon p.json --session ours > daemon.log 2>&1 &
daemon=$!
for _ in $(seq 100); do
  cli profile info --session ours > info.txt 2> /dev/null && break
  sleep 0.2
done
cli profile markers --limit 1000 --json --session ours > markers.json
python3 - <<'PY'
import json, re, sys
text = open("markers.json").read()
found = {}
def walk(value):
    if isinstance(value, dict):
        if isinstance(value.get("name"), str) and "start" in value:
            found.setdefault(value["name"], []).append(value["start"])
        for one in value.values():
            walk(one)
    elif isinstance(value, list):
        for one in value:
            walk(one)
walk(json.loads(text))
counts = {name: len(times) for name, times in found.items()}
wanted = {"mul_mat_q<Q4_K,112,false>": 100, "rope": 100, "quantize_q8_1": 100}
columns = {int(n) for n in re.findall(r"columns (\d+)", text)}
if counts != wanted or columns != set(range(1, 301)):
    sys.exit(f"the profiler read {counts} and {len(columns)} column counts; 100 launches each of three kernels and 300 were written\n{text[:600]}")
print(f"the profiler read {sum(counts.values())} launches of {len(counts)} kernels, each with its column count")
PY
