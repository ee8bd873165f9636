/* Draws the figures when they come into view, in the page's colours; zoom, legend, theme, print. */
(() => {
  "use strict";
  /* The page's language: its texts beside their English. */
  const told = document.getElementById("texts"), texts = told ? JSON.parse(told.textContent) : {};
  const _ = (text) => texts[text] ?? text;
  const root = document.documentElement;
  const config = {
    displaylogo: false,
    responsive: true,
    displayModeBar: "hover",
    modeBarButtons: [["toImage"], ["zoom2d", "pan2d", "resetScale2d"]],
  };
  const charts = new Map();
  let figures = []; /* empty until inflated: nothing is drawn before */

  /* Colours: figures name roles of the style sheet, "@chosen" or "@chosen/15" (opacity in percent). */
  let palette = new Map();
  function colour(text) {
    const [role, percent] = text.slice(1).split("/");
    if (!palette.has(role)) palette.set(role, getComputedStyle(root).getPropertyValue("--" + role).trim());
    const hex = palette.get(role);
    return percent === undefined ? hex : hex + Math.round(percent * 2.55).toString(16).padStart(2, "0");
  }
  function resolved(node, key) {
    if (typeof node === "string") return node[0] === "@" && /color/i.test(key) ? colour(node) : node;
    if (key === "hovertext") return lines(node);
    if (Array.isArray(node)) return /color|^data$|shapes|annotations/i.test(key) ? node.map((item) => resolved(item, key)) : node;
    if (node === null || typeof node !== "object") return node;
    return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, resolved(value, name)]));
  }
  const lines = (texts) => (Array.isArray(texts) ? texts.map(lines) : texts && texts.replaceAll("\n", "<br>"));

  /* Ticks, as many as have room: the measured sizes; round times and gains. `low` and `high` are log10. */
  function timeText(us) {
    const [scale, unit] = us >= 1e6 ? [1e6, "s"] : us >= 1e3 ? [1e3, "ms"] : us >= 1 ? [1, "µs"] : [1e-3, "ns"];
    return Number((us / scale).toPrecision(4)) + " " + unit;
  }
  const gainText = (value) => Number(value.toPrecision(3)) + "×";
  function even(low, high, most) {
    const rough = (10 ** high - 10 ** low) / most, magnitude = 10 ** Math.floor(Math.log10(rough));
    const step = magnitude * [1, 2, 5, 10].find((m) => m * magnitude >= rough);
    const found = [];
    for (let i = Math.ceil(10 ** low / step); i * step <= 10 ** high; i += 1) found.push(i * step);
    return found;
  }
  function mantissas(low, high, allowed, every) {
    const found = [];
    for (let decade = Math.floor(low); decade <= high; decade += 1) {
      if (decade % every) continue;
      for (const m of allowed) {
        const value = m * 10 ** decade;
        if (Math.log10(value) >= low - 1e-9 && Math.log10(value) <= high + 1e-9) found.push(value);
      }
    }
    return found;
  }
  function powersOfTwo(low, high, step) {
    const found = [];
    for (let p = Math.ceil(low * Math.log2(10) / step) * step; p <= high * Math.log2(10) + 1e-9; p += step) found.push(p);
    return found;
  }
  function ticks(kind, low, high, pixels, sizes) {
    if (kind === "size") {
      const found = { tickvals: [], ticktext: [] };
      let free = -Infinity; /* where the last label ends, in pixels */
      for (const [position, text] of sizes) {
        const at = (Math.log10(position) - low) / (high - low) * pixels, half = (text.length * 6 + 8) / 2;
        if (at < 0 || at > pixels || at - half < free) continue;
        free = at + half;
        found.tickvals.push(position);
        found.ticktext.push(text);
      }
      return found;
    }
    const most = Math.max(3, pixels / 30), text = kind === "time" ? timeText : gainText;
    let tickvals;
    if (high - low < 0.75) tickvals = even(low, high, most);
    else if (kind === "gain") {
      const step = [1, 2, 3, 4].find((s) => (high - low) * Math.log2(10) / s <= most) || 6;
      tickvals = powersOfTwo(low, high, step).map((p) => 2 ** p);
    } else {
      tickvals = [[[1, 1.5, 2, 3, 4, 5, 7], 1], [[1, 2, 3, 5], 1], [[1, 2, 5], 1], [[1, 3], 1], [[1], 1], [[1], 2], [[1], 3]]
        .map(([m, every]) => mantissas(low, high, m, every)).find((found) => found.length <= most) || [];
    }
    return { tickvals, ticktext: tickvals.map(text) };
  }

  /* Ranges: the y axes follow what is visible inside the x range. */
  const axisName = (id) => id[0] + "axis" + id.slice(1);
  function fitted(data, layout) {
    const [left, right] = layout.xaxis.range, change = {};
    for (const [id, kind] of Object.entries(layout.meta.axes)) {
      if (id[0] !== "y" || !kind) continue;
      let low = Infinity, high = -Infinity, lowest = Infinity, highest = -Infinity;
      for (const trace of data) {
        if (trace.visible === false || (trace.yaxis || "y") !== id || !trace.y) continue;
        trace.y.forEach((y, i) => {
          const x = Math.log10(trace.x[i]);
          if (!(y > 0) || x < left - 1e-6 || x > right + 1e-6) return;
          if (trace.fill !== "toself") { low = Math.min(low, y); high = Math.max(high, y); }
          const { array = [], arrayminus = [] } = trace.error_y || {};
          lowest = Math.min(lowest, y - (arrayminus[i] || 0));
          highest = Math.max(highest, y + (array[i] || 0));
        });
      }
      /* Intervals are shown as far as they leave room for the curves. */
      low = Math.max(Math.min(low, lowest), low / 1.5);
      high = Math.min(Math.max(high, highest), high * 1.5);
      if (kind === "gain") { low = Math.min(low, 0.95); high = Math.max(high, 1.05); }
      if (!(high > 0)) continue;
      const pad = Math.max(0.06 * Math.log10(high / low), 0.012);
      change[id] = [Math.log10(low) - pad, Math.log10(high) + pad];
    }
    return change;
  }
  function pixels(layout, id, plot) {
    if (id[0] === "x") return (layout.width || plot.clientWidth) - 80;
    const domain = layout[axisName(id)].domain || [0, 1];
    return (layout.height - 54) * (domain[1] - domain[0]);
  }
  function dress(layout, plot) {
    for (const [id, kind] of Object.entries(layout.meta.axes)) {
      if (!["size", "time", "gain"].includes(kind)) continue;
      const axis = layout[axisName(id)];
      if (!axis.range) continue;
      Object.assign(axis, { tickmode: "array" }, ticks(kind, axis.range[0], axis.range[1], pixels(layout, id, plot), layout.meta.sizes));
    }
  }

  /* Drawing. */
  function chart(plot) {
    if (!charts.has(plot)) {
      const spec = figures[Number(plot.dataset.figure)];
      spec.data.forEach((trace, i) => {
        if (trace.like !== undefined) spec.data[i] = { ...spec.data[trace.like], ...trace };
        delete spec.data[i].like;
      });
      charts.set(plot, { spec, shown: new Map(), drawn: false });
    }
    return charts.get(plot);
  }
  function viewed(spec, around) {
    if (!spec.views) return spec;
    const view = spec.views[around ? around.dataset.view : Object.keys(spec.views)[0]];
    return { data: spec.data.map((trace, i) => ({ ...trace, y: view.y[i], error_y: { ...trace.error_y, ...view.error[i] } })), layout: { ...spec.layout, ...view.layout } };
  }
  const section = (plot) => plot.closest("[data-zoom]");
  function figure(plot, width) {
    const state = chart(plot), around = section(plot);
    const spec = viewed(state.spec, around);
    const data = resolved(spec.data, "data").map((trace, i) => (state.shown.has(i) ? { ...trace, visible: state.shown.get(i) } : trace));
    const layout = resolved(spec.layout, "layout");
    if (layout.meta.axes.x === "size" && layout.xaxis.range) {
      if (around && around.dataset.zoom) layout.xaxis.range = JSON.parse(around.dataset.zoom);
      const same = plot.closest("[data-same]");
      const together = same ? [...same.querySelectorAll(".plot")].flatMap((other) => viewed(chart(other).spec, around).data) : data;
      for (const [id, range] of Object.entries(fitted(together, layout))) layout[axisName(id)].range = range;
    }
    layout.font.family = getComputedStyle(document.body).fontFamily;
    const rows = layout.yaxis.type === "category";
    if (width) {
      /* Every node of a fabric has a row to be read; of a timeline the shape is enough. */
      const most = data[0].type === "heatmap" || layout.yaxis.ticktext ? 900 : rows ? 340 : 230;
      Object.assign(layout, { width, autosize: false, height: Math.min(layout.height, most) });
    }
    if (rows) shorten(data, layout, width || plot.clientWidth);
    if (layout.meta.axes.x === "category") fitText(data[1], layout, width || plot.clientWidth);
    dress(layout, plot);
    return { data, layout };
  }
  /* Names of rows leave more than half of the width to what they name: head and tail stay, pointing shows all. */
  function shorten(data, layout, width) {
    const most = Math.max(12, Math.floor(width * 0.42 / 5.8)), names = [...new Set(data.flatMap((trace) => (trace.yaxis || "y") === "y" ? trace.y : []))];
    if (names.every((name) => name.length <= most)) return;
    const head = Math.ceil(most * 0.25), cut = (name) => (name.length > most ? name.slice(0, head) + "…" + name.slice(head + 1 - most) : name);
    Object.assign(layout.yaxis, { tickmode: "array", tickvals: names, ticktext: names.map(cut) });
  }
  /* A map's numbers shrink with its cells, and leave when they would be unreadable. */
  function fitText(map, layout, width) {
    const names = Math.max(...(layout.yaxis.ticktext || map.y).map((name) => name.length)) * 5.8;
    const cell = (width - names - 30) / map.x.length;
    if (cell < 27) map.textfont.size = 8;
    if (cell < 19) map.texttemplate = "";
  }
  /* Its column heads stand above it and stay in view. */
  function headMap(plot) {
    const axis = plot._fullLayout.xaxis, head = plot.previousElementSibling, names = plot.data[0].x;
    const cell = axis._length / names.length, every = [1, 2, 3, 4, 6].find((step) => step * cell >= 30) || 8;
    head.replaceChildren(...names.map((name, i) => {
      const span = document.createElement("span");
      span.textContent = i % every ? "" : name;
      span.style.left = axis._offset + (i + 0.5) * cell + "px";
      return span;
    }));
  }
  function draw(plot, width) {
    const state = chart(plot), { data, layout } = figure(plot, width);
    const isMap = layout.meta.axes.x === "category";
    Plotly.react(plot, data, layout, isMap ? { ...config, displayModeBar: false } : config);
    if (isMap) headMap(plot);
    if (!state.drawn) {
      state.drawn = true;
      if (isMap) plot.on("plotly_afterplot", () => headMap(plot));
      plot.on("plotly_relayout", (change) => { if (Object.keys(change).some((key) => /axis\d*\.range/.test(key))) retick(plot); });
    }
  }
  function retick(plot) {
    const change = {};
    for (const [id, kind] of Object.entries(plot.layout.meta.axes)) {
      const axis = plot.layout[axisName(id)];
      if (!["size", "time", "gain"].includes(kind) || !axis.range) continue;
      const found = ticks(kind, axis.range[0], axis.range[1], pixels(plot.layout, id, plot), plot.layout.meta.sizes);
      change[axisName(id) + ".tickvals"] = found.tickvals;
      change[axisName(id) + ".ticktext"] = found.ticktext;
    }
    Plotly.relayout(plot, change);
  }
  const plots = [...document.querySelectorAll(".plot")];
  const redraw = (some) => some.forEach((plot) => { if (charts.has(plot) && chart(plot).drawn) draw(plot); });
  const watcher = new IntersectionObserver((entries) => entries.forEach((entry) => {
    if (!entry.isIntersecting) return;
    watcher.unobserve(entry.target);
    draw(entry.target);
  }), { rootMargin: "400px 0px" });
  /* The library and the figures are deflated (packed.py). */
  const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~";
  function unwritten(text) {
    const digits = new Uint8Array(128), bytes = new Uint8Array(Math.ceil(text.length / 5) * 4), whole = new DataView(bytes.buffer);
    for (let i = 0; i < DIGITS.length; i += 1) digits[DIGITS.charCodeAt(i)] = i;
    for (let i = 0; i < text.length; i += 5) {
      let value = 0;
      for (let j = i; j < i + 5; j += 1) value = value * 85 + (j < text.length ? digits[text.charCodeAt(j)] : 84);
      whole.setUint32(i / 5 * 4, value);
    }
    return bytes.subarray(0, Math.floor(text.length * 4 / 5));
  }
  async function inflated(id) {
    const bytes = unwritten(document.getElementById(id).textContent);
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  }
  /* They lie property by property: see Figures in packed.py. */
  function whole({ figures: drawn, ends, traces }) {
    const columns = Object.entries(traces);
    let number = 0;
    drawn.forEach((figure, index) => {
      for (figure.data = []; number < ends[index]; number += 1) {
        figure.data.push(Object.fromEntries(columns.flatMap(([name, column]) => (column[number] === null ? [] : [[name, column[number]]]))));
      }
    });
    return drawn;
  }
  async function begin() {
    if (typeof DecompressionStream === "undefined") { document.getElementById("too-old").hidden = false; return; }
    const [library, written] = await Promise.all(["library", "figures"].map(inflated));
    const script = document.createElement("script");
    script.textContent = library;
    document.head.append(script);
    figures = whole(JSON.parse(written));
    plots.forEach((plot) => watcher.observe(plot));
    root.dataset.ready = "";
  }
  if (plots.length) begin();

  /* Zoom to a group of sizes, gain or time in the steps: one choice for all figures of a case. */
  document.querySelectorAll("[data-zoom]").forEach((around) => {
    const mine = [...around.querySelectorAll(".plot")];
    around.querySelectorAll("button[data-set]").forEach((button) => button.addEventListener("click", () => {
      around.dataset[button.dataset.set] = button.dataset.value;
      around.querySelectorAll(`button[data-set=${button.dataset.set}]`)
        .forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
      redraw(mine);
    }));
  });

  /* Legends: every entry shows or hides its traces. */
  document.querySelectorAll(".legend").forEach((legend) => {
    const plot = legend.parentElement.querySelector(".plot");
    const press = (button, on) => {
      if (!figures.length) return;
      button.setAttribute("aria-pressed", String(on));
      JSON.parse(button.dataset.traces).forEach((i) => chart(plot).shown.set(i, on));
    };
    legend.querySelectorAll("button[data-traces]").forEach((button) => button.addEventListener("click", () => {
      press(button, button.getAttribute("aria-pressed") !== "true");
      if (figures.length) draw(plot);
    }));
    const others = [...legend.querySelectorAll(".others button")];
    const none = legend.querySelector("button[data-none]");
    if (none) none.addEventListener("click", () => { others.forEach((button) => press(button, false)); if (figures.length) draw(plot); });
    const filter = legend.querySelector("input");
    if (filter) filter.addEventListener("input", () => {
      const words = filter.value.toLowerCase().split(/\s+/);
      others.forEach((button) => { button.parentElement.hidden = !words.every((word) => button.title.toLowerCase().includes(word)); });
    });
  });

  /* Theme: the system's, until asked. */
  const system = matchMedia("(prefers-color-scheme: dark)");
  const toggle = document.getElementById("theme");
  const dark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  function themed() {
    palette = new Map();
    toggle.setAttribute("aria-pressed", String(dark()));
    redraw(plots);
  }
  function remembered(value) {
    try { return value === undefined ? localStorage.getItem("unisono-theme") : localStorage.setItem("unisono-theme", value); }
    catch { return null; } /* a page opened from a file may have no storage */
  }
  const kept = remembered();
  if (kept === "light" || kept === "dark") root.dataset.theme = kept;
  themed();
  toggle.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; remembered(root.dataset.theme); themed(); });
  system.addEventListener("change", themed);

  /* Print: light, what is open and no more, every figure as wide as its place on the paper and lower. */
  const PAPER = 700;
  let before = null;
  const printed = (plot) => !plot.closest("details:not([open]), .steps, .map, .screen");
  addEventListener("beforeprint", () => {
    if (before) return;
    before = { theme: root.dataset.theme };
    root.dataset.theme = "light";
    palette = new Map();
    if (figures.length) plots.filter(printed).forEach((plot) => { watcher.unobserve(plot); draw(plot, plot.closest(".panels") ? PAPER / 2 - 8 : PAPER); });
  });
  addEventListener("afterprint", () => {
    if (!before) return;
    if (before.theme) root.dataset.theme = before.theme; else delete root.dataset.theme;
    before = null;
    themed();
  });

  /* On a narrow page a table's row is a list: each value with the head of its column. */
  document.querySelectorAll(".scroll table").forEach((table) => {
    const heads = [...table.querySelectorAll("thead tr:last-child th")];
    if (!heads.length || heads.some((head) => head.colSpan > 1)) return;
    const words = heads.map((head) => (head.querySelector("svg") ? "" : head.textContent.trim()));
    table.classList.add("list");
    table.querySelectorAll("tbody tr").forEach((row) => {
      let column = 0;
      for (const cell of row.cells) {
        if (cell.tagName === "TD" && words[column]) cell.dataset.head = words[column];
        column += cell.colSpan;
      }
    });
  });

  /* Copy a command. */
  document.querySelectorAll("pre button").forEach((button) => button.addEventListener("click", () => {
    const text = button.parentElement.querySelector("code").textContent;
    const done = () => { button.textContent = _("copied"); setTimeout(() => { button.textContent = _("copy"); }, 1500); };
    const select = () => { getSelection().selectAllChildren(button.parentElement.querySelector("code")); };
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, select); else select();
  }));

  /* A link to something inside a closed part opens it. */
  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();
})();
