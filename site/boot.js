/* The bridge, page side: an event of an element with data-hook goes to Python as {hook, fields}; the answer, a list
   of {target, html, how} or {again: hook}, is applied. It starts the worker on first need, watches over it, and keeps the state, so
   that a dead interpreter can be replaced. It knows no page and no widget. */
"use strict";
(() => {
  const me = document.currentScript, base = new URL(me.dataset.runtime, me.src).href;
  const PATIENCE = { start: 60000, answer: 20000 }; // milliseconds of silence before the worker is given up
  const same = { createHTML: (text) => text, createScriptURL: (text) => text };
  const policy = self.trustedTypes?.createPolicy("microgpt", same) ?? same;
  let state = null, worker = null, busy = false, waiting = null, sent = {}, timer = 0;
  document.documentElement.classList.add("js");

  function status(name, values = {}) {
    performance.mark(`boot-${name}`);
    for (const line of document.querySelectorAll("[data-boot]")) {
      const fill = (_, key) => (key === "why" ? line.getAttribute(`data-why-${values.why}`) : values[key]);
      const text = (line.dataset[name] ?? "").replace(/\{(\w+)\}/g, fill);
      if (line.textContent !== text) Object.assign(line, { textContent: text }).dataset.state = name;
    }
  }
  function watch(patience) {
    clearTimeout(timer);
    timer = patience && setTimeout(give_up, patience, "timeout");
  }
  function give_up(why, detail = why) {
    console.info(`Python: ${detail}`);
    watch(0);
    worker?.terminate();
    [worker, waiting, busy] = [null, null, false];
    status("failed", { why });
  }
  async function spawn() {
    if (base.startsWith("file:")) throw "file";
    const answer = await fetch(new URL("worker.js", me.src)).catch(() => null);
    if (!answer?.ok) throw "network";
    const code = new Blob([await answer.text()], { type: "text/javascript" });
    const handlers = { onmessage: ({ data }) => heard(data), onerror: ({ message }) => give_up("crash", message) };
    return Object.assign(new Worker(policy.createScriptURL(URL.createObjectURL(code))), handlers);
  }
  async function send(hook, fields) {
    if (busy) return (waiting = [hook, fields]); // the latest one counts
    [busy, sent] = [true, fields];
    try {
      status(worker ? "working" : "starting");
      watch(worker ? PATIENCE.answer : PATIENCE.start);
      worker ??= await spawn();
      worker.postMessage({ base, module: me.dataset.module, message: JSON.stringify({ state, hook, fields }) });
    } catch (why) {
      give_up(typeof why === "string" ? why : "crash", why);
    }
  }
  function heard({ answer, why, detail, ...progress }) {
    if (why) return give_up(why, detail);
    if (!answer) return watch(PATIENCE.start), status(progress.status, progress);
    watch(0);
    const { state: next, patches } = JSON.parse(answer);
    [state, busy] = [next, false];
    patches.forEach(apply);
    const todo = waiting;
    waiting = null;
    todo ? send(...todo) : status("ready");
  }
  function apply({ target, html, how, file, text, type, again }) {
    if (again) return (waiting ??= [again, sent]); // what the reader has pressed meanwhile comes first
    if (file) {
      const href = URL.createObjectURL(new Blob([text], { type }));
      return Object.assign(document.createElement("a"), { download: file, href }).click();
    }
    const element = document.querySelector(target), trusted = policy.createHTML(html);
    if (!element) return;
    if (how === "append") return element.insertAdjacentHTML("beforeend", trusted);
    element[how === "outer" ? "outerHTML" : "innerHTML"] = trusted;
  }
  function on(type, find) {
    document.addEventListener(type, (event) => {
      const element = find(event), fields = {};
      if (!element) return;
      if (type !== "change") event.preventDefault();
      for (const control of (element.closest("[data-scope]") ?? document).querySelectorAll("input, select, textarea"))
        if (control.checked || !/radio|checkbox/.test(control.type)) fields[control.name] = control.value;
      send(element.dataset.hook, fields);
    });
  }
  on("submit", ({ target, submitter }) => [submitter, target].find((element) => element?.dataset.hook));
  on("change", ({ target }) => target.closest("[data-hook]:not(form)"));
  on("click", ({ target }) => target.closest("button[type=button][data-hook], a[data-hook]"));
})();
