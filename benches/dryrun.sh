#!/usr/bin/env bash
# Measures a dry run: a 7B-shaped model with all its layers (512 + 32 tokens, one card), and the map of one card (24
# types x 13 lengths). Prints seconds, CPU time and peak memory of the largest process; the first run creates the kernel
# table. Needs `whichkernel runtime fetch debian-sid`.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --quiet
bin=target/release/whichkernel
card=${1:-gfx1100}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

measure() {
    /usr/bin/time -f '%e s, %U + %S s of processor, peak %M KB' -o "$work/time" "$@" > "$work/out" 2> "$work/err" || { cat "$work/err" >&2; exit 1; }
    cat "$work/time"
}

echo "7B shape, 28 layers, 512 + 32 tokens, $card:"
cargo run --release --quiet -p whichkernel-gguf --example skeleton -- qwen2-7b Q4_K 28 "$work/model.gguf"
for run in first warm; do
    echo "  $run: $(measure "$bin" dryrun --gpu "$card" --runtime debian-sid --format csv -- \
        llama-bench -m "$work/model.gguf" -p 512 -n 32 -r 1 --no-warmup)"
done
echo "full map of $card, 24 types x 13 lengths:"
echo "  $(measure "$bin" dryrun --gpu "$card" --type all --columns 1,3,7,8,9,11,12,64,255,256,257,290,512 --format csv)"
echo "  rows: $(($(wc -l < "$work/out") - 1))"
uptime
