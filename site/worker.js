/* The worker: Python runs here, beside the page, so that the page never waits for it. boot.js has fetched
   and checked every byte, this script among them: the build puts Pyodide's own two scripts below it. Each
   message goes to `receive` of the Python module that boot.js names, and its answer back. What the first
   step does not need comes later, as `more`: what fails without it waits for it, and is tried again.
   When the reader pauses, another worker starts a Python that gets nothing of the reader's and rehearses a
   step. The memory that it has then stays in the browser, and the next visit begins with it: if it has its
   hash, is of this browser, and every visit that began with it has had an answer. */
const CORE = "pyodide.asm.wasm", NUMPY = "numpy.wasm", FIRST = "first.wasm", LATER = "more.wasm";
const PAUSE = 5000, LONGEST = 60000; // milliseconds without a message; that the other worker may take
const files = {}, bring = {};
const file = (name) => (files[name] ??= new Promise((resolve) => (bring[name] = resolve)));
let python = null, arrived = false, store = null, at, pause, afterwards;
self.onmessage = ({ data }) => {
  if (data.name) return file(data.name), bring[data.name](data.given);
  clearTimeout(pause);
  return (python ??= start(data))
    .then(async (receive) => data.message && postMessage({ answer: await answered(receive, data) }))
    .then(() => data.message && afterwards?.())
    .catch((error) => postMessage({ failed: String(error?.message ?? error) }, forget()));
};

async function start({ base, module, keeps, rehearsal }) {
  self.fetch = async (request) => { // for what is on its way
    const name = String(request.url ?? request).slice(base.length);
    return new Response(name === CORE ? "" : await file(name));
  };
  WebAssembly.instantiateStreaming = async (_, imports) => {
    const module = await file(CORE); // compiled, as NumPy's library is
    return { module, instance: await WebAssembly.instantiate(module, imports) };
  };
  const create = self._createPyodideModule; // NumPy's library comes first: so it lies where it always lies
  self._createPyodideModule = (settings) => (settings.preRun.push(library), create(settings));
  const failed = new Promise((_, fail) => (onerror = onunhandledrejection = (e) => fail(e.reason ?? e)));
  const options = { indexURL: base, stdLibURL: base + FIRST, lockFileContents: LOCK };
  const load = (more) => Promise.race([self.loadPyodide({ ...options, ...more }), failed]);
  [at, store] = [base, keeps ? await opened(base).catch(() => null) : null]; // none in a frame
  if (rehearsal) {
    const pyodide = await load({ _makeSnapshot: true });
    pyodide.pyimport(module).rehearse();
    return keep(pyodide.makeMemorySnapshot()).then(close);
  }
  const memory = store && (await kept().catch(forget));
  const pyodide = await load({ _loadSnapshot: memory });
  const { FINDER, ARCHIVE } = pyodide.pyimport("sitecustomize");
  if (memory) FINDER.place(ARCHIVE);
  file(LATER).then((bytes) => {
    pyodide.FS.writeFile(`/lib/${LATER}`, bytes);
    FINDER.add(`/lib/${LATER}`);
    pyodide.FS.unlink(`/lib/${LATER}`);
    arrived = true;
  });
  if (memory) afterwards = () => store.delete(`${at}tried`);
  else if (store) afterwards = () => (pause = setTimeout(rehearse, PAUSE, { base, module, keeps }));
  return pyodide.pyimport(module).receive;
}
async function library(python) {
  python.addRunDependency(LIBRARY);
  const flags = { loadAsync: true, nodelete: true };
  const exports = await python.loadWebAssemblyModule(await file(NUMPY), flags, LIBRARY, {});
  python.LDSO.loadedLibsByName[LIBRARY] = { name: LIBRARY, refcount: Infinity, global: false, exports };
  python.removeRunDependency(LIBRARY);
}

async function answered(receive, { message, files }) {
  if (arrived) return receive(message, files);
  try {
    return await receive(message, files);
  } catch {
    postMessage({ status: "more" });
    await file(LATER);
    return receive(message, files);
  }
}

function rehearse(how) {
  afterwards = null;
  const policy = self.trustedTypes?.createPolicy("microgpt", { createScriptURL: (url) => url });
  const other = new Worker(policy?.createScriptURL(location.href) ?? location.href);
  other.onerror = (event) => event.preventDefault();
  for (const name of [CORE, NUMPY, FIRST]) file(name).then((given) => other.postMessage({ name, given }));
  other.postMessage({ ...how, rehearsal: true });
  setTimeout(() => other.terminate(), LONGEST);
}
const opened = async (base) => caches.open(base.replace(/[^/]+\/$/, "")); // as offline.js calls it
async function about(bytes) {
  const hash = await crypto.subtle.digest("SHA-256", bytes);
  return `${navigator.userAgent} ${new Uint8Array(hash)}`;
}
async function keep(bytes) {
  const older = (await store.keys()).filter(({ url }) => /\/(memory|tried)$/.test(url));
  await Promise.all(older.map((request) => store.delete(request)));
  await store.put(`${at}memory`, new Response(bytes, { headers: { about: await about(bytes) } }));
}
async function kept() { // raises on any doubt
  const [answer, doubt] = await Promise.all(["memory", "tried"].map((name) => store.match(at + name)));
  const bytes = new Uint8Array(await answer.arrayBuffer());
  await store.put(`${at}tried`, new Response());
  if (doubt || answer.headers.get("about") !== (await about(bytes))) throw new Error("doubt");
  return bytes;
}
async function forget() {
  await Promise.all(["memory", "tried"].map((name) => store?.delete(at + name)));
}
