"""The layouts a study decided, in the tuning beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from unisono.core.errors import UserError
from unisono.core.interval import Interval
from unisono.core.language import _, translated
from unisono.decide.document import head, rounded
from unisono.hybrid.decide import Decision
from unisono.hybrid.policies import resolved
from unisono.hybrid.study import METHOD
from unisono.machine.description import Machine
from unisono.machine.fingerprint import differences
from unisono.study.data import StudyData
from unisono.tuning import LayoutModel, Tuning, read, stale
from unisono.tuning.contents import Conditions, StudyPart


def layouts(decision: Decision, study: StudyData, program: str, metric: str) -> list[LayoutModel]:
    """One for each number of nodes on which several were compared: what is proven fastest, else the reference. None at
    all without a conclusion."""
    found = []
    compared = [nodes for nodes in decision.node_counts if len(decision.on(nodes)) > 1]
    for nodes in compared if decision.concluded else []:
        reference = decision.reference_on(nodes)
        proven = decision.proven(nodes)
        best = proven or reference
        variant = best.variant
        found.append(
            LayoutModel(
                program=program,
                metric=metric,
                nodes=nodes,
                threads=variant.layout.threads,
                processes=variant.layout.processes,
                numa=resolved(variant.numa, variant.layout),
                packing="threads" if variant.packing == "threads" else "single",
                links=variant.links,
                reference=reference.name,
                gain=rounded(best.gain if proven else Interval(1.0, 1.0, 1.0)),
                proven=proven is not None,
                launches=best.launches,
                study=study.id,
            )
        )
    return found


def beside(path: Path, machine: Machine) -> Tuning | None:
    """The tuning that is there already, which layouts go into; None: there is none yet. Raises UserError for one that
    cannot be read, or was measured on another machine."""
    if not path.exists():
        return None
    there = read(path, layouts=True)
    changed = stale(there, machine)
    if changed:
        raise UserError(
            _("{path}: was measured on a machine that differs: {changed}. Choose another -o DIR").format(
                path=path, changed="; ".join(map(translated, changed))
            )
        )
    return there


def with_layouts(there: Tuning | None, found: Sequence[LayoutModel], study: StudyData) -> Tuning:
    """`there` with these layouts, in place of older ones of the same program and number of nodes."""
    anew = {(layout.program, layout.nodes) for layout in found}
    if there is not None:
        kept = [layout for layout in there.layout if (layout.program, layout.nodes) not in anew]
        return there.model_copy(update={"layout": (*kept, *found)})
    return Tuning(
        **head(study),
        study=StudyPart(id=study.id, name=study.name, method=METHOD, margin=study.margin, confidence=study.confidence),
        conditions=Conditions(launches=len([row for row in study.launches if row.status == "done"]), notes=study.notes),
        layout=tuple(found),
    )


def keeping_layouts(tuning: Tuning, path: Path) -> Tuning:
    """With the layouts of the tuning that it will replace, where that is of the same machine."""
    try:
        there = read(path, layouts=True)
    except UserError:
        return tuning  # none there, or none that can be read
    if differences(there.machine, tuning.machine):
        return tuning
    return tuning.model_copy(update={"layout": there.layout})
