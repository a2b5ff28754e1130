#!/usr/bin/env bash
# Compares the instruction census with llvm-objdump -d on the same code objects: CPU time (user and system) of both,
# which depends less on other load than wall time; then the whole library on all cores.
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

# Sets wall and cpu to the seconds that the command took; the best of five runs if the second word is `best`.
TIMEFORMAT='%R %U %S'
measure() {
    local runs=1 took w c
    [ "$1" = best ] && runs=5
    shift
    wall= cpu=
    for _ in $(seq "$runs"); do
        took=$({ time "$@" >/dev/null 2>&1; } 2>&1)
        read -r w c < <(awk '{ print $1, $2 + $3 }' <<<"$took")
        wall=$(awk -v a="${wall:-$w}" -v b="$w" 'BEGIN { print a < b ? a : b }')
        cpu=$(awk -v a="${cpu:-$c}" -v b="$c" 'BEGIN { print a < b ? a : b }')
    done
}
count() { "$@" --format json | grep -o '"instructions": [0-9]*' | awk '{ n += $2 } END { print n }'; }
objdump_all() { for object in "$objects"/*.hsaco; do llvm-objdump-22 -d --mattr=+real-true16 "$object"; done; }
census_all() { for object in "$objects"/*.hsaco; do $tool isa "$object"; done; }
row() { # name, instructions
    awk -v what="$1" -v n="$2" -v wall="$wall" -v cpu="$cpu" -v base="${base:-}" 'BEGIN {
        rate = n / cpu / 1e6
        printf "%-58s %11d %8.3f %8.3f %8.2f", what, n, wall, cpu, rate
        if (base != "") printf " %6.0f", rate / base
        print ""
    }'
}

"$tool" inspect "$file" --extract "$objects" --target "$target" >/dev/null 2>&1
# Every tenth object by size, because objdump is slow.
ls -S "$objects"/*.hsaco | awk 'NR % 10 != 1' | xargs -r rm
sampled=$(for object in "$objects"/*.hsaco; do count "$tool" isa "$object"; done | awk '{ n += $1 } END { print n }')
cat "$file" >/dev/null
echo "$(basename "$file"), $(stat -c %s "$file") bytes; $(nproc) processors, load $(cut -d' ' -f1 /proc/loadavg)"
printf '%-58s %11s %8s %8s %8s %6s\n' "" instructions "wall s" "cpu s" "M/cpu s" times
measure once objdump_all
row "llvm-objdump -d, $(ls "$objects" | wc -l) objects of $target" "$sampled"
base=$(awk -v n="$sampled" -v c="$cpu" 'BEGIN { print n / c / 1e6 }')
measure best census_all
row "whichkernel isa, the same, one process each" "$sampled"
largest=$(ls -S "$objects"/*.hsaco | head -n 1)
measure best "$tool" isa "$largest"
row "whichkernel isa, the largest of them" "$(count "$tool" isa "$largest")"
measure best "$tool" isa "$file" --target "$target"
row "whichkernel isa --target $target: all its objects" "$(count "$tool" isa "$file" --target "$target")"
all=$(count "$tool" isa "$file")
measure best taskset -c 0 "$tool" isa "$file"
row "whichkernel isa: all targets, one core" "$all"
single=$wall
measure best "$tool" isa "$file"
row "whichkernel isa: all targets, all cores" "$all"
awk -v a="$single" -v b="$wall" 'BEGIN { printf "all cores: %.2f times faster than one\n", a / b }'
measure best cat "$file"
echo "reading the file (cat): $wall s wall, $cpu s cpu"
