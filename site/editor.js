/* The editor: each textarea[data-editor] gets one beside it, now, when an answer brings it, or when what it
   lies in is opened. The textarea stays the field that is sent; what is typed is kept in this browser alone,
   as a draft, and so is a tick, input[data-kept]. [data-run] of its form runs it,
   [data-editor-line="3"][data-editor-for=name] marks line 3; it opens at the text [data-first]. CodeMirror,
   with which it is made one script by tools/editor/script.py, does the rest. Knows no page. */
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { pythonLanguage } from "@codemirror/lang-python";
import { HighlightStyle, bracketMatching, indentOnInput, indentUnit } from "@codemirror/language";
import { syntaxHighlighting } from "@codemirror/language";
import { lintGutter, nextDiagnostic, setDiagnostics } from "@codemirror/lint";
import { Decoration, EditorView, MatchDecorator, ViewPlugin, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const highlight = syntaxHighlighting(HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.bool, tags.null], color: "var(--focus)" },
  { tag: [tags.definition(tags.function(tags.name)), tags.definition(tags.className)], fontWeight: 600 },
  { tag: [tags.string, tags.special(tags.string), tags.meta, tags.comment], color: "var(--soft)" },
]));
const theme = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", background: "var(--card)" },
  "&.cm-focused": { outline: "3px solid var(--focus)" },
  ".cm-scroller": { font: "inherit" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-gutters": { color: "var(--soft)", background: "var(--wash)", borderColor: "var(--line)" },
  ".cm-tooltip": { background: "var(--card)", borderColor: "var(--soft)" },
  ".q": { color: "var(--q)" }, ".k": { color: "var(--k)" }, ".v": { color: "var(--v)" },
});
const hue = new MatchDecorator({ regexp: /\b[qkv]\b/g, decoration: ([c]) => Decoration.mark({ class: c }) });
const hues = ViewPlugin.define(
  (view) => ({ now: hue.createDeco(view), update(news) { this.now = hue.updateDeco(news, this.now); } }),
  { decorations: ({ now }) => now },
);

const editors = new Map(); // of each textarea
const came = {}; // of each field the text that the page came with
let drafts = {}; try { drafts = localStorage ?? drafts; } catch {} // a frame without an origin keeps none
const key = ({ name }) => `microgpt:${location.pathname}:${name}`;
function draft(textarea) { // of the text that is there, or there is none
  const { name, defaultValue: text, value, dataset } = textarea, first = (came[name] ??= text);
  if ("fresh" in dataset) return keep(textarea), value; // an answer: this text is meant, and no draft
  try {
    const [of, typed] = JSON.parse(drafts[key(textarea)]);
    return of === first && of === text ? typed : value;
  } catch { return value; }
}
function keep(textarea) {
  const { name, value } = textarea;
  try {
    if (value === came[name]) delete drafts[key(textarea)];
    else drafts[key(textarea)] = JSON.stringify([came[name], value]);
  } catch {} // no room
}
function run({ form, parentNode }) {
  (form ?? parentNode.closest("[data-scope]"))?.querySelector("[data-run]")?.click();
  return true;
}
const fill = (view, insert) => view?.dispatch({ changes: { from: 0, to: view.state.doc.length, insert } });

function mount(textarea) {
  const [label] = textarea.labels, name = label?.textContent.replace(textarea.textContent, "").trim();
  const host = Object.assign(document.createElement("div"), { className: "editor" });
  const field = () => document.getElementsByName(textarea.name)[0]; // which an answer may have replaced
  const changed = (news) => news.docChanged && keep(Object.assign(field(), { value: `${news.state.doc}` }));
  // undo leads back into the text that an answer has replaced
  const was = [...editors].find(([e, { view }]) => view && e.name === textarea.name)?.[1].view.state;
  textarea.addEventListener("input", () => keep(textarea)); // it may have to do without
  textarea.addEventListener("keydown", (e) => e.key === "Enter" && (e.ctrlKey || e.metaKey) && run(textarea));
  host.addEventListener("keydown", (event) => event.stopPropagation()); // none of the page's keys is meant
  label?.addEventListener("click", () => editors.get(textarea).view?.focus());
  textarea.after(host);
  try {
    const root = host.attachShadow({ mode: "open" }); // where a strict policy allows its style
    const view = new EditorView({ state: was, doc: textarea.value, parent: root, root, extensions: [
      keymap.of([{ key: "Mod-Enter", run: () => run(field()) }, { key: "F8", run: nextDiagnostic }]),
      keymap.of([...historyKeymap, ...defaultKeymap]), // none for Tab, which leads on
      lineNumbers(), lintGutter(), history(), bracketMatching(), indentOnInput(), indentUnit.of("    "),
      pythonLanguage, highlight, hues, theme, EditorView.updateListener.of(changed),
      EditorView.contentAttributes.of({ tabindex: "0", ...(name && { "aria-label": name }) }),
    ] });
    if (was && `${was.doc}` !== textarea.value) fill(view, textarea.value);
    textarea.hidden = true;
    const at = Math.max(0, textarea.value.indexOf(textarea.dataset.first ?? ""));
    view.requestMeasure({ read: () => (view.scrollDOM.scrollTop ||= view.lineBlockAt(at).top) });
    return { host, view, told: [null] }; // so that marks of before go
  } catch (error) {
    console.info(`Editor: ${error.message}`);
    host.remove();
    return { host };
  }
}
const all = (selector) => [...document.querySelectorAll(selector)];
function mark(textarea, editor, { view, told } = editor) { // the lines that the page says something of
  const found = all(`[data-editor-line][data-editor-for="${CSS.escape(textarea.name)}"]`);
  const now = found.flatMap((e) => [e, e.textContent]), { doc } = view.state;
  const ids = textarea.getAttribute("aria-describedby")?.split(" ") ?? []; // which lead out of no shadow
  view.contentDOM.ariaDescribedByElements = ids.flatMap((id) => document.getElementById(id) ?? []);
  if (now.length === told.length && now.every((one, i) => one === told[i])) return;
  editor.told = now;
  const lines = found.map((e) => doc.line(Math.max(1, Math.min(e.dataset.editorLine, doc.lines)) || 1));
  const marks = lines.map(({ from, to, text }, i) => ({
    from: from + text.search(/\S|$/), to, severity: "error", message: found[i].textContent.trim(),
  }));
  view.dispatch(setDiagnostics(view.state, marks));
  if (lines.length) reveal(view.scrollDOM, view.lineBlockAt(lines[0].from));
}
function reveal(within, { top, bottom }) { // without moving the page
  const { scrollTop, clientHeight } = within;
  if (top < scrollTop || bottom > scrollTop + clientHeight) within.scrollTop = top - clientHeight / 3;
}
function look() {
  for (const e of all("textarea[data-editor]")) {
    if (!editors.has(e)) e.value = draft(e), e.defaultValue = came[e.name], editors.set(e, {}); // for a reset
    if (!editors.get(e).host && !e.closest("details:not([open])")) editors.set(e, mount(e));
  }
  for (const [e, { host, view }] of editors)
    if (!e.isConnected) view?.destroy(), host?.remove(), editors.delete(e);
  for (const e of all("input[data-kept]")) try {
    if (e.defaultChecked) drafts[key(e)] = true; // an answer has set it
    e.checked ||= key(e) in drafts;
  } catch {} // no room
  for (const [textarea, editor] of editors) if (editor.view) mark(textarea, editor);
}
look();
new MutationObserver(look).observe(document, { childList: true, subtree: true });
document.addEventListener("toggle", look, true);
document.addEventListener("reset", ({ target }) => {
  for (const [e, { view }] of editors)
    if (e.form === target) fill(view, e.defaultValue), delete drafts[key(e)];
  setTimeout(() => target.querySelector("[data-run]")?.click()); // once all of it is as it was
});
