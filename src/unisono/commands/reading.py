"""Commands that only read: report, show, lookup, compare."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Any

from unisono.commands.choosing import case_of, size_of
from unisono.commands.choosing import weights as chosen_weights
from unisono.commands.console import err, out, print_json
from unisono.commands.remembered import launcher
from unisono.errors import UserError
from unisono.language import translated
from unisono.sizes import format_size
from unisono.study.data import StudyData
from unisono.study.store import Store


def report(study: Path, output: Path) -> None:
    """Write the report of a study; a tuning and a verification are shown when the study has them."""
    from unisono.hybrid.study import is_hybrid
    from unisono.hybrid.study import read as read_hybrid
    from unisono.report.hybrid import write_hybrid_report
    from unisono.report.report import write_report
    from unisono.study.verdict import decide_study, stored_verification
    from unisono.tuning import from_decision

    with Store.open(study) as store:
        if is_hybrid(store):
            written = write_hybrid_report(read_hybrid(store), output)
            err().print(f"Report: {written}", markup=False)
            return
        data = store.data()
        verification = stored_verification(store)
    decision = decide_study(data)
    written = write_report(data, decision, output, tuning=from_decision(decision, data), verification=verification)
    err().print(f"Report: {written}", markup=False)


def show(path: Path, *, json: bool) -> None:
    """A tuning as tables, and whether it still fits this machine."""
    from unisono.tuning import read
    from unisono.tuning.show import show as render

    if path.suffix == ".db":
        raise UserError(f"{path}: is a study, not a tuning; unisono report {path} shows it")
    tuning = read(path, layouts=True)
    changed = _stale(tuning)
    if json:
        document: dict[str, Any] = json_module.loads(tuning.model_dump_json(by_alias=True))
        print_json({**document, "stale": changed})
        return
    console = out()
    console.print(render(tuning))
    for sentence in changed or []:
        console.print(f"Stale here: {sentence}", style="yellow", markup=False)


def _stale(tuning: Any) -> list[str] | None:
    """How this machine differs from the one measured; None where there is no MPI to tell."""
    from unisono.machine.describe import describe
    from unisono.tuning import stale

    try:
        return stale(tuning, describe(launcher(None, tuning.mpi)))
    except UserError:
        return None


def lookup(
    path: Path,
    *,
    collective: str,
    nodes: int | None,
    ppn: int | None,
    size: str,
    for_: str | None,
    weights: str | None,
    json: bool,
) -> None:
    """What one collective gets at one size, as `unisono run` gives it and `unisono explain` explains it."""
    from unisono.tuning import read
    from unisono.tuning.explain import explain

    tuning = read(path)
    case = case_of(tuning, nodes, ppn)
    explained = explain(tuning, collective, *case, size_of(collective, size), chosen_weights(for_, weights))
    found = explained.found
    if json:
        print_json(found.as_dict())
        return
    console = out()
    gain = found.gain
    what = f"{collective} of {format_size(found.size)} on {found.nodes} x {found.ppn} ranks (nodes x ranks a node)"
    fast = f"{gain.mid:.2f}x the default's speed ({gain.low:.2f} to {gain.high:.2f})" if gain else "not measured"
    console.print(f"{found.setting}", style="bold", markup=False)
    console.print(f"  for {what}: {fast}", markup=False)
    for note in [*found.notes, *explained.alone_sentences()]:
        console.print(f"  {translated(note)}", markup=False)


def compare(paths: list[Path], *, output: Path | None, json: bool) -> None:
    """Studies that differ in boot settings, versions or machines."""
    from unisono.decide.compare import compare as compare_studies
    from unisono.hybrid.study import is_hybrid
    from unisono.report.report import write_comparison_report

    if len(paths) < 2:
        raise UserError("compare needs two studies or more: unisono compare A.db B.db")
    studies: list[StudyData] = []
    hybrid: list[Path] = []
    for path in paths:
        with Store.open(path) as store:
            if is_hybrid(store):
                hybrid.append(path)
            studies.append(store.data())
    if hybrid:
        others = [path for path in paths if path not in hybrid]
        if others:
            raise UserError(f"{hybrid[0]} compares layouts, {others[0]} collectives: there is no ratio between them")
        _compare_layouts(paths, output=output, json=json)
        return
    comparison = compare_studies(*studies)
    if output is not None:
        write_comparison_report(comparison, studies, output)
        err().print(f"Comparison: {output}", markup=False)
    if json:
        print_json(comparison.as_dict())
    else:
        out().print(comparison.table())


def _compare_layouts(paths: list[Path], *, output: Path | None, json: bool) -> None:
    from unisono.hybrid.compare import compare as compare_layouts
    from unisono.hybrid.show import comparison as shown
    from unisono.hybrid.study import HybridStudy, read
    from unisono.report.hybrid_comparison import write_hybrid_comparison

    studies: list[HybridStudy] = []
    for path in paths:
        with Store.open(path) as store:
            studies.append(read(store))
    comparison = compare_layouts(studies)
    if output is not None:
        write_hybrid_comparison(comparison, studies, output)
        err().print(f"Comparison: {output}", markup=False)
    if json:
        print_json(comparison.as_dict())
    else:
        out().print(shown(comparison))
