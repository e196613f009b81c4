"use strict";
// The scheduler, beside the page: what it reads may be long, and the page goes on meanwhile.
// It takes requests as JSON and answers each in turn.

importScripts("wasm_exec.js");

onmessage = (e) => {
  try {
    postMessage({ reply: berthCall(e.data) });
  } catch (error) {
    postMessage({ ended: error.message });
  }
};

// berthReady is called by the scheduler when it is there.
globalThis.berthReady = () => postMessage({ ready: true });

async function start() {
  const answer = await fetch("berth.wasm.gz");
  if (!answer.ok) throw new Error(`berth.wasm.gz: the server says ${answer.status}`);
  let bytes = await answer.arrayBuffer();
  const begin = new Uint8Array(bytes, 0, 2);
  if (begin[0] === 0x1f && begin[1] === 0x8b) { // otherwise the browser has unpacked it
    bytes = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  }
  const go = new Go();
  const { instance } = await WebAssembly.instantiate(bytes, go.importObject);
  await go.run(instance);
  throw new Error("the scheduler has stopped");
}

start().catch((error) => postMessage({ ended: error.message }));
