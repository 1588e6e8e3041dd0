/* The bridge, Python side: fetches the whole runtime, checks every byte, starts Pyodide, then hands each message
   to `receive` of the module that boot.js names. It knows no page. */
const IDLE = 15000; // milliseconds without a byte before a download is given up
const fault = (why, error) => Object.assign(new Error(String(error?.message ?? error)), { why });
const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
let python = null;
self.onmessage = ({ data }) =>
  (python ??= start(data))
    .then((receive) => postMessage({ answer: receive(data.message) }))
    .catch((error) => postMessage({ why: error.why ?? "crash", detail: String(error.message ?? error) }));

async function start({ base, module }) {
  const smallest = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
  if (!(await self.WebAssembly?.compile(smallest).catch(() => null))) throw fault("wasm", "WebAssembly is not allowed");
  const manifest = JSON.parse(new TextDecoder().decode(await get(base + "runtime.json", {}, () => {})));
  const wanted = Object.entries(manifest.files);
  const total = megabytes(wanted.reduce((sum, [, { size }]) => sum + size, 0));
  let done = 0;
  const count = (bytes) => postMessage({ status: "loading", done: megabytes((done += bytes)), total });
  const files = new Map(
    await Promise.all(wanted.map(async ([name, file]) => [name, await get(base + name, file, count)])));
  postMessage({ status: "starting" });

  const from_network = self.fetch; // Pyodide gets the checked bytes, with the right type, whatever the server says
  self.fetch = async (request, options) => {
    const name = String(request.url ?? request).slice(base.length);
    const headers = { "Content-Type": name.endsWith(".wasm") ? "application/wasm" : "" };
    return files.has(name) ? new Response(files.get(name), { headers }) : from_network(request, options);
  };
  self.importScripts = () => { throw new TypeError("the page's policy allows import() only"); }; // Pyodide then uses it
  const failed = new Promise((_, reject) => {
    self.onerror = self.onunhandledrejection = (event) => reject(fault("crash", event.reason ?? event.message));
  });
  const options = { indexURL: base, packages: manifest.packages, checkIntegrity: false };
  const starting = import(base + "pyodide.mjs").then(({ loadPyodide }) => loadPyodide(options));
  return (await Promise.race([starting, failed])).pyimport(module).receive;
}

async function get(url, { size, sha256 }, count, again = false) {
  const stop = new AbortController(), chunks = [];
  let timer;
  const wait = () => { clearTimeout(timer); timer = setTimeout(() => stop.abort(), IDLE); };
  try {
    wait();
    const answer = await fetch(url, { signal: stop.signal, cache: again ? "reload" : "default" });
    if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
    for (let reader = answer.body.getReader(), part; !(part = await reader.read()).done; chunks.push(part.value)) {
      wait();
      count(part.value.length);
    }
    const bytes = await new Blob(chunks).arrayBuffer();
    const hash = sha256 && (await self.crypto?.subtle?.digest("SHA-256", bytes)); // absent on plain http
    const hex = hash && Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
    if ((size && size !== bytes.byteLength) || (hex && hex !== sha256)) throw fault("hash", `${url} is damaged`);
    return bytes;
  } catch (error) {
    count(-chunks.reduce((sum, part) => sum + part.length, 0));
    if (again) throw error.why ? error : fault("network", error);
    return get(url, { size, sha256 }, count, true); // once more, past the browser's cache
  } finally {
    clearTimeout(timer);
  }
}
