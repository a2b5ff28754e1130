#!/usr/bin/env bash
# CPU time and memory of the agent while a program launches at a fixed rate; prints a line every minute, and at the end
# the share of a core and the least and most memory after the first minute. Needs root and a C compiler.
#   benches/agent.sh PROGRAM [seconds] [launches per second]
set -euo pipefail
program=$(realpath "${1:-target/release/whichkernel}")
seconds=${2:-3600}
rate=${3:-10000}
dir=$(mktemp -d)
trap 'kill $agent $launcher 2> /dev/null || true; wait 2> /dev/null || true; rm -rf "$dir"' EXIT
cat > "$dir/runtime.c" <<'C'
__asm__(".globl hipLaunchKernel\n.type hipLaunchKernel,@function\nhipLaunchKernel:\n"
        "endbr64\npush %rbp\npush %rbx\nsub $0x38,%rsp\nxor %eax,%eax\nadd $0x38,%rsp\npop %rbx\npop %rbp\nret\n"
        ".size hipLaunchKernel,.-hipLaunchKernel");
C
cat > "$dir/launcher.c" <<'C'
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
typedef struct { unsigned x, y, z; } dim3;
typedef int (*launch_t)(const void *, dim3, dim3, void **, unsigned long, void *);
static char kernels[64];
int main(int argc, char **argv) {
    launch_t launch = (launch_t)dlsym(dlopen(argv[1], RTLD_NOW), "hipLaunchKernel");
    long each = atol(argv[2]) / 100, count = 0;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (;;) {
        for (long i = 0; i < each; i++, count++)
            launch(&kernels[count % 64], (dim3){count % 4096, 1, 1}, (dim3){32, 1, 1}, 0, 0, 0);
        if ((next.tv_nsec += 10000000) >= 1000000000) { next.tv_nsec -= 1000000000; next.tv_sec++; }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, 0);
    }
}
C
cc -O1 -shared -fPIC -o "$dir/libamdhip64.so.6" "$dir/runtime.c"
cc -O1 -o "$dir/launcher" "$dir/launcher.c" -ldl
"$dir/launcher" "$dir/libamdhip64.so.6" "$rate" &
launcher=$!
port=$((20000 + RANDOM % 20000))
MALLOC_ARENA_MAX=1 MALLOC_TRIM_THRESHOLD_=131072 WHICHKERNEL_CACHE=$dir/cache "$program" agent --listen "127.0.0.1:$port" --for "$((seconds + 5))s" 2> "$dir/log" &
agent=$!
python3 - "$port" "$seconds" "$agent" <<'PY'
import re, sys, time, urllib.request
port, seconds, pid = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
def metrics():
    text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).read().decode()
    total = lambda name: sum(float(v) for v in re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.M))
    return {name: total("whichkernel_" + name) for name in ("launches_total", "launches_lost_total", "sampled_seconds_total", "observed_seconds_total")}
def used():
    words = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    rss = next(int(l.split()[1]) for l in open(f"/proc/{pid}/status") if l.startswith("VmRSS"))
    return (int(words[11]) + int(words[12]) + int(words[13]) + int(words[14])) / 100, rss / 1024
for _ in range(100):
    try: metrics(); break
    except OSError: time.sleep(0.2)
time.sleep(15)
start, (cpu0, _), first = time.time(), used(), metrics()
memory, told = [], 0
while time.time() - start < seconds - 15:
    time.sleep(5)
    cpu, rss = used()
    if time.time() - start > 60 or seconds < 120: memory.append(rss)
    if time.time() - start - told >= 60:
        told = time.time() - start
        print(f"{told:6.0f} s: {100 * (cpu - cpu0) / told:.2f} % of a core, {rss:.1f} MB", flush=True)
last, passed, (cpu, _) = metrics(), time.time() - start, used()
rate = (last["launches_total"] - first["launches_total"]) / (last["observed_seconds_total"] - first["observed_seconds_total"])
print(f"{passed:.0f} s, {rate:.0f} launches/s counted, {last['launches_lost_total']:.0f} lost: {100 * (cpu - cpu0) / passed:.2f} % of a core, "
      f"{min(memory):.1f} to {max(memory):.1f} MB, every launch looked at {100 * (last['sampled_seconds_total'] - first['sampled_seconds_total']) / passed:.1f} % of the time")
PY
