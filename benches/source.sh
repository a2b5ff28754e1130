#!/usr/bin/env bash
# The whole table of one tree (13 GPUs x 24 types x 512 column counts) against g++ compiling the tree's own predicates; then a
# single question, and the same again.
#   benches/source.sh [TREE]     TREE defaults to the crate llama-cpp-sys-4 0.11.0 of the cache
set -euo pipefail
cd "$(dirname "$0")/.."
cache=${WHICHKERNEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/whichkernel}
tree=${1:-$cache/artifacts/llama-cpp-sys-4-0.11.0}
cargo build --release --quiet -p whichkernel
tool=target/release/whichkernel
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cuda=$(dirname "$(find "$tree" -name mmq.cu | head -n 1)")
ggml=$(dirname "$(find "$tree" -name ggml.h | head -n 1)")

# What the predicates need, and the predicates.
{
    cat <<'STUBS'
#include "ggml.h"
#include <algorithm>
#include <climits>
#include <cstdint>
#define __host__
#define __device__
#define __forceinline__ inline
#define GGML_USE_HIP
struct device_table { struct { int cc, warp_size, nsm; size_t smpb, smpbo; } devices[16]; };
const device_table & ggml_cuda_info();
int ggml_cuda_get_device();
int mmf_get_rows_per_block(int cc);
STUBS
    grep -hE '^#define (GGML_CUDA_CC|CC_|MMQ_|MMVQ_|MMVF_|MMF_|WARP_SIZE)' "$cuda"/{common,mmq,mmvq,mmf,mmvf}.cuh
    awk '/^static (constexpr )?(__host__ )?(__device__ )?(bool|int) [a-z_0-9]+_(available|arch|hardware)[a-z_]*\(.*\{/ { p = 1 } p { print } p && /^}/ { p = 0 }' "$cuda/common.cuh"
    awk '/^bool ggml_cuda_should_use_/ { p = 1 } p { print } p && /^}/ { p = 0 }' "$cuda"/{mmq,mmf,mmvf}.cu
} > "$work/predicates.cpp"
g++ -O2 -w -I"$ggml" -c "$work/predicates.cpp" -o "$work/predicates.o"
both() { # prints wall and processor seconds of a command
    /usr/bin/time -f '%e s, processor %U s' "$@" 2>&1 >/dev/null | tail -n 1
}
columns=1..512
echo "tree: $tree"
echo "g++ -O2, predicates alone:           $(both g++ -O2 -w -I"$ggml" -c "$work/predicates.cpp" -o "$work/predicates.o")"
echo "whole table:                         $(both $tool source "$tree" --type all --columns $columns --format csv)"
echo "one GPU, one type, one column:       $(both $tool source "$tree" --gpu gfx1201 --type Q4_K --columns 290 --format csv)"
echo "the same again:                      $(both $tool source "$tree" --gpu gfx1201 --type Q4_K --columns 290 --format csv)"
echo "explain (embedded tables, no tree):  $(both $tool explain --gpu rx-9070-xt --type Q4_K --columns 290)"
