/* The service worker: what the site has sent is kept, and given again when the network fails or is silent. An
   answer is handed on as it comes and copied beside that, if it can be kept: one of each address without its
   query, of Python's folders the last, nothing marked no-store. A page names what it loaded before this was
   there, and Python's many megabytes once it runs: to copy them while it starts would hold it up. */
const PATIENCE = 4000; // milliseconds without an answer, then what is kept is given
const PYTHON = /^(.*\/runtime-)\w+\//; // its folder, named after what is in it
const MARK = '<meta name="generator" content="microgpt-kv">'; // in each page of ours
let silent = 0; // when patience last ran out: the next requests do not wait as long again
const ours = (url) => url.startsWith(registration.scope);
const place = (url) => url.split(/[?#]/)[0].replace(/\/index\.html$/, "/");
const kept = async () => caches.open(registration.scope); // a store of its own: others may share the origin
self.oninstall = () => skipWaiting();
self.onactivate = (event) => event.waitUntil(clients.claim());
self.onmessage = (event) => event.waitUntil(Promise.allSettled(event.data.filter(ours).map(add)));
self.onfetch = (event) => {
  const { url, method } = event.request;
  if (method !== "GET" || !ours(url)) return; // the browser's own business
  const coming = fetch(event.request);
  if (!PYTHON.test(url)) event.waitUntil(coming.then((answer) => keep(url, answer)).catch(() => {})); // first
  event.respondWith(best(url, coming));
};
async function best(url, coming) { // what comes; what is kept, if that is late, an error, or not ours
  const patience = Date.now() - silent < 30000 ? PATIENCE / 8 : PATIENCE;
  const silence = new Promise((resolve) => setTimeout(resolve, patience, "silence"));
  const answer = await Promise.race([coming, silence]).catch(() => null);
  if (answer === "silence") silent = Date.now();
  if (answer?.status < 500 && !foreign(url, answer)) return answer;
  return (await kept().then((store) => store.match(place(url))).catch(() => null)) ?? coming;
}
function foreign(url, { type, ok, headers }) { // a page in place of a file, as of a login
  const page = ok && /html/.test(headers.get("Content-Type"));
  return type === "opaque" || (page && /\.(?!html?$)\w+$/.test(place(url)));
}
const add = async (url) => (await (await kept()).match(place(url))) ?? keep(url, await fetch(url));
async function keep(url, answer) { // whole, or not at all: a body that breaks off is not put
  const { status, redirected, headers } = answer, at = place(url);
  if (status !== 200 || redirected || foreign(url, answer)) return;
  if (/no-store/.test(headers.get("Cache-Control"))) return;
  const copy = answer.clone(), store = await kept(), [folder, folders] = PYTHON.exec(at) ?? [];
  if (/(\/[^./]*|\.html?)$/.test(at) && !(await copy.clone().text()).includes(MARK)) return; // a login
  const older = ({ url }) => PYTHON.exec(url)?.[1] === folders && !url.startsWith(folder);
  if (at === `${folder}runtime.json`) // first: it makes room
    await Promise.all((await store.keys()).filter(older).map((request) => store.delete(request)));
  await store.put(at, copy);
}
