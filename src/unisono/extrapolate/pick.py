"""What to use where nothing was measured, how sure that is, and what would make it sure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unisono.core.interval import Interval
from unisono.core.vocabulary import DEFAULT, Case, Setting
from unisono.extrapolate.draws import CONTENDER, SEED, Logs, bests, drawn, moderated
from unisono.extrapolate.fit import Forecast, Predictor
from unisono.extrapolate.table import Entry, as_a_table, table_of

WITHIN = 0.05
"""A pick that takes this much longer than the best is as good."""
RISK = 2.0
"""A pick is used only where what it may gain over the default is expected to be so many times what it may lose. The
report says so in words."""
LEAST = 0.03
"""A pick is expected to gain at least this (log), or it is not worth a rule."""
TRUSTED = 0.8
"""The gain that is promised is reached with this probability."""
SURE = 0.8
"""How probable it must be that a pick is within WITHIN of the best, to need no launch of its own."""
COUNTED = math.log(10)
"""Gains and losses count up to this (log): nothing is decided by a tail."""
CONFIDENCE = 0.95
MOST = 20.0
"""Ends of an interval go no further (log): what is that unknown needs no figure."""


@dataclass(frozen=True, slots=True)
class Pick:
    """For one collective, one number of nodes and one message size."""

    case: Case
    size: int
    setting: Setting
    """The default's where no other is worth its RISK."""
    likely: Setting
    """What has the least regret to expect, trusted or not."""
    seconds: Forecast
    gain: Interval
    """The reference's time / the pick's, with CONFIDENCE; 1 for the reference itself."""
    trusted: float
    """The gain that is reached with probability TRUSTED."""
    sure: float
    """Probability that the pick takes at most WITHIN longer than the best."""
    contenders: tuple[Setting, ...]
    """What may be the best, the most probable first."""

    @property
    def is_sure(self) -> bool:
        return self.sure >= SURE


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch that would decide what is not sure."""

    case: Case
    sizes: tuple[int, ...]
    settings: tuple[Setting, ...]


def pick(
    models: Mapping[Setting, Predictor],
    case: Case,
    size: int,
    kept: Setting = DEFAULT,
    reference: Predictor | None = None,
    table: Sequence[Entry] | None = None,
) -> Pick | None:
    """What to use; `kept` where nothing else is worth its risk. Gains are over the `reference` (none: over `kept`).
    `table`: table_of(models), for whoever asks for many sizes. None where one of these cannot be predicted."""
    forecasts = {
        setting: forecast
        for setting, model in sorted(models.items())
        if (forecast := model.forecast(size, case.nodes, case.ppn)) is not None
    }
    if kept not in forecasts:
        return None
    forecasts = moderated(forecasts)
    logs = dict(zip(forecasts, drawn(list(forecasts.values())), strict=True))
    if kept == DEFAULT:
        others = {setting: row for setting, row in logs.items() if setting != DEFAULT}
        rows = as_a_table(table_of(models) if table is None else table, others, case, size)
        if rows is not None:
            logs[kept] = rows
            forecasts[kept] = replace(forecasts[kept], seconds=math.exp(float(rows.mean())))
    against = logs[kept]
    if reference is not None and kept != DEFAULT:
        other = reference.forecast(size, case.nodes, case.ppn)
        if other is None:
            return None
        against = drawn([other], SEED + 2)[0]
    best = np.min(list(logs.values()), axis=0)
    by_regret = sorted(logs, key=lambda setting: float(np.minimum(logs[setting] - best, COUNTED).mean()))
    chosen = next((setting for setting in by_regret if _is_worth_it(logs[kept] - logs[setting])), kept)
    shares = dict(zip(logs, bests(np.array(list(logs.values()))), strict=True))
    gain, trusted = _gain(against - logs[chosen])
    return Pick(
        case,
        size,
        chosen,
        by_regret[0],
        forecasts[chosen],
        gain,
        trusted,
        float(np.mean(logs[chosen] <= best + math.log1p(WITHIN))),
        tuple(one for one in sorted(shares, key=lambda one: -shares[one]) if shares[one] >= CONTENDER),
    )


def _is_worth_it(gains: Logs) -> bool:
    """Whether it promises so many times more than it risks, and something at all."""
    gains = np.clip(gains, -COUNTED, COUNTED)
    gain, loss = float(gains.clip(min=0).mean()), float((-gains).clip(min=0).mean())
    return gain >= max(RISK * loss, LEAST)


def _gain(logs: Logs) -> tuple[Interval, float]:
    """The ratio to expect (geometric mean) with its interval, and what of it is reached with probability TRUSTED."""
    logs = np.clip(logs, -MOST, MOST)
    low, trusted, high = np.exp(np.quantile(logs, [(1 - CONFIDENCE) / 2, 1 - TRUSTED, (1 + CONFIDENCE) / 2]))
    mid = math.exp(float(logs.mean()))
    return Interval(mid, min(float(low), mid), max(float(high), mid)), float(trusted)


def deciding(picks: list[Pick]) -> list[Launch]:
    """A launch a case, of the sizes at which the pick is not sure and whatever may be the best there."""
    found = []
    for case in dict.fromkeys(pick.case for pick in picks):
        unsure = [pick for pick in picks if pick.case == case and not pick.is_sure]
        if unsure:
            settings = dict.fromkeys(s for pick in unsure for s in (DEFAULT, pick.setting, *pick.contenders))
            found.append(Launch(case, tuple(pick.size for pick in unsure), tuple(settings)))
    return found
