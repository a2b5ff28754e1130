#!/usr/bin/env bash
# Compares the inventory of a library with all kernels' metadata with llvm-objdump --offloading (which extracts the code
# objects) and llvm-readelf --notes on all of them. The page cache is warm for both. Prints the ratios of wall time and
# of CPU time (which depends less on other load).
#
#   benches/inspect.sh [FILE]     default: Debian's libggml-hip.so, from `whichkernel runtime fetch debian-sid`
set -euo pipefail
cd "$(dirname "$0")/.."
cache=${WHICHKERNEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/whichkernel}
file=${1:-$cache/runtimes/debian-sid/root/usr/lib/x86_64-linux-gnu/ggml/backends0/libggml-hip.so}
[ -f "$file" ] || { echo "$file is not here: whichkernel runtime fetch debian-sid --parts ggml" >&2; exit 2; }
first() { for tool in "$@"; do command -v "$tool" && return; done; echo "none of $* is installed" >&2; exit 2; }
objdump=$(first llvm-objdump-22 llvm-objdump)
readelf=$(first llvm-readelf-22 llvm-readelf)
cargo build --release --quiet -p whichkernel
ours=$PWD/target/release/whichkernel
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cp "$file" "$work/lib.so"                      # objdump writes beside its input
cat "$work/lib.so" > /dev/null                 # warm
calc() { echo "scale=2; $1" | bc; }

# Sets wall and cpu to the seconds that the command took.
TIMEFORMAT='%R %U %S'
measure() {
    local took
    took=$( { time "$@" > "$work/out" 2> "$work/err"; } 2>&1 )
    read -r wall user sys <<< "$took"
    cpu=$(calc "$user + $sys")
}
# The best of five runs, because the machine may have other load.
best() {
    local w= c=
    for _ in 1 2 3 4 5; do
        measure "$@"
        if [ -z "$w" ] || [ "$(calc "$wall < $w")" = 1 ]; then w=$wall; fi
        if [ -z "$c" ] || [ "$(calc "$cpu < $c")" = 1 ]; then c=$cpu; fi
    done
    wall=$w cpu=$c
}
extract() { cd "$work" && "$objdump" --offloading lib.so; }
objects() { find "$work" -name 'lib.so.*' -type f -size +0 ! -name '*host*' -print0; }
notes() { objects | xargs -0 -n 1 "$readelf" --notes; }
notes_batched() { objects | xargs -0 "$readelf" --notes; }

best "$ours" inspect "$work/lib.so" --format json;              overview=$wall overview_cpu=$cpu
best "$ours" inspect "$work/lib.so" --kernels --format csv;     kernels=$wall kernels_cpu=$cpu
rows=$(($(wc -l < "$work/out") - 1))
measure extract;                                                extracted=$wall extracted_cpu=$cpu
measure notes;                                                  noted=$wall noted_cpu=$cpu
named=$(grep -c '^ *\.symbol:' "$work/out")
measure notes_batched;                                          batched=$wall batched_cpu=$cpu
theirs=$(calc "$extracted + $noted") theirs_cpu=$(calc "$extracted_cpu + $noted_cpu")

row() { printf '%-62s %9s %9s %8s %8s\n' "$@"; }
echo "$(stat -c %s "$file") bytes; kernels: ours $rows, llvm-readelf $named; $(nproc) processors, load $(cut -d' ' -f1 /proc/loadavg)"
row "" "wall s" "cpu s" "x wall" "x cpu"
row "llvm-objdump --offloading" "$extracted" "$extracted_cpu" "" ""
row "llvm-readelf --notes, object by object" "$noted" "$noted_cpu" "" ""
row "llvm-readelf --notes, all objects in one call" "$batched" "$batched_cpu" "" ""
best "$ours" inspect "$work/lib.so" --kernels --kernel '^$' --format csv
row "whichkernel --kernels --kernel '^$': all metadata, no row" "$wall" "$cpu" \
    "$(calc "$theirs / $wall")" "$(calc "$theirs_cpu / $cpu")"
row "  the same, against llvm-readelf in one call" "" "" \
    "$(calc "($extracted + $batched) / $wall")" "$(calc "($extracted_cpu + $batched_cpu) / $cpu")"
row "whichkernel --kernels --format csv: all metadata, names demangled" "$kernels" "$kernels_cpu" \
    "$(calc "$theirs / $kernels")" "$(calc "$theirs_cpu / $kernels_cpu")"
row "whichkernel --format json: all metadata, and SHA-256 of the file" "$overview" "$overview_cpu" \
    "$(calc "$theirs / $overview")" "$(calc "$theirs_cpu / $overview_cpu")"
