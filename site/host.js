/* A page and what is around it: the address and its fragment set controls, or it is said; a frame's host
   learns its height and each data-tell, a slide show plays; data-view leads to what is seen, data-copy
   copies, data-find hides the rest, a key presses the nearest data-key, data-play goes on. Knows no page. */
(() => { "use strict";
  const script = document.currentScript.src;
  const asked = new URLSearchParams(location.search + location.hash.replace(/^#(\w+=)|.*/s, "&$1"));
  const root = document.documentElement, framed = parent !== self;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const choice = (control) => /radio|checkbox/.test(control?.type);
  const at_first = (e) => (e.options ? (all("[selected]", e)[0] ?? e.options[0]).value : e.defaultValue);
  const written = /^-?(\d+|\d*\.\d+)(e[-+]?\d+)?$/i; // what a control for numbers takes without a warning
  const within = ({ min, max }, n) => n >= +min && n <= (max || Number.MAX_VALUE);
  const fits = (e, value) => e.type !== "number" || (written.test(value) && within(e, +value));
  const takes = (e, value) => e.value === value || (!choice(e) && fits(e, value));
  function arrive() {
    const wrong = [];
    for (const [name, value] of new Map(asked)) { // of one name the last
      const named = `[name="${CSS.escape(name)}"]:not([type=hidden], [type=file])`;
      const group = all(`:is(input, select, textarea)${named}`);
      const known = [...(group[0]?.options ?? group)], [first, last] = [known[0], known.at(-1)];
      const control = group.find((e) => takes(e, value)), before = control?.value;
      if (control) control[choice(control) ? "checked" : "value"] = choice(control) || value;
      if (control?.dataset.go) location.replace(control.dataset.go + location.search + location.hash);
      if (!group.length || control?.value === value) continue;
      if (control) control.value = before;
      wrong.push(` \u2068${name}=${value}\u2069 (${first.min || first.value} … ${last.max || last.value})`);
    }
    const rest = [...asked].filter(([name]) => !document.getElementsByName(name).length);
    for (const e of all("[data-rest]")) e.value = new URLSearchParams(rest); // what no other control takes
    if (asked.has("lock") && !lock() && !all("[name=lock]").length) wrong.push(` lock=${asked.get("lock")}`);
    for (const line of all("[data-wrong]")) line.textContent = wrong[0] && line.dataset.wrong + wrong;
  }
  function lock() { // steps outside of a range cannot be chosen, and are not there to see
    const [a, z] = asked.get("lock")?.match(/^(\d+)-(\d+)$/)?.slice(1) ?? [];
    const steps = all("[type=radio][name=step]"), open = steps.filter(({ value: n }) => +n >= a && +n <= z);
    for (const step of open.length ? steps : []) {
      step.disabled = !open.includes(step);
      for (const label of step.labels) label.hidden = step.disabled;
    }
    if (open.length && !open.some((e) => e.checked)) open[0].checked = true;
    return open.length;
  }
  const live = "form:has([data-hook]) :is(input, select)";
  const own = () => all(live).filter((e) => !choice(e) && e.value !== at_first(e));
  arrive();
  onhashchange = () => location.hash.includes("=") && location.reload();
  for (const e of all("[type=checkbox]")) if (`#${e.id}` === location.hash) e.checked = true; // #hall
  const changed = own(), [first] = changed; // the reader's own: asked for as if by hand, once seen
  if (first) new IntersectionObserver(([{ isIntersecting }], watcher) => {
    if (isIntersecting) watcher.disconnect(); else return;
    if (changed.length > 1 || !first.dataset.hook) all("button", first.form)[0].click();
    else first.dispatchEvent(new Event("change", { bubbles: true }));
  }).observe(root);
  let awaited = first, due, used, timer;
  new MutationObserver((changes) => { // Python has drawn anew; what it does is seen, even if folded away
    const said = changes.map(({ target: e }) => e.closest("[role=alert], [data-state=failed], .tools .boot"));
    for (const line of said) if (line?.textContent) line.closest("details")?.setAttribute("open", "");
    for (const e of all("[data-tell]")) parent.postMessage(JSON.parse(e.dataset.tell), "*"), e.remove();
    if (!changes.some(({ addedNodes: [first] }) => first?.nodeType === Node.ELEMENT_NODE)) return;
    awaited = void (awaited ? arrive() : lock());
  }).observe(document.querySelector("main"), { childList: true, subtree: true });
  for (const type of ["pointerdown", "focusin"])
    document.addEventListener(type, ({ target }) => {
      const link = target.closest?.("a[data-view]"), anew = link && own().length;
      if (!link) return;
      const differs = (e) => (choice(e) ? e.checked && (anew || !e.defaultChecked) : e.value !== at_first(e));
      const controls = all("input:not([type=hidden]), select").filter((e) => e.name && differs(e));
      const said = [...new URLSearchParams(link.dataset.view), ...controls.map((e) => [e.name, e.value])];
      link.search = new URLSearchParams(said);
    });
  const FIELD = "select, textarea, [contenteditable], input:not([type=radio], [type=checkbox])";
  const BUTTON = "button, summary, [type=checkbox]:not([name=hall]:checked), [type=radio]:not(:checked)";
  const far = (e, { top, bottom } = e.getBoundingClientRect()) => // in view is 0, what was used last is less
    Math.max(used?.contains(e) ? -1 : 0, top - innerHeight, -bottom);
  const nearest = (selector, within) => all(selector, within)
    .filter((e) => e.checkVisibility({ visibilityProperty: true })).sort((a, b) => far(a) - far(b))[0];
  document.addEventListener("keydown", (event) => {
    const { key, target, shiftKey, ctrlKey, altKey, metaKey } = event, name = key === " " ? "Space" : key;
    const own = /^Arrow[LR]/.test(name) ? "[type=radio]:not([data-rail] *)" : name === "Space" && BUTTON;
    if (ctrlKey || altKey || metaKey || target.matches(`${FIELD}, ${own}`)) return;
    const is = `~="${shiftKey && key.length > 1 ? "Shift+" : ""}${CSS.escape(name)}"]`;
    const pressed = nearest(`[data-key${is}, :root:has([name=hall]:checked) [data-hall-key${is}`);
    if (pressed || (own && target.closest("[data-rail]"))) event.preventDefault(), pressed?.click();
  });
  function play(e = nearest("[data-play]:checked")) { // on by one, or anew; it stops at the end
    const at = (key) => nearest(`label[data-key~=${key}]`, e.closest("[data-transport]"));
    clearTimeout(timer);
    if (!e) return;
    (at("ArrowRight") ?? at("Home"))?.click();
    e.checked = at("ArrowRight");
    timer = setTimeout(play, 1000 * parseFloat(getComputedStyle(e).getPropertyValue("--pace")));
  }
  let chosen = location.search; // until the reader chooses, the text sets the picture to what is being read
  const reading = new IntersectionObserver((met) => met.forEach(({ isIntersecting, target: { control } }) =>
    (isIntersecting && scrollY && !chosen ? (control.checked = true) : 0)), { rootMargin: "-40% 0px -50%" });
  for (const label of all(".prose p > .to:first-of-type:not([for|=ask])")) reading.observe(label);
  document.addEventListener("change", ({ target: { name, checked: on, dataset } }) => {
    chosen = true;
    if (name === "hall") (on ? root.requestFullscreen?.() : document.exitFullscreen?.())?.catch(() => {});
    if (dataset.play) play();
  });
  document.addEventListener("input", ({ target: { value, dataset: { find } } }) => find && all(find).forEach(
    (e) => (e.hidden = !e.textContent.toLowerCase().includes(value.trim().toLowerCase())))); // as it is typed
  document.onfullscreenchange = () => (all("[name=hall]")[0].checked = document.fullscreenElement);
  document.onpointermove = ({ clientX: x, clientY: y }) => document.querySelector("[data-rail]:active") &&
    document.elementFromPoint(x, y)?.closest("[data-rail] label")?.click(); // a rail that is held is scrubbed
  document.addEventListener("click", ({ target }) => {
    used = target.closest("[data-transport]") ?? used;
    const source = document.querySelector(target.closest("[data-copy]")?.dataset.copy ?? "no-such");
    if (source) getSelection().selectAllChildren(source);
    if (source) navigator.clipboard?.writeText(source.textContent).catch(() => {}); // or it is selected alone
  });
  async function stay() { // what this visit has loaded is there without a network too
    const policy = self.trustedTypes?.createPolicy("offline", { createScriptURL: (url) => url });
    const url = new URL("offline.js", script).href, loaded = new Promise((f) => addEventListener("load", f));
    await navigator.serviceWorker.register(policy?.createScriptURL(url) ?? url);
    const [{ active }] = await Promise.all([navigator.serviceWorker.ready, loaded]);
    active.postMessage([location.href, ...performance.getEntriesByType("resource").map(({ name }) => name)]);
  }
  play(); // as the address asks
  if (!framed && script && isSecureContext) stay().catch(() => {}); // not from a file, nor without an origin
  if (framed) {
    const tell = () => (due ??= setTimeout((height = root.offsetHeight) => { // once a frame
      parent.postMessage(JSON.stringify({ subject: "lti.frameResize", height }), "*");
      due = parent.postMessage({ type: "microgpt:height", height }, "*");
    }, 16));
    new ResizeObserver(tell).observe(root);
    addEventListener("message", ({ source, data }) => {
      if (source !== parent) return;
      if (data === "microgpt:height") tell(); // a host that began to listen after the frame was there
      const plays = data === "slide:start" && asked.has("play"), [e] = all("[name=play]");
      if ((plays || data === "slide:stop") && e?.checked !== plays) e?.click();
    });
  }
})();
