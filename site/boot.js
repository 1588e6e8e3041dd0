/* The bridge, page side. An event of an element with data-hook goes to Python as {hook, fields}, and files
   as handles; the answer, a list of {target, html, how}, {file, text, type}, {again: hook} or {ahead: hook},
   is applied. What is ahead is asked for while nothing is pressed. Python is fetched on first need and
   checked: the runtime's address holds the hash of runtime.json, and that all others. Its worker is watched;
   the state is kept here, so a dead one can be replaced. Knows no page. */
(() => { "use strict";
  const START = 60, STEP = 20, IDLE = 15, CALM = 3; // seconds: to a first answer, another, a byte; a copy
  const HOW = { append: "append", inner: "replaceChildren", outer: "replaceWith" };
  const me = document.currentScript, base = new URL(me.dataset.runtime, me.src || document.baseURI).href;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const inside = base.startsWith("carried:"); // the page brings all of it along
  const same = { createHTML: (text) => text, createScriptURL: (text) => text };
  const policy = self.trustedTypes?.createPolicy("microgpt", same) ?? same;
  const fault = (why, about) => Object.assign(new Error(why), { about: { why, ...about } });
  const text_of = (bytes) => new TextDecoder().decode(bytes);
  const digits = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
  const mb = (bytes) => (bytes / 1e6).toLocaleString(document.documentElement.lang, digits);
  let state = null, waiting = [], sent = [], python, answered, busy, early, likely, timer, forbidden;
  document.documentElement.classList.add("js");
  document.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) =>
    (forbidden ??= `${effectiveDirective} ${blockedURI}`)); // by its host: our own policy allows all of it
  function status(name, about = {}, template = name) {
    performance.mark(`boot-${name}`);
    for (const line of all("[data-boot]")) {
      const fill = (text) => text?.replace(/\{(\w+)\}/g, (_, key) => (key === "why" ? why : about[key]));
      const why = fill(line.getAttribute(`data-why-${about.why}`)), text = fill(line.dataset[template]) ?? "";
      if (line.textContent !== text) Object.assign(line, { textContent: text }).dataset.state = name;
    }
  }
  function watch(seconds) { // of silence, before the worker is given up
    clearTimeout(timer);
    timer = seconds && setTimeout(() => give_up(fault("timeout", { seconds })), 1000 * seconds);
  }
  function give_up({ message = "no worker", about }, mine = python) {
    if (mine !== python) return; // it has been given up
    const why = /out of memory|allocate memory|MemoryError/i.test(message) ? "memory" : "crash";
    const said = { why, detail: message.trim().split("\n").at(-1).slice(0, 200), ...about };
    console.info(`Python: ${message} ${about?.name ?? ""}`);
    watch(0);
    mine.worker?.terminate();
    status("failed", forbidden ? { why: "policy", forbidden } : said, answered ? "stopped" : "failed");
    [waiting, python, answered, busy, early] = [[]];
  }
  async function fetched(name, told, count = () => {}, cache = "default") { // the right one
    let silence, stop = new AbortController(), { signal } = stop, options = { signal, cache }, parts = [];
    const hear = ({ length }) => {
      clearTimeout(silence);
      silence = setTimeout(() => stop.abort(), 1000 * IDLE); // which stops nothing when all has come
      count(length);
    };
    try {
      hear("");
      const { ok, status, body } = await (inside ? unpacked(name) : fetch(base + name, options));
      if (!ok) throw fault([404, 410].includes(status) ? "missing" : "server", { status });
      for (let p, from = body.getReader(); (p = (await from.read()).value); hear(p)) parts.push(p);
      const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
      if (await is_right(bytes, told).catch(() => false)) return bytes;
      throw fault(/^\s*</.test(text_of(bytes.subarray(0, 99))) ? "portal" : "hash");
    } catch ({ about }) {
      parts.forEach(({ length }) => count(-length));
      if (inside) throw fault("carried", { name });
      if (cache === "default") return fetched(name, told, count, "reload"); // past the browser's cache
      if (signal.aborted) throw fault("silence", { name, seconds: IDLE });
      if (about) throw fault(about.why, { name, ...about });
      const open = self.origin === "null" && fetch(base + name, { signal, mode: "no-cors" });
      throw fault((await open.catch?.(() => null)) ? "origin" : "network", { name }); // frames alone refused
    }
  }
  async function unpacked(name, { text } = all(`script[data-file="${name}"]`)[0]) { // `written` in assets.py
    const seven = (i) => text.charCodeAt(i) & 127, two = (i) => (seven(i) << 7) | seven(i + 1);
    const byte = (_, n) => two(n + Math.floor(n / 7)) >> (6 - (n % 7)); // its bits begin at the 8 n-th
    const bytes = new Uint8Array((7 * text.length) >> 3).map(byte); // gzip, seven bits a character
    return new Response(new Response(bytes).body.pipeThrough(new DecompressionStream("gzip")));
  }
  async function is_right(bytes, { sha256, size }) { // on plain http no browser makes hashes: sizes must do
    if (!self.crypto?.subtle) return size ? bytes.length === size : Boolean(JSON.parse(text_of(bytes)));
    const hash = [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))];
    return hash.map((byte) => byte.toString(16).padStart(2, "0")).join("").startsWith(sha256);
  }
  async function spawn(mine) { // until the worker has what a first step needs; the rest comes while it runs
    if (base.startsWith("file:")) throw fault("file");
    const smallest = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
    if (!(await self.WebAssembly?.compile(smallest).catch(() => null))) throw fault("wasm");
    const [, sha256] = base.match(/-([0-9a-f]{32})\/$/) ?? [, ""];
    const { files } = JSON.parse(text_of(await fetched("runtime.json", { sha256 })));
    const names = Object.keys(files), later = names.filter((name) => files[name].later);
    const kept = [...names, "runtime.json"].map((name) => base + name); // for offline.js
    const keep = () => self === top && navigator.serviceWorker?.controller?.postMessage(kept);
    let done, total, count = (bytes) => (done += bytes);
    const born = fetched("worker.js", files["worker.js"], count).then((script) => {
      if (mine !== python) throw fault("late"); // it has been given up
      const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
      const worker = (mine.worker = new Worker(policy.createScriptURL(url)));
      worker.onmessage = ({ data }) => heard(data, mine);
      worker.onerror = (event) => setTimeout(give_up, 50, event, mine);
      worker.postMessage({ base, module: me.dataset.module });
    });
    const pass = (name) => Promise.all([name === "worker.js" || fetched(name, files[name], count), born])
      .then(([given]) => given.buffer && mine.worker.postMessage({ name, given }, [given.buffer]));
    const say = () => mine.rest || mine !== python || status("loading", { done: mb(done), total: mb(total) });
    const load = async (some) => {
      [done, total] = [0, some.reduce((sum, name) => sum + files[name].size, 0)];
      const telling = setInterval(say, 100);
      await Promise.all(some.map(pass)).finally(() => clearInterval(telling));
      say(); // that all is there, however quickly the end came
    };
    await load(names.filter((name) => !later.includes(name)));
    if (mine !== python) return;
    status("starting");
    (mine.rest = load(later)).then(() => setTimeout(keep, 1000 * CALM), () => {}); // it is said when missed
  }
  const ask = (mine, asked = mine.asked) => mine.worker.postMessage((mine.asked = asked));
  function lacking(mine, rest = mine.rest) { // what has failed is asked once more when the rest is there
    watch(0);
    mine.rest = null;
    rest.then(() => ask(mine), (error) => give_up(error, mine)).then(() => busy && watch(START));
  }
  async function send(hook, fields, files) {
    if (busy) return (waiting = [hook, fields, files]); // the latest one counts
    [busy, sent, forbidden] = [true, [fields, files]];
    const mine = (python ??= {});
    try {
      status(mine.worker ? "working" : "starting");
      if (!mine.worker) await spawn(mine);
      if (mine !== python) return; // it has been given up
      watch(answered ? STEP : START);
      const message = JSON.stringify({ state, hook, fields });
      if (early?.message === message) return early.answer ? show(early.answer) : (early = null);
      ask(mine, { message, files });
    } catch (error) {
      setTimeout(give_up, 50, error, mine); // what a policy forbids is told a little later
    }
  }
  function heard({ answer, failed, whole }, mine) {
    if (failed) return whole || !mine.rest ? give_up({ message: failed }, mine) : lacking(mine);
    const told = JSON.parse(answer);
    for (const one of told.patches) if ("html" in one) one.nodes = parsed(one);
    if (early && !early.answer) return (early.answer = told), busy || status("ready");
    show(told);
  }
  function show({ state: next, patches }) {
    [early, likely] = [];
    watch(0);
    const lost = patches.find(({ target, optional }) => target && !optional && !all(target)[0]);
    if (lost) return give_up(fault("target", lost)); // the page keeps what it shows, and its state
    [state, answered] = [next, true];
    patches.forEach(apply);
    if (!waiting.length || document.hidden) return go_on(python);
    status("working");
    requestAnimationFrame(() => setTimeout(go_on, 0, python)); // what has come is painted first
  }
  function go_on(mine) {
    if (mine !== python) return;
    busy = false;
    if (waiting.length) return send(...waiting.splice(0));
    status("ready");
    const [element] = all(`button[data-hook="${likely}"]`);
    if (!element) return;
    const [fields, files] = asked_by(element); // ahead, as if it were pressed
    early = { message: JSON.stringify({ state, hook: likely, fields }) };
    ask(mine, { message: early.message, files });
  }
  function apply({ target, nodes, how, file, text, type, again, ahead }) {
    if (ahead) return (likely = ahead);
    if (again) return waiting.length || waiting.push(again, ...sent); // what was pressed comes first
    if (!file) return document.querySelector(target)?.[HOW[how]](...nodes);
    const bytes = /gif|png|webm|oct/.test(type) ? Uint8Array.from(atob(text), (c) => c.charCodeAt(0)) : text;
    const href = URL.createObjectURL(new Blob([bytes], { type }));
    Object.assign(document.createElement("a"), { download: file, href }).click();
  }
  function parsed({ target, html, how }) { // apart from the page, but as in its place: so too in drawings
    const at = document.querySelector(target);
    const apart = ((how === "outer" ? at?.parentElement : at) ?? document.body).cloneNode(false);
    apart.innerHTML = policy.createHTML(html);
    return [...apart.childNodes];
  }
  function asked_by(element) { // fields and files, by the names of their controls
    const controls = all("input, select, textarea", element.closest("[data-scope]") ?? document);
    const chosen = controls.filter((e) => e.checked || !/radio|checkbox/.test(e.type));
    const named = (list, what) => Object.fromEntries(list.map((e) => [e.name, what(e)]));
    return [named(chosen, (e) => e.value), named(chosen.filter((e) => e.files), (e) => [...e.files])];
  }
  for (const [type, asking] of [["change", "[data-hook]"], ["click", "button[data-hook]"]]) // no form is sent
    document.addEventListener(type, (event) => {
      const element = event.target.closest(asking);
      if (element) event.preventDefault(), send(element.dataset.hook, ...asked_by(element));
    });
})();
