/* The bridge, Python side: fetches the runtime, or takes what the page carries, checks every byte (the browser imports
   the two scripts itself), starts Pyodide, then hands each message to `receive` of the module that boot.js names. */
const IDLE = 15000; // milliseconds without a byte before a download is given up
const fault = (why, error) => Object.assign(new Error(String(error?.message ?? error)), { why });
const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
const unpacked = async (base64) => // what a page carries; WebKit reads no Blob in a page without an origin
  new Response((await fetch(`data:;base64,${base64}`)).body.pipeThrough(new DecompressionStream("gzip")));
let python = null;
self.onmessage = ({ data }) =>
  (python ??= start(data))
    .then(async (receive) => data.message && postMessage({ answer: await receive(data.message, data.files) }))
    .catch((error) => postMessage({ why: error.why ?? "crash", detail: String(error.message ?? error) }));

async function start({ base, carried, module }) {
  const smallest = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
  if (!(await self.WebAssembly?.compile(smallest).catch(() => null))) throw fault("wasm", "WebAssembly is not allowed");
  const { packages, files } = await new Response(await get(base, "runtime.json", carried)).json();
  let done = 0, total = megabytes(Object.values(files).reduce((sum, { size }) => sum + size, 0));
  const count = (bytes) => postMessage({ status: "loading", done: megabytes((done += bytes)), total });
  const load = async (name) => [name, await get(base, name, carried, files[name], count)];
  const got = new Map(await Promise.all(Object.keys(files).map(load)));
  postMessage({ status: "starting" });
  const network = self.fetch; // Pyodide gets the checked bytes, with the right type, whatever the server says
  self.fetch = async (request, options) => {
    const name = String(request.url ?? request).slice(base.length);
    const headers = { "Content-Type": name.endsWith(".wasm") ? "application/wasm" : "" };
    return got.has(name) ? new Response(got.get(name), { headers }) : network(request, options);
  };
  const run = (name) => self.loadPyodide ? self : import(base + name); // a whole page has put both into this very script
  const failed = new Promise((_, reject) => {
    self.onerror = self.onunhandledrejection = (event) => reject(fault("crash", event.reason ?? event.message));
  });
  const starting = Promise.all([run("pyodide.js"), run("pyodide.asm.js")]) // the second for the first to find
    .then(([{ loadPyodide }]) => loadPyodide({ indexURL: base, packages, checkIntegrity: false }));
  return (await Promise.race([starting, failed])).pyimport(module).receive;
}
async function get(base, name, carried, { size, sha256 } = {}, count = () => {}, cache = "default") {
  const stop = new AbortController(), chunks = [], wait = () => setTimeout(() => stop.abort(), IDLE);
  let timer = wait();
  try {
    const answer = await (carried[name] ? unpacked(carried[name]) : fetch(base + name, { signal: stop.signal, cache }));
    if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
    for (let reader = answer.body.getReader(), part; !(part = await reader.read()).done; chunks.push(part.value)) {
      timer = clearTimeout(timer) ?? wait();
      count(part.value.length);
    }
    const bytes = new Uint8Array(chunks.reduce((sum, part) => sum + part.length, 0));
    chunks.reduce((at, part) => (bytes.set(part, at), at + part.length), 0);
    const hash = sha256 && (await self.crypto?.subtle?.digest("SHA-256", bytes)); // absent on plain http
    const hex = hash && Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
    if ((size && size !== bytes.byteLength) || (hex && hex !== sha256)) throw fault("hash", `${name} is damaged`);
    return bytes;
  } catch (error) {
    count(-chunks.reduce((sum, part) => sum + part.length, 0));
    if (cache === "reload") throw error.why ? error : fault("network", error);
    return get(base, name, carried, { size, sha256 }, count, "reload"); // once more, past the browser's cache
  }
}
