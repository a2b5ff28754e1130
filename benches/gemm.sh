#!/bin/sh
# Measures `explain gemm`: a cold question, many products, and a diff of two releases.
# Usage: benches/gemm.sh WHICHKERNEL [RUNTIME_A RUNTIME_B]
set -eu
program=${1:?the whichkernel binary}
a=${2:-debian-sid-catalogs}
b=${3:-debian-experimental-catalogs}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

{
    echo "m,n,k,trans_a"
    i=0
    while [ $i -lt 5000 ]; do
        echo "$((16 * (i % 256 + 1))),$((i * 7 % 4096 + 1)),$((64 * (i % 128 + 1))),T"
        i=$((i + 1))
    done
} >"$work/products.csv"
head -2 "$work/products.csv" >"$work/one.csv"

seconds() {
    start=$(date +%s%N)
    "$@" >/dev/null || [ $? -eq 1 ]
    echo "$((($(date +%s%N) - start) / 1000000))"
}

one=$(seconds "$program" explain gemm --from "$work/one.csv" --gpu rx-9070-xt --runtime "$a" --format csv)
many=$(seconds "$program" explain gemm --from "$work/products.csv" --gpu rx-9070-xt --runtime "$a" --format csv)
diff=$(seconds "$program" diff "$a" "$b" --library hipblaslt --gemm "$work/products.csv" --gpu rx-9070-xt --format csv)
echo "cold question: $one ms"
echo "each further product: $(((many - one) * 1000 / 4999)) us"
echo "diff of two releases, 5,000 products: $diff ms"
