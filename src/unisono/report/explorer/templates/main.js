/* Puts the panes together: what is chosen in one decides what those right of it show. */
(async () => {
  "use strict";
  const { el, format, kinds, _ } = explorer;
  const byId = (id) => document.getElementById(id);
  explorer.press = (all, button) => document.querySelectorAll(all).forEach((other) => other.setAttribute("aria-pressed", String(other === button)));

  let data;
  try { data = await explorer.unpack(byId("data").textContent); }
  catch (error) {
    byId("loading").className = "warn";
    byId("loading").textContent = _("The panes cannot be shown. {reason}", { reason: error.message });
    return;
  }
  byId("data").remove();
  const { columns, names, hosts } = data, sums = new explorer.Sums(data), { metrics } = sums;
  const ranks = { first: columns["rank.first"], members: columns["rank.members"], node: columns["rank.node"] };
  explorer.firstRank = (leaf) => ranks.first[leaf];
  let mode = "absolute";

  /* Shapes of the other two trees, in preorder. */
  const shape = (parent) => {
    const end = parent.map((_, i) => i + 1);
    for (let i = parent.length - 1; i >= 0; i -= 1) if (parent[i] >= 0) end[parent[i]] = Math.max(end[parent[i]], end[i]);
    return { parent: Int32Array.from(parent), end: Uint32Array.from(end) };
  };
  const several = hosts.length > 1 || hosts[0] !== "";
  const system = [{ parent: -1, leaves: [...ranks.first.keys()], text: _("machine"), note: several ? format.some(hosts.length, "node") : format.some(data.pairs.ranks, "rank") }];
  hosts.forEach((host, number) => {
    const leaves = system[0].leaves.filter((leaf) => ranks.node[leaf] === number), above = several ? system.length : 0;
    if (several) system.push({ parent: 0, leaves, text: host || _("node not known"), note: format.some(leaves.reduce((sum, leaf) => sum + ranks.members[leaf], 0), "rank") });
    for (const leaf of leaves) system.push({ parent: above, leaves: [leaf], text: rankName(leaf), note: "" });
  });
  function rankName(leaf) {
    return ranks.members[leaf] === 1 ? _("rank {number}", { number: ranks.first[leaf] }) : _("{count} ranks from {first}", { count: ranks.members[leaf], first: ranks.first[leaf] });
  }

  /* What is shown: metric, then call, then system. Each is [what, closed or open]. */
  const nameOf = (node) => names[columns["node.label"][node]];
  const placeOf = (node) => [names[columns["node.place"][node]], names[columns["node.module"][node]]].filter(Boolean).join(" · ");
  const metric = () => metrics[trees.metric.selected];
  const spec = () => sums.of(metric(), trees.metric.isOpen(trees.metric.selected));
  const metricValue = (index, open) => sums.total(metrics[index], open);
  const callValue = (node, open) => sums.overNodes(spec(), metric().how)[open ? "excl" : "incl"][node];
  const rankValues = () => sums.overRanks(spec(), metric().how, trees.call.selected, !trees.call.isOpen(trees.call.selected));
  function systemValue(index, open) {
    if (open) return metric().how === "sum" ? 0 : NaN;
    const values = rankValues();
    return sums.join(system[index].leaves.map((leaf) => values[leaf]), metric().how);
  }
  const rootOf = (index) => { while (metrics[index].parent >= 0) index = metrics[index].parent; return index; };
  const chosenMetric = () => metricValue(trees.metric.selected, trees.metric.isOpen(trees.metric.selected));
  const chosenCall = () => callValue(trees.call.selected, trees.call.isOpen(trees.call.selected));

  function shown(value, of, { root, selection, gauge }) {
    const share = mode === "root" ? root : selection, additive = of.how === "sum";
    const text = mode === "absolute" || !additive ? (value === value ? format.unit(value, of.unit) : "–") : format.percent(share > 0 ? value / share : NaN);
    return { text, share: gauge > 0 ? value / gauge : 0, exact: value };
  }
  function metricShown(index, open) {
    const root = metricValue(rootOf(index), false);
    return shown(metricValue(index, open), metrics[index], { root, selection: root, gauge: root });
  }
  function callShown(node, open) {
    const selection = chosenMetric(), gauge = metric().how === "sum" ? selection : callValue(0, false);
    return shown(callValue(node, open), metric(), { root: metricValue(rootOf(trees.metric.selected), false), selection, gauge });
  }
  let widest = { leaf: 0, host: 0 };
  function systemShown(index, open) {
    const gauge = index === 0 ? systemValue(0, false) : system[index].leaves.length === 1 && !trees.system.hasChildren(index) ? widest.leaf : widest.host;
    return shown(systemValue(index, open), metric(), { root: metricValue(rootOf(trees.metric.selected), false), selection: chosenCall(), gauge });
  }

  const lower = Array.from({ length: sums.nodes }, (_, node) => nameOf(node).toLowerCase());
  const kindCss = ["program", "mpi", "mpi", "mpi", "mpi", "mpi"];
  const trees = {};
  const start = metrics.findIndex((one) => one.id === "mpi");
  trees.metric = new explorer.TreeView(byId("metric"), {
    id: "metric", ...shape(metrics.map((one) => one.parent)), open: start > 0 ? [0] : [],
    label: (index, open) => ({ text: metrics[index].label, note: open ? metrics[index].own : "", title: metrics[index].label }),
    value: metricShown, chosen: () => update("metric"),
  });
  trees.call = new explorer.TreeView(byId("call"), {
    id: "call", parent: sums.parent, end: sums.end,
    label: (node) => ({ text: format.short(nameOf(node)), note: placeOf(node), title: nameOf(node),
      css: kindCss[sums.kind[node]] + (callValue(node, false) ? "" : " without") }),
    value: callShown, chosen: () => update("call"),
  });
  trees.system = new explorer.TreeView(byId("system"), {
    id: "system", ...shape(system.map((one) => one.parent)), open: hosts.length === 1 ? [0, 1] : [0],
    label: (index) => ({ text: system[index].text, note: system[index].note, title: system[index].text }),
    value: systemShown, chosen: () => update("system"),
  });
  if (start > 0) trees.metric.selected = start;

  const details = explorer.details({ data, sums, nameOf, placeOf, choose: (node) => trees.call.select(node) });
  const search = explorer.search({ input: byId("find"), list: byId("matches"), status: byId("found"), previous: byId("previous"), next: byId("next"),
    names: lower, tree: trees.call, value: (node) => callValue(node, false), text: (node) => callShown(node, false).text,
    caller: (node) => (sums.parent[node] >= 0 ? `← ${format.short(nameOf(sums.parent[node]), 40)}` : "") });

  function metricWords() {
    const { parent, label, id } = metric();
    const open = trees.metric.isOpen(trees.metric.selected), above = parent > 0 && !["mpi", "time"].includes(metrics[parent].id) ? `${metrics[parent].label}, ` : "";
    return above + (id === "mpi" ? _("time in MPI") : parent >= 0 && metrics[rootOf(parent)].id === "time" ? _("time, {what}", { what: label }) : label) + (open && metric().own ? `, ${metric().own}` : "");
  }
  /* Draws what depends on `from`, and says in words what is chosen. */
  let described = -1;
  function update(from) {
    if (from === "metric") { trees.metric.draw(); trees.call.draw(); search.refresh(); }
    if (from !== "system") {
      const values = rankValues();
      widest = { leaf: Math.max(...values), host: 0 };
      system.forEach((one, index) => { if (index && trees.system.hasChildren(index)) widest.host = Math.max(widest.host, systemValue(index, false)); });
      if (from === "call") trees.call.draw();
      spread(values);
    }
    trees.system.draw();
    const node = trees.call.selected, name = format.short(nameOf(node), 48), call = trees.call.isOpen(node) ? _("{name} itself", { name }) : name;
    byId("call-what").textContent = metricWords();
    byId("system-what").textContent = call;
    const at = trees.system.selected, value = systemShown(at, false);
    byId("chosen").textContent = `${metricWords()} · ${call} · ${system[at].text}: ${value.text}`;
    if (described !== node) { described = node; details.select(node); }
  }

  /* The distribution over the ranks, under the system tree. */
  function spread(values) {
    const known = Array.from(values).filter((value) => value === value), { how, unit } = metric();
    const most = known.reduce((a, b) => Math.max(a, b), 0), least = known.reduce((a, b) => Math.min(a, b), Infinity), mean = known.reduce((a, b) => a + b, 0) / known.length;
    const leaf = values.indexOf(most);
    const block = data.block > 1 ? " " + _("Many ranks: shown in blocks of up to {count} of one node.", { count: data.block }) : "";
    const range = { least: format.unit(least, unit), most: format.unit(most, unit), rank: most > 0 ? rankName(leaf) : "", mean: format.unit(mean, unit), ratio: format.ratio(most / mean) };
    byId("spread").hidden = data.summed || !known.length;
    byId("spread-words").textContent = data.summed ? _("Sums over all ranks only: every rank was given an equal part.") : !(most > 0) ? ""
      : (how === "sum" ? _("{least} to {most} ({rank}), mean {mean}; the largest is {ratio} the mean.", range) : _("{least} to {most} ({rank}).", range)) + block;
    if (byId("spread").hidden) return;
    explorer.strip(byId("spread"), { parts: [{ css: "part mpi", values: Array.from(values, (value) => (value === value ? value : 0)) }], unit, nodes: ranks.node, height: 62, axis: false, label: _("Over the ranks: {words}", { words: byId("spread-words").textContent }),
      lines: (i) => [rankName(i), hosts[ranks.node[i]], format.unit(values[i], unit)].filter(Boolean), chosen: chooseRank });
  }
  function chooseRank(leaf) { trees.system.select(system.findIndex((one, index) => one.leaves.length === 1 && one.leaves[0] === leaf && !trees.system.hasChildren(index))); }

  document.querySelectorAll("[data-mode]").forEach((button) => button.addEventListener("click", () => {
    mode = button.dataset.mode;
    explorer.press("[data-mode]", button);
    update("metric");
  }));
  byId("hottest").addEventListener("click", () => { const values = sums.overNodes(spec(), metric().how).incl; trees.call.follow((node) => values[node]); });
  byId("open-all").addEventListener("click", () => trees.call.expandAll(true));
  byId("close-all").addEventListener("click", () => trees.call.expandAll(false));
  document.querySelectorAll("button.go").forEach((button) => button.addEventListener("click", () => {
    trees.call.select(Number(button.dataset.node));
    byId("explore").scrollIntoView();
    byId("call").focus({ preventScroll: true });
  }));

  /* Ranks: own code, MPI, waiting. */
  function strip() {
    const all = (column, mask) => sums.overRanks([column, mask], "sum", 0, true);
    const own = all("time", kinds.PROGRAM), mpi = all("time", kinds.MPI), waits = data.known.includes("waiting") ? all("waiting", kinds.MPI) : null;
    const parts = [{ css: "part own", values: own, name: _("the program's own") },
      { css: "part mpi", values: waits ? mpi.map((value, i) => value - waits[i]) : mpi, name: waits ? _("MPI, without waiting") : "MPI" },
      ...(waits ? [{ css: "part waits", values: waits, name: _("waiting") }] : [])].filter((part) => part.values.some((value) => value > 0));
    if (!parts.length) return;
    byId("ranks-keys").replaceChildren(...parts.map((part) => el("li", {}, el("i", { class: part.css }), part.name)));
    const share = Array.from(own, (value, i) => mpi[i] / (value + mpi[i])), total = own.map((value, i) => value + mpi[i]);
    const sum = (values) => values.reduce((a, b) => a + b, 0), pick = (better) => share.reduce((best, value, i) => (better(value, share[best]) ? i : best), 0);
    const low = pick((a, b) => a < b), high = pick((a, b) => a > b);
    byId("ranks-words").textContent = sum(own) > 0 ? _("MPI takes {share} of the ranks' time: from {least} on {low} to {most} on {high}. The rank with most work of its own has {ratio} the mean.", {
      share: format.percent(sum(mpi) / sum(total)), least: format.percent(share[low]), low: rankName(low), most: format.percent(share[high]), high: rankName(high),
      ratio: format.ratio((Math.max(...own) * own.length) / sum(own)) }) : _("This profile holds the time in MPI only.");
    explorer.strip(byId("strip"), { parts, unit: "s", nodes: ranks.node, height: 210, label: _("Time of {count} ranks: {words}", { count: own.length, words: byId("ranks-words").textContent }), chosen: chooseRank,
      lines: (i) => [hosts[ranks.node[i]] ? _("{rank} on {host}", { rank: rankName(i), host: hosts[ranks.node[i]] }) : rankName(i), ...parts.map((part) => `${part.name}: ${format.seconds(part.values[i])}`), _("MPI share {share}", { share: format.percent(share[i]) })] });
  }

  byId("loading").remove();
  document.documentElement.classList.add("ready");
  const first = document.querySelector("button.go.main"), hot = first ? Number(first.dataset.node) : 0;
  trees.call.select(hot, { quiet: true });
  update("metric");
  if (byId("cells")) {
    const redraw = explorer.matrix(data, byId("cells"), byId("largest"), byId("shades"));
    document.querySelectorAll("[data-cells]").forEach((button) => button.addEventListener("click", () => { explorer.press("[data-cells]", button); redraw(button.dataset.cells); }));
  }
  if (byId("strip")) strip();
  const all = Object.values(trees);
  addEventListener("beforeprint", () => all.forEach((tree) => { tree.place.classList.add("printed"); tree.draw(true); }));
  addEventListener("afterprint", () => all.forEach((tree) => { tree.place.classList.remove("printed"); tree.draw(); }));
  document.documentElement.dataset.explorer = "ready";
})();
