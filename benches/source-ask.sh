#!/usr/bin/env bash
# One question to a tree, and the whole table of 13 GPUs x 24 types x 26 column counts, in processor time; only the room is built.
#   benches/source-ask.sh TREE...
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --quiet -p whichkernel-source --example ask
for tree in "$@"; do
    for question in "gfx1201 Q4_K 290" "sm_90 Q4_K 290" "- - -"; do
        # shellcheck disable=SC2086 # three words
        /usr/bin/time -f "$tree, $question: %U s of processor time, %e s" target/release/examples/ask "$tree" $question >/dev/null
    done
done
