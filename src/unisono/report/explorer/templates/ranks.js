/* Strips over the ranks: one path a part, at most one column a pixel pair; where ranks share a column, the largest. */
(() => {
  "use strict";
  const { svg, format, chart } = explorer;

  /* parts: [{ css, values }] drawn on top of each other; lines between nodes. `name(i)` and `lines(i)` are for the tooltip. */
  explorer.strip = (place, { parts, unit, nodes, height, lines, chosen, label, axis = true }) => {
    const draw = (width) => {
      const left = axis ? chart.LEFT : 0, right = axis ? chart.RIGHT : 0, room = width - left - right, count = parts[0].values.length;
      const per = Math.max(1, Math.ceil((count * 2) / room)), columns = Math.ceil(count / per), step = room / columns, base = height - (axis ? 18 : 2);
      const total = (i) => parts.reduce((sum, part) => sum + (part.values[i] || 0), 0);
      let top = 0;
      for (let i = 0; i < count; i += 1) top = Math.max(top, total(i));
      const y = (value) => base - (top > 0 ? value / top : 0) * (base - 6);
      const shown = Array.from({ length: columns }, (_, column) => {
        let best = column * per;
        for (let i = best; i < Math.min(count, best + per); i += 1) if (total(i) > total(best)) best = i;
        return best;
      });
      const root = chart.frame(width, height, label);
      if (axis) for (const tick of chart.linear(top, unit, 4)) {
        root.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }), svg("text", { x: left - 7, y: y(tick) + 4, "text-anchor": "end" }, format.unit(tick, unit)));
      }
      const below = new Float64Array(columns), gap = step > 5 ? 1 : 0;
      for (const part of parts) {
        const d = shown.map((i, column) => {
          const value = part.values[i] || 0, from = below[column];
          below[column] += value;
          const high = y(from) - y(from + value);
          return high > 0 ? `M${(left + column * step).toFixed(2)} ${y(from + value).toFixed(2)}h${(step - gap).toFixed(2)}v${high.toFixed(2)}h-${(step - gap).toFixed(2)}z` : "";
        }).join("");
        root.append(svg("path", { class: part.css, d }));
      }
      const every = [1, 2, 4, 8, 16, 32, 64, 128, 256].find((n) => n * step >= 34) || 512;
      shown.forEach((i, column) => {
        const x = left + column * step;
        if (column && nodes[i] !== nodes[shown[column - 1]]) root.append(svg("line", { class: "node", x1: x - gap / 2, x2: x - gap / 2, y1: 4, y2: base }));
        if (axis && column % every === 0) root.append(svg("text", { x: x + step / 2, y: height - 4, "text-anchor": "middle" }, String(explorer.firstRank(column * per))));
      });
      const at = (event) => {
        const box = root.getBoundingClientRect(), column = Math.floor((((event.clientX - box.left) * width) / box.width - left) / step);
        return column >= 0 && column < columns ? shown[column] : null;
      };
      chart.hover(root, (event) => { const i = at(event); return i === null ? null : lines(i); });
      if (chosen) root.addEventListener("click", (event) => { const i = at(event); if (i !== null) chosen(i); });
      place.replaceChildren(root);
    };
    place.redraw = draw;
    if (!place.kept) place.kept = chart.keepDrawn(place, (width) => place.redraw(width), axis ? undefined : 180);
    place.kept();
  };
})();
