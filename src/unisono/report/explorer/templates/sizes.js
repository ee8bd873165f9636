/* Message sizes of the chosen calls: one column a power of two, the exact sizes as ticks below and in the tooltip. */
(() => {
  "use strict";
  const { el, svg, format, chart, _ } = explorer;
  const HEIGHT = 200, TOP = 26, BOTTOM = 26;
  const EXACT = 0, RANGE = 1, MEAN = 2; /* what is known of a size: messages.py */
  const MODES = { calls: ["calls", "calls"], bytes: ["bytes", "B"], time: ["time", "s"] };

  /* Rows of the size table for nodes [first, end) on one communicator (index + 1) or, with null, on all; equal sizes joined. */
  function messages(columns, first, end, comm) {
    const node = columns["size.node"], found = new Map();
    for (let row = 0; row < node.length; row += 1) {
      if (node[row] < first || node[row] >= end || (comm !== null && columns["size.comm"][row] !== comm)) continue;
      const low = columns["size.low"][row], high = columns["size.high"][row], sort = columns["size.sort"][row];
      const key = `${sort} ${sort === RANGE ? Math.floor(chart.power(columns["size.mean"][row])) : low}`;
      const one = found.get(key) || { sort, low, high, mean: 0, calls: 0, bytes: 0, time: 0, waiting: 0 };
      const calls = columns["size.calls"][row];
      one.low = Math.min(one.low, low);
      one.high = Math.max(one.high, high);
      one.mean = one.calls + calls ? (one.mean * one.calls + columns["size.mean"][row] * calls) / (one.calls + calls) : columns["size.mean"][row];
      one.calls += calls;
      one.bytes += columns["size.bytes"][row];
      one.time += columns["size.time"][row];
      one.waiting += columns["size.waiting"][row];
      found.set(key, one);
    }
    return [...found.values()].sort((a, b) => a.mean - b.mean);
  }

  /* Communicators of those nodes, the one with most time first: [index + 1, calls, seconds]. */
  function communicators(columns, first, end) {
    const node = columns["size.node"], found = new Map();
    for (let row = 0; row < node.length; row += 1) {
      if (node[row] < first || node[row] >= end) continue;
      const comm = columns["size.comm"][row], [calls, time] = found.get(comm) || [0, 0];
      found.set(comm, [calls + columns["size.calls"][row], time + columns["size.time"][row]]);
    }
    return [...found].map(([comm, [calls, time]]) => ({ comm, calls, time })).sort((a, b) => b.time - a.time);
  }

  function columnsOf(sizes) {
    const found = new Map();
    for (const one of sizes) {
      const power = one.mean < 1 ? -2 : Math.floor(Math.log2(one.mean));
      if (!found.has(power)) found.set(power, []);
      found.get(power).push(one);
    }
    return [...found];
  }
  const sizeWords = (one) => (one.sort === MEAN ? `~${format.bytes(one.mean)}` : format.sizes(one.low, one.high));
  function words(one) {
    const values = { size: sizeWords(one), calls: format.count(one.calls), bytes: format.bytes(one.bytes), time: format.seconds(one.time), mean: format.bytes(one.mean) };
    return one.sort === RANGE ? _("{size}: {calls} calls, {bytes}, {time} (mean {mean})", values) : _("{size}: {calls} calls, {bytes}, {time}", values);
  }
  const BY = { calls: _("Message sizes by calls: {count} powers of two"), bytes: _("Message sizes by bytes: {count} powers of two"), time: _("Message sizes by time: {count} powers of two") };
  const OF = { calls: _("{share} of their calls"), bytes: _("{share} of their bytes"), time: _("{share} of their time") };
  const SHARE = { calls: _("share of calls"), bytes: _("share of bytes"), time: _("share of time") };

  function histogram(place, sizes, mode, axis) {
    const [field, unit] = MODES[mode], groups = columnsOf(sizes), sum = (some) => some.reduce((total, one) => total + one[field], 0);
    const top = Math.max(...groups.map(([, some]) => sum(some))), all = sum(sizes), base = HEIGHT - BOTTOM;
    const y = (value) => base - (top > 0 ? value / top : 0) * (base - TOP);
    const root = chart.frame(axis.width, HEIGHT, BY[mode].replace("{count}", groups.length));
    for (const tick of chart.linear(top, unit, 4)) {
      root.append(svg("line", { class: "grid", x1: chart.LEFT, x2: axis.width - chart.RIGHT, y1: y(tick), y2: y(tick) }),
        svg("text", { x: chart.LEFT - 7, y: y(tick) + 4, "text-anchor": "end" }, format.unit(tick, unit)));
    }
    for (const [power, some] of groups) {
      const value = sum(some), left = axis.at(power), width = axis.step;
      root.append(svg("rect", { class: "bar", "data-power": power, "data-value": value, x: left + 1, width: Math.max(1, width - 2), y: y(value), height: Math.max(base - y(value), value > 0 ? 1 : 0) }));
      const head = some.length === 1 ? sizeWords(some[0]) : _("{count} sizes", { count: some.length });
      if (value / all >= 0.004 && width > 30) root.append(svg("text", { class: "head", x: left + width / 2, y: y(value) - 5, "text-anchor": "middle" }, width > 6.2 * head.length || groups.length < 4 ? head : format.percent(value / all)));
    }
    root.append(chart.drawSizeAxis(axis, base, base));
    for (const one of sizes) {
      if (one.sort === EXACT) root.append(svg("line", { class: "exact", x1: axis.x(one.low), x2: axis.x(one.low), y1: base - 5, y2: base }));
    }
    const byPower = new Map(groups.map(([power, some]) => [String(power), some]));
    chart.hover(root, (event) => {
      const some = byPower.get(event.target.dataset.power);
      if (!some) return null;
      const most = [...some].sort((a, b) => b[field] - a[field]).slice(0, 8);
      return [OF[mode].replace("{share}", format.percent(sum(some) / all)), ...most.map(words),
        ...(some.length > most.length ? [_("and {count} more sizes", { count: some.length - most.length })] : [])];
    });
    place.replaceChildren(root);
  }

  /* The same in words, for the keyboard and for print: the weightiest sizes. */
  function table(place, sizes, mode) {
    const [field] = MODES[mode], rows = [...sizes].sort((a, b) => b[field] - a[field]).slice(0, 12);
    const all = sizes.reduce((total, one) => total + one[field], 0), waits = sizes.some((one) => one.waiting > 0);
    const heads = [_("message size"), _("calls"), _("bytes"), _("time"), _("time per call"), ...(waits ? [_("waiting")] : []), SHARE[mode]];
    const line = (texts) => el("tr", {}, ...texts.map((text, column) => el("td", { class: "n", "data-head": heads[column] }, text)));
    place.replaceChildren(el("table", { class: "list" },
      el("thead", {}, el("tr", {}, ...heads.map((text) => el("th", { class: "n" }, text)))),
      el("tbody", {}, ...rows.map((one) => line([sizeWords(one), format.count(one.calls), format.bytes(one.bytes), format.seconds(one.time),
        one.calls ? format.seconds(one.time / one.calls) : "–", ...(waits ? [format.percent(one.waiting / one.time)] : []), format.percent(one[field] / all)])))));
    if (sizes.length > rows.length) place.append(el("p", { class: "note" }, _("The weightiest {count} of {all} sizes.", { count: rows.length, all: sizes.length })));
  }
  explorer.sizes = { MEAN, RANGE, words: sizeWords, messages, communicators, histogram, table };
})();
