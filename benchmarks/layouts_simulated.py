"""Nakajima's figures simulated: processes x threads on T2K and Cray XT4, 32 to 1,024 cores, beside what it says.

    python benchmarks/layouts_simulated.py                        all figures as tables
    python benchmarks/layouts_simulated.py --picture FILE.svg     and as charts
    python benchmarks/layouts_simulated.py --fit                  fit again what is fitted in unisono.simulate.clusters

The solver's communication skeleton under SimGrid's SMPI; computing takes the time of the byte model. Nothing here was
measured on those machines. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from unisono.cmdline.layouts import Layout
from unisono.simulate.clusters import Cluster
from unisono.simulate.files import cluster as read_cluster
from unisono.simulate.layouts import CORES, Case, Step, simulate, simulate_all
from unisono.simulate.nakajima2009 import SPEED_UPS, said
from unisono.simulate.picture import Chart, draw

T2K, XT4 = read_cluster("t2k"), read_cluster("xt4")
FLAT = Layout(1, 16)
LAYOUTS = (FLAT, Layout(4, 4), Layout(8, 2), Layout(16, 1))
XT4_LAYOUTS = (Layout(1, 4), Layout(4, 1))
LENGTHS = (8, 16, 32, 48)
SMALL = tuple(cores for cores in CORES if cores <= 512)

Steps = dict[Case, Step]


def all_cases() -> dict[str, list[Case]]:
    t2k = [Case(layout, cores, 4) for layout in LAYOUTS for cores in CORES]
    t2k += [Case(layout, cores, 4, threaded=True) for layout in LAYOUTS[1:] for cores in CORES]
    t2k += [Case(layout, cores, 1) for layout in LAYOUTS for cores in CORES]
    t2k += [Case(FLAT, cores, links, kind="allreduce5") for links in (4, 1) for cores in SMALL]
    t2k += [Case(FLAT, cores, links, kind="halo26", length=n) for n in LENGTHS for links in (4, 1) for cores in SMALL]
    xt4 = [Case(layout, cores, 1, threaded) for layout in XT4_LAYOUTS for cores in CORES for threaded in (False, True)]
    return {"t2k": t2k, "xt4": xt4}


class Results:
    """Speed-ups and times by what was simulated."""

    def __init__(self, t2k: Steps, xt4: Steps) -> None:
        self.steps = {"t2k": t2k, "xt4": xt4}

    def speed_up(self, cluster: str, case: Case) -> float:
        """32 is flat MPI on 32 cores with all links."""
        machine = {"t2k": T2K, "xt4": XT4}[cluster]
        unit = Case(Layout(1, machine.node_cores), 32, machine.links)
        return 32 * self.steps[cluster][case].gflops / self.steps[cluster][unit].gflops

    def per_core(self, cluster: str, layout: Layout, links: int, threaded: bool) -> dict[int, float]:
        return {cores: self.speed_up(cluster, Case(layout, cores, links, threaded)) / cores for cores in CORES}


def against_document(results: Results) -> list[dict[str, object]]:
    """Every number of the document's text: simulated, by how much off, fitted or predicted."""
    table = Table(title="Speed-up, flat MPI on 32 cores = 32", title_justify="left")
    for name in ("machine", "layout", "cores", "links", "packing", "document", "simulated", "off", ""):
        table.add_column(name, justify="right" if name in ("cores", "document", "simulated", "off") else "left")
    rows: list[dict[str, object]] = []
    for one in SPEED_UPS:
        machine = {"t2k": T2K, "xt4": XT4}[one.cluster]
        layout = Layout.parse(one.layout, machine.node_cores)
        found = results.speed_up(one.cluster, Case(layout, one.cores, one.links or machine.links, bool(one.threaded)))
        off = found / one.speed_up - 1
        kind = "fitted" if one.fitted else "predicted"
        packing = {None: "", True: "threads", False: "one"}[one.threaded]
        links = str(one.links or "all")
        table.add_row(
            machine.name, layout.words, str(one.cores), links, packing, f"{one.speed_up:g}", f"{found:.4g}",
            f"{off:+.1%}", kind,
        )  # fmt: skip
        rows.append(
            {"machine": one.cluster, "layout": one.layout, "cores": one.cores, "links": links, "packing": packing,
             "document": one.speed_up, "simulated": round(found, 1), "kind": kind}
        )  # fmt: skip
    Console(width=110).print(table)
    return rows


def charts(results: Results) -> list[Chart]:
    def points(cluster: str, layout: Layout, links: int | None, threaded: bool) -> dict[int, float]:
        found = {cores: said(cluster, layout.name, cores, links, threaded) for cores in CORES}
        return {cores: one.speed_up / cores for cores, one in found.items() if one}

    def speed_ups(title: str, cluster: str, layouts: Sequence[Layout], links: int, threaded: bool) -> Chart:
        curves = {
            layout.words: results.per_core(cluster, layout, links, threaded and layout.threads > 1)
            for layout in layouts
        }
        marks = {layout.words: points(cluster, layout, None, threaded) for layout in layouts}
        return Chart(title, "speed-up / cores; squares: the document", curves, marks, unit="", label=str)

    def ratios(
        title: str, note: str, curves: Mapping[str, Mapping[int, float]], marks: dict[str, dict[int, float]]
    ) -> Chart:
        return Chart(title, note, curves, marks, unit="", label=str)

    steps = results.steps["t2k"]
    packing = {
        layout.words: {
            cores: steps[Case(layout, cores, 4, threaded=True)].seconds / steps[Case(layout, cores, 4)].seconds
            for cores in CORES
        }
        for layout in LAYOUTS[1:]
    }
    one_link = {
        layout.words: {
            cores: steps[Case(layout, cores, 4)].seconds / steps[Case(layout, cores, 1)].seconds for cores in CORES
        }
        for layout in LAYOUTS
    }
    between = {
        "flat MPI" if mine.threads == 1 else f"{mine.threads} threads a process": {
            cores: results.steps["xt4"][Case(theirs, cores, 1)].gflops
            / results.steps["t2k"][Case(mine, cores, 4)].gflops
            for cores in CORES
        }
        for mine, theirs in zip(LAYOUTS, XT4_LAYOUTS, strict=False)
    }
    reduced = {
        f"{links} link{'s' if links > 1 else ''}": {
            cores: steps[Case(FLAT, cores, links, kind="allreduce5")].seconds for cores in SMALL
        }
        for links in (4, 1)
    }
    halos = {
        f"N = {n}, {links} link{'s' if links > 1 else ''}": {
            cores: steps[Case(FLAT, cores, links, kind="halo26", length=n)].seconds for cores in SMALL
        }
        for n in (8, 32, 48)
        for links in (4, 1)
    }
    return [
        speed_ups("T2K, halo packed by all threads (figure 4)", "t2k", LAYOUTS, 4, True),
        speed_ups("T2K, halo packed by one thread (figure 10a)", "t2k", LAYOUTS, 4, False),
        speed_ups("Cray XT4 (figure 4); a process of 4 threads is its HB 4x4", "xt4", XT4_LAYOUTS, 1, False),
        ratios("Gain of packing by one thread, T2K (figure 10b)", "squares: the document", packing,
               {Layout(8, 2).words: {1024: 997 / 899}, Layout(16, 1).words: {1024: 919 / 837}}),
        ratios("Gain of one link over four, T2K (figure 12b)", "square: the document", one_link,
               {"flat MPI": {1024: 965 / 882}}),
        ratios("Cray XT4 over T2K, GFLOPS (figure 5)", "the document: 1.5 to 2.0", between, {}),
        Chart("Allreduce of one double, T2K flat MPI (figure 14)", "mean of five in a row", reduced, label=str),
        Chart("Exchange with up to 26 neighbours, T2K (figure 17)", "3 N x N doubles each", halos, label=str),
    ]  # fmt: skip


# What is fitted, in this order: names, and for what the simulation has to say: target, how it is asked.


def fitted(cluster: Cluster, names: Sequence[str], misses: Callable[[Cluster], list[float]]) -> Cluster:
    """Newton's method on the logarithms of `names` until all `misses` (relative) are below 0.1 %."""

    def at(logarithms: np.ndarray) -> Cluster:
        values = np.exp(logarithms)
        return with_values(cluster, dict(zip(names, values, strict=True)))

    x = np.log([cluster.numbers[name].value for name in names])
    for _ in range(12):
        now = np.array(misses(at(x)))
        print(
            "  ",
            dict(zip(names, np.exp(x).round(12).tolist(), strict=True)),
            "off by",
            now.round(4).tolist(),
            flush=True,
        )
        if np.abs(now).max() < 1e-3:
            break
        step = 0.05
        slopes = np.array([(np.array(misses(at(x + step * unit))) - now) / step for unit in np.eye(len(x))]).T
        x = x - np.clip(np.linalg.lstsq(slopes, now, rcond=None)[0], -0.7, 0.7)
    return at(x)


def with_values(cluster: Cluster, values: Mapping[str, float]) -> Cluster:
    plain = {name: value for name, value in values.items() if not name.startswith("efficiency")}
    numbers: dict[str, Any] = {name: replace(cluster.numbers[name], value=value) for name, value in plain.items()}
    changed = replace(cluster, **numbers)
    shares = {
        name.split()[1]: replace(cluster.numbers[name], value=value)
        for name, value in values.items()
        if name not in plain
    }
    return replace(changed, efficiency={**cluster.efficiency, **shares})


def fit() -> None:
    def asked(cluster: Cluster, *cases: Case) -> list[Step]:
        return [step for _, step in simulate_all(cluster, cases)]

    def on_32(layouts: Sequence[Layout], links: int) -> Callable[[Cluster], list[float]]:
        def misses(cluster: Cluster) -> list[float]:
            flat, *others = asked(cluster, *(Case(layout, 32, links) for layout in layouts))
            key = "t2k" if cluster.name == "T2K" else "xt4"
            wanted = [said(key, layout.name, 32, None, False) for layout in layouts[1:]]
            return [32 * o.gflops / flat.gflops / w.speed_up - 1 for o, w in zip(others, wanted, strict=True) if w]

        return misses

    def flat_curve(cluster: Cluster) -> list[float]:
        solver = (Case(FLAT, 32, 4), Case(FLAT, 1024, 4), Case(FLAT, 1024, 1))
        reduced = (Case(FLAT, 512, links, kind="allreduce5") for links in (4, 1))
        base, four, one, four_reduced, one_reduced = asked(cluster, *solver, *reduced)
        return [
            32 * four.gflops / base.gflops / 882 - 1,
            32 * one.gflops / base.gflops / 965 - 1,
            four_reduced.seconds / one_reduced.seconds / 2 - 1,
        ]

    def wide_halo(cluster: Cluster) -> list[float]:
        four, one = asked(cluster, *(Case(FLAT, 512, links, kind="halo26", length=48) for links in (4, 1)))
        return [four.seconds / one.seconds - 1]

    def packing(cluster: Cluster) -> list[float]:
        hb = Layout(8, 2)
        hb8 = (Case(hb, 1024, 4, threaded) for threaded in (False, True))
        base, one, threads, far = asked(cluster, Case(FLAT, 32, 4), *hb8, Case(LAYOUTS[-1], 1024, 4))
        return [threads.seconds / one.seconds / (997 / 899) - 1, 32 * far.gflops / base.gflops / 919 - 1]

    def xt4_curve(cluster: Cluster) -> list[float]:
        base, far = asked(cluster, *(Case(XT4_LAYOUTS[0], cores, 1) for cores in (32, 1024)))
        return [32 * far.gflops / base.gflops / 888 - 1]

    shares = ["efficiency 4x4", "efficiency 8x2", "efficiency 16x1"]
    t2k = fitted(T2K, ["cache", "message", "message_bonded"], flat_curve)
    t2k = fitted(t2k, ["stripe"], wide_halo)
    for _ in range(2):  # each moves the other a little
        t2k = fitted(t2k, ["loop_across", "barrier_node"], packing)
        t2k = fitted(t2k, shares, on_32(LAYOUTS, 4))
    ours = simulate(t2k, Case(FLAT, 32, 4)).gflops
    xt4 = fitted(XT4, ["memory"], lambda c: [simulate(c, Case(XT4_LAYOUTS[0], 32, 1)).gflops / ours / 1.5 - 1])
    xt4 = fitted(xt4, ["message"], xt4_curve)
    xt4 = fitted(xt4, ["efficiency 4x1"], on_32(XT4_LAYOUTS, 1))
    for cluster in (t2k, xt4):
        print(cluster.name, {name: float(f"{n.value:.4g}") for name, n in cluster.numbers.items() if n.fitted})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--picture", type=Path, metavar="FILE.svg")
    parser.add_argument("--fit", action="store_true")
    arguments = parser.parse_args()
    if arguments.fit:
        fit()
        return
    cases = all_cases()
    results = Results(dict(simulate_all(T2K, cases["t2k"])), dict(simulate_all(XT4, cases["xt4"])))
    answer: dict[str, object] = {"speed_ups": against_document(results)}
    drawn = charts(results)
    for chart in drawn:
        digits, factor = (3, 1.0) if not chart.unit else (1, 1e6)
        answer[chart.title] = {
            name: {x: round(y * factor, digits) for x, y in curve.items()} for name, curve in chart.curves.items()
        }
        Console(width=140).print(chart.title, {n: list(c.values()) for n, c in answer[chart.title].items()})  # type: ignore[attr-defined]
    if arguments.picture:
        arguments.picture.write_text(draw(drawn))
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
