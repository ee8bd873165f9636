"""`unisono extrapolate`: a tuning with predicted rules, beside the measured ones, for other numbers of nodes."""

from __future__ import annotations

import json as json_module
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from unisono.commands.console import err, out, print_json
from unisono.core.errors import UserError
from unisono.core.language import N_, _, translated
from unisono.core.numbers import whole_number
from unisono.core.vocabulary import PPN_MOST
from unisono.study.wishes import node_counts
from unisono.tuning.contents import Tuning

if TYPE_CHECKING:
    from unisono.simulate.fullest import Fullest
    from unisono.study.data import StudyData

COUNTED_MOST = 1 << 20
"""Ranks whose messages are counted one by one: some seconds for each algorithm."""


def extrapolate(
    studies: Sequence[Path], output: Path, *, nodes: str, ppn: int | None, platform: str | None = None, json: bool
) -> None:
    """Writes tuning.toml and report.html. `platform`: the network between the nodes, by name or file. Raises UserError
    where the studies are of different machines, or hold nothing that a prediction could rest on."""
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
    if ppn is not None:
        whole_number(str(ppn), "--ppn", most=PPN_MOST)
    network = _network(platform, studies[0])
    data = merged(studies)
    if network is not None:
        _check_size(network, counts, [ppn] if ppn is not None else _measured_ppn(data))
    measured = decide_study(data)
    predicted = predict(measured, counts, ppn, data.scope, shared=data.nodes_share_cpus, network=network)
    if predicted.plans:
        predicted = replace(predicted, assumed=tuple(_assumed(network, data, ppn)))
    said = tuple(predicted.findings())
    plans = (*measured.plans, *predicted.plans, *predicted.without)
    decision = replace(measured, plans=plans, findings=(*measured.findings, *said))
    files = Outputs(output)
    tuning = _with_its_proof(keeping_layouts(from_decision(decision, data), files.tuning), files.tuning)
    write(tuning, files.tuning)
    write_report(data, measured, files.report, tuning=tuning, verification=None, predicted=predicted)
    if json:
        print_json(json_module.loads(tuning.model_dump_json(by_alias=True)))
        return
    shown = [plan for plan in tuning.plan if plan.predicted]
    if shown:
        covered = {name for plan in shown for name in plan.gain}
        weights = {name: weight for name, weight in tuning.weights.items() if name in covered}
        weights = weights if any(weights.values()) else {}
        update = {"plan": tuple(shown), "weights": weights, "finding": (), "proof": (), "layout": ()}
        out().print(show(tuning.model_copy(update=update), proven=True))
    for finding in said:
        out().print(f"- {translated(finding.text)}", markup=False)
    left = sorted(set(counts) - {plan.nodes for plan in shown} - {one.nodes for one in predicted.untold})
    if left:
        err().print(
            _(
                "These numbers of nodes are not predicted, because they were measured or are a single node: {nodes}"
            ).format(nodes=", ".join(map(str, left))),
            markup=False,
        )
    err().print(_("Decided: {tuning}, {report}").format(tuning=files.tuning, report=files.report), markup=False)


def _network(name: str | None, study: Path) -> Fullest | None:
    """Of the platform that was named; else of the one that a study was simulated on."""
    from unisono.simulate.files import platform, platform_of
    from unisono.simulate.fullest import Fullest
    from unisono.simulate.study import text_of_platform

    if name is not None:
        return Fullest(platform(name))
    text = text_of_platform(study)
    return None if text is None else Fullest(platform_of(text, study))


def _check_size(network: Fullest, counts: Sequence[int], ppn: Sequence[int]) -> None:
    """Raises UserError where the network cannot have so many nodes, or nobody could count so many ranks' messages."""
    for count in counts:
        network.check(count)
        if count * max(ppn, default=1) > COUNTED_MOST:
            raise UserError(
                _("{nodes} x {ppn} ranks: on a network the messages of {most:,} ranks at most are counted").format(
                    nodes=count, ppn=max(ppn), most=COUNTED_MOST
                )
            )


def _measured_ppn(data: StudyData) -> list[int]:
    return sorted({sample.case.ppn for sample in data.samples if sample.case.nodes > 1})


def _assumed(network: Fullest | None, data: StudyData, ppn: int | None) -> Iterator[str]:
    """What predictions rest on besides what was measured."""
    known = _measured_ppn(data)
    if ppn is not None and ppn not in known:
        text = N_(
            "No study over several nodes has {ppn} ranks a node. The predictions use the measurements with "
            "{known}, and their error is not known."
        )
        yield text.format(ppn=ppn, known=", ".join(map(str, known)))
    if network is not None and network.platform.kind != "crossbar":  # on which none meet
        text = N_(
            "The predictions include contention on the network {name}: they count the messages that share the "
            "busiest link between nodes."
        )
        yield text.format(name=network.platform.name)
    if data.nodes_share_cpus:
        yield N_("The nodes share their CPUs, as on a virtual cluster, so predictions count the messages of all ranks.")


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
