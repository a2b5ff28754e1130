#!/usr/bin/env bash
# A ledger of a million rows: list, check, verify; wall time and peak memory. First builds both programs.
# Usage: benches/ledger.sh [ROWS] [DIR]; the ledger in DIR is made where it is not there yet (about 1.2 GB).
set -euo pipefail
cd "$(dirname "$0")/.."
rows=${1:-1000000}
dir=${2:-${TMPDIR:-/tmp}/whichkernel-ledger-$rows}
cargo build --release --quiet -p whichkernel -p whichkernel-ledger --example fill
cargo build --release --quiet -p whichkernel
[ -e "$dir/ledger.sqlite" ] || target/release/examples/fill "$dir" "$rows"
measure() {
  python3 - "$@" <<'PY'
import os, resource, subprocess, sys, time
begun = time.monotonic()
done = subprocess.run(["target/release/whichkernel", *sys.argv[1:]], stdout=subprocess.DEVNULL)
wall = time.monotonic() - begun
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{' '.join(sys.argv[3:]):24} {wall:7.2f} s wall {used.ru_utime + used.ru_stime:7.2f} s processor {used.ru_maxrss // 1024:6} MB, exit {done.returncode}")
PY
}
measure --ledger "$dir" ledger list --last 5
measure --ledger "$dir" check
measure --ledger "$dir" ledger verify
