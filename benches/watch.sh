#!/usr/bin/env bash
# Overhead of watching per launch: the chosen site compared with the first instruction, in one run. Needs root and a C
# compiler.
#   benches/watch.sh [launches]
set -eu
cd "$(dirname "$0")/.."
cargo run --release --quiet -p whichkernel-uprobe --example watch_cost -- "${1:-1000000}"
