/* The tuning's curve for the chosen collective, on the histogram's axis, with the program's own sizes marked. */
(() => {
  "use strict";
  const { svg, format, chart, _ } = explorer;
  const HEIGHT = 250, TOP = 20, BOTTOM = 28;

  const line = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  const band = (upper, lower) => line([...upper, ...lower.reverse()]) + "Z";
  const nearest = (curve, size) => curve.sizes.reduce((best, one, i) => (Math.abs(chart.power(one) - chart.power(size)) < Math.abs(chart.power(curve.sizes[best]) - chart.power(size)) ? i : best), 0);
  const gainWords = ([mid, low, high]) => `${format.ratio(mid)}${low === null || high === null ? "" : ` (${low.toFixed(2)}–${high.toFixed(2)})`}`;
  /* Whether the interval leaves out that there is no difference. */
  const differs = ([, low, high]) => low > 1 || (high !== null && high < 1);
  const strength = (gain) => (differs(gain) ? gainWords(gain) : _("{gain}, no difference shown", { gain: gainWords(gain) }));
  const ruleAt = (curve, size) => curve.rules.find((rule) => rule.first <= size && (rule.last === null || size <= rule.last));

  /* One sentence: what the tuning does at the size that takes the most time. */
  function sentence(curve, sizes) {
    if (!sizes.length) return "";
    const all = sizes.reduce((total, one) => total + one.time, 0);
    const most = sizes.reduce((best, one) => (one.time > best.time ? one : best));
    const start = _("{size} takes {share} of the time here.", { size: explorer.sizes.words(most), share: format.percent(most.time / all) }) + " ";
    if (curve.sizes) {
      const i = nearest(curve, most.mean);
      const found = { size: format.size(curve.sizes[i]), default: format.seconds(curve.default[i][0]), setting: curve.setting[i] };
      if (curve.setting[i] === _("default")) return start + _("Measured at {size}, nothing beats the default: {default}.", found);
      const told = { ...found, tuned: format.seconds(curve.tuned[i][0]), gain: gainWords(curve.gain[i]) };
      return start + (differs(curve.gain[i]) ? _("Measured at {size}: {default} by default, {tuned} tuned, {gain} as fast, with {setting}.", told) : _("Measured at {size}: {default} by default, {tuned} tuned, with {setting}; no difference shown: {gain}.", told));
    }
    const rule = ruleAt(curve, most.mean);
    if (rule && rule.setting === _("default")) return start + _("There the tuning keeps the default.");
    if (!rule) return start + _("The tuning has no rule for that size.");
    const told = { gain: gainWords(rule.gain), setting: rule.setting };
    return start + (differs(rule.gain) ? _("There the tuning is {gain} as fast as the default, with {setting}.", told) : _("There the tuning uses {setting}; no difference from the default shown: {gain}.", told));
  }

  /* What was measured waits for nobody, so the program's calls are shown without their waiting where that is known. */
  function times(place, curve, sizes, axis, waits) {
    const own = sizes.filter((one) => one.calls > 0 && one.time > 0), total = own.reduce((sum, one) => sum + one.time, 0);
    const call = (one) => Math.max(one.time - (waits ? one.waiting : 0), one.time * 1e-3) / one.calls;
    const inside = [...curve.default, ...curve.tuned].map(([mid]) => mid).concat(own.map(call)).filter((v) => v > 0);
    const low = Math.min(...inside) / 1.4, high = Math.max(...inside) * 1.4, base = HEIGHT - BOTTOM;
    const y = (value) => base - (Math.log(Math.min(Math.max(value, low), high) / low) / Math.log(high / low)) * (base - TOP);
    const root = chart.frame(axis.width, HEIGHT, _("Time over message size: default and tuned, with {count} sizes of the program", { count: own.length }));
    for (const tick of chart.logarithmic(low, high, 7)) {
      root.append(svg("line", { class: "grid", x1: chart.LEFT, x2: axis.width - chart.RIGHT, y1: y(tick), y2: y(tick) }),
        svg("text", { x: chart.LEFT - 7, y: y(tick) + 4, "text-anchor": "end" }, format.seconds(tick)));
    }
    root.append(chart.drawSizeAxis(axis, base, TOP));
    marks(root, own, total, axis, base);
    for (const [name, css] of [["default", "default"], ["tuned", "tuned"]]) {
      const points = curve[name];
      root.append(svg("path", { class: `band ${css}`, d: band(points.map(([, , top], i) => [axis.x(curve.sizes[i]), y(top ?? points[i][0])]), points.map(([, bottom], i) => [axis.x(curve.sizes[i]), y(bottom ?? points[i][0])])) }),
        svg("path", { class: `curve ${css}`, d: line(points.map(([mid], i) => [axis.x(curve.sizes[i]), y(mid)])) }));
      points.forEach(([mid], i) => root.append(svg("circle", { class: `point ${css}`, "data-at": i, cx: axis.x(curve.sizes[i]), cy: y(mid), r: name === "tuned" ? 3 : 2.5 })));
    }
    own.forEach((one, i) => {
      const x = axis.x(one.mean), cy = y(call(one)), r = 4 + 5 * Math.sqrt(one.time / total);
      root.append(svg("path", { class: "program", "data-own": i, d: `M${x} ${cy - r}L${x + r} ${cy}L${x} ${cy + r}L${x - r} ${cy}Z` }));
    });
    chart.hover(root, (event) => {
      const { at, own: mine } = event.target.dataset;
      if (mine !== undefined) {
        const one = own[mine];
        return [_("the program at {size}", { size: explorer.sizes.words(one) }),
          waits ? _("{time} a call on average, without waiting", { time: format.seconds(call(one)) }) : _("{time} a call on average, with waiting", { time: format.seconds(call(one)) }),
          _("{calls} calls, {share} of the time here", { calls: format.count(one.calls), share: format.percent(one.time / total) })];
      }
      if (at === undefined) return null;
      return [format.size(curve.sizes[at]), _("default {time}", { time: format.seconds(curve.default[at][0]) }), _("tuned {time}: {gain}", { time: format.seconds(curve.tuned[at][0]), gain: strength(curve.gain[at]) }), curve.setting[at]];
    });
    place.replaceChildren(root);
  }

  /* A tuning alone knows gains, not times: one step a rule. */
  function gains(place, curve, sizes, axis) {
    const own = sizes.filter((one) => one.time > 0), total = own.reduce((sum, one) => sum + one.time, 0), base = HEIGHT - BOTTOM;
    const ends = curve.rules.flatMap((rule) => rule.gain.filter((v) => v > 0)), reach = Math.max(1.25, ...ends.map((v) => Math.max(v, 1 / v))) ** 1.1;
    const y = (value) => base - ((Math.log(value) / Math.log(reach) + 1) / 2) * (base - TOP);
    const root = chart.frame(axis.width, HEIGHT, _("Gain over message size: {count} rules of the tuning", { count: curve.rules.length }));
    for (const tick of [0.25, 0.5, 0.67, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 4, 8].filter((v) => v <= reach && v >= 1 / reach)) {
      root.append(svg("line", { class: tick === 1 ? "one" : "grid", x1: chart.LEFT, x2: axis.width - chart.RIGHT, y1: y(tick), y2: y(tick) }),
        svg("text", { x: chart.LEFT - 7, y: y(tick) + 4, "text-anchor": "end" }, format.ratio(tick)));
    }
    root.append(chart.drawSizeAxis(axis, base, TOP));
    marks(root, own, total, axis, base);
    const edge = (x) => Math.max(chart.LEFT, Math.min(axis.width - chart.RIGHT, x));
    curve.rules.forEach((rule, i) => {
      const left = edge(axis.x(rule.first)), right = edge(rule.last === null ? Infinity : axis.x(rule.last)), [mid, low, high] = rule.gain;
      root.append(svg("rect", { class: "band tuned", x: left, width: Math.max(0, right - left), y: y(high ?? mid), height: Math.max(0, y(low || mid) - y(high ?? mid)) }),
        svg("path", { class: "curve tuned", d: `M${left} ${y(mid)}H${right}` }),
        svg("rect", { class: "catch", "data-rule": i, x: left, width: Math.max(0, right - left), y: TOP, height: base - TOP }));
    });
    own.forEach((one) => {
      const rule = ruleAt(curve, one.mean), x = axis.x(one.mean), r = 4 + 5 * Math.sqrt(one.time / total), cy = y(rule ? rule.gain[0] : 1);
      root.append(svg("path", { class: "program", d: `M${x} ${cy - r}L${x + r} ${cy}L${x} ${cy + r}L${x - r} ${cy}Z` }));
    });
    chart.hover(root, (event) => {
      const rule = curve.rules[event.target.dataset.rule];
      if (!rule) return null;
      const span = rule.last === null ? _("from {first}", { first: format.size(rule.first) }) : _("{first} to {last}", { first: format.size(rule.first), last: format.size(rule.last) });
      return rule.setting === _("default") ? [span, _("There the tuning keeps the default.")] : [span, _("{gain} over the default", { gain: gainWords(rule.gain) }), ...(differs(rule.gain) ? [] : [_("no difference shown")]), rule.setting];
    });
    place.replaceChildren(root);
  }

  function marks(root, own, total, axis, base) {
    for (const one of own) {
      const x = axis.x(one.mean);
      root.append(svg("line", { class: "own", x1: x, x2: x, y1: TOP, y2: base, "stroke-opacity": (0.25 + 0.75 * one.time / total).toFixed(2) }));
    }
  }
  const spans = (curve) => (curve.sizes ? curve.sizes : curve.rules.flatMap((rule) => [...rule.sizes, rule.first].filter((size) => size > 0)));
  explorer.curve = { sentence, spans, draw: (place, curve, sizes, axis, waits) => (curve.sizes ? times : gains)(place, curve, sizes, axis, waits) };
})();
