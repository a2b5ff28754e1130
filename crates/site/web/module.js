// The WebAssembly module in a worker: one question at a time, in order.
(function () {
  "use strict";
  let worker = null;
  let waiting = [];

  /** From disk, a page may neither start a worker from a file nor fetch one: `offline.js` has both as text. */
  function offlineParts() {
    if (location.protocol !== "file:" || window.whichkernelOffline) return Promise.resolve(window.whichkernelOffline);
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.onload = () => resolve(window.whichkernelOffline);
      script.onerror = () => reject(new Error("offline.js is missing: serve the folder instead of opening it from disk"));
      script.src = "offline.js";
      document.head.append(script);
    });
  }
  let starting = null;

  async function start() {
    const offline = await offlineParts();
    const url = offline ? URL.createObjectURL(new Blob([offline.worker], { type: "text/javascript" })) : "worker.js";
    worker = new Worker(url);
    worker.onmessage = ({ data }) => {
      if (data.progress) {
        if (waiting[0] && waiting[0].progress) waiting[0].progress(data.progress);
        return;
      }
      // After an error the module's memory may be in any state: the next question starts a new one.
      if (data.failed) fail(data.failed);
      else waiting.shift().resolve(data.answer);
    };
    worker.onerror = (event) => fail(event.message || "the worker could not be started");
    worker.postMessage({ module: offline ? offline.module : null });
  }
  function fail(why) {
    const lost = waiting;
    stop();
    for (const asked of lost) asked.reject(new Error(why));
  }
  function stop() {
    if (worker) worker.terminate();
    [worker, starting] = [null, null];
    waiting = [];
  }

  /** Answers a question; `file` is kept by the worker for later questions, `progress` hears how much was read. */
  async function ask(request, file, progress) {
    if (!worker) await (starting = starting || start());
    return new Promise((resolve, reject) => {
      waiting.push({ resolve, reject, progress });
      worker.postMessage({ request: JSON.stringify(request), file });
    });
  }
  window.wk.ask = ask;
  /** Ends whatever the worker does; the next question starts a new one. */
  window.wk.stop = () => {
    const lost = waiting;
    stop();
    for (const asked of lost) asked.reject(null);
  };
})();
