// Runs the WebAssembly module. Files are read in pieces through FileReaderSync, so that no file is in memory as a whole.
"use strict";
const PIECE = 4 << 20;
let exports = null;
let file = null;
let cached = { from: 0, bytes: new Uint8Array(0) };
let read = { bytes: 0, told: 0 };

function piece(from, to) {
  return new Uint8Array(new FileReaderSync().readAsArrayBuffer(file.slice(from, to)));
}

const page = {
  // Copies `len` bytes from `offset` to the module's memory; 0 if they can't be read.
  read(offset, len, to) {
    try {
      const end = offset + len;
      let bytes;
      if (len >= PIECE) {
        bytes = piece(offset, end);
      } else {
        if (offset < cached.from || end > cached.from + cached.bytes.length) {
          cached = { from: offset, bytes: piece(offset, offset + PIECE) };
        }
        bytes = cached.bytes.subarray(offset - cached.from, end - cached.from);
      }
      if (bytes.length !== len) return 0;
      new Uint8Array(exports.memory.buffer, to, len).set(bytes);
      read.bytes += len;
      const now = Date.now();
      if (now - read.told > 100) {
        read.told = now;
        postMessage({ progress: { read: read.bytes, at: end, size: file.size } });
      }
      return 1;
    } catch {
      // The file was removed or changed since it was chosen.
      return 0;
    }
  },
};

async function load(packed) {
  let result;
  if (packed) {
    const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    result = await WebAssembly.instantiate(await new Response(stream).arrayBuffer(), { page });
  } else {
    const response = await fetch("whichkernel.wasm");
    if (!response.ok) throw new Error("whichkernel.wasm: " + response.status);
    // Not streaming: a plain static server may not know the media type.
    result = await WebAssembly.instantiate(await response.arrayBuffer(), { page });
  }
  exports = result.instance.exports;
}

function ask(request) {
  const question = new TextEncoder().encode(request);
  const at = exports.alloc(question.length);
  new Uint8Array(exports.memory.buffer, at, question.length).set(question);
  const packed = BigInt.asUintN(64, exports.ask(at, question.length, file ? file.size : -1));
  const [from, len] = [Number(packed >> 32n), Number(packed & 0xffffffffn)];
  const answer = new TextDecoder().decode(new Uint8Array(exports.memory.buffer, from, len));
  exports.free(from, len);
  return { answer: JSON.parse(answer), memory: exports.memory.buffer.byteLength };
}

let ready = null;
onmessage = async ({ data }) => {
  if ("module" in data) {
    ready = load(data.module);
    return;
  }
  try {
    await ready;
    if (data.file) {
      file = data.file;
      cached = { from: 0, bytes: new Uint8Array(0) };
    }
    read = { bytes: 0, told: 0 };
    const { answer, memory } = ask(data.request);
    postMessage({ answer: Object.assign(answer, { memory }) });
  } catch (error) {
    postMessage({ failed: String(error && error.message ? error.message : error) });
  }
};
