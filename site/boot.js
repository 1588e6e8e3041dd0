/* The bridge, page side: events of elements that carry data-hook go to Python as {hook, fields}; the answer,
   a list of {target, html, how}, is applied. It starts the worker on first need, watches over it, and keeps
   the state, so that a dead interpreter can be replaced. It knows no page and no widget. */
"use strict";
(() => {
  const me = document.currentScript;
  const base = new URL(me.dataset.runtime, me.src).href;
  const START = 90000, ANSWER = 20000; // milliseconds of silence before the worker is given up
  const same = { createHTML: (text) => text, createScriptURL: (text) => text };
  const policy = self.trustedTypes?.createPolicy("microgpt", same) ?? same;
  const waiting = new Map(); // hook -> fields: only the latest of each hook counts
  let state = null, worker = null, busy = false, started = false, timer = 0;
  document.documentElement.classList.add("js");

  function status(name, values = {}) {
    performance.mark(`boot-${name}`);
    for (const line of document.querySelectorAll("[data-boot]")) {
      line.dataset.state = name;
      const why = line.getAttribute(`data-why-${values.why}`);
      line.textContent = (line.dataset[name] ?? "").replace(/\{(\w+)\}/g, (_, key) => (key === "why" ? why : values[key]));
    }
  }

  function give_up(why, detail) {
    if (detail) console.info(`Python: ${detail}`);
    clearTimeout(timer);
    worker?.terminate();
    worker = null;
    busy = started = false;
    waiting.clear();
    status("failed", { why });
  }

  function watch() {
    clearTimeout(timer);
    timer = setTimeout(() => give_up("timeout"), started ? ANSWER : START);
  }

  async function spawn() {
    if (base.startsWith("file:")) throw "file";
    const answer = await fetch(new URL("worker.js", me.src)).catch(() => ({ ok: false }));
    if (!answer.ok) throw "network";
    const url = URL.createObjectURL(new Blob([await answer.text()], { type: "text/javascript" }));
    const fresh = new Worker(policy.createScriptURL(url));
    fresh.onmessage = ({ data }) => (fresh === worker ? heard(data) : undefined);
    fresh.onerror = (event) => (fresh === worker ? give_up("crash", event.message) : undefined);
    return fresh;
  }

  async function send(hook, fields) {
    if (busy) return void waiting.set(hook, fields);
    busy = true;
    try {
      if (!worker) status("starting");
      worker ??= await spawn();
    } catch (why) {
      return give_up(typeof why === "string" ? why : "crash", why);
    }
    if (started) status("working");
    watch();
    worker.postMessage({ base, module: me.dataset.module, message: JSON.stringify({ state, hook, fields }) });
  }

  function heard({ answer, why, detail, ...progress }) {
    if (why) return give_up(why, detail);
    watch();
    if (!answer) return status(progress.status, progress);
    clearTimeout(timer);
    started = true;
    const { state: next, patches } = JSON.parse(answer);
    state = next;
    const show = () => {
      patches.forEach(apply);
      status("ready");
      busy = false;
      const [first] = waiting;
      if (first) waiting.delete(first[0]), send(...first);
    };
    document.hidden ? show() : requestAnimationFrame(show);
  }

  function apply({ target, html, how, file, text, type }) {
    if (file) {
      const link = Object.assign(document.createElement("a"), { download: file });
      link.href = URL.createObjectURL(new Blob([text], { type }));
      return link.click();
    }
    const element = document.querySelector(target);
    if (how === "outer") element.outerHTML = policy.createHTML(html);
    else if (how === "append") element.insertAdjacentHTML("beforeend", policy.createHTML(html));
    else element.innerHTML = policy.createHTML(html);
  }

  function fields_around(element) {
    const fields = {};
    const scope = element.closest("[data-scope]") ?? document;
    for (const control of scope.querySelectorAll("input[name], select[name], textarea[name]"))
      if (control.checked || !["radio", "checkbox"].includes(control.type)) fields[control.name] = control.value;
    return fields;
  }

  function on(type, find) {
    document.addEventListener(type, (event) => {
      const element = find(event);
      if (!element) return;
      if (type !== "change") event.preventDefault();
      send(element.dataset.hook, fields_around(element));
    });
  }
  on("submit", ({ target, submitter }) => [submitter, target].find((element) => element?.dataset.hook));
  on("change", ({ target }) => (target.matches("[data-hook]") ? target : null));
  on("click", ({ target }) => target.closest("button[data-hook][type=button], a[data-hook]"));
})();
