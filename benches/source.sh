#!/usr/bin/env bash
# Compares the whole table of one tree (13 GPUs x 24 types x 512 column counts) with g++ compiling the tree's own
# predicates; then a single question, and the same again. There are two peers: only the should_use_* functions, and all
# code that chooses a path and its tile (the tables of tiles, the choice of the tile, the widths of MMVQ, the
# dispatcher), which the evaluator covers too.
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

function_of() { # the functions whose first line matches, from files
    awk -v start="$1" '$0 ~ start { p = 1 } p { print } p && /^}/ { p = 0 }' "${@:2}"
}
predicates() {
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
    function_of '^static (constexpr )?(__host__ )?(__device__ )?(bool|int) [a-z_0-9]+_(available|arch|hardware)[a-z_]*\(.*\{' "$cuda/common.cuh"
    function_of '^bool ggml_cuda_should_use_' "$cuda"/{mmq,mmf,mmvf}.cu
}
everything() {
    predicates
    cat <<'STUBS'
#include "ggml-backend.h"
#define GGML_COMMON_DECL_CPP
#include "ggml-common.h"
typedef ggml_half half;
typedef ggml_half2 half2;
struct ggml_backend_cuda_context { int device; };
bool ggml_cuda_op_mul_mat_use_fwht(const ggml_tensor *);
bool ggml_cuda_op_fwht(ggml_backend_cuda_context &, const ggml_tensor *, ggml_tensor *);
void ggml_cuda_mul_mat_cublas(ggml_backend_cuda_context &, const ggml_tensor *, const ggml_tensor *, ggml_tensor *);
void ggml_cuda_mul_mat_vec_f(ggml_backend_cuda_context &, const ggml_tensor *, const ggml_tensor *, const ggml_tensor *, ggml_tensor *);
void ggml_cuda_mul_mat_f(ggml_backend_cuda_context &, const ggml_tensor *, const ggml_tensor *, const ggml_tensor *, ggml_tensor *);
void ggml_cuda_mul_mat_vec_q(ggml_backend_cuda_context &, const ggml_tensor *, const ggml_tensor *, const ggml_tensor *, ggml_tensor *);
void ggml_cuda_mul_mat_q(ggml_backend_cuda_context &, const ggml_tensor *, const ggml_tensor *, const ggml_tensor *, ggml_tensor *);
STUBS
    grep -hE '^#define Q[IR][0-9]' "$cuda/../ggml-common.h"
    awk '/^enum mmq_q8_1_ds_layout/ { p = 1 } /mmq-load-tiles/ { exit } p' "$cuda/mmq.cuh"
    function_of '^static size_t mmq_get_nbytes_shared' "$cuda/mmq.cuh"
    function_of '^static int ggml_cuda_mmq_get_J_best' "$cuda/mmq.cu"
    function_of '^enum mmvq_parameter_table_id' "$cuda/mmvq.cu"
    function_of '^static __host__ mmvq_parameter_table_id' "$cuda/mmvq.cu"
    function_of '^static constexpr __host__ __device__ (int|bool) (get_mmvq_mmid|calc_|mmvq_two|mmvq_should)' "$cuda/mmvq.cu"
    function_of '^(int get_mmvq_mmid_max_batch|bool ggml_cuda_should_use_mmvq)' "$cuda/mmvq.cu"
    function_of '^static void ggml_cuda_mul_mat\(' "$cuda/ggml-cuda.cu"
    # An unused static function would not be fully compiled.
    cat <<'CALLERS'
int tile(ggml_type t, int64_t n, int cc, size_t s) { return ggml_cuda_mmq_get_J_best(t, n, ggml_cuda_mmq_needs_fallback(n), cc, s, GGML_PREC_DEFAULT); }
int warps(ggml_type t, int n, int cc) { return calc_nwarps(t, n, get_device_table_id(cc)) + calc_rows_per_block(t, n, get_device_table_id(cc)); }
void forward(ggml_backend_cuda_context & c, ggml_tensor * d) { ggml_cuda_mul_mat(c, d->src[0], d->src[1], d); }
CALLERS
}
predicates > "$work/predicates.cpp"
everything > "$work/everything.cpp"

seconds() { # prints wall time and CPU time of a command
    /usr/bin/time -f '%e %U' "$@" 2>&1 >/dev/null | tail -n 1
}
line() { # name, "wall CPU", and the ratio of the whole table to it, if known
    read -r wall processor <<<"$2"
    printf '%-58s %7s s, processor %7s s' "$1" "$wall" "$processor"
    if [ -n "${3:-}" ]; then awk -v a="${3% *}" -v b="$wall" 'BEGIN { printf "   whole table / this: %.2f", a / (b > 0 ? b : 0.01) }'; fi
    echo
}
compile() { seconds g++ "$1" -w -I"$ggml" -I"$cuda" -I"$cuda/.." -c "$work/$2.cpp" -o "$work/$2.o"; }

echo "tree: $tree"
table=$(seconds $tool source "$tree" --type all --columns 1..512 --format csv)
line "whole table" "$table"
line "g++ -O2, should_use_* alone" "$(compile -O2 predicates)" "$table"
# An older tree has other names; then there is only the first peer.
if g++ -O0 -w -I"$ggml" -I"$cuda" -I"$cuda/.." -c "$work/everything.cpp" -o "$work/everything.o" 2>/dev/null; then
    line "g++ -O0, all that chooses a path and a tile" "$(compile -O0 everything)" "$table"
    line "g++ -O2, all that chooses a path and a tile" "$(compile -O2 everything)" "$table"
else
    echo "g++, all that chooses a path and a tile: not cut out of this tree (its functions have other names)"
fi
line "one GPU, one type, one column" "$(seconds $tool source "$tree" --gpu gfx1201 --type Q4_K --columns 290 --format csv)"
line "the same again" "$(seconds $tool source "$tree" --gpu gfx1201 --type Q4_K --columns 290 --format csv)"
line "explain (embedded tables, no tree)" "$(seconds $tool explain --gpu rx-9070-xt --type Q4_K --columns 290)"
