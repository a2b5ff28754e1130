#!/usr/bin/env bash
# Runs the Vulkan layer and the uprobes on one program in turn: are pipelines, work groups and push constants the same,
# in the same order, and which share of the dispatches has a device time? Needs root and a Vulkan driver.
#     benches/vulkan-observers.sh target/release/whichkernel llama-bench -m model.gguf -p 64 -n 4 -r 1 -ngl 99
# A driver that is not installed system-wide is named with VK_DRIVER_FILES (on a headless NVIDIA machine:
# libEGL_nvidia.so.0).
set -euo pipefail
whichkernel=$1
shift
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export COLUMNS=160
"$@" > "$out/plain.txt" 2>&1 || { cat "$out/plain.txt"; echo "the program fails without any observer"; exit 2; }
"$whichkernel" watch --how layer --times --format json --trace "$out/layer.jsonl" -- "$@" > "$out/layer.json" 2> "$out/layer.err"
"$whichkernel" watch --format json --trace "$out/uprobe.jsonl" -- "$@" > "$out/uprobe.json" 2> "$out/uprobe.err"
python3 - "$out" <<'P'
import json, sys
folder = sys.argv[1]
seen = {}
for who in ("layer", "uprobe"):
    answer = json.load(open(f"{folder}/{who}.json"))
    lines = [line for line in map(json.loads, open(f"{folder}/{who}.jsonl")) if "end" not in line]
    seen[who] = lines
    print(f"{who}: {answer['seen']} dispatches, lost {answer['lost']}, rung {answer['rung']}, device {answer['device']}, cost {answer['cost_ns']} ns")
same = [[(line.get("pipeline"), line["grid"], line.get("args")) for line in lines] for lines in seen.values()]
timed = [line["took_ns"] for line in seen["layer"] if line.get("took_ns") is not None]
print(f"timed {len(timed)} of {len(seen['layer'])}, {sum(timed) / 1e6:.2f} ms of the device")
equal = same[0] == same[1] and len(same[0]) > 0
print("pipelines, work groups and push constants in order:", "equal" if equal else "different")
sys.exit(0 if equal else 1)
P
