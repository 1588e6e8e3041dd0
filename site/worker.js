/* The bridge, Python side: fetches all of the runtime first, checks every byte, starts Pyodide, then hands each
   message to `receive` of the module that boot.js names. It knows no page. */
"use strict";
const IDLE = 15000; // milliseconds without a byte before a download is given up
const TYPES = { wasm: "application/wasm", json: "application/json", mjs: "text/javascript", js: "text/javascript" };
let python = null;

self.onmessage = async ({ data }) => {
  try {
    python ??= start(data);
    const receive = await python;
    postMessage({ answer: receive(data.message) });
  } catch (error) {
    postMessage({ why: error.why ?? "crash", detail: String(error.message ?? error) });
  }
};

async function start({ base, module }) {
  try {
    new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])); // the smallest there is
  } catch (error) {
    throw fault("wasm", error);
  }
  const manifest = JSON.parse(new TextDecoder().decode(await get(base + "runtime.json", {}, () => {})));
  const sizes = Object.values(manifest.files).map((file) => file.size);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  let done = 0, told = -1;
  const count = (bytes) => {
    done += bytes;
    if (Math.floor(done / 1e6) === told) return;
    told = Math.floor(done / 1e6);
    postMessage({ status: "loading", done: (done / 1e6).toFixed(1), total: (total / 1e6).toFixed(1) });
  };
  const fetched = Object.entries(manifest.files).map(async ([name, file]) => [name, await get(base + name, file, count)]);
  const files = new Map(await Promise.all(fetched));
  postMessage({ status: "starting" });

  const from_network = self.fetch; // Pyodide gets the checked bytes, with the right type, whatever the server says
  self.fetch = (request, options) => {
    const name = String(request.url ?? request).slice(base.length);
    if (!files.has(name)) return from_network(request, options);
    return Promise.resolve(new Response(files.get(name), { headers: { "Content-Type": TYPES[name.split(".").pop()] ?? "" } }));
  };
  self.importScripts = () => { throw new TypeError("import() is what the policy allows"); }; // Pyodide then uses that
  const failed = new Promise((_, reject) => {
    self.addEventListener("unhandledrejection", (event) => reject(fault("crash", event.reason)));
    self.addEventListener("error", (event) => reject(fault("crash", event.message)));
  });
  const { loadPyodide } = await import(base + "pyodide.mjs");
  const options = { indexURL: base, packages: manifest.packages, checkIntegrity: false };
  const pyodide = await Promise.race([loadPyodide(options), failed]);
  return pyodide.pyimport(module).receive;
}

async function get(url, file, count) {
  try {
    return await once(url, file, count, "default");
  } catch {
    return once(url, file, count, "reload"); // once more, past the browser's cache
  }
}

async function once(url, { size, sha256 }, count, cache) {
  const stop = new AbortController();
  let got = 0, timer = setTimeout(() => stop.abort(), IDLE);
  const chunks = [];
  try {
    const answer = await fetch(url, { signal: stop.signal, cache });
    if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
    for (let reader = answer.body.getReader(), part; !(part = await reader.read()).done; ) {
      clearTimeout(timer);
      timer = setTimeout(() => stop.abort(), IDLE);
      got += part.value.length;
      count(part.value.length);
      chunks.push(part.value);
    }
    const bytes = await new Blob(chunks).arrayBuffer();
    if (size !== undefined && size !== got) throw fault("hash", `${url} has ${got} bytes instead of ${size}`);
    if (sha256 && self.crypto?.subtle && sha256 !== (await digest(bytes))) throw fault("hash", `${url} is damaged`);
    return bytes;
  } catch (error) {
    count(-got);
    throw error.why ? error : fault("network", error);
  } finally {
    clearTimeout(timer);
  }
}

async function digest(bytes) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function fault(why, error) {
  return Object.assign(new Error(String(error?.message ?? error)), { why });
}
