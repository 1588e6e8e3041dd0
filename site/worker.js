/* The worker: Python runs here, beside the page, so that the page never waits for it. boot.js has fetched
   and checked every byte, this script among them: the build puts Pyodide's own two scripts below it. Each
   message goes to `receive` of the Python module that boot.js names, and its answer back. What the first
   step does not need comes later, as `more`: what fails without it waits for it, and is tried again. */
let python = null, arrived = false;
const LATER = "more.wasm", files = {}, bring = {};
const file = (name) => (files[name] ??= new Promise((resolve) => (bring[name] = resolve)));
self.onmessage = ({ data }) => {
  if (data.name) return file(data.name), bring[data.name](data.bytes);
  return (python ??= start(data))
    .then(async (receive) => data.message && postMessage({ answer: await answered(receive, data) }))
    .catch((error) => postMessage({ message: String(error?.message ?? error) }));
};

async function start({ base, module }) {
  self.fetch = async (request) => { // for what is on its way, of the type that Pyodide insists on
    const headers = { "Content-Type": "application/wasm" };
    return new Response(await file(String(request.url ?? request).slice(base.length)), { headers });
  };
  const failed = new Promise((_, fail) => (onerror = onunhandledrejection = (e) => fail(e.reason ?? e)));
  const options = { indexURL: base, stdLibURL: `${base}first.wasm`, lockFileContents: LOCK };
  const pyodide = await Promise.race([self.loadPyodide(options), failed]);
  file(LATER).then((bytes) => {
    pyodide.FS.writeFile(`/lib/${LATER}`, bytes);
    pyodide.pyimport("sitecustomize").FINDER.add(`/lib/${LATER}`);
    pyodide.FS.unlink(`/lib/${LATER}`);
    arrived = true;
  });
  return pyodide.pyimport(module).receive;
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
