/* The worker: Python runs here, beside the page, so that the page never waits for it. boot.js has fetched
   and checked every byte, this script among them: the build puts Pyodide's own two scripts below it. Each
   message goes to `receive` of the Python module that boot.js names, and its answer back. */
let python = null;
self.onmessage = ({ data }) =>
  (python ??= start(data))
    .then(async (receive) => data.message && postMessage({ answer: await receive(data.message, data.files) }))
    .catch((error) => postMessage({ message: String(error?.message ?? error) }));

async function start({ base, packages, module, files }) {
  self.fetch = async (request) => { // Pyodide asks for what is here, and gets the type that it insists on
    const name = String(request.url ?? request).slice(base.length);
    const headers = { "Content-Type": name.endsWith(".wasm") ? "application/wasm" : "" };
    return new Response(files[name] ?? null, { headers, status: files[name] ? 200 : 404 });
  };
  const failed = new Promise((_, fail) => (onerror = onunhandledrejection = (e) => fail(e.reason ?? e)));
  const starting = self.loadPyodide({ indexURL: base, packages, checkIntegrity: false });
  return (await Promise.race([starting, failed])).pyimport(module).receive;
}
