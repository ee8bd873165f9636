"""From what a study holds to its decision: the one place where a study's own margin and confidence are applied."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from unisono.core.errors import UserError
from unisono.core.language import _, translated
from unisono.core.vocabulary import DEFAULT, IMPORTED
from unisono.decide.decide import decide
from unisono.decide.decision import Decision
from unisono.decide.disqualify import NO_FAULT
from unisono.study.data import StudyData
from unisono.study.rows import PROOF
from unisono.study.store import Store

_COMMAND_MOST = 400


def decide_study(data: StudyData) -> Decision:
    """Raises UserError when the study holds nothing to decide from yet."""
    if not data.samples:
        raise UserError(_nothing(data))
    if not any(sample.setting == DEFAULT for sample in data.samples) and (why := _without_default(data)):
        raise UserError(why)
    return decide(
        data.samples,
        method=data.method,
        margin=data.margin,
        confidence=data.confidence,
        weights=data.weights or None,
        scope=data.scope,
        failures=[launch for launch in data.launches if launch.status not in NO_FAULT],
        refusals=data.refusals,
        notes=data.notes,
        never=data.never,
    )


def _any_rank(reason: str) -> str:
    """Which rank is told of first is chance."""
    return re.sub(r"\brank \d+", "rank", reason)


def _nothing(data: StudyData) -> str:
    """Why there is nothing to decide from, as far as the launches say."""
    failed = [launch for launch in data.launches if launch.status not in NO_FAULT]
    if not failed:
        return _(
            "study {name!r} holds no samples yet; continue it with unisono tune --resume -o DIR, where DIR is its "
            "directory"
        ).format(name=data.name)
    alike, count = Counter(_any_rank(launch.reason) for launch in failed).most_common(1)[0]
    example = next(launch for launch in failed if _any_rank(launch.reason) == alike)
    said = translated(example.reason)
    if len(failed) == 1:
        return _("study {name!r}: its launch failed: {reason}. The command was: {command}").format(
            name=data.name, reason=said, command=example.command[:_COMMAND_MOST]
        )
    return _("study {name!r}: all {all} launches failed, {count} of them because: {reason}. One was: {command}").format(
        name=data.name, all=len(failed), count=count, reason=said, command=example.command[:_COMMAND_MOST]
    )


def _without_default(data: StudyData) -> str:
    """What to do where the default was not measured; "" where it was tried, and failed."""
    if data.method == IMPORTED:
        return _(
            "no file was measured with the default setting, so there is nothing to compare with; also import such a "
            "file, written without SETTING@"
        )
    if any(not launch.setting and launch.status not in NO_FAULT for launch in data.launches):
        return ""
    return _(
        "study {name!r} holds no samples of the default setting yet, so there is nothing to compare with; "
        "continue it with unisono tune --resume -o DIR, where DIR is its directory"
    ).format(name=data.name)


def stored_verification(store: Store) -> dict[str, Any] | None:
    """The proof kept with the study, as far as a report shows it, when it was made."""
    proof = store.value_or_none("verification", PROOF)
    return None if proof is None else proof.model_dump()
