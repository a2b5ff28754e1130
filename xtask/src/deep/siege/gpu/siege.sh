#!/usr/bin/env bash
# Compares the launch counts of whichkernel and CUPTI on an NVIDIA GPU. Needs root, gcc, nvcc, CUPTI; PyTorch for one
# row. No Rust, no network.
#   ./siege.sh [path/to/whichkernel]         results in $OUT (else ./out); ends within SECONDS_ALL (450) seconds
# One failure ends one row, never the rest.
set -u
here=$(dirname "$(realpath "$0")"); cd "$here" || exit 2
tool=$(realpath "${1:-$here/whichkernel}"); python=${PYTHON:-python3}; budget=${SECONDS_ALL:-450}
out=${OUT:-$here/out}; mkdir -p "$out"; work=$(mktemp -d); table=$out/siege-nvidia.md
exec > >(tee "$out/siege-nvidia.txt") 2>&1
begun=$SECONDS
left() { echo $((budget - (SECONDS - begun))); }
uname -r; date -u +"date: %Y-%m-%d %H:%M UTC"; id -u
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || echo "no nvidia-smi"
gcc --version | head -1; "$tool" --version || { echo "the tool does not run here"; exit 2; }
$python -c 'import torch; print("torch", torch.__version__, "CUDA", torch.version.cuda)' || echo "no torch"

# The locations of CUDA and CUPTI: the toolkit, or Python's packages.
beside=$(command -v nvcc) && beside=$(dirname "$(dirname "$(realpath "$beside")")")
roots="${beside:-} /usr/local/cuda /usr/local/cuda/extras/CUPTI $(ls -d /usr/local/cuda-* 2>/dev/null | tr '\n' ' ') $($python - <<'P'
import glob, os, sys
print(" ".join(sorted({p for s in sys.path if os.path.isdir(s) for p in glob.glob(s + "/nvidia/*")})))
P
)"
first() { for r in $roots; do find -L "$r" -name "$1" 2>/dev/null; done | head -1; }
nvcc=$(command -v nvcc || first nvcc); cupti_h=$(first cupti.h); cuda_h=$(first cuda.h); cupti_so=$(first 'libcupti.so*')
driver=$(ldconfig -p | awk '/libcuda\.so\.1/ { print $NF; exit }')
echo "nvcc: ${nvcc:-none}; cupti: ${cupti_h:-none} ${cupti_so:-none}; driver: ${driver:-none}"
[ -n "$nvcc" ] && "$nvcc" --version | tail -2

cupti=
for struct in CUpti_ActivityKernel11 CUpti_ActivityKernel10 CUpti_ActivityKernel9 CUpti_ActivityKernel8; do
    gcc -shared -fPIC -O1 -DKERNEL=$struct -I"$(dirname "$cupti_h")" -I"$(dirname "$cuda_h")" cupti.c -o "$work/cupti.so" "$cupti_so" \
        -Wl,-rpath,"$(dirname "$cupti_so")" 2> "$work/gcc.txt" && { cupti=$work/cupti.so; echo "cupti.c: $struct"; break; }
done
[ -n "$cupti" ] || { echo "no CUPTI reference (the device's own counters are the truth then):"; tail -3 "$work/gcc.txt"; }

build() { # output, words...: for this GPU, else for Hopper, else for nvcc's default
    local to=$1; shift
    for arch in -arch=native -arch=sm_90 ""; do timeout 120 "$nvcc" -std=c++17 $arch -o "$to" "$@" 2> "$to.txt" && return 0; done
    echo "nvcc could not build $to:"; tail -5 "$to.txt"; return 1
}
if [ -n "$nvcc" ]; then
    # Waits for each by its process id: a plain `wait` would wait for the tee above as well.
    build "$work/zoo" zoo.cu -lpthread & a=$!
    build "$work/zoo-shared" zoo.cu -cudart shared -lpthread & b=$!
    build "$work/kernels.cubin" -cubin -x cu kernels.cuh & c=$!
    build "$work/cdp" cdp.cu -rdc=true -lcudadevrt & d=$!
    wait $a; wait $b; wait $c; wait $d
fi
gcc -O1 driver.c -I"$(dirname "$cuda_h")" -o "$work/driver" "${driver:--lcuda}" || echo "driver.c did not compile"
shared=$(dirname "$(first 'libcudart.so.1*')" 2>/dev/null); export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-}${shared:+:$shared}"
echo "built after $((SECONDS - begun)) s"

{ echo "| job | observer | kernels | launches by CUPTI | seen | verdict | harmed | differences | notes |"; echo "|---|---|---|---|---|---|---|---|---|"; } > "$table"
status=0
row() { # name, command...
    local name=$1 at=$work/row; shift
    [ -e "$1" ] || command -v "$1" > /dev/null || { echo "| $name | | | | | skipped | | $1 is not there | |" | tee -a "$table"; return; }
    [ "$(left)" -gt 40 ] || { echo "| $name | | | | | skipped | | no time left | |" | tee -a "$table"; return; }
    rm -f "$at".*
    timeout 60 "$@" > "$at.plain" 2> "$at.plainerr"; local plain=$?
    [ $plain = 0 ] || { echo "| $name | | | | | skipped | | it fails by itself: $plain $(tail -1 "$at.plainerr") | |" | tee -a "$table"; return; }
    grep . "$at.plainerr" | head -3
    [ -n "$cupti" ] && CUDA_INJECTION64_PATH=$cupti CUPTI_OUT="$at.cupti.%d" timeout 60 "$@" > "$at.cuptiout" 2>&1
    for observer in uprobe preload; do
        local limit=90; [ "$(left)" -lt 90 ] && limit=$(left); [ "$limit" -gt 10 ] || break
        LC_ALL=C timeout "$limit" "$tool" watch --how $observer --format json -- "$@" > "$at.json" 2> "$at.err"; local code=$?
        $python compare.py "$name" "$observer" "$at.json" $code "$at.cupti." "$at.err" "$at.plain" "$table" || status=1
        cp "$at.json" "$out/$(echo "$name-$observer" | tr ' /' '__').json" 2>/dev/null
    done
}
row "graph zoo, static runtime" "$work/zoo"
row "graph zoo, shared runtime" "$work/zoo-shared"
row "graph zoo, driver" "$work/driver" "$work/kernels.cubin"
row "threads" "$work/zoo" threads
row "processes" "$work/zoo" processes
# Kernels launch 40 of the 52: no observer on the host sees them, and each must report that.
row "kernels launched by kernels" "$work/cdp"
row "PyTorch with a graph" "$python" job.py
# An attach during the run differs for graphs: those captured before are unknown, which is reported
# (docs/measurements/nvidia-watch.md). Runs part by part, as long as there is time, to find the one that differs.
[ -x "$work/zoo" ] && for part in $("$work/zoo" parts); do row "graph part $part" "$work/zoo" "$part"; done
echo; cat "$table"; echo "took $((SECONDS - begun)) s; status $status"
rm -rf "$work"
exit $status
