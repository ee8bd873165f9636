"""What a prediction does not know of a program, a sentence each."""

from __future__ import annotations

import math
from collections.abc import Sequence

from unisono.advise.gaps import WORTH, Gap
from unisono.advise.kinds import (
    COLLECTIVE,
    EXCHANGE,
    MESSAGES,
    NONBLOCKING,
    OTHER_COLLECTIVE,
    PINGPONG,
    why_unmeasured,
)
from unisono.advise.mix import Mix
from unisono.advise.predict import TOO_FEW, UNMEASURED, Prediction
from unisono.core.display import percent
from unisono.core.language import _, translated

WORTH_SAYING = 0.05
"""Of the program's time: that much waiting is worth a warning."""
OUTSIDE = 0.3
"""Of the time of a run: so much that is not the program's communication and computation is said."""
_SEEN = 0.001
"""Of the program's time: less of it is not spoken of."""


def unknown(
    mix: Mix, predictions: Sequence[Prediction], others: Sequence[Prediction], gaps: Sequence[Gap]
) -> list[str]:
    """`others`: of the predictions, those that would be a change."""
    missing = math.fsum(gap.share for gap in gaps if gap.case.collective not in (EXCHANGE, PINGPONG))
    said = _("{missing} of the time is in calls that this tuning has no measurements for.")
    return [
        *([outside] if (outside := outside_sentence(mix)) else []),
        *_unmeasured_kinds(mix, predictions),
        *_assumed(others),
        *([said.format(missing=percent(missing))] if missing >= _SEEN else []),
        *_too_few(mix, others),
        *_waiting(mix),
    ]


def _unmeasured_kinds(mix: Mix, predictions: Sequence[Prediction]) -> list[str]:
    """Some collectives and messages, on which launch settings act too."""
    out = _collectives(mix)
    share = mix.share(mix.time(MESSAGES))
    if share >= _SEEN:
        said = _(
            "{share} of the time is in point-to-point calls. Launch settings act on them too, but their effect "
            "was not measured."
        )
        known = _messages_known(predictions)
        if known == EXCHANGE:
            said = _(
                "{share} of the time is in point-to-point calls. The effect of launch settings on them was "
                "measured with the program's own sizes and partners."
            )
        elif known:
            said = _(
                "{share} of the time is in point-to-point calls. The effect of launch settings on them is only "
                "roughly known, from ping-pongs."
            )
        out.append(said.format(share=percent(share)))
    return out


def _collectives(mix: Mix) -> list[str]:
    """What of nonblocking collectives a tuning can save, and what is known of others only that they are called."""
    out = []
    spots = [spot for spot in mix.spots if spot.kind == NONBLOCKING]
    share = mix.share(math.fsum(spot.time for spot in spots))
    if share >= _SEEN:
        said = _(
            "{share} of the time is in nonblocking and persistent collectives, {waited} of that in calls that start "
            "persistent ones or wait. Communication that goes on while the program computes costs no time, so no "
            "setting can save it. How much of the wait is for ranks that come late is not known."
        )
        waited = math.fsum(spot.completion for spot in spots) / math.fsum(spot.time for spot in spots)
        out.append(said.format(share=percent(share), waited=percent(waited)))
    reasons: dict[str, float] = {}
    for spot in mix.spots:
        if spot.kind == OTHER_COLLECTIVE:
            reason = why_unmeasured()
            reasons[reason] = reasons.get(reason, 0.0) + mix.share(spot.time)
    for reason, share in reasons.items():
        if share >= _SEEN:
            said = _(
                "{share} of the time is in collectives that cannot be predicted ({reason}), although launch "
                "settings act on them, too."
            )
            out.append(said.format(share=percent(share), reason=translated(reason)))
    return out


def _messages_known(predictions: Sequence[Prediction]) -> str:
    """By what the effect on point-to-point calls is known; "" where it is not."""
    told = (s.spot for p in predictions for s in p.spots if s.spot.kind == MESSAGES and s.effect is not None)
    return next((spot.case.collective for spot in told if spot.case is not None), "")


def _assumed(others: Sequence[Prediction]) -> list[str]:
    assumed = max((p.assumed for p in others if p.predictable), default=0.0)
    if assumed < WORTH:
        return []
    return [
        _(
            "The savings assume that calls without a measurement may take {unmeasured} more or less time. That "
            "is an assumption; it widens the interval by {assumed} of the program's time at either end."
        ).format(unmeasured=percent(UNMEASURED), assumed=percent(assumed))
    ]


def _too_few(mix: Mix, others: Sequence[Prediction]) -> list[str]:
    few = {found.spot for p in others for found in p.spots if TOO_FEW in found.unknown}
    share = mix.share(math.fsum(spot.time for spot in few))
    if share < WORTH:
        return []
    return [
        _(
            "Calls that take {share} of the time were measured in too few launches to tell every "
            "setting apart from noise: measure longer, on a quiet machine."
        ).format(share=percent(share))
    ]


def _waiting(mix: Mix) -> list[str]:
    out = []
    known = (spot.waiting for spot in mix.spots if spot.kind == COLLECTIVE and not math.isnan(spot.waiting))
    waiting = mix.share(math.fsum(known))
    if waiting >= WORTH_SAYING:
        out.append(
            _(
                "{waiting} of the time is waiting in collectives. A tuning can move it from one call to another, "
                "which this interval does not include; unisono verify --profile shows it."
            ).format(waiting=percent(waiting))
        )
    told = [spot for spot in mix.spots if spot.kind != NONBLOCKING]  # of these no profile tells
    if told and all(math.isnan(spot.waiting) for spot in told) and mix.share(mix.time(COLLECTIVE, MESSAGES)) >= _SEEN:
        out.append(_("Waiting was not measured, so the interval is wide; unisono profile --split-waiting measures it."))
    return out


def outside_sentence(mix: Mix) -> str:
    """What follows for comparisons of whole runs; "" where little is outside."""
    if mix.outside < OUTSIDE:
        return ""
    return _(
        "{share} of a run's time lies before MPI_Init or after MPI_Finalize, mostly in starting the processes, "
        "and the comparison of whole runs includes it. Use --metric to compare a time that the program itself "
        "prints, or give the program more to do."
    ).format(share=percent(mix.outside))
