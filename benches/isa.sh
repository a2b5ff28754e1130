#!/usr/bin/env bash
# The instruction census against llvm-objdump -d, side by side on the same code objects, on one core; then on all cores.
#   benches/isa.sh [FILE [TARGET]]     FILE defaults to libggml-hip.so of the runtime debian-sid
set -euo pipefail
cd "$(dirname "$0")/.."
cache=${WHICHKERNEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/whichkernel}
file=${1:-$(find "$cache/runtimes/debian-sid" -name libggml-hip.so | head -n 1)}
target=${2:-gfx1100}
cargo build --release --quiet -p whichkernel
tool=target/release/whichkernel
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT
seconds() { # prints the seconds that a command takes
    local start end
    start=$(date +%s.%N)
    "$@" >/dev/null
    end=$(date +%s.%N)
    echo "$end $start" | awk '{ printf "%.3f", $1 - $2 }'
}
objdump_all() { for object in "$objects"/*.hsaco; do llvm-objdump-22 -d --mattr=+real-true16 "$object"; done; }
census_all() { for object in "$objects"/*.hsaco; do $tool isa "$object"; done; }
one() { taskset -c 0 "$@"; }

$tool inspect "$file" --extract "$objects" --target "$target" >/dev/null 2>&1
# A tenth of the objects, by size every tenth: objdump is slow.
ls -S "$objects"/*.hsaco | awk 'NR % 10 != 1' | xargs -r rm
export -f objdump_all census_all
export objects tool
count=$(ls "$objects" | wc -l)
instructions=$(for object in "$objects"/*.hsaco; do $tool isa "$object" --format json; done | grep -o '"instructions": [0-9]*' | awk '{ n += $2 } END { print n }')
census_all >/dev/null
theirs=$(seconds one bash -c objdump_all)
ours=$(seconds one bash -c census_all)
echo "$count code objects of $target, $instructions instructions, one core:"
echo "$theirs $ours $instructions" | awk '{ printf "  llvm-objdump -d  %8.3f s  %6.2f M instructions/s\n  whichkernel isa   %8.3f s  %6.2f M instructions/s  (%.0f times)\n", $1, $3/$1/1e6, $2, $3/$2/1e6, $1/$2 }'
cat "$file" >/dev/null
read_=$(seconds cat "$file")
single=$(seconds one $tool isa "$file")
all=$(seconds $tool isa "$file")
echo "all of $(basename "$file"), $(stat -c %s "$file") bytes:"
echo "$read_ $single $all $(nproc)" | awk '{ printf "  cat               %8.3f s\n  census, one core  %8.3f s\n  census, %d cores   %8.3f s  (%.2f times faster)\n", $1, $2, $4, $3, $2/$3 }'
