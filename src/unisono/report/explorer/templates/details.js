/* What the chosen calls are, and their messages: chain of callers, histogram, the tuning's curve, sizes as a table. */
(() => {
  "use strict";
  const { el, format, chart, kinds } = explorer;
  const byId = (id) => document.getElementById(id);

  explorer.details = ({ data, sums, nameOf, placeOf, choose }) => {
    const { columns, comms, collectives } = data, waits = data.known.includes("waiting"), names = data.names, labels = columns["node.label"];
    let node = 0, mode = "calls", comm = null, drawn = { sizes: [], curve: null };

    const commWords = (index) => {
      if (!index) return "communicator not known";
      const [size, nodes, created] = comms[index - 1];
      return (size < 0 ? "size not known" : format.some(size, "rank")) + (nodes < 0 ? "" : ` on ${format.some(nodes, "node")}`) + (created > 1 ? ` (${format.count(created)} such)` : "");
    };
    function facts() {
      const last = sums.end[node], pick = (column, mask, how) => sums.overNodes([column, mask], how).incl[node];
      const time = pick("time", kinds.ALL), mpi = pick("time", kinds.MPI), known = new Set(data.known);
      const found = [["time", `${format.seconds(time)}, ${format.percent(time / sums.overNodes(["time", kinds.ALL]).incl[0])} of all`]];
      if (last > node + 1) found.push(["in MPI", format.percent(mpi / time)]);
      const calls = known.has("calls") ? pick("calls", kinds.MPI) : 0;
      if (calls) {
        const per = sums.overRanks(["calls", kinds.MPI], "sum", node, true).filter((value) => value > 0);
        const least = per.reduce((a, b) => Math.min(a, b)), most = per.reduce((a, b) => Math.max(a, b));
        found.push(["MPI calls", `${format.count(calls)}${data.block === 1 ? `, ${least === most ? format.count(least) : `${format.count(least)} to ${format.count(most)}`} a rank` : ""}`]);
        found.push(["a call", `${format.seconds(mpi / calls)} on average` + (known.has("time_max") ? `, ${format.seconds(pick("time_min", kinds.MPI, "min"))} to ${format.seconds(pick("time_max", kinds.MPI, "max"))}` : "")]);
      }
      if (known.has("waiting") && pick("time", kinds.COLLECTIVE)) found.push(["waiting", `${format.percent(pick("waiting", kinds.COLLECTIVE) / pick("time", kinds.COLLECTIVE))} of the collectives' time`]);
      if (known.has("sent") && calls) found.push(["sent", format.bytes(pick("sent", kinds.MPI))]);
      if (known.has("received") && calls) found.push(["received", format.bytes(pick("received", kinds.MPI))]);
      return found;
    }
    function chain() {
      const steps = [];
      for (let at = node; at >= 0; at = sums.parent[at]) steps.push(at);
      const link = (at, i) => el("li", {}, i ? el("button", { type: "button", "data-node": at }, format.short(nameOf(at))) : el("b", {}, nameOf(at)), placeOf(at) ? el("small", {}, placeOf(at)) : null);
      byId("chain").replaceChildren(el("ol", { "aria-label": "The chosen call and its callers" }, ...steps.map(link)),
        el("dl", { class: "pairs" }, ...facts().map(([what, value]) => el("div", {}, el("dt", {}, what), el("dd", {}, value)))));
    }

    /* The curve for one collective on one communicator; a subtree with several collectives has none. */
    function curveOf(communicators) {
      const found = new Set();
      for (let at = node; at < sums.end[node]; at += 1) {
        const collective = collectives[names[labels[at]]];
        if (sums.kind[at] === 1 && collective) found.add(collective);
      }
      if (found.size !== 1) return null;
      const [collective] = found, wanted = comm === null ? communicators.map((one) => one.comm) : [comm];
      for (const one of wanted) {
        const curve = data.curves.find((candidate) => candidate.collective === collective && candidate.comm + 1 === one);
        if (curve) return { curve, comm: one };
      }
      return null;
    }

    function select(index) {
      node = index;
      comm = null;
      chain();
      byId("messages-of").textContent = `of ${format.short(nameOf(node), 48)}${sums.end[node] > node + 1 ? " and all it calls" : ""}`;
      refresh();
    }
    function refresh() {
      const last = sums.end[node], communicators = explorer.sizes.communicators(columns, node, last);
      const picker = byId("comm");
      byId("comm-label").hidden = communicators.length < 2;
      picker.replaceChildren(el("option", { value: "" }, `all ${communicators.length}`), ...communicators.slice(0, 40).map((one) => el("option", { value: one.comm, selected: one.comm === comm }, commWords(one.comm))));
      const sizes = explorer.sizes.messages(columns, node, last, comm), found = curveOf(communicators);
      drawn = { sizes, curve: found && found.curve, own: found ? explorer.sizes.messages(columns, node, last, found.comm) : [] };
      words(communicators);
      explorer.sizes.table(byId("sizes-table"), sizes, mode);
      byId("curve-part").hidden = !found;
      if (found) curveWords(found.curve);
      draw();
    }
    function words(communicators) {
      const calls = sums.columns.calls ? sums.overNodes(["calls", kinds.MPI]).incl[node] : 0, { sizes } = drawn;
      const sized = sizes.reduce((total, one) => total + one.calls, 0), parts = [];
      if (!sizes.length) parts.push(calls ? "None of these calls has a message size." : "No call of MPI here.");
      else if (comm === null && calls > sized) parts.push(`${format.count(calls - sized)} of ${format.count(calls)} calls have no message size (such as Wait) and are not in it.`);
      if (communicators.length === 1 && communicators[0].comm) parts.push(`Communicator: ${commWords(communicators[0].comm)}.`);
      if (sizes.some((one) => one.sort === explorer.sizes.MEAN)) parts.push("Sizes are means, assumed uniform: the source holds only totals.");
      if (sizes.some((one) => one.sort === explorer.sizes.RANGE)) parts.push("Some sizes are known only as ranges; a range stands at its mean.");
      if (sizes.length) parts.push("Message size as IMB counts it: per pair for alltoall and allgather, the whole vector for allreduce and bcast.");
      byId("histogram-words").textContent = parts.join(" ");
    }
    function curveWords(curve) {
      byId("curve-head").textContent = `What the tuning does: ${curve.title}`;
      byId("curve-words").textContent = [curve.note && `${curve.note}.`, explorer.curve.sentence(curve, drawn.own)].filter(Boolean).join(" ");
      byId("curve-keys").replaceChildren(...(curve.sizes ? [["default", "by default"], ["tuned", "tuned"]] : [["tuned", "gain over the default"]]).map(([css, text]) => el("li", {}, el("i", { class: `key ${css}` }), text)),
        el("li", {}, el("i", { class: "key program" }), curve.sizes ? `the program's own calls ${waits ? "without" : "with"} waiting; larger: more of the time` : "the program's own sizes; larger: more of the time"));
      byId("curve-note").textContent = [curve.launch && `Launched with ${curve.launch}.`, `From the tuning ${curve.from}.`].filter(Boolean).join(" ");
    }
    const draw = chart.keepDrawn(byId("histogram"), drawAt);
    function drawAt(width) {
      const { sizes, curve, own } = drawn;
      if (!sizes.length) { byId("histogram").replaceChildren(); return; }
      const span = [...sizes.flatMap((one) => [one.low, one.high]), ...(curve ? explorer.curve.spans(curve) : [])];
      const axis = chart.sizeAxis(span, width);
      explorer.sizes.histogram(byId("histogram"), sizes, mode, axis);
      if (curve) explorer.curve.draw(byId("curve"), curve, own, axis, waits);
    }

    document.querySelectorAll("[data-by]").forEach((button) => button.addEventListener("click", () => {
      mode = button.dataset.by;
      explorer.press("[data-by]", button);
      explorer.sizes.table(byId("sizes-table"), drawn.sizes, mode);
      draw();
    }));
    byId("comm").addEventListener("change", (event) => { comm = event.target.value === "" ? null : Number(event.target.value); refresh(); });
    byId("chain").addEventListener("click", (event) => { const button = event.target.closest("[data-node]"); if (button) choose(Number(button.dataset.node)); });
    return { select };
  };
})();
