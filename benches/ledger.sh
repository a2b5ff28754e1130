#!/usr/bin/env bash
# Measures `ledger list --last 5`, `check` and `ledger verify` on a ledger of a million rows, without printing: wall
# time, CPU time and peak memory, three times each. First builds both programs.
# Usage: benches/ledger.sh [ROWS] [DIR]; creates the ledger in DIR if it does not exist (about 1 GB).
set -euo pipefail
cd "$(dirname "$0")/.."
rows=${1:-1000000}
dir=${2:-${TMPDIR:-/tmp}/whichkernel-ledger-$rows}
cargo build --release --quiet -p whichkernel-ledger --examples
[ -e "$dir/ledger.sqlite" ] || target/release/examples/fill "$dir" "$rows"
echo "load before: $(cut -d' ' -f1-3 /proc/loadavg)"
for what in list check verify; do
  for _ in 1 2 3; do target/release/examples/ask "$dir" "$what"; done
done
echo "load after: $(cut -d' ' -f1-3 /proc/loadavg)"
