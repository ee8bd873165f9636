"""`unisono extrapolate`: a tuning with predicted rules, beside the measured ones, for other numbers of nodes."""

from __future__ import annotations

import json as json_module
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from unisono.commands.console import err, out, print_json
from unisono.core.errors import UserError
from unisono.core.language import _, translated
from unisono.study.wishes import node_counts
from unisono.tuning.contents import Tuning


def extrapolate(studies: Sequence[Path], output: Path, *, nodes: str, ppn: int | None, json: bool) -> None:
    """Writes tuning.toml and report.html. Raises UserError where the studies are of different machines, or hold nothing
    that a prediction could rest on."""
    from unisono.advise.measuring import merged
    from unisono.decide.document import from_decision
    from unisono.extrapolate.plans import extrapolate as predict
    from unisono.hybrid.keep import keeping_layouts
    from unisono.report.report import write_report
    from unisono.search.verdict import decide_study
    from unisono.study.files import Outputs
    from unisono.tuning import write
    from unisono.tuning.show import show

    counts = node_counts(nodes)
    _check_one_machine(studies)
    data = merged(studies)
    measured = decide_study(data)
    predicted = predict(measured, counts, ppn, data.scope)
    said = tuple(predicted.findings())
    decision = replace(measured, plans=(*measured.plans, *predicted.plans), findings=(*measured.findings, *said))
    files = Outputs(output)
    tuning = _with_its_proof(keeping_layouts(from_decision(decision, data), files.tuning), files.tuning)
    write(tuning, files.tuning)
    write_report(data, measured, files.report, tuning=tuning, verification=None, predicted=predicted)
    if json:
        print_json(json_module.loads(tuning.model_dump_json(by_alias=True)))
        return
    shown = [plan for plan in tuning.plan if plan.predicted]
    if shown:
        update = {"plan": tuple(shown), "finding": (), "proof": (), "layout": ()}
        out().print(show(tuning.model_copy(update=update), proven=True))
    for finding in said:
        out().print(f"- {translated(finding.text)}", markup=False)
    left = sorted(set(counts) - {plan.nodes for plan in shown})
    if left:
        err().print(
            _("Not predicted, because measured or a single node: {nodes}").format(nodes=", ".join(map(str, left))),
            markup=False,
        )
    err().print(_("Decided: {tuning}, {report}").format(tuning=files.tuning, report=files.report), markup=False)


def _check_one_machine(studies: Sequence[Path]) -> None:
    from unisono.machine.fingerprint import differences
    from unisono.study.store import Store

    machines = []
    for path in studies:
        with Store.open(path) as store:
            machines.append(store.machine)
    for path, machine in zip(studies, machines, strict=True):
        if changed := differences(machines[0], machine):
            raise UserError(
                _("{path}: was measured on a machine that differs from that of {other}: {changed}").format(
                    path=path, other=studies[0], changed="; ".join(map(translated, changed))
                )
            )


def _with_its_proof(tuning: Tuning, path: Path) -> Tuning:
    """With the proof of the tuning that it will replace, where what was measured is the same."""
    from unisono.tuning import read

    try:
        there = read(path, layouts=True)
    except UserError:
        return tuning
    alike = there.study.id == tuning.study.id and _measured(there) == _measured(tuning)
    return tuning.model_copy(update={"proof": there.proof}) if alike else tuning


def _measured(tuning: Tuning) -> list[object]:
    return [plan for plan in tuning.plan if not plan.predicted]
