/* The worker: Python runs here, beside the page, so that the page never waits for it. boot.js has fetched
   and checked every byte, this script among them: the build puts Pyodide's own two scripts below it. Each
   message goes to `receive` of the Python module that boot.js names, and its answer back. */
const files = {}, bring = {}, LATER = "more.wasm";
const file = (name) => (files[name] ??= new Promise((resolve) => (bring[name] = resolve))); // on its way
const compiled = async (name) => WebAssembly.compile(await file(name));
let python = null, whole = false;
self.onmessage = ({ data }) => {
  if (data.name) return file(data.name), bring[data.name](data.given);
  return (python ??= start(data))
    .then(async (receive) => data.message && postMessage({ answer: await receive(data.message, data.files) }))
    .catch((error) => postMessage({ failed: String(error?.message ?? error), whole }));
};
async function start({ base, module }) {
  self.fetch = async (request) => new Response(await file(String(request.url ?? request).slice(base.length)));
  const core = compiled("pyodide.asm.wasm"), numpy = compiled("numpy.wasm");
  WebAssembly.instantiateStreaming = (_, imports) => core.then(async (module) => (
    { module, instance: await WebAssembly.instantiate(module, imports) }));
  const failed = new Promise((_, fail) => (onerror = onunhandledrejection = (e) => fail(e.reason ?? e)));
  const options = { indexURL: base, stdLibURL: `${base}first.wasm`, lockFileContents: LOCK };
  const pyodide = await Promise.race([self.loadPyodide(options), failed]);
  const { loadWebAssemblyModule, LDSO } = pyodide._module, flags = { loadAsync: true, nodelete: true };
  const exports = await loadWebAssemblyModule(await numpy, flags, LIBRARY, {});
  LDSO.loadedLibsByName[LIBRARY] = { name: LIBRARY, refcount: Infinity, global: false, exports };
  file(LATER).then((bytes) => {
    pyodide.FS.writeFile(`/lib/${LATER}`, bytes);
    pyodide.pyimport("sitecustomize").FINDER.add(`/lib/${LATER}`);
    pyodide.FS.unlink(`/lib/${LATER}`);
    whole = true;
  });
  return pyodide.pyimport(module).receive;
}
