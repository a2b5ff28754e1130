#!/bin/bash
# build.sh hip|cuda HEADERS SOURCES OUT [ops]: compiles the host side of a ggml tree's CUDA backend and links it with driver.cu,
# or with ops.cu and the units of flash attention, RoPE and get_rows.
# HEADERS: a root with usr/include/hip (hip), or a CUDA toolkit's root (cuda). Existing objects are kept.
set -u
vendor=$1 headers=$2 sources=$3 out=$4 driver=driver
[ "${5:-}" = ops ] && driver=ops
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out/$vendor" && out=$(cd "$out" && pwd) && cd "$sources" || exit 2
# The header that CMake would generate.
printf '#define GGML_VERSION "x"\n#define GGML_COMMIT "x"\n' > "$out/ggml-version.h"
dispatcher=$(find . -name ggml-cuda.cu | head -1)
[ -n "$dispatcher" ] || { echo "no ggml-cuda.cu in $sources" >&2; exit 2; }
core=$(dirname "$(find . -path '*ggml/src/ggml-backend-impl.h' -o -path './ggml-backend-impl.h' | head -1)")
cuda=$core/ggml-cuda
include="-include cstring -I$here/$vendor -I$out -I$core/../include -I$core -I$cuda -I."
common="-DNDEBUG -DGGML_USE_CUDA -DGGML_USE_CUBLAS -DGGML_CUDA_DMMV_X=32 -DGGML_CUDA_MMV_Y=1 -DK_QUANTS_PER_ITERATION=2 -DGGML_CUDA_PEER_MAX_BATCH_SIZE=128 -D_GNU_SOURCE -DGGML_SCHED_MAX_COPIES=4"
if [ "$vendor" = hip ]; then
    # On the host, the wave size is 64 according to the compiler's own definition, in versions that still have one.
    flags="-x hip --cuda-host-only --rocm-path=$headers/usr -nogpulib -D__HIP_PLATFORM_AMD__ -D__AMDGCN_WAVEFRONT_SIZE=64 -DGGML_USE_HIP -DGGML_USE_HIPBLAS -DGGML_HIP_NO_VMM $include -I$headers/usr/include"
    names='_?_?hip[A-Za-z0-9_]+$'
else
    flags="-x cuda --cuda-host-only --cuda-path=$headers -nocudalib -Wno-unknown-cuda-version -U__CUDA_ARCH_LIST__ -D__CUDA_ARCH_LIST__=610,750,900 -DGGML_CUDA_NO_VMM $include -I$headers/include -I$headers/include/cccl"
    names='_?_?cu(da)?[A-Z][A-Za-z0-9_]+$'
fi
# Facts about a version that the questions need: where a tensor stores its location, and whether the devices are
# globals.
header=$(cat "$core/../include/ggml.h" "$core/ggml.h" "$core/../include/ggml-backend.h" "$core/ggml-backend.h" 2> /dev/null)
says() { grep -oE -m1 "\b($1)\b" <<< "$header" | head -1; }
grep -q 'enum ggml_backend_type *backend;' <<< "$header" && common="$common -DOLD_BACKEND=$(says 'GGML_BACKEND_TYPE_GPU|GGML_BACKEND_GPU')"
grep -q 'g_device_caps\[' "$dispatcher" && common="$common -DOLD_GLOBALS=$(says 'GGML_TASK_TYPE_COMPUTE|GGML_TASK_COMPUTE')"
grep -q GGML_BACKEND_BUFFER_USAGE_WEIGHTS <<< "$header" && common="$common -DBUFFER_USAGE"
units="$here/$driver.cu"
for unit in mmq mmvq mmv mmvf mmf dmmv quantize convert; do [ -e "$cuda/$unit.cu" ] && units="$units $cuda/$unit.cu"; done
for type in q4_0 q4_k q5_k q6_k q8_0 iq1_s; do
    unit=$cuda/template-instances/mmq-instance-$type.cu
    [ -e "$unit" ] && units="$units $unit"
done
for unit in "$cuda"/template-instances/mmf-*.cu; do [ -e "$unit" ] && units="$units $unit"; done
if [ $driver = ops ]; then
    for unit in "$cuda"/fattn*.cu "$cuda"/{rope,getrows,mmid,convert,topk-moe,set-rows}.cu "$cuda"/template-instances/fattn-{mma,tile,wmma}*.cu \
        "$cuda"/template-instances/fattn-vec*{f16-f16,bf16-bf16,q4_0-q4_0,q8_0-q8_0}.cu "$cuda"/template-instances/mmq-instance-{q5_0,q5_1,iq4_xs,mxfp4}.cu; do
        [ -e "$unit" ] && units="$units $unit"
    done
    units=$(printf '%s\n' $units | sort -u)
    # Since 2026-08 the build states for each pair of cache types whether its vector kernels exist; by default these do.
    for k in F16 BF16 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0; do for v in F16 BF16 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0; do
        case $k-$v in F16-F16 | BF16-BF16 | Q4_0-Q4_0 | Q8_0-Q8_0) built=1 ;; *) built=0 ;; esac
        common="$common -DGGML_CUDA_FA_${k}_$v=$built"
    done; done
fi
compiler=$(command -v clang++-22 || command -v clang++-21) || { echo "no clang++-22 or clang++-21 here" >&2; exit 2; }
one() {
    object=$out/$vendor/$(basename "$1" .cu).o
    [ -e "$object" ] && return
    $compiler $flags $common -O0 -std=gnu++17 -c -w -ferror-limit=2 -DDISPATCHER="\"$dispatcher\"" "$1" -o "$object" 2> "$object.err" ||
        { echo "$1 does not compile:" >&2; grep -m1 error "$object.err" >&2; }
}
export -f one; export out vendor compiler flags common dispatcher
printf '%s\n' $units | xargs -P"${JOBS:-$(nproc)}" -I{} bash -c 'one {}'
[ -e "$out/$vendor/$driver.o" ] || exit 1
for unit in ggml.c ggml.cpp ggml-backend.c ggml-backend.cpp ggml-quants.c ggml-alloc.c ggml-backend-reg.cpp ggml-backend-meta.cpp ggml-threading.cpp; do
    [ -e "$core/$unit" ] && [ ! -e "$out/$vendor/$unit.o" ] || continue
    case $unit in *.c) cc="gcc -std=gnu11" ;; *) cc="g++ -std=gnu++17" ;; esac
    $cc -w -O0 -c -I"$out" -I"$core/../include" -I"$core" -I. -D_GNU_SOURCE -DGGML_SCHED_MAX_COPIES=4 $([ -e "$core/ggml-version.h.in" ] || echo '-DGGML_VERSION="x" -DGGML_COMMIT="x"') "$core/$unit" -o "$out/$vendor/$unit.o" || exit 1
done
# All other functions of the runtime succeed and do nothing.
cd "$out" || exit 2
objects=$(ls $vendor/*.o | grep -vE '/(driver|ops)\.o$'; echo $vendor/$driver.o)
[ $driver = ops ] && program=ops-$vendor || program=oracle-$vendor
nm -u $objects | grep -oE "\b$names" | sort -u > $vendor.asked
nm --defined-only $vendor/$driver.o | awk '{print $3}' | sort -u > $vendor.given
comm -23 $vendor.asked $vendor.given | grep -v '^__hip_fatbin' | awk '{print ".globl "$1"\n"$1":\n xor %eax,%eax\n ret"}' > $vendor.s
gcc -c $vendor.s -o $vendor.stubs && $compiler -no-pie $objects $vendor.stubs -Wl,--unresolved-symbols=ignore-all -lpthread -lm -ldl -o $program && nm $program > $program.names
