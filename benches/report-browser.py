"""First paint of the report's pages and the time of a search over every kernel, in a headless Chromium. Usage: report-browser.py FOLDER."""
import json, subprocess, sys, tempfile

folder = sys.argv[1]
profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
line = ('exec chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-background-networking '
        '--user-data-dir="$0" --remote-debugging-pipe about:blank 3<&0 4>&1 </dev/null >/dev/null 2>&1')
browser = subprocess.Popen(["sh", "-c", line, profile.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
state = {"id": 0, "session": None, "rest": b""}


def call(method, **params):
    state["id"] += 1
    message = {"id": state["id"], "method": method, "params": params}
    if state["session"]:
        message["sessionId"] = state["session"]
    browser.stdin.write(json.dumps(message).encode() + b"\0")
    browser.stdin.flush()
    while True:
        while b"\0" not in state["rest"]:
            piece = browser.stdout.read1(1 << 16)
            if not piece:
                sys.exit("the browser went away")
            state["rest"] += piece
        one, state["rest"] = state["rest"].split(b"\0", 1)
        said = json.loads(one)
        if said.get("id") == state["id"]:
            return said["result"] if "result" in said else sys.exit(str(said.get("error")))


def ask(script):
    said = call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
    if "exceptionDetails" in said:
        sys.exit(said["exceptionDetails"])
    return said["result"].get("value")


target = call("Target.createTarget", url="about:blank")["targetId"]
state["session"] = call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
call("Page.enable")
PAINT = """new Promise(done => { var look = () => { var p = performance.getEntriesByType('paint').filter(e => e.name === 'first-contentful-paint')[0];
  p && document.readyState === 'complete' ? done([p.startTime, performance.timing.loadEventEnd - performance.timing.navigationStart]) : setTimeout(look, 20); }; look(); })"""
SEARCH = """new Promise(done => { var q = document.querySelector('#kernels-search'), start = performance.now(); q.value = %s; q.dispatchEvent(new Event('input'));
  document.body.offsetHeight; requestAnimationFrame(() => setTimeout(() => done([performance.now() - start, document.querySelector('[data-kernels] .vt-count').textContent]), 0)); })"""
SORT = """new Promise(done => { var start = performance.now(); document.querySelector('[data-kernels] [data-sort=%s]').click(); document.body.offsetHeight;
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - start), 0)); })"""
for page in ["index", "map", "chain", "libraries", "observations", "inventory"]:
    times = []
    for _ in range(3):
        call("Page.navigate", url="about:blank")
        call("Page.navigate", url=f"file://{folder}/{page}.html#lang=en")
        times.append(ask(PAINT))
    best = min(times)
    print(f"first paint\t{page}.html\t{best[0]:.0f} ms (loaded after {best[1]:.0f} ms)")
if ask("document.querySelector('#kernels-search') !== null"):
    for words in ["mul_mat_q<Q4_K", "q4_k 112 gfx1100", "zzz", "a"]:
        times = [ask(SEARCH % json.dumps(words)) for _ in range(5)]
        print(f"search\t{words!r}\t{min(t[0] for t in times):.0f} to {max(t[0] for t in times):.0f} ms\t{times[0][1]}")
    ask(SEARCH % '""')
    for key in ["vgpr", "name", "target"]:
        print(f"sort\tby {key}\t{ask(SORT % key):.0f} ms")
browser.kill()
browser.wait()
