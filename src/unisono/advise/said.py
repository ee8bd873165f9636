"""How hot spots and predictions are said, in words and as JSON."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from unisono.advise.mix import Mix, Spot
from unisono.advise.predict import Prediction, SpotPrediction
from unisono.core.display import percent
from unisono.core.language import _
from unisono.core.vocabulary import Setting
from unisono.profile.late import late_sentence
from unisono.tuning import words


def named(launch: Setting) -> str:
    return words.launch(launch) if launch else _("the default launch setting with its rules")


def spot_sentence(mix: Mix, spot: Spot) -> str:
    """Without the stop at its end."""
    said = _("{call}, {size}, is {share} of your time") if spot.sizes_text else _("{call} is {share} of your time")
    said = said.format(call=spot.name, size=spot.sizes_text, share=percent(mix.share(spot.time)))
    if spot.completion > 0:
        waited = _("{share} of that is waiting for it").format(share=percent(spot.completion / spot.time))
        return _("; ").join((said, waited))
    if math.isnan(spot.waiting) or spot.time <= 0:
        return said
    waiting = _("{share} of that is waiting")
    if spot.late is not None and spot.late.partly(spot.time):
        waiting = _("at least {share} of that is waiting")
    waiting = waiting.format(share=percent(spot.waiting / spot.time))
    return _("; ").join((said, waiting))


def waiting_words(spot: Spot) -> str:
    """For a table: what of its time is waiting for ranks, or of a nonblocking collective waiting for it."""
    if spot.time <= 0:
        return ""
    if not math.isnan(spot.completion):
        return _("{share} for it").format(share=percent(spot.completion / spot.time))
    return "" if math.isnan(spot.waiting) else percent(spot.waiting / spot.time)


def late_words(spot: Spot) -> str:
    """Whom a point-to-point call waits for, a sentence; "" where that is nothing to speak of."""
    return late_sentence(spot.name, spot.time, spot.late)


def prediction_dict(prediction: Prediction) -> dict[str, Any]:
    return {
        "launch": dict(prediction.launch),
        "predictable": prediction.predictable,
        "saving": asdict(prediction.saving) if prediction.predictable else None,
        "gain": asdict(prediction.gain) if prediction.predictable else None,
        "unpredictable": prediction.unpredictable,
    }


def spot_dict(mix: Mix, spot: Spot, found: SpotPrediction | None) -> dict[str, Any]:
    return {
        "call": spot.name,
        "function": spot.function,
        "kind": spot.kind,
        "collective": spot.case.collective if spot.case else None,
        "nodes": spot.case.nodes if spot.case else None,
        "ppn": spot.case.ppn if spot.case else None,
        "calls": spot.calls,
        "share": mix.share(spot.time),
        "waiting": None if math.isnan(spot.waiting) else mix.share(spot.waiting),
        "completion": None if math.isnan(spot.completion) else mix.share(spot.completion),
        "late": None if spot.late is None else asdict(spot.late),
        "sizes": [{"size": u.size, "exact": u.exact, "calls": u.calls, "share": mix.share(u.time)} for u in spot.uses],
        "saving": asdict(found.saving) if found and found.predictable else None,
        "effect": asdict(found.effect) if found and found.effect else None,
        "unknown": found.unknown if found else "",
    }
