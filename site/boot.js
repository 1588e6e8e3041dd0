/* The bridge, page side. An event of an element with data-hook goes to Python as {hook, fields}, and files
   as handles; the answer, a list of {target, html, how}, {file, text, type}, {again: hook} or {ahead: hook},
   is applied. What is ahead is asked for while nothing is pressed: when it is pressed, the answer is there.
   Python is fetched on first need and checked, in a worker that does this alone: the runtime's address holds
   the hash of runtime.json, and that all others. The worker that runs it is watched; the state is kept here,
   so a dead one can be replaced. Knows no page. */
"use strict";
(() => {
  const START = 60, STEP = 20; // seconds
  const CALM = 3000; // milliseconds after all has come, before a copy of it is kept
  const HOW = { append: "append", inner: "replaceChildren", outer: "replaceWith" };
  const me = document.currentScript, base = new URL(me.dataset.runtime, me.src || document.baseURI).href;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const carried = Object.fromEntries(all("script[data-file]").map((e) => [e.dataset.file, e.text]));
  const inside = base.startsWith("carried:"); // the page brings all of it along
  const alone = self === top && !inside; // with a store of the browser's to itself
  const same = { createHTML: (text) => text, createScriptURL: (text) => text };
  const policy = self.trustedTypes?.createPolicy("microgpt", same) ?? same;
  const fault = (why, about) => Object.assign(new Error(why), { about: { why, ...about } });
  let state = null, worker = null, answered = false, busy = false, waiting = [], sent = [];
  let early, likely, pressed, timer, forbidden;
  document.documentElement.classList.add("js");
  document.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) => {
    forbidden ??= `${effectiveDirective} ${blockedURI}`; // by its host: our own policy allows all of it
  });

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
  function give_up({ message = "no worker", about }) {
    const why = /out of memory|allocate memory|MemoryError/i.test(message) ? "memory" : "crash";
    const said = { why, detail: message.trim().split("\n").at(-1).slice(0, 200), ...about };
    console.info(`Python: ${message} ${about?.name ?? ""}`);
    watch(0);
    worker?.loader.terminate();
    worker?.terminate();
    status("failed", forbidden ? { why: "policy", forbidden } : said, answered ? "stopped" : "failed");
    [worker, answered, waiting, busy, early] = [null, false, [], false];
  }

  function loading() { // is a worker of its own, so that no frame of the page waits for what arrives
    const IDLE = 15, OFTEN = 100; // seconds without a byte; milliseconds between two words of how far it is
    const fault = (why, about) => Object.assign(new Error(why), { about: { why, ...about } });
    let base, carried, lang, script, done, total, told, number;
    self.onmessage = async ({ data: { hash, ...from } }) => {
      ({ base, carried, lang } = from);
      try {
        const manifest = new TextDecoder().decode(await fetched("runtime.json", hash));
        const { files, later, code } = JSON.parse(manifest), names = Object.keys(files);
        for (const some of [names.filter((name) => !later.includes(name)), later]) {
          [done, total] = [0, some.reduce((sum, name) => sum + files[name].size, 0)];
          script ??= pass("worker.js", files, code);
          await Promise.all(some.map((name) => (name === "worker.js" ? script : pass(name, files, code))));
          tell(); // that all is there, however quickly the end came
          postMessage({ end: [...names, "runtime.json"] });
        }
      } catch ({ message, about }) {
        postMessage({ message, about });
      }
    };
    async function pass(name, { [name]: { sha256 } }, code) {
      const given = await fetched(name, sha256, code.includes(name));
      if (name !== "worker.js") await script; // the others are for the worker
      postMessage({ name, given }, given.buffer ? [given.buffer] : []);
    }
    function count(bytes) {
      done += bytes;
      told ??= setTimeout(tell, OFTEN);
    }
    function tell() {
      number ??= new Intl.NumberFormat(lang, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
      if (total) postMessage({ done: number.format(done / 1e6), total: number.format(total / 1e6) });
      told = null;
    }
    async function fetched(name, hash, code, cache = "default") { // what has this hash; compiled, if code
      const stop = new AbortController(), { signal } = stop, chunks = [];
      let size = 0, last = Date.now();
      const silence = setInterval(() => Date.now() - last > 1000 * IDLE && stop.abort(), 500);
      try {
        const answer = await (carried ? unpacked(carried[name]) : fetch(base + name, { signal, cache }));
        const { status } = answer, gone = status === 404 || status === 410;
        if (!answer.ok) throw fault(gone ? "missing" : "server", { status });
        const reader = answer.body.getReader();
        for (let part; (part = (await reader.read()).value); chunks.push(part)) {
          last = Date.now();
          size += part.length;
          count(part.length);
        }
        const bytes = new Uint8Array(size);
        chunks.reduce((at, part) => (bytes.set(part, at), at + part.length), 0);
        const compiled = code && WebAssembly.compile(bytes); // while it is checked
        compiled?.catch?.(() => {}); // told to who waits for it, if it is the right file
        if ((await sha256(bytes)).startsWith(hash)) return compiled || bytes;
        throw fault(/^\s*</.test(new TextDecoder().decode(bytes.subarray(0, 99))) ? "portal" : "hash");
      } catch (error) {
        count(-size);
        if (carried) throw fault("carried", { name });
        if (cache === "default") return fetched(name, hash, code, "reload"); // past the browser's cache
        if (signal.aborted) throw fault("silence", { name, seconds: IDLE });
        if (error.about) throw fault(error.about.why, { name, ...error.about });
        throw fault("network", { name });
      } finally {
        clearInterval(silence);
      }
    }
    async function unpacked(text) { // gzip, seven bits a character: `written` in assets.py
      const bytes = new Uint8Array((7 * text.length) >> 3);
      for (let i = 0, at = 0, bits = 0; i < text.length; i++) {
        bits = (bits << 7) | (text.charCodeAt(i) & 127);
        if (i & 7) bytes[at++] = bits >> (7 - (i & 7));
      }
      return new Response(new Response(bytes).body.pipeThrough(new DecompressionStream("gzip")));
    }
    async function sha256(bytes) {
      if (!self.crypto?.subtle) return digest(bytes);
      const hash = [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))];
      return hash.map((byte) => byte.toString(16).padStart(2, "0")).join("");
    }
    function digest(bytes) { // SHA-256 as in FIPS 180-4, for pages on plain http: there browsers offer none
      const primes = [], w = new Int32Array(64), turn = (x, n) => (x >>> n) | (x << (32 - n));
      for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p)) primes.push(n);
      const fractions = (some, root) => Int32Array.from(some, (p) => (root(p) % 1) * 2 ** 32);
      const k = fractions(primes, Math.cbrt), sum = fractions(primes.slice(0, 8), Math.sqrt);
      const padded = new Uint8Array((bytes.length + 72) & ~63), view = new DataView(padded.buffer);
      padded.fill(128, bytes.length, bytes.length + 1).set(bytes);
      view.setBigUint64(padded.length - 8, 8n * BigInt(bytes.length));
      for (let at = 0; at < padded.length; at += 64) {
        let [a, b, c, d, e, f, g, h] = sum;
        for (let i = 0; i < 64; i++) {
          const x = w[i - 15], y = w[i - 2], mixed = w[i - 16] + w[i - 7];
          const more = (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10));
          w[i] = i < 16 ? view.getInt32(at + 4 * i) : mixed + more;
          const one = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + w[i];
          const two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
          (h = g), (g = f), (f = e), (e = (d + one) | 0), (d = c), (c = b), (b = a), (a = (one + two) | 0);
        }
        [a, b, c, d, e, f, g, h].forEach((x, i) => (sum[i] += x));
      }
      return Array.from(sum, (x) => (x >>> 0).toString(16).padStart(8, "0")).join("");
    }
  }

  const worker_of = (script) =>
    new Worker(policy.createScriptURL(URL.createObjectURL(new Blob([script], { type: "text/javascript" }))));
  async function unreached(error) { // a policy speaks to the page alone; a server may refuse frames alone
    const { why, name } = error.about ?? {};
    const open = why === "network" && (await fetch(base + name, { mode: "no-cors" }).catch(() => false));
    throw open && self.origin === "null" ? fault("origin", { name }) : error;
  }
  async function spawn() {
    if (base.startsWith("file:")) throw fault("file");
    const smallest = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
    if (!(await self.WebAssembly?.compile(smallest).catch(() => null))) throw fault("wasm");
    const loader = worker_of(`(${loading})()`), [, hash] = base.match(/-([0-9a-f]{32})\/$/) ?? [, ""];
    let mine, begun = false;
    const born = (script) => {
      mine = worker = Object.assign(worker_of(script), { loader, onmessage: heard });
      mine.onerror = (event) => setTimeout(give_up, 50, event);
      mine.postMessage({ base, module: me.dataset.module, keeps: alone });
    };
    return new Promise((resolve, fail) => {
      const lost = loader.onerror = (error) => {
        loader.terminate();
        if (!begun) return fail(error);
        mine.lost = error;
        if (mine.lacks) lacking(mine);
      };
      loader.onmessage = ({ data: { name, given, end, message, about, done, total } }) => {
        if (message) return lost({ message, about });
        if (end && begun) return loader.terminate(), setTimeout(keep, CALM, end);
        if (end) return (begun = true), status("starting"), resolve();
        if (name === "worker.js") return born(given);
        if (name && mine.lacks) watch(START);
        if (name) return mine.postMessage({ name, given }, given.buffer ? [given.buffer] : []);
        if (!begun || mine.lacks) status("loading", { done, total });
      };
      loader.postMessage({ base, hash, lang: document.documentElement.lang, carried: inside && carried });
    }).catch(unreached);
  }
  function keep(names) { // by offline.js, for visits without a network
    if (alone) navigator.serviceWorker?.controller?.postMessage(names.map((name) => base + name));
  }
  const lacking = (worker) => { // it waits for the rest: its silence says nothing
    watch(0);
    worker.lacks = true;
    if (worker.lost) unreached(worker.lost).catch(give_up);
  };
  async function send(hook, fields, files) {
    if (busy) return (waiting = [hook, fields, files]); // the latest one counts
    [busy, sent, forbidden] = [true, [fields, files]];
    const back = held();
    try {
      status(worker ? "working" : "starting");
      if (!worker) await spawn();
      watch(answered ? STEP : START);
      const message = JSON.stringify({ state, hook, fields });
      if (early?.message === message) return early.answer ? show(early.answer, back) : (early = null);
      worker.postMessage({ message, files });
    } catch (error) {
      setTimeout(give_up, 50, error); // what a policy forbids is told a little later
    }
  }
  function heard({ data: { answer, failed, ...progress } }) {
    if (failed) return give_up({ message: failed });
    if (progress.status === "more") return lacking(worker);
    if (!answer) return watch(START), status(progress.status, progress);
    const told = JSON.parse(answer);
    for (const one of told.patches) if ("html" in one) one.nodes = parsed(one);
    if (early && !early.answer) return (early.answer = told), busy || status("ready");
    show(told, held());
  }
  function show({ state: next, patches }, back) {
    [early, likely] = [];
    watch(0);
    const lost = patches.find(({ target, optional }) => target && !optional && !all(target)[0]);
    if (lost) return give_up(fault("target", lost)); // the page keeps what it shows, and its state
    [state, answered] = [next, true];
    patches.forEach(apply);
    back(); // before it is said that all is there: who presses then finds it where it stands
    if (!waiting.length || document.hidden) return go_on(worker);
    status("working");
    requestAnimationFrame(() => setTimeout(go_on, 0, worker)); // what has come is painted first
  }
  function go_on(mine) {
    if (mine !== worker) return; // it has been given up
    busy = false;
    if (waiting.length) return send(...waiting.splice(0));
    status("ready");
    look_ahead();
  }
  function look_ahead([element] = all(`button[data-hook="${likely}"]`)) { // as if it were pressed
    if (!element) return;
    const [fields, files] = asked_by(element);
    early = { message: JSON.stringify({ state, hook: likely, fields }) };
    worker.postMessage({ message: early.message, files });
  }
  function held(at = pressed) { // what puts back, after a change, what was pressed, if it is in sight
    const place = () => at?.getBoundingClientRect().y, y = place(), behavior = "instant";
    return () => y > 0 && y < innerHeight && at.isConnected && scrollBy({ top: place() - y, behavior });
  }
  function apply({ target, nodes, how, file, text, type, again, ahead }) {
    if (ahead) return (likely = ahead);
    if (again) return waiting.length || waiting.push(again, ...sent); // what was pressed comes first
    if (file) {
      const bytes = type === "image/png" ? Uint8Array.from(atob(text), (c) => c.charCodeAt(0)) : text;
      const href = URL.createObjectURL(new Blob([bytes], { type }));
      return Object.assign(document.createElement("a"), { download: file, href }).click();
    }
    document.querySelector(target)?.[HOW[how]](...nodes);
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
  for (const [type, asking] of [["change", "[data-hook]"], ["click", "button[data-hook]"]])
    document.addEventListener(type, (event) => {
      const element = event.target.closest(asking);
      if (element && type === "click") event.preventDefault(); // Enter clicks a button too; no form is sent
      if (element) send((pressed = element).dataset.hook, ...asked_by(element));
    });
})();
