#!/usr/bin/env bash
# A ledger of a million rows: what `ledger list --last 5`, `check` and `ledger verify` ask of it, without the printing; wall
# time, processor time and peak memory, three times each. First builds both programs.
# Usage: benches/ledger.sh [ROWS] [DIR]; the ledger in DIR is made where it is not there yet (about 1 GB).
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
