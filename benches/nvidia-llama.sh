#!/usr/bin/env bash
# llama.cpp's CUDA backend on a real NVIDIA GPU, watched by uprobe and by preload, against CUPTI: the same kernels, the same counts, the
# same text. Needs root, nvcc, cmake, gcc, numpy and CUPTI; no network, no Rust. SOURCE is a llama.cpp tree.
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
milliseconds() { grep -E 'prompt eval time|  eval time' "$1" | sed 's/.*= *\([0-9.]*\) ms.*/\1/' | awk '{ s += $1 } END { print s }'; }
middle() { printf '%s\n' "$@" | sort -g | sed -n 2p; }
status=0; export CUPTI_OUT
for how in plain cupti uprobe preload; do
    list=()
    for run in 1 2 3; do
        at=$out/$how.$run; CUPTI_OUT=$at.tsv
        case $how in
            plain) "${llama[@]}" > "$at.text" 2> "$at.err" ;;
            cupti) CUDA_INJECTION64_PATH="$out/cupti.so" "${llama[@]}" > "$at.text" 2> "$at.err" ;;
            *) "$tool" watch --how $how --format json -- sh -c 'out=$1; shift; exec "$@" > "$out"' sh "$at.text" "${llama[@]}" > "$at.json" 2> "$at.err" ;;
        esac
        list+=("$(milliseconds "$at.err")")
        cmp -s "$at.text" "$out/plain.1.text" || { echo "$how: run $run gave another text"; status=1; }
    done
    t=$(middle "${list[@]}"); [ $how = plain ] && base=$t
    [ $how = cupti ] && launches=$(awk -F'\t' '$2 != "DROPPED" { n += $1 } END { print n }' "$out/cupti.1.tsv")
    awk -v n="$how" -v t="$t" -v b="$base" -v c="${launches:-0}" 'BEGIN { printf "%-8s %.1f ms for 128 tokens", n, t; if (c) printf ": %+.1f %%, %+.0f ns per launch of %d", (t - b) / b * 100, (t - b) / c * 1e6, c; print "" }'
    case $how in uprobe | preload) $python "$here/compare.py" "$out/cupti.1.tsv" "$out/$how.1.json" || status=1 ;; esac
done
[ $status = 0 ] && echo "text: identical in every run; $(wc -c < "$out/plain.1.text") bytes"
grep -o 'ggml_cuda_init.*\|offloaded.*' "$out/plain.1.err" | head -3
head -12 "$out/uprobe.1.err" | cut -c1-160
exit $status
