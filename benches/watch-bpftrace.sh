#!/usr/bin/env bash
# Overhead of watching per launch compared with bpftrace counting the same function by kernel and grid, in one run. Needs
# root, a C compiler and bpftrace.
#   benches/watch-bpftrace.sh [launches] [rounds]
set -eu
cd "$(dirname "$0")/.."
cargo run --release --quiet -p whichkernel-uprobe --example bpftrace_cost -- "${1:-1000000}" "${2:-5}"
