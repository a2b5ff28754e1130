#!/usr/bin/env bash
# Measures the CPU time of one question to a tree, and of the default table of every type.
#   benches/source-ask.sh TREE...            TOOL=PROGRAM measures another build
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${TOOL:-}" ]; then
    cargo build --release --quiet -p whichkernel
    TOOL=target/release/whichkernel
fi
said=$(mktemp)
for tree in "$@"; do
    for question in "--gpu gfx1201 --type Q4_K --columns 290" "--gpu sm_90 --type Q4_K --columns 290" "--type all"; do
        # shellcheck disable=SC2086 # several words
        /usr/bin/time -f "$question: %U s of processor time, %e s" "$TOOL" source "$tree" $question --format csv >/dev/null 2>"$said" || true
        tail -1 "$said"
    done
done
rm -f "$said"
