#!/usr/bin/env bash
# The inventory of a library with all kernels' metadata, against llvm-objdump --offloading (which extracts the code
# objects) and llvm-readelf --notes over all of them. Page cache warm for both; prints the ratio.
#
#   benches/inspect.sh [FILE]     default: Debian's libggml-hip.so, which `whichkernel runtime fetch debian-sid` brings
set -euo pipefail
cd "$(dirname "$0")/.."
cache=${WHICHKERNEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/whichkernel}
file=${1:-$cache/runtimes/debian-sid/root/usr/lib/x86_64-linux-gnu/ggml/backends0/libggml-hip.so}
[ -f "$file" ] || { echo "$file is not here: whichkernel runtime fetch debian-sid --parts ggml" >&2; exit 2; }
objdump=$(command -v llvm-objdump-22 llvm-objdump | head -1)
readelf=$(command -v llvm-readelf-22 llvm-readelf | head -1)
cargo build --release --quiet -p whichkernel
ours=target/release/whichkernel
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cp "$file" "$work/lib.so"                      # objdump writes beside its input
cat "$work/lib.so" > /dev/null                 # warm

now() { date +%s.%N; }
since() { echo "$(now) - $1" | bc; }
# The best of a few runs: the machine may have other work.
best() {
    local least=
    for _ in 1 2 3 4 5; do
        local begun; begun=$(now)
        "$@" > "$work/out"
        local took; took=$(since "$begun")
        if [ -z "$least" ] || [ "$(echo "$took < $least" | bc)" = 1 ]; then least=$took; fi
    done
    echo "$least"
}

overview=$(best "$ours" inspect "$work/lib.so" --format json)
kernels=$(best "$ours" inspect "$work/lib.so" --kernels --format csv)
rows=$(($(wc -l < "$work/out") - 1))

begun=$(now)
(cd "$work" && "$objdump" --offloading lib.so > /dev/null)
extracted=$(since "$begun")
begun=$(now)
find "$work" -name 'lib.so.*' -type f -size +0 ! -name '*host*' -print0 | xargs -0 -n 64 -P "$(nproc)" "$readelf" --notes > "$work/notes"
notes=$(since "$begun")
theirs=$(echo "$extracted + $notes" | bc)
noted=$(grep -c '^ *\.symbol:' "$work/notes")

echo "file                     $(stat -c %s "$file") bytes"
echo "kernels                  ours $rows, llvm $noted"
echo "llvm-objdump --offloading  $extracted s"
echo "llvm-readelf --notes       $notes s ($(nproc) at a time)"
echo "whichkernel --kernels csv  $kernels s: $(echo "scale=1; $theirs / $kernels" | bc) times faster (every kernel's metadata, names demangled, written as rows)"
echo "whichkernel json           $overview s: $(echo "scale=1; $theirs / $overview" | bc) times faster (the same metadata read, and the file hashed with SHA-256)"
