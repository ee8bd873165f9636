"""What to use where nothing was measured, how sure that is, and what would make it sure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from unisono.core.interval import Interval
from unisono.core.vocabulary import DEFAULT, Case, Setting
from unisono.extrapolate.fit import Forecast, Model

WITHIN = 0.05
"""A pick that takes this much longer than the best is as good."""
TRUSTED = 0.8
"""How probable it must be that a pick is faster than the default, to be used in its place."""
SURE = 0.8
"""How probable it must be that a pick is within WITHIN of the best, to need no launch of its own."""
CONTENDER = 0.05
"""A setting that is the best with at least this probability is worth measuring."""
DRAWS = 4000
SEED = 20
CONFIDENCE = 0.95
MOST = 20.0
"""Ends of an interval go no further (log): what is that unknown needs no figure."""


@dataclass(frozen=True, slots=True)
class Pick:
    """For one collective, one number of nodes and one message size."""

    case: Case
    size: int
    setting: Setting
    """The default's where no other is faster with probability TRUSTED."""
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
    models: Mapping[Setting, Model],
    case: Case,
    size: int,
    kept: Setting = DEFAULT,
    reference: Model | None = None,
) -> Pick | None:
    """What to use; `kept` where nothing else is surely faster. Gains are over the `reference` (none: over `kept`). None
    where either cannot be predicted: then there is nothing to compare with."""
    forecasts = {
        setting: forecast
        for setting, model in sorted(models.items())
        if (forecast := model.forecast(size, case.nodes, case.ppn)) is not None
    }
    against = forecasts.get(kept) if reference is None else reference.forecast(size, case.nodes, case.ppn)
    if kept not in forecasts or against is None:
        return None
    settings = list(forecasts)
    default = settings.index(kept)
    forecasts = _moderated(forecasts)
    if reference is None:
        against = forecasts[kept]
    logs = _drawn([forecasts[setting] for setting in settings])
    best = logs.min(axis=0)
    by_regret = np.argsort((np.minimum(logs - best, math.log(10))).mean(axis=1), kind="stable")
    chosen = default
    for row in by_regret:
        if float(np.mean(logs[row] < logs[default])) >= TRUSTED:
            chosen = int(row)
            break
    first = _bests(logs)
    contenders = [n for n in np.argsort(-first, kind="stable") if first[n] >= CONTENDER]
    gain, trusted = _gain(against, forecasts[settings[chosen]])
    return Pick(
        case,
        size,
        settings[chosen],
        settings[int(by_regret[0])],
        forecasts[settings[chosen]],
        gain,
        trusted,
        float(np.mean(logs[chosen] <= best + math.log1p(WITHIN))),
        tuple(settings[n] for n in contenders),
    )


def _moderated(forecasts: Mapping[Setting, Forecast]) -> dict[Setting, Forecast]:
    """What was measured to be the fastest of many is partly the luckiest: times of settings that may be the best are
    drawn to their mean, as far as noise alone would let them differ (empirical Bayes)."""
    shares = _bests(_drawn(list(forecasts.values())))
    near = [setting for setting, share in zip(forecasts, shares, strict=True) if share >= CONTENDER]
    noise = np.square([forecasts[setting].noise for setting in near])
    if len(near) < 2 or not noise.any():
        return dict(forecasts)
    logs = np.log([forecasts[setting].seconds for setting in near])
    real = max(0.0, float(np.var(logs, ddof=1) - noise.mean()))
    kept = np.divide(real, real + noise, out=np.ones_like(noise), where=noise > 0)
    moderated = np.exp(logs.mean() + kept * (logs - logs.mean()))
    return {**forecasts, **{s: replace(forecasts[s], seconds=float(t)) for s, t in zip(near, moderated, strict=True)}}


def _bests(logs: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """How often each row is the least of its column."""
    counts: np.ndarray[tuple[int], np.dtype[np.int64]] = np.bincount(logs.argmin(axis=0), minlength=len(logs))
    return counts / logs.shape[1]


def _drawn(forecasts: list[Forecast]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Logs of times, settings x draws, up to what all settings have in common, which does not change their order."""
    random = np.random.default_rng(SEED)
    rows = [
        math.log(forecast.seconds) + forecast.own * random.standard_t(forecast.dof, DRAWS) for forecast in forecasts
    ]
    return np.array(rows)


def _gain(reference: Forecast, chosen: Forecast) -> tuple[Interval, float]:
    """The ratio with its interval, and what of it is reached with probability TRUSTED."""
    if reference == chosen:
        return Interval(1.0, 1.0, 1.0), 1.0
    above, below = _drawn([reference, chosen])
    low, trusted, high = np.quantile(above - below, [(1 - CONFIDENCE) / 2, 1 - TRUSTED, (1 + CONFIDENCE) / 2])
    mid = math.log(reference.seconds / chosen.seconds)
    low, high = max(-MOST, min(low, mid)), min(MOST, max(high, mid))
    return Interval(math.exp(mid), math.exp(low), math.exp(high)), math.exp(max(-MOST, trusted))


def deciding(picks: list[Pick]) -> list[Launch]:
    """A launch a case, of the sizes at which the pick is not sure and whatever may be the best there."""
    found = []
    for case in dict.fromkeys(pick.case for pick in picks):
        unsure = [pick for pick in picks if pick.case == case and not pick.is_sure]
        if unsure:
            settings = dict.fromkeys(s for pick in unsure for s in (DEFAULT, pick.setting, *pick.contenders))
            found.append(Launch(case, tuple(pick.size for pick in unsure), tuple(settings)))
    return found
