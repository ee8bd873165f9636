"""From what a study holds to its decision: the one place where a study's own margin and confidence are applied."""

from __future__ import annotations

from typing import Any

from unisono.decide.decide import decide
from unisono.decide.model import Decision
from unisono.errors import UserError
from unisono.language import _
from unisono.study.data import StudyData
from unisono.study.rows import PROOF
from unisono.study.store import Store


def decide_study(data: StudyData) -> Decision:
    """Raises UserError when the study holds nothing to decide from yet."""
    if not data.samples:
        raise UserError(
            _("study {name!r} holds no samples yet; go on with unisono tune --resume -o DIR, where it lies").format(
                name=data.name
            )
        )
    return decide(
        data.samples,
        method=data.method,
        margin=data.margin,
        confidence=data.confidence,
        weights=data.weights or None,
        scope=data.scope,
        failures=[launch for launch in data.launches if launch.status not in ("done", "interrupted")],
        refusals=data.refusals,
        notes=data.notes,
    )


def stored_verification(store: Store) -> dict[str, Any] | None:
    """The proof kept with the study, as far as a report shows it, when it was made."""
    proof = store.value_or_none("verification", PROOF)
    return None if proof is None else proof.model_dump()
