// What a page must hold whatever it shows, as functions that name what breaks it: for test_sweep.py, which runs them
// in a page that is open. `wrong` is of text, `torn` of the headings of tables, `small` of what can be pressed.
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const bare = (e) => // what it is, without which one it is
    `${e?.localName} ${(e?.getAttribute("class") ?? "").replace(/\b([LHO]\d?|[znp]\d*|[wbD]\d+)(?= |$)/g, "").trim()}`;
  const open = new CSSStyleSheet(), own = new CSSStyleSheet(); // the policy lets no style element in

  // answers and details are open, and of each choice the cases that this selector names
  window.show = (cases) => open.replaceSync(`${cases}, .ask .why { display: block !important; }
    .panels > :is(${cases}) { visibility: visible !important; grid-area: auto !important; }`);
  document.adoptedStyleSheets = [open, own];
  window.unfold = () => {
    show(".C:last-child");
    for (const e of all("details")) e.open = true;
  };
  // the spacing of text that WCAG 2.2 lets a reader ask for (1.4.12), as a style sheet of the reader's own
  window.space = (on) => own.replaceSync(!on ? "" : `* { line-height: 1.5 !important;
    letter-spacing: .12em !important; word-spacing: .16em !important; } p { margin-bottom: 2em !important; }`);

  // Text that is beside the page, cut off, or wider than its cell; a number in two lines; one in a cell that is smaller
  // than `least` pixels. Each kind of place once. What can be scrolled to is not lost; what is for the ear is not seen.
  // With a reader's own letters (`least` is 0) text may stand out of its line, and a table out of what scrolls it.
  window.wrong = (least) => {
    const within = least ? 0.5 : 2;
    const root = document.scrollingElement, range = document.createRange(), told = new Map(), known = new Map();
    const far = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };
    const say = (what, e, text) => {
      const place = `${what}: ${bare(e.parentElement)} > ${bare(e)}`;
      told.set(place, [...(told.get(place) ?? []), text]);
    };
    // the box that cuts an element's text off (none, where it can be scrolled to), and the cell that the text is in;
    // null for what is not seen, or for the ear alone
    const bounds = (e) => {
      if (!known.has(e)) known.set(e, measure(e));
      return known.get(e);
    };
    const measure = (e) => {
      const style = getComputedStyle(e), box = e.getBoundingClientRect(), { overflowX: x, overflowY: y } = style;
      const page = { clip: { ...far, left: 0, right: root.clientWidth } };
      const above = e === document.body ? page : bounds(e.parentElement);
      if (!above || style.clipPath !== "none" || style.opacity === "0") return null;
      const cell = /^(inline|contents)$/.test(style.display) ? above.cell : { e, box };
      const moves = /auto|scroll/.test(x + y), scrolled = moves || above.scrolled;
      if (moves) return { style, cell, scrolled, clip: far };
      if (x === "visible" && y === "visible") return { style, cell, scrolled, clip: above.clip };
      const own = x === "visible" ? { ...far, top: box.top, bottom: box.bottom }
        : y === "visible" ? { ...far, left: box.left, right: box.right } : box;
      return { style, cell, scrolled, clip: {
        left: Math.max(above.clip.left, own.left), top: Math.max(above.clip.top, own.top),
        right: Math.min(above.clip.right, own.right), bottom: Math.min(above.clip.bottom, own.bottom) } };
    };
    if (root.scrollWidth > root.clientWidth) {
      const right = (e) => e.getBoundingClientRect().right;
      const beside = all("body *").filter((e) => e.checkVisibility() && right(e) > root.clientWidth + 1);
      say("the page scrolls sideways", beside.sort((a, b) => right(b) - right(a))[0] ?? root, root.scrollWidth);
    }
    window.texts ??= all("body *").filter((e) => !e.closest("svg, option, textarea, script"))
      .flatMap((e) => [...e.childNodes].filter((n) => n.nodeType === Node.TEXT_NODE && n.data.trim()));
    for (const node of texts) {
      const e = node.parentElement;
      if (!e?.checkVisibility()) continue;
      const found = bounds(e);
      if (found?.style.visibility !== "visible" || (!least && found.scrolled)) continue;
      range.selectNodeContents(node);
      const lines = [...range.getClientRects()].filter((line) => line.width);
      if (!lines.length) continue;
      const { clip, cell } = found, text = node.data.trim().slice(0, 40), code = e.closest("pre");
      const beyond = (box) => lines.some((line) => line.right > box.right + within ||
        (least && line.left < box.left - within));
      const below = lines.some((line) => (least && line.top < clip.top - 3) || line.bottom > clip.bottom + 3);
      const box = least || cell.e === e ? cell.box : far;
      const floor = (least && e.closest(".stage")?.getBoundingClientRect().bottom) || Infinity;
      if (lines.some((line) => line.bottom > floor + 3)) say("below its picture", e, text);
      if (beyond(clip) || below) say("cut off", e, text);
      else if (!code && !e.matches("mo") && beyond(box)) say("wider than its cell", e, text); // a bracket grows
      const figure = /(?<![\p{L}\d.-])[−-]?\d[\d.,\u202f]*(e[−-]?\d+)?/gu;
      const numbers = least && lines.length > 1 && !code ? node.data.matchAll(figure) : [];
      for (const { index, 0: number } of numbers) {
        range.setStart(node, index);
        range.setEnd(node, index + number.length);
        if (range.getClientRects().length > 1) say("in two lines", e, number);
      }
      const small = parseFloat(found.style.fontSize) < least;
      if (small && cell.e.matches("i, td") && /\d/.test(text)) say("too small", e, text);
    }
    return [...told].map(([place, texts]) => `${place} (${texts.length}, ${texts[0]})`);
  };

  // the words in the heads of tables that are broken, and no hyphen says so
  window.torn = () => all("thead th").flatMap((th) => {
    const found = [], walk = document.createTreeWalker(th, NodeFilter.SHOW_TEXT), range = document.createRange();
    for (let n; (n = walk.nextNode());)
      for (const word of n.data.matchAll(/[^\s-]+/g)) {
        range.setStart(n, word.index);
        range.setEnd(n, word.index + word[0].length);
        const lines = [...range.getClientRects()].map((box) => Math.round(box.top));
        if (new Set(lines).size > 1) found.push(`in two lines: the heading ${word[0]}`);
      }
    return found;
  });

  // The charts whose bars are not as long, or as high, as their numbers say, by the longest: within two percent, or a
  // pixel; the least that is drawn is two pixels. A chart is a column of a table, or what lies in parts of one kind in one
  // list or drawing. A dot has no length, and a bar under a word is a share of the word.
  window.uneven = () => {
    const charts = new Map(), known = new Map();
    for (const e of all("main .bar:not(.dot)")) {
      if (!e.checkVisibility({ visibilityProperty: true }) || e.nextElementSibling?.matches(".word")) continue;
      const share = parseFloat(getComputedStyle(e).getPropertyValue("--w"));
      if (!(share >= 1)) continue;
      const cell = e.closest("td, th, dd, [role=cell]");
      let part = e.parentElement;
      while (getComputedStyle(part).display === "contents") part = part.parentElement;
      const chart = (cell ?? e).closest("table, dl, ul, ol, [role=table], .drawing, .board, .widget, main");
      if (!known.has(chart)) known.set(chart, known.size);
      const kind = cell ? `column ${[...cell.parentElement.children].indexOf(cell)}` : `${bare(part)} of ${bare(part.parentElement)}`;
      const place = `${kind} of ${bare(chart)}, chart ${known.get(chart)}`, { width, height } = e.getBoundingClientRect();
      if (!charts.has(place)) charts.set(place, []);
      charts.get(place).push({ share, width, height });
    }
    const differs = (bars, side) => {
      const most = bars.reduce((a, b) => (b.share > a.share ? b : a)), due = ({ share }) => (most[side] * share) / most.share;
      return bars.some((one) => Math.abs(Math.max(2, one[side]) - Math.max(2, due(one))) > Math.max(1, due(one) / 50));
    };
    return [...charts].filter(([, bars]) => differs(bars, "width") && differs(bars, "height"))
      .map(([place]) => `bars that are cut: ${place}`);
  };

  // what was seen when this was asked first, of a screen of 1440 pixels or more, and is not any more: on a larger screen
  // nothing of a page is missing
  window.poorer = () => {
    if (innerWidth < 1440) return [];
    const range = document.createRange(), how = { opacityProperty: true, visibilityProperty: true };
    const seen = new Set(texts.filter((node) => {
      range.selectNodeContents(node);
      return node.parentElement?.checkVisibility(how) && range.getBoundingClientRect().width;
    }));
    const lost = [...(window.richest ??= seen)].filter((node) => !seen.has(node));
    return [...Map.groupBy(lost, (node) => bare(node.parentElement))]
      .map(([place, nodes]) => `missing: ${place} (${nodes.length}, ${nodes[0].data.trim().slice(0, 40)})`);
  };

  // what can be pressed and is smaller than 24 x 24, but for what stands in a sentence; a label presses its control
  window.small = () => all("a, button, input, label, summary, select, textarea").flatMap((e) => {
    const shown = e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !e.closest(".skip");
    const words = (n) => n.nodeType === Node.TEXT_NODE && /\p{L}/u.test(n.textContent);
    if (!shown || e.closest("label") !== (e.matches("label") ? e : null)) return [];
    const inline = e.matches("a, .to") && getComputedStyle(e).display === "inline";
    if (inline && [...e.parentNode.childNodes].some(words)) return [];
    const { width, height } = e.getBoundingClientRect();
    return width >= 24 && height >= 24 ? [] : [`too small to press: ${e.outerHTML.slice(0, 90)} ${width} x ${height}`];
  });

  // a field for the reader's own text that is not on the first screen: of a phone, of a desk, or of a frame on a slide
  window.late = () => {
    const field = document.querySelector("#live #prompt"), room = { 390: 844, 750: 450 }[innerWidth] ?? 900;
    const bottom = field ? field.getBoundingClientRect().bottom + scrollY : 0;
    return bottom > room ? [`the field for one's own text ends at ${bottom} of ${room}`] : [];
  };

  // Of each kind of text the first and one of the middle: what has the same classes, but for those that say which one it
  // is (R3, L0), and stands in what has, has the same colours.
  window.kinds = () => {
    const found = new Map(), known = new Map([[document, ""]]);
    const kind = (e) => known.get(e) ?? (known.set(e, `${kind(e.parentNode)} > ${e.localName}.${
      (e.getAttribute("class") ?? "").replace(/\b[A-Z]\d+\b/g, "")}.${e.getAttribute("style") ?? ""}`), known.get(e));
    for (const e of all("body *")) {
      const words = [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim());
      if (!words || !e.checkVisibility()) continue;
      if (!found.has(kind(e))) found.set(kind(e), []);
      found.get(kind(e)).push(e);
    }
    return [...found.values()].flatMap((some) => [...new Set([some[0], some[some.length >> 1]])]);
  };

  // What is not drawn, with all that is in it: axe would ask each for its styles one by one, which then are made for it
  // alone. What has no box itself, but whose children have, is drawn.
  window.hidden = () => {
    const found = [], drawn = (e) => e.checkVisibility() || getComputedStyle(e).display === "contents";
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT,
      (e) => (drawn(e) ? NodeFilter.FILTER_ACCEPT : (found.push(e), NodeFilter.FILTER_REJECT)));
    while (walk.nextNode());
    return found;
  };

  // What axe finds, but in what is not drawn. When it looks for what lies where, it asks each element for ten styles before
  // it finds that it lies nowhere: it does not come to those. And as it asks of each element for each rule whether it is
  // in any that is left out, one of them answers for all.
  window.violations = () => {
    const gone = hidden(), within = new Set(gone.flatMap((e) => [e, ...all("*", e)]));
    const exclude = gone.slice(0, 1), walker = Document.prototype.createTreeWalker;
    const drawn = (e) => (within.has(e) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
    document.createTreeWalker = (root, kinds) => walker.call(document, root, kinds, drawn);
    for (const one of exclude) one.contains = (e) => within.has(e);
    return axe.run({ exclude }, { resultTypes: ["violations"] }).finally(() => {
      delete document.createTreeWalker;
      for (const one of exclude) delete one.contains;
    });
  };

  // What functions here, by their names, find at widths of the frame that the page is in, or of the widget in it, each
  // with its width. In one go: nothing is painted between.
  window.walk = (asked, least, column) => {
    const place = column ? document.querySelector(".widget") : frameElement, found = [];
    if (column) frameElement.style.width = "1600px";
    for (const [width, names] of asked) {
      place.style.width = `${width}px`;
      for (const one of names) found.push(...window[one](least).map((told) => `${width}: ${told}`));
    }
    if (column) place.style.width = "";
    return found;
  };

  // What is wrong where of each group of radio buttons that show one state at a time this one is chosen: 0 is the
  // first, 1 the last. It is looked for once all are chosen, or after `each`.
  window.states = (asked, least, share, each) => {
    const groups = Object.entries(Object.groupBy(
      all("main [type=radio]:not(.cases:not(:has(> .drawn)) > .pick *, .ask *):enabled"), (e) => e.name));
    const found = groups.flatMap(([name, some]) => {
      some[Math.round(share * (some.length - 1))].click();
      return each ? walk(asked, least).map((told) => `${name} at ${share}: ${told}`) : [];
    });
    return each && groups.length ? found : walk(asked, least).map((told) => `all at ${share}: ${told}`);
  };
})();
