/* What the charts share: the axis of message sizes, a time axis, a tooltip, and drawing anew when the width changes. */
(() => {
  "use strict";
  const { el, svg, format } = explorer;
  const LEFT = 66, RIGHT = 14, FEWEST = 12;

  /* 0 has a place of its own, left of 1 B. */
  const power = (size) => (size < 1 ? -1.5 : Math.log2(size));
  function sizeAxis(sizes, width) {
    const powers = sizes.map(power), low = Math.floor(Math.min(...powers)), high = Math.floor(Math.max(...powers)) + 1;
    /* At least FEWEST columns, so that one size alone is no wall; nothing below 1 B unless there is a 0. */
    const missing = Math.max(0, FEWEST - (high - low)), from = low < 0 ? low : Math.max(0, low - Math.floor(missing / 2)), to = from + Math.max(FEWEST, high - from);
    const step = (width - LEFT - RIGHT) / (to - from);
    return { from, to, step, x: (size) => LEFT + (power(size) - from) * step, at: (p) => LEFT + (p - from) * step, width };
  }
  const zeroAt = (axis) => axis.at(-1.5);
  function drawSizeAxis(axis, y, top) {
    const group = svg("g", { class: "axis" });
    const every = [1, 2, 5, 10, 20].find((n) => n * axis.step >= 58) || 20;
    const first = axis.from < 0 ? 0 : axis.from;
    if (axis.from < 0) group.append(svg("text", { x: zeroAt(axis), y: y + 15, "text-anchor": "middle" }, "0"));
    for (let p = Math.ceil(first / every) * every; p <= axis.to; p += every) {
      const x = axis.at(p);
      group.append(svg("line", { class: "grid", x1: x, x2: x, y1: top, y2: y }));
      group.append(svg("text", { x, y: y + 15, "text-anchor": p === axis.to ? "end" : "middle" }, format.size(2 ** p)));
    }
    group.append(svg("line", { class: "base", x1: LEFT, x2: axis.width - RIGHT, y1: y, y2: y }));
    return group;
  }

  /* About `most` round numbers from 0 to the top; bytes step in powers of two. */
  function linear(top, unit, most) {
    if (!(top > 0)) return [0];
    const base = unit === "B" ? 2 : 10, steps = unit === "B" ? [1] : [1, 2, 5, 10];
    const magnitude = base ** Math.floor(Math.log(top / most) / Math.log(base));
    const step = (unit === "B" ? [1, 2, 4] : steps).map((m) => m * magnitude).find((s) => top / s <= most) || magnitude * base;
    const found = [];
    for (let i = 0; i * step <= top * 1.0001; i += 1) found.push(i * step);
    return found;
  }
  function logarithmic(low, high, most) {
    for (const mantissas of [[1, 2, 5], [1, 3], [1]]) {
      const found = [];
      for (let decade = Math.floor(Math.log10(low)); decade <= Math.log10(high); decade += 1) {
        for (const m of mantissas) if (m * 10 ** decade >= low && m * 10 ** decade <= high) found.push(m * 10 ** decade);
      }
      if (found.length <= most || mantissas.length === 1) return found;
    }
    return [];
  }

  /* One tooltip for the page. */
  const tip = el("div", { class: "tip", hidden: true, "aria-hidden": "true" });
  document.body.append(tip);
  function near(event) {
    const { clientX: x, clientY: y } = event, box = tip.getBoundingClientRect();
    tip.style.left = Math.max(6, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
    tip.style.top = (y + 16 + box.height > innerHeight ? y - box.height - 10 : y + 16) + "px";
  }
  /* `lines(target)` -> texts, the first of them the heading; nothing: no tooltip. */
  function hover(place, lines) {
    place.addEventListener("pointermove", (event) => {
      const texts = lines(event);
      tip.hidden = !texts;
      if (!texts) return;
      tip.replaceChildren(...texts.map((text, i) => el(i ? "div" : "b", {}, text)));
      near(event);
    });
    place.addEventListener("pointerleave", () => { tip.hidden = true; });
  }

  /* Draws now, again when the place gets another width, and for print as wide as its place on the paper. */
  const papers = new Map();
  function keepDrawn(place, draw, paper = 690) {
    let width = -1, printing = false;
    const now = () => { width = place.clientWidth; if (width) draw(width); };
    papers.set(place, { paper: () => { printing = true; draw(paper); }, screen: () => { printing = false; now(); } });
    new ResizeObserver(() => { if (!printing && place.clientWidth && place.clientWidth !== width) now(); }).observe(place);
    return now;
  }
  addEventListener("beforeprint", () => papers.forEach((one) => one.paper()));
  addEventListener("afterprint", () => papers.forEach((one) => one.screen()));

  const frame = (width, height, label, ...children) =>
    svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label }, ...children);

  explorer.chart = { LEFT, RIGHT, power, sizeAxis, drawSizeAxis, zeroAt, linear, logarithmic, hover, keepDrawn, frame };
})();
