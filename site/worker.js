/* The worker: Python runs here, beside the page, so that the page never waits for it. boot.js has fetched
   and checked every byte, this script among them: the build puts Pyodide's own two scripts below it. Each
   message goes to `receive` of the Python module that boot.js names, and its answer back. What the first
   step does not need comes later, as `more`: what fails without it waits for it, and is tried again. */
let python = null, arrived = false, bring;
const more = new Promise((resolve) => (bring = resolve));
self.onmessage = ({ data }) => {
  if (data.more) return bring(data.more);
  return (python ??= start(data))
    .then(async (receive) => data.message && postMessage({ answer: await answered(receive, data) }))
    .catch((error) => postMessage({ message: String(error?.message ?? error) }));
};

async function start({ base, module, files }) {
  self.fetch = async (request) => { // Pyodide asks for what is here, and gets the type that it insists on
    const name = String(request.url ?? request).slice(base.length);
    const headers = { "Content-Type": "application/wasm" };
    return new Response(files[name] ?? null, { headers, status: files[name] ? 200 : 404 });
  };
  const failed = new Promise((_, fail) => (onerror = onunhandledrejection = (e) => fail(e.reason ?? e)));
  const options = { indexURL: base, stdLibURL: `${base}first.wasm`, lockFileContents: LOCK };
  const pyodide = await Promise.race([self.loadPyodide(options), failed]);
  more.then((bytes) => {
    pyodide.FS.writeFile("/lib/more.wasm", bytes);
    pyodide.pyimport("sitecustomize").FINDER.add("/lib/more.wasm");
    pyodide.FS.unlink("/lib/more.wasm");
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
    await more;
    return receive(message, files);
  }
}
