/* Search in the call tree: every node whose name holds all words, the largest values first. */
(() => {
  "use strict";
  const { el, format, _ } = explorer;
  const LISTED = 100;

  explorer.search = ({ input, list, status, previous, next, names, caller, value, text, tree }) => {
    let matches = [], at = -1;

    function find() {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      at = -1;
      matches = [];
      if (words.length) {
        for (let node = 0; node < names.length; node += 1) if (words.every((word) => names[node].includes(word))) matches.push(node);
        matches.sort((a, b) => value(b) - value(a) || a - b);
      }
      tree.marked = new Set(matches);
      tree.draw();
      show();
    }
    function show() {
      const any = input.value.trim() !== "";
      status.textContent = !any ? "" : matches.length ? _("{count} found", { count: matches.length }) : _("none");
      previous.disabled = next.disabled = !matches.length;
      list.hidden = !any || !matches.length;
      list.replaceChildren(...matches.slice(0, LISTED).map((node) => el("li", {}, el("button", { type: "button", "data-node": node },
        el("span", { class: "number" }, text(node)), el("span", { class: "name" }, format.short(tree.label(node).text, 48)), el("small", {}, caller(node))))));
      if (matches.length > LISTED) list.append(el("li", { class: "note" }, _("and {count} more; next and previous reach them", { count: matches.length - LISTED })));
      mark();
    }
    function mark() {
      if (at >= 0) status.textContent = _("{number} of {count}", { number: at + 1, count: matches.length });
      list.querySelectorAll("button").forEach((button, i) => { if (i === at) button.setAttribute("aria-current", "true"); else button.removeAttribute("aria-current"); });
      const current = list.querySelector("[aria-current]");
      if (current) current.scrollIntoView({ block: "nearest" });
    }
    function go(step) {
      if (!matches.length) return;
      at = at < 0 ? (step > 0 ? 0 : matches.length - 1) : (at + step + matches.length) % matches.length;
      tree.select(matches[at]);
      mark();
    }
    input.addEventListener("input", find);
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") go(event.shiftKey ? -1 : 1);
      else if (event.key === "Escape") { input.value = ""; find(); tree.place.focus(); }
      else if (event.key === "ArrowDown" && matches.length) list.querySelector("button").focus();
      else return;
      event.preventDefault();
    });
    list.addEventListener("keydown", (event) => {
      const buttons = [...list.querySelectorAll("button")], here = buttons.indexOf(document.activeElement);
      if (event.key === "ArrowDown") buttons[Math.min(buttons.length - 1, here + 1)].focus();
      else if (event.key === "ArrowUp") (here > 0 ? buttons[here - 1] : input).focus();
      else if (event.key === "Escape") input.focus();
      else return;
      event.preventDefault();
    });
    list.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      at = matches.indexOf(Number(button.dataset.node));
      tree.select(matches[at]);
      mark();
    });
    previous.addEventListener("click", () => go(-1));
    next.addEventListener("click", () => go(1));
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea")) return;
      event.preventDefault();
      input.focus();
      input.select();
    });
    show();
    return { refresh: show };
  };
})();
