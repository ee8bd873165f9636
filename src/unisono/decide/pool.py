"""Our own algorithms under every launch setting at once.

On one node they use shared memory of their own, so what the MPI sends its messages by (pml, UCX_* ...) hardly concerns
them: one measurement says the same of all launch settings that differ in nothing else. So a search measures them in the
simplest of those launches, and in the one that leads (`home`); what they took in a round, over all launches that
measured them, counts for every launch setting of that round (`pooled`). That they agree is checked wherever two launch
settings measured them in the same rounds: one that differs by more than the margin, and surely, keeps its own.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import scipy

from unisono.core.vocabulary import CALL_SCOPE, Case, Setting, is_ours
from unisono.decide.robust import Counts, Flags, Floats
from unisono.decide.statistics import FLOOR_BETWEEN, by_round
from unisono.decide.table import Table
from unisono.library.algorithms import shares_memory

_TRANSPORT = ("UCX_", "btl", "coll_", "mtl", "pml", "smsc")
"""Begin the names of launch parameters that say by what messages go, and nothing about memory or where ranks are."""
_ROUNDS = 3
"""Rounds from which two launch settings can be told apart."""
_SURE = 0.995
"""One-sided."""


def shared(case: Case, setting: Setting) -> Setting | None:
    """What of a setting matters when one of our algorithms keeps to shared memory; None where it does not, or the
    MPI's own serves: then all of it may."""
    if case.nodes > 1 or not is_ours(setting) or not shares_memory(case.collective, setting.get("algorithm", "")):
        return None
    return Setting({name: value for name, value in setting.items() if not name.startswith(_TRANSPORT)})


def elsewhere(case: Case, settings: Iterable[Setting]) -> set[Setting]:
    """Those of the settings that a simpler one among them stands for."""
    known = list(settings)
    simplest: dict[Setting, Setting] = {}
    for setting in sorted(known):
        if (key := shared(case, setting)) is not None:
            simplest.setdefault(key, setting)
    return {s for s in known if (key := shared(case, s)) is not None and simplest[key] != s}


def pooled(table: Table, margin: float) -> Table:
    """The same with a row of each of our shared-memory algorithms under every launch setting there is, told as if
    measured in that setting's launches: round by round the mean over all that measured it."""
    parts = _parts(table)
    groups = _groups(table)
    if len(parts) < 2 or not groups:
        return table
    numbers = np.unique(table.rounds)
    rounds = by_round(table.logs, table.rounds, numbers)
    own = _apart(table, groups, rounds, margin)
    rows: dict[Setting, Floats] = {setting: table.logs[table.row(setting)] for setting in table.settings}
    position = np.searchsorted(numbers, table.rounds)
    for key, measured in groups.items():
        joint = [rounds[table.row(setting)] for part, setting in measured.items() if part not in own]
        if not joint:
            continue
        together = _mean(np.stack(joint))
        call, place = key.only(*CALL_SCOPE), key.without(*CALL_SCOPE)
        for part, launches in parts.items():
            if _place(part) == place and part not in own:
                rows[part | call] = np.where(launches[None, :], together[:, position], np.nan)
    kept = tuple(sorted(setting for setting, logs in rows.items() if np.isfinite(logs).any()))
    logs = np.stack([rows[setting] for setting in kept])
    return replace(table, settings=kept, logs=logs)


def apart(table: Table, margin: float) -> set[Setting]:
    """The launch settings under which our shared-memory algorithms keep numbers of their own."""
    return _apart(table, _groups(table), by_round(table.logs, table.rounds, np.unique(table.rounds)), margin)


def _groups(table: Table) -> dict[Setting, dict[Setting, Setting]]:
    """What matters of each of our shared-memory algorithms -> launch setting -> the setting measured."""
    groups: dict[Setting, dict[Setting, Setting]] = defaultdict(dict)
    for setting in table.settings:
        if (key := shared(table.case, setting)) is not None:
            groups[key][setting.without(*CALL_SCOPE)] = setting
    return groups


def _parts(table: Table) -> dict[Setting, Flags]:
    """Launch setting -> which of the launches are its own."""
    plain = [setting for setting in table.settings if not setting.only(*CALL_SCOPE)]
    return {part: np.isfinite(table.logs[table.row(part)]).any(axis=0) for part in plain}


def _place(part: Setting) -> Setting:
    return Setting({name: value for name, value in part.items() if not name.startswith(_TRANSPORT)})


def _apart(
    table: Table, groups: Mapping[Setting, Mapping[Setting, Setting]], rounds: Floats, margin: float
) -> set[Setting]:
    """Launch settings under which ours take another time than under the simplest one with the same ranks' places."""
    differences: dict[Setting, list[Floats]] = defaultdict(list)
    for measured in groups.values():
        first = min(measured)
        for part, setting in measured.items():
            if part != first:
                differences[part].append(rounds[table.row(setting)] - rounds[table.row(measured[first])])
    return {part for part, found in differences.items() if _differs(np.concatenate(found), margin)}


def _differs(differences: Floats, margin: float) -> bool:
    """Whether a launch setting's rows (x rounds) differ from the first's: a round counts once."""
    means = _mean(differences)
    means = means[np.isfinite(means)]
    if means.size < _ROUNDS:
        return False
    error = max(float(np.std(means, ddof=1)), FLOOR_BETWEEN) / math.sqrt(means.size)
    sure = abs(float(np.mean(means))) - float(scipy.special.stdtrit(means.size - 1, _SURE)) * error
    return sure > math.log1p(margin)


def _mean(values: Floats) -> Floats:
    """Over the first axis, of what there is."""
    counts: Counts = np.isfinite(values).sum(axis=0)
    mean: Floats = np.where(counts > 0, np.nansum(values, axis=0) / np.maximum(counts, 1), np.nan)
    return mean
