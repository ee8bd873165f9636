/* A tree of which only the rows in view are elements. Keyboard as in the WAI-ARIA tree pattern; the tree itself has
   the focus and names its active row. Nodes are in preorder: a subtree is [node, end[node]). */
(() => {
  "use strict";
  const { el, _ } = explorer;
  const ROW = 24, MARGIN = 8, INDENT = 13, PRINTED = 60;

  class TreeView {
    /* label(i) -> { text, title, note, css }; value(i, expanded) -> { text, share, exact }; chosen(i) on every change. */
    constructor(place, { id, parent, end, label, value, chosen, open = [] }) {
      Object.assign(this, { place, id, parent, end, label, value, chosen });
      const count = parent.length;
      this.expanded = new Uint8Array(count);
      open.forEach((node) => { this.expanded[node] = 1; });
      this.level = new Uint16Array(count);
      this.position = new Uint32Array(count);
      this.siblings = new Uint32Array(count + 1);
      for (let node = 0; node < count; node += 1) {
        this.level[node] = parent[node] < 0 ? 1 : this.level[parent[node]] + 1;
        this.position[node] = this.siblings[parent[node] + 1] += 1;
      }
      this.selected = 0;
      this.marked = new Set();
      this.rows = el("div", { class: "rows", role: "presentation" });
      place.append(this.rows);
      place.addEventListener("scroll", () => this.draw());
      place.addEventListener("keydown", (event) => this.key(event));
      place.addEventListener("click", (event) => this.click(event));
      place.addEventListener("dblclick", (event) => this.click(event, true));
      new ResizeObserver(() => this.draw()).observe(place);
      this.list();
    }

    isOpen(node) { return this.expanded[node] === 1 && this.hasChildren(node); }
    hasChildren(node) { return this.end[node] > node + 1; }

    /* The nodes that have a row, and the row of each. */
    list() {
      const shown = [], count = this.parent.length;
      for (let node = 0; node < count; node = this.expanded[node] ? node + 1 : this.end[node]) shown.push(node);
      this.shown = shown;
      this.rowOf = new Map(shown.map((node, row) => [node, row]));
      this.rows.style.height = shown.length * ROW + "px";
    }

    draw(all = false) {
      const first = all ? 0 : Math.max(0, Math.floor(this.place.scrollTop / ROW) - MARGIN);
      const last = all ? Math.min(PRINTED, this.shown.length)
        : Math.min(this.shown.length, Math.ceil((this.place.scrollTop + this.place.clientHeight) / ROW) + MARGIN);
      const wanted = this.shown.slice(first, last).map((node, i) => this.row(node, first + i));
      const active = this.rowOf.get(this.selected);
      if (active !== undefined && (active < first || active >= last)) wanted.push(this.row(this.selected, active));
      if (all && this.shown.length > last) wanted.push(el("div", { class: "row", role: "presentation" }, _("… {count} more rows", { count: this.shown.length - last })));
      this.rows.replaceChildren(...wanted);
      this.place.setAttribute("aria-activedescendant", `${this.id}-${this.selected}`);
    }

    row(node, at) {
      const open = this.isOpen(node), { text, title, note, css } = this.label(node, open), value = this.value(node, open);
      return el("div", {
        role: "treeitem", id: `${this.id}-${node}`, class: `row ${css || ""}${this.marked.has(node) ? " match" : ""}`,
        "aria-level": this.level[node], "aria-posinset": this.position[node], "aria-setsize": this.siblings[this.parent[node] + 1],
        "aria-selected": String(node === this.selected), "aria-expanded": this.hasChildren(node) ? String(open) : null,
        "data-node": node, "data-value": value.exact, style: { top: at * ROW + "px" }, title,
      },
      el("span", { class: "value" }, el("span", { class: value.exact ? "number" : "number nothing" }, value.text),
        el("span", { class: "gauge", "aria-hidden": "true" }, el("i", { style: { width: (100 * Math.min(1, Math.max(0, value.share || 0))).toFixed(1) + "%" } }))),
      el("span", { class: "twisty", "aria-hidden": "true", style: { "margin-left": (this.level[node] - 1) * INDENT + "px" } }, this.hasChildren(node) ? (open ? "▾" : "▸") : ""),
      el("span", { class: "name" }, text), note ? el("small", {}, note) : null);
    }

    /* Whoever hears of the choice draws what depends on it, this tree included. */
    select(node, { quiet = false, reveal = true } = {}) {
      for (let above = this.parent[node]; above >= 0; above = this.parent[above]) this.expanded[above] = 1;
      this.selected = node;
      this.list();
      if (reveal) this.show(node);
      if (quiet) this.draw(); else this.chosen(node);
    }
    show(node) {
      const row = this.rowOf.get(node), { scrollTop, clientHeight } = this.place;
      if (row * ROW < scrollTop) this.place.scrollTop = Math.max(0, row * ROW - ROW);
      else if ((row + 1) * ROW > scrollTop + clientHeight) this.place.scrollTop = (row + 2) * ROW - clientHeight;
      const left = (this.level[node] - 1) * INDENT;
      if (left < this.place.scrollLeft || left > this.place.scrollLeft + this.place.clientWidth - 220) this.place.scrollLeft = Math.max(0, left - 40);
    }
    toggle(node, open = !this.isOpen(node)) {
      if (!this.hasChildren(node)) return;
      this.expanded[node] = open ? 1 : 0;
      /* What is selected stays visible: a closing node takes the selection over. */
      if (!open && this.selected > node && this.selected < this.end[node]) this.selected = node;
      this.list();
      this.chosen(this.selected);
    }
    expandAll(open) {
      this.expanded.fill(open ? 1 : 0);
      if (!open) while (this.parent[this.selected] >= 0) this.selected = this.parent[this.selected];
      this.list();
      this.show(this.selected);
      this.chosen(this.selected);
    }
    /* From the selection down along the largest values. */
    follow(size) {
      let node = this.selected;
      while (this.hasChildren(node)) {
        let best = -1;
        for (let child = node + 1; child < this.end[node]; child = this.end[child]) if (best < 0 || size(child) > size(best)) best = child;
        if (!(size(best) > 0)) break;
        node = best;
      }
      this.select(node);
    }

    click(event, twice = false) {
      const row = event.target.closest("[role=treeitem]");
      if (!row) return;
      const node = Number(row.dataset.node);
      if (twice ? !event.target.closest(".twisty") : event.target.closest(".twisty")) this.toggle(node);
      else if (node !== this.selected) this.select(node);
    }
    key(event) {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const row = this.rowOf.get(this.selected), node = this.selected, page = Math.max(1, Math.floor(this.place.clientHeight / ROW) - 1);
      const go = (to) => { const next = this.shown[Math.max(0, Math.min(this.shown.length - 1, to))]; if (next !== node) this.select(next); };
      const actions = {
        ArrowDown: () => go(row + 1),
        ArrowUp: () => go(row - 1),
        PageDown: () => go(row + page),
        PageUp: () => go(row - page),
        Home: () => go(0),
        End: () => go(this.shown.length - 1),
        ArrowRight: () => { if (this.isOpen(node)) go(row + 1); else this.toggle(node, true); },
        ArrowLeft: () => { if (this.isOpen(node)) this.toggle(node, false); else if (this.parent[node] >= 0) this.select(this.parent[node]); },
        Enter: () => this.toggle(node),
        " ": () => this.toggle(node),
        "*": () => {
          for (let other = 0; other < this.parent.length; other += 1) if (this.parent[other] === this.parent[node]) this.expanded[other] = 1;
          this.list();
          this.chosen(node);
        },
      };
      if (actions[event.key]) actions[event.key]();
      else if (event.key.length === 1 && event.key !== "/") this.type(event.key);
      else return;
      event.preventDefault();
      event.stopPropagation();
    }
    /* The next row whose name begins with what was typed within a second. */
    type(key) {
      const now = performance.now();
      this.typed = (now - (this.typedAt || -Infinity) < 1000 ? this.typed : "") + key.toLowerCase();
      this.typedAt = now;
      const row = this.rowOf.get(this.selected), count = this.shown.length, from = this.typed.length > 1 ? 0 : 1;
      for (let step = from; step < count + from; step += 1) {
        const node = this.shown[(row + step) % count];
        if (!this.label(node).text.toLowerCase().startsWith(this.typed)) continue;
        this.select(node);
        return;
      }
    }
  }
  explorer.TreeView = TreeView;
})();
