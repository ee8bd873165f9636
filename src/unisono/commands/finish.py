"""What follows when a study has been measured: decide, write the tuning and its forms, prove it, report."""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from unisono.advise.prove import Proof, Step, verify_tuning
from unisono.commands.console import err
from unisono.core.errors import UserError
from unisono.core.language import _, ngettext
from unisono.decide.decision import Decision
from unisono.decide.document import from_decision
from unisono.export import FORMATS, OURS, edited, export, exportable, formats
from unisono.fabric.limit import beside
from unisono.hybrid.keep import keeping_layouts
from unisono.machine.description import Machine
from unisono.mpi import traits
from unisono.report.report import write_report
from unisono.search.verdict import decide_study
from unisono.study.config import Study
from unisono.study.files import Outputs
from unisono.study.store import Store
from unisono.tuning import Tuning, choose, read, write
from unisono.tuning.contents import ProofModel
from unisono.tuning.finding import Finding
from unisono.tuning.proven import KEY, choices
from unisono.tuning.show import show, slower

_PAIRS = 15
"""Launches of default and of tuned in the proof: seconds each here, and the interval is the point of it."""


REPRODUCED = "reproducible"
"""The kind of finding that says what launches' bits were."""


@dataclass(frozen=True, slots=True)
class Outcome:
    files: Outputs
    decision: Decision
    tuning: Tuning
    proof: Proof | None
    settled: bool

    def as_dict(self) -> dict[str, Any]:
        return {
            "study": str(self.files.study),
            "tuning": str(self.files.tuning),
            "report": str(self.files.report),
            "export": str(self.files.export),
            "settled": self.settled,
            "decision": json.loads(self.tuning.model_dump_json(by_alias=True)),
            "proof": self.proof.as_dict() if self.proof else None,
        }

    def _exported(self) -> str:
        """What the files of the export are, in the words of the tuning's MPI."""
        family = traits(self.tuning.mpi.family if self.tuning.mpi else None)
        if family.MCA:
            return _("the tuning in the forms that Open MPI, UCX, a shell, mpirun and our library read")
        return _("the tuning in the forms that {mpi}, a shell and our library read").format(mpi=family.NAME)

    def print(self, console: Console, *, said: Collection[str] = ()) -> None:
        """The decision, what was disqualified, the proof, and where everything is. What single parameters do to a
        case is some dozens of sentences, between the decision and its proof: `unisono show` and the report have them.
        `said`: notes that were printed before measuring, as what is left out and why, and are not printed again.
        """
        proven = self.proof is not None
        main = [one for one in self.tuning.finding if one.case is None or one.kind == "disqualified"]
        rest = len(self.tuning.finding) - len(main)
        here = tuple(one for one in main if one.text not in said and not (proven and one.kind == REPRODUCED))
        conditions = self.tuning.conditions
        conditions = conditions.model_copy(update={"notes": tuple(one for one in conditions.notes if one not in said)})
        changed = {"finding": here, "conditions": conditions, **({"proof": ()} if proven else {})}
        shown = self.tuning.model_copy(update=changed)
        console.print(show(shown, proven=proven))
        if rest:
            sentence = ngettext(
                "{count} finding on a single parameter: unisono show {tuning}, or the report",
                "{count} findings on single parameters: unisono show {tuning}, or the report",
                rest,
            )
            console.print(sentence.format(count=rest, tuning=shlex.quote(str(self.files.tuning))), markup=False)
        if self.proof is not None:
            console.print()
            console.print(self.proof.render())
            directory = shlex.quote(str(self.files.directory))
            if said := slower(self.proof.cases, directory, self.tuning.study.reproducible):
                console.print(said, style="bold red", markup=False)
        console.print()
        table = Table.grid(padding=(0, 2))
        for path, what in (
            (self.files.report, _("the report: open it in a browser")),
            (self.files.tuning, _("the tuning: unisono show, lookup, run, verify, export")),
            (self.files.export, self._exported()),
            (self.files.study, _("everything measured: unisono report, compare, tune --resume -o DIR")),
        ):
            table.add_row(str(path), what)
        console.print(table)


def finish(
    store: Store, study: Study, machine: Machine, program: Path, files: Outputs, *, settled: bool, verify: bool
) -> Outcome:
    """Decides and writes everything. The proof is made once a study; a resumed one that has it keeps it."""
    data = replace(store.data(), fabric=beside(files.directory))
    decision = decide_study(data)
    tuning = keeping_proof(keeping_layouts(from_decision(decision, data), files.tuning), files.tuning)
    write(tuning, files.tuning)
    for path in export_all(tuning, machine, files.export):
        err().print(
            _(
                "{path}: was edited after it was exported, so it is kept; to export it again, remove it and use "
                "--resume"
            ).format(path=path),
            markup=False,
        )
    proof = _prove(tuning, machine, program, study) if verify else None
    if proof is not None:
        store.set_meta("verification", proof.as_dict())
        store.set_meta(KEY, choices(tuning))
        tuning = with_proof(tuning, proof)
        write(tuning, files.tuning)
    write_report(data, decision, files.report, tuning=tuning, verification=proof.as_dict() if proof else None)
    return Outcome(files, decision, tuning, proof, settled)


def with_proof(tuning: Tuning, proof: Proof) -> Tuning:
    """The tuning with what was proven of it."""
    cases = (
        ProofModel(
            collective=case.collective,
            nodes=case.nodes,
            ppn=case.ppn,
            gain=case.gain,
            launches=case.launches,
            verdict=case.verdict,
        )
        for case in proof.cases
        if case.gain.mid > 0
    )
    said = (Finding(kind=REPRODUCED, text=one.sentence, nodes=one.nodes, ppn=one.ppn) for one in proof.bits)
    others = (finding for finding in tuning.finding if finding.kind != REPRODUCED)
    return tuning.model_copy(update={"proof": tuple(cases), "finding": (*others, *said)})


def keeping_proof(tuning: Tuning, path: Path) -> Tuning:
    """With the proof of the tuning that it will replace, where that has the same plans."""
    try:
        there = read(path, layouts=True)
    except UserError:
        return tuning
    same = there.study.id == tuning.study.id and there.plan == tuning.plan and there.weights == tuning.weights
    return tuning.model_copy(update={"proof": there.proof}) if same else tuning


def export_all(tuning: Tuning, machine: Machine, directory: Path) -> list[Path]:
    """Writes all formats for every (nodes, ppn); returns the files that a person has edited, which are kept."""
    kept = []
    for nodes, ppn in tuning.cases():
        folder = directory if len(tuning.cases()) == 1 else directory / f"{nodes}x{ppn}"
        mine = sorted({path for format in FORMATS for path in edited(format, folder)})
        chosen = choose(tuning, nodes, ppn)
        for format in formats(machine):
            if format != OURS or chosen.needs_library or tuning.study.reproducible:
                export(tuning, format, exportable(tuning, chosen, format)[0], machine, folder, keep=mine)
        kept += mine
    return kept


def _prove(tuning: Tuning, machine: Machine, program: Path, study: Study) -> Proof | None:
    console = err()
    console.print(_("Proving it: default against tuned, on fresh launches in turns"))
    columns = (
        TextColumn("[bold]" + _("Proving")),
        BarColumn(bar_width=24),
        TextColumn(_("left")),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None)

        def step(now: Step) -> None:
            bar.update(task, total=now.total, completed=now.number)

        try:
            return verify_tuning(
                tuning,
                machine,
                program,
                pairs=_PAIRS,
                seconds=study.measure.seconds,
                condition=study.measure.condition,
                deadline=study.measure.timeout,
                progress=step,
            )
        except UserError as error:
            # The tuning stands without its proof; what prevented the proof is said.
            console.print(_("No proof could be made: {error}").format(error=error), style="yellow", markup=False)
            return None
