/* The bridge, page side: an event of an element with data-hook goes to Python as {hook, fields}, and files as handles;
   the answer, a list of {target, html, how}, {file, text, type} or {again: hook}, is applied. It starts the worker on
   first need, watches it, and keeps the state, so that a dead one can be replaced. It knows no page and no widget. */
"use strict";
(() => {
  const me = document.currentScript, base = new URL(me.dataset.runtime, me.src || document.baseURI).href;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const carried = Object.fromEntries(all("script[data-file]").map((e) => [e.dataset.file, e.text]));
  const same = { createHTML: (text) => text, createScriptURL: (text) => text };
  const policy = self.trustedTypes?.createPolicy("microgpt", same) ?? same;
  let state = null, worker = null, busy = false, waiting = [], sent = [], timer = 0;
  document.documentElement.classList.add("js");

  function status(name, values = {}) {
    performance.mark(`boot-${name}`);
    for (const line of all("[data-boot]")) {
      const fill = (_, key) => (key === "why" ? line.getAttribute(`data-why-${values.why}`) : values[key]);
      const text = (line.dataset[name] ?? "").replace(/\{(\w+)\}/g, fill);
      if (line.textContent !== text) Object.assign(line, { textContent: text }).dataset.state = name;
    }
  }
  function watch(patience) { // milliseconds of silence before the worker is given up
    clearTimeout(timer);
    timer = patience && setTimeout(give_up, patience, "timeout");
  }
  function give_up(why, detail = why) {
    console.info(`Python: ${detail}`);
    watch(0);
    worker?.terminate();
    [worker, waiting, busy] = [null, [], false];
    status("failed", { why });
  }
  async function spawn() {
    if (base.startsWith("file:")) throw "file";
    const packed = carried["worker.js"], url = packed ? `data:;base64,${packed}` : new URL("../worker.js", base);
    const answer = await fetch(url).catch(() => null);
    if (!answer?.ok) throw "network";
    const text = packed ? new Response(answer.body.pipeThrough(new DecompressionStream("gzip"))) : answer;
    const code = new Blob([await text.text()], { type: "text/javascript" });
    worker = new Worker(policy.createScriptURL(URL.createObjectURL(code)));
    Object.assign(worker, { onmessage: heard, onerror: ({ message }) => give_up("crash", message) });
    worker.postMessage({ base, carried, module: me.dataset.module });
  }
  async function send(hook, fields, files) {
    if (busy) return (waiting = [hook, fields, files]); // the latest one counts
    [busy, sent] = [true, [fields, files]];
    try {
      status(worker ? "working" : "starting");
      watch(worker ? 20000 : 60000);
      if (!worker) await spawn();
      worker.postMessage({ message: JSON.stringify({ state, hook, fields }), files });
    } catch (why) {
      give_up(typeof why === "string" ? why : "crash", why);
    }
  }
  function heard({ data: { answer, why, detail, ...progress } }) {
    if (why) return give_up(why, detail);
    if (!answer) return watch(60000), status(progress.status, progress);
    watch(0);
    const { state: next, patches } = JSON.parse(answer);
    [state, busy] = [next, false];
    patches.forEach(apply);
    waiting.length ? send(...waiting.splice(0)) : status("ready");
  }
  function apply({ target, html, how, file, text, type, again }) {
    if (again) return waiting.length || waiting.push(again, ...sent); // what was pressed meanwhile comes first
    if (file) {
      const bytes = type === "image/png" ? Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)) : text;
      const href = URL.createObjectURL(new Blob([bytes], { type }));
      return Object.assign(document.createElement("a"), { download: file, href }).click();
    }
    const element = document.querySelector(target), trusted = policy.createHTML(html);
    if (how === "append") return element?.insertAdjacentHTML("beforeend", trusted);
    if (element) element[how === "outer" ? "outerHTML" : "innerHTML"] = trusted;
  }
  function asked_by(element) { // fields and files, by the names of their controls
    const controls = all("input, select, textarea", element.closest("[data-scope]") ?? document);
    const chosen = controls.filter((e) => e.checked || !/radio|checkbox/.test(e.type));
    const named = (list, what) => Object.fromEntries(list.map((e) => [e.name, what(e)]));
    return [named(chosen, (e) => e.value), named(chosen.filter((e) => e.files), (e) => [...e.files])];
  }
  function on(type, find) {
    document.addEventListener(type, (event) => {
      const element = find(event);
      if (element && type !== "change") event.preventDefault();
      if (element) send(element.dataset.hook, ...asked_by(element));
    });
  }
  on("change", ({ target }) => target.closest("[data-hook]"));
  on("click", ({ target }) => target.closest("button[data-hook]")); // Enter clicks one too; no form is sent
})();
