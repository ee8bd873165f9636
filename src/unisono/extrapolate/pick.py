"""What to use where nothing was measured, how sure that is, and what would make it sure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from unisono.core.interval import Interval
from unisono.core.vocabulary import DEFAULT, Case, Setting
from unisono.extrapolate.fit import FLOOR, Forecast, Model

Logs = npt.NDArray[np.float64]

WITHIN = 0.05
"""A pick that takes this much longer than the best is as good."""
RISK = 2.0
"""A pick is used only where what it may gain over the default is expected to be so many times what it may lose."""
LEAST = 0.03
"""A pick is expected to gain at least this (log), or it is not worth a rule."""
SAME = 0.1
"""Of two settings whose times differ by less (log), one may be the other."""
TRUSTED = 0.8
"""The gain that is promised is reached with this probability."""
SURE = 0.8
"""How probable it must be that a pick is within WITHIN of the best, to need no launch of its own."""
CONTENDER = 0.05
"""A setting that is the best with at least this probability is worth measuring."""
COUNTED = math.log(10)
"""Gains and losses count up to this (log): nothing is decided by a tail."""
EXACT = 1e6
"""Degrees of freedom where the spread is known."""
PEER = CONTENDER / 4
"""A setting that is the best with at least this probability is one of those of which the luckiest may be picked."""
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
    against = None if reference is None or kept == DEFAULT else reference.forecast(size, case.nodes, case.ppn)
    if kept not in forecasts or (against is None and reference is not None and kept != DEFAULT):
        return None
    settings = list(forecasts)
    default = settings.index(kept)
    forecasts = _moderated(forecasts)
    logs = _drawn([forecasts[setting] for setting in settings])
    if kept == DEFAULT:
        others = {setting: row for setting, row in zip(settings, logs, strict=True) if setting != DEFAULT}
        table = _as_a_table({one: models[one] for one in settings}, others, case, size) if others else None
        if table is not None:
            logs[default] = table
            forecasts[kept] = replace(forecasts[kept], seconds=math.exp(float(table.mean())))
    best = logs.min(axis=0)
    by_regret = np.argsort(np.minimum(logs - best, COUNTED).mean(axis=1), kind="stable")
    chosen = next((int(row) for row in by_regret if _is_worth_it(logs[default] - logs[row])), default)
    first = _bests(logs)
    contenders = [n for n in np.argsort(-first, kind="stable") if first[n] >= CONTENDER]
    gain, trusted = Interval(1.0, 1.0, 1.0), 1.0
    if against is not None or chosen != default:
        gain, trusted = _gain((_drawn([against], SEED + 2)[0] if against else logs[default]) - logs[chosen])
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


def _is_worth_it(gains: Logs) -> bool:
    """Whether it promises so many times more than it risks, and something at all."""
    gains = np.clip(gains, -COUNTED, COUNTED)
    gain, loss = float(gains.clip(min=0).mean()), float((-gains).clip(min=0).mean())
    return gain >= max(RISK * loss, LEAST)


def _as_a_table(models: Mapping[Setting, Model], logs: Mapping[Setting, Logs], case: Case, size: int) -> Logs | None:
    """Draws of the default's time from those of the others (`logs`).

    The default is a table of algorithms by ranks and size, so no law of growth is its own. Which of the others it was
    as fast as, or else how far above the best, was measured at other counts and sizes, of which the nearer ones tell
    more. None where fewer than two others were measured beside it: then they are not its table."""
    found: list[tuple[Setting | None, float]] = []
    weights: list[float] = []
    for point in models[DEFAULT].points:
        beside = {
            setting: Forecast(other.seconds, other.noise, max(other.noise, FLOOR), EXACT, other.noise)
            for setting, model in models.items()
            for other in model.points
            if (other.nodes, other.ppn, other.size) == (point.nodes, case.ppn, point.size)
        }
        if DEFAULT not in beside or len(beside) < 3:
            continue
        times = {setting: math.log(one.seconds) for setting, one in _moderated(beside).items()}
        default = times.pop(DEFAULT)
        same = [
            s
            for s, time in times.items()
            if abs(default - time) <= max(SAME, 2 * math.hypot(point.noise, beside[s].noise))
        ]
        found += [(setting, default - times[setting]) for setting in same] or [(None, default - min(times.values()))]
        sizes, counts = math.log2((point.size + 1) / (size + 1)), math.log2(point.nodes / case.nodes)
        weight = 2.0 ** -(abs(sizes) / 2 + abs(counts))
        weights += [weight / max(len(same), 1)] * max(len(same), 1)
    if not found:
        return None
    best = np.min(list(logs.values()), axis=0)
    lots = np.random.default_rng(SEED + 1).choice(len(found), DRAWS, p=np.array(weights) / sum(weights))
    drawn = np.empty(DRAWS)
    for n, (setting, above) in enumerate(found):
        drawn[lots == n] = (best if setting is None else logs[setting])[lots == n] + above
    return drawn


def _moderated(forecasts: Mapping[Setting, Forecast]) -> dict[Setting, Forecast]:
    """What was measured to be the fastest of many is partly the luckiest: times of settings that may be the best are
    drawn to their mean, as far as noise alone would let them differ (empirical Bayes)."""
    shares = _bests(_drawn(list(forecasts.values())))
    near = [setting for setting, share in zip(forecasts, shares, strict=True) if share >= PEER]
    noise = np.square([forecasts[setting].noise for setting in near])
    if len(near) < 2 or not noise.any():
        return dict(forecasts)
    logs = np.log([forecasts[setting].seconds for setting in near])
    real = max(0.0, float(np.var(logs, ddof=1) - noise.mean()))
    kept = np.divide(real, real + noise, out=np.ones_like(noise), where=noise > 0)
    moderated = np.exp(logs.mean() + kept * (logs - logs.mean()))
    return {**forecasts, **{s: replace(forecasts[s], seconds=float(t)) for s, t in zip(near, moderated, strict=True)}}


def _bests(logs: Logs) -> Logs:
    """How often each row is the least of its column."""
    return np.asarray(np.bincount(logs.argmin(axis=0), minlength=len(logs)) / logs.shape[1], dtype=np.float64)


def _drawn(forecasts: Sequence[Forecast], seed: int = SEED) -> Logs:
    """Logs of times, settings x draws, up to what all settings have in common, which does not change their order."""
    lots = np.random.default_rng(seed)
    return np.array([math.log(one.seconds) + one.own * lots.standard_t(one.dof, DRAWS) for one in forecasts])


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
