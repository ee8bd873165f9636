"""`unisono hybrid --simulate`: the solver's layouts on Nakajima's machines, which are not here."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table

from unisono.cmdline.layouts import Layout, chosen_layouts
from unisono.commands.console import err, out, print_json
from unisono.core.errors import UserError
from unisono.core.language import _, joined, listed, ngettext, translated
from unisono.core.numbers import whole_number
from unisono.core.writing import write
from unisono.simulate.clusters import Cluster
from unisono.simulate.files import cluster as read_cluster
from unisono.simulate.files import solver_names
from unisono.simulate.layouts import SIZE, Case, Step, check, simulate_all
from unisono.simulate.nakajima2009 import said
from unisono.simulate.picture import Chart, draw

MOST_CORES = 4096
_PACKING = {"single": (False,), "threads": (True,), "both": (False, True)}


def simulating(
    machine: str,
    argv: list[str],
    *,
    size: str | None,
    layouts: str,
    packing: str,
    links: str | None,
    cores: str,
    output: Path,
    json: bool,
) -> int:
    """Exit status 0. `size` None: the document's."""
    if argv:
        raise UserError(
            _("--simulate simulates only the solver that comes with Unisono; leave out {words}").format(
                words=" ".join(argv)
            )
        )
    if machine not in solver_names() and not Path(machine).is_file():
        raise UserError(
            _("--simulate {machine}: is not a machine that can be simulated; write one of {machines}").format(
                machine=machine, machines=joined(solver_names())
            )
        )
    if packing not in _PACKING:
        raise UserError(_("--packing {packing}: is unknown; write single, threads or both").format(packing=packing))
    cluster = read_cluster(machine)
    nodes = SIZE if size is None else _number(size, "--size", _("the nodes along the cube, for example 144"))
    counts = [_number(word, "--cores", _("numbers of cores, for example 32,256,1024")) for word in cores.split(",")]
    if max(counts) > MOST_CORES:
        raise UserError(
            _("--cores {cores}: is too many; at most {most} cores can be simulated").format(
                cores=max(counts), most=MOST_CORES
            )
        )
    used = (
        [_number(word, "--links", _("numbers of links, for example 1,4")) for word in links.split(",")]
        if links is not None
        else []
    )
    wanted, notes = chosen_layouts(layouts, cluster.node_cores)
    for note in notes:
        err().print(_("Note: {note}").format(note=translated(note)), markup=False)
    variants = [
        (layout, number, threaded)
        for layout in wanted
        for number in used or [cluster.links]
        for threaded in _PACKING[packing]
        if not threaded or layout.threads > 1
    ]
    variants = variants or [(layout, number, False) for layout in wanted for number in used or [cluster.links]]
    unit = Case(Layout(1, cluster.node_cores), max(32, cluster.node_cores), cluster.links, size=nodes)
    cases = [
        Case(layout, n, number, threaded, nodes) for layout, number, threaded in variants for n in sorted(set(counts))
    ]
    for case in cases:
        check(cluster, case)
    steps: dict[Case, Step] = {}
    for case, step in simulate_all(cluster, list(dict.fromkeys([unit, *cases]))):
        steps[case] = step
        err().print(
            _("  {number}: {layout}, {cores} cores: {value}").format(
                number=len(steps),
                layout=_words(cluster, case),
                cores=case.cores,
                value=f"{step.seconds * 1e3:.4g} ms",
            ),
            markup=False,
        )
    _show(machine, cluster, unit, cases, steps, output, json)
    return 0


def _number(text: str, option: str, wanted: str) -> int:
    try:
        return whole_number(text, option, most=10**6 - 1)
    except UserError:
        raise UserError(
            _("{option} {text}: write {wanted}").format(option=option, text=text[:40], wanted=wanted)
        ) from None


def _words(cluster: Cluster, case: Case) -> str:
    parts = [case.layout.words]
    if case.links != cluster.links:
        parts.append(ngettext("{count} link", "{count} links", case.links).format(count=case.links))
    if case.threaded:
        parts.append(_("packed by threads"))
    return listed(parts)


def _show(
    machine: str, cluster: Cluster, unit: Case, cases: list[Case], steps: dict[Case, Step], output: Path, json: bool
) -> None:
    rows = []
    curves: dict[str, dict[int, float]] = {}
    marks: dict[str, dict[int, float]] = {}
    for case in cases:
        step = steps[case]
        speed_up = unit.cores * step.gflops / steps[unit].gflops
        links = None if case.links == cluster.links else case.links
        document = said(machine, case.layout.name, case.cores, links, case.threaded) if case.size == SIZE else None
        rows.append((case, step, speed_up, document))
        curves.setdefault(_words(cluster, case), {})[case.cores] = speed_up / case.cores
        if document:
            marks.setdefault(_words(cluster, case), {})[case.cores] = document.speed_up / case.cores
    chart = Chart(
        _("{name}, simulated").format(name=cluster.name),
        _("speed-up / cores; squares: Nakajima 2009"),
        curves,
        marks,
        unit="",
        label=str,
    )
    picture = write(output / f"simulated-{Path(machine).stem}.svg", draw([chart], columns=1))
    err().print(_("Chart: {picture}").format(picture=picture), markup=False)
    if json:
        found = [
            {
                "layout": case.layout.name, "cores": case.cores, "links": case.links, "packing_threads": case.threaded,
                "seconds": step.seconds, "gflops": step.gflops, "speed_up": speed_up,
                "computing": step.computing, "packing": step.packing, "exchange": step.exchange,
                "allreduce": step.allreduce,
                "document": document.speed_up if document else None, "fitted": bool(document and document.fitted),
            }
            for case, step, speed_up, document in rows
        ]  # fmt: skip
        numbers = {name: {"value": n.value, "source": n.source} for name, n in cluster.numbers.items()}
        print_json({"simulated": cluster.name, "size": unit.size, "results": found, "numbers": numbers})
        return
    table = Table(
        title=_("{name}, simulated: an iteration of the solver, {size}^3 nodes").format(
            name=cluster.name, size=unit.size
        ),
        title_justify="left",
    )
    table.add_column(_("layout"))
    for name in (
        _("cores"),
        "ms",
        _("speed-up"),
        _("document"),
        _("computing"),
        _("packing"),
        _("exchange"),
        "allreduce",
    ):
        table.add_column(name, justify="right")
    for case, step, speed_up, document in rows:
        parts = (step.computing, step.packing, step.exchange, step.allreduce)
        words = ""
        if document:
            words = f"{document.speed_up:g}"
            if document.fitted:
                words = _("{value} (fitted)").format(value=words)
        shares = [f"{part / sum(parts):.1%}" for part in parts]
        table.add_row(
            _words(cluster, case), str(case.cores), f"{step.seconds * 1e3:.4g}", f"{speed_up:.4g}", words, *shares
        )
    out().print(table)
    out().print(
        _(
            "Simulated, not measured. Speed-up: flat MPI on {cores} cores is {cores}. Those marked fitted "
            "were used to choose the machine's numbers (--json lists them with their sources); "
            "the others are predicted."
        ).format(cores=unit.cores),
        markup=False,
    )
