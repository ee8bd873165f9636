/* How numbers and names are written, and small helpers that build elements. Names are always set as text. */
(() => {
  "use strict";
  /* The page's language: its texts beside their English; {name} stands for a value. */
  const told = document.getElementById("texts"), texts = told ? JSON.parse(told.textContent) : {};
  const _ = (text, values = {}) => (texts[text] ?? text).replace(/{(\w+)}/g, (field, name) => values[name] ?? field);

  const decimals = [0, 1, 2].map((digits) => new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }));
  const threeDigits = (value) => decimals[value < 9.995 ? 2 : value < 99.95 ? 1 : 0].format(value);
  const whole = (value) => decimals[0].format(Math.round(value));

  function seconds(value) {
    if (!Number.isFinite(value)) return "–";
    if (value <= 0) return "0 s";
    const [scale, unit] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]].find(([s]) => value >= s * 0.9995) || [1e-9, "ns"];
    return threeDigits(value / scale) + " " + unit;
  }
  const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  function bytes(value) {
    if (!Number.isFinite(value)) return "–";
    let unit = 0;
    while (value >= 1023.5 && unit < UNITS.length - 1) { value /= 1024; unit += 1; }
    return (unit ? threeDigits(value) : whole(value)) + " " + UNITS[unit];
  }
  /* A message size: exact where a unit divides it into quarters, else in bytes. */
  function size(value) {
    for (const power of [3, 2, 1]) {
      const step = 2 ** (10 * power);
      if (value >= step && value % (step / 4) === 0) return value / step + " " + UNITS[power];
    }
    return whole(value) + " B";
  }
  const sizes = (low, high) => (low === high ? size(low) : `${size(low)} – ${size(high)}`);
  const count = (value) => (Number.isFinite(value) ? whole(value) : "–");
  const NOUNS = { rank: [_("{count} rank"), _("{count} ranks")], node: [_("{count} node"), _("{count} nodes")] };
  const some = (number, noun) => NOUNS[noun][number === 1 ? 0 : 1].replace("{count}", count(number));
  const percent = (share) => (Number.isFinite(share) ? (100 * share).toFixed(1) + " %" : "–");
  const ratio = (value) => (Number.isFinite(value) ? (value < 9.995 ? value.toFixed(2) : value.toFixed(1)) + "×" : "–");
  const UNIT = { s: seconds, B: bytes, calls: count };

  /* A C++ name for a row: a long one without its template arguments, then its parameters, then its end. */
  function emptied(name, [opening, closing]) {
    let text = "", depth = 0;
    for (let i = 0; i < name.length; i += 1) {
      const char = name[i];
      if (char === opening && (depth > 0 || char !== "<" || !/operator<?$/.test(text))) { if (depth === 0) text += opening + "…" + closing; depth += 1; }
      else if (char === closing && depth > 0 && name[i - 1] !== "-") depth -= 1;
      else if (depth === 0) text += char;
    }
    return text;
  }
  const shortened = new Map();
  function short(name, most = 72) {
    if (name.length <= most) return name;
    if (!shortened.has(name)) { const once = emptied(name, "<>"); shortened.set(name, [once, emptied(once, "()")]); }
    const [once, twice] = shortened.get(name);
    return once.length <= most ? once : twice.length <= most ? twice : twice.slice(0, most - 1) + "…";
  }

  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (name === "style") Object.entries(value).forEach(([key, text]) => node.style.setProperty(key, text));
      else if (value !== undefined && value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }
  const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes = {}, ...children) =>
    fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

  explorer.format = { seconds, bytes, size, sizes, count, some, percent, ratio, short, unit: (value, unit) => UNIT[unit](value) };
  Object.assign(explorer, { el, svg, _ });
})();
