/* What is summed: metrics, and their values over the call tree and over the ranks. Everything is summed when asked
   for and kept: a metric over the call tree is one pass over the rows. */
(() => {
  "use strict";
  const { _ } = explorer;
  const PROGRAM = 1, COLLECTIVE = 2, POINT_TO_POINT = 4, COMPLETION = 8, ONE_SIDED = 16, OTHER = 32;
  const MPI = 62, ALL = 63, NONE = 0;

  /* The metric tree in preorder. `incl` and `excl` are what the node shows collapsed and expanded: [column, kinds]. */
  function metricTree(data, present) {
    const known = new Set(data.known), metrics = [];
    const add = (parent, id, label, unit, column, kinds, rest, more = {}) => {
      metrics.push({ parent, id, label, unit, incl: [column, kinds], excl: rest ? [rest[0], rest[1]] : [column, kinds], how: "sum", ...more });
      return metrics.length - 1;
    };
    const classes = [
      ["collective", _("collective"), COLLECTIVE], ["point-to-point", _("point-to-point"), POINT_TO_POINT], ["completion", _("completion"), COMPLETION], ["one-sided", _("one-sided"), ONE_SIDED], ["other", _("other MPI"), OTHER],
    ].filter(([, , kind]) => present & kind);
    const time = add(-1, "time", _("time"), "s", "time", ALL, ["time", PROGRAM], { own: _("own code") });
    if (present & MPI) {
      const mpi = add(time, "mpi", "MPI", "s", "time", MPI, ["time", NONE], { own: _("all in its classes") });
      for (const [id, label, kind] of classes) {
        const splits = kind === COLLECTIVE && known.has("waiting");
        const node = add(mpi, id, label, "s", "time", kind, splits ? ["transfer", kind] : null, { own: splits ? _("without waiting") : "" });
        if (splits) add(node, "waiting", _("waiting for the last rank"), "s", "waiting", kind);
      }
    }
    if (known.has("calls")) {
      if (known.has("visits")) {
        const visits = add(-1, "visits", _("visits"), "calls", "calls", ALL, ["calls", PROGRAM], { own: _("own functions") });
        if (present & MPI) add(visits, "calls", _("MPI calls"), "calls", "calls", MPI);
      } else add(-1, "calls", _("MPI calls"), "calls", "calls", MPI);
    }
    for (const [id, label] of [["sent", _("bytes sent")], ["received", _("bytes received")]]) {
      if (!known.has(id)) continue;
      const carrying = classes.filter(([, , kind]) => kind & (COLLECTIVE | POINT_TO_POINT | ONE_SIDED));
      const rest = MPI & ~carrying.reduce((mask, [, , kind]) => mask | kind, 0);
      const several = carrying.length > 1;
      const node = add(-1, id, label, "B", id, MPI, several ? [id, rest] : null, { own: several ? _("all in its classes") : "" });
      if (several) for (const [name, words, kind] of carrying) add(node, `${id}-${name}`, words, "B", id, kind);
    }
    if (known.has("time_min")) add(-1, "min", _("shortest call"), "s", "time_min", MPI, null, { how: "min" });
    if (known.has("time_max")) add(-1, "max", _("longest call"), "s", "time_max", MPI, null, { how: "max" });
    return metrics;
  }

  const START = { sum: 0, min: NaN, max: NaN };
  const JOIN = {
    sum: (a, b) => a + b,
    min: (a, b) => (b < a || a !== a ? b : a),
    max: (a, b) => (b > a || a !== a ? b : a),
  };

  class Sums {
    constructor(data) {
      const columns = data.columns;
      this.kind = columns["node.kind"];
      this.nodes = this.kind.length;
      this.end = columns["node.end"];
      this.parent = Int32Array.from(columns["node.parent"], (parent) => parent - 1);
      this.start = columns["row.start"];
      this.leaf = columns["row.leaf"];
      this.leaves = columns["rank.first"].length;
      this.columns = { time: columns["row.time"], calls: columns["row.calls"], sent: columns["row.sent"], received: columns["row.received"],
        waiting: columns["row.waiting"], time_min: columns["row.time_min"], time_max: columns["row.time_max"] };
      this.cache = new Map();
      this.chosen = new Map();
      this.present = this.kind.reduce((mask, kind) => mask | (1 << kind), 0);
      this.metrics = metricTree(data, this.present);
    }

    column(name) {
      if (name === "transfer" && !this.columns.transfer) {
        const { time, waiting } = this.columns;
        this.columns.transfer = Float64Array.from(time, (value, i) => value - waiting[i]);
      }
      return this.columns[name];
    }

    /* Exclusive and inclusive values of every node of the call tree. */
    overNodes([name, kinds], how = "sum") {
      const key = `${name} ${kinds} ${how}`;
      if (this.cache.has(key)) return this.cache.get(key);
      const values = this.column(name), join = JOIN[how];
      const excl = new Float64Array(this.nodes).fill(START[how]);
      for (let node = 0; node < this.nodes; node += 1) {
        if (!((1 << this.kind[node]) & kinds)) continue;
        let value = START[how];
        for (let row = this.start[node], last = this.start[node + 1]; row < last; row += 1) value = join(value, values[row]);
        excl[node] = value;
      }
      const incl = excl.slice();
      for (let node = this.nodes - 1; node > 0; node -= 1) {
        const parent = this.parent[node];
        if (parent >= 0) incl[parent] = join(incl[parent], incl[node]);
      }
      const found = { excl, incl };
      this.cache.set(key, found);
      return found;
    }

    /* One value a rank (or block of ranks) for a node of the call tree, with or without what is below it. */
    overRanks([name, kinds], how, node, below) {
      const key = `${name} ${kinds} ${how} ${node} ${below}`;
      if (this.chosen.has(key)) return this.chosen.get(key);
      const values = this.column(name), join = JOIN[how];
      const found = new Float64Array(this.leaves).fill(START[how]);
      for (let at = node, last = below ? this.end[node] : node + 1; at < last; at += 1) {
        if (!((1 << this.kind[at]) & kinds)) continue;
        for (let row = this.start[at], stop = this.start[at + 1]; row < stop; row += 1) {
          found[this.leaf[row]] = join(found[this.leaf[row]], values[row]);
        }
      }
      /* A metric over the tree is kept for good; one choice over the ranks only as long as there are few. */
      if (this.chosen.size > 200) this.chosen.clear();
      this.chosen.set(key, found);
      return found;
    }

    join(values, how) { return values.reduce(JOIN[how], START[how]); }
    of(metric, expanded) { return expanded ? metric.excl : metric.incl; }
    total(metric, expanded = false) { return this.overNodes(this.of(metric, expanded), metric.how).incl[0]; }
  }
  explorer.Sums = Sums;
  explorer.kinds = { PROGRAM, COLLECTIVE, POINT_TO_POINT, COMPLETION, ONE_SIDED, OTHER, MPI, ALL };
})();
