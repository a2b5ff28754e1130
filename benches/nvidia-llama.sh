#!/usr/bin/env bash
# llama.cpp's CUDA backend on a real NVIDIA GPU, watched by uprobe and by preload, compared with CUPTI: kernels, counts
# and text must be the same. Needs root, nvcc, cmake, gcc, numpy and CUPTI; no network, no Rust. SOURCE is a llama.cpp
# tree.
#   benches/nvidia-llama.sh path/to/whichkernel SOURCE [BUILD]
set -u
tool=$(realpath "$1"); source=$(realpath "$2"); build=$(realpath -m "${3:-target/llama-cuda}")
here=$(dirname "$(realpath "$0")")/nvidia
out=${OUT:-$(mktemp -d)}/llama; mkdir -p "$out"
python=${PYTHON:-python3}
export PATH=$PATH:/usr/local/cuda/bin
if [ ! -x "$build/bin/llama-quantize" ]; then
    off="-DLLAMA_BUILD_APP=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_CURL=OFF"
    cmake -S "$source" -B "$build" -DGGML_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=native -DCMAKE_BUILD_TYPE=Release -DGGML_NATIVE=OFF $off > "$out/cmake.txt" 2>&1 \
        || { tail -20 "$out/cmake.txt"; exit 2; }
    cmake --build "$build" -j "$(nproc)" -t llama-completion llama-quantize > "$out/build.txt" 2>&1 || { tail -20 "$out/build.txt"; exit 2; }
fi
[ -n "${BUILD_ONLY:-}" ] && exit 0

model=$build/random-q4_k_m.gguf
[ -f "$model" ] || { $python "$here/model.py" "$build/random-f16.gguf" && "$build/bin/llama-quantize" "$build/random-f16.gguf" "$model" Q4_K_M > "$out/quantize.txt" 2>&1 || exit 2; }
cuda=/usr/local/cuda
header=$(find -L $cuda -name cupti.h 2>/dev/null | head -1); library=$(find -L $cuda -name 'libcupti.so*' 2>/dev/null | head -1)
for struct in CUpti_ActivityKernel11 CUpti_ActivityKernel10 CUpti_ActivityKernel9 CUpti_ActivityKernel8; do
    gcc -shared -fPIC -O1 -DKERNEL=$struct -I"$(dirname "$header")" -I$cuda/include "$here/cupti.c" -o "$out/cupti.so" "$library" \
        -Wl,-rpath,"$(dirname "$library")" 2>"$out/gcc.txt" && break
done

prompt=$(for i in $(seq 250); do printf ' w%d' $((i * 7 % 253)); done)
llama=("$build/bin/llama-completion" -m "$model" -p "$prompt" -n 128 --temp 0 --seed 1 -no-cnv -ngl 99 --no-warmup)
seconds() { grep -E 'prompt eval time|  eval time' "$1" | sed 's/.*= *\([0-9.]*\) ms.*/\1/' | awk '{ s += $1 } END { print s / 1000 }'; }
repeats=${REPEATS:-1 2 3 4 5}; first=${repeats%% *}
hows="plain cupti uprobe preload"
status=0; export CUPTI_OUT
# In turn, so that other load affects all of them equally.
for run in $repeats; do for how in $hows; do
    at=$out/$how.$run; CUPTI_OUT=$at.tsv
    case $how in
        plain) "${llama[@]}" > "$at.text" 2> "$at.err" ;;
        cupti) CUDA_INJECTION64_PATH="$out/cupti.so" "${llama[@]}" > "$at.text" 2> "$at.err" ;;
        *) "$tool" watch --how $how --format json -- sh -c 'out=$1; shift; exec "$@" > "$out"' sh "$at.text" "${llama[@]}" > "$at.json" 2> "$at.err" ;;
    esac
    cmp -s "$at.text" "$out/plain.$first.text" || { echo "$how: run $run gave another text"; status=1; }
done; done
launches=$(awk -F'\t' '$2 != "DROPPED" { n += $1 } END { print n }' "$out/cupti.$first.tsv")
echo "launches that CUPTI counts for the prompt and 128 tokens: $launches"
for how in $hows; do for run in $repeats; do echo "$how $(seconds "$out/$how.$run.err")"; done; done | $python "$here/times.py" "$launches"
for how in uprobe preload; do $python "$here/compare.py" "$out/cupti.$first.tsv" "$out/$how.$first.json" || status=1; done
[ $status = 0 ] && echo "text: identical in every run; $(wc -c < "$out/plain.$first.text") bytes"
grep -o 'ggml_cuda_init.*\|offloaded.*' "$out/plain.$first.err" | head -3
head -12 "$out/uprobe.$first.err" | cut -c1-160
# Unobserved, observed, unobserved: checks that the program behaves the same without us. CERTIFY= skips this.
[ -n "${CERTIFY-yes}" ] && { "$here/certify.sh" "$tool" "$out/cupti.so" "$out" "${llama[@]}" || status=1; }
exit $status
