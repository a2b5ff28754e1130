#!/usr/bin/env bash
# The report of the default investigation with libggml-hip's inventory: how long the investigation's first tier and the
# report take, how large the report is, and in a headless Chromium the first paint and a search over every kernel.
# Goals: report under two seconds and 15 MB, first paint under a second, search under 100 ms.
# Usage: benches/report.sh [PROGRAM]; by default the release build is created and used. The cache must contain
# debian-sid (`whichkernel runtime fetch debian-sid --parts ggml`); WHICHKERNEL_CACHE selects another cache.
set -euo pipefail
cd "$(dirname "$0")/.."
program=${1:-}
if [ -z "$program" ]; then
  cargo build --release --quiet
  program=target/release/whichkernel
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
timed() { # a name, a command: wall time, CPU time, peak memory
  local name=$1; shift
  /usr/bin/env python3 - "$name" "$@" <<'PY'
import resource, subprocess, sys, time
start = time.monotonic()
code = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{sys.argv[1]}\t{time.monotonic() - start:.2f} s wall\t{used.ru_utime + used.ru_stime:.2f} s processor\t{used.ru_maxrss / 1024:.0f} MB\texit {code}")
PY
}
echo "load before: $(cut -d' ' -f1-3 /proc/loadavg)"
none=$dir/none
WHICHKERNEL_CACHE=$none timed "tier 0 without a runtime" "$program" --ledger "$dir/bare" investigate --offline
timed "investigate, everything in the cache, first time" "$program" --ledger "$dir/ledger" investigate --offline
timed "investigate again, nothing changed" "$program" --ledger "$dir/ledger" investigate --offline
for _ in 1 2 3; do timed "report" "$program" --ledger "$dir/ledger" report --out "$dir/report"; done
printf 'size\t%s bytes in %s files, the largest:\n' "$(find "$dir/report" -type f -printf '%s\n' | awk '{s+=$1} END {print s}')" "$(find "$dir/report" -type f | wc -l)"
find "$dir/report" -type f -printf '%s\t%P\n' | sort -rn | sed -n 1,5p
printf 'kernels\t%s\n' "$(grep -o 'All [0-9,]* kernels' "$dir/report/inventory.html" | head -1)"
if command -v chromium > /dev/null; then
  python3 benches/report-browser.py "$dir/report"
else
  echo "no chromium: first paint and search were not measured"
fi
echo "load after: $(cut -d' ' -f1-3 /proc/loadavg)"
