#!/usr/bin/env bash
# Compares uprobe and preload with CUPTI on a real NVIDIA GPU: same kernels, same counts, nothing lost, identical
# results, and the overhead of each. Needs root, PyTorch with CUDA, gcc and CUPTI's header and library; no network, no
# Rust.
#   benches/nvidia-watch.sh path/to/whichkernel [rounds]
set -u
tool=$(realpath "${1:-target/release/whichkernel}"); rounds=${2:-2000}; repeats=${REPEATS:-1 2 3 4 5}
here=$(dirname "$(realpath "$0")")/nvidia
out=${OUT:-$(mktemp -d)}; mkdir -p "$out"
python=${PYTHON:-python3}
exec > >(tee "$out/nvidia-watch.txt") 2>&1
date -u +"date: %Y-%m-%d %H:%M UTC"; uname -r
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
$python -c 'import torch; print("torch", torch.__version__, "CUDA", torch.version.cuda)'
"$tool" --version

# CUPTI's header and library: the toolkit's, or those of the Python packages.
roots="/usr/local/cuda /usr/local/cuda/extras/CUPTI $($python - <<'P'
import glob, os, sys
print(" ".join(sorted({p for s in sys.path if os.path.isdir(s) for p in glob.glob(s + "/nvidia/*")} )))
P
)"
header=$(for r in $roots; do find -L "$r" -name cupti.h 2>/dev/null; done | head -1)
cudah=$(for r in $roots; do find -L "$r" -name cuda.h 2>/dev/null; done | head -1)
library=$(for r in $roots; do find -L "$r" -name 'libcupti.so*' 2>/dev/null; done | head -1)
echo "cupti: ${header:-none} ${library:-none}"
built=
for struct in CUpti_ActivityKernel11 CUpti_ActivityKernel10 CUpti_ActivityKernel9 CUpti_ActivityKernel8; do
    if gcc -shared -fPIC -O1 -DKERNEL=$struct -I"$(dirname "$header")" -I"$(dirname "$cudah")" "$here/cupti.c" -o "$out/cupti.so" "$library" \
        -Wl,-rpath,"$(dirname "$library")" 2>"$out/gcc.txt"; then built=$struct; break; fi
done
[ -n "$built" ] || { echo "cupti.c did not compile:"; tail -5 "$out/gcc.txt"; exit 2; }

field() { $python -c 'import json,sys; print(json.loads(open(sys.argv[1]).read().strip().splitlines()[-1])[sys.argv[2]])' "$1" "$2"; }
job() { # how, run: the job's own line goes to HOW.RUN.job
    local at=$out/$1.$2
    case $1 in
        plain) $python "$here/job.py" "$rounds" > "$at.job" ;;
        cupti) CUDA_INJECTION64_PATH="$out/cupti.so" CUPTI_OUT="$at.tsv" $python "$here/job.py" "$rounds" > "$at.job" ;;
        *) "$tool" watch --how "$1" --format json -- $python "$here/job.py" "$rounds" 2> "$at.err" > "$at.json"
           grep '^{"hash"' "$at.err" > "$at.job" ;;
    esac
}
job plain warm || { cat "$out/plain.warm.job"; exit 2; }
# In turn, so that other load affects all of them equally.
hows="plain cupti uprobe preload"
for run in $repeats; do for how in $hows; do job $how "$run" 2>> "$out/jobs.err"; done; done
first=${repeats%% *}
reference=$(field "$out/plain.$first.job" hash)
launches=$(awk -F'\t' '$2 != "DROPPED" { n += $1 } END { print n }' "$out/cupti.$first.tsv")
echo "launches that CUPTI counts: $launches"
echo "whole runs:"
for how in $hows; do for run in $repeats; do echo "$how $(field "$out/$how.$run.job" seconds)"; done; done | $python "$here/times.py" "$launches"
# Four fifths of the launches are made one by one, in the timed part.
block=$((launches * 4 / 5 * 50 / rounds))
for which in middle best; do
    echo "the $which block of fifty rounds of each run, $block launches:"
    for how in $hows; do for run in $repeats; do echo "$how $(field "$out/$how.$run.job" ${which}_block)"; done; done | $python "$here/times.py" "$block"
done
status=0
for how in uprobe preload; do
    $python "$here/compare.py" "$out/cupti.$first.tsv" "$out/$how.$first.json" || status=1
done
same=yes
for how in $hows; do for run in $repeats; do
    [ "$(field "$out/$how.$run.job" hash)" = "$reference" ] || { echo "$how: run $run gave other results"; same=; status=1; }
done; done
[ -n "$same" ] && echo "results: identical in every run"

# Late attach: everything was loaded and launched once before the attach. The launches after that are CUPTI's count of
# the whole job minus its count of a job without rounds. A fifth of them are replays of a graph that was captured too
# early to be known.
CUDA_INJECTION64_PATH="$out/cupti.so" CUPTI_OUT="$out/cupti.none.tsv" $python "$here/job.py" 0 > "$out/cupti.none.job"
go="$out/go"; rm -f "$go"
$python "$here/job.py" "$rounds" "$go" > "$out/late.job" & pid=$!
until grep -q ready "$out/late.job" 2>/dev/null; do kill -0 $pid 2>/dev/null || break; sleep 0.1; done
begun=$(date +%s.%N)
( "$tool" watch --pid $pid --format json > "$out/late.json" 2> "$out/late.err" ) & watch=$!
# It prints a line when the probes are in place.
for i in $(seq 1200); do grep -q . "$out/late.err" 2>/dev/null && break; kill -0 $watch 2>/dev/null || break; sleep 0.1; done
echo "late attach: in place after $($python -c "import sys, time; print(f'{time.time() - float(sys.argv[1]):.1f}')" "$begun") s"
touch "$go"; wait $pid; wait $watch
$python "$here/late.py" "$out/late.json" "$out/cupti.1.tsv" "$out/cupti.none.tsv" || status=1
[ -n "${CERTIFY-yes}" ] && { HASH_ONLY=1 "$here/certify.sh" "$tool" "$out/cupti.so" "$out" "$python" "$here/job.py" "$rounds" || status=1; }
echo "status $status"
exit $status
