"""How hot spots and predictions are said, in words and as JSON."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from unisono.advise.mix import Mix, Spot
from unisono.advise.predict import Prediction, SpotPrediction
from unisono.display import percent
from unisono.model import Setting


def named(launch: Setting) -> str:
    return str(launch) if launch else "the default launch setting with its rules"


def spot_sentence(mix: Mix, spot: Spot) -> str:
    size = f", {spot.sizes_text}," if spot.sizes_text else ""
    waits = ""
    if not math.isnan(spot.waiting) and spot.time > 0:
        waits = f"; {percent(spot.waiting / spot.time)} of that is waiting"
    return f"{spot.name}{size} is {percent(mix.share(spot.time))} of your time{waits}"


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
        "sizes": [{"size": u.size, "exact": u.exact, "calls": u.calls, "share": mix.share(u.time)} for u in spot.uses],
        "saving": asdict(found.saving) if found and found.predictable else None,
        "effect": asdict(found.effect) if found and found.effect else None,
        "unknown": found.unknown if found else "",
    }
