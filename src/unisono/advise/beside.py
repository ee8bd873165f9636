"""What stands beside a tuning and advice is made from: its study, and what was measured later for some program."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from unisono.advise.evidence import Evidence, StudyEvidence, TuningEvidence
from unisono.advise.gaps import Gap
from unisono.advise.replayed import Replays, replays
from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.core.vocabulary import SIMULATED, USUAL
from unisono.study.files import Outputs
from unisono.study.store import Store
from unisono.tuning.contents import Tuning

GAPS = "gaps"
"""Beside a tuning: studies of what was measured later, because a program used it: "gaps.db", and under conditions of a
program "gaps-" and a digest of them, since a study holds one condition for each case."""
REPLAYED = "replayed.db"
"""Beside a tuning: what cold buffers, cold caches and late ranks make of programs' calls."""


def evidences_of(tuning: Tuning, path: Path, studies: Sequence[Path]) -> list[Evidence]:
    """The studies named; else the one beside the tuning if the tuning was made from it, and what --measure measured.

    And the tuning's own gains for what they lack. Raises UserError for a study that cannot be read.
    """
    if tuning.simulated:
        raise UserError(
            _("{path}: is a simulated study; unisono advise predicts only from a study that was measured").format(
                path=path
            )
        )
    found: list[Evidence] = []
    beside = [Outputs(path.parent).study, *sorted(path.parent.glob(f"{GAPS}*.db"))]
    for study in studies or [place for place in beside if place.is_file()]:
        with Store.open(study) as store:
            if not studies and not study.name.startswith(GAPS) and store.meta("id") != tuning.study.id:
                continue
            data = store.data()
        if data.method == SIMULATED:
            raise UserError(
                _("{path}: is a simulated study; unisono advise predicts only from a study that was measured").format(
                    path=study
                )
            )
        if data.samples:
            found.append(StudyEvidence(data, tuning))
    return [*found, TuningEvidence(tuning)]


def studies_for(gaps: Sequence[Gap], folder: Path) -> list[tuple[Path, list[Gap]]]:
    """The file of each study that is to fill these gaps, and those it fills: of the usual condition, and all others."""
    usual = [gap for gap in gaps if gap.condition == USUAL]
    others = [gap for gap in gaps if gap.condition != USUAL]
    named = ((GAPS, usual), (f"{GAPS}-{_digest(others)}", others))
    return [(folder / f"{name}.db", part) for name, part in named if part]


def _digest(gaps: Sequence[Gap]) -> str:
    said = sorted(f"{gap.case}: {gap.condition.key}" for gap in gaps)
    return hashlib.sha256("\n".join(said).encode()).hexdigest()[:8]


def replays_in(folder: Path) -> Replays:
    return replays([folder / REPLAYED] if (folder / REPLAYED).is_file() else [])
