/* What the chosen calls are, and their messages: chain of callers, histogram, the tuning's curve, sizes as a table. */
(() => {
  "use strict";
  const { el, format, chart, kinds, _ } = explorer;
  const byId = (id) => document.getElementById(id);

  explorer.details = ({ data, sums, nameOf, placeOf, choose }) => {
    const { columns, comms, collectives } = data, waits = data.known.includes("waiting"), names = data.names, labels = columns["node.label"];
    let node = 0, mode = "calls", comm = null, drawn = { sizes: [], curve: null };

    const commWords = (index) => {
      if (!index) return _("communicator not known");
      const [size, nodes, created] = comms[index - 1];
      const ranks = size < 0 ? _("size not known") : format.some(size, "rank");
      const placed = nodes < 0 ? ranks : _("{ranks} on {nodes}", { ranks, nodes: format.some(nodes, "node") });
      return created > 1 ? _("{communicator} ({count} such)", { communicator: placed, count: format.count(created) }) : placed;
    };
    function facts() {
      const last = sums.end[node], pick = (column, mask, how) => sums.overNodes([column, mask], how).incl[node];
      const time = pick("time", kinds.ALL), mpi = pick("time", kinds.MPI), known = new Set(data.known);
      const found = [[_("time"), _("{time}, {share} of all", { time: format.seconds(time), share: format.percent(time / sums.overNodes(["time", kinds.ALL]).incl[0]) })]];
      if (last > node + 1) found.push([_("in MPI"), format.percent(mpi / time)]);
      const calls = known.has("calls") ? pick("calls", kinds.MPI) : 0;
      if (calls) {
        const per = sums.overRanks(["calls", kinds.MPI], "sum", node, true).filter((value) => value > 0);
        const least = per.reduce((a, b) => Math.min(a, b)), most = per.reduce((a, b) => Math.max(a, b));
        const many = { calls: format.count(calls), least: format.count(least), most: format.count(most) };
        found.push([_("MPI calls"), data.block !== 1 ? many.calls : least === most ? _("{calls}, {least} a rank", many) : _("{calls}, {least} to {most} a rank", many)]);
        const long = { mean: format.seconds(mpi / calls), least: format.seconds(known.has("time_max") ? pick("time_min", kinds.MPI, "min") : NaN), most: format.seconds(known.has("time_max") ? pick("time_max", kinds.MPI, "max") : NaN) };
        found.push([_("a call"), known.has("time_max") ? _("{mean} on average, {least} to {most}", long) : _("{mean} on average", long)]);
      }
      if (known.has("waiting") && pick("time", kinds.COLLECTIVE)) found.push([_("waiting"), _("{share} of the collectives' time", { share: format.percent(pick("waiting", kinds.COLLECTIVE) / pick("time", kinds.COLLECTIVE)) })]);
      if (known.has("sent") && calls) found.push([_("sent"), format.bytes(pick("sent", kinds.MPI))]);
      if (known.has("received") && calls) found.push([_("received"), format.bytes(pick("received", kinds.MPI))]);
      return found;
    }
    function chain() {
      const steps = [];
      for (let at = node; at >= 0; at = sums.parent[at]) steps.push(at);
      const link = (at, i) => el("li", {}, i ? el("button", { type: "button", "data-node": at }, format.short(nameOf(at))) : el("b", {}, nameOf(at)), placeOf(at) ? el("small", {}, placeOf(at)) : null);
      byId("chain").replaceChildren(el("ol", { "aria-label": _("The chosen call and its callers") }, ...steps.map(link)),
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
      byId("messages-of").textContent = sums.end[node] > node + 1 ? _("of {name} and all it calls", { name: format.short(nameOf(node), 48) }) : _("of {name}", { name: format.short(nameOf(node), 48) });
      refresh();
    }
    function refresh() {
      const last = sums.end[node], communicators = explorer.sizes.communicators(columns, node, last);
      const picker = byId("comm");
      byId("comm-label").hidden = communicators.length < 2;
      picker.replaceChildren(el("option", { value: "" }, _("all {count}", { count: communicators.length })), ...communicators.slice(0, 40).map((one) => el("option", { value: one.comm, selected: one.comm === comm }, commWords(one.comm))));
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
      if (!sizes.length) parts.push(calls ? _("None of these calls has a message size.") : _("No call of MPI here."));
      else if (comm === null && calls > sized) parts.push(_("{count} of {all} calls have no message size (such as Wait) and are not in it.", { count: format.count(calls - sized), all: format.count(calls) }));
      if (communicators.length === 1 && communicators[0].comm) parts.push(_("Communicator: {communicator}.", { communicator: commWords(communicators[0].comm) }));
      if (sizes.some((one) => one.sort === explorer.sizes.MEAN)) parts.push(_("Sizes are means, assumed uniform: the source holds only totals."));
      if (sizes.some((one) => one.sort === explorer.sizes.RANGE)) parts.push(_("Some sizes are known only as ranges; a range stands at its mean."));
      if (sizes.length) parts.push(_("Message size as IMB counts it: per pair for alltoall and allgather, the whole vector for allreduce and bcast."));
      byId("histogram-words").textContent = parts.join(" ");
    }
    function curveWords(curve) {
      byId("curve-head").textContent = _("What the tuning does: {title}", { title: curve.title });
      byId("curve-words").textContent = [curve.note && _("{sentence}.", { sentence: curve.note }), explorer.curve.sentence(curve, drawn.own)].filter(Boolean).join(" ");
      byId("curve-keys").replaceChildren(...(curve.sizes ? [["default", _("by default")], ["tuned", _("tuned")]] : [["tuned", _("gain over the default")]]).map(([css, text]) => el("li", {}, el("i", { class: `key ${css}` }), text)),
        el("li", {}, el("i", { class: "key program" }), !curve.sizes ? _("the program's own sizes; larger: more of the time") : waits ? _("the program's own calls without waiting; larger: more of the time") : _("the program's own calls with waiting; larger: more of the time")));
      byId("curve-note").textContent = [curve.launch && _("Launched with {setting}.", { setting: curve.launch }), _("From the tuning {name}.", { name: curve.from })].filter(Boolean).join(" ");
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
