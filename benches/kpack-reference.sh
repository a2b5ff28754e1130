#!/usr/bin/env bash
# Splits a library with the reference tools of kpack and compares whichkernel's results before and after.
#   benches/kpack-reference.sh LIBRARY RUN_OF_ROCM_KPACK/python [none|zstd]
# The second argument is the `python` directory of a checkout of ROCm/rocm-kpack (or rocm-systems/shared/kpack); it needs the
# packages msgpack and zstandard. WHICHKERNEL names the program [default: target/release/whichkernel].
set -euo pipefail
library=$1 reference=$2 scheme=${3:-zstd}
program=${WHICHKERNEL:-target/release/whichkernel}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$program" inspect "$library" --extract "$work/objects"
PYTHONPATH=$reference python3 - "$library" "$work" "$scheme" <<'PY'
import os, re, sys
from pathlib import Path
from rocm_kpack.compression import NoOpCompressor, ZstdCompressor
from rocm_kpack.elf.kpack_transform import kpack_offload_binary
from rocm_kpack.kpack import PackedKernelArchive

library, work, scheme = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
name = f"lib/{library.name}"
(work / "lib").mkdir()
kpack_offload_binary(library, work / name, ["../.kpack/split_@GFXARCH@.kpack"], name)
objects = {}
for file in sorted(os.listdir(work / "objects")):
    bundle, target = re.match(r"bundle_(\d+)\.(.+)\.hsaco", file).groups()
    objects.setdefault(re.sub(r"_(sramecc|xnack)", r":\1", target), []).append((int(bundle), file))
for target, files in objects.items():
    compressor = ZstdCompressor() if scheme == "zstd" else NoOpCompressor()
    archive = PackedKernelArchive("split", target.split(":")[0], [target], compressor=compressor)
    for bundle, file in files:
        data = (work / "objects" / file).read_bytes()
        archive.add_kernel(archive.prepare_kernel(f"{name}#{bundle}", target, data))
    archive.finalize_archive()
    archive.write(work / ".kpack" / f"split_{target}.kpack")
PY
packed=$work/lib/$(basename "$library")
list() { "$program" inspect "$1" --kernels --format csv | sort; }
count() { "$program" isa "$1" | tail -n +2; }
echo "kernels: $(list "$library" | wc -l) rows, $(cmp <(list "$library") <(list "$packed") && echo equal)"
echo "instructions: $(cmp <(count "$library") <(count "$packed") && echo equal)"
map() { "$program" inspect "$1" --launch-map --format csv | cut -d, -f1-3; }
echo "launch map: $(map "$library" | wc -l) rows, $(cmp <(map "$library") <(map "$packed") && echo equal)"
