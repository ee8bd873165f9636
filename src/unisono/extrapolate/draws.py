"""Forecasts as draws, so that what is compared is compared draw by draw."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from unisono.core.vocabulary import Setting
from unisono.extrapolate.fit import Forecast

Logs = npt.NDArray[np.float64]

DRAWS = 4000
SEED = 20
CONTENDER = 0.05
"""A setting that is the best with at least this probability is worth measuring."""
PEER = CONTENDER / 4
"""A setting that is the best with at least this probability is one of those of which the luckiest may be picked."""


def drawn(forecasts: Sequence[Forecast], seed: int = SEED) -> Logs:
    """Logs of times, settings x draws, up to what all settings have in common, which does not change their order."""
    lots = np.random.default_rng(seed)
    return np.array([math.log(one.seconds) + one.own * lots.standard_t(one.dof, DRAWS) for one in forecasts])


def bests(logs: Logs) -> Logs:
    """How often each row is the least of its column."""
    return np.asarray(np.bincount(logs.argmin(axis=0), minlength=len(logs)) / logs.shape[1], dtype=np.float64)


def moderated(forecasts: Mapping[Setting, Forecast]) -> dict[Setting, Forecast]:
    """What was measured to be the fastest of many is partly the luckiest: times of settings that may be the best are
    drawn to their mean, as far as noise alone would let them differ (empirical Bayes)."""
    if not any(one.noise for one in forecasts.values()):
        return dict(forecasts)
    shares = bests(drawn(list(forecasts.values())))
    near = [setting for setting, share in zip(forecasts, shares, strict=True) if share >= PEER]
    noise = np.square([forecasts[setting].noise for setting in near])
    if len(near) < 2 or not noise.any():
        return dict(forecasts)
    logs = np.log([forecasts[setting].seconds for setting in near])
    real = max(0.0, float(np.var(logs, ddof=1) - noise.mean()))
    kept = np.divide(real, real + noise, out=np.ones_like(noise), where=noise > 0)
    times = np.exp(logs.mean() + kept * (logs - logs.mean()))
    return {**forecasts, **{s: replace(forecasts[s], seconds=float(t)) for s, t in zip(near, times, strict=True)}}
