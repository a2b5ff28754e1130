#!/usr/bin/env bash
# The stand-in for an NVIDIA GPU, compared with the real one: PyTorch in steps and llama.cpp with three models, every launch in
# order. The stand-in plays the GPU of the machine. Needs root, nvcc, cmake, gcc, CUPTI, PyTorch; no network, no Rust.
#   benches/nvidia-dryrun.sh path/to/whichkernel CARD [LLAMA_SOURCE [BUILD]]      tables in $OUT (else ./out)
set -u
tool=$(realpath "$1"); card=$2; source=${3:-}; build=$(realpath -m "${4:-target/llama-cuda}")
here=$(dirname "$(realpath "$0")")/nvidia; python=${PYTHON:-python3}
out=$(realpath -m "${OUT:-out}"); mkdir -p "$out"; work=$(mktemp -d)
export PATH=$PATH:/usr/local/cuda/bin
table=$out/dryrun.md
{ uname -r; date -u +"%Y-%m-%d"; nvidia-smi --query-gpu=name,driver_version --format=csv,noheader; "$tool" --version
  $python -c 'import torch; print("torch", torch.__version__)'; nvcc --version | tail -2; } | tee "$out/machine.txt"
cuda=/usr/local/cuda
header=$(find -L $cuda -name cupti.h 2>/dev/null | head -1); library=$(find -L $cuda -name 'libcupti.so*' 2>/dev/null | head -1)
for struct in CUpti_ActivityKernel11 CUpti_ActivityKernel10 CUpti_ActivityKernel9 CUpti_ActivityKernel8; do
    gcc -shared -fPIC -O1 -DKERNEL=$struct -I"$(dirname "$header")" -I$cuda/include "$here/cupti.c" -o "$work/cupti.so" "$library" \
        -Wl,-rpath,"$(dirname "$library")" 2> "$work/gcc.txt" && break
done
[ -f "$work/cupti.so" ] || { cat "$work/gcc.txt"; exit 2; }

real() { # file, command...
    local to=$1; shift
    CUDA_INJECTION64_PATH=$work/cupti.so CUPTI_OUT=$to.counts CUPTI_SEQUENCE=$to.sequence timeout 200 "$@" > "$to.real" 2>&1
    echo "real: exit $?, $(wc -l < "$to.sequence") kernels"
}
stand_in() { # file, command...
    local to=$1 begun=$SECONDS; shift
    timeout 200 "$tool" dryrun --gpu "$card" --trace "$to.jsonl" --format json -- "$@" > "$to.json" 2> "$to.err"
    echo "stand-in: exit $?, $(grep -c '"kernel"' "$to.jsonl") launches, $((SECONDS - begun)) s"
}

if [ -z "${SKIP_TORCH:-}" ]; then
    STEPS=$work/steps.real real "$work/torch" $python "$here/steps.py"
    STEPS=$work/steps.dry stand_in "$work/torch" $python "$here/steps.py"
    $python "$here/compare_dryrun.py" torch "$work/torch.sequence" "$work/steps.real" "$work/torch.jsonl" "$work/torch.json" "$work/steps.dry" \
        | tee "$out/torch.md"
    tail -5 "$work/torch.err"
fi
[ -n "$source" ] || exit 0
if [ ! -x "$build/bin/llama-bench" ]; then
    off="-DLLAMA_BUILD_APP=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_CURL=OFF -DLLAMA_BUILD_UI=OFF"
    cmake -S "$source" -B "$build" -DGGML_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=native -DCMAKE_CUDA_RUNTIME_LIBRARY=Shared \
        -DCMAKE_BUILD_TYPE=Release -DGGML_NATIVE=OFF $off > "$work/cmake.txt" 2>&1 || { tail -20 "$work/cmake.txt"; exit 2; }
    cmake --build "$build" -j "$(nproc)" -t llama-bench llama-server > "$work/build.txt" 2>&1 || { tail -20 "$work/build.txt"; exit 2; }
fi
echo "| run | launches of the H200 without NVIDIA's libraries | stand-in | equal | kernels of NVIDIA's libraries | different fields | examples |
|---|---|---|---|---|---|---|" > "$table"
models=()
for shape in ${SHAPES:-llama-3.1-8b gemma-3-4b qwen3-30b-a3b}; do
    "$tool" skeleton "$shape" --layers 4 -o "$work/$shape.gguf" > /dev/null && models+=("$work/$shape.gguf")
done
for model in "${models[@]}"; do
    for run in "prompt of 64 -p 64 -n 0" "decode -p 0 -n 4" "prompt of 512, flash attention -p 512 -n 0 -fa 1"; do
        words=${run#* -}; name=${run%% -*}
        at=$work/$(basename "$model" .gguf)
        # shellcheck disable=SC2086
        real "$at" "$build/bin/llama-bench" -m "$model" -ngl 99 -r 1 --no-warmup -o json -$words
        # shellcheck disable=SC2086
        stand_in "$at" "$build/bin/llama-bench" -m "$model" -ngl 99 -r 1 --no-warmup -o json -$words
        $python "$here/compare_dryrun.py" run "$(basename "$model" .gguf), $name" "$at.sequence" "$at.jsonl" "$at.json" | tee -a "$table"
        tail -3 "$at.err"
    done
done
cat "$table"
