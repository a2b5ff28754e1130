#!/usr/bin/env bash
# What watching costs per launch: chosen site against the first instruction, in one run. Needs root and a C compiler.
#   benches/watch.sh [launches]
set -eu
cd "$(dirname "$0")/.."
cargo run --release --quiet -p whichkernel-uprobe --example watch_cost -- "${1:-1000000}"
