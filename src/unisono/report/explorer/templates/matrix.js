/* The communication matrix: who sends to whom point to point. One path a shade, so 65,000 cells are eight elements. */
(() => {
  "use strict";
  const { el, svg, format, chart, _ } = explorer;
  const SHADES = 8, LEFT = 74, TOP = 30;

  explorer.matrix = (data, place, list, legend) => {
    const { columns, pairs } = data, count = columns["pair.source"].length;
    const name = (block) => (pairs.block === 1 ? _("rank {number}", { number: block }) : _("ranks {first}–{last}", { first: block * pairs.block, last: Math.min(pairs.ranks, (block + 1) * pairs.block) - 1 }));
    let mode = "bytes", index = new Map();
    for (let i = 0; i < count; i += 1) index.set(columns["pair.source"][i] * pairs.side + columns["pair.target"][i], i);

    function draw(width) {
      const values = columns[`pair.${mode}`], unit = mode === "bytes" ? "B" : "calls";
      const side = Math.max(120, Math.min(width - LEFT - 12, 560, pairs.side * 44)), cell = side / pairs.side;
      let low = Infinity, high = 0;
      for (const value of values) if (value > 0) { low = Math.min(low, value); high = Math.max(high, value); }
      /* Logarithmic, over a range of 16 at least: nearly equal values look alike. */
      const faint = Math.min(low, high / 16), shade = (value) => Math.min(SHADES - 1, Math.floor((Math.log(value / faint) / Math.log(high / faint)) * SHADES));
      const paths = Array.from({ length: SHADES }, () => []);
      for (let i = 0; i < count; i += 1) {
        if (!(values[i] > 0)) continue;
        const gap = cell > 6 ? 1 : 0, x = LEFT + columns["pair.target"][i] * cell, y = TOP + columns["pair.source"][i] * cell, w = Math.max(cell - gap, 0.8);
        paths[shade(values[i])].push(`M${x.toFixed(2)} ${y.toFixed(2)}h${w.toFixed(2)}v${w.toFixed(2)}h-${w.toFixed(2)}z`);
      }
      const root = chart.frame(LEFT + side + 10, TOP + side + 8, mode === "bytes" ? _("Communication matrix by bytes: {count} pairs", { count: format.count(count) }) : _("Communication matrix by calls: {count} pairs", { count: format.count(count) }));
      root.append(svg("rect", { class: "ground", x: LEFT, y: TOP, width: side, height: side }));
      paths.forEach((parts, i) => { if (parts.length) root.append(svg("path", { class: "cells", d: parts.join(""), "fill-opacity": ((i + 1.2) / (SHADES + 0.2)).toFixed(2) })); });
      const every = Math.max(1, [1, 2, 4, 8, 16, 32, 64, 128].find((n) => n * cell >= 34) || 128);
      for (let at = 0; at < pairs.side; at += every) {
        const middle = (at + 0.5) * cell, text = String(at * pairs.block);
        root.append(svg("text", { x: LEFT - 6, y: TOP + middle + 4, "text-anchor": "end" }, text), svg("text", { x: LEFT + middle, y: TOP - 6, "text-anchor": "middle" }, text));
      }
      root.append(svg("text", { class: "title", x: LEFT, y: 11 }, _("receiver →")), svg("text", { class: "title", x: 12, y: TOP + 10, transform: `rotate(-90 12 ${TOP + 10})`, "text-anchor": "end" }, _("← sender")));
      chart.hover(root, (event) => {
        const box = root.getBoundingClientRect(), scale = (LEFT + side + 10) / box.width;
        const target = Math.floor(((event.clientX - box.left) * scale - LEFT) / cell), source = Math.floor(((event.clientY - box.top) * scale - TOP) / cell);
        if (target < 0 || source < 0 || target >= pairs.side || source >= pairs.side) return null;
        const i = index.get(source * pairs.side + target);
        return [`${name(source)} → ${name(target)}`, i === undefined ? _("nothing") : _("{bytes} in {count} messages", { bytes: format.bytes(columns["pair.bytes"][i]), count: format.count(columns["pair.calls"][i]) })];
      });
      place.replaceChildren(root);
      legend.replaceChildren(format.unit(faint, unit), el("i", { "aria-hidden": "true" }), format.unit(high, unit));
      const order = [...values.keys()].sort((a, b) => values[b] - values[a]).slice(0, 10);
      list.replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, el("th", {}, _("largest pairs")), ...[_("bytes"), _("messages"), _("a message")].map((text) => el("th", { class: "n" }, text)))),
        el("tbody", {}, ...order.map((i) => el("tr", {}, el("td", {}, `${name(columns["pair.source"][i])} → ${name(columns["pair.target"][i])}`),
          ...[format.bytes(columns["pair.bytes"][i]), format.count(columns["pair.calls"][i]), format.bytes(columns["pair.bytes"][i] / columns["pair.calls"][i])].map((text) => el("td", { class: "n" }, text)))))));
    }
    const again = chart.keepDrawn(place, draw, 500);
    again();
    return (chosen) => { mode = chosen; again(); };
  };
})();
