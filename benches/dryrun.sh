#!/usr/bin/env bash
# How long a dry run takes: a 7B-shaped model with all its layers (512 + 32 tokens, one card), and the map of one card
# (24 types x 13 lengths). Prints seconds and peak memory; the second figure of each is the first run, which makes the
# kernel table. Needs `whichkernel runtime fetch debian-sid`.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --quiet
bin=target/release/whichkernel
card=${1:-gfx1100}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

measure() { /usr/bin/time -f '%e s, peak %M KB' -o "$work/time" "$@" > "$work/out" 2> "$work/err"; cat "$work/time"; }

echo "7B shape, 28 layers, prompt 512, $card:"
for run in first warm; do
    echo "  $run: $(measure "$bin" dryrun --gpu "$card" --arch-of qwen2-7b --layers 28 --type Q4_K --columns 512 --format csv)"
done
echo "full map of $card, 24 types x 13 lengths:"
measure "$bin" dryrun --gpu "$card" --type all --columns 1,3,7,8,9,11,12,64,255,256,257,290,512 --format csv
echo "  rows: $(($(wc -l < "$work/out") - 1))"
