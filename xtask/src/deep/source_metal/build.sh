#!/bin/sh
# build.sh SOURCES OUT CLANG OBJC: compiles the Metal backend of a tree with a device that is not there.
set -e
here=$(cd "$(dirname "$0")" && pwd); src=$1; out=$2; clang=$3; objc=$4
mkdir -p "$out/include/Foundation" "$out/include/Metal" "$out/obj"
echo '#include "apple.h"' > "$out/include/Foundation/Foundation.h"
echo '#include "apple.h"' > "$out/include/Metal/Metal.h"
printf '#define GGML_VERSION "0"\n#define GGML_COMMIT "0"\n' > "$out/include/ggml-version.h"
g=$src/ggml; m=$g/src/ggml-metal
flags="-O0 -w -fPIC -D_GNU_SOURCE -DNDEBUG -DGGML_METAL_EMBED_LIBRARY=1 -include $out/include/ggml-version.h -I$out/include -I$g/include -I$g/src -I$m"
mac="-DTARGET_OS_OSX=1 -DTARGET_OS_IOS=0 -DTARGET_OS_TV=0 -DTARGET_CPU_X86_64=0 -DTARGET_OS_VISION=0 -D__MAC_OS_X_VERSION_MAX_ALLOWED=260000"
inc="-I$here -I$out/include -I$objc/include -I$objc/usr/include"
for f in ggml.c ggml-alloc.c ggml-quants.c; do gcc -std=gnu11 $flags -c "$g/src/$f" -o "$out/obj/$f.o" & done
for f in ggml.cpp ggml-backend.cpp ggml-backend-meta.cpp ggml-threading.cpp; do [ -f "$g/src/$f" ] && g++ -std=gnu++17 $flags -c "$g/src/$f" -o "$out/obj/$f.o" & done
for f in "$m"/*.cpp; do g++ -std=gnu++17 -include memory $flags -c "$f" -o "$out/obj/$(basename "$f").o" & done
# The runtime of GCC has no subscripts of objects: they are written as the messages that they stand for.
for f in "$m"/*.m; do
    sed -e 's/\([A-Za-z_>-]*\(cmd_bufs_ext\|->data\)\)\[\([a-z]*\)\]/[\1 objectAtIndexedSubscript:\3]/g' \
        -e 's/index\[fname\] = \(.*\);/[index setObject:\1 forKey:fname];/' \
        -e 's/lib->fn_to_lib\[base_func\]/[lib->fn_to_lib objectForKeyedSubscript:base_func]/' \
        -e 's/\(\[\[NSProcessInfo processInfo\] arguments\]\)\[0\]/[\1 objectAtIndexedSubscript:0]/' \
        -e 's/atts\[NSFileType\]/[atts objectForKey:NSFileType]/' "$f" > "$out/$(basename "$f")"
done
for f in "$out"/*.m "$here/fake.m"; do
    $clang -x objective-c -std=gnu11 -fobjc-runtime=gcc -fobjc-exceptions -fblocks -fconstant-string-class=NSConstantString $flags $mac $inc -c "$f" -o "$out/obj/$(basename "$f").o" &
done
g++ -std=gnu++17 $flags -c "$here/driver.cpp" -o "$out/obj/driver.o" &
wait
# The embedded shaders: their contents decide nothing.
grep -ho 'ggml_metallib[a-z0-9_]*_\(start\|end\)' "$m"/*.m | sort -u > "$out/symbols"
sed -n 's/^ *X([A-Z0-9_]*, *\([a-z0-9_]*\)).*/\1/p' "$m"/ggml-metal-device.m | sort -u | sed 's/.*/ggml_metallib_&_start\nggml_metallib_&_end/' >> "$out/symbols"
sort -u "$out/symbols" | grep -v '__' | sed 's/.*/const char &[1] = "";/' > "$out/shaders.c"
gcc -c "$out/shaders.c" -o "$out/obj/shaders.o"
g++ "$out"/obj/*.o -L"$objc/usr/lib/x86_64-linux-gnu" -l:libobjc.so.4 -l:libBlocksRuntime.so.0 -lpthread -lm -Wl,-rpath,"$objc/usr/lib/x86_64-linux-gnu" -o "$out/driver"
